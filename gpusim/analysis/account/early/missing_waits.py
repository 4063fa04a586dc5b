"""Work that goes on by itself, and is not waited for: copies, matrix instructions of a warpgroup, and fences for them.

Blocks are followed in program order: what is under way there ends at the wait that covers it, however fast it is on a
machine. So a missing wait is found whether it changes the values of a run or not. What instructions of one kind miss,
such as the copies of a loop that was unrolled, is one finding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from gpusim.analysis.account.early.hazard import Hazard, line_of
from gpusim.engines.walks.happens_before.conflicts import ASYNC_LOADS, Conflict, awaited_by
from gpusim.engines.walks.happens_before.product_registers import RAW, UNORDERED, WAR, WAW, ProductRegisters, Use
from gpusim.engines.walks.races import Found, search
from gpusim.support.plural import plural
from isa.errors import UserError
from isa.executing.faults import LIMIT
from isa.kernel import Kernel
from isa.operands.operand import register_name
from isa.row import Bulk, Unit
from isa.text.printer import named

UNFENCED = "FENCE"
FENCE = "put fence.proxy.async (FENCE.VIEW.ASYNC) behind the writes, before the barrier"
ARRIVE = "put wgmma.fence (WARPGROUP.ARRIVE) before it"


def has_work(kernel: Kernel) -> bool:
    """Tell whether a kernel has work that goes on by itself."""
    return any(i.row.copies or i.row.bulk or i.row.unit is Unit.WARPGROUP for i in kernel.program.instructions)


def missing_waits(kernel: Kernel, blocks: Iterable[int]) -> tuple[list[Hazard], UserError | None]:
    """Return the hazards of such work in some blocks, in the order in which they occurred, registers last.

    With them comes the error that ended the walk, if any: without a wait barriers may get more than they expect.
    """
    registers, found, error = ProductRegisters(kernel.program), Found(), None
    try:
        search(kernel, blocks, LIMIT, found, more=registers)
    except UserError as ended:
        error = ended
    missed = [one for one in found.values() if one.unfenced or _is_missed(kernel, one)]
    of_memory = [(one.times, _of_memory(one)) for one in missed]
    of_registers = [(times, _of_registers(kernel, use)) for use, times in registers.found.items()]
    return list(_together(kernel, [*of_memory, *of_registers])), error


def _is_missed(kernel: Kernel, one: Conflict) -> bool:
    """Tell whether the first access of a race is of work that its reader, or anybody, has not waited for."""
    first = kernel.program.instructions[one.race.first.pc].row
    reads_loaded = first.bulk in (Bulk.LOAD, Bulk.NEARBY) and one.race.first.writes and not one.race.second.writes
    return not one.waited or reads_loaded


def _of_memory(one: Conflict) -> Hazard:
    first, second = one.race.first, one.race.second
    own, its = second.place, first.place
    kind = RAW if first.writes and not second.writes else WAW if first.writes else WAR
    deed = {
        RAW: f"{own} reads it before {its} has written it",
        WAW: f"{own} writes it while {its} may still do",
        WAR: f"{own} overwrites it before {its} has read it",
    }[kind]
    mend = _wait(first.text)
    if one.unfenced:
        kind, deed, mend = UNFENCED, f"{own} may not see what {its} has written", FENCE
    place = f"shared {one.race.address:#x}"
    return Hazard(kind, place, second.pc, second.line, first.pc, first.line, one.times, deed, mend)


def _wait(text: str) -> str:
    """Return the advice to wait for what an instruction has under way."""
    awaited = awaited_by(text)
    where = ""
    if ASYNC_LOADS.search(text):
        where = ", in each warp that reads it" if "SYNCS" in awaited else ", then at a barrier if other warps read it"
    return f"wait for {awaited} between the two{where}"


def _of_registers(kernel: Kernel, use: Use) -> Hazard:
    kind, pc, other, register = use
    own = named(kernel.program, pc)
    its = named(kernel.program, other) if other >= 0 else ""
    deed = {
        RAW: f"{own} reads it before {its} has written it",
        WAW: f"{its} writes over the later result of {own}",
        WAR: f"{own} overwrites it before {its} has read it",
        UNORDERED: f"{own} is not ordered behind {its}, which writes it" if its else f"{own} is its warp's first",
    }[kind]
    lines = line_of(kernel, pc), other, line_of(kernel, other)
    mend = ARRIVE if kind == UNORDERED else _wait(its)
    return Hazard(kind, register_name(register), pc, *lines, 0, deed, mend)


def _together(kernel: Kernel, hazards: Iterable[tuple[int, Hazard]]) -> Iterator[Hazard]:
    """Yield the first of the hazards that the same advice mends, with how often all occurred."""
    alike = defaultdict[tuple[str, str], list[tuple[int, Hazard]]](list)
    for times, one in hazards:
        work = kernel.program.instructions[one.pc if one.mend in (FENCE, ARRIVE) else one.other].row.mnemonic
        alike[one.mend, work.partition(".")[0]].append((times, one))
    for group in alike.values():
        _, one = group[0]
        more = f", and {plural(len(group) - 1, 'pair')} of instructions more" if len(group) > 1 else ""
        yield replace(one, times=sum(times for times, _ in group), text=f"{one.text}{more}")
