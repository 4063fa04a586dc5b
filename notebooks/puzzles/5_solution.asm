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
    MOV R5, 0                   // a second sum
    MOV R4, 7                   // rounds of eight pairs, and one more after the loop
    LDG R8, [R1+0]
    LDG R16, [R2+0]
    LDG R9, [R1+256]
    LDG R17, [R2+256]
    LDG R10, [R1+512]
    LDG R18, [R2+512]
    LDG R11, [R1+768]
    LDG R19, [R2+768]
    LDG R12, [R1+1024]
    LDG R20, [R2+1024]
    LDG R13, [R1+1280]
    LDG R21, [R2+1280]
    LDG R14, [R1+1536]
    LDG R22, [R2+1536]
    LDG R15, [R1+1792]
    LDG R23, [R2+1792]
next:
    IADD R1, R1, 2048
    IADD R2, R2, 2048
    LDG R24, [R1+0]            // for the next round
    LDG R32, [R2+0]
    LDG R25, [R1+256]
    LDG R33, [R2+256]
    LDG R26, [R1+512]
    LDG R34, [R2+512]
    LDG R27, [R1+768]
    LDG R35, [R2+768]
    LDG R28, [R1+1024]
    LDG R36, [R2+1024]
    LDG R29, [R1+1280]
    LDG R37, [R2+1280]
    LDG R30, [R1+1536]
    LDG R38, [R2+1536]
    LDG R31, [R1+1792]
    LDG R39, [R2+1792]
    IMAD R3, R8, R16, R3
    IMAD R5, R9, R17, R5
    IMAD R3, R10, R18, R3
    IMAD R5, R11, R19, R5
    IMAD R3, R12, R20, R3
    IMAD R5, R13, R21, R5
    IMAD R3, R14, R22, R3
    IMAD R5, R15, R23, R5
    IADD R4, R4, -1
    ISETP.GT P0, R4, 0
    MOV R8, R24
    MOV R16, R32
    MOV R9, R25
    MOV R17, R33
    MOV R10, R26
    MOV R18, R34
    MOV R11, R27
    MOV R19, R35
    MOV R12, R28
    MOV R20, R36
    MOV R13, R29
    MOV R21, R37
    MOV R14, R30
    MOV R22, R38
    MOV R15, R31
    MOV R23, R39
    @P0 BRA next
    IMAD R3, R8, R16, R3
    IMAD R5, R9, R17, R5
    IMAD R3, R10, R18, R3
    IMAD R5, R11, R19, R5
    IMAD R3, R12, R20, R3
    IMAD R5, R13, R21, R5
    IMAD R3, R14, R22, R3
    IMAD R5, R15, R23, R5
    IADD R3, R3, R5
    IADD R1, R0, c[y]
    STG [R1], R3
    EXIT
