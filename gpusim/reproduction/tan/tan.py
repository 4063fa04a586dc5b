"""The claims of Tan et al., DGEMM on Fermi (SC 2011), that need no run: its model, its mixes, its thread maps."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.program_order import walk
from gpusim.machine.machine import Machine, bandwidth_gbs, peak_fp64_gflops, peak_gflops
from gpusim.machine.occupancy import occupancy
from gpusim.reproduction.bench import Bench
from gpusim.reproduction.finding import (
    Finder,
    Finding,
    analytic,
    arithmetic,
    counted,
    given,
    not_reproducible,
    registrar,
)
from gpusim.reproduction.main_loop import main_loop
from gpusim.sm.pipes.pipe.declaration import instances, lanes
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import Register
from isa.row import Unit
from workloads.papers.tan.tan_plan import BLOCKING, DEPTH, SIDE

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)
BOARD, OTHER, WHOLE = "c2050", "c1060", "gtx580"  # the measured board; the GT200 of table 1; a Fermi with all its SMs
DOUBLE = 8  # bytes
REGISTERS = 2  # of a double
BLOCKS = 2  # of an SM
INTEGER = frozenset({Unit.INT, Unit.LOGIC, Unit.COMPARE})
ONE_TILE = {"variant": "alg1", "m": SIDE, "n": SIDE, "k": DEPTH}
VERSIONS = ("v1", "v2", "v3", "v4")
LATENCIES = (1000, 46)  # cycles of a load from global memory and from shared memory, table 3


@claim("TN01")
def peaks(bench: Bench) -> Finding:
    """Peak rates of the C2050."""
    machine = bench.machine(BOARD)
    return analytic(peak_gflops(machine), peak_fp64_gflops(machine))


@claim("TN02")
def table_1(bench: Bench) -> Finding:
    """The machine files of a Tesla C1060, the C2050, and GF110, which has all SMs of its family."""
    old, new, whole = (bench.machine(key) for key in (OTHER, BOARD, WHOLE))
    shared, l1 = new.limits.shared_bytes // 1024, _kilobytes(new.l1)
    parts = (
        f"{_cores(old)}/{_cores(new)}({_cores(whole)}) cores",
        f"DP {_lanes(old, Unit.DP) * old.chip.sms} MAD/{_lanes(new, Unit.DP) * whole.chip.sms} FMA",
        f"SP {_cores(old)}/{_cores(whole)}",
        f"schedulers {old.schedulers.count}/{new.schedulers.count}",
        f"smem {old.limits.shared_bytes // 1024}/{shared}|{l1}",
        f"L1 {_kilobytes(old.l1) or '-'}/{l1}|{shared}",
        f"L2 {_kilobytes(old.l2) or '-'}/{_kilobytes(new.l2)}K",
        f"{bandwidth_gbs(old):.0f}/{bandwidth_gbs(new):.0f} GB/s",
    )
    return given("; ".join(parts), note="operations per cycle are those of all 16 SMs that a Fermi can have")


@claim("TN03")
def traffic(bench: Bench) -> Finding:
    """Factors of all products over the doubles that a thread fetches, in a round of algorithm 1."""
    count = _mix(bench.kernel("dgemm-tan", variant="alg1"))
    note = "derived, not printed: the paper's formula at 64 by 64"
    return counted(2 * count["DFMA"] / count["LDG.64"], note=note)


@claim("TN04")
def columns_for_the_memory(bench: Bench) -> Finding:
    """Peak times word size over bandwidth; the paper cuts the result off."""
    machine = bench.machine(BOARD)
    return analytic(peak_fp64_gflops(machine) * DOUBLE / bandwidth_gbs(machine), note="printed as 28")


@claim("TN05")
def shared_bandwidth(bench: Bench) -> Finding:
    """All banks of all SMs, a word in each pass."""
    return analytic(shared_gbs(bench.machine(BOARD)))


@claim("TN06")
def blocking_for_shared_memory(bench: Bench) -> Finding:
    """Peak times word size over the bandwidth of shared memory."""
    machine = bench.machine(BOARD)
    note = "an equality, where the paper asks for less than"
    return analytic(peak_fp64_gflops(machine) * DOUBLE / shared_gbs(machine), note=note)


@claim("TN07")
def registers_by_blocking(bench: Bench) -> Finding:
    """Sums and both lines of a thread's factors, as registers, by the paper's formula."""
    four, five = (REGISTERS * (size**2 + 2 * size) for size in (BLOCKING, BLOCKING + 1))
    named = REGISTERS * len(_named_by_dfmas(bench.kernel("dgemm-tan", variant="alg1")))
    note = (
        f"{five} is derived, not printed: the paper's formula for a blocking of 5; {BLOCKING} is the largest with 63 "
        f"registers; the DFMAs of algorithm 1's program name {named}"
    )
    return arithmetic(four, five, note=note)


@claim("TN08")
def depth(bench: Bench) -> Finding:
    """Shared memory over what a step of k takes in the tiles of two blocks; and that of a block over a step."""
    step = 2 * SIDE * DOUBLE
    chosen = bench.kernel("dgemm-tan", variant="alg1").program.shared_bytes / step
    note = (
        "24 is derived, not printed: 48 KB over what the paper's condition has for each step; "
        f"the kernel's {chosen:.0f} are counted in its program, which was written to have them"
    )
    return analytic(bench.machine(BOARD).limits.shared_bytes / (BLOCKS * step), chosen, note=note)


@claim("TN09")
def threads(bench: Bench) -> Finding:
    """Registers of an SM over those that the DFMAs of a thread name, for two blocks; and the kernel's threads."""
    kernel = bench.kernel("dgemm-tan", variant="alg1")
    most = bench.machine(BOARD).limits.registers / (BLOCKS * REGISTERS * len(_named_by_dfmas(kernel)))
    note = f"the kernel's {kernel.threads} are counted in its launch, which was written to have them"
    return analytic(most, kernel.threads, note=note)


