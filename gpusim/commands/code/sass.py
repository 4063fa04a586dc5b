"""`gpusim sass`: the machine code in a file, with control codes, resources and source lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from rich.table import Column, Table
from typer import Argument

from gpusim.commands.code.code_lines import lines
from gpusim.commands.frame.arguments import flags_of
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import new_table, right
from gpusim.commands.frame.options import Architecture, CodeFile, NvccFlags
from gpusim.support.document import Document, doc
from gpusim.support.plural import plural
from isa.nvidia import control
from isa.nvidia.file import code
from isa.nvidia.file.choice import chosen, kernels
from isa.nvidia.file.code import Code
from isa.nvidia.file.cubin import Function
from isa.nvidia.file.dump import Encoded, Section
from isa.nvidia.file.names import plain
from isa.nvidia.lowering import syntax
from isa.reading.origin import Origin


@dataclass(frozen=True)
class Kernel:
    """A function that a launch may name, and its resources; these are null where the file is a text."""

    name: Annotated[str, doc("Its own name, without parameters and template arguments.")]
    mangled: Annotated[str, doc("Its name in the file.")]
    instructions: Annotated[int, doc("Instructions of its section; functions that it calls may be among them.")]
    registers: Annotated[int | None, doc("32-bit registers of a thread.")]
    shared_bytes: Annotated[int | None, doc("Bytes of shared memory of a block that the code declares.")]
    stack_bytes: Annotated[int | None, doc("Bytes of a thread's stack frame.")]
    parameters: Annotated[list[tuple[int, int]] | None, doc("Offset and bytes of each parameter.")]
    most_threads: Annotated[int | None, doc("Threads of a block at most; 0 where the code doesn't say.")]


@dataclass(frozen=True)
class Coded:
    """An instruction, its control code, and the line of source that it comes from (0: unknown)."""

    offset: Annotated[int, doc("Bytes from the beginning of its section.")]
    code: Annotated[str, doc("Barriers waited for, barriers set, yield, stall count.")]
    text: Annotated[str, doc("The instruction as NVIDIA's tools print it.")]
    file: str
    line: int
    inlined_file: Annotated[str, doc("The header whose code was inlined in that line; empty if it is none.")]
    inlined_line: int


class SassDocument(Document, frozen=True):
    """The machine code in a file."""

    file: Annotated[str, doc("The file as given.")]
    architecture: Annotated[int, doc("90 for sm_90; 0 where a text doesn't say.")]
    kernels: Annotated[list[Kernel], doc("Its kernels; of a text, all functions. One, if a kernel was named.")]
    mnemonics: Annotated[Mapping[str, int], doc("Instructions of these kernels by mnemonic, the most frequent first.")]
    labels: Annotated[Mapping[str, int], doc("Offsets by label, of a named kernel.")]
    instructions: Annotated[list[Coded], doc("The code of a named kernel.")]


def sass(
    file: CodeFile,
    kernel: Annotated[str | None, Argument(help="A kernel, mangled or plain; prints its code.")] = None,
    *,
    architecture: Architecture = None,
    nvcc_flags: NvccFlags = "",
) -> Answer:
    """List the kernels in a file of machine code, or print one with its control codes and source lines.

    Texts are those of cuobjdump -sass and nvdisasm -hex -c; other files need the extra gpusim[cubin]. CUDA C needs
    gpusim[cuda]: nvcc compiles it where g++ is installed, else NVRTC; -lineinfo is always among the options.

    Example: gpusim sass examples/saxpy.sass saxpy
    """
    found = code.read(file, architecture, flags_of(nvcc_flags))
    names = kernels(found) if kernel is None else (chosen(found, kernel, file),)
    document = _document(found, names, file, whole=kernel is not None)
    if kernel is None:
        return Answer(document, [_headline(found, file), _table(document.kernels)])
    return Answer(document, "".join(_lines(found.sections[names[0]])))


def _headline(found: Code, file: str) -> str:
    count = sum(len(section.instructions) for section in found.sections.values())
    where = f"sm_{found.architecture}, " if found.architecture else ""
    return f"{file}: {where}{plural(len(kernels(found)), 'kernel')}, {plural(count, 'instruction')}"


def _table(found: Sequence[Kernel]) -> Table:
    """Return a row for each kernel, with its resources where the file has them."""
    mangled = Column("mangled", overflow="fold")
    if not any(one.parameters is not None for one in found):
        rows = [(one.name, one.instructions, one.mangled) for one in found]
        return new_table("kernel", *right("instructions"), mangled, rows=rows)
    columns = right("instructions", "registers", "shared bytes", "stack bytes", "parameters", "threads")
    table = new_table("kernel", *columns, mangled)
    for one in found:
        resources = one.registers, one.shared_bytes, one.stack_bytes, len(one.parameters or ())
        table.add_row(one.name, str(one.instructions), *map(str, resources), str(one.most_threads or ""), one.mangled)
    return table


def _kernel(found: Code, name: str) -> Kernel:
    instructions = len(found.sections[name].instructions)
    if found.cubin is None:
        return Kernel(plain(name), name, instructions, None, None, None, None, None)
    function = found.cubin.functions[name]
    return Kernel(
        name=plain(name),
        mangled=name,
        instructions=instructions,
        registers=function.registers,
        shared_bytes=function.shared_bytes,
        stack_bytes=function.stack_bytes,
        parameters=_parameters(function),
        most_threads=function.launch.most_threads if function.launch else 0,
    )


def _parameters(function: Function) -> list[tuple[int, int]]:
    return [(one.offset, one.size) for one in function.launch.parameters] if function.launch else []


def _lines(section: Section) -> Iterator[str]:
    """Yield the lines of the code; of labels at one place the last in the file counts."""
    labels = {offset: (name,) for name, offset in section.labels.items()}
    found = ((_origin(one), one.control) for one in section.instructions)
    return lines(found, labels)


def _origin(one: Encoded) -> Origin:
    return Origin("", one.offset, one.text, one.source.file, one.source.line, one.source.inlined)


def _document(found: Code, names: tuple[str, ...], file: str, *, whole: bool) -> SassDocument:
    code_of = [one for name in names for one in found.sections[name].instructions]
    section = found.sections[names[0]] if whole else Section()
    return SassDocument(
        file=file,
        architecture=found.architecture,
        kernels=[_kernel(found, name) for name in names],
        mnemonics=dict(Counter(syntax.head(one.text) for one in code_of).most_common()),
        labels=section.labels,
        instructions=[_coded(one) for one in section.instructions],
    )


def _coded(one: Encoded) -> Coded:
    return Coded(one.offset, control.show(one.control), one.text, one.source.file, one.source.line, *one.source.inlined)
