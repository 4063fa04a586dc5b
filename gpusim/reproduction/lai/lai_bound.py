"""The claims of RR-7923 about bounds: shares of FFMAs, equations 1 to 12, figure 2, registers (LS18 to LS46, LS64)."""

from __future__ import annotations

from collections.abc import Sequence

from gpusim.engines.walks.program_order import walk
from gpusim.machine.machine import bandwidth_gbs, peak_gflops
from gpusim.machine.occupancy import Occupancy, occupancy
from gpusim.reproduction.bench import Bench, Run
from gpusim.reproduction.claims import published
from gpusim.reproduction.finding import Finder, Finding, analytic, arithmetic, counted, fitted, registrar
from gpusim.reproduction.lai import equations
from gpusim.reproduction.lai.lai_table import GTX580, KEPLER
from gpusim.reproduction.main_loop import main_loop
from isa.errors import UserError
from isa.kernel import WARP_SIZE
from isa.row import Unit
from isa.text import listing
from workloads.papers.lai.lai_program import register_map

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)
FIGURE_2, LDS_128 = "RR-7923 figure 2", "RR-7923: LDS.128"
MIXES = "mix-3-1-32", "mix-6-1-64", "mix-12-1-128"
THREADS, DEPTH, BLOCKING, INDICES = 256, 16, 6, 7  # of a block; k of a tile; section 4.1
LARGEST = 15  # blocking in figure 1
WARPS = range(12, 30, 2)  # among which the knee is looked for


def ffma_share(bench: Bench, blocking: int, lds: int) -> float:
    """Return the share of FFMAs among FFMAs and shared loads in the loop of the SGEMM's program, in percent."""
    side = 16 * blocking
    program = bench.kernel("sgemm-lai", m=side, n=side, blocking=blocking, lds=lds, prefetch=False).program
    names = [i.row.mnemonic for i in main_loop(program)]
    ffmas, loads = names.count("FFMA"), sum(name.startswith("LDS") for name in names)
    return 100 * ffmas / (ffmas + loads)


def sgemm_occupancy(bench: Bench, machine: str) -> Occupancy:
    """Return the occupancy of the SGEMM with 64-bit loads and prefetch: 63 registers."""
    return occupancy(bench.kernel("sgemm-lai"), bench.machine(machine))


@claim("LS18")
def share_without_reuse(bench: Bench) -> Finding:
    """Blocking 1."""
    return counted(ffma_share(bench, 1, 32))


@claim("LS19")
def share_with_lds(bench: Bench) -> Finding:
    """Blocking 6, 32 bits."""
    return counted(ffma_share(bench, BLOCKING, 32))


@claim("LS20")
def share_with_lds_64(bench: Bench) -> Finding:
    """Blocking 6, 64 bits."""
    return counted(ffma_share(bench, BLOCKING, 64))


@claim("LS21")
def share_with_lds_128(bench: Bench) -> Finding:
    """The mix of 12 to 1; the kernel itself can't load one and a half times."""
    names = [i.row.mnemonic for i in bench.kernel("mix", ratio="12:1", lds=128).program.instructions]
    ffmas, loads = names.count("FFMA"), names.count("LDS.128")
    whole = ffma_share(bench, BLOCKING, 128)
    note = (
        "derived, not printed: 12 of 13 by the report's ratio of 12 to 1, counted in the mix; SGEMM, which pads 6 to "
        f"8, has whole loads: {whole:.1f} %"
    )
    return counted(100 * ffmas / (ffmas + loads), note=note)


@claim("LS22")
def figure_1(bench: Bench) -> Finding:
    """Programs of every blocking and width against the formula, with whole loads where the width does not divide."""
    points = [(blocking, words) for blocking in range(1, LARGEST + 1) for words in (1, 2, 4)]
    right = [_as_in_figure_1(bench, *point) for point in points]
    note = "counted in a program each; where the width does not divide the blocking, with the loads rounded up"
    return counted(f"{sum(right)} of {len(points)} points", note=note, passed=all(right))


