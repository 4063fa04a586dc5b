// y = 2 x + y over 100 elements, one a thread: the last 28 of the 128 threads do nothing.
.kernel saxpy
.grid 2
.block 64
.param n = 100
.param factor = 2.0
.buffer x f32 100 = hash 1
.buffer y f32 100 = hash 2
.expect y = 2 * x + y              # exact: both have 16-bit fractions
.flops 200

    S2R R0, TID.X
    S2R R1, CTAID.X
    S2R R2, NTID.X
    IMAD R0, R1, R2, R0            // element
    ISETP.LT P0, R0, c[n]
    SHL R1, R0, 2
    IADD R2, R1, c[x]
    IADD R3, R1, c[y]
    @P0 LDG R4, [R2]
    @P0 LDG R5, [R3]
    FFMA R5, R4, c[factor], R5
    @P0 STG [R3], R5
    EXIT
