// Sum of 128 elements in each of two blocks: halve the number of active threads until one is left.
.kernel reduce
.grid 2
.block 128
.shared 512
.buffer x i32 256 = iota
.buffer sums i32 2
.expect sums = [8128, 24512]       # 0 + 1 + ... + 127, and the next 128

    S2R R0, TID.X
    S2R R1, CTAID.X
    SHL R2, R0, 2                  // byte offset of this thread's word in shared memory
    IMAD R3, R1, 512, R2
    IADD R3, R3, c[x]
    LDG R4, [R3]
    STS [R2], R4
    MOV R5, 64                     // active threads
    BAR.SYNC 0
halve:
    ISETP.LT P0, R0, R5
    SHL R6, R5, 2
    IADD R6, R2, R6                // the partner's word
    @P0 LDS R7, [R6]
    @P0 IADD R4, R4, R7
    @P0 STS [R2], R4
    SHR R5, R5, 1
    BAR.SYNC 0
    ISETP.GT P1, R5, 0
    @P1 BRA halve
    ISETP.EQ P2, R0, 0
    SHL R8, R1, 2
    IADD R8, R8, c[sums]
    @P2 STG [R8], R4
    EXIT
