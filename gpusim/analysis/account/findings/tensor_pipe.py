"""The tensor pipe: how busy it was, and whether warps waited for copies, or for its own results, before they used it.

Where it is idle part of the time, waits before `DEPBAR.LE` (copies that arrive late) and before `WARPGROUP.DEPBAR` (a
group of products that is waited for before the next one begins) are told apart, and waits for phases of barriers that
copies end. Copies that come one stage earlier have the time of one stage more. What the run took for a stage, less the
wait in it, says how many more stages hide the wait.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from gpusim.analysis.account.findings import late_phases
from gpusim.analysis.account.findings.finding import Finding, lines, named
from gpusim.analysis.account.findings.late_phases import ORDINALS
from gpusim.bounds.rates import tensor_kind
from gpusim.simulation.result import Result
from gpusim.sm.unit.stall import Stall
from gpusim.support.plural import plural
from isa.operands.operand import Immediate
from isa.program import Program
from isa.row import JOINS, WAITS, Groups

PIPE = "tensor"
MOSTLY = 0.5  # part of a reason's waits from which on these findings are told in its place
ONE_MORE = "copy one stage further ahead"
UNDER_WAY = "wait for the group before the last one (wgmma.wait_group 1), or let a second warpgroup multiply meanwhile"


def tensor_pipe(result: Result) -> Iterator[Finding]:
    """Yield what late copies cost, and what waits for products do; the threshold is that of all findings."""
    if not (share := busy(result)):
        return
    for kinds, words, remedy in (
        ((Groups.COPIES, Groups.BULK), "copies arrive late", stages),
        ((Groups.MATRIX,), "each group of products is waited for", lambda *_: UNDER_WAY),
    ):
        pcs = waiting(result, kinds)
        lost = late(result, pcs) / max(1, int(result.run.stalls.sum()))
        if lost:
            where = f"{named(result.kernel.program, pcs)}{lines(result.kernel.program, pcs)}"
            what = f"tensor pipe {100 * share:.0f} % busy: {words}, before {where}"
            yield Finding("tensor pipe", min(1 - share, lost), "likely", what, remedy(result, pcs), pcs)
    yield from late_phases.late_phases(result, share)


def _latency(result: Result) -> int:
    return result.machine.cache.l2_latency_128 if result.machine.cache else 0


def busy(result: Result) -> float:
    """Return the part of the time in which the tensor pipes took an instruction, 0 where the machine has none."""
    run, machine = result.run, result.machine
    pipes = machine.schedulers.count * run.sms
    return run.pipe_cycles.get(PIPE, 0) / max(1, run.cycles * pipes)


def waiting(result: Result, kinds: Sequence[Groups]) -> tuple[int, ...]:
    """Return the waits for groups of these kinds before which warps spent time, the costliest first."""
    program, stalls = result.kernel.program, result.run.stalls
    found = [pc for pc in range(len(program)) if _waits(program, pc, kinds) and stalls[pc].sum()]
    return tuple(sorted(found, key=lambda pc: -int(stalls[pc].sum())))


def late(result: Result, pcs: Sequence[int]) -> int:
    """Return the warp-cycles of some waits but the first of each warp, which no stage ahead can hide.

    Of waits that each warp makes once the earliest is the first; of others it counts as a load from the L2.
    """
    stalls, warps = result.run.stalls, result.kernel.warps * result.run.blocks
    waited = {pc: int(stalls[pc].sum()) for pc in pcs}
    if not waited:
        return 0
    first = waited[min(pcs)] if result.run.issued[min(pcs)] <= warps else warps * _latency(result)
    return max(0, sum(waited.values()) - first)


def stages(result: Result, pcs: Sequence[int]) -> str:
    """Return how many more stages of copies would hide these waits, by the times of this run."""
    run = result.run
    times = max(1, sum(int(run.issued[pc]) for pc in pcs))
    wait = late(result, pcs) / times
    each = int(run.stalls.sum()) / times  # cycles of a warp from one of its waits to the next
    more = ceil(wait / max(1.0, each - wait))
    now = staged(result.kernel.program, pcs[0])
    if more == 1 and now < len(ORDINALS):
        return f"a {ORDINALS[now]} stage would hide it: {ONE_MORE}"
    return f"{plural(more, 'more stage')} would hide it: copy further ahead, or bring larger tiles"


def staged(program: Program, pc: int) -> int:
    """Return the stages that a wait at pc leaves: those that may be under way, the one that is used, perhaps one more.

    One more if the next copies begin between the wait and the last product behind it.
    """
    rows = [one.row for one in program.instructions]
    waits = next((at for at in range(pc + 1, len(rows)) if rows[at].grouping & WAITS), len(rows))
    products = [at for at in range(pc + 1, waits) if tensor_kind(rows[at].mnemonic)]
    last = products[-1] if products else pc
    copies = any(rows[at].grouping & JOINS and rows[at].groups is Groups.COPIES for at in range(pc + 1, last))
    return _allowed(program, pc) + 1 + copies


def told(result: Result) -> frozenset[Stall]:
    """Return the reasons whose waits are mostly for groups, or for copies: these findings stand for them."""
    stalls = result.run.stalls
    if not busy(result):
        return frozenset()
    told = stalls[list(waiting(result, tuple(Groups)))].sum(axis=0)
    told[Stall.LONG_SCOREBOARD] += result.run.awaited[:, late_phases.COPIED].sum()
    return frozenset(reason for reason in Stall if told[reason] >= max(1, MOSTLY * stalls[:, reason].sum()))


def _waits(program: Program, pc: int, kinds: Sequence[Groups]) -> bool:
    row = program.instructions[pc].row
    return bool(row.grouping & WAITS) and row.groups in kinds


def _allowed(program: Program, pc: int) -> int:
    """Return how many groups may be under way behind a wait."""
    numbers = [one.bits for one in program.instructions[pc].operands if isinstance(one, Immediate)]
    return numbers[-1] if numbers else 0
