"""The claims of Tan et al., DGEMM on Fermi (SC 2011), that are simulated: latencies, and how fast each version is.

The machine is `c2050`, some numbers of which were fitted to versions 3 and 4. The versions read A and B through
textures, as the paper says of its programs in machine language; algorithms 1 and 2, in CUDA C, do not. Where the paper
has one barrier in a loop that needs two, both readings are simulated, and both decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise

from gpusim.engines.walks.races import races
from gpusim.machine import machine as model
from gpusim.reproduction.bench import NONE, Bench, Measurement, Pairs, Run
from gpusim.reproduction.claims import published, select
from gpusim.reproduction.finding import Finder, Finding, analytic, counted, fitted, given, in_sight, judge, registrar
from gpusim.reproduction.gf100 import OF_THE_BOARD, WITHOUT_TAGS
from gpusim.reproduction.tan import tan_cublas
from gpusim.simulation.simulation import simulate
from gpusim.sm.memory.global_memory.declaration import arriving_mbs
from isa.kernel import WARP_SIZE
from workloads.catalog import make

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)
BOARD = "c2050"
PAPER = "Tan SC'11"
BEFORE = "while the kernels had plain loads"
SIDE = tan_cublas.SIDE
LARGE = 4096
SAMPLE = 8  # blocks from which the time of a product of that size is estimated
DOUBLE = 8  # bytes
CUBLAS = 302  # GFLOP/s of CUBLAS 3.2, as published
FULL = 0.99  # share of a rate that counts as all of it
FULL_SM = 42  # blocks of 16 warps: three on each SM
LATE = {"texture.latency": 1000}
FULL_BANDWIDTH = {"memory.ecc": 0, "memory.efficiency": 1000}
VERSIONS = ("v1", "v2", "v3", "v4")
ONE_BARRIER = {"barriers": "literal"}
STEPS = "double-buffering", "scheduling of shared loads", "scheduling of global accesses"  # from version to version
RACE = {"m": "448", "n": "256", "k": "128"}  # two blocks on each of 14 SMs, all of which are simulated
Choice = Mapping[str, object]


def dgemm(bench: Bench, *choices: str | Choice, settings: Choice = NONE) -> list[Measurement]:
    """Return results of variants, or of several choices each, in a product, with these additional settings."""
    size = {"m": SIDE, "n": SIDE, "k": SIDE}
    named = ({"variant": each} if isinstance(each, str) else each for each in choices)
    return bench.runs(*(Run("dgemm-tan", BOARD, {**size, **each}, settings, values=False) for each in named))


@claim("TN10")
def warps_that_hide_the_issue_interval(bench: Bench) -> Finding:
    """The issue interval over that of a scheduler, on all of them; FFMAs of 4, 6 and 16 warps agree."""
    names = {4: "rate-ffma-warps4", 6: "rate-ffma-warps6", 16: "rate-ffma"}
    rates = {warps: bench.point(BOARD, name) for warps, name in names.items()}
    schedulers = bench.machine(BOARD).schedulers
    fewest = schedulers.count * -(-schedulers.issue_interval // schedulers.interval)
    agree = fewest == min(warps for warps, rate in rates.items() if rate > FULL * max(rates.values()))
    note = ", ".join(f"{rate:.2f} from {warps} warps" for warps, rate in rates.items())
    other = "" if agree else ", which disagree"
    note = f"thread instructions per cycle{other}: {note}; the paper asks for two blocks of 6 warps, one does here"
    return analytic(fewest, note=note, passed=fewest == 12 and agree)


@claim("TN13")
def issue_interval(bench: Bench) -> Finding:
    """Independent instructions of one warp."""
    return given(bench.point(BOARD, "issue_interval"))


@claim("TN14")
def latencies_of_shared_loads(bench: Bench) -> Finding:
    """Chains of loads from shared memory."""
    return given(*(bench.point(BOARD, f"latency-lds{width}") for width in ("", ".64", ".128")))


@claim("TN17")
def raw_latencies(bench: Bench) -> Finding:
    """A pointer chase that hits in the L2, and chains."""
    names = ("chase-l2", "latency-lds.128", "latency-dfma", "latency-iadd")
    return given(*(bench.point(BOARD, name) for name in names))


@claim("TN51")
def latency_of_a_miss(bench: Bench) -> Finding:
    """A pointer chase that misses all caches: cycles per load, of twice as many loads over once."""
    once, twice = (Run("pointer-chase", BOARD, {"footprint": 2**20, "loads": loads}) for loads in (1024, 2048))
    cycles = [run.cycles for run in bench.runs(once, twice)]
    fact = bench.machine(BOARD).global_memory.latency
    note = f"the machine has {fact}, to which waiting for bandwidth adds; the static scheduler gets the paper's 1000"
    return _simulated((cycles[1] - cycles[0]) / 1024, note=note)


@claim("TN24")
def algorithm_1(bench: Bench) -> Finding:
    """Algorithm 1, 64 bits."""
    return _both(bench, "TN24", "alg1", "order of its fetches")


@claim("TN25")
def algorithm_2(bench: Bench) -> Finding:
    """Algorithm 2 with six doubles of its prefetch spilled."""
    (run,) = dgemm(bench, "alg2")
    local = 100 * (run.issued["LDL.64"] + run.issued["STL.64"]) / sum(run.issued.values())
    note = f"{local:.1f} % of the instructions are spills; which is not published"
    return _both(bench, "TN25", "alg2", "order of its spills", note)


@claim("TN27")
def version_4(bench: Bench) -> Finding:
    """The final version."""
    run, plain = dgemm(bench, "v4", {"variant": "v4", "read": "plain"})
    note = f"through textures, as section 5 says; {plain.percent_of_peak:.1f} % with plain loads"
    return _fitted(bench, run.gflops, run.percent_of_peak, note=note)


@claim("TN28")
def version_4_over_cublas(bench: Bench) -> Finding:
    """The final version over the kernel in place of CUBLAS's, which is not published."""
    return _over_cublas(bench, "v4")


