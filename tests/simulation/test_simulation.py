from dataclasses import replace
from threading import Event

import pytest
from draws import few

import gpusim
from gpusim.bounds import of_run
from gpusim.bounds.of_run import LIMIT
from gpusim.machine.machine import load
from gpusim.simulation import simulation, verify
from gpusim.simulation.simulation import simulate
from isa.errors import LimitError, UserError
from isa.text.listing import read
from workloads.catalog import make

pytestmark = pytest.mark.jit
GTX580 = load("gtx580")
SMALL = {"m": "96", "n": "96", "k": "32"}
ONE_SM = load("gtx580", {"chip.sms": 1})


def test_a_chain_takes_its_latency():
    """256 dependent FFMAs of latency 18 take 256 x 18 cycles and less than 200 more; 32 results are checked."""
    result = simulate(make("chain"), "gtx580")
    assert 256 * 18 < result.cycles < 256 * 18 + 200
    assert (result.verification.scope, result.verification.values) == ("complete", 32)
    assert result.verification.verified


def test_the_package_offers_what_it_promises():
    """`gpusim.simulate`, `gpusim.bound` and `gpusim.load` work without importing anything else."""
    result = gpusim.simulate(make("chain", {"length": "4"}), gpusim.load("gtx580"))
    assert isinstance(result, gpusim.Result)
    assert result.bound == gpusim.bound(result.kernel, result.machine)
    with pytest.raises(AttributeError, match="no attribute simulates"):
        _ = gpusim.simulates


def test_a_result_prints_as_one_line():
    """The text of a result has kernel, machine, cycles, rate, verdict and bound, and none of the arrays."""
    result = simulate(make("sgemm-lai", SMALL), GTX580)
    bound = f"bound {result.bound.cycles:,} ({result.bound.limiter})"
    message = f"{result.cycles:,} cycles, {result.gflops:.1f} GFLOP/s, values right, {bound}"
    assert repr(result) == f"<sgemm-lai on gtx580: {message}>"
    assert "values unchecked" in repr(simulate(make("chain"), GTX580, values=False))


def test_results_can_be_compared():
    """Results of one kernel with the same numbers are equal; a comparison with anything else is false, never raises."""
    kernel = make("chain", {"length": "4"})
    one, same, other = (simulate(kernel, name) for name in ("gtx580", "gtx580", "gtx680"))
    assert one == same
    assert one != other
    assert one != None  # noqa: E711  (a user may write it)
    assert one not in (other, 1, "result")
    assert gpusim.simulate(kernel, "gtx580") == gpusim.simulate(kernel, "gtx580")


def test_a_kernel_without_operations_has_no_rate():
    """`gflops` and `percent_of_peak` are None in Python, and null in the document, where a kernel counts nothing."""
    result = gpusim.simulate(read("MOV R0, 1\nEXIT", "plain"), "gtx580")
    assert (result.gflops, result.percent_of_peak) == (None, None)
    found = result.to_dict()
    assert (found["gflops"], found["percent_of_peak"], found["bound"]["gflops"]) == (None, None, None)
    assert "GFLOP/s" not in repr(result)


def test_rates_follow_from_cycles():
    """GFLOP/s are the launch's operations over its time, percent of the single-precision peak of 1581.1 GFLOP/s."""
    result = simulate(make("sgemm-lai", SMALL), GTX580)
    assert result.gflops == pytest.approx(2 * 96 * 96 * 32 / (result.cycles / 1544e6) / 1e9)
    assert result.percent_of_peak == pytest.approx(100 * result.gflops / 1581.056)
    assert result.thread_instructions_per_cycle == pytest.approx(result.run.active.sum() / result.cycles)


def test_double_precision_is_measured_by_its_own_peak():
    """A kernel that computes in double precision is compared with the double-precision peak: an eighth on this card."""
    result = simulate(make("throughput", {"op": "DFMA"}), GTX580)
    assert result.peak_gflops == pytest.approx(1581.056 / 8)


def test_both_engines_give_one_result():
    """The reference engine yields the same cycles, stalls and values."""
    kernel = make("mix", {"warps": "4", "groups": "2", "iterations": "2"})
    fast, slow = (simulate(kernel, GTX580, engine=engine) for engine in ("compiled", "reference"))
    assert fast.cycles == slow.cycles
    assert (fast.run.stalls == slow.run.stalls).all()
    assert fast.verification == slow.verification


def test_without_values_nothing_is_verified():
    """A run without values takes the same cycles as one with values, and is never verified."""
    kernel = make("sgemm-lai", SMALL)
    timed = simulate(kernel, GTX580, values=False)
    assert timed.cycles == simulate(kernel, GTX580).cycles
    assert (timed.verification.scope, timed.verification.verified) == ("none", False)


