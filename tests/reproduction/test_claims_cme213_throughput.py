from collections import Counter, namedtuple

import pytest

from gpusim.reproduction.bench import Bench, Done, Missing
from gpusim.reproduction.claims import select
from gpusim.reproduction.cme213.cme213_throughput import CLAIMS, ROUNDS, largest_error
from gpusim.reproduction.finding import judge
from gpusim.reproduction.ledger import rows
from workloads.catalog import make

pytestmark = pytest.mark.long  # a document's claims, each simulated; make check has them

Ran = namedtuple("Ran", "cycles")  # the figure of a run that speed needs
PAIRS = {  # claim: what is faster, and what slower
    "CM18": {"single": "double"},
    "CM19": {"shift": "int-div", "mask": "int-mod"},
    "CM20": {"rsqrtf": "1/sqrtf"},
    "CM21": {"pi-f": "pi"},
    "CM22": {"__fdividef": "divide", "__expf": "expf"},
    "CM26": {"__sinf": "sinf"},
}


def found(name, cost):
    """Return the finding of a claim where a round of the loop takes `cost(op)` cycles."""
    bench = Bench()
    with pytest.raises(Missing) as missing:
        CLAIMS[name](bench)
    for job in missing.value.jobs:
        given = dict(job.arguments[1])
        bench.done[job] = Done(Ran(100 + int(given["iterations"]) * cost(given["op"])), None, 0.0)
    return CLAIMS[name](bench)


@pytest.mark.parametrize("name", PAIRS)
def test_what_the_slides_advise_must_be_faster(name):
    """A claim passes where each of its pairs has the advised one ahead, and fails where one is only as fast."""
    fast = set(PAIRS[name])
    assert found(name, lambda op: 10 if op in fast else 20).passed
    for late in fast:
        assert not found(name, lambda op, late=late: 10 if op in fast - {late} else 20).passed


def test_speed_is_that_of_the_loop_alone():
    """With 10 and 35 cycles a round, and 100 before the loop, the ratio is 3.5."""
    assert found("CM20", lambda op: 10 if op == "rsqrtf" else 35).ours == "3.5"
    assert ROUNDS[0] > 1  # a kernel of one round has no loop


def mnemonics(op):
    """Return the instructions of a kernel with one expression."""
    kernel = make("expression", {"op": op, "length": "1", "iterations": "1"})
    return Counter(instruction.row.mnemonic for instruction in kernel.program.instructions)


def test_what_is_put_in_is_no_prediction():
    """Where the slower expression has all instructions of the faster one the result is an input; sinf has no MUFU."""
    assert {found(name, lambda _: 10).kind for name in ("CM20", "CM22")} == {"input"}
    for name in ("CM20", "CM22"):
        assert [fast for fast, slow in PAIRS[name].items() if mnemonics(fast) - mnemonics(slow)] == []
    assert found("CM26", lambda _: 10).kind == "predicted"
    assert "MUFU.SIN" in mnemonics("__sinf") - mnemonics("sinf")


@pytest.mark.parametrize(("fast", "passed"), [(1.2, True), (0.4, False), (0.5, False)])
def test_an_intrinsic_must_have_the_larger_error(fast, passed):
    """CM23 fails where the intrinsics' error is no larger than the functions'."""
    bench = Bench()
    with pytest.raises(Missing) as missing:
        CLAIMS["CM23"](bench)
    for job in missing.value.jobs:
        bench.done[job] = Done(fast if job.arguments[0].startswith("__") else 0.5, None, 0.0)
    (claim,) = select(["CM23"])
    assert judge(claim, CLAIMS["CM23"](bench)).passed is passed


def test_errors_are_those_of_the_kernels_results():
    """A correctly rounded division is at most half a unit in the last place off, its intrinsic more."""
    assert largest_error("divide") <= 0.5 < largest_error("__fdividef") <= 2


@pytest.mark.long
@pytest.mark.jit
def test_the_slides_are_right_on_the_simulated_card():
    """All claims on slides 20 to 23 pass."""
    names = [*PAIRS, "CM23"]
    assert {row.id: row.passed for row in rows(select(names), {}, 1)} == dict.fromkeys(names, True)
