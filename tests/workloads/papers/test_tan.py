from __future__ import annotations

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
from isa.row import Unit
from workloads.papers.tan.tan import NARROW, RACY, VARIANTS, dgemm_tan

REPEATABLE_FEW = settings(REPEATABLE, max_examples=draws(4, 1))
BOTH = [(v, w) for v in VARIANTS for w in (64, 128) if (v, w) != ("v4", 64)]


@pytest.mark.parametrize(("variant", "width"), BOTH)
@REPEATABLE_FEW
@given(m=st.integers(1, 2), n=st.integers(1, 2), tiles=st.integers(1, 3), beta=st.sampled_from([0.0, -0.5]))
def test_the_result_is_the_fused_reference_to_the_last_bit(check_bits, variant, width, m, n, tiles, beta):
    """Every variant at both widths, one tile along k or several: all blocks right bit for bit."""
    check_bits(fused.tan, dgemm_tan(64 * m, 64 * n, 16 * tiles, variant, width, alpha=1.5, beta=beta))


@pytest.mark.parametrize("spilled", few(range(0, 9, 2), 3))
@pytest.mark.parametrize("width", [64, 128])
def test_spilling_changes_no_value(check_bits, spilled, width):
    """Algorithm 2 with 0 to 8 doubles in local memory computes the same."""
    check_bits(fused.tan, dgemm_tan(64, 64, 48, "alg2", width, spilled=spilled))


@pytest.mark.parametrize("read", ["plain", "tex1d"])
@pytest.mark.parametrize(("variant", "width"), few(BOTH, 4))
def test_every_variant_reads_through_textures_or_plainly(check_bits, variant, width, read):
    """Both ways to read A and B give the same values; textures are the paper's way for algorithm 3 and its versions."""
    kernel = dgemm_tan(128, 64, 48, variant, width, read=read, alpha=1.5)
    fetches = {i.row.unit for i in kernel.program.instructions} & {Unit.TEXTURE, Unit.GLOBAL}
    assert (Unit.TEXTURE in fetches) == (read == "tex1d")
    assert dgemm_tan(variant=variant, width=width).arguments["read"] == ("plain" if variant in NARROW else "tex1d")
    check_bits(fused.tan, kernel)


@pytest.mark.jit
@pytest.mark.parametrize(
    ("variant", "width", "blocking"),
    few([("alg1", 64, 2), ("alg1", 64, 8), ("alg1", 128, 8), ("alg3", 128, 8), ("v2", 64, 8), ("v2", 128, 8)], 1),
)
def test_other_blockings_compute_the_same(check_bits, variant, width, blocking):
    """2 by 2 and 8 by 8 values a thread, with 1024 and 64 threads, leave every value right and no race."""
    kernel = dgemm_tan(64, 128, 48, variant, width, blocking=blocking, beta=-0.5)
    assert kernel.threads == (64 // blocking) ** 2
    check_bits(fused.tan, kernel)
    assert races(kernel) == []


@pytest.mark.long
@pytest.mark.parametrize("variant", ["v3", "v4"])
def test_searched_loads_compute_the_same(check_bits, variant):
    """Shared loads where the search puts them leave every value right."""
    check_bits(fused.tan, dgemm_tan(64, 64, 48, variant, order="searched"))


@pytest.mark.jit
@pytest.mark.parametrize(("variant", "width"), BOTH)
def test_strict_barriers_leave_no_race(variant, width):
    """With every barrier the kernel has no race."""
    assert races(dgemm_tan(64, 64, 48, variant, width)) == []


@pytest.mark.jit
@pytest.mark.parametrize(("variant", "width"), [(v, w) for v, w in BOTH if v in ("alg1", "alg2", "v1")])
def test_the_barriers_as_printed_race(variant, width):
    """With one barrier a tile a store to shared memory races with another warp's load of the tile before."""
    found = races(dgemm_tan(64, 64, 48, variant, width, "literal"))
    assert found
    assert {"STS" in race.first.text or "STS" in race.second.text for race in found} == {True}


@pytest.mark.jit
@pytest.mark.parametrize(("variant", "barriers"), [*((v, "strict") for v in VARIANTS), *((v, "literal") for v in RACY)])
@pytest.mark.parametrize("k", [16, 48])
def test_a_kernel_is_racy_exactly_if_it_has_races(variant, barriers, k):
    """A kernel's field `racy` is true exactly if the detector finds a race; with one tile it finds none."""
    kernel = dgemm_tan(64, 64, k, variant, barriers=barriers)
    assert kernel.racy == bool(races(kernel))


@pytest.mark.parametrize(("width", "columns"), [(64, [0, 4, 8, 12]), (128, [0, 8])])
def test_threads_fetch_the_columns_of_figure_7(width, columns):
    """Thread 0 fetches k = 0, 4, 8 and 12 with 64 bits, 0 and 8 with 128; the next row of threads fetches k + 1."""
    kernel, seen = dgemm_tan(64, 64, 16, "alg1", width), []
    interpret(kernel, [0], lambda pc, _, addresses, __: seen.append((pc, addresses)))
    loads = [a for pc, a in seen if kernel.program.instructions[pc].row.mnemonic.startswith("LDG")][: len(columns)]
    k = (np.array(loads) - loads[0][0, 0]) // (8 * 64)
    lanes = 64 * 8 // (width // 8) // 32  # warps that fetch one k
    assert k[:, 0].tolist() == [[c] * 32 for c in columns]
    assert k[:, lanes].tolist() == [[c + 1] * 32 for c in columns]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"m": 96}, "m=96 is not a positive multiple of 64; the nearest is 128"),
        ({"k": 8}, "k=8 is not a positive multiple of 16; the nearest is 16"),
        ({"variant": "alg4"}, "variant=alg4 is not allowed; give one of alg1, alg2, alg3, v1, v2, v3, v4"),
        ({"variant": "v4", "width": 64}, "width=64 is not allowed; give one of 128"),
        (
            {"barriers": "literal", "variant": "v4"},
            "barriers=literal is the same as strict for v4; it is for alg1, alg2, v1",
        ),
        ({"barriers": "none"}, "barriers=none is not allowed; give one of strict, literal"),
        ({"read": "tex2d"}, "read=tex2d is not allowed; give one of plain, tex1d"),
        ({"blocking": 8, "variant": "v4"}, "blocking=8 is not allowed; give one of 4"),
        ({"blocking": 2, "width": 128}, "blocking=2 is not allowed; give one of 4, 8"),
        ({"order": "searched"}, "order=searched is not allowed; give one of figure9"),
        ({"spilled": 3}, "spilled=3 is not allowed; give one of 0, 2, 4, 6, 8"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(arguments, message):
    """The message has the rule and what to give instead."""
    with pytest.raises(UserError, match=f"^dgemm-tan: {message}") as caught:
        dgemm_tan(**arguments)
    assert "\n" not in str(caught.value)