def test_a_wrong_kernel_is_not_verified():
    """A product without its barriers computes wrong values once warps drift apart, and the result says so."""
    kernel = make("sgemm-lai", {**SMALL, "k": "64"})
    code = tuple(i for i in kernel.program.instructions if i.row.mnemonic != "BAR.SYNC")
    labels = {
        name: pc - sum(i.row.mnemonic == "BAR.SYNC" for i in kernel.program.instructions[:pc])
        for name, pc in kernel.program.labels.items()
    }
    broken = replace(kernel, program=replace(kernel.program, instructions=code, labels=labels))
    result = simulate(broken, GTX580, policy="gto")
    assert result.verification.wrong > 0
    assert not result.verification.verified


def test_the_policy_can_be_replaced():
    """A policy given to `simulate` becomes that of the result's machine; an unknown one is refused."""
    assert simulate(make("chain"), GTX580, policy="gto").machine.schedulers.policy == "gto"
    with pytest.raises(UserError, match="unknown scheduling policy fifo"):
        simulate(make("chain"), GTX580, policy="fifo")


@pytest.mark.long
def test_an_endless_loop_meets_the_limit():
    """A loop without end stops at the limit of cycles, with exit code 3."""
    with pytest.raises(LimitError, match="still running after 1000 cycles") as caught:
        simulate(read("top:\nBRA top"), GTX580, max_cycles=1000)
    assert caught.value.exit_code == 3


def test_few_waves_are_simulated_completely():
    """Up to two waves of resident blocks are all simulated, whatever the sample."""
    result = simulate(make("throughput", {"blocks": "5", "iterations": "1"}), ONE_SM, sample=1)
    assert (result.scaling.method, result.scaling.simulated_blocks) == ("complete", 5)
    assert result.cycles == result.run.cycles


def test_waves_are_sampled_when_asked():
    """A sample of 5 of 31 blocks, 3 at a time, runs two waves and the last block; within 1 % of those of all blocks."""
    kernel = make("throughput", {"blocks": "31", "iterations": "1"})
    sampled, complete = simulate(kernel, ONE_SM, sample=5), simulate(kernel, ONE_SM, sample="all")
    assert (sampled.scaling.simulated_blocks, sampled.scaling.blocks_of_sm) == (7, 31)
    assert complete.scaling.method == "complete"
    assert sampled.cycles == pytest.approx(complete.cycles, rel=0.01)
    assert sampled.warp_instructions == complete.warp_instructions
    assert sampled.scaling.error_checked == ""


def test_no_estimate_is_below_the_bound():
    """Blocks behind the first wave are handed out 100 cycles apart, which two waves of four meet but three times."""
    kernel, machine = read(".grid 1600\nEXIT"), load("gtx580", {"launch.refill_parts": 400, "limits.blocks": 4})
    found = simulate(kernel, machine, sample=2)
    assert found.bound.limiter == "starts of blocks"
    assert found.cycles == found.bound.limits["starts of blocks"]
    assert found.cycles <= simulate(kernel, machine).cycles


def test_a_sample_of_four_waves_reports_its_error():
    """From four waves on the error is told: the second wave foretells the last two.

    Only the run decides the text: a kernel of another name has the same one.
    """
    kernel = make("throughput", {"blocks": "31", "iterations": "1"})
    sampled = simulate(kernel, ONE_SM, sample=12)
    first, second, last = sampled.run.ends[[1, 4, 10]]
    foretold = (second.cycle - first.cycle) / (second.issued - first.issued) * (last.issued - second.issued)
    error = f"{abs(100 * ((second.cycle + foretold) / last.cycle - 1)):.2g}"
    text = f"the waves before predict the last 2 of 4 simulated within {error} %"
    assert sampled.scaling.error_checked == text
    renamed = replace(kernel, name="sgemm-lai")
    assert simulate(renamed, ONE_SM, sample=12).scaling == sampled.scaling


def test_large_launches_are_timed_whole_and_checked_in_part(monkeypatch):
    """Beyond the budget of warp instructions, all 31 blocks are timed, and the values of 4 blocks are checked."""
    kernel = make("throughput", {"blocks": "31", "iterations": "1"})
    whole = simulate(kernel, ONE_SM)
    monkeypatch.setitem(simulation.BUDGET, "compiled", whole.warp_instructions * 4 // 31)
    monkeypatch.setattr(verify, "PATIENCE_SECONDS", 0.0)
    large = simulate(kernel, ONE_SM)
    assert (large.run.feed, large.cycles, large.scaling) == ("trace-driven", whole.cycles, whole.scaling)
    assert (large.verification.scope, large.verification.blocks) == ("sampled", 4)
    assert large.verification.verified


@pytest.mark.parametrize("sample", [0, -3, "some"])
def test_a_sample_is_a_number_of_blocks_or_all(sample):
    """Samples of 0, of a negative number and of another word are refused."""
    with pytest.raises(UserError, match="give a number of blocks, or all"):
        simulate(make("throughput", {"blocks": "31", "iterations": "1"}), ONE_SM, sample=sample)


def test_progress_counts_blocks():
    """The callback begins with none and ends with all blocks done."""
    reported = []
    simulate(make("throughput", {"blocks": "5"}), ONE_SM, progress=lambda done, total: reported.append((done, total)))
    assert (reported[0], reported[-1]) == ((0, 5), (5, 5))


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["gtx580", "gtx580-1566"])
def test_scaling_is_within_one_percent_of_all_blocks(machine):
    """The cycles of an SGEMM of 1920 on a side, sampled and whole, differ by less than 1 %."""
    kernel = make("sgemm-lai", {"m": "1920", "n": "1920", "k": "1920"})
    sampled = simulate(kernel, machine, sample=4, values=False)
    assert sampled.scaling.method == "waves"
    assert sampled.cycles == pytest.approx(simulate(kernel, machine, sample="all", values=False).cycles, rel=0.01)


