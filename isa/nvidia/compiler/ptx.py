"""PTX is compiled to a cubin with ptxas: for the architecture that is asked for, if its own `.target` is no later one.

Cubins are kept by what they are made of. Lines of source are those of the CUDA C that the PTX names; else its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from isa.nvidia.compiler import tools
from isa.nvidia.compiler.compile import ARCHITECTURE, CompileError, names_target
from isa.nvidia.compiler.kept import kept
from isa.nvidia.compiler.ptx_lines import with_lines

ENDING = ".ptx"
_ASSEMBLER = "ptxas"
_BEGINNING = re.compile(rb"\A(?:\xef\xbb\xbf)?(?>\s+|//[^\n]*+|/\*.*?\*/)*+\.version\s+\d+\.\d+", re.S)
_TARGET = re.compile(r"^[^\S\n]*\.target\s+sm_(\d{1,4})([af]?)\b", re.M)
_AT_LINE = re.compile(r"ptxas .*?, line (?P<line>\d+); (?:error|fatal)\s*: (?P<cause>.*)")
_ANYWHERE = re.compile(r"ptxas (?:fatal|error)\s*: (?P<cause>.*)")
_ABORTED = "Ptx assembly aborted due to errors"  # which the lines before it name
_FOR_PTXAS = re.compile(r"(-Xptxas|--ptxas-options)(?:=(.*))?", re.S)
_OWN = {"-G": "-g", "--device-debug": "-g", "-lineinfo": "", "--generate-line-info": ""}  # nvcc's, as ptxas has them


def is_ptx(text: bytes | str) -> bool:
    """Tell whether a text is PTX: behind comments, it begins with its version."""
    return _BEGINNING.match(text.encode(errors="replace") if isinstance(text, str) else text) is not None


def compile_ptx(text: bytes, architecture: int | None, options: Sequence[str], name: str, file: str = "") -> bytes:
    """Return the cubin of a text of PTX, as a file or an executable has it, for an architecture (90 for sm_90).

    If none is asked for, it is 90, or the PTX's own where that is later. `options` are those of nvcc for ptxas, or
    ptxas's own. `name` is for messages; lines of source, if the text names none, are those of the `file` that has it.
    Raises CompileError with a line for each error, and for an architecture earlier than the PTX's own.
    """
    plain = text.partition(b"\0")[0].decode(errors="replace")
    flags = tuple(_flags(options))
    target = () if names_target(flags) else (f"-arch={_target(plain, architecture, name)}",)
    source = with_lines(plain, str(Path(file).absolute())) if file else plain
    if tools.installed(_ASSEMBLER) is None:
        raise CompileError(f"{name}: PTX needs {_ASSEMBLER}; run pip install 'gpusim[{tools.EXTRA}]'")
    given = *target, "-lineinfo", *flags
    return kept([_ASSEMBLER, tools.version(_ASSEMBLER), source, *given], lambda: _compiled(source, given, name))


def own_architecture(text: str) -> int:
    """Return the architecture that a text of PTX is for, at least: 52 for sm_52; 0 if it doesn't say."""
    match = _TARGET.search(text)
    return int(match[1]) if match else 0


def _target(text: str, architecture: int | None, name: str) -> str:
    """Return what to compile for, as `sm_90`: with the letter of the PTX's own target, where that is the same."""
    match, own = _TARGET.search(text), own_architecture(text)
    number = architecture or max(own, ARCHITECTURE)
    letter = match[2] if match else ""
    if own > number or (letter == "a" and own != number):
        runs = "that one alone" if letter == "a" else "it and later ones"
        raise CompileError(f"{name}: its .target is sm_{own}{letter}, for {runs}, not sm_{number}; choose --arch {own}")
    return f"sm_{number}{letter if own == number else ''}"


def _flags(options: Sequence[str]) -> Iterator[str]:
    """Yield the options that ptxas gets: of nvcc's, what it hands on."""
    left = iter(options)
    for option in left:
        if match := _FOR_PTXAS.fullmatch(option):
            yield from filter(None, (next(left, "") if match[2] is None else match[2]).split(","))
        elif word := _OWN.get(option, option):
            yield word


def _compiled(source: str, flags: Sequence[str], name: str) -> bytes:
    with TemporaryDirectory() as folder:
        path, made = Path(folder) / f"source{ENDING}", Path(folder) / "code.cubin"
        path.write_text(source, encoding="utf-8")
        done = tools.outcome(_ASSEMBLER, [*flags, "-o", made, path], about=name)
        if done.returncode or not made.is_file():
            first, *further = _errors((done.stderr + done.stdout).replace(str(path), name), name)
            raise CompileError(first, further)
        return made.read_bytes()


def _errors(printed: str, name: str) -> list[str]:
    """Return a line for each error that ptxas printed, in the order of the text."""
    at_lines, others = list[tuple[int, str]](), list[str]()
    for line in printed.splitlines():
        if match := _AT_LINE.fullmatch(line):
            at_lines.append((int(match["line"]), match["cause"]))
        elif (match := _ANYWHERE.fullmatch(line)) and match["cause"] != _ABORTED:
            others.append(f"{name}: {_ASSEMBLER}: {match['cause']}")
    found = [f"{name}:{number}: {cause}" for number, cause in sorted(dict.fromkeys(at_lines))] + others
    return found or [f"{name}: {_ASSEMBLER}: {(printed.strip() or 'it failed').splitlines()[-1].strip()}"]
