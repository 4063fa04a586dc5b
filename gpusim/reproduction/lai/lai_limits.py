"""The claims of RR-7923 on what limits a product: issue, operands, dual issue and caches (LS63, LS65, LS67 to LS75)."""

from __future__ import annotations

from collections.abc import Mapping

from gpusim.engines.simulate import run_sm
from gpusim.machine import machine as model
from gpusim.machine.machine import Machine
from gpusim.reproduction.bench import Bench, Measurement, Pairs, Run
from gpusim.reproduction.claims import published
from gpusim.reproduction.finding import (
    Finder,
    Finding,
    analytic,
    arithmetic,
    counted,
    given,
    in_sight,
    predicted,
    registrar,
)
from gpusim.reproduction.lai.lai_bound import refused
from gpusim.reproduction.lai.lai_sgemm import KEPLER_SIZE, PREMISES, sgemm
from gpusim.reproduction.lai.lai_table import CARD, GT200, GTX580, KEPLER, SPECULATED, rate_between
from gpusim.reproduction.main_loop import main_loop
from gpusim.sm.pipes.pipe.declaration import lanes
from isa.program import WORD_BYTES
from isa.row import Unit
from isa.table import TABLE
from isa.text import listing

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)
ROUNDS = 16, 64  # iterations; the difference of the two runs counts
WITHOUT_REUSE = {"m": 960, "n": 960, "k": 960, "blocking": 1, "lds": 32}
COLUMN = {"m": 4800, "n": 192, "k": 480}  # two columns of tiles of the largest product, 50 blocks each
TILE = 96  # rows and columns of a block's tile of C
TAGS = {"cache.hits": "tags"}
STARVED = 16  # times less DRAM bandwidth
SPACES = {"local": "[RZ]", "global": "[R2]"}
PAIRS = 16, 64  # stores each followed by a load of the same word


@claim("LS63")
def without_reuse(bench: Bench) -> Finding:
    """SGEMM with a register blocking of 1 in percent of peak, and its inner loop by itself.

    That it is below a third is put in: one instruction of three computes, and each takes an issue slot.
    """
    loop = {"ratio": "1:2", "lds": 32, "warps": 32}
    whole, *loops = bench.runs(
        Run("sgemm-lai", CARD, WITHOUT_REUSE),
        *(Run("mix", CARD, {**loop, "iterations": rounds}, values=False) for rounds in ROUNDS),
    )
    alone = 100 * rate_between("FFMA", *loops) / lanes(bench.machine(CARD), Unit.FP32)
    note = f"960 x 960 x 960; {alone:.1f} % where nothing but an FFMA to two loads is issued"
    return given(f"{whole.percent_of_peak:.1f} %", note=note, passed=whole.percent_of_peak < 100 / 3)


@claim("LS65")
def dual_issue(bench: Bench) -> Finding:
    """FFMAs and FMULs one to one, on the SPs and the multipliers of the SFUs."""
    both = {"unit.fmul.pipe": "sp mul"}
    runs = [Run("dual-issue", GT200, {"iterations": i}, each, values=False) for each in ({}, both) for i in ROUNDS]
    short, long, *mixed = bench.runs(*runs)
    ffmas, fmuls = (rate_between(name, short, long) for name in ("FFMA", "FMUL"))
    note = (
        f"{ffmas:.2f} FFMAs and {fmuls:.2f} FMULs per cycle and SM; NVIDIA's brief on the chip measured 93 to 94 % of "
        f"the peak. If the SPs multiply too, as a rate of 11.2 FMULs alone says (recalled; 8 here): "
        f"{_dual_gflops(bench, *mixed):.0f}"
    )
    choices = "unit.fmul.pipe, the multipliers of the SFUs alone; pipe.mul.lanes, 8 by the brief where 4 were fitted"
    return in_sight(choices, _dual_gflops(bench, short, long), note=note)


def _dual_gflops(bench: Bench, short: Measurement, long: Measurement) -> float:
    chip = bench.machine(GT200).chip
    flops = 2 * rate_between("FFMA", short, long) + rate_between("FMUL", short, long)
    return flops * chip.sms * chip.shader_mhz / 1000


@claim("LS67")
def storage_of_an_sp(bench: Bench) -> Finding:
    """Bytes of registers and shared memory of an SM over its SPs."""
    before, after = (_storage(bench.machine(key)) for key in (GT200, GTX580))
    return analytic(f"{before:.1f} to {after:.1f} KB", passed=after < before)


def _storage(machine: Machine) -> float:
    limits = machine.limits
    return (WORD_BYTES * limits.registers + limits.shared_bytes) / 1024 / lanes(machine, Unit.FP32)


@claim("LS68")
def sps_at_twice_the_clock(_: Bench) -> Finding:
    """Thread instructions that 192 SPs at twice the core clock take in a core cycle, and what table 1 has as issued."""
    sps, issue = (published(name)[-1] for name in ("LS08", "LS07"))
    asked, issued = 2 * (sps.value or 0.0), issue.value or 0.0
    return arithmetic(f"{asked:.0f} of {issued:.0f}", note=f"of table 1; {SPECULATED}", passed=asked > issued)


@claim("LS69")
def operands_from_shared_memory(_: Bench) -> Finding:
    """FFMAs with each source in turn in shared memory: all refused, and only they."""
    sources = ("R1", "R2", "R3")
    texts = ["FFMA R0, R1, R2, R3", *(f"FFMA R0, {', '.join(_with_shared(sources, i))}" for i in range(len(sources)))]
    right = [refused(text) == ("[" in text) for text in texts]
    return counted("refused" if all(right) else "taken", note="by the assembler, in each of the three places")