@claim("TN29")
def version_3_over_cublas(bench: Bench) -> Finding:
    """Version 3 over the same."""
    return _over_cublas(bench, "v3")


@claim("TN30")
def version_4_over_version_3(bench: Bench) -> Finding:
    """The gain from the placement of fetches and stores."""
    after, before = dgemm(bench, "v4", "v3")
    in_step, *_ = both = dgemm(bench, "v4", "v3", settings={"schedulers.policy": "lrr"})
    late = dgemm(bench, "v2", "v3", "v4", settings=LATE)
    note = (
        f"{_gain(*both):.1f} under lrr, where version 4 has {in_step.percent_of_peak:.1f} % of peak; "
        f"{_gain(late[2], late[1]):.1f} if textures take the 1000 cycles of table 3, as versions 2, 3 and 4 then have "
        f"{_listed(_percent(late))}"
    )
    return _fitted(bench, _gain(after, before), note=note)


@claim("TN31")
def version_2(bench: Bench) -> Finding:
    """Version 2, of which the paper says no more than that it is a little better than CUBLAS, and before version 3."""
    run, plain, one = dgemm(bench, "v2", {"variant": "v2", "read": "plain"}, {"variant": "v1", **ONE_BARRIER})
    note = (
        "the paper prints no rate of version 2; 58 is CUBLAS's, and 60.9 has the 5 % more of version 3; "
        f"{plain.percent_of_peak:.1f} with plain loads; it needs both of its barriers and has no other reading: "
        f"version 1, with one barrier, has {one.percent_of_peak:.1f}"
    )
    return _seen(bench, run.percent_of_peak, note=note, passed=0 < _over(run.percent_of_peak) < _little())


@claim("TN32")
def version_1(bench: Bench) -> Finding:
    """Version 1 beside algorithm 2: with one barrier, as the paper says, and with the second that values need."""
    one, two, other = dgemm(bench, {"variant": "v1", **ONE_BARRIER}, "v1", "alg2")
    (full,) = dgemm(bench, "v1", settings=FULL_BANDWIDTH)
    most = min(57, other.percent_of_peak)
    passed = [run.percent_of_peak <= most for run in (one, two)]
    note = (
        f"with one barrier, as published; with two {two.percent_of_peak:.1f} ({'pass' if passed[1] else 'fail'}), with "
        f"the board's bandwidth in full {full.percent_of_peak:.1f}; algorithm 2: {other.percent_of_peak:.1f}; "
        f"{_race(bench, 'v1')}"
    )
    return _seen(bench, one.percent_of_peak, note=note, passed=all(passed))