def _as_in_figure_1(bench: Bench, blocking: int, words: int) -> bool:
    share = ffma_share(bench, blocking, 32 * words) / 100
    formula = equations.ffma_share(blocking, words, whole_loads=blocking % words != 0)
    return abs(share - formula) < 1e-12


@claim("LS23")
def registers_of_a_line(_: Bench) -> Finding:
    """A line of one matrix, and a register for the other, as with 32-bit loads."""
    blocks = register_map(BLOCKING, 1, prefetch=False).blocks
    return counted(len(blocks["a_line"]) + len(blocks["b_line"]))


@claim("LS24")
def warps_needed(bench: Bench) -> Finding:
    """Equation 1 at latencies of 18 and 24 cycles, and the knees that dependent FFMAs show."""
    schedulers = bench.machine(GTX580).schedulers
    issue = schedulers.interval / schedulers.count
    warps = [equations.threads_needed(latency, issue) / WARP_SIZE for latency in (18, 24)]
    knees = _knees(bench, (18, 24))
    shown = " and ".join(f"more than {WARPS[-1]}" if knee is None else str(knee) for knee in knees)
    note = (
        "the report gives no latency; 18 was measured on a C2050, 24 is that of BPG 4.2. Dependent FFMAs have the full "
        f"rate from {shown} warps on, simulated"
    )
    return analytic(*warps, note=note, passed=warps == knees == [figure.value for figure in published("LS24")])


def _knees(bench: Bench, latencies: Sequence[int]) -> list[int | None]:
    """Return the fewest warps whose dependent FFMAs have the best rate of all, at each latency; None if none has."""
    chain, slow = {"op": "FFMA", "streams": 1, "iterations": 1, "length": 1024}, "unit.fp32.latency"
    runs = {
        (latency, warps): Run("throughput", GTX580, {**chain, "warps": warps}, {slow: latency}, values=False)
        for latency in latencies
        for warps in WARPS
    }
    rates = dict(zip(runs, (run.rate for run in bench.runs(*runs.values())), strict=True))
    full = max(rates.values())
    return [next((warps for warps in WARPS if rates[latency, warps] > 0.97 * full), None) for latency in latencies]


@claim("LS25")
def threads_of_an_sm(bench: Bench) -> Finding:
    """Equations 2 and 3, by the occupancy of a kernel of 63 registers."""
    return counted(32 * sgemm_occupancy(bench, GTX580).warps)


@claim("LS26")
def loosely_largest_blocking(bench: Bench) -> Finding:
    """Equation 4."""
    most = bench.machine(GTX580).limits.registers_per_thread
    return analytic(max(b for b in range(1, LARGEST) if equations.blocking_fits_loosely(b, most)))


@claim("LS27")
def least_depth(_: Bench) -> Finding:
    """Equation 5."""
    least = next(depth for depth in range(1, 65) if equations.tile_divides(THREADS, BLOCKING, depth))
    return arithmetic(least, note="derived, not printed: the report's equation with the 256 threads that it chooses")


@claim("LS28")
def shared_memory(bench: Bench) -> Finding:
    """Equation 6, with the bytes that the program declares."""
    most = bench.machine(GTX580).limits.shared_bytes
    size = 2 * bench.kernel("sgemm-lai").program.shared_bytes
    fits = equations.shared_fits(2, THREADS, BLOCKING, DEPTH, most) and size <= most
    room = f"of {most} bytes" if fits else f"more than {most} bytes"
    return counted(size / 4, size, note=f"derived, not printed: two tiles of 16 by 96 words for each block; {room}")


