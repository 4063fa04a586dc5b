"""The claims of Kurzak's slides on search spaces, limits and the machine that they tune on (PPAM 2011)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from msgspec import structs

from gpusim.machine.capability import capabilities
from gpusim.reproduction.bench import Bench, Job
from gpusim.reproduction.finding import Finder, Finding, analytic, arithmetic, given, not_reproducible, registrar
from gpusim.sm.unit.sm import Limits
from workloads.papers.kurzak.stencil_space import SIDE, WORDS, ZGEMM, stencil_space, winner_threads
from workloads.space import prune

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)
CARD = "c2050"
MEASURED = {"1.3": "gt200", "2.x": CARD}  # compute capabilities that have a machine
GPUS = 7168  # of Tianhe-1A
LOADS = Fraction(2)  # per FMA, the slides' number
OTHER_LOADS = (Fraction(5, 2), Fraction(8, 3), Fraction(3))  # by other definitions
NARROW = 160  # the largest tile with which the counts come nearest
KIBI = 1024


@claim("KZ03")
def points_without_constraints(_: Bench) -> Finding:
    """Nine numbers from 1 to 256."""
    points = 256 ** len(stencil_space("z").axes)
    words = f"{points:.1e}".replace("e+", "e")
    return arithmetic(words, note="256^9 is about 10^21, says the slide", passed=10**20 < points < 10**22)


@claim("KZ04")
def hard_constraints(bench: Bench) -> Finding:
    """ZGEMM: points that can run."""
    limits = bench.machine(CARD).limits
    (hard, _, _), near = bench.results(_job(limits), _job(_uncapped(limits), OTHER_LOADS[1], NARROW))
    text = " / ".join(f"{count:,}" for count in near)
    note = f"with tiles to {NARROW}, no cap on blocks and 8/3 loads per FMA all three counts are near, {text}"
    return _open(hard, f"{note}, but nothing speaks for these")


@claim("KZ05")
def occupancy_of_a_third(bench: Bench) -> Finding:
    """ZGEMM: points of which 512 threads are resident."""
    limits = bench.machine(CARD).limits
    (_, occupied, _), (_, uncapped, _) = bench.results(_job(limits), _job(_uncapped(limits)))
    return _open(occupied, f"of resident blocks 8 at most, as the slides have it; without that cap {uncapped:,}")


@claim("KZ06")
def loads_and_blocks(bench: Bench) -> Finding:
    """ZGEMM: points with few loads per FMA and two blocks."""
    limits = bench.machine(CARD).limits
    (_, _, last), *others = bench.results(_job(limits), *(_job(limits, loads) for loads in OTHER_LOADS))
    text = ", ".join(f"{left[-1]:,} with {loads}" for loads, left in zip(OTHER_LOADS, others, strict=True))
    return _open(last, f"read as real numbers loaded per complex FMA; the reading decides: {text}")


@claim("KZ08")
def limits_of_capabilities(bench: Bench) -> Finding:
    """The limits that the slides print, from machine files, or else from the programming guide's table."""
    known = capabilities()
    held = {name: bench.machine(MEASURED[name]).limits if name in MEASURED else known[name] for name in known}
    every = held.values()
    words = (
        f"grid {_different(each.grid for each in known.values())}",
        f"threads/block {_different(each.threads_per_block for each in every)}",
        f"x, y {_different(each.block_xy for each in known.values())}",
        f"z {_different(each.block_z for each in known.values())}",
        f"warp {_different(each.warp_size for each in every)}",
        f"blocks {_different(each.blocks for each in every)}",
        f"warps {','.join(str(each.warps) for each in every)}",
        f"threads {','.join(str(each.threads) for each in every)}",
        f"regs {','.join(f'{each.registers // KIBI}K' for each in every)}",
        f"smem {_different((each.shared_bytes // KIBI for each in every), 'K')}",
    )
    note = (
        "1.3 is gt200 and 2.x c2050; the others, and the shapes of grids and blocks, are the programming guide's table"
    )
    return given("; ".join(words), note=note)


@claim("KZ11")
def threads_at_a_third(bench: Bench) -> Finding:
    """A third of the threads of an SM."""
    limits = bench.machine(CARD).limits
    winners = sorted({winner_threads(precision, limits) for precision in WORDS})
    note = f"MAGMA's kernels for s, d, c and z have {', '.join(map(str, winners))} threads resident"
    return analytic(limits.threads / 3, note=note)


@claim("KZ12")
def samples(_: Bench) -> Finding:
    """How many variants others ran."""
    return not_reproducible("others' numbers of runs; the 211 are what their pruning left, see KZ06")


@claim("KZ13")
def share_of_the_machine(_: Bench) -> Finding:
    """365 GPUs of Tianhe-1A; a day on them is a year on one."""
    share = 100 * 365 / GPUS
    return arithmetic(share, note=f"{share:.2f} %; the slides say that it is exact")


@claim("KZ14")
def days_of_a_run(_: Bench) -> Finding:
    """202 minutes on all of its GPUs."""
    return arithmetic(202 * GPUS / 60 / 24)


def left(limits: Limits, loads: Fraction, side: int) -> tuple[int, ...]:
    """Return the points of ZGEMM's space at the stages whose counts were published."""
    stages = prune(stencil_space("z", loads=loads, side=side), limits).stages
    return tuple(stage.left for stage in stages if stage.name in ZGEMM.counts)


def _job(limits: Limits, loads: Fraction = LOADS, side: int = SIDE) -> Job:
    return Job(left, (limits, loads, side))


def _uncapped(limits: Limits) -> Limits:
    """The same without a limit of its own on blocks."""
    return structs.replace(limits, blocks=limits.warps)


def _open(count: int, note: str) -> Finding:
    return Finding((float(count),), "not reproducible: the slides leave definitions open, see docs/tuning.md", note)


def _different(values: Iterable[int], unit: str = "") -> str:
    """Each value once, in the order of the capabilities."""
    return "/".join(f"{value}{unit}" for value in dict.fromkeys(values))