@claim("TN33")
def order(bench: Bench) -> Finding:
    """The four versions, with either reading of the first."""
    percent, full = (_percent(dgemm(bench, *VERSIONS, settings=changed)) for changed in (NONE, FULL_BANDWIDTH))
    (one,) = _percent(dgemm(bench, {"variant": "v1", **ONE_BARRIER}))
    as_published, strict = _order([one, *percent[1:]]), _order(percent)
    note = (
        f"{_listed([one, *percent[1:]])}; with version 1's second barrier {strict}: {_listed(percent)}; and with the "
        f"board's bandwidth in full {_listed(full)}; {_race(bench, 'v1')}"
    )
    return _seen(bench, as_published, note=note)


@claim("TN34")
def transposition(bench: Bench) -> Finding:
    """The time of the transposition of A over this and version 4's together; it falls as matrices grow."""
    moves = [Run("transpose", BOARD, {"rows": side, "columns": side}, values=False) for side in (LARGE, SIDE)]
    products = [Run("dgemm-tan", BOARD, _size(side), values=False, sample=SAMPLE) for side in (LARGE, SIDE)]
    found = [run.cycles for run in bench.runs(*moves, *products)]
    share, smaller = (100 * move / (move + product) for move, product in zip(found[:2], found[2:], strict=True))
    machine = bench.machine(BOARD)
    rate = 2 * DOUBLE * LARGE**2 * machine.chip.shader_mhz / found[0] / 1000
    arrives = float(arriving_mbs(machine)) / 1000
    note = f"{smaller:.2f} at {SIDE}; {rate:.0f} GB/s read and written, of {arrives:.0f} that arrive"
    return in_sight(f"the size, {LARGE}, which the paper does not say", share, note=note)


@claim("TN41")
def double_precision_alone(bench: Bench) -> Finding:
    """Slots of both schedulers over DFMAs, with a pipe for each scheduler, so that no pipe limits them."""
    own: Mapping[str, object] = {"pipe.dp.schedulers": 1}
    each = (own, {**own, "double.exclusive": "off"})
    runs = (Run("throughput", BOARD, {"op": "DFMA", "blocks": FULL_SM}, settings) for settings in each)
    alone, together = (WARP_SIZE / run.rate for run in bench.runs(*runs))
    return given(round(alone, 2), note=f"{together:.2f} without the rule")


@claim("TN52")
def version_2_over_cublas(bench: Bench) -> Finding:
    """Version 2 is a little better than the kernel in place of CUBLAS's: less so than version 3."""
    (run,), other = dgemm(bench, "v2"), tan_cublas.dgemm(bench)
    gain = _gain(run, other)
    note = f"that a little is less than version 3's {_little():.0f} % is our reading; both at {SIDE}"
    return _seen(bench, f"{gain:+.1f} %", note=note, passed=0 < gain < _little())


@claim("TN53")
def version_1_below_cublas(bench: Bench) -> Finding:
    """Version 1 is slower than the kernel in place of CUBLAS's, in some cases."""
    choices = {"variant": "v1", **ONE_BARRIER}, {"variant": "v1"}
    runs, other = dgemm(bench, *choices), tan_cublas.dgemm(bench)
    one, two = (_gain(run, other) for run in runs)
    note = f"with one barrier, as published; {two:+.1f} % with two; both at {SIDE}"
    return _seen(bench, f"{one:+.1f} %", note=note, passed=one < 0 and two < 0)


@claim("TN66")
def largest_step(bench: Bench) -> Finding:
    """The step from one version to the next that gains most, with either reading of version 1."""
    one, *two = dgemm(bench, {"variant": "v1", **ONE_BARRIER}, *VERSIONS)
    as_published, strict = ([_gain(*pair[::-1]) for pair in pairwise(runs)] for runs in ([one, *two[1:]], two))
    found = [STEPS[gains.index(max(gains))] for gains in (as_published, strict)]
    note = (
        f"gains in %: {_listed(as_published)} with version 1's one barrier, as published; {_listed(strict)} with two, "
        f"where it is {found[1]}"
    )
    return _seen(bench, found[0], note=note, passed=set(found) == {STEPS[-1]})


@claim("TN67")
def wide_accesses_alone(bench: Bench) -> Finding:
    """Algorithm 1 with accesses of 128 bits over algorithm 1, with the barriers that values need, and with one."""
    widths = [{"variant": "alg1", "width": width} for width in (128, 64)]
    runs = dgemm(bench, *widths, *({**width, **ONE_BARRIER} for width in widths))
    two, one = _gain(*runs[:2]), _gain(*runs[2:])
    note = f"algorithm 1; one barrier, as printed, has {one:+.1f} %; TN32 and TN53 have version 1; both at {SIDE}"
    return _seen(bench, f"{two:+.1f} %", note=note, passed=max(one, two) <= 0)


