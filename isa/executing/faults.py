"""The errors of a run, built from plain values, so that all executors of a kernel give the same messages.

Each function returns the error for the caller to raise: place (pc, line, instruction, block, warp, lane), cause, fix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from isa import memory
from isa.architecture import nvidia
from isa.errors import DeadlockError, ExecutionError, LimitError
from isa.executing.places import BASES, unit_at
from isa.kernel import Kernel
from isa.program import CODE_BYTES, WORD_BYTES, Program
from isa.row import Unit
from isa.text.printer import show_instruction
from isa.values.texture.texture import DIMENSIONS

LIMIT = 100_000_000  # warp instructions of a block: some sixty times a 4800-deep matrix product
END = 1 << 32  # of the places of addresses; what is beyond is an address of 64 bits

_NAMED = re.compile(r"`\((\w+)\)")  # the function of a call, as the tools print it
ASSERTION = "__assertfail"  # the function of the system that assert calls
NULL_BYTES = 1 << 16  # at 0, where no allocation is: an index from a null pointer


def place(kernel: Kernel, pc: int, block: int | None = None, warp: int | None = None, lane: int | None = None) -> str:
    """Return the place of an error in one phrase: kernel, instruction with its line if known, block, warp, lane.

    A lane of -1 is none.
    """
    where = {"block": block, "warp": warp, "lane": lane}
    tail = "".join(f", {what} {number}" for what, number in where.items() if number not in (None, -1))
    return f"{kernel.name}: {_instruction(kernel.program, pc)}{tail}"


def _instruction(program: Program, pc: int) -> str:
    """Return an instruction in words: of machine code its place, else its line if known, pc and text."""
    instruction = program.instructions[pc]
    line = f"line {instruction.line}, " if instruction.line else ""
    return program.place(pc) if program.origins else f"{line}pc {pc}, `{show_instruction(instruction)}`"


def misaligned(
    kernel: Kernel, pc: int, block: int, warp: int, *, lane: int, address: int, nbytes: int = 0
) -> ExecutionError:
    """Return the error for a byte address that is not a multiple of the access width, or of so many bytes."""
    row = kernel.program.instructions[pc].row
    address -= BASES[unit_at(address)] if row.generic and address < END else 0
    wanted, others = (nbytes, "") if nbytes else (row.alignment, ", or a narrower access")
    return ExecutionError(
        f"{place(kernel, pc, block, warp, lane)}: address {address:#x} is misaligned for {wanted} bytes; "
        f"use a multiple of {wanted}{others}"
    )


def out_of_bounds(kernel: Kernel, pc: int, block: int, warp: int, *, lane: int, address: int) -> ExecutionError:
    """Return the error for an access not wholly inside a buffer, the block's shared or the thread's local memory."""
    row = kernel.program.instructions[pc].row
    nbytes, unit = row.accessed_bytes, row.unit
    if row.generic and kernel.program.leaves_global and address < END:
        unit = unit_at(address)
        address -= BASES[unit]
    where = f"{place(kernel, pc, block, warp, lane)}: {nbytes} bytes at {address:#x}"
    if unit in (Unit.SHARED, Unit.WARPGROUP):
        return ExecutionError(f"{where} lie outside {sized(kernel, 'shared', kernel.program.shared_bytes)}")
    if unit is Unit.LOCAL:
        return ExecutionError(f"{where} lie outside {sized(kernel, 'local', kernel.program.local_bytes)}")
    return ExecutionError(f"{where} lie in no buffer; {nearest(kernel, address)}")


def no_texture(kernel: Kernel, pc: int, block: int, warp: int, *, lane: int, address: int) -> ExecutionError:
    """Return the error for a fetch by a handle, given as an address, that no texture object of the launch has."""
    known = (
        f"1 to {len(kernel.textures)} are" if kernel.textures else "the launch gives none; give one, and its handle is"
    )
    cause = f"{place(kernel, pc, block, warp, lane)}: {address:#x} is no handle of a texture object"
    return ExecutionError(f"{cause}; {known}")


def wrong_texture(kernel: Kernel, pc: int, block: int, warp: int, *, lane: int, address: int) -> ExecutionError:
    """Return the error for a fetch of other dimensions than its texture's, whose handle is given as an address."""
    asked, texture = kernel.program.instructions[pc].row.code & DIMENSIONS, kernel.textures[address - 1]
    has = " x ".join(map(str, texture.size[: texture.axes]))
    cause = f"{place(kernel, pc, block, warp, lane)}: a fetch in {asked}D from texture {address}, of {has} texels"
    return ExecutionError(f"{cause}; give a texture of {asked} dimension{'s' * (asked > 1)}")


