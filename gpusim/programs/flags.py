"""Options of nvcc for a whole program: which of their words are files to compile or link, and what those hold."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

SOURCES = ".cu", ".cpp", ".cc", ".cxx", ".c"
LINKED = ".o", ".a", ".so"
# Options whose value may be a word of its own and end as a file's name does, without being an input.
_TAKES = re.compile(
    r"-include|--pre-include|-D|--define-macro|-U|--undefine-macro|-I|--include-path|-isystem|--system-include"
    r"|-X(compiler|linker|archive|ptxas|nvlink)|--(compiler|linker|archive|ptxas|nvlink)-options"
    r"|-L|--library-path|-l|--library|-o|--output-file|-ccbin|--compiler-bindir|-MF|-MT|-MQ"
)
_OBJECT = re.compile(r".*\.(o|a|so(\.\d+)*)")


def parted(flags: Sequence[str]) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """Return the options, and apart from them the words that are sources, objects and libraries, in their order."""
    before = ("", *flags)
    inputs = [_is_input(word, last) for last, word in zip(before, flags, strict=False)]
    options = tuple(word for word, is_input in zip(flags, inputs, strict=True) if not is_input)
    return options, tuple(Path(word) for word, is_input in zip(flags, inputs, strict=True) if is_input)


def _is_input(word: str, last: str) -> bool:
    return not word.startswith("-") and word.endswith((*SOURCES, *LINKED)) and not _TAKES.fullmatch(last)


def libraries(flags: Sequence[str]) -> Iterator[str | bytes]:
    """Yield name and bytes of each object and library that options name, or find in folders that they name.

    Those of the system are not among them.
    """
    for path in dict.fromkeys(_libraries(flags)):
        with suppress(OSError):  # a missing one is the linker's to tell
            content = path.read_bytes()
            yield from (str(path), content)


def _libraries(flags: Sequence[str]) -> Iterator[Path]:
    for word in flags:
        yield from (Path(part) for part in re.split("[,=]", word) if _OBJECT.fullmatch(part))
    folders = [*_values(flags, "-L", "--library-path"), *os.environ.get("LIBRARY_PATH", "").split(os.pathsep)]
    for name in _values(flags, "-l", "--library"):
        files = [name[1:]] if name.startswith(":") else [f"lib{name}.so", f"lib{name}.a"]
        yield from (Path(folder) / file for folder in filter(None, folders) for file in files)


def _values(flags: Sequence[str], short: str, long: str) -> Iterator[str]:
    """Yield the values of an option, of which one word may have several."""
    for word, after in zip(flags, (*flags[1:], ""), strict=True):
        if word in (short, long):
            yield from after.split(",")
        elif word.startswith(f"{long}="):
            yield from word.removeprefix(f"{long}=").split(",")
        elif word.startswith(short):
            yield from word.removeprefix(short).split(",")
