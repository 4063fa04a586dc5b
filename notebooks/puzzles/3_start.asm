// Each warp brings 32 rows of 32 words to shared memory; then each thread adds the words of its row.
.kernel rows
.grid 1
.block 128
.shared 16384            // four tiles of 32 rows; you may ask for more
.buffer x i32 4096 = hash 6 -1000 1000
.buffer y i32 128

    S2R R0, TID.X
    SHR R1, R0, 5               // warp
    LOP.AND R2, R0, 31          // lane
    SHL R3, R1, 12
    SHL R4, R2, 2
    IADD R3, R3, R4
    IADD R3, R3, c[x]           // where the lane reads
    MOV R5, 4096
    IMAD R4, R1, R5, R4         // where it writes, in its warp's tile
    MOV R5, 4                   // rounds
fill:
    LDG R8, [R3+0]
    LDG R9, [R3+128]
    LDG R10, [R3+256]
    LDG R11, [R3+384]
    LDG R12, [R3+512]
    LDG R13, [R3+640]
    LDG R14, [R3+768]
    LDG R15, [R3+896]
    STS [R4+0], R8
    STS [R4+128], R9
    STS [R4+256], R10
    STS [R4+384], R11
    STS [R4+512], R12
    STS [R4+640], R13
    STS [R4+768], R14
    STS [R4+896], R15
    IADD R3, R3, 1024
    IADD R4, R4, 1024
    IADD R5, R5, -1
    ISETP.GT P0, R5, 0
    @P0 BRA fill
    BAR.SYNC 0
    MOV R5, 128               // bytes of a row
    IMAD R4, R0, R5, RZ         // where the thread's row begins
    MOV R6, 0                   // sum
    MOV R5, 4                   // rounds
add:
    LDS R8, [R4+0]
    LDS R9, [R4+4]
    LDS R10, [R4+8]
    LDS R11, [R4+12]
    LDS R12, [R4+16]
    LDS R13, [R4+20]
    LDS R14, [R4+24]
    LDS R15, [R4+28]
    IADD R6, R6, R8
    IADD R6, R6, R9
    IADD R6, R6, R10
    IADD R6, R6, R11
    IADD R6, R6, R12
    IADD R6, R6, R13
    IADD R6, R6, R14
    IADD R6, R6, R15
    IADD R4, R4, 32
    IADD R5, R5, -1
    ISETP.GT P0, R5, 0
    @P0 BRA add
    SHL R0, R0, 2
    IADD R1, R0, c[y]
    STG [R1], R6
    EXIT
