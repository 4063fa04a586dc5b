"""Streams of edited loops: 220 or 217 instructions whose registers, reuse flags and control codes were chosen by hand.

The measured loops use destinations and sources that the compiler had in use; here they are 12 destinations from R16 on,
and the 32 registers after them as sources, by residue. Loads go to RZ, as nothing reads them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from isa.instruction import Instruction
from isa.operands.operand import PT, RZ, Register
from isa.row import Unit
from isa.table import TABLE
from workloads.builder import Value, instruction
from workloads.measured.codes import plain
from workloads.measured.loop import BRANCH, COUNT, Stream, load, test

Step = Callable[[int], Instruction]
OPS = {
    "FFMA": "FFMA", "FADD": "FADD", "FMUL": "FMUL", "IMAD": "IMAD", "LOP3": "LOP3", "IADD3": "IADD3", "SHF": "SHF.L",
    "PRMT": "PRMT", "HFMA2": "HFMA2", "HFMA2.MMA": "HFMA2.MMA", "HADD2": "HADD2", "DFMA": "DFMA", "DADD": "DADD",
    "DMUL": "DMUL", "IDP4A": "IDP.4A", "FMNMX": "FMNMX", "MUFU": "MUFU.EX2", "POPC": "POPC",
    "LDS32": "LDS", "LDS64": "LDS.64", "LDS128": "LDS.128",
}  # fmt: skip
BANK_SLOTS, MIX_SLOTS = 220, 217
DESTINATIONS, SOURCES = tuple(range(16, 28)), tuple(range(28, 60))
TRUTH_TABLE = 0x96
CONSTANT = 1.25
OP = "|".join(sorted(map(re.escape, OPS), key=len, reverse=True))


def edited(kind: str, rest: str, iterations: int) -> Stream | None:
    """Return the stream of an edited loop by the two parts of its name, None if unknown."""
    for pattern, build in FORMS.get(kind, ()):
        match = re.fullmatch(pattern, rest)
        if match:
            return build(iterations, *match.groups())
    return None


def pool(letter: str, *, wide: bool = False) -> tuple[int, ...]:
    """Return the sources of a bank: E and O by number modulo 2, a digit modulo 4; pairs begin at even numbers."""
    modulus, residue = (2, "EO".index(letter)) if letter in "EO" else (4, int(letter))
    return tuple(r for r in SOURCES if r % modulus == residue and not (wide and r % 2))


def copy(
    op: str, i: int, sources: Sequence[Value], kept: str = "", *, among: Sequence[int] = DESTINATIONS
) -> Instruction:
    """Return copy i of an operation on as many sources as it takes; `kept` are the slots with a reuse flag."""
    row = TABLE[OPS[op]]
    if row.unit is Unit.SHARED:
        return plain(load(row.mnemonic, RZ), write_barrier=5)
    targets = [r for r in among if r % row.words == 0]
    taken = list(sources[: sum(letter in "abc" for letter in row.form)])
    rest: list[Value] = [PT if letter == "Q" else TRUTH_TABLE for letter in row.form if letter in "Qn"]
    made = instruction(row.mnemonic, Register(targets[i % len(targets)]), *taken, *rest)
    return plain(made, kept, write_barrier=4 if row.unit in (Unit.SFU, Unit.BITS) else None)


def banked(op: str, pattern: str) -> Step:
    """Return copies whose sources are in the banks of the pattern, cycling through each bank."""
    wide = TABLE[OPS[op]].width == 64
    pools, distance = [pool(letter, wide=wide) for letter in pattern], 1 if pattern.isdigit() else 3

    def step(i: int) -> Instruction:
        return copy(op, i, [Register(p[(i + distance * s) % len(p)]) for s, p in enumerate(pools)])

    return step


def same(op: str, i: int, letter: str = "") -> Instruction:
    """Return copy i with one register in all slots, from any bank or a given one."""
    wide = TABLE[OPS[op]].width == 64
    registers = pool(letter, wide=wide) if letter else tuple(r for r in SOURCES if not (wide and r % 2))
    return copy(op, i, [Register(registers[i * (1 if letter else 5) % len(registers)])] * 3)


def _bank_loop(iterations: int, step: Step) -> Stream:
    """Return the loop of 220 copies, with the counting instruction first."""
    copies = [step(i) for i in range(BANK_SLOTS)]
    return Stream((plain(COUNT), *copies[:3], plain(test(iterations)), *copies[3:], plain(BRANCH, stall=6)))


def _mix_loop(iterations: int, step: Step, offset: int = 16) -> Stream:
    """Return the loop of 217 copies, one before the counting instructions; lanes load `offset` bytes apart."""
    copies = [step(i) for i in range(MIX_SLOTS)]
    counting = plain(COUNT, stall=6, yields=True), plain(test(iterations))
    body = (copies[0], *counting, *copies[1:], plain(BRANCH, stall=6))
    return Stream(body, tuple(offset * lane for lane in range(32)), shared_bytes=4096)


def _banks(iterations: int, op: str, pattern: str) -> Stream | None:
    return _bank_loop(iterations, banked(op, pattern)) if len(pattern) == 3 or op == "FADD" else None


def _accumulating(iterations: int, op: str, pattern: str, all_banks: str | None) -> Stream:
    """Return a loop whose third source is the destination: an even one, or any of the 12."""
    among = DESTINATIONS if all_banks else tuple(r for r in DESTINATIONS if r % 2 == 0)
    first, second = pool(pattern[0]), pool(pattern[1])

    def step(i: int) -> Instruction:
        a, b = first[i % len(first)], second[(i + 3) % len(second)]
        return copy(op, i, [Register(a), Register(b), Register(among[i % len(among)])], among=among)

    return _bank_loop(iterations, step)


def _same(iterations: int, op: str, places: str, letter: str | None) -> Stream:
    """Return a loop in which slots with the same letter hold the same register."""
    registers = pool(letter or "E", wide=TABLE[OPS[op]].width == 64)

    def step(i: int) -> Instruction:
        return copy(op, i, [Register(registers[(i + 3 * (ord(p) - ord("a"))) % len(registers)]) for p in places])

    return _bank_loop(iterations, step)


def _fixed(iterations: int, op: str, places: str, pattern: str, kept: str | None) -> Stream:
    """Return a loop in which some slots keep their register; the others cycle through the rest of the bank."""
    wide = pattern.isdigit()
    registers = pool(pattern[0], wide=wide)
    held, others = registers[: len(places)], registers[len(places) :]

    def step(i: int) -> Instruction:
        moving = (Register(others[(i + distance) % len(others)]) for distance in (0, 1 if wide else 3))
        fixed = dict(zip(places, held, strict=True))
        return copy(op, i, [Register(fixed[p]) if p in fixed else next(moving) for p in "abc"], kept or "")

    return _bank_loop(iterations, step)


def _grouped(iterations: int, op: str, group: str, pattern: str) -> Stream:
    """Return a loop whose first source changes after two or four copies, of which all but the last keep it."""
    size, registers = {"pairs": 2, "quads": 4}[group], pool(pattern[0])

    def step(i: int) -> Instruction:
        chosen = (registers[place % len(registers)] for place in (i // size, i + 3, i + 5))
        return copy(op, i, [Register(r) for r in chosen], "a" if i % size < size - 1 else "")

    return _bank_loop(iterations, step)


def _bogus(iterations: int, op: str, pattern: str) -> Stream:
    """Return a loop with a reuse flag on a source that is different each time."""
    registers = pool(pattern[0])

    def step(i: int) -> Instruction:
        return copy(op, i, [Register(registers[(i + s) % len(registers)]) for s in (0, 3, 5)], "a")

    return _bank_loop(iterations, step)


def _stalled(iterations: int, op: str, pattern: str, stall: str, stays: str) -> Stream:
    step = _coded(banked(op, pattern), int(stall), stays)
    return _bank_loop(iterations, step)


def _stalled_same(iterations: int, op: str, stall: str, stays: str) -> Stream:
    return _mix_loop(iterations, _coded(lambda i: same(op, i), int(stall), stays))


def _coded(step: Step, stall: int, stays: str) -> Step:
    return lambda i: _recoded(step(i), stall, stays == "1")


def _recoded(made: Instruction, stall: int, stays: bool) -> Instruction:
    assert made.control is not None
    return replace(made, control=replace(made.control, stall=stall, yields=not stays))


def _destined(iterations: int, op: str, pattern: str, bank: str) -> Stream:
    """Return a loop whose destinations are all in one bank."""
    among = tuple(r for r in DESTINATIONS if r % 2 == "EO".index(bank))
    pools = [pool(letter) for letter in pattern]

    def step(i: int) -> Instruction:
        return copy(op, i, [Register(p[(i + 3 * s) % len(p)]) for s, p in enumerate(pools)], among=among)

    return _bank_loop(iterations, step)


def _alternating(iterations: int, first: str, times: str, second: str, pattern: str) -> Stream:
    each = {op: banked(op, pattern) for op in (first, second)}
    period = int(times) + 1
    return _bank_loop(iterations, lambda i: each[second if i % period == int(times) else first](i))


def _crossing(iterations: int, op: str, one: str, other: str) -> Stream:
    steps = banked(op, one), banked(op, other)
    return _bank_loop(iterations, lambda i: steps[i % 2](i))


def _crossing_same(iterations: int, op: str, pattern: str, other: str, letter: str) -> Stream:
    step = banked(op, pattern)
    return _bank_loop(iterations, lambda i: same(other, i, letter) if i % 2 else step(i))


def _kept_across(iterations: int, op: str, pattern: str, flag: str, other: str, rest: str) -> Stream:
    """Return a loop with a source kept, or not, across an instruction with one or two odd registers in all slots."""
    registers, odd = pool(pattern[0]), [Register(r) for r in pool("O")]
    between = [odd[0], odd[1] if rest.startswith("b") else odd[0], odd[0]]

    def step(i: int) -> Instruction:
        if i % 2:
            return copy(other, i, between)
        others = registers[1:]
        sources = registers[0], others[i % len(others)], others[(i + 3) % len(others)]
        return copy(op, i, [Register(r) for r in sources], "a" if flag == "reuse" else "")

    return _bank_loop(iterations, step)


def _one_constant(iterations: int, pattern: str) -> Stream:
    """Return a loop whose second source is a number or a uniform register: neither is read from a bank."""
    first, third = pool(pattern[0]), pool(pattern[1])

    def step(i: int) -> Instruction:
        a, c = first[i % len(first)], third[(i + 3) % len(third)]
        return copy("FFMA", i, [Register(a), CONSTANT, Register(c)])

    return _bank_loop(iterations, step)


def _clock_reads(iterations: int, stall: str) -> Stream:
    """Return a loop of clock reads: ALU instructions without a source, like a move of a number."""
    even = [Register(r) for r in DESTINATIONS if r % 2 == 0]
    made = [plain(instruction("MOV", register, 0), stall=int(stall)) for register in even]
    return _bank_loop(iterations, lambda i: made[i % len(made)])


def _mixed(iterations: int, first: str, times: str, second: str, number: str) -> Stream:
    order = [second] * int(number) + [first] * int(times)
    offset = {"LDS32": 4, "LDS64": 8}.get(second, 16)
    return _mix_loop(iterations, lambda i: same(order[i % len(order)], i), offset)


def _alone(iterations: int, op: str) -> Stream:
    return _mixed(iterations, op, "0", op, "1")


FORMS: dict[str, tuple[tuple[str, Callable[..., Stream | None]], ...]] = {
    "bank2": ((rf"({OP}):([EO]+)", _banks),),
    "bank4": ((rf"({OP}):([0-3]+)", _banks),),
    "acc": ((rf"({OP}):([EO]{{2}}).* c=d(12)?", _accumulating),),
    "same": ((rf"({OP}):([abc]{{3}})(?: ([EO]))?", _same),),
    "const": ((rf"({OP}):([abc]+) fixed (E{{3}}|O{{3}}|0{{3}}|2{{3}}) (?:noreuse)()", _fixed),),
    "reuse": (
        (rf"({OP}):([abc]+) fixed (E{{3}}|O{{3}}|0{{3}}|2{{3}}) reuse ([abc]+)", _fixed),
        (rf"({OP}):a (pairs|quads) ([EO])\2*.*", _grouped),
        (rf"({OP}):bogus reuse a, a changes ([EO]+)", _bogus),
    ),
    "stall": (
        (rf"({OP}):([EO]{{3}}) stall(\d|1[0-5]) yieldbit([01])", _stalled),
        (r"FFMAaaa stall(\d|1[0-5]) yieldbit([01])", lambda n, stall, stays: _stalled_same(n, "FFMA", stall, stays)),
    ),
    "dest": ((rf"({OP}):([EO]{{3}}) d([EO])", _destined),),
    "alt": ((rf"({OP})x(\d{{1,4}}):({OP}) ([EO]{{3}})", _alternating),),
    "cross": (
        (rf"({OP}) ([EO]+)/([EO]+)", _crossing),
        (rf"({OP}) ([EO]+) / ({OP}) aaa ([EO])", _crossing_same),
    ),
    "reusekeep": ((rf"({OP}) ([EO]{{3}}) a (reuse|noreuse), ({OP}) (.*) between", _kept_across),),
    "imm": ((r"FFMA R,imm,R ([EO]{2})", _one_constant),),
    "ur": ((r"FFMA R,UR\d+,R ([EO]{2})", _one_constant),),
    "cs2r": ((r"CLOCKLO64 stall(\d|1[0-5])", _clock_reads),),
    "one": ((rf"({OP})", _alone),),
    "mix": ((rf"({OP})x(\d{{1,4}}):({OP})x(\d{{1,4}}).*", _mixed),),
}  # fmt: skip
