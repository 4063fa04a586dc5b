// Each thread computes the scalar product of 64 pairs of numbers, which lie 256 bytes apart.
.kernel product
.grid 1
.block 64
.buffer a i32 4096 = hash 8 -1000 1000
.buffer b i32 4096 = hash 9 -1000 1000
.buffer y i32 64

    S2R R0, TID.X
    SHL R0, R0, 2
    IADD R1, R0, c[a]
    IADD R2, R0, c[b]
    MOV R3, 0                   // sum
    MOV R4, 64                  // rounds
next:
    LDG R8, [R1]
    LDG R9, [R2]
    IMAD R3, R8, R9, R3
    IADD R1, R1, 256
    IADD R2, R2, 256
    IADD R4, R4, -1
    ISETP.GT P0, R4, 0
    @P0 BRA next
    IADD R1, R0, c[y]
    STG [R1], R3
    EXIT
