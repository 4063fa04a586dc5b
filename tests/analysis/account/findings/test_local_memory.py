"""The finding of local memory: its bytes, its lines, and the waits that it causes."""

from pathlib import Path

import numpy as np
import pytest

import gpusim
from gpusim.analysis.account.findings.advice import ADVICE
from gpusim.analysis.account.findings.diagnosis import diagnosis
from gpusim.analysis.account.findings.local_memory import local_memory, parts
from gpusim.analysis.account.run_document import document
from gpusim.sm.unit.stall import Stall
from isa.text import listing
from workloads.catalog import make

DATA = Path(__file__).with_name("data")


@pytest.fixture(scope="module")
def array():
    """Return the result of a kernel with an array of 32 words a thread, filled once and read 64 times."""
    function = gpusim.RawModule(path=DATA / "local_array_90.cubin").get_function("loc")
    numbers = np.arange(1024, dtype=np.int32) * 7 % 32
    return function((132,), (256,), (numbers, np.zeros(33792, np.int32)))


@pytest.mark.jit
def test_an_array_of_each_thread_is_named_with_its_bytes_and_lines(array):
    """Its 128 bytes a thread, the 96 words that each of 256 threads moves, and the lines that do it are named first."""
    one = document(array).diagnosis[0]
    bytes_moved = 256 * (32 + 64) * 4
    expected = f"local memory: 128 bytes a thread, {bytes_moved:,} bytes loaded and stored in 1 block at offset "
    assert one.what.startswith(expected)
    assert one.what.endswith("(local_array.cu:4, 6)")
    assert one.remedy.startswith("keep it in registers")
    moves = {array.kernel.program.instructions[pc].row.mnemonic for pc in one.pcs}
    assert moves == {"LDL", "STL.128"}


@pytest.mark.jit
def test_waits_that_it_causes_are_not_told_again(array):
    """What half of all waits for registers and for the queue come from local memory is not told with other advice."""
    assert min(parts(array)[reason] for reason in (Stall.WAR_HAZARD, Stall.MIO_THROTTLE)) >= 0.5
    remedies = " ".join(one.remedy for one in diagnosis(array))
    assert not any(ADVICE[reason].remedy in remedies for reason in (Stall.WAR_HAZARD, Stall.MIO_THROTTLE))


@pytest.mark.jit
def test_its_share_is_that_of_the_slots_lost_to_its_waits(array):
    """What it waits for adds up the lost slots of each reason, by local memory's part of it: under all of them."""
    (one,) = local_memory(array)
    lost = array.run.lost.sum(axis=0) / (array.run.cycles * len(array.run.lost))
    whole = sum(lost[reason] for reason in parts(array))
    assert 0.5 * whole < one.waits < whole


@pytest.mark.jit
@pytest.mark.parametrize(
    ("machine", "pair", "reason"),
    [
        ("gtx580", "    LDL R2, [RZ]\n    IADD R3, R2, 1\n", Stall.LONG_SCOREBOARD),
        ("h200", "    LDL R2, [RZ]\n    IADD R3, R2, 1\n", Stall.LONG_SCOREBOARD),
        ("h200", "    STL [RZ], R2\n    MOV R2, R1\n", Stall.WAR_HAZARD),
    ],
)
def test_waits_for_a_load_and_for_a_stores_registers_are_its_own(machine, pair, reason):
    """Where no other memory is accessed, all waits of these reasons are local memory's, with codes and without."""
    head = ".block 512\n.local 64\n    S2R R0, TID.X\n    SHL R1, R0, 2\n"
    result = gpusim.simulate(listing.read(head + pair * 20 + "    EXIT\n"), machine)
    assert result.run.stalls[:, reason].sum()
    assert parts(result)[reason] == 1
    assert "local memory" in [one.limit for one in diagnosis(result)]


@pytest.mark.jit
def test_nothing_is_named_where_there_is_none():
    """A kernel that only accesses global memory has no such finding."""
    result = gpusim.simulate(make("stream"), "gtx580")
    assert not list(local_memory(result))
    assert parts(result) == {}
