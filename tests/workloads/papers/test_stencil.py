from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from itertools import product

import fused
import numpy as np
import pytest
from draws import draws, few
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from strategies.launches import REPEATABLE

from gpusim.engines.walks.races import races
from isa.errors import UserError
from isa.memory import bases, image, view
from workloads.builder import instruction
from workloads.papers.kurzak.stencil import LAYOUTS, ORDERS, PRECISIONS, READS, SKEWS, gemm_stencil
from workloads.papers.kurzak.stencil_tuning import Tuning, published_tuning

CASES = [
    (precision, layout, read)
    for precision in PRECISIONS
    for layout in LAYOUTS[2 if precision in "cz" else 1]
    for read in READS
]
FACTORS = {"alpha": 1.5, "beta": -0.5}
IMAGINARY = {"alpha_im": 0.3, "beta_im": -0.7}


def factors(precision):
    """Return factors that are neither 0 nor 1, complex where they may be."""
    return FACTORS | (IMAGINARY if precision in "cz" else {})


def test_there_are_78_cases():
    """Two precisions, four real and nine complex layouts, three ways to read: 2 (4 + 9) 3, all different programs."""
    assert len(CASES) == 2 * (4 + 9) * 3 == 78
    programs = [gemm_stencil(1, 1, 1, *case).program for case in CASES]
    assert len({(case[0], p.instructions) for case, p in zip(CASES, programs, strict=True)}) == 78


@pytest.mark.long
@pytest.mark.parametrize(("precision", "layout", "read"), CASES)
def test_each_case_is_the_fused_reference_to_the_last_bit(check_bits, precision, layout, read):
    """With the published tuning and sizes that are no multiples of the tile, all blocks are right to the last bit."""
    t = published_tuning(precision, layout)
    sizes = t.blk_m + 5, t.blk_n - 3, 2 * t.blk_k + 3
    check_bits(fused.stencil, gemm_stencil(*sizes, precision, layout, read, **factors(precision)))


@pytest.mark.parametrize(("precision", "read"), few(product(PRECISIONS, READS), 5))
def test_whole_tiles_need_no_conditions(check_bits, precision, read):
    """If sizes are multiples of the tile, only the loop's branch is guarded, and values are right to the last bit."""
    t = published_tuning(precision, "nn")
    kernel = gemm_stencil(2 * t.blk_m, t.blk_n, 3 * t.blk_k, precision, "nn", read)
    guarded = [i.row.mnemonic for i in kernel.program.instructions if i.guard.index != 7]
    assert guarded == ["BRA"]
    check_bits(fused.stencil, kernel)


