"""Registers, instructions and tiles of the SGEMMs for Vega (VG20 to VG25, VG36 to VG38)."""

from __future__ import annotations

from collections import Counter

from gpusim.machine.occupancy import occupancy
from gpusim.reproduction.bench import Bench
from gpusim.reproduction.finding import Finder, Finding, analytic, counted, given, registrar
from gpusim.reproduction.main_loop import main_loop
from gpusim.reproduction.vega.vega_access import USUAL
from gpusim.reproduction.vega.vega_speed import CARD, VLP, at_clock
from isa.instruction import Instruction
from isa.operands.operand import Immediate
from workloads.papers.vega.vega_vlp import register_map

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)

STEPS = 2  # of 8 k in a round of VLP's loop
STEP = 8  # k of a round of the usual SGEMM's loop
BUS_BITS = 4096  # of the MI60's HBM2, which moves two bits a cycle and line


@claim("VG20")
def vector_registers(_: Bench) -> Finding:
    """The registers that the generator names: both buffers of B, sums, pointers, thread number, and all of them."""
    blocks = register_map().blocks
    each = [len(blocks[name]) for name in ("b", "sums", "pointers", "thread")]
    return counted(*each, sum(len(block) for block in blocks.values()))


@claim("VG21")
def waves(bench: Bench) -> Finding:
    """Waves of a SIMD and workgroups of a compute unit, by the occupancy rules."""
    machine = bench.machine(CARD)
    found = occupancy(bench.kernel(VLP), machine)
    return analytic(found.warps / machine.schedulers.count, found.blocks)


@claim("VG22")
def scalar_registers(bench: Bench) -> Finding:
    """The scalar registers that the loads of A write."""
    loads = [i for i in main_loop(bench.kernel(VLP).program) if i.row.mnemonic == "S_LOAD_DWORDX8"]
    return counted(len({index for load in loads for index in load.writes()}))


@claim("VG23")
def loads_of_a(bench: Bench) -> Finding:
    """Words of A per 8 k and wave, loads of a group, groups."""
    loop = main_loop(bench.kernel(VLP).program)
    loads = [i.row.words for i in loop if i.row.mnemonic == "S_LOAD_DWORDX8"]
    groups = sum(_waits(i, counter=1) for i in loop)
    note = "512 words and 8 loads are derived, not printed: a group reads 64 words, a load 8, and there are 8 groups"
    return counted(sum(loads) / STEPS, len(loads) / groups, groups / STEPS, note=note)


@claim("VG24")
def loads_of_b(bench: Bench) -> Finding:
    """Loads of four words of B per 8 k, and registers of both buffers."""
    counts = Counter(i.row.mnemonic for i in main_loop(bench.kernel(VLP).program))
    return counted(counts["GLOBAL_LOAD_DWORDX4"] / STEPS, len(register_map().blocks["b"]))


@claim("VG25")
def waits(bench: Bench) -> Finding:
    """Accesses to the LDS, barriers, and waits for scalar loads per 8 k."""
    loop = main_loop(bench.kernel(VLP).program)
    lds = sum(i.row.mnemonic.startswith("DS_") for i in loop)
    barriers = sum(i.row.mnemonic == "S_BARRIER" for i in loop)
    waits = sum(_waits(i, counter=1) for i in loop) / STEPS
    note = "8 waits are derived, not printed: one for each of the 8 groups"
    return counted(lds / STEPS, barriers / STEPS, waits, note=note)


@claim("VG36")
def usual_tile(bench: Bench) -> Finding:
    """Words that a workgroup of the usual SGEMM reads from the LDS per k, of A and as many of B."""
    kernel = bench.kernel(USUAL)
    words = sum(i.row.words for i in main_loop(kernel.program) if i.row.mnemonic.startswith("DS_READ"))
    return counted(words * kernel.threads / STEP / 2, note="two matrices")


@claim("VG37")
def tiles(bench: Bench) -> Finding:
    """Rows and columns of C over workgroups along both, for 64, 128 and 256 threads."""
    kernels = [bench.kernel(VLP, m=512, n=512, threads=threads) for threads in (64, 128, 256)]
    return counted(*(side for k in kernels for side in (512 / k.grid[1], 512 / k.grid[0])))


@claim("VG38")
def memory_clock(bench: Bench) -> Finding:
    """The memory clock of the runs of the TFLOPS table, as it is set for them."""
    mbs = bench.machine(CARD, at_clock(1700)).chip.dram_mbs
    return given(mbs * 8 / 2 / BUS_BITS, note=f"{mbs / 1000:.0f} GB/s at two bits a cycle and line, of 4096 lines")


def _waits(instruction: Instruction, counter: int) -> bool:
    """Tell whether an instruction waits until that counter, vmcnt or lgkmcnt, is 0."""
    count = instruction.operands[counter] if instruction.row.mnemonic == "S_WAITCNT" else None
    return isinstance(count, Immediate) and count.bits == 0
