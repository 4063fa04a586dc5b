// Each thread doubles eight neighbouring words.
.kernel double
.grid 16
.block 256
.buffer x i32 32768 = hash 7 -1000 1000
.buffer y i32 32768

    S2R R0, TID.X
    S2R R1, CTAID.X
    SHL R0, R0, 4               // neighbouring threads take neighbouring pieces of 16 bytes
    IMAD R0, R1, 8192, R0       // in the 8,192 bytes of their block
    IADD R1, R0, c[x]
    IADD R2, R0, c[y]
    LDG.128 R8, [R1]
    LDG.128 R12, [R1+4096]
    SHL R8, R8, 1
    SHL R9, R9, 1
    SHL R10, R10, 1
    SHL R11, R11, 1
    SHL R12, R12, 1
    SHL R13, R13, 1
    SHL R14, R14, 1
    SHL R15, R15, 1
    STG.128 [R2], R8
    STG.128 [R2+4096], R12
    EXIT
