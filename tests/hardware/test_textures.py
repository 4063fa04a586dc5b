"""What texture fetches find here is what an H200 found, bit by bit, except where docs/sass.md says by how much."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from draws import few

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from hardware import texture_replay
from hardware.test_architectures import needs_ptxas
from hardware.textures import CASES, Case
from isa.nvidia.compiler.compile import compile_source
from isa.nvidia.file import code

H200 = load("h200")
STEP = np.float32(1 / 32767)  # of a signed number of 16 bits
MOST = 6  # cases that the compiled engine runs in the quick run
BY_KERNEL: dict[str, list[int]] = defaultdict(list)
for place, one in enumerate(CASES):
    BY_KERNEL[one.kernel].append(place)


def is_close(case: Case) -> bool:
    """Tell whether the chip's arithmetic is known only nearly: filtered signed bytes, and levels of a 3D texture."""
    return case.sampling == "linear" and (case.dtype == "i1" or (case.dimensions == 3 and case.texels == "wide"))


@pytest.mark.parametrize("kernel", sorted(BY_KERNEL))
def test_the_interpreter_fetches_what_the_chip_fetched(kernel):
    """Each texture gives the recorded words at all coordinates, edges, infinities and NaN among them."""
    wrong = {}
    for number in BY_KERNEL[kernel]:
        if not is_close(CASES[number]):
            differing = np.flatnonzero((texture_replay.computed(number) != texture_replay.recorded(number)).any(axis=1))
            wrong |= {(number, CASES[number]): differing[:3].tolist()} if differing.size else {}
    assert wrong == {}


def test_the_largest_differences_are_those_that_the_page_states():
    """Filtered signed bytes differ by one step of 16 bits in under 5 %, wide 3D reals in the last bit, once."""
    bytes_off, reals_off, rows = 0, 0, 0
    for number, case in enumerate(CASES):
        if is_close(case):
            ours, chip = (
                x.view(np.float32) for x in (texture_replay.computed(number), texture_replay.recorded(number))
            )
            differs = ours != chip
            if case.dtype == "i1":
                assert np.abs(ours - chip).max() < 1.01 * STEP, case
                bytes_off, rows = bytes_off + np.count_nonzero(differs), rows + len(ours)
            else:
                assert np.array_equal(np.abs(ours.view(np.int32) - chip.view(np.int32))[differs], [1] * differs.sum())
                reals_off += np.count_nonzero(differs)
    assert bytes_off < 0.05 * rows
    assert reals_off <= 1


@pytest.mark.jit
def test_the_compiled_engine_fetches_what_the_interpreter_fetches():
    """Timed on the H200, the blocks of one case of each kernel leave the interpreter's words."""
    for number in few([numbers[-1] for numbers in BY_KERNEL.values()], MOST):
        made = texture_replay.kernel(number)
        ours = texture_replay.found(made, run_sm(made, H200, blocks=1).memory)
        rows = min(len(ours), texture_replay.BLOCK)
        assert np.array_equal(ours[:rows], texture_replay.computed(number)[:rows]), CASES[number]


def test_a_wrong_texel_is_found():
    """One texel that is changed changes what is fetched."""
    number = BY_KERNEL["sample2"][0]
    held = texture_replay.table()
    kept = held[f"texels.{number}"]
    held[f"texels.{number}"] = kept + 1
    assert not np.array_equal(texture_replay.computed(number), texture_replay.recorded(number))
    held[f"texels.{number}"] = kept


def test_every_case_is_recorded():
    """The table has some 30,000 fetches: all rows of every case."""
    assert [len(texture_replay.recorded(n)) for n in range(len(CASES))] == [case.rows for case in CASES]
    assert sum(case.rows for case in CASES) > 29_000


@needs_ptxas
@pytest.mark.long
@pytest.mark.parametrize("architecture", [75, 86, 100, 120])
def test_code_for_other_architectures_fetches_the_same(architecture, monkeypatch):
    """A case of each kernel, compiled for an architecture that has other texts, gives the recorded words."""
    source = Path(__file__).parent / "textures.cu"
    made = code.of_cubin(compile_source(source.read_text(), (), architecture, "textures.cu"), "textures.cu")
    monkeypatch.setattr(texture_replay, "machine_code", lambda: made)
    for numbers in BY_KERNEL.values():
        number = next(n for n in numbers if not is_close(CASES[n]))
        assert np.array_equal(texture_replay.computed(number), texture_replay.recorded(number)), CASES[number]