def crowded(kernel: Kernel, pc: int, block: int, warp: int) -> ExecutionError:
    """Return the error for a warp with more results in flight than can be kept."""
    return ExecutionError(
        f"{place(kernel, pc, block, warp)}: too many results of its warp are under way; let it wait for earlier ones"
    )


def barrier_count(kernel: Kernel, pc: int, block: int, warp: int, *, expected: int, given: int) -> ExecutionError:
    """Return the error for a warp that waits at a barrier for another number of warps than those already there."""
    return ExecutionError(
        f"{place(kernel, pc, block, warp)}: waits for {given} warps at a barrier where others wait for {expected}; "
        "give both the same thread count, or different barriers"
    )


def barrier_kinds(kernel: Kernel, pc: int, block: int, warp: int) -> ExecutionError:
    """Return the error for a BAR that finds something else than those that wait there: an H200 refuses it."""
    return ExecutionError(
        f"{place(kernel, pc, block, warp)}: others have come to this barrier by a BAR of another kind; "
        "let all of them be BAR.SYNC and BAR.ARV, or one BAR.RED; or give them different barriers"
    )


def several_barriers(kernel: Kernel, pc: int, block: int, warp: int) -> ExecutionError:
    """Return the error for lanes whose register names several barriers: an H200 refuses it."""
    return ExecutionError(
        f"{place(kernel, pc, block, warp)}: the register has several numbers of barriers in lanes that come together; "
        "give them one number, or a branch each"
    )


def deadlock(
    kernel: Kernel, block: int, waiting: Mapping[int, Sequence[tuple[int, int]]], needed: Mapping[int, int]
) -> DeadlockError:
    """Return the error if no warp can run. `waiting`: (warp, pc) by barrier id; `needed`: warps that release it."""
    barriers = "; ".join(
        f"barrier {barrier} has {len(who)} of {needed[barrier]} warps: {waiters(kernel, who)}"
        for barrier, who in sorted(waiting.items())
    )
    return DeadlockError(
        f"{kernel.name}: block {block} deadlocks: {barriers}; "
        "let every counted warp reach the barrier, or lower its thread count"
    )


class Missing(NamedTuple):
    """Warps of a block that have not arrived at the barrier of their cluster, with the pcs at which they wait."""

    block: int
    warps: Sequence[tuple[int, int]]


def cluster_deadlock(kernel: Kernel, cluster: int, found: Sequence[tuple[int, Missing | None]]) -> DeadlockError:
    """Return the error of a cluster whose barrier is never complete: how many wait, by block, and who is missing."""
    told = "; ".join(f"of block {one.block}: {waiters(kernel, one.warps)}" for _, one in found if one)
    waiting = sum(count for count, _ in found)
    return DeadlockError(
        f"{kernel.name}: cluster {cluster} deadlocks: {waiting} warps wait at its barrier, which misses {told}; "
        "let every warp of the cluster arrive, or exit"
    )


def part_of_warp(kernel: Kernel, pc: int, block: int, warp: int) -> ExecutionError:
    """Return the error for lanes of a warp that come to the barrier of their cluster without the others."""
    return ExecutionError(
        f"{place(kernel, pc, block, warp)}: some lanes of the warp come to the barrier of their cluster alone, which "
        "is not simulated; let whole warps arrive and wait"
    )


