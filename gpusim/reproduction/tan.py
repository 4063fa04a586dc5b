"""The claims of Tan et al., DGEMM on Fermi (SC 2011), that need no run: its model, its mixes, its thread maps."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from gpusim.analysis.bound.equations import ffma_share
from gpusim.machine.machine import Machine, bandwidth_gbs, peak_fp64_gflops, peak_gflops
from gpusim.reproduction.bench import Bench
from gpusim.reproduction.finding import Finder, Finding, analytic, counted, given, not_reproducible, registrar
from gpusim.reproduction.main_loop import main_loop
from gpusim.units.pipe import instances, lanes
from isa.execute.interpret import interpret
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.table import Unit
from workloads.gemm.tan_plan import BLOCKING, DEPTH, SIDE

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)
BOARD, OTHER, WHOLE = "c2050", "c1060", "gtx580"  # the measured board; the GT200 of table 1; a Fermi with all its SMs
DOUBLE = 8  # bytes
REGISTERS = 2  # of a double
BLOCKS = 2  # of an SM
INTEGER = frozenset({Unit.INT, Unit.LOGIC, Unit.COMPARE})
ONE_TILE = {"variant": "alg1", "m": SIDE, "n": SIDE, "k": DEPTH}


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
    return counted(2 * count["DFMA"] / count["LDG.64"])


@claim("TN04")
def columns_for_the_memory(bench: Bench) -> Finding:
    """Peak times word size over bandwidth; the paper rounds the result down to 28."""
    machine = bench.machine(BOARD)
    return analytic(peak_fp64_gflops(machine) * DOUBLE / bandwidth_gbs(machine))


@claim("TN05")
def shared_bandwidth(bench: Bench) -> Finding:
    """All banks of all SMs, a word in each pass."""
    return analytic(_shared_gbs(bench.machine(BOARD)))


@claim("TN06")
def blocking_for_shared_memory(bench: Bench) -> Finding:
    """Peak times word size over the bandwidth of shared memory."""
    machine = bench.machine(BOARD)
    note = "an equality, where the paper asks for less than"
    return analytic(peak_fp64_gflops(machine) * DOUBLE / _shared_gbs(machine), note=note)


@claim("TN07")
def registers_by_blocking(bench: Bench) -> Finding:
    """Sums and both lines of a thread's factors, as registers."""
    four, five = (REGISTERS * (size**2 + 2 * size) for size in (BLOCKING, BLOCKING + 1))
    limit = bench.machine(BOARD).limits.registers_per_thread
    return analytic(four, five, note=f"of {limit}, so that {BLOCKING} is the largest")


@claim("TN08")
def depth(bench: Bench) -> Finding:
    """Shared memory over what a step of k takes in the tiles of two blocks; and the kernel's choice."""
    most = bench.machine(BOARD).limits.shared_bytes / (BLOCKS * 2 * SIDE * DOUBLE)
    return analytic(most, DEPTH)


@claim("TN09")
def threads(bench: Bench) -> Finding:
    """Registers of an SM over those of a thread in each of two blocks; and the kernel's choice."""
    held = REGISTERS * (BLOCKING**2 + 2 * BLOCKING)
    most = bench.machine(BOARD).limits.registers / (BLOCKS * held)
    return analytic(most, bench.kernel("dgemm-tan").threads)


@claim("TN11")
def elements(bench: Bench) -> Finding:
    """Loads of a round of algorithm 1, half of them for either operand."""
    return counted(_mix(bench.kernel("dgemm-tan", variant="alg1"))["LDG.64"] / 2)


@claim("TN15")
def table_3_counts(bench: Bench) -> Finding:
    """Instructions of a round of algorithm 3; ten integer ones, a branch and two barriers are its 13."""
    count = _mix(bench.kernel("dgemm-tan", variant="alg3"))
    return counted(*(count[name] for name in (*_WIDE, "integer", "STS.128")), count.total())