@claim("LS29")
def tightly_largest_blocking(bench: Bench) -> Finding:
    """Equation 7 with seven registers for addresses and the loop's end."""
    most = bench.machine(GTX580).limits.registers_per_thread
    needed = [equations.registers_needed(blocking, THREADS, DEPTH, INDICES) for blocking in (6, 7)]
    fitting = [b for b in range(1, LARGEST) if equations.blocking_fits_tightly(b, THREADS, DEPTH, INDICES, most)]
    note = (
        "62 and 78 are derived, not printed: the sums of the equation's terms; 63, as printed, with the second "
        "register for B that LDS.64 takes"
    )
    return analytic(*needed, max(fitting), note=note)


@claim("LS30")
def tile_rows(bench: Bench) -> Finding:
    """Rows of C over blocks along them, in the kernel's launch, which must be what equation 8 gives."""
    rows = 960
    kernel = bench.kernel("sgemm-lai", m=rows)
    return counted(rows / kernel.grid[0], note=f"equation 8: {equations.shared_blocking(kernel.threads, BLOCKING):.0f}")


@claim("LS31")
def throughput_factors(bench: Bench) -> Finding:
    """Equation 9: issue slots over instructions of the mixes."""
    note = "derived, not printed: 32 over the rates of figure 2"
    return fitted(bench.fitted(GTX580, FIGURE_2), *(32 / rate for rate in _mixes(bench)), note=note)


def _mixes(bench: Bench) -> list[float]:
    return bench.points(GTX580, *MIXES)


@claim("LS32")
def memory_bounds(bench: Bench) -> Finding:
    """Equation 10."""
    tile = equations.shared_blocking(THREADS, BLOCKING)
    bounds = [equations.memory_bound(bandwidth_gbs(bench.machine(key)), tile) for key in (GTX580, KEPLER)]
    note = "derived, not printed: table 1's bandwidths in words per second, as the equation names no unit, times 96"
    return analytic(*bounds, note=note)


@claim("LS33")
def sm_bound(bench: Bench) -> Finding:
    """Equation 11 without the factor of figure 2: a load of two words takes one slot."""
    note = "not printed; the report has its share of the peak, about 85 %"
    return analytic(equations.sm_bound(BLOCKING, 0.5, peak_gflops(bench.machine(GTX580))), note=note)


@claim("LS64")
def sm_bound_with_the_mix(_: Bench) -> Finding:
    """Equation 11 with the published mix and peak."""
    (mix,), (_gt200, peak, _kepler) = published("LS37"), published("LS14")
    factor = equations.throughput_factor(BLOCKING, 2, mix.value or 0.0)
    bound = equations.sm_bound(BLOCKING, factor, peak.value or 0.0)
    return arithmetic(bound, note="not printed; LS31 has the factor as it is simulated")


@claim("LS34")
def potential(bench: Bench) -> Finding:
    """Equation 12 in percent of the peak."""
    machine = bench.machine(GTX580)
    memory = equations.memory_bound(bandwidth_gbs(machine), equations.shared_blocking(THREADS, BLOCKING))
    sm = equations.sm_bound(BLOCKING, 0.5, peak_gflops(machine))
    return analytic(100 * equations.potential(memory, sm) / peak_gflops(machine), note="without the factor of figure 2")


@claim("LS35")
def block_size(bench: Bench) -> Finding:
    """Threads of a block, and what an SM holds of them."""
    held = sgemm_occupancy(bench, GTX580)
    return counted(bench.kernel("sgemm-lai").threads, 32 * held.warps, held.blocks)


def _mix(bench: Bench, which: int) -> Finding:
    return fitted(bench.fitted(GTX580, FIGURE_2), bench.point(GTX580, MIXES[which]))


@claim("LS36")
def mix_of_32_bits(bench: Bench) -> Finding:
    """FFMA and LDS, 3 to 1."""
    return _mix(bench, 0)


@claim("LS37")
def mix_of_64_bits(bench: Bench) -> Finding:
    """FFMA and LDS.64, 6 to 1."""
    return _mix(bench, 1)