@claim("TN11")
def elements(bench: Bench) -> Finding:
    """Loads of a round of algorithm 1, half of them for either operand."""
    return counted(_mix(bench.kernel("dgemm-tan", variant="alg1"))["LDG.64"] / 2)


@claim("TN15")
def table_3_counts(bench: Bench) -> Finding:
    """Instructions of a round of algorithm 3; ten integer ones, a branch and two barriers are its 13."""
    count = _mix(bench.kernel("dgemm-tan", **_TABLE_3))
    note = "341 is derived, not printed: the sum of these, to which the table's shares belong (TN16)"
    return counted(*(count[name] for name in (*_WIDE, "integer", "STS.128")), count.total(), note=note)


@claim("TN16")
def table_3_shares(bench: Bench) -> Finding:
    """The same over all 341, with the stores that the table leaves out."""
    count = _mix(bench.kernel("dgemm-tan", **_TABLE_3))
    shares = [100 * count[name] / count.total() for name in (*_WIDE, "integer")]
    printed = f"{shares[-1]:.2f} %, printed as 3.80; {shares[1]:.2f} is cut off"
    note = f"{count['integer']} of {count.total()} are {printed}; the stores are in the sum"
    return counted(*shares, note=note)


@claim("TN18")
def war_latencies(bench: Bench) -> Finding:
    """Cycles until the sources of a load may be overwritten, as the machine file has them."""
    machine = bench.machine(BOARD)
    return given(machine.global_memory.war, machine.shared_memory.war_128)


@claim("TN20")
def bound_of_64_bits(bench: Bench) -> Finding:
    """DFMAs among these and the memory instructions of algorithm 1."""
    return counted(_share(bench, variant="alg1", width=64))


@claim("TN21")
def bound_of_128_bits(bench: Bench) -> Finding:
    """The same with accesses of 128 bits."""
    return counted(_share(bench, variant="alg1", width=128), note="printed as 78")


@claim("TN22")
def bound_of_algorithm_3(bench: Bench) -> Finding:
    """DFMAs among all instructions of a round."""
    count = _mix(bench.kernel("dgemm-tan", variant="alg3"))
    return counted(100 * count["DFMA"] / count.total())


@claim("TN23")
def inner_loops(bench: Bench) -> Finding:
    """Blocking by 4 and by 8, with accesses of two doubles and of one, in the paper's order."""
    shares = [_inner(bench, blocking, width) for blocking in (4, 8) for width in (128, 64)]
    note = "of DFMAs and shared loads in algorithm 1; the paper cuts off 66.7 and 88.9 to 66 and 88"
    return counted(*shares, note=note)