def arrived_twice(kernel: Kernel, pc: int, block: int, warp: int) -> ExecutionError:
    """Return the error for a warp that arrives at the barrier of its cluster twice in one phase."""
    return ExecutionError(
        f"{place(kernel, pc, block, warp)}: the warp arrives at the barrier of its cluster again before it has been "
        "complete; let it wait between"
    )


def endless(kernel: Kernel, block: int, limit: int, pc: int) -> LimitError:
    """Return the error for a block that issued more warp instructions than `limit`; `pc` is where it stopped."""
    return LimitError(
        f"{place(kernel, pc, block)}: more than {limit} warp instructions issued; "
        "check the loop's end condition, or raise the limit, --max-instructions"
    )


def no_code(kernel: Kernel, pc: int, block: int, warp: int, *, lane: int, address: int) -> ExecutionError:
    """Return the error for a branch to an address at which no instruction is, or to a function of the system."""
    if address in kernel.program.outside:
        return _stopped(kernel, pc, (block, warp, lane), kernel.program.outside[address])
    end = CODE_BYTES * len(kernel.program)
    return ExecutionError(
        f"{place(kernel, pc, block, warp, lane)}: no instruction is at code address {address:#x}; the code has "
        f"{end:#x} bytes, {CODE_BYTES} for an instruction: correct the address, or compile what it calls into this code"
    )


def trap(kernel: Kernel, pc: int, block: int, warp: int, *, lane: int) -> ExecutionError:
    """Return the error for a trap, by which a program stops itself, or for a call of the system by which it does."""
    return _stopped(kernel, pc, (block, warp, lane), called(kernel, pc))


def called(kernel: Kernel, pc: int, address: int = 0) -> str:
    """Return the function of the system that an instruction calls, by name or by a code address; nothing if none."""
    call = _NAMED.search(kernel.program.origins[pc].text) if kernel.program.origins else None
    return kernel.program.outside.get(address, call[1] if call else "")


def _stopped(kernel: Kernel, pc: int, where: tuple[int, int, int], name: str) -> ExecutionError:
    """Return the error for a trap, or for a call of a function of the system, in a block, warp and lane."""
    why = f"{name} is called, which is not executed here" if name else _of_trap(kernel)
    why = "an assertion fails" if name == ASSERTION else why
    return ExecutionError(f"{place(kernel, pc, *where)}: {why}; look for the condition that leads here")


def _of_trap(kernel: Kernel) -> str:
    """Return why a kernel may trap: it synchronises the grid of a launch that is not cooperative."""
    place = kernel.target and nvidia(kernel.target.architecture).meeting
    texts = (one.text for one in kernel.program.origins)
    from isa.nvidia.lowering.system import meets  # noqa: PLC0415  (start-up time)

    if place and not kernel.cooperative and meets(texts, place):
        ask = "cooperative = true in the launch file, cooperative=True in Python"
        return f"the kernel traps, as where it synchronises the grid of a launch that is not cooperative ({ask})"
    return "the kernel traps"


def left_out(kernel: Kernel, pc: int, block: int, warp: int, *, lane: int) -> ExecutionError:
    """Return the error for a lane that comes to a WARPSYNC whose mask lacks it: the chip ends such a launch."""
    return ExecutionError(
        f"{place(kernel, pc, block, warp, lane)}: the mask lacks the lane that executes it, an illegal instruction; "
        "give each lane a mask that has it, such as that of __activemask()"
    )


def gone_within(kernel: Kernel, pc: int, block: int, warp: int, *, lane: int) -> ExecutionError:
    """Return the error for lanes that exit between WARPSYNC.COLLECTIVE and ENDCOLLECTIVE: the chip ends the launch."""
    return ExecutionError(
        f"{place(kernel, pc, block, warp, lane)}: exits within a collective, an illegal instruction; "
        "let lanes exit behind ENDCOLLECTIVE"
    )


def stuck(kernel: Kernel, pc: int, block: int, warp: int, waiting: Sequence[tuple[int, int]]) -> DeadlockError:
    """Return the error for a warp whose lanes all wait for each other; `waiting`: pc and mask of each group."""
    groups = ", ".join(f"{lanes:#010x} before {_target(kernel.program, at)}" for at, lanes in waiting)
    return DeadlockError(
        f"{place(kernel, pc, block, warp)}: all its lanes wait for each other: {groups}; "
        "let each lane of a WARPSYNC's mask, or of a collective's, come to it or exit"
    )


