// Eight tiles of 16 x 8 numbers times a matrix of 8 x 8, by one warp: the next tile is copied meanwhile (cp.async).
.kernel tf32
.block 32
.shared 1280                       // two stages of 512 bytes, and the matrix
.buffer a f32 1024 = iota
.buffer b f32 64 = values 2 0 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0 0 2
.buffer c f32 1024
.expect c = 2 * a                  # the matrix is twice the identity
.flops 16384                       // 8 tiles, 2 x 16 x 8 x 8 each

    S2R R0, TID.X
    SHL R1, R0, 4                  // this lane copies 16 bytes of a tile, into the stage of R2
    MOV R2, R1
    IADD R3, R1, c[a]
    IADD R4, R1, c[b]
    ISETP.LT P0, R0, 16
    @P0 LDGSTS.128 [R2+1024], [R4]
    LDGSTS.128 [R2], [R3]
    LDGDEPBAR                      // the first group: the matrix and a tile
    LDGSTS.128 [R2+512], [R3+512]
    LDGDEPBAR
    LOP.AND R5, R0, 15             // which row of 16 bytes of A this lane names: 16 rows of 32 bytes, two halves
    SHL R5, R5, 5
    LOP.AND R6, R0, 16
    IADD R5, R5, R6
    LOP.AND R6, R0, 7              // and of B: 8 rows, two halves
    SHL R6, R6, 5
    LOP.AND R7, R0, 8
    IMAD R6, R7, 2, R6
    SHL R7, R0, 3                  // where its two results of rows 0 to 7 go
    IADD R7, R7, c[c]
    MOV R8, 0                      // tile
    DEPBAR.LE SB0, 1
    LDSM.16.M88.2 R10, [R6+1024]
next:
    DEPBAR.LE SB0, 1               // all groups but the last one have come
    LDSM.16.M88.4 R12, [R5]
    MOV R16, 0
    MOV R17, 0
    MOV R18, 0
    MOV R19, 0
    HMMA.1688.F32.TF32 R16, R12, R10, R16
    ISETP.LT P1, R8, 6
    @P1 LDGSTS.128 [R2], [R3+1024] // the tile after the next one, into the stage that has been read
    LDGDEPBAR
    STG.64 [R7], R16
    STG.64 [R7+256], R18
    LOP.XOR R2, R2, 512            // the other stage
    LOP.XOR R5, R5, 512
    IADD R3, R3, 512
    IADD R7, R7, 512
    IADD R8, R8, 1
    ISETP.LT P2, R8, 8
    @P2 BRA next
    EXIT
