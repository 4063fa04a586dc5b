// Each thread doubles eight neighbouring words.
.kernel double
.grid 16
.block 256
.buffer x i32 32768 = hash 7 -1000 1000
.buffer y i32 32768

    S2R R0, TID.X
    S2R R1, CTAID.X
    IMAD R0, R1, 256, R0        // which thread of the grid
    SHL R0, R0, 5               // byte offset of its eight words
    IADD R1, R0, c[x]
    IADD R2, R0, c[y]
    LDG R8, [R1+0]
    LDG R9, [R1+4]
    LDG R10, [R1+8]
    LDG R11, [R1+12]
    LDG R12, [R1+16]
    LDG R13, [R1+20]
    LDG R14, [R1+24]
    LDG R15, [R1+28]
    SHL R8, R8, 1
    SHL R9, R9, 1
    SHL R10, R10, 1
    SHL R11, R11, 1
    SHL R12, R12, 1
    SHL R13, R13, 1
    SHL R14, R14, 1
    SHL R15, R15, 1
    STG [R2+0], R8
    STG [R2+4], R9
    STG [R2+8], R10
    STG [R2+12], R11
    STG [R2+16], R12
    STG [R2+20], R13
    STG [R2+24], R14
    STG [R2+28], R15
    EXIT
