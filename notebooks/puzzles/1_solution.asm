// Each thread adds four numbers.
.kernel four
.grid 1
.block 64
.buffer a i32 64 = hash 1 -1000 1000
.buffer b i32 64 = hash 2 -1000 1000
.buffer c i32 64 = hash 3 -1000 1000
.buffer d i32 64 = hash 4 -1000 1000
.buffer y i32 64

    S2R R0, TID.X
    SHL R0, R0, 2               // byte offset of the thread's elements
    IADD R1, R0, c[a]
    IADD R2, R0, c[b]
    IADD R3, R0, c[c]
    IADD R4, R0, c[d]
    LDG R5, [R1]                // all four are under way together
    LDG R6, [R2]
    LDG R7, [R3]
    LDG R8, [R4]
    IADD R1, R0, c[y]
    IADD R5, R5, R6
    IADD R7, R7, R8
    IADD R5, R5, R7
    STG [R1], R5
    EXIT
