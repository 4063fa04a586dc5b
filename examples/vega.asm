// y = 2 x + y on GCN: a wave of 64 lanes has a group of x and y, and the factor comes by a scalar load.
.kernel vega
.warp 64
.grid 4
.buffer x f32 256 = hash 1
.buffer y f32 256 = hash 2
.buffer factors f32 16 = constant 2
.expect y = 2 * x + y              # exact: both have 16-bit fractions
.flops 512

    S2R v0, TID.X
    S2R s0, CTAID.X
    S_MOV_B32 s1, c[factors]
    S_LOAD_DWORD s2, s1, 0x4
    S_LSHL_B32 s0, s0, 8           // bytes of the blocks before
    V_LSHLREV_B32 v0, 2, v0
    V_ADD_U32 v0, v0, s0
    V_ADD_U32 v1, v0, c[x]
    V_ADD_U32 v2, v0, c[y]
    GLOBAL_LOAD_DWORD v3, v1, off
    GLOBAL_LOAD_DWORD v4, v2, off
    S_WAITCNT vmcnt(0) lgkmcnt(0)
    V_FMA_F32 v4, v3, s2, v4
    GLOBAL_STORE_DWORD v2, v4, off
    S_ENDPGM
