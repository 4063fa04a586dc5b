from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from draws import few

from isa.row import Unit
from workloads.papers.kurzak.stencil import LAYOUTS, READS, gemm_stencil
from workloads.papers.kurzak.stencil_tuning import PUBLISHED, published_tuning

# Table of the published kernels: loads and multiply-adds of a rank-1 update, of a tile, fetches, words, shared bytes.
TABLE = {
    "s": ("LDS", 12, "FFMA", 36, 16, 12, 60, 12736),
    "d": ("LDS.64", 8, "DFMA", 16, 16, 8, 64, 17024),
    "c": ("LDS.64", 8, "FFMA", 64, 16, 8, 64, 17024),
    "z": ("LDS.128", 5, "DFMA", 24, 8, 5, 64, 5504),
}


def loop(**arguments):
    """Return the instructions of the loop, its branch included."""
    program = gemm_stencil(192, 192, 96, **arguments).program
    (branch,) = (pc for pc, i in enumerate(program.instructions) if i.row.mnemonic == "BRA")
    return program.instructions[program.labels["loop"] : branch + 1]


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("precision", TABLE)
def test_a_tile_has_the_published_instructions(precision, read):
    """Shared loads, multiply-adds, fetches, shared stores and two barriers are those of the table."""
    load, loads, fma, fmas, depth, fetches, _, _ = TABLE[precision]
    body = loop(precision=precision, read=read)
    counts = Counter(i.row.mnemonic for i in body)
    suffix = load.removeprefix("LDS")
    assert (counts[load], counts[fma]) == (depth * loads, depth * fmas)
    fetch = {"plain": f"LDG{suffix}", "tex1d": f"TEX{suffix}", "tex2d": f"TEX.2D{suffix}"}[read]
    assert (counts[fetch], counts[f"STS{suffix}"], counts["BAR.SYNC"]) == (fetches, fetches, 2)
    integer = sum(i.row.unit in (Unit.INT, Unit.COMPARE) for i in body)
    local = counts["LDL"]
    assert len(body) == depth * (loads + fmas) + 2 * fetches + 2 + 1 + integer + local


@pytest.mark.parametrize("precision", TABLE)
def test_words_and_shared_bytes_are_the_published(precision):
    """A thread's words follow the published estimate, and shared memory has one element more per row."""
    *_, words, shared = TABLE[precision]
    kernel, t = gemm_stencil(192, 192, 96, precision), published_tuning(precision, "nn")
    element = {"s": 1, "d": 2, "c": 2, "z": 4}[precision]
    fetched = (t.blk_m + t.blk_n) * t.blk_k // t.threads
    assert element * (t.thr_m * t.thr_n + t.thr_m + t.thr_n + fetched) == words
    assert kernel.program.shared_bytes == shared


@pytest.mark.parametrize(("precision", "read"), few(product(TABLE, READS), 5))
def test_the_published_kernels_fit_63_registers(precision, read):
    """Pointers that do not fit are kept in local memory: none in s, two or three in d and c, one in z 2D."""
    spilled = {"s": (0, 0, 0), "d": (2, 2, 3), "c": (2, 2, 3), "z": (0, 0, 1)}[precision][READS.index(read)]
    for layout in LAYOUTS[2 if precision in "cz" else 1]:
        program = gemm_stencil(192, 192, 96, precision, layout, read).program
        assert (program.registers, program.local_bytes) == (63, 4 * spilled)


def test_with_more_registers_nothing_is_spilled():
    """At 80 registers the published kernel in double precision needs 71: 64 of data and seven pointers."""
    program = gemm_stencil(192, 192, 96, "d", registers=80).program
    assert (program.registers, program.local_bytes) == (71, 0)


def test_a_complex_multiply_add_is_four_real_ones():
    """With one tiling, complex kernels have four times the multiply-adds of real ones, and as many loads."""
    shape = {name: getattr(PUBLISHED["c"]["nn"], name) for name in PUBLISHED["c"]["nn"].__slots__}
    real, complex_ = (Counter(i.row.mnemonic for i in loop(precision=p, **shape)) for p in "sc")
    assert complex_["FFMA"] == 4 * real["FFMA"]
    assert complex_["LDS.64"] == real["LDS"]


def test_conjugation_only_changes_signs():
    """Complex layouts of one tiling have the same mnemonics; tt, tc, ct and cc differ only in the sources negated."""
    shape = {"dim_xa": 16, "dim_ya": 16, "dim_xb": 16, "dim_yb": 16}
    bodies = {layout: loop(precision="c", layout=layout, **shape) for layout in ("tt", "tc", "ct", "cc")}
    names = {layout: [i.row.mnemonic for i in body] for layout, body in bodies.items()}
    signs = {
        layout: tuple(o.negated for i in body if i.row.mnemonic == "FFMA" for o in i.operands)
        for layout, body in bodies.items()
    }
    assert len({tuple(each) for each in names.values()}) == 1
    assert len(set(signs.values())) == 4


def test_the_loop_is_device_registers_shared():
    """The loop has all fetches, the updates, a barrier, all shared stores, a barrier: register double buffering."""
    body = [i.row for i in loop()]
    kinds = [row.unit for row in body if row.unit in (Unit.TEXTURE, Unit.FP32, Unit.BARRIER) or row.mnemonic == "STS"]
    changes = [kind for i, kind in enumerate(kinds) if i == 0 or kinds[i - 1] is not kind]
    assert changes == [Unit.TEXTURE, Unit.FP32, Unit.BARRIER, Unit.SHARED, Unit.BARRIER]
