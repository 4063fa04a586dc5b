"""Print a program as text, the inverse of the assembler: `assemble(show(p)) == p`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from isa.amd import text as gcn_text
from isa.instruction import Instruction
from isa.nvidia import control
from isa.operands.operand import (
    FIRST_SCALAR,
    FIRST_UNIFORM,
    PT,
    PT_INDEX,
    RZ,
    RZ_INDEX,
    Address,
    BankConstant,
    Constant,
    Convergence,
    Dependency,
    Immediate,
    Label,
    Operand,
    Predicate,
    Register,
    Special,
    Targets,
    Texture,
    register_name,
)
from isa.program import Program
from isa.reading import literals
from isa.row import ASYNCHRONOUS, Kind, Row
from isa.table import takes_uniform

NONE: Mapping[int, str] = MappingProxyType({})


def show(program: Program, notes: Mapping[int, str] = NONE) -> str:
    """Return the text of a program: its resources, then each label and each instruction on its own line.

    `notes` by pc follow their instruction as comments.
    """
    text = [f".{name} {size}" for name, size in _resources(program) if size]
    for index, instruction in enumerate(program.instructions):
        text += _labels(program, index)
        note = f"  // {notes[index]}" if index in notes else ""
        text.append(f"    {show_instruction(instruction)}{note}")
    text += _labels(program, len(program))
    return "".join(f"{line}\n" for line in text)


def show_instruction(instruction: Instruction) -> str:
    """Return the text of one instruction: control code, guard, mnemonic, operands."""
    code = "" if instruction.control is None else f"{control.show(instruction.control)} "
    guard = "" if instruction.guard == PT or instruction.row.is_gcn else f"@{_predicate(instruction.guard)} "
    row, written = instruction.row, zip(instruction.row.form, instruction.operands, strict=False)
    texts = [(letter, _uniform(o, letter, row) or _operand(o, letter, row), o) for letter, o in written]
    operands = gcn_text.show(row, texts) if row.is_gcn else ", ".join(text for _, text, _ in texts)
    return f"{code}{guard}{row.mnemonic} {operands}".rstrip()


def text_of(program: Program, pc: int) -> str:
    """Return the text of the instruction at pc: of machine code as the tools print it, else as `show_instruction`."""
    return (program.origins and program.origins[pc].text) or show_instruction(program.instructions[pc])


def named(program: Program, pc: int) -> str:
    """Return the instruction at pc for messages: of machine code its place, else line if known, pc, and text.

    The text is without control code, which has its place in the listing.
    """
    if program.origins:
        return program.place(pc)
    instruction = program.instructions[pc]
    line = f"line {instruction.line}, " if instruction.line else ""
    return f"{line}pc {pc} `{show_instruction(replace(instruction, control=None))}`"


def _resources(program: Program) -> tuple[tuple[str, int], ...]:
    return (("shared", program.shared_bytes), ("local", program.local_bytes))


def _labels(program: Program, index: int) -> list[str]:
    return [f"{name}:" for name, place in program.labels.items() if place == index]


def _uniform(operand: Operand, letter: str, row: Row) -> str:
    """Return the text of a uniform register, or an address in one; empty for another operand."""
    match operand:
        case Register(index=index) if index == RZ_INDEX and letter in row.shared:
            return "URZ"
        case Register(index=index) if index >= FIRST_SCALAR and takes_uniform(row):
            return f"UR{index - FIRST_SCALAR}"
        case Address(uniform=Register(index=index)) if row.unit in ASYNCHRONOUS and operand.base == RZ:
            return f"[UR{index - FIRST_SCALAR}{f'+{operand.offset:#x}' if operand.offset else ''}]"
    return ""


def _operand(operand: Operand, letter: str, row: Row) -> str:
    match operand:
        case Register():
            text = _register(operand)
        case Predicate():
            text = _predicate(operand)
        case Immediate():
            text = str(operand.bits) if letter in "nk" else _immediate(operand, row, 32 * row.words_of(letter))
        case Address():
            text = _address(operand)
        case Constant(name):
            text = f"c[{name}]"
        case BankConstant():
            text = _changed(f"c[{operand.bank:#x}][{operand.offset:#x}]", operand)
        case Convergence(index):
            text = f"B{index}"
        case Dependency(index):
            text = f"SB{index}"
        case Targets(names):
            text = f"[{', '.join(names)}]"
        case Texture(name):
            text = f"tex[{name}]"
        case Special(name) | Label(name):
            text = name
    return text


def _register(register: Register) -> str:
    name = "RZ" if register.index == RZ_INDEX else register_name(register.index)
    return _changed(f"{name}{'.reuse' * register.reuse}", register)


def _changed(name: str, operand: Register | BankConstant) -> str:
    """Return an operand with what changes it, as machine code has it."""
    part = f"{name}.{operand.part}" if operand.part else name
    bars = f"|{part}|" if operand.absolute else part
    return f"{'-' * operand.negated}{'~' * operand.inverted}{bars}"


def _predicate(predicate: Predicate) -> str:
    name = "PT" if predicate.index == PT_INDEX else f"P{predicate.index}"
    if predicate.index >= FIRST_UNIFORM:
        name = f"UP{predicate.index - FIRST_UNIFORM}"
    return f"!{name}" if predicate.negated else name


def _immediate(immediate: Immediate, row: Row, width: int) -> str:
    if immediate.kind != "int":
        return literals.show_real(immediate.bits, width)
    patterns = row.is_float or row.numbers is Kind.HALVES
    return hex(immediate.bits) if patterns else literals.show_integer(immediate.bits, width)


def _address(address: Address) -> str:
    if address.bank is not None:
        base = f"{_register(address.base)}+" if address.base != RZ else ""
        return f"c[{address.bank.bank:#x}][{base}{address.bank.offset:#x}]"
    if address.wide or address.uniform or address.scale > 1:
        return _sum(address)
    if address.base == RZ:
        return f"[{address.offset:#x}]"
    if address.offset == 0:
        return f"[{_register(address.base)}]"
    if address.offset >> 31:
        return f"[{_register(address.base)}-{(1 << 32) - address.offset:#x}]"
    return f"[{_register(address.base)}+{address.offset:#x}]"


def _sum(address: Address) -> str:
    """Return an address of several parts."""
    width = ".64" if address.pair else f".X{address.scale}" if address.scale > 1 else ""
    parts = [f"{_register(address.base)}{width}"] if address.base != RZ else []
    parts += [_register(address.uniform)] if address.uniform else []
    parts += [f"{address.offset:#x}"] if address.offset or not parts else []
    return f"[{'+'.join(parts)}]"
