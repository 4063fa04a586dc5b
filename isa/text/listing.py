"""A listing: a program in text with its launch, its memory and its expected results, so that a file runs by itself.

    .kernel saxpy                          name; the file's own if left out
    .grid 2                                blocks: x [y z]; 1 if left out
    .block 64                              threads of a block: x [y z]; those of a warp if left out
    .warp 64                               lanes of a warp: 32 or 64; 32 if left out
    .shared 1024                           bytes of a block; .local: of a thread
    .param n = 100                         c[n]: 32 bits, an integer or (with a point or exponent) a single
    .buffer x f32 128 = hash 1             c[x] is its base address; f16 f32 f64 i32 u32; zero if there is no generator
    .map t = x 8x16 box 8x8 swizzle 32B    c[t] is the address of a tensor map of x
    .expect y = 2 * x + y within 1e-6      every element at the end, from initial contents; exact without `within`
    .flops 256                             of the whole launch

Generators: `zero`, `iota` (element i is i), `constant V`, `hash SEED [LOW HIGH]` and `values V V V`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from types import MappingProxyType

import numpy as np

from isa import memory
from isa.code_region import marked
from isa.errors import UserError
from isa.kernel import WARP_SIZE, WARP_SIZES, Buffer, Dim3, Expectation, Kernel
from isa.operands.operand import Constant, Texture
from isa.program import Program
from isa.reading import input_file, literals
from isa.reading.faults import raise_all, tried
from isa.reading.foreign import looks_like
from isa.reading.source import AssemblyError, Token, equation, new_name, suggest, whole, words
from isa.support.limits import MOST_BLOCKS, MOST_THREADS
from isa.text import assembler, buffer_text, map_text, printer
from isa.text.assembler import Directive
from isa.text.expression import Values, evaluate

MOST_FLOPS = 2**63 - 1
ONCE = (".kernel", ".grid", ".block", ".warp", ".flops")
DIRECTIVES = (*ONCE, ".shared", ".local", ".param", ".buffer", ".map", ".expect")


@dataclass(frozen=True, slots=True)
class Statement:
    """One `.expect`: the text of its expression, and the absolute error that it allows."""

    buffer: str
    expression: str
    within: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """The expected results of a listing; a call gives the expectations, as `Kernel.outcome` does."""

    statements: tuple[Statement, ...]
    expectations: tuple[Expectation, ...]

    def __call__(self) -> tuple[Expectation, ...]:
        """Return the expectations of every element of each buffer named by an `.expect`."""
        return self.expectations


def load(path: Path | str) -> Kernel:
    """Return the kernel of the listing in a file; raises UserError if unreadable, AssemblyError if not a listing."""
    return read(text_of(path), str(path))


def text_of(path: Path | str) -> str:
    """Return the text of a listing's file; raises UserError if it can't be read."""
    return input_file.text(path, "give the path of a listing", "utf-8-sig")  # with or without a byte-order mark


def read(text: str, name: str = "<text>") -> Kernel:
    """Return the kernel of a listing, by default one block of a warp; messages show `name`. Raises AssemblyError."""
    faults: list[AssemblyError] = []
    parsed = assembler.read(text, name, faults)
    unread = len(faults)  # lines that are no statements
    kernel = _kernel(parsed, text, name, faults)
    if unread and (foreign := looks_like(text, name)):
        raise AssemblyError(Token("", name, foreign.line, 1), f"no listing: looks like {foreign.words}")
    raise_all(faults)
    if not kernel.program.instructions:
        raise AssemblyError(Token("", name, 1, 1), "has no instruction; write one at least, such as EXIT")
    return kernel


def _kernel(parsed: assembler.Parsed, text: str, name: str, faults: list[AssemblyError]) -> Kernel:
    """Return the kernel of the lines without a fault; add the faults to a list."""
    given = {d: [x.argument for x in parsed.directives if x.name.text == d] for d in DIRECTIVES}
    _check_directives(parsed.directives, faults)
    parameters = _parameters(given[".param"], faults)
    buffers = _buffers(given[".buffer"], parameters, faults)
    every = buffers | _maps(given[".map"], buffers, parameters, faults)
    warp_size = tried(faults, _warp_size, given[".warp"], otherwise=WARP_SIZE)
    one, threads = (1, 1, 1), (warp_size, 1, 1)
    known = all(directive.name.text in DIRECTIVES for directive in parsed.directives)
    asked = len(given[".buffer"]) + len(given[".map"])
    complete = known and len(every) == asked  # else uses of the others would be faults, too
    kernel = Kernel(
        name=tried(faults, _name, given[".kernel"], Path(name).stem, otherwise=""),
        program=parsed.program,
        grid=tried(faults, _dimensions, given[".grid"], one, MOST_BLOCKS, otherwise=one),
        block=tried(faults, _dimensions, given[".block"], threads, MOST_THREADS, otherwise=threads),
        parameters=MappingProxyType(parameters),
        buffers=tuple(every.values()),
        outcome=_outcome(given[".expect"], buffers, faults) if complete else None,
        flops=tried(faults, _flops, given[".flops"], otherwise=0),
        warp_size=warp_size,
        marked=tried(faults, marked, text, name, otherwise=()),
    )
    if complete and len(parameters) == len(given[".param"]):
        _check_names(parsed.program, {*parameters, *every}, set(buffers), text, name, faults)
    return kernel


def _flops(given: list[Token]) -> int:
    return whole(given[0], 0, MOST_FLOPS) if given else 0


def write(kernel: Kernel, notes: Mapping[int, str] = printer.NONE) -> str:
    """Return the listing of a kernel, which `read` reads back; results expected of single blocks are left out.

    `notes` by pc follow their instruction as comments. Raises UserError if a buffer or its expected contents are
    neither generated nor short enough to be written out.
    """
    grid, block = (" ".join(map(str, size)) for size in (kernel.grid, kernel.block))
    head = [f".kernel {'_'.join(kernel.name.split())}", f".grid {grid}", f".block {block}"]
    head += [f".warp {kernel.warp_size}"] if kernel.warp_size != WARP_SIZE else []
    head += [f".param {name} = {literals.show_integer(bits)}" for name, bits in kernel.parameters.items()]
    head += [f".buffer {buffer_text.show_buffer(buffer)}" for buffer in kernel.buffers]
    head += [f".expect {_show_statement(s)}" for s in _statements(kernel)]
    head += [f".flops {kernel.flops}"] if kernel.flops else []
    return "".join(f"{line}\n" for line in [*head, ""]) + printer.show(kernel.program, notes)


def _statements(kernel: Kernel) -> tuple[Statement, ...]:
    if kernel.outcome is None:
        return ()
    if isinstance(kernel.outcome, Outcome):
        return kernel.outcome.statements
    return tuple(_spelt_out(kernel, expectation) for expectation in kernel.outcome())


def _spelt_out(kernel: Kernel, expectation: Expectation) -> Statement:
    elements = next(b.elements for b in kernel.buffers if b.name == expectation.buffer)
    complete = np.array_equal(expectation.index, np.arange(elements))
    if not complete or elements > buffer_text.LONGEST or len(np.unique(expectation.bound)) != 1:
        raise UserError(
            f"kernel {kernel.name}: what is expected of {expectation.buffer} has no text form; take a smaller problem"
        )
    values = ", ".join(repr(float(value)) for value in expectation.value)
    return Statement(expectation.buffer, f"[{values}]", float(expectation.bound[0]))


def _show_statement(statement: Statement) -> str:
    tolerance = f" within {statement.within!r}" if statement.within else ""
    return f"{statement.buffer} = {statement.expression}{tolerance}"


def _check_directives(directives: Iterable[Directive], faults: list[AssemblyError]) -> None:
    seen = set()
    for directive in directives:
        name = directive.name.text
        if name not in DIRECTIVES:
            faults.append(AssemblyError(directive.name, f"unknown directive {name}; {suggest(name, DIRECTIVES)}"))
        elif name in ONCE and name in seen:
            faults.append(AssemblyError(directive.name, f"{name} given twice; leave out one of the two"))
        seen.add(name)


def _name(given: list[Token], default: str) -> str:
    if not given:
        return default
    if len(words(given[0])) != 1:
        raise AssemblyError(given[0], f"{given[0].text!r} is no name; write .kernel and one word")
    return given[0].text


def _dimensions(given: list[Token], default: Dim3, most: int) -> Dim3:
    if not given:
        return default
    sizes = [whole(token, 1, most) for token in words(given[0])]
    if not 1 <= len(sizes) <= 3:
        raise AssemblyError(given[0], f"{len(sizes)} sizes; write x, x y or x y z")
    if prod(sizes) > most:
        raise AssemblyError(given[0], f"{' x '.join(map(str, sizes))} is more than {most}; write smaller sizes")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _warp_size(given: list[Token]) -> int:
    size = whole(given[0], 1) if given else WARP_SIZE
    if size not in WARP_SIZES:
        raise AssemblyError(given[0], f"there are no warps of {size} lanes; write .warp 32 or .warp 64")
    return size


def _parameters(given: list[Token], faults: list[AssemblyError]) -> dict[str, int]:
    parameters: dict[str, int] = {}
    for token in given:
        if found := tried(faults, _parameter, token, parameters, otherwise=None):
            parameters |= dict([found])
    return parameters


def _parameter(token: Token, others: Iterable[str]) -> tuple[str, int]:
    left, right = equation(token, ".param name = value")
    return new_name(left, others), _pattern(right)


def _pattern(token: Token) -> int:
    try:
        return literals.integer_bits(token.text) if literals.is_integer(token.text) else literals.real_bits(token.text)
    except ValueError as error:
        raise AssemblyError(token, str(error)) from None


def _buffers(given: list[Token], parameters: Iterable[str], faults: list[AssemblyError]) -> dict[str, Buffer]:
    buffers: dict[str, Buffer] = {}
    for token in given:
        if buffer := tried(faults, _buffer, token, parameters, buffers, otherwise=None):
            buffers[buffer.name] = buffer
    return buffers


def _maps(
    given: list[Token], buffers: Mapping[str, Buffer], parameters: Iterable[str], faults: list[AssemblyError]
) -> dict[str, Buffer]:
    maps: dict[str, Buffer] = {}
    for token in given:
        if found := tried(faults, map_text.buffer, token, buffers, {*parameters, *buffers, *maps}, otherwise=None):
            maps[found.name] = found
    return maps


def _buffer(token: Token, parameters: Iterable[str], others: Mapping[str, Buffer]) -> Buffer:
    buffer = buffer_text.buffer(token, {*parameters, *others})
    try:
        memory.bases((*others.values(), buffer))
    except ValueError as error:
        raise AssemblyError(token, f"{error}; take fewer elements") from None
    return buffer


def _check_names(
    program: Program, constants: set[str], textures: set[str], text: str, name: str, faults: list[AssemblyError]
) -> None:
    for instruction in program.instructions:
        for operand in instruction.operands:
            known = constants if isinstance(operand, Constant) else textures
            if isinstance(operand, Constant | Texture) and operand.name not in known:
                line = text.splitlines()[instruction.line - 1]
                token = Token(operand.name, name, instruction.line, line.find(operand.name) + 1)
                what = "c[...]: .param or .buffer" if isinstance(operand, Constant) else "tex[...]: .buffer"
                fix = suggest(operand.name, known)
                faults.append(AssemblyError(token, f"undefined name {operand.name} in {what}; {fix}"))


def _outcome(given: list[Token], buffers: dict[str, Buffer], faults: list[AssemblyError]) -> Outcome | None:
    if not given:
        return None
    contents = {name: buffer_text.contents(buffer) for name, buffer in buffers.items()}
    found = [tried(faults, _expected, token, contents, otherwise=None) for token in given]
    both = [each for each in found if each]
    return Outcome(tuple(statement for statement, _ in both), tuple(expectation for _, expectation in both))


def _expected(token: Token, contents: dict[str, Values]) -> tuple[Statement, Expectation]:
    statement = _statement(token)
    return statement, _expectation(token, statement, contents)


def _statement(token: Token) -> Statement:
    left, right = equation(token, ".expect buffer = expression")
    expression, _, tolerance = right.text.partition(" within ")
    try:
        within = float(tolerance or 0)
    except ValueError:
        within = -1.0
    if not within >= 0:
        raise AssemblyError(token, f"{tolerance!r} is no tolerance; write within and a number such as 1e-6")
    return Statement(left.text, expression.strip(), within)


def _expectation(token: Token, statement: Statement, contents: dict[str, Values]) -> Expectation:
    if statement.buffer not in contents:
        raise AssemblyError(token, f"unknown buffer {statement.buffer}; {suggest(statement.buffer, contents)}")
    elements = len(contents[statement.buffer])
    try:
        value = evaluate(statement.expression, contents)
    except ValueError as error:
        raise AssemblyError(token, str(error)) from None
    if value.ndim and len(value) != elements:
        raise AssemblyError(token, f"{len(value)} values for {elements} elements of {statement.buffer}; give as many")
    index = np.arange(elements, dtype=np.int64)
    return Expectation(
        statement.buffer, index, np.broadcast_to(value, (elements,)), np.full(elements, statement.within, np.float64)
    )
