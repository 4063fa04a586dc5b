"""Changes of pairs that can't matter: the time stays the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from msgspec import structs

from fuzz.pair import kernel_of
from fuzz.trial import Ended, Trial, unlike
from gpusim.launch.codes.assign_codes import has_codes, with_codes
from gpusim.launch.feed import TRACE_DRIVEN
from gpusim.sm.memory.cache.declaration import tagged
from gpusim.sm.memory.global_memory.declaration import Memory
from gpusim.sm.memory.what_if import WhatIf
from gpusim.sm.registers.control_code.declaration import by_codes
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import PT, Address, Operand, Predicate, Register

OCTETS = {0: 16, 8: 0, 16: 8}  # by first register of eight, as many as any mapping's banks
TURNED = (2, 0, 1, 4, 3)  # by predicate, its new number; GCN's condition codes keep theirs


def renamed_registers(of: Trial) -> str | None:
    """Registers are renamed by eights, so that each keeps its bank, and pairs and fours of them stay together."""
    instructions = of.kernel.program.instructions
    moved = tuple(replace(i, operands=tuple(map(_moved, i.operands))) for i in instructions)
    if of.kernel.program.registers < 24 or not all(map(_whole, instructions, moved)):
        return None
    return _same(of, kernel=_with(of.kernel, moved))


def _whole(before: Instruction, after: Instruction) -> bool:
    """Whether each register has been renamed alike, also the further ones of pairs and fours."""
    used = [*before.reads(), *before.writes()]
    return [_number(register) for register in used] == [*after.reads(), *after.writes()]


def _number(register: int) -> int:
    return OCTETS[register // 8 * 8] + register % 8 if register < 24 else register


def _moved(operand: Operand) -> Operand:
    if isinstance(operand, Register):
        return replace(operand, index=_number(operand.index))
    return replace(operand, base=_moved(operand.base)) if isinstance(operand, Address) else operand


def renamed_predicates(of: Trial) -> str | None:
    """Predicates are renamed."""
    instructions = of.kernel.program.instructions
    moved = tuple(replace(i, guard=_turned(i.guard), operands=tuple(map(_turned, i.operands))) for i in instructions)
    return _same(of, kernel=_with(of.kernel, moved))


def _turned(operand: Operand) -> Operand:
    whole = isinstance(operand, Predicate) and operand.index < len(TURNED)
    return replace(operand, index=TURNED[operand.index]) if whole else operand


def other_contents(of: Trial) -> str | None:
    """Memory has other contents, if no branch or address depends on them."""
    if of.trace_driven.run is None or of.trace_driven.run.feed != TRACE_DRIVEN or not of.orderly:
        return None
    buffers = tuple(replace(buffer, fill=None) for buffer in of.kernel.buffers)
    return unlike(of.trace_driven, _trial(of, kernel=replace(of.kernel, buffers=buffers)).sm())


def buffers_turned(of: Trial) -> str | None:
    """Buffers, which all begin at a multiple of a page, have another order, if no cache keeps tags."""
    if tagged(of.machine) or of.machine.constant_operand:  # buffers' addresses are constants, in this order
        return None
    return _same(of, kernel=replace(of.kernel, buffers=of.kernel.buffers[::-1]))


def written_codes(of: Trial) -> str | None:
    """The codes that the machine would assign are written down."""
    if not by_codes(of.machine) or has_codes(of.kernel.program):
        return None
    return _same(of, kernel=replace(of.kernel, program=with_codes(of.kernel.program, of.machine)))


def ignored_codes(of: Trial) -> str | None:
    """Codes are left out on a machine that obeys none and has no reuse cache."""
    file = of.machine.register_file
    if by_codes(of.machine) or not has_codes(of.kernel.program) or (file and file.reuse):
        return None
    bare = tuple(replace(i, control=None) for i in of.kernel.program.instructions)
    return _same(of, kernel=_with(of.kernel, bare))


def dead_code(of: Trial) -> str | None:
    """Instructions are added after the last EXIT, if the machine has no instruction fetch."""
    instructions = of.kernel.program.instructions
    if of.machine.fetch or by_codes(of.machine) or not instructions[-1].row.is_exit or instructions[-1].guard != PT:
        return None
    longer = _trial(of, kernel=_with(of.kernel, (*instructions, *instructions[:4]))).trace_driven
    if (
        of.trace_driven.run
        and longer.run
        and (of.trace_driven.run.cycles, of.trace_driven.run.empty) == (longer.run.cycles, longer.run.empty)
    ):
        return ""
    return unlike(of.trace_driven, longer)


def neutral_sections(of: Trial) -> str | None:
    """Sections are added with the values that are true without them."""
    added = {"memory": Memory(efficiency=1000, ecc=0, ecc_cost=1), "what_if": WhatIf()}
    lacking = {name: section for name, section in added.items() if getattr(of.machine, name) is None}
    return _same(of, machine=structs.replace(of.machine, **lacking)) if lacking else None


def other_names(of: Trial) -> str | None:
    """Labels have other names."""
    labels = of.kernel.program.labels
    if not labels:
        return None
    text = of.pair.listing
    for name in sorted(labels, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", f"x_{len(name)}_{name}", text)
    return _same(of, listing=text)


def _with(kernel: Kernel, instructions: tuple[Instruction, ...]) -> Kernel:
    return replace(kernel, program=replace(kernel.program, instructions=instructions))


def _trial(of: Trial, **changed: object) -> Trial:
    if "listing" in changed:
        changed = {"kernel": kernel_of(changed["listing"])}
    return Trial(**{"pair": of.pair, "kernel": of.kernel, "machine": of.machine} | changed)


def _same(of: Trial, **changed: object) -> str | None:
    if of.trace_driven.error:
        return None
    other: Ended = _trial(of, **changed).trace_driven
    return unlike(of.trace_driven, other)


CHANGES: Mapping[str, Callable[[Trial], str | None]] = MappingProxyType(
    {
        "registers renamed": renamed_registers,
        "predicates renamed": renamed_predicates,
        "other contents": other_contents,
        "buffers turned": buffers_turned,
        "codes written down": written_codes,
        "codes ignored": ignored_codes,
        "dead code": dead_code,
        "neutral sections": neutral_sections,
        "labels renamed": other_names,
    }
)
