// C = A B^T of halves, 64 x 64 and 512 deep, by wgmma: the copy engine brings tiles of 64 x 64, two stages ahead.
.kernel wgmma_tma
.block 128                         // four warps, which multiply together
.shared 32784                      // two stages of 8,192 bytes of A and of B, and a barrier for each
.buffer a f16 32768 = hash 1 -2 2
.buffer b f16 32768 = hash 2 -2 2
.buffer c f32 4096
.map of_a = a 64x512 box 64x64 swizzle 128B
.map of_b = b 64x512 box 64x64 swizzle 128B
.expect c = product(a, b, 512)     // exact: every sum fits in a single
.flops 4194304                     // 2 x 64 x 64 x 512

    S2R R0, TID.X
    ISETP.EQ P0, R0, 0             // this thread begins the barriers and asks for copies
    UMOV UR2, 32768                // where the barriers are
    UMOV UR4, 0x1ffffe             // a barrier of one arrival: what is still to come, negative
    UMOV UR5, 0x7ffff800
    @P0 SYNCS.EXCH.64 URZ, [UR2], UR4
    @P0 SYNCS.EXCH.64 URZ, [UR2+8], UR4
    UMOV UR12, 0                   // a copy of A: where it goes, its barrier, column and row of its box
    UMOV UR13, 32768
    UMOV UR14, 0
    UMOV UR15, 0
    UMOV UR16, 8192                // and of B
    UMOV UR17, 32768
    UMOV UR18, 0
    UMOV UR19, 0
    UMOV UR20, c[of_a]
    UMOV UR21, 0
    UMOV UR22, c[of_b]
    UMOV UR23, 0
    UMOV UR24, 16384               // the same for the second stage
    UMOV UR25, 32776
    UMOV UR26, 64
    UMOV UR27, 0
    UMOV UR28, 24576
    UMOV UR29, 32776
    UMOV UR30, 64
    UMOV UR31, 0
    MOV R2, 16384                  // bytes of a stage
    FENCE.VIEW.ASYNC.S             // the copy engine sees the barriers
    @P0 SYNCS.ARRIVE.TRANS64 RZ, [UR2], R2
    @P0 UTMALDG.2D [UR12], [UR20]
    @P0 UTMALDG.2D [UR16], [UR22]
    @P0 SYNCS.ARRIVE.TRANS64 RZ, [UR2+8], R2
    @P0 UTMALDG.2D [UR24], [UR20]
    @P0 UTMALDG.2D [UR28], [UR22]
    UMOV UR8, 0                    // descriptor of A: address / 16; 1,024 bytes between groups of 8 rows, swizzled
    UMOV UR9, 0x40000040
    UMOV UR10, 512                 // and of B
    UMOV UR11, 0x40000040
    MOV R3, 0                      // parity of the phase, in bit 31
    MOV R4, 0                      // column of K
    BAR.SYNC 0                     // the barriers have begun
next:
first:
    SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR2], R3
    @!P1 BRA first                 // until the first stage has come
    ISETP.GT P2, R4, 0             // the first product adds to nothing
    WARPGROUP.ARRIVE
    HGMMA.64x64x16.F32 R24, gdesc[UR8], R24, P2
    UIADD3 UR8, UR8, 2, URZ        // 16 halves further
    UIADD3 UR10, UR10, 2, URZ
    HGMMA.64x64x16.F32 R24, gdesc[UR8], R24
    UIADD3 UR8, UR8, 2, URZ
    UIADD3 UR10, UR10, 2, URZ
    HGMMA.64x64x16.F32 R24, gdesc[UR8], R24
    UIADD3 UR8, UR8, 2, URZ
    UIADD3 UR10, UR10, 2, URZ
    HGMMA.64x64x16.F32.gsb0 R24, gdesc[UR8], R24
    UIADD3 UR8, UR8, 1018, URZ     // to the second stage
    UIADD3 UR10, UR10, 1018, URZ
    WARPGROUP.DEPBAR.LE 0
    BAR.SYNC 0                     // all have read the stage
    ISETP.LT P3, R4, 384
    UIADD3 UR14, UR14, 128, URZ
    UIADD3 UR18, UR18, 128, URZ
    SEL R5, R0, 1, P3              // 0: the thread that copies, while there is more to come
    ISETP.EQ P4, R5, 0
    @P4 SYNCS.ARRIVE.TRANS64 RZ, [UR2], R2
    @P4 UTMALDG.2D [UR12], [UR20]
    @P4 UTMALDG.2D [UR16], [UR22]
second:
    SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR2+8], R3
    @!P1 BRA second
    WARPGROUP.ARRIVE
    HGMMA.64x64x16.F32 R24, gdesc[UR8], R24
    UIADD3 UR8, UR8, 2, URZ
    UIADD3 UR10, UR10, 2, URZ
    HGMMA.64x64x16.F32 R24, gdesc[UR8], R24
    UIADD3 UR8, UR8, 2, URZ
    UIADD3 UR10, UR10, 2, URZ
    HGMMA.64x64x16.F32 R24, gdesc[UR8], R24
    UIADD3 UR8, UR8, 2, URZ
    UIADD3 UR10, UR10, 2, URZ
    HGMMA.64x64x16.F32.gsb0 R24, gdesc[UR8], R24
    UIADD3 UR8, UR8, -1030, URZ    // back to the first stage
    UIADD3 UR10, UR10, -1030, URZ
    WARPGROUP.DEPBAR.LE 0
    BAR.SYNC 0
    UIADD3 UR26, UR26, 128, URZ
    UIADD3 UR30, UR30, 128, URZ
    @P4 SYNCS.ARRIVE.TRANS64 RZ, [UR2+8], R2
    @P4 UTMALDG.2D [UR24], [UR20]
    @P4 UTMALDG.2D [UR28], [UR22]
    LOP.XOR R3, R3, 0x80000000
    IADD R4, R4, 128
    ISETP.LT P5, R4, 512
    @P5 BRA next
    LOP.AND R6, R0, 31             // row of this thread: 16 of a warp, a lane has two numbers of every eight
    SHR.U32 R7, R6, 2
    SHR.U32 R8, R0, 5
    SHL R8, R8, 4
    IADD R7, R7, R8
    SHL R7, R7, 8                  // 256 bytes of a row of C
    LOP.AND R6, R6, 3
    SHL R6, R6, 3
    IADD R7, R7, R6
    IADD R7, R7, c[c]
    STG.64 [R7], R24
    STG.64 [R7+2048], R26       // rows 8 to 15
    STG.64 [R7+32], R28
    STG.64 [R7+2080], R30
    STG.64 [R7+64], R32
    STG.64 [R7+2112], R34
    STG.64 [R7+96], R36
    STG.64 [R7+2144], R38
    STG.64 [R7+128], R40
    STG.64 [R7+2176], R42
    STG.64 [R7+160], R44
    STG.64 [R7+2208], R46
    STG.64 [R7+192], R48
    STG.64 [R7+2240], R50
    STG.64 [R7+224], R52
    STG.64 [R7+2272], R54
    EXIT
