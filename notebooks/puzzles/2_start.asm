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
    MOV R3, R0                  // the sum begins with the thread's byte offset
    LDS.128 R8, [0]
    LDS.128 R12, [16]
    IMAD R3, R8, R8, R3
    IMAD R3, R9, R9, R3
    IMAD R3, R10, R10, R3
    IMAD R3, R11, R11, R3
    IMAD R3, R12, R12, R3
    IMAD R3, R13, R13, R3
    IMAD R3, R14, R14, R3
    IMAD R3, R15, R15, R3
    LDS.128 R8, [32]
    LDS.128 R12, [48]
    IMAD R3, R8, R8, R3
    IMAD R3, R9, R9, R3
    IMAD R3, R10, R10, R3
    IMAD R3, R11, R11, R3
    IMAD R3, R12, R12, R3
    IMAD R3, R13, R13, R3
    IMAD R3, R14, R14, R3
    IMAD R3, R15, R15, R3
    LDS.128 R8, [64]
    LDS.128 R12, [80]
    IMAD R3, R8, R8, R3
    IMAD R3, R9, R9, R3
    IMAD R3, R10, R10, R3
    IMAD R3, R11, R11, R3
    IMAD R3, R12, R12, R3
    IMAD R3, R13, R13, R3
    IMAD R3, R14, R14, R3
    IMAD R3, R15, R15, R3
    LDS.128 R8, [96]
    LDS.128 R12, [112]
    IMAD R3, R8, R8, R3
    IMAD R3, R9, R9, R3
    IMAD R3, R10, R10, R3
    IMAD R3, R11, R11, R3
    IMAD R3, R12, R12, R3
    IMAD R3, R13, R13, R3
    IMAD R3, R14, R14, R3
    IMAD R3, R15, R15, R3
    IADD R1, R0, c[y]
    STG [R1], R3
    EXIT
