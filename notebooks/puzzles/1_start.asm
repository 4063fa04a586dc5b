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
    LDG R2, [R1]
    MOV R3, R2                  // sum
    IADD R1, R0, c[b]
    LDG R2, [R1]
    IADD R3, R3, R2
    IADD R1, R0, c[c]
    LDG R2, [R1]
    IADD R3, R3, R2
    IADD R1, R0, c[d]
    LDG R2, [R1]
    IADD R3, R3, R2
    IADD R1, R0, c[y]
    STG [R1], R3
    EXIT
