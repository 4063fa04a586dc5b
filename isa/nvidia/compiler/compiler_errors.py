"""The errors that NVIDIA's compilers print, as lines `file:line:column: cause`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_FRONT_END = re.compile(r"(?P<file>.+?)\((?P<line>\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (?P<cause>.*)")
_PREPROCESSOR = re.compile(r"(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<cause>.*)")
_ASSEMBLER = re.compile(r"(?P<tool>ptxas) .*, line (?P<line>\d+); (?:error|fatal)\s*: (?P<cause>.*)")
_TOOL = re.compile(r"(?P<tool>\w+):? (?:fatal error|fatal|error)\s*: (?P<cause>.*)")
_CARET = re.compile(r"(?P<blank>[ \t]*)\^\s*")
_ABORTED = "Ptx assembly aborted due to errors"  # which the lines before it name
CLOSED = "the source includes this file from outside its folder, so it is not quoted"
_INDENTED = 2  # blanks that the front end prints before a line of source


def read(
    text: str, name: str, source: Callable[[str], str], is_open: Callable[[str], bool] = lambda _: True
) -> tuple[str, ...]:
    """Return a line for each error in what a compiler printed; `name` is the file's that was compiled.

    `source` gives the text of a file by the name that the compiler prints, for the columns. `is_open` tells whether
    messages may quote a file; of others they have the place alone. Of a text of no known form the last line is
    returned.
    """
    found = tuple(dict.fromkeys(_errors(text.splitlines(), name, source, is_open)))
    return found or (f"{name}: {(text.strip() or 'the compiler failed').splitlines()[-1].strip()}",)


def _errors(lines: list[str], name: str, source: Callable[[str], str], is_open: Callable[[str], bool]) -> Iterator[str]:
    for number, line in enumerate(lines):
        match = _FRONT_END.fullmatch(line) or _PREPROCESSOR.fullmatch(line)
        if match and not is_open(match["file"]):
            yield f"{match['file']}:{match['line']}: an error; {CLOSED}"
        elif match := _FRONT_END.fullmatch(line):
            yield _front_end(match, lines[number + 1 :], source)
        elif match := _PREPROCESSOR.fullmatch(line):
            yield f"{match['file']}:{match['line']}:{match['column']}: {match['cause']}"
        elif match := _ASSEMBLER.fullmatch(line):
            yield f"{name}: {match['tool']}: {match['cause']} (line {match['line']} of the PTX code)"
        elif (match := _TOOL.fullmatch(line)) and match["cause"] != _ABORTED:
            yield f"{name}: {match['tool']}: {match['cause']}"


def _front_end(match: re.Match[str], below: list[str], source: Callable[[str], str]) -> str:
    """Return an error of the front end, whose next lines go on with the cause, and show the place with a caret."""
    cause, column = [match["cause"]], 0
    for number, line in enumerate(below):
        if caret := _CARET.fullmatch(line):
            cause += (more.strip() for more in below[: number - 1])
            shown = below[number - 1] if number else ""
            column = _column(shown, len(caret["blank"]), _line(source(match["file"]), int(match["line"])))
            break
        if not line.strip() or _FRONT_END.fullmatch(line):
            break
    place = f"{match['file']}:{match['line']}" + (f":{column}" if column else "")
    return f"{place}: {' '.join(cause)}"


def _line(text: str, number: int) -> str:
    """Return a line of a text by its number from 1 on; an empty one where there is none."""
    lines = text.splitlines()
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _column(shown: str, caret: int, line: str) -> int:
    """Return the column from 1 on that a caret points to, or 0 where it can't be told.

    nvcc shows the line with macros expanded and blanks for tabs, so what counts is how much follows the caret.
    """
    shown, plain = shown.replace("\t", " "), line.replace("\t", " ")
    behind = shown[caret:]
    if behind and plain.endswith(behind):
        return len(plain) - len(behind) + 1
    at = caret - _INDENTED
    return at + 1 if at > 0 and shown[_INDENTED:caret] == plain[:at] else 0