@claim("TN35")
def local_accesses_of_cublas(bench: Bench) -> Finding:
    """Words of local memory of a round in the kernel in place of CUBLAS's."""
    words = _local_words(bench.kernel("gemm-stencil", precision="d"))
    note = f"{words} words a round: the stencil that stands for CUBLAS keeps a pointer there, which CUBLAS does not"
    return counted("some" if words else "none", note=note)


@claim("TN43")
def local_accesses_of_algorithm_2(bench: Bench) -> Finding:
    """Words of local memory of a round of algorithm 2, and the registers that it would need."""
    words = _local_words(bench.kernel("dgemm-tan", variant="alg2"))
    needed = bench.kernel("dgemm-tan", variant="alg2", spilled=0).program.registers
    limit = bench.machine(BOARD).limits.registers_per_thread
    note = f"{words} words a round: it needs {needed} registers of {limit}"
    return counted("some" if words and needed > limit else "none", note=note)


@claim("TN44")
def doubles_of_the_prefetch(bench: Bench) -> Finding:
    """Registers that algorithm 2, not spilled, has beyond algorithm 1, as doubles."""
    with_it, without = (
        bench.kernel("dgemm-tan", **kind).program.registers
        for kind in ({"variant": "alg2", "spilled": 0}, {"variant": "alg1"})
    )
    doubles = (with_it - without) / REGISTERS
    return counted(doubles, note=f"{with_it - without} registers of 32 bits; the paper calls its 8 registers")


@claim("TN45")
def inner_loop_of_algorithm_1(bench: Bench) -> Finding:
    """Shared loads and DFMAs of a step and of a round; loads and stores of a round; and all that is not a DFMA."""
    count = _mix(bench.kernel("dgemm-tan", variant="alg1"))
    loads, dfmas, fetches, stores = (count[name] for name in ("LDS.64", "DFMA", "LDG.64", "STS.64"))
    return counted(loads / DEPTH, dfmas / DEPTH, loads, dfmas, fetches, stores, loads + stores)


@claim("TN46")
def ratio_of_latencies(_: Bench) -> Finding:
    """The upper latency of a global load over that of a shared one, by the paper's own table."""
    of_global, of_shared = LATENCIES
    note = f"{of_global} over {of_shared} cycles of table 3, to which the paper refers for its 100"
    return arithmetic(of_global / of_shared, note=note)


@claim("TN47")
def accesses_of_128_bits(bench: Bench) -> Finding:
    """Loads and stores of a thread for a tile of one operand, with 64 bits and with 128."""
    counts = [_mix(bench.kernel("dgemm-tan", variant="alg1", width=width)) for width in (64, 128)]
    loads, stores = ([count[f"{name}.{w}"] / 2 for count, w in zip(counts, (64, 128), strict=True)] for name in _MOVES)
    return counted(*loads, note="as many stores" if loads == stores else f"stores: {stores}")


@claim("TN48")
def registers_of_the_versions(bench: Bench) -> Finding:
    """Most registers of a thread, of the four versions."""
    needed = {v: bench.kernel("dgemm-tan", variant=v).program.registers for v in VERSIONS}
    most = max(needed.values())
    limit = bench.machine(BOARD).limits.registers_per_thread
    note = ", ".join(f"{version} {count}" for version, count in needed.items())
    return counted(most, note=f"{note}; of {limit}", passed=most < limit)


@claim("TN49")
def resident_blocks(bench: Bench) -> Finding:
    """Blocks of an SM in algorithm 1 and in version 4."""
    machine = bench.machine(BOARD)
    blocks = [occupancy(bench.kernel("dgemm-tan", variant=v), machine).blocks for v in ("alg1", "v4")]
    return analytic(*blocks)


@claim("TN50")
def barriers(bench: Bench) -> Finding:
    """Barriers of a round: algorithms 1 and 2 and version 1 as the paper has them, and algorithm 3."""
    kinds = [{"variant": v, "barriers": "literal"} for v in ("alg1", "alg2")]
    kinds += [{"variant": "alg3"}, {"variant": "v1", "barriers": "literal"}]
    found = [_barriers(bench.kernel("dgemm-tan", **kind)) for kind in kinds]
    note = (
        "the 2 of algorithm 3 are derived, not printed: one more than algorithm 2 has; with one, a warp may store over "
        "values that another still reads; with the second, values are right"
    )
    return counted(*found, note=note)