def _with_shared(sources: tuple[str, ...], place: int) -> list[str]:
    return [*sources[:place], f"[{sources[place]}]", *sources[place + 1 :]]


@claim("LS70")
def limit_on_fermi(bench: Bench) -> Finding:
    """The resource that the SGEMM of 4800 needs longest."""
    (found,) = bench.runs(sgemm(layout="nt", order="interleaved"))
    name, share = _limit(found)
    return analytic(name, note=share)


@claim("LS71")
def limit_on_kepler(bench: Bench) -> Finding:
    """The same on Kepler, with 64-bit loads."""
    (found,) = bench.runs(Run("sgemm-lai", KEPLER, {**KEPLER_SIZE, "lds": 64}))
    name, share = _limit(found)
    return in_sight(PREMISES, name, note=f"{SPECULATED}; {share}")


def _limit(found: Measurement) -> tuple[str, str]:
    """Return the resource with the most cycles, and the next one's share of these."""
    (name, most), (second, less), *_ = sorted(found.limits.items(), key=lambda limit: -limit[1])
    return name, f"next {second}, {100 * less / most:.0f} % as long"


@claim("LS75")
def between_the_barriers(bench: Bench) -> Finding:
    """The instructions between the two barriers of the loop, in the order before section 4.2's reordering."""
    names = [i.row.mnemonic for i in main_loop(bench.kernel("sgemm-lai", order="base").program)]
    first = names.index("BAR.SYNC")
    inside = names[first + 1 : names.index("BAR.SYNC", first + 1)]
    shared = {name for name in inside if TABLE[name].unit is Unit.SHARED}
    found = "shared-memory accesses" if {*inside} == shared else ", ".join(dict.fromkeys(inside))
    return counted(found, note=f"{len(inside)} {' and '.join(sorted(shared))}")


@claim("LS72")
def what_caches_add(bench: Bench) -> Finding:
    """All SMs on two columns of tiles of the largest product: with the tags of L1 and L2, and without caches."""
    without, tagged = bench.runs(_column({}), _column(TAGS))
    gain = 100 * (tagged.gflops / without.gflops - 1)
    note = f"4800 x 192 x 480 on all SMs: {without.gflops:.0f} GFLOP/s without caches, {tagged.gflops:.0f} with tags"
    return predicted(f"{gain:+.1f} %", note=note, passed=abs(gain) <= 1)


@claim("LS73")
def hits_in_the_l2(bench: Bench) -> Finding:
    """What a DRAM of a sixteenth of the bandwidth can have moved while it held up the run, taken from what was loaded.

    The rest has come from the L2, as loads go past the L1 in this run.
    """
    machine = bench.machine(CARD)
    little = machine.chip.dram_mbs // STARVED
    (starved,) = bench.runs(_column({**TAGS, "l1.global_loads": 0, "chip.dram_mbs": little}))
    m, n, k = (COLUMN[name] for name in "mnk")
    loaded = WORD_BYTES * (m * k * (n / TILE) + k * n * (m / TILE))
    share = 100 * (1 - little * starved.cycles / machine.chip.shader_mhz / loaded)
    note = (
        f"at least, where a sixteenth of the DRAM's bandwidth holds the run up ({starved.gflops:.0f} GFLOP/s); blocks "
        "go out in order, one column of tiles after the other, so that those at work share B"
    )
    return predicted(f"{share:.0f} %", note=note, passed=share < 25)


def _column(settings: Mapping[str, object]) -> Run:
    parameters = {**COLUMN, "layout": "nt", "order": "interleaved"}
    return Run("sgemm-lai", CARD, parameters, settings, values=False, sms="all")


@claim("LS74")
def where_stores_stay(bench: Bench) -> Finding:
    """Cycles of a store and a load of its word, in local and in global memory, against the latencies of the caches."""
    pairs, cache = bench.pairs(GTX580, TAGS), bench.machine(GTX580, TAGS).cache
    local, far = (bench.compute(reload, space, pairs) for space in SPACES)
    if cache is None:
        raise ValueError(f"{GTX580} has no caches")
    in_l1, past_l1 = local < cache.l2_latency_32, far >= cache.l2_latency_32
    found = f"local {'in' if in_l1 else 'past'} the L1, global {'past' if past_l1 else 'in'} it"
    return given(found, note=f"simulated: {local:.0f} and {far:.0f} cycles for a store and the load of its word")


def reload(space: str, settings: Pairs) -> float:
    """Return the cycles of a store and a load of the same word, in `local` or `global` memory, on GTX580."""
    short, long = (_cycles(space, count, settings) for count in PAIRS)
    return (long - short) / (PAIRS[1] - PAIRS[0])


def _cycles(space: str, count: int, settings: Pairs) -> int:
    """Return the cycles of a warp that stores and loads its word so often, each access after the other's data."""
    letter = space[0].upper()
    body = f"ST{letter} {SPACES[space]}, R0\nLD{letter} R0, {SPACES[space]}\n" * count
    text = f".local 4\n.buffer x u32 32\nS2R R2, LANEID\nSHL R2, R2, 2\nIADD R2, R2, c[x]\nMOV R0, 1\n{body}EXIT\n"
    return run_sm(listing.read(text), model.load(GTX580, dict(settings))).cycles
