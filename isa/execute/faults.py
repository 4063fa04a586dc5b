"""The errors of a run, built from plain values, so that all executors of a kernel give the same messages.

Each function returns the error for the caller to raise: place (pc, line, instruction, block, warp, lane), cause, fix.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from isa import memory
from isa.errors import DeadlockError, ExecutionError, LimitError
from isa.kernel import Buffer, Kernel
from isa.table import Unit
from isa.text.printer import show_instruction


def place(kernel: Kernel, pc: int, block: int | None = None, warp: int | None = None, lane: int | None = None) -> str:
    """Return the place of an error in one phrase: kernel, line if known, pc, instruction, block, warp, lane."""
    instruction = kernel.program.instructions[pc]
    line = f"line {instruction.line}, " if instruction.line else ""
    where = {"block": block, "warp": warp, "lane": lane}
    tail = "".join(f", {what} {number}" for what, number in where.items() if number is not None)
    return f"{kernel.name}: {line}pc {pc}, `{show_instruction(instruction)}`{tail}"


def misaligned(kernel: Kernel, pc: int, block: int, warp: int, *, lane: int, address: int) -> ExecutionError:
    """Return the error for a byte address that is not a multiple of the access width."""
    nbytes = kernel.program.instructions[pc].row.alignment
    return ExecutionError(
        f"{place(kernel, pc, block, warp, lane)}: address {address:#x} is misaligned for {nbytes} bytes; "
        f"use a multiple of {nbytes}, or a narrower access"
    )


def out_of_bounds(kernel: Kernel, pc: int, block: int, warp: int, *, lane: int, address: int) -> ExecutionError:
    """Return the error for an access not wholly inside a buffer, the block's shared or the thread's local memory."""
    row = kernel.program.instructions[pc].row
    nbytes = row.nbytes
    where = f"{place(kernel, pc, block, warp, lane)}: {nbytes} bytes at {address:#x}"
    if row.unit is Unit.SHARED:
        return ExecutionError(f"{where} lie outside {_sized('shared', kernel.program.shared_bytes)}")
    if row.unit is Unit.LOCAL:
        return ExecutionError(f"{where} lie outside {_sized('local', kernel.program.local_bytes)}")
    return ExecutionError(f"{where} lie in no buffer; {_nearest(kernel.buffers, address)}")


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


def deadlock(
    kernel: Kernel, block: int, waiting: Mapping[int, Sequence[tuple[int, int]]], needed: Mapping[int, int]
) -> DeadlockError:
    """Return the error if no warp can run. `waiting`: (warp, pc) by barrier id; `needed`: warps that release it."""
    barriers = "; ".join(
        f"barrier {barrier} has {len(who)} of {needed[barrier]} warps: {_waiters(kernel, who)}"
        for barrier, who in sorted(waiting.items())
    )
    return DeadlockError(
        f"{kernel.name}: block {block} deadlocks: {barriers}; "
        "let every counted warp reach the barrier, or lower its thread count"
    )


def endless(kernel: Kernel, block: int, limit: int, pc: int) -> LimitError:
    """Return the error for a block that issued more warp instructions than `limit`; `pc` is where it stopped."""
    return LimitError(
        f"{place(kernel, pc, block)}: more than {limit} warp instructions issued; "
        "check the loop's end condition, or raise the limit, --max-instructions"
    )


def undefined_name(kernel: Kernel, pc: int, kind: str, name: str, known: Iterable[str]) -> ExecutionError:
    """Return the error for a c[name] or tex[name] that the kernel does not define; `kind` is "c" or "tex"."""
    names = ", ".join(sorted(known)) or "none"
    what = "parameter or buffer" if kind == "c" else "buffer"
    return ExecutionError(f"{place(kernel, pc)}: {kind}[{name}] is no {what}; define it, or use one of: {names}")


def _sized(memory: str, nbytes: int) -> str:
    return f"the {nbytes} bytes of {memory} memory; correct the address, or raise .{memory}"


def _nearest(buffers: Sequence[Buffer], address: int) -> str:
    if not buffers:
        return "the kernel has none: declare one"
    where = memory.bases(buffers)
    ranges = [(where[b.name], where[b.name] + b.nbytes, b.name) for b in buffers]
    start, end, name = min(ranges, key=lambda r: max(r[0] - address, address - r[1] + 1, 0))
    return f"the nearest is {name} at {start:#x} to {end:#x}: correct the address, or enlarge it"


def _waiters(kernel: Kernel, who: Sequence[tuple[int, int]]) -> str:
    by_pc: dict[int, list[int]] = {}
    for warp, pc in who:
        by_pc.setdefault(pc, []).append(warp)
    return ", ".join(f"{_names(warps)} at {_spot(kernel, pc)}" for pc, warps in sorted(by_pc.items()))


def _names(warps: Sequence[int]) -> str:
    return f"warp{'s' if len(warps) > 1 else ''} {' '.join(map(str, warps))}"


def _spot(kernel: Kernel, pc: int) -> str:
    line = kernel.program.instructions[pc].line
    return f"pc {pc} (line {line})" if line else f"pc {pc}"
