"""Words at each level, counted by hand, by running, and for the matrix products of the catalog."""

from collections import Counter
from dataclasses import replace
from itertools import product

import pytest
from draws import draws
from hypothesis import given, settings
from interpreter.interpret import interpret
from strategies.launches import kernels, looping_kernels

from gpusim.engines.walks.traffic import LOCAL, Level, traffic
from gpusim.launch.file.prepare import prepared
from isa.dataflow.register_use import OTHER, RESULTS
from isa.kernel import Kernel
from isa.operands.operand import FIRST_SCALAR
from isa.table import machine_row
from isa.text.listing import load, read
from workloads.catalog import make

SQUARES = """
.grid 3
.block 64
.shared 256
.buffer x f32 192 = hash 1
.buffer y f32 192
    S2R R0, TID.X
    S2R R1, CTAID.X
    IMAD R2, R1, 64, R0
    SHL R2, R2, 2
    SHL R0, R0, 2
    IADD R3, R2, c[x]
    LDG R4, [R3]
    STS [R0], R4
    BAR.SYNC 0
    LDS R5, [R0]
    FMUL R6, R5, R5
    IADD R3, R2, c[y]
    STG [R3], R6
    EXIT
"""


def test_a_listing_counted_by_hand():
    """The words of 192 threads that each square one word by way of shared memory equal those counted by hand."""
    found, threads = traffic(read(SQUARES)), 192
    assert found.read(Level.REGISTERS, OTHER) == (2 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1) * threads
    assert found.written(Level.REGISTERS, OTHER) == 7 * threads
    assert found.read(Level.REGISTERS, "x") == (1 + 2) * threads  # STS, FMUL
    assert found.written(Level.REGISTERS, "x") == (1 + 1) * threads  # LDG, LDS
    assert found.read(Level.REGISTERS, "x", arithmetic=True) == 2 * threads
    assert found.written(Level.REGISTERS, RESULTS) == found.read(Level.REGISTERS, RESULTS) == threads
    assert found.read(Level.SHARED, "x") == found.written(Level.SHARED, "x") == threads
    for level in (Level.L1, Level.L2, Level.DRAM):
        assert found.read(level, "x") == found.written(level, "y") == threads
        assert found.written(level, "x") == found.read(level, "y") == 0
    assert found.barriers == 3
    assert found.arithmetic == {32: threads}


def test_scalar_registers_count_once_for_a_warp():
    """In examples/vega.asm four warps load a factor each, and read it once for 64 lanes."""
    found = traffic(load("examples/vega.asm"))
    assert found.read(Level.SCALAR_CACHE, "factors") == found.written(Level.SCALARS, "factors") == 4
    assert found.read(Level.SCALARS, "factors", arithmetic=True) == 4
    assert found.read(Level.REGISTERS, arithmetic=True) == 2 * 256
    assert found.read(Level.L2, "factors") == 4 * 8  # a sector for each block
    assert found.read(Level.DRAM, "factors") == 8


def test_each_cache_counts_what_goes_through_it():
    """Texture and constant loads are counted at their caches, spills at the L1 as local memory."""
    text = """
.block 32
.local 8
.buffer x f32 32 = hash 1
    S2R R0, LANEID
    TEX R1, tex[x], R0
    MOV R2, c[x]
    LDC R3, [R2]
    STL.64 [RZ], R2
    LDL.64 R4, [RZ]
"""
    found = traffic(read(text))
    assert found.read(Level.TEXTURE_CACHE, "x") == found.read(Level.CONSTANT_CACHE, "x") == 32
    assert found.read(Level.L1, LOCAL) == found.written(Level.L1, LOCAL) == 64
    assert found.read(Level.L2, "x") == 32


def test_forwarding_takes_a_chain_out_of_the_register_file():
    """Of eight multiply-adds on one accumulator, forwarding leaves one read and one write of it: VLP's eighth."""
    chain = "\n".join(f"V_FMA_F32 v4, v{8 + k}, s{k}, v4" for k in range(8))
    kernel = read(f".warp 64\n.block 64\n{chain}")
    plain, forwarded = traffic(kernel), traffic(kernel, forwarding=True)
    assert plain.read(Level.REGISTERS, RESULTS) + plain.written(Level.REGISTERS, RESULTS) == 15 * 64
    assert forwarded.written(Level.REGISTERS, RESULTS) == 64
    assert forwarded.read(Level.REGISTERS) == 9 * 64
    assert forwarded.arithmetic == plain.arithmetic == {32: 8 * 64}


def test_half_a_barrier_is_released_by_half_of_the_warps():
    """Four warps that meet in pairs, each pair at its own barrier, make two releases."""
    text = """
.block 128
    S2R R0, WARPID
    ISETP.LT P0, R0, 2
    @P0 BAR.SYNC 1, 64
    @!P0 BAR.SYNC 2, 64
"""
    assert traffic(read(text)).barriers == 2