@claim("TN39")
def columns_of_64_bits(bench: Bench) -> Finding:
    """The k whose values threads 0 to 63 fetch."""
    return _columns(bench.kernel("dgemm-tan", **ONE_TILE, width=64), threads=64)


@claim("TN40")
def columns_of_128_bits(bench: Bench) -> Finding:
    """The k whose values threads 0 to 31 fetch."""
    return _columns(bench.kernel("dgemm-tan", **ONE_TILE, width=128), threads=32)


@claim("TN42")
def other_chips(_: Bench) -> Finding:
    """Remarks of the paper on other chips and libraries."""
    return not_reproducible("context: a chip of AMD, a processor, and two libraries whose kernels are not published")


def shared_gbs(machine: Machine) -> float:
    """Return the bytes of all banks over the cycles of a pass, on all SMs, in 10^9 per second."""
    shared, chip = machine.shared_memory, machine.chip
    width = shared.banks * shared.bank_bytes * shared.passes_per_cycle
    return width / shared.pass_cycles * chip.shader_mhz / 1000 * chip.sms


_WIDE = ("LDG.128", "LDS.128", "DFMA")
_MOVES = ("LDG", "STS")
_TABLE_3 = {"variant": "alg3", "read": "plain"}  # whose fetches the table calls loads from global memory


def _cores(machine: Machine) -> int:
    return _lanes(machine, Unit.INT) * machine.chip.sms


def _lanes(machine: Machine, unit: Unit) -> int:
    """Lanes of an SM's own pipes for a unit class, without those of its special function units."""
    (first, *_) = machine.unit[unit].pipe.split()
    return machine.pipe[first].lanes * instances(machine, first) if lanes(machine, unit) else 0


def _kilobytes(cache: object) -> int:
    """Size of a cache; 0 where there is none."""
    return int(getattr(cache, "bytes", 0)) // 1024


def _mix(kernel: Kernel) -> Counter[str]:
    """Instructions of a round of the main loop by mnemonic; `integer` as in table 3, with branch and barriers."""
    return Counter(map(_name, main_loop(kernel.program)))


def _local_words(kernel: Kernel) -> int:
    """Words of local memory that a thread moves in a round of the main loop."""
    return sum(i.row.words for i in main_loop(kernel.program) if i.row.unit is Unit.LOCAL)


def _barriers(kernel: Kernel) -> int:
    return sum(i.row.unit is Unit.BARRIER for i in main_loop(kernel.program))


def _named_by_dfmas(kernel: Kernel) -> set[int]:
    """Return the doubles, by their even registers, that the DFMAs of the main loop name."""
    dfmas = (i for i in main_loop(kernel.program) if i.row.mnemonic == "DFMA")
    return {o.index for i in dfmas for o in i.operands if isinstance(o, Register)}


def _inner(bench: Bench, blocking: int, width: int) -> float:
    """DFMAs in percent of these and the shared loads of a round of algorithm 1."""
    count = _mix(bench.kernel("dgemm-tan", variant="alg1", blocking=blocking, width=width))
    return 100 * count["DFMA"] / (count["DFMA"] + count[f"LDS.{width}"])


def _name(instruction: Instruction) -> str:
    unit = instruction.row.unit
    return "integer" if unit in INTEGER | {Unit.CONTROL, Unit.BARRIER} else instruction.row.mnemonic


def _share(bench: Bench, **parameters: object) -> float:
    """DFMAs in percent of these and the memory instructions of a round."""
    count = _mix(bench.kernel("dgemm-tan", **parameters))
    return 100 * count["DFMA"] / (count.total() - count["integer"])


def _columns(kernel: Kernel, threads: int) -> Finding:
    """The k of A that the first threads fetch of the first tile, by their addresses, one access after the other."""
    seen: list[NDArray[np.int64]] = []
    code = kernel.program.instructions

    def observe(pc: int, _: object, addresses: NDArray[np.uint32], __: object) -> None:
        if code[pc].row.mnemonic.startswith("LDG"):
            seen.append(addresses.reshape(-1)[:threads].astype(np.int64))

    walk(kernel, [0], observe, released=lambda _: None)
    column = DOUBLE * int(kernel.arguments["m"])  # type: ignore[call-overload]
    fetches = DEPTH * SIDE * DOUBLE // (kernel.threads * (SIDE * DOUBLE // threads))
    ks = [set((addresses - seen[0][0]) // column) for addresses in seen[:fetches]]
    return counted(*(k for (k,) in ks))