def test_all_sms_are_verified_completely():
    """With `sms="all"` every block of the grid is timed, all values are right, and the rate follows from the cycles."""
    result = simulate(
        make("sgemm-lai", {"m": "192", "n": "384", "k": "64"}), load("gtx580", {"chip.sms": 4}), sms="all"
    )
    found = result.verification
    assert (found.scope, found.blocks, found.in_program_order, found.wrong) == ("complete", 8, 0, 0)
    assert result.run.sms == 4
    assert result.cycles == max(each.cycles for each in result.run.each)
    assert result.gflops == pytest.approx(2 * 192 * 384 * 64 / (result.cycles / 1544e6) / 1e9)
    assert result.thread_instructions_per_cycle == pytest.approx(result.run.active.sum() / result.cycles / 4)
    assert result.bound.cycles < result.cycles


def test_time_alone_of_all_sms():
    """All SMs take the same cycles without values, and on the reference engine."""
    kernel, machine = make("throughput", {"blocks": "7", "iterations": "1"}), load("gtx580", {"chip.sms": 2})
    whole = simulate(kernel, machine, sms="all")
    for how in ({"values": False}, {"engine": "reference"}):
        other = simulate(kernel, machine, sms="all", **how)
        assert (other.cycles, other.run.lost.tolist()) == (whole.cycles, whole.run.lost.tolist())


@pytest.mark.parametrize("how", [{"sms": 3}, {"sms": 0}, {"sms": "some"}, {"sms": "all", "sample": 6}])
def test_one_sm_or_all(how):
    """A number that does not divide that of all SMs is refused, and so is a sample of several SMs' blocks."""
    with pytest.raises(UserError, match=r"give 1, all, or a divisor of the 16 SMs of gtx580: 2, 4, 8$|leave it out"):
        simulate(make("chain"), GTX580, **how)


@pytest.mark.jit
def test_filling_only_touched_lines_leaves_the_verification_as_it_is(monkeypatch):
    """A few blocks have the same verification on memory filled only at the lines they touch as on all memory."""
    monkeypatch.setitem(simulation.BUDGET, "compiled", 50_000)
    for layout in few(("nt", "tn"), 1):
        kernel = make("sgemm-lai", {"m": "384", "n": "384", "k": "64", "layout": layout})
        found = []
        for walk in (0, 1 << 40):
            monkeypatch.setattr(simulation, "WALK_BYTES", walk)
            found.append(simulate(kernel, "gtx580").verification)
        assert found[0] == found[1]
        assert found[0].verified


def test_a_name_is_no_kernel():
    """A kernel's name in the place of a kernel is refused; the message names the function that makes one."""
    with pytest.raises(UserError, match=r"kernel='chain': .*workloads\.catalog\.make"):
        simulate("chain", "gtx580")


def test_dir_lists_what_the_package_offers():
    """`dir(gpusim)` has the names that are imported on first use."""
    assert set(gpusim.__all__) <= set(dir(gpusim))


def _large(monkeypatch):
    """A kernel of which so few instructions are affordable that time is found without values."""
    monkeypatch.setitem(simulation.BUDGET, "compiled", 3_000)
    return read(".kernel k\n.grid 64\n.block 32\n" + "    FADD R1, R1, R1\n" * 200 + "    EXIT\n")


def test_an_error_does_not_wait_for_the_bound(monkeypatch):
    """A run beyond its limit ends while the bound, found beside it, still takes its time."""
    never = Event()
    monkeypatch.setattr(simulation, "bound", lambda *_, **__: never.wait(60))
    with pytest.raises(LimitError, match="100 cycles"):
        simulate(_large(monkeypatch), ONE_SM, max_cycles=100)
    assert not never.is_set()
    never.set()


def test_a_bound_that_gives_up_beside_the_run_is_found_after_it(monkeypatch):
    """Where a block is too long for the default limit, the bound is asked again with what was simulated."""
    kernel, asked = _large(monkeypatch), []
    found = gpusim.bound(kernel, ONE_SM)

    def bound(*_, limit=None, **__):
        asked.append(limit)
        if limit is None:
            raise LimitError("too long")
        return found

    for module in (simulation, of_run):
        monkeypatch.setattr(module, "bound", bound)
    result = simulate(kernel, ONE_SM)
    assert result.verification.scope != "complete"
    assert result.bound is found
    assert asked == [None, LIMIT]