def raced(variant: str, machine: str, settings: Pairs) -> tuple[int, int, int]:
    """Return the races of the first block with one barrier, and of the values of a timed run how many are wrong."""
    kernel = make("dgemm-tan", {**RACE, "variant": variant, **{k: str(v) for k, v in ONE_BARRIER.items()}})
    timed = simulate(replace(kernel, racy=False), model.load(machine, dict(settings)), sms="all")
    return len(races(kernel, [0])), timed.verification.wrong, timed.verification.values


def _size(side: int) -> dict[str, object]:
    return {"m": side, "n": side, "k": side, "variant": "v4"}


def _race(bench: Bench, variant: str) -> str:
    """Say how many accesses race with one barrier, and what becomes of the values."""
    found, wrong, values = bench.compute(raced, variant, BOARD, bench.pairs(BOARD))
    return f"with one barrier {found} pairs of accesses race, and {wrong} of {values} values are wrong"


def _both(bench: Bench, name: str, variant: str, choice: str, note: str = "") -> Finding:
    """Compute a variant with the barriers that values need, and with one, as printed: both must meet the claim."""
    two, one = dgemm(bench, variant, {"variant": variant, **ONE_BARRIER})
    printed = f"one barrier, as printed, has {one.percent_of_peak:.1f}; {_race(bench, variant)}"
    (published,) = select([name])
    met = judge(published, counted(one.percent_of_peak)).passed
    note = "; ".join(part for part in (note, printed) if part)
    return _seen(bench, two.percent_of_peak, choice=choice, note=note, passed=None if met else False)


def _over_cublas(bench: Bench, version: str) -> Finding:
    (run,) = dgemm(bench, version)
    other = tan_cublas.dgemm(bench)
    published = 100 * (run.gflops / CUBLAS - 1)
    note = f"both at {SIDE}; {run.gflops:.1f} GFLOP/s are {published:.1f} % over the published {CUBLAS}"
    return _fitted(bench, _gain(run, other), note=note)


def _parameters(bench: Bench) -> str:
    """Name the numbers of the machine that were fitted to versions 3 and 4."""
    bench.pairs(BOARD)
    names = [path for path, fact in model.facts(BOARD).items() if fact.method == "fitted" and PAPER in fact.to]
    return f"{', '.join(names)}, fitted to versions 3 and 4 while these had plain loads"


def _seen(bench: Bench, *ours: object, choice: str = "", note: str = "", passed: bool | None = None) -> Finding:
    """Return a finding that people saw while they chose numbers of the machine, and perhaps one thing more."""
    choices = "; ".join(part for part in (choice, OF_THE_BOARD, _parameters(bench)) if part)
    return in_sight(choices, *ours, note=_without_tags(note), passed=passed)


def _simulated(*ours: object, note: str = "") -> Finding:
    """Return a finding that is fitted if the latency of global memory was, else in sight."""
    fact = model.facts(BOARD)["global_memory.latency"]
    if fact.method == "fitted" and PAPER in fact.to:
        return fitted(f"1 parameter on {PAPER}: version 3", *ours, note=note)
    return given(*ours, note=note)


def _fitted(bench: Bench, *ours: object, note: str = "") -> Finding:
    """Return a finding to which numbers of the machine were fitted, on a board without tags."""
    return fitted(f"{bench.fitted(BOARD, PAPER)}, {BEFORE}", *ours, note=_without_tags(note))


def _without_tags(note: str) -> str:
    return "; ".join(part for part in (note, WITHOUT_TAGS) if part)


def _over(percent: float) -> float:
    """Return in percent how far a share of the peak is above that of CUBLAS, as published."""
    _, share = published("TN26")
    return 100 * (percent / (share.value or 1.0) - 1)


def _little() -> float:
    """Return the percent over CUBLAS that version 3 has, as published: version 2's little is less."""
    (gain,) = published("TN29")
    return gain.value or 0.0


def _gain(after: Measurement, before: Measurement) -> float:
    return 100 * (after.gflops / before.gflops - 1)


def _percent(runs: Iterable[Measurement]) -> list[float]:
    return [run.percent_of_peak for run in runs]


def _order(percent: list[float]) -> str:
    return " < ".join(sorted(VERSIONS, key=dict(zip(VERSIONS, percent, strict=True)).__getitem__))


def _listed(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:.1f}" for number in numbers)
