"""The claims of Tan et al. about their static scheduler: its example, its search, and the lifetimes of registers."""

from __future__ import annotations

from collections.abc import Sequence

from gpusim.analysis.search.latencies import latencies
from gpusim.engines.walks.disjoint import disjoint
from gpusim.reproduction.bench import Bench, Run
from gpusim.reproduction.finding import Finder, Finding, analytic, counted, registrar
from isa.dataflow.flow import writes
from isa.dataflow.liveness import live
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import Register
from isa.program import Program
from isa.row import Unit
from isa.schedule.reorder import places, regions
from isa.schedule.schedule import stalls
from workloads.builder import at, instruction
from workloads.papers.tan.tan_program import TABLE_3

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)

UNCACHED = 1000  # cycles of a load from global memory in the paper's example, the upper of its 332 to 1000
BOARD = "c2050"
SIZE = {"m": 1792, "n": 1792, "k": 1792}
UPDATE = 16  # DFMAs of a rank-1 update


@claim("TN19")
def stall_of_the_example(bench: Bench) -> Finding:
    """A store to shared memory of a value loaded from global memory four independent instructions earlier."""
    table = latencies(bench.machine(BOARD, {"global_memory.latency": UNCACHED}))
    load, store = (instruction(*text) for text in (("LDG.128", Register(4), at(Register(1))), _STORE))
    between = [instruction("IADD", Register(r), Register(r), 1) for r in range(8, 12)]
    return analytic(stalls([load, *between, store], table)[-1], note="1000 - (4 x 6 + 6), as the result needs it")


_STORE = ("STS.128", at(Register(2)), Register(4))


@claim("TN36")
def instructions_between_barriers(bench: Bench) -> Finding:
    """Half a tile of version 2: DFMAs and loads from shared memory up to the barrier."""
    kernel = bench.kernel("dgemm-tan", variant="v2")
    code, first = kernel.program.instructions, kernel.program.labels["loop"]
    end = next(pc for pc in range(first, len(code)) if code[pc].row.unit is Unit.BARRIER)
    kinds = [code[pc].row.mnemonic for pc in range(first, end)]
    dfmas, loads = kinds.count("DFMA"), kinds.count("LDS.128")
    note = "128 and 32 are derived, not printed: half of what table 3 has of each"
    return counted(dfmas, loads, dfmas + loads, note=note)


@claim("TN37")
def points_of_the_search(bench: Bench) -> Finding:
    """The most places among the DFMAs to which a shared load may move, and those of each of a fetch's four accesses."""
    plain, ours = (bench.kernel("dgemm-tan", variant=variant) for variant in ("v2", "v4"))
    dfmas, loads, _ = _half(plain)
    of_loads = {_points(plain, dfmas, pc) for pc in loads[4:]}
    dfmas, loads, fetch = _half(ours)
    (of_fetch,) = {_points(ours, sorted([*dfmas, *loads]), pc) for pc in fetch}
    note = "places other than its own; of version 4, whose fetch has registers of its own"
    return counted(max(of_loads), of_fetch, note=note)


@claim("TN38")
def lifetimes(bench: Bench) -> Finding:
    """After how many DFMAs of a rank-1 update, in the order of figure 9, its first two of A and of B are dead."""
    kernel = bench.kernel("dgemm-tan", variant="v3")
    code, behind = kernel.program.instructions, live(kernel.program)
    dfmas = _half(kernel)[0][UPDATE : 2 * UPDATE]
    _, a, b, _ = code[dfmas[0]].operands
    held = [next(writes(i) for i in code if i.row.mnemonic == "LDS.128" and i.operands[0] == r) for r in (a, b)]
    return counted(*(next(n for n, pc in enumerate(dfmas, 1) if not behind[pc] & names) for names in held))


@claim("TN56")
def order_of_shared_loads(bench: Bench) -> Finding:
    """Stalls of one warp in half a tile: in figure 9's order, in the one that a search finds, and unordered.

    The search moves each load alone, and the four of a rank-1 update together.
    """
    kinds: tuple[dict[str, object], ...] = (
        {"variant": "v3"},
        {"variant": "v3", "order": "searched"},
        {"variant": "v2"},
    )
    ours, found, plain = (sum(stalls(_computing(bench.kernel("dgemm-tan", **kind)), TABLE_3)) for kind in kinds)
    runs = bench.runs(*(Run("dgemm-tan", BOARD, {**SIZE, **kind}, values=False) for kind in kinds))
    rates = ", ".join(f"{run.percent_of_peak:.1f}" for run in runs)
    note = (
        f"{found} by a search over the places of each load, and of four together, {plain} unordered; simulated {rates} "
        "% of peak. The paper calls the figure an example"
    )
    return analytic(f"{ours} cycles", note=note, passed=ours <= found < plain)


def _computing(kernel: Kernel) -> list[Instruction]:
    """Return the DFMAs and shared loads of half a tile, in their order."""
    dfmas, loads, _ = _half(kernel)
    return [kernel.program.instructions[pc] for pc in sorted([*dfmas, *loads])]


def _half(kernel: Kernel) -> tuple[list[int], list[int], list[int]]:
    """Return the pcs of half a tile's DFMAs, loads from shared memory, and fetches and stores of the next half."""
    code = kernel.program.instructions
    loop = range(kernel.program.labels["loop"], len(code))
    dfmas = [pc for pc in loop if code[pc].row.mnemonic == "DFMA"][: 8 * UPDATE]
    here = range(loop.start, dfmas[-1])
    loads = [pc for pc in here if code[pc].row.mnemonic == "LDS.128"]
    return dfmas, loads, [pc for pc in here if code[pc].row.mnemonic in ("TEX.128", "STS.128")]


def _points(kernel: Kernel, others: Sequence[int], pc: int) -> int:
    """Return the number of other places among these instructions to which one may move."""
    pcs, met = sorted([*others, pc]), disjoint(kernel, [0])
    pairs = {(i, j) for j in range(len(pcs)) for i in range(j) if (pcs[i], pcs[j]) in met}
    (region,) = regions(Program(tuple(kernel.program.instructions[pc] for pc in pcs)), pairs)
    return len(places(region, range(len(pcs)), pcs.index(pc))) - 1