def _target(program: Program, pc: int) -> str:
    """Return where lanes wait: in machine code function, offset and line, else the pc."""
    if pc >= len(program.origins):
        return f"pc {pc}"
    one = program.origins[pc]
    return f"{one.at} ({one.source})" if one.line else one.at


def undefined_name(kernel: Kernel, pc: int, kind: str, name: str, known: Iterable[str]) -> ExecutionError:
    """Return the error for a c[name] or tex[name] that the kernel does not define; `kind` is "c" or "tex"."""
    names = ", ".join(sorted(known)) or "none"
    what = "parameter or buffer" if kind == "c" else "buffer"
    return ExecutionError(f"{place(kernel, pc)}: {kind}[{name}] is no {what}; define it, or use one of: {names}")


def outside_bank(kernel: Kernel, pc: int, bank: int, offset: int, size: int) -> ExecutionError:
    """Return the error for a constant that lies beyond the end of its bank."""
    return ExecutionError(
        f"{place(kernel, pc)}: c[{bank:#x}][{offset:#x}] lies outside the bank's {size} bytes; "
        "the launch's parameters do not suit the code"
    )


MORE = {"shared": "give the launch more dynamic shared memory", "local": "give the launch more stack"}  # machine code


def sized(kernel: Kernel, memory: str, nbytes: int) -> str:
    """Return a memory with its size, and what to do about accesses beyond it."""
    fix = MORE[memory] if kernel.target else f"raise .{memory}"
    return f"the {nbytes} bytes of {memory} memory; correct the address, or {fix}"


def nearest(kernel: Kernel, address: int) -> str:
    """Return the buffer that is nearest to an address, both as the program has them; banks of constants are none."""
    if not kernel.buffers:
        return "the kernel has none: declare one"
    if kernel.window and address < NULL_BYTES:
        return "it seems to be of a null pointer: give an array or a buffer for it"
    where = {name: kernel.window + base for name, base in memory.bases(kernel.buffers).items()}
    ranges = [(where[b.name], where[b.name] + b.nbytes, b.name) for b in kernel.buffers if not b.name.startswith("c[")]
    if not ranges:
        return "the launch has none: correct the address"
    start, end, name = min(ranges, key=lambda r: max(r[0] - address, address - r[1] + 1, 0))
    return f"the nearest is {name} at {start:#x} to {end:#x}: correct the address, or enlarge it"


def variable(kernel: Kernel, word: int) -> str:
    """Return the element of a buffer that a 32-bit word of global memory is, or its place there, with its address."""
    where, address = memory.bases(kernel.buffers), WORD_BYTES * word
    told = f"{kernel.window + address:#x}"
    for one in kernel.buffers:
        offset, size = address - where[one.name], one.nbytes // max(1, one.elements)
        if 0 <= offset < one.nbytes:
            return f"{one.name}[{offset // size}] ({told})" if size >= WORD_BYTES else f"{one.name} + {offset} ({told})"
    return told


def waiters(kernel: Kernel, who: Sequence[tuple[int, int]]) -> str:
    """Return warps that wait, given as (warp, pc), and where."""
    by_pc: dict[int, list[int]] = {}
    for warp, pc in who:
        by_pc.setdefault(pc, []).append(warp)
    return ", ".join(f"{warps(some)} at {spot(kernel, pc)}" for pc, some in sorted(by_pc.items()))


def warps(numbers: Sequence[int]) -> str:
    """Return warps by their numbers."""
    return f"warp{'s' if len(numbers) > 1 else ''} {' '.join(map(str, numbers))}"


def spot(kernel: Kernel, pc: int) -> str:
    """Return the place of an instruction: of machine code function, offset and line."""
    program = kernel.program
    line = program.instructions[pc].line
    words = f"pc {pc} (line {line})" if line else f"pc {pc}"
    return program.place(pc) if program.origins else words