@claim("LS38")
def mix_of_128_bits(bench: Bench) -> Finding:
    """FFMA and LDS.128, 12 to 1."""
    return _mix(bench, 2)


@claim("LS39")
def lds_128_alone(bench: Bench) -> Finding:
    """LDS.128 of 32 distinct addresses."""
    rate = bench.point(GTX580, "rate-lds.128")
    return fitted(bench.fitted(GTX580, LDS_128), rate, 32 / rate)


@claim("LS40")
def lds_128_at_best(_: Bench) -> Finding:
    """The published mix over the issue rate."""
    (rate,) = published("LS38")
    return arithmetic(100 * (rate.value or 0.0) / 32, note="LS38 has the mix as it is simulated")


@claim("LS41")
def close_to_32(bench: Bench) -> Finding:
    """The two narrower mixes over the issue rate."""
    note = "derived, not printed: 31.3 and 30.4 of figure 2 over 32, to which the report calls them close"
    return fitted(bench.fitted(GTX580, FIGURE_2), *(100 * rate / 32 for rate in _mixes(bench)[:2]), note=note)


@claim("LS42")
def alignment(_: Bench) -> Finding:
    """Loads at each register and address up to twice their width: those off a multiple are refused, no others."""
    cases = [(words, register, 4 * word) for words in (2, 4) for register in range(8) for word in range(8)]
    right = [_loads(*case) == (case[1] % case[0] == 0 and case[2] % (4 * case[0]) == 0) for case in cases]
    return counted(f"{sum(right)} of {len(cases)} cases", passed=all(right))


def _loads(words: int, register: int, address: int) -> bool:
    return not refused(f"LDS.{32 * words} R{register}, [RZ+{address}]")


def refused(instruction: str) -> bool:
    """Tell whether a program of this instruction is refused, by the assembler or as it executes."""
    text = f".shared 64\n.grid 1\n.block 32\n{instruction}\nEXIT\n"
    try:
        walk(listing.read(text))
    except UserError:
        return True
    return False


@claim("LS43")
def conflict_of_lds_128(bench: Bench) -> Finding:
    """Cycles of LDS.128 over those that its bytes need at the full width of the banks."""
    shared = bench.machine(GTX580).shared_memory
    cycles = 32 / bench.point(GTX580, "rate-lds.128")
    passes = 32 * 16 / (shared.banks * shared.bank_bytes)
    return fitted(bench.fitted(GTX580, LDS_128), cycles / (passes * shared.pass_cycles))


@claim("LS44")
def register_budget(bench: Bench) -> Finding:
    """The registers by use, and the highest that the program names."""
    sizes = {name: len(block) for name, block in register_map(BLOCKING, 2, prefetch=True).blocks.items()}
    pairs = (sizes[f"a_{use}"] + sizes[f"b_{use}"] for use in ("fetch", "store", "load"))
    fetch, store, load = pairs
    uses = sizes["sums"], sizes["prefetch"], sizes["a_line"], sizes["b_line"], fetch, sizes["end"], store, load
    return counted(*uses, bench.kernel("sgemm-lai").program.registers)


@claim("LS45")
def prefetch_registers(_: Bench) -> Finding:
    """The registers that the program prefetches to, which must be those of equation 7."""
    registers = register_map(BLOCKING, 2, prefetch=True).blocks["prefetch"]
    term = equations.prefetch_registers(THREADS, BLOCKING, DEPTH)
    note = f"equation 7: {term:.0f}; section 4.1 prints the root over the whole product, which gives no 12"
    return counted(len(registers), note=note)


@claim("LS46")
def nothing_spilled(bench: Bench) -> Finding:
    """Local accesses of the program, and the index of the register that its loop ends by."""
    instructions = bench.kernel("sgemm-lai").program.instructions
    (end,) = register_map(BLOCKING, 2, prefetch=True).blocks["end"]
    return counted(sum(i.row.unit is Unit.LOCAL for i in instructions), end.index)
