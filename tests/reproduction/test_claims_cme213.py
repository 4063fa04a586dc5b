from collections import namedtuple

import pytest

from gpusim.machine.occupancy import occupancy
from gpusim.reproduction.bench import Bench, Done, Missing
from gpusim.reproduction.claims import select
from gpusim.reproduction.cme213.cme213 import (
    BLOCK,
    CARD,
    NAIVE,
    ROWS,
    _accesses,
    _transactions,
    occupancies,
    rank_correlation,
)
from gpusim.reproduction.cme213.cme213 import CLAIMS as CLAIMS_OF
from gpusim.reproduction.ledger import rows, without_runs

pytestmark = pytest.mark.long  # a document's claims, each simulated; make check has them

CLAIMS = select(["cme213"])
Held = namedtuple("Held", "blocks warps gflops")  # the figures of a run that occupancy needs
COUNTED = {"CM01", "CM05", "CM10", "CM11", "CM12", "CM13", "CM14", "CM15", "CM16"}
SIMULATED = ["CM03", "CM04", "CM06", "CM08"]


def test_claims_that_need_no_run_are_exact():
    """Registers, counts, addresses and arithmetic come out as published."""
    found = {row.id: row.passed for row in without_runs(CLAIMS, {})}
    assert {name for name, passed in found.items() if passed} == COUNTED


@pytest.mark.jit
@pytest.mark.parametrize(
    ("setting", "moved"),
    [
        ({"shared_memory.pass_cycles": "4"}, {"CM14"}),
        ({"shared_memory.banks": "16"}, {"CM15"}),
        ({"chip.dram_mbs": "88700"}, {"CM11", "CM12"}),
        ({"schedulers.interval": "1"}, {"CM05"}),
    ],
)
def test_rows_move_with_the_machine(setting, moved):
    """Slower shared memory, fewer banks, half the bandwidth and faster schedulers move the rows that depend on them."""
    before, after = (without_runs(CLAIMS, {CARD: changes}) for changes in ({}, setting))
    assert {a.id for a, b in zip(before, after, strict=True) if a.ours != b.ours} == moved


def test_both_loads_of_the_block_kernel_are_one_transaction():
    """A warp's row of B is one transaction, as that of A in CM15."""
    bench = Bench()
    loads = _accesses(bench, bench.kernel(BLOCK, m=32, n=32, k=32))["LDG"]
    assert [_transactions(load) for load in loads] == [1, 1]


def test_the_occupancy_of_the_sweep_is_the_calculators():
    """Of blocks of w warps 8 are resident, or as many as 48 warps hold; 16 or 18 registers limit none of them."""
    bench = Bench()
    machine = bench.machine(CARD)
    found = [occupancy(bench.kernel(NAIVE, block_x=32, block_y=w, m=32 * w), machine).warps for w in ROWS]
    assert found == [w * min(8, 48 // w) for w in ROWS]
    assert occupancies() == {32 * w: (held // w, held) for w, held in zip(ROWS, found, strict=True)}
    assert machine.limits.registers >= 18 * 32 * machine.limits.warps


def test_all_occupancies_of_the_sweep_must_be_the_calculators():
    """Speeds in the order of 32 occupancies pass; with one block fewer resident at one size they do not."""
    bench = Bench()
    with pytest.raises(Missing) as missing:
        CLAIMS_OF["CM02"](bench)
    shapes = [dict(job.arguments[1]) for job in missing.value.jobs]
    for shape, job in zip(shapes, missing.value.jobs, strict=True):
        blocks, warps = occupancies()[32 * int(shape["block_y"])]
        bench.done[job] = Done(Held(blocks, warps, gflops=warps), None, 0.0)
    found = CLAIMS_OF["CM02"](bench)
    assert (found.ours, found.passed, found.note[:8]) == ("1.000", True, "32 of 32")
    bench.done[missing.value.jobs[0]] = Done(Held(7, 7, gflops=7), None, 0.0)
    found = CLAIMS_OF["CM02"](bench)
    assert (found.ours, found.passed, found.note[:8]) == ("1.000", False, "31 of 32")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [((1, 2, 3), (5, 6, 9), 1), ((1, 2, 3), (3, 2, 1), -1), ((1, 2, 2, 3), (1, 2, 3, 4), 0.9486832980505138)],
)
def test_rank_correlation_is_spearmans(first, second, expected):
    """Only order counts, and equal values share a rank: 0.9 ** 0.5 if two of four are equal."""
    assert rank_correlation(first, second) == pytest.approx(expected)


@pytest.mark.jit
def test_simulated_claims_are_met():
    """The claims on warps that hide a latency, blocks per SM, and the block kernel within 5 %, pass."""
    assert {row.id: row.passed for row in rows(select(SIMULATED), {}, 1)} == dict.fromkeys(SIMULATED, True)


@pytest.mark.slow
@pytest.mark.jit
def test_speed_follows_occupancy():
    """The rank correlation of speed and occupancy over 32 sizes of block is above 0.9."""
    (row,) = rows(select(["CM02"]), {}, 1)
    assert row.passed