@claim("TN16")
def table_3_shares(bench: Bench) -> Finding:
    """The same over all 341, with the stores that the table leaves out."""
    count = _mix(bench.kernel("dgemm-tan", variant="alg3"))
    shares = [100 * count[name] / count.total() for name in (*_WIDE, "integer")]
    printed = f"{shares[-1]:.2f} %, printed as 3.80; {shares[1]:.2f} is cut off"
    note = f"{count['integer']} of {count.total()} are {printed}; the stores are in the sum"
    return counted(*shares, note=note)


@claim("TN18")
def war_latencies(bench: Bench) -> Finding:
    """Cycles until the sources of a load may be overwritten."""
    machine = bench.machine(BOARD)
    return given(machine.global_memory.war, machine.shared_memory.war_128)


@claim("TN20")
def bound_of_64_bits(bench: Bench) -> Finding:
    """DFMAs among these and the memory instructions of algorithm 1."""
    return counted(_share(bench, variant="alg1", width=64))


@claim("TN21")
def bound_of_128_bits(bench: Bench) -> Finding:
    """The same with accesses of 128 bits."""
    return counted(_share(bench, variant="alg1", width=128))


@claim("TN22")
def bound_of_algorithm_3(bench: Bench) -> Finding:
    """DFMAs among all instructions of a round."""
    count = _mix(bench.kernel("dgemm-tan", variant="alg3"))
    return counted(100 * count["DFMA"] / count.total())


@claim("TN23")
def inner_loops(_: Bench) -> Finding:
    """Blocking by 4 and by 8, with accesses of two doubles and of one, in the paper's order."""
    shares = (ffma_share(size, doubles) for size, doubles in ((4, 2), (4, 1), (8, 2), (8, 1)))
    return analytic(*(100 * share for share in shares), note="the paper cuts off 66.7 and 88.9 to 66 and 88")


@claim("TN35")
def local_accesses(bench: Bench) -> Finding:
    """Words of local memory of a round in the kernel in place of CUBLAS's, and in algorithm 2."""
    kernels = bench.kernel("gemm-stencil", precision="d"), bench.kernel("dgemm-tan", variant="alg2")
    theirs, ours = (
        sum(i.row.words for i in main_loop(kernel.program) if i.row.unit is Unit.LOCAL) for kernel in kernels
    )
    needed = bench.kernel("dgemm-tan", variant="alg2", spilled=0).program.registers
    limit = bench.machine(BOARD).limits.registers_per_thread
    note = f"{theirs} words a round and {ours}: algorithm 2 needs {needed} registers of {limit}; sign: fewer than"
    text = " / ".join("some" if words else "none" for words in (theirs, ours))
    return counted(text, note=note, passed=theirs < ours and needed > limit)


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


_WIDE = ("LDG.128", "LDS.128", "DFMA")


def _cores(machine: Machine) -> int:
    return _lanes(machine, Unit.INT) * machine.chip.sms


def _lanes(machine: Machine, unit: Unit) -> int:
    """Lanes of an SM's own pipes for a unit class, without those of its special function units."""
    (first, *_) = machine.unit[unit].pipe.split()
    return machine.pipe[first].lanes * instances(machine, first) if lanes(machine, unit) else 0


def _kilobytes(cache: object) -> int:
    """Size of a cache; 0 where there is none."""
    return int(getattr(cache, "bytes", 0)) // 1024


def _shared_gbs(machine: Machine) -> float:
    """Bytes of all banks over the cycles of a pass, on all SMs, in 10^9 per second."""
    shared, chip = machine.shared_memory, machine.chip
    width = shared.banks * shared.bank_bytes * shared.passes_per_cycle
    return width / shared.pass_cycles * chip.shader_mhz / 1000 * chip.sms


def _mix(kernel: Kernel) -> Counter[str]:
    """Instructions of a round of the main loop by mnemonic; `integer` as in table 3, with branch and barriers."""
    return Counter(map(_name, main_loop(kernel.program)))


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

    interpret(kernel, [0], observe)
    column = DOUBLE * int(kernel.arguments["m"])  # type: ignore[call-overload]
    fetches = DEPTH * SIDE * DOUBLE // (kernel.threads * (SIDE * DOUBLE // threads))
    ks = [set((addresses - seen[0][0]) // column) for addresses in seen[:fetches]]
    return counted(*(k for (k,) in ks))