def test_a_guard_that_holds_in_some_lanes_counts_those():
    """A store whose guard holds in 16 of 32 lanes writes 16 words."""
    text = """
.block 32
.buffer y u32 32
    S2R R0, LANEID
    ISETP.LT P0, R0, 16
    SHL R1, R0, 2
    IADD R1, R1, c[y]
    @P0 STG [R1], R0
"""
    found = traffic(read(text))
    assert found.written(Level.L1, "y") == found.written(Level.DRAM, "y") == 16


@pytest.mark.jit
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_the_traffic_of_lai_follows_from_its_blocking(layout):
    """With B_R = 6 a thread loads 6 words of A and of B from shared memory for 36 multiply-adds of 3 + 1 registers."""
    few, many = (traffic(make("sgemm-lai", {"layout": layout, "m": "96", "n": "96", "k": str(k)})) for k in (64, 128))

    def per_k(of):
        return (of(many) - of(few)) / 64

    for matrix in "AB":
        assert per_k(lambda t, m=matrix: t.read(Level.SHARED, m)) == 6 * 256
        assert per_k(lambda t, m=matrix: t.written(Level.SHARED, m)) == 96
        assert per_k(lambda t, m=matrix: t.read(Level.REGISTERS, m, arithmetic=True)) == 36 * 256
        for level in (Level.L1, Level.L2, Level.DRAM):
            assert per_k(lambda t, m=matrix, at=level: t.read(at, m)) == 96
    assert per_k(lambda t: t.read(Level.REGISTERS, RESULTS)) == 36 * 256
    assert per_k(lambda t: t.written(Level.REGISTERS, RESULTS)) == 36 * 256
    assert many.barriers - few.barriers == 2 * 64 / 16


@pytest.mark.jit
def test_counts_grow_with_the_blocks():
    """Four times the blocks read and write four times as much at each level but DRAM, which is read twice as much."""
    one, four = (traffic(make("matmul-block", {"m": str(32 * n), "n": str(32 * n), "k": "64"})) for n in (1, 2))
    for level in set(Level) - {Level.DRAM}:
        assert (four.read(level), four.written(level)) == (4 * one.read(level), 4 * one.written(level))
    assert four.read(Level.DRAM) == 2 * one.read(Level.DRAM) == 2 * 2 * 32 * 64
    assert four.barriers == 4 * one.barriers
    assert four.arithmetic == {32: 4 * one.arithmetic[32]}


GEMMS = ("sgemm-lai", "matmul-naive", "matmul-block", "dgemm-tan", "sg4", "sgemm-vega-legacy")


