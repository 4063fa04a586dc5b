// Each thread computes a checksum of 32 words of shared memory: the sum of their products with themselves.
.kernel checksum
.grid 1
.block 32
.shared 128
.buffer x i32 32 = hash 5 -1000 1000
.buffer y i32 32

    S2R R0, TID.X
    SHL R0, R0, 2
    IADD R1, R0, c[x]
    LDG R2, [R1]
    STS [R0], R2
    BAR.SYNC 0
    LDS.128 R8, [0]
    LDS.128 R12, [16]
    LDS.128 R16, [32]
    LDS.128 R20, [48]
    LDS.128 R24, [64]
    LDS.128 R28, [80]
    LDS.128 R32, [96]
    LDS.128 R36, [112]
    MOV R3, R0                  // four sums, which are added at the end
    MOV R4, 0
    MOV R5, 0
    MOV R6, 0
    IMAD R3, R8, R8, R3
    IMAD R4, R9, R9, R4
    IMAD R5, R10, R10, R5
    IMAD R6, R11, R11, R6
    IMAD R3, R12, R12, R3
    IMAD R4, R13, R13, R4
    IMAD R5, R14, R14, R5
    IMAD R6, R15, R15, R6
    IMAD R3, R16, R16, R3
    IMAD R4, R17, R17, R4
    IMAD R5, R18, R18, R5
    IMAD R6, R19, R19, R6
    IMAD R3, R20, R20, R3
    IMAD R4, R21, R21, R4
    IMAD R5, R22, R22, R5
    IMAD R6, R23, R23, R6
    IMAD R3, R24, R24, R3
    IMAD R4, R25, R25, R4
    IMAD R5, R26, R26, R5
    IMAD R6, R27, R27, R6
    IMAD R3, R28, R28, R3
    IMAD R4, R29, R29, R4
    IMAD R5, R30, R30, R5
    IMAD R6, R31, R31, R6
    IMAD R3, R32, R32, R3
    IMAD R4, R33, R33, R4
    IMAD R5, R34, R34, R5
    IMAD R6, R35, R35, R6
    IMAD R3, R36, R36, R3
    IMAD R4, R37, R37, R4
    IMAD R5, R38, R38, R5
    IMAD R6, R39, R39, R6
    IADD R1, R0, c[y]
    IADD R3, R3, R4
    IADD R5, R5, R6
    IADD R3, R3, R5
    STG [R1], R3
    EXIT