@st.composite
def tunings(draw):
    """Draw a layout and small parameters that suit it: three shapes of one number of threads, tiles of them."""
    layout = draw(st.sampled_from(LAYOUTS[1]))
    threads = draw(st.sampled_from((12, 24, 32, 64)))
    sides = [x for x in range(1, threads + 1) if threads % x == 0 and x <= 12 and threads // x <= 12]
    c, a, b = (draw(st.sampled_from(sides)) for _ in range(3))
    shapes = {"c": (c, threads // c), "a": (a, threads // a), "b": (b, threads // b)}
    m_a, k_a = shapes["a"] if layout[0] == "n" else shapes["a"][::-1]
    k_b, n_b = shapes["b"] if layout[1] == "n" else shapes["b"][::-1]
    blk_m, blk_n, blk_k = (int(np.lcm(x, y)) for x, y in ((c, m_a), (threads // c, n_b), (k_a, k_b)))
    return layout, Tuning(blk_m, blk_n, blk_k, *shapes["c"], *shapes["a"], *shapes["b"])


def fewest(build):
    """Return the number of registers that the refusal of registers=1 asks for."""
    with pytest.raises(UserError, match=r"^gemm-stencil: registers=1 can't hold the data; give ") as refused:
        build(registers=1)
    return int(str(refused.value).split()[7])


@pytest.mark.parametrize("precision", few(PRECISIONS, 2))
def test_the_fewest_registers_work_and_no_fewer(precision):
    """The program has exactly the registers that the refusal asks for; one less is refused with the same number."""
    build = partial(gemm_stencil, precision=precision)
    least = fewest(build)
    assert build(registers=least).program.registers == least
    with pytest.raises(UserError, match=f"registers={least - 1} can't hold the data; give {least} or more, or auto"):
        build(registers=least - 1)


def test_the_refusal_asks_for_registers_that_are_enough():
    """A tile of 8 by 8 made for one register takes 12, but made for 12 it takes 14; the refusal asks for these 14."""
    build = partial(gemm_stencil, **asdict(Tuning(*[8] * 9)), read="plain")
    assert build(registers=fewest(build)).program.registers == fewest(build) == 14


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(12))
@given(
    drawn=tunings(),
    sizes=st.tuples(*[st.integers(1, 30)] * 3),
    precision=st.sampled_from(PRECISIONS),
    read=st.sampled_from(READS),
    skew=st.sampled_from(SKEWS),
    registers=st.sampled_from((None, 1, 250)),
    reads_c=st.booleans(),
    order=st.sampled_from(ORDERS),
    spaced=st.booleans(),
)
def test_any_tuning_computes_the_same(
    check_bits, drawn, sizes, precision, read, skew, registers, reads_c, order, spaced
):
    """Whatever the nine parameters, sizes, skew, registers and order: bit for bit the fused reference, no races."""
    layout, tuning = drawn
    chosen = factors(precision) if reads_c else {}
    chosen |= {name: 30 + i for i, name in enumerate(("lda", "ldb", "ldc"))} if spaced else {}
    given = layout if order == "column" else layout[::-1]
    build = partial(gemm_stencil, *sizes, precision, given, read, skew=skew, order=order, **chosen, **asdict(tuning))
    kernel = build(registers=fewest(build) if registers == 1 else registers)
    check_bits(fused.stencil, kernel)
    assert races(replace(kernel, grid=(1, 1, 1))) == []


def stored(kernel, name, contents, pitch, order):
    """Return a buffer as the matrix that is stored in it, spare elements after each line included."""
    (buffer,) = (b for b in kernel.buffers if b.name == name)
    numbers = view(contents, buffer, bases(kernel.buffers)[name]).astype(np.float64)
    if kernel.arguments["precision"] in "cz":
        numbers = numbers[0::2] + 1j * numbers[1::2]
    lines = numbers.reshape(-1, pitch)
    return lines if order == "row" else lines.T


@pytest.mark.parametrize(
    ("order", "precision", "layout", "read"),
    [
        ("row", "s", "nn", "tex1d"),
        ("row", "s", "tn", "plain"),
        ("row", "d", "nt", "tex2d"),
        ("row", "z", "cn", "tex1d"),
        ("row", "c", "tc", "plain"),
        ("column", "s", "nn", "plain"),
        ("column", "z", "cn", "tex2d"),
    ],
)
def test_leading_dimensions_and_the_order_are_those_of_blas(order, precision, layout, read):
    """Read as BLAS stores them, the matrices give NumPy's product, and C's spare elements stay as they were."""
    m, n, k, lda, ldb, ldc = 21, 27, 13, 31, 33, 35
    tile = dict(zip(asdict(published_tuning("s", "nn")), (16, 16, 8, 8, 8, 8, 8, 8, 8), strict=True))
    leading = {"lda": lda, "ldb": ldb, "ldc": ldc, "order": order}
    kernel = gemm_stencil(m, n, k, precision, layout, read, **factors(precision), **leading, **tile)
    before, after = image(kernel), interpret(kernel).memory
    op = {"n": lambda x: x, "t": lambda x: x.T, "c": lambda x: x.conj().T}
    sides = {"A": (m, k) if layout[0] == "n" else (k, m), "B": (k, n) if layout[1] == "n" else (n, k)}
    a, b = (
        op[letter](stored(kernel, name, before, pitch, order)[: sides[name][0], : sides[name][1]])
        for name, letter, pitch in (("A", layout[0], lda), ("B", layout[1], ldb))
    )
    old, new = (stored(kernel, "C", memory, ldc, order) for memory in (before, after))
    f = {"alpha_im": 0.0, "beta_im": 0.0} | factors(precision)
    alpha, beta = (f[x] + (1j * f[f"{x}_im"] if precision in "cz" else 0) for x in ("alpha", "beta"))
    expected = old.copy()
    expected[:m, :n] = alpha * (a @ b) + beta * old[:m, :n]
    assert new == pytest.approx(expected, abs=1e-4)
    assert (new[m:] == old[m:]).all()
    assert (new[:, n:] == old[:, n:]).all()


def test_a_row_major_product_is_the_same_program():
    """The row-major product has the instructions of the column-major one of the transposed matrices, which swap."""
    row, column = gemm_stencil(96, 192, 32, order="row"), gemm_stencil(192, 96, 32)
    fetched = [[i.operands[1].name for i in x.program.instructions if i.row.mnemonic == "TEX"] for x in (row, column)]
    assert fetched[0] == [{"A": "B", "B": "A"}[name] for name in fetched[1]]
    assert len(row.program) == len(column.program)
    assert (row.grid, row.arguments["lda"], row.arguments["ldb"]) == (column.grid, 32, 192)


@pytest.mark.jit
@pytest.mark.parametrize("which", [0, 1, 2])
def test_every_barrier_of_the_stencil_is_needed(which):
    """Without any one of its three barriers, that of the first tile or one of the loop's two, the kernel races."""
    kernel = gemm_stencil(96, 96, 48)
    instructions = list(kernel.program.instructions)
    barriers = [pc for pc, i in enumerate(instructions) if i.row.mnemonic == "BAR.SYNC"]
    assert len(barriers) == 3
    instructions[barriers[which]] = instruction("NOP")
    broken = replace(kernel, program=replace(kernel.program, instructions=tuple(instructions)))
    assert races(kernel) == []
    assert races(broken) != []


@pytest.mark.parametrize("read", ["tex1d", "tex2d"])
def test_textures_are_read_inside_their_matrix_only(read):
    """With ragged sizes the fetches, after clamping, touch every element of their matrix and nothing else."""
    kernel = gemm_stencil(70, 75, 21, "d", "nt", read)
    texts, where = kernel.program.instructions, bases(kernel.buffers)
    seen = []
    interpret(kernel, observe=lambda pc, _, addresses, active: seen.append((pc, addresses[active])))
    fetched = {name: [] for name in "AB"}
    for pc, addresses in seen:
        if texts[pc].row.mnemonic.startswith("TEX"):
            fetched[texts[pc].operands[1].name].append(addresses)
    for buffer in kernel.buffers[:2]:
        touched = np.unique(np.concatenate(fetched[buffer.name]))
        assert touched[0] == where[buffer.name]
        assert touched[-1] == where[buffer.name] + buffer.nbytes - 8
        assert len(touched) == buffer.elements


def test_the_grid_covers_a_ragged_c():
    """100 by 97 in tiles of 96 by 96 is a grid of 2 by 2; flops of complex products count four times."""
    kernel = gemm_stencil(100, 97, 10, "s")
    assert (kernel.grid, kernel.block) == ((2, 2, 1), (16, 16, 1))
    assert kernel.flops == 2 * 100 * 97 * 10
    assert gemm_stencil(100, 97, 10, "z").flops == 8 * 100 * 97 * 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"precision": "h"}, ": precision=h is not allowed; give one of s, d, c, z"),
        ({"layout": "cn"}, ": precision=s: layout=cn is not allowed; give one of nn, nt, tn, tt"),
        ({"read": "tex3d"}, ": read=tex3d is not allowed; give one of plain, tex1d, tex2d"),
        ({"order": "both"}, ": order=both is not allowed; give one of column, row"),
        ({"lda": 191}, ": lda=191 is too small; give 192 or more"),
        ({"ldb": 95}, ": ldb=95 is too small; give 96 or more"),
        ({"order": "row", "lda": 95}, ": lda=95 is too small; give 96 or more"),
        ({"order": "row", "n": 97, "ldc": 96}, ": ldc=96 is too small; give 97 or more"),
        ({"alpha_im": 1.0}, ": precision=s: alpha_im=1.0 is not allowed; give one of 0.0"),
        ({"m": 0}, ": m=0 is too small; give 1 or more"),
        ({"blk_k": 12}, ": blk_k=12 is not a positive multiple of 8 .dim_ya.; the nearest is 16"),
        ({"dim_x": 32}, ": dim_xa=32 dim_ya=8 makes 256 threads, dim_x=32 dim_y=16 512; give all three as many"),
        ({"dim_y": 128}, ": dim_x=16 dim_y=128 makes 2048 threads; a block has 1024 at most"),
        ({"blk_m": 960}, ": needs 360 registers; an instruction names 255"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(arguments, message):
    """The message has the rule and what to give instead."""
    with pytest.raises(UserError, match=f"^gemm-stencil{message}") as caught:
        gemm_stencil(**arguments)
    assert "\n" not in str(caught.value)