@pytest.mark.jit
@pytest.mark.parametrize("name", GEMMS)
def test_a_matrix_product_touches_each_matrix_once(name):
    """Whatever the tiling, DRAM reads A and B once and writes C once, and the multiply-adds are as many as stated."""
    kernel = make(name)
    found, elements = traffic(kernel), {buffer.name: buffer.nbytes // 4 for buffer in kernel.buffers}
    for matrix in "AB":
        assert found.read(Level.DRAM, matrix) == elements[matrix]
        assert found.read(Level.L2, matrix) >= elements[matrix]
    assert found.written(Level.DRAM, "C") == found.written(Level.L2, "C") == elements["C"]
    extra = elements["C"]  # products with alpha
    assert found.flops // 2 <= sum(found.arithmetic.values()) <= found.flops // 2 + extra


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize(("name", "words", "rows"), [("sgemm-vega-vlp", 1, 8), ("dgemm-vega-vlp", 2, 4)])
def test_a_product_that_loads_ahead_touches_a_step_more(name, words, rows):
    """VLP's GEMMs read 8 k past each column of B and past the first rows of a tile of A; C once without its padding."""
    m, n, k = 128, 512, 64
    found = traffic(make(name, {"m": str(m), "n": str(n), "k": str(k)}))
    assert found.read(Level.DRAM, "A") == words * (m * k + m // 64 * rows * 8)
    assert found.read(Level.DRAM, "B") == words * n * (k + 8)
    assert found.read(Level.DRAM, "C") == found.written(Level.DRAM, "C") == words * m * n
    assert found.arithmetic == {32 * words: m * n * (k + 1)}


@given(kernels() | looping_kernels())
@settings(deadline=None, max_examples=draws(40))
def test_levels_are_sums_over_what_executes(kernel):
    """Words of registers and memory are those of each instruction, as often as it executes; uses part the sum."""
    run, expected = interpret(kernel), Counter()
    for instruction, counts, active in zip(kernel.program.instructions, run.counts, run.active, strict=True):
        for words, way in ((instruction.reads(), "read"), (instruction.writes(), "written")):
            for register in words:
                scalar = register >= FIRST_SCALAR
                expected[Level.SCALARS if scalar else Level.REGISTERS, way] += int(counts if scalar else active)
        row = instruction.row
        if str(row.unit) in ("shared", "global", "local"):
            level = Level.SHARED if str(row.unit) == "shared" else Level.L1
            words_moved = -(-int(active) * row.nbytes // 4)
            expected[level, "read"] += words_moved * row.is_load
            expected[level, "written"] += words_moved * row.is_store
    found = traffic(kernel)
    for level in (Level.REGISTERS, Level.SCALARS, Level.SHARED, Level.L1):
        assert found.read(level) == expected[level, "read"]
        assert found.written(level) == expected[level, "written"]
        assert found.read(level) == sum(found.read(level, use) for use in {w.use for w in found.words})
    assert found.read(Level.DRAM) <= found.read(Level.L2)
    assert found.written(Level.DRAM) <= found.written(Level.L2)


def test_bytes_are_parts_of_words():
    """64 threads that each store a byte write 16 words, and each of 64 halves loaded is half a word."""
    text = ".shared 256\nS2R R0, TID.X\nSTS [R0], R0\nSHL R1, R0, 1\nLDS R2, [R1]\nEXIT"
    program = read(text).program
    rows = {"STS": machine_row("STS.U8"), "LDS": machine_row("LDS.S16")}
    code = tuple(replace(i, row=rows.get(i.row.mnemonic, i.row)) for i in program.instructions)
    kernel = Kernel("bytes", replace(program, instructions=code), (1, 1, 1), (64, 1, 1))
    assert traffic(kernel).written(Level.SHARED) == 16
    assert traffic(kernel).read(Level.SHARED) == 32


def test_copies_write_shared_memory():
    """An asynchronous copy counts as a read through the L1, and as a write to shared memory."""
    places = "S2R R0, TID.X\nSHL R1, R0, 4\nIADD R3, R1, c[x]\n"
    made = read(f".block 64\n.shared 1024\n.buffer x u32 256\n{places}LDGSTS.128 [R1], [R3]")
    found = traffic(made)
    assert (found.read(Level.L1), found.written(Level.SHARED), found.read(Level.SHARED)) == (256, 256, 0)


def test_copies_of_tensors_move_what_lies_inside_them():
    """12 tiles of 32 x 16 of an image of 100 x 40 load a box of 40 x 18 around each, and store what is inside.

    Rows of the image are 400 bytes, so that half of them begin within a sector.
    """
    found = traffic(prepared("examples/tensor/tma.cubin"))
    sectors = {"image": 0, "result": 0}
    for x, y in product(range(0, 128, 32), range(0, 48, 16)):
        for name, columns, rows in (
            ("image", range(x - 4, x + 36), range(y - 1, y + 17)),
            ("result", range(x, x + 32), range(y, y + 16)),
        ):
            inside = {(100 * r + c) // 8 for r in rows if 0 <= r < 40 for c in columns if 0 <= c < 100}
            sectors[name] += len(inside)
    assert found.read(Level.L2, "image") == 8 * sectors["image"]
    assert found.written(Level.L2, "result") == 8 * sectors["result"]
    assert found.read(Level.DRAM, "image") == found.written(Level.DRAM, "result") == 4000
    assert found.written(Level.SHARED, "image") == 12 * 40 * 18
    assert found.read(Level.SHARED, "image") == 12 * 512 * 5  # each point of a tile reads five
    assert found.read(Level.SHARED, "result") == 12 * 512


def test_products_of_a_warpgroup_read_shared_memory():
    """64 x 64 numbers of depth 128: eight products read 64 rows, and 64 columns, of 32 bytes each."""
    found = traffic(prepared("examples/tensor/wgmma.cubin"))
    assert found.read(Level.SHARED, "a or b") == 8 * (64 + 64) * 8
    assert found.read(Level.SHARED, "a") == found.read(Level.SHARED, "b") == 0
    assert found.written(Level.SHARED, "a") == found.written(Level.SHARED, "b") == 64 * 128 // 2


def test_blocks_of_a_cluster_count_apart():
    """Three rows of 4096 numbers, a quarter to each of the four blocks of a cluster, which read them twice.

    Each block stores eight sums of its warps and its own, and reads the eight, and the four of the cluster, 256 times.
    """
    found = traffic(prepared("examples/tensor/cluster.cubin"))
    assert found.read(Level.L1, "x") == 2 * 12288
    assert found.read(Level.L2, "x") == found.read(Level.DRAM, "x") == 12288
    assert found.written(Level.L2, "y") == found.written(Level.DRAM, "y") == 12288
    assert found.read(Level.SHARED, OTHER) == 12 * 4 * 256
    assert found.written(Level.SHARED) == 12 * (8 + 1)
    assert found.barriers == 12 * 3  # one of the block, two of the cluster
