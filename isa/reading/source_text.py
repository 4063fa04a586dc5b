"""The text of source files that machine code or a listing was made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from isa.errors import UserError
from isa.reading import input_file
from isa.reading.origin import base_name
from isa.support import frozen

MOST = 1 << 22  # bytes of a source file
FIX = "put it next to the file that was loaded, or give --source-root DIR"
MOST_PARTS = 64  # of a path, counted from its end
NO_TEXTS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Sources:
    """The lines of source files, by the name that the code has for them; `missing` are those that were not found."""

    lines: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    missing: tuple[str, ...] = ()

    __getstate__ = frozen.state
    __setstate__ = frozen.restore

    def text(self, file: str, line: int) -> str:
        """Return a line's text without blanks at its ends; empty if the file has no such line, or was not found."""
        lines = self.lines.get(file, ())
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""

    @property
    def note(self) -> str:
        """What is missing, and the fix; empty if nothing is."""
        few = ", ".join(map(base_name, self.missing[:3]))
        more = f" and {len(self.missing) - 3} more" if len(self.missing) > 3 else ""
        return f"source not found: {few}{more}; {FIX}" if few else ""


def find(
    files: Iterable[str], loaded: str = "", given: Mapping[str, str] = NO_TEXTS, roots: Sequence[Path] = ()
) -> Sources:
    """Return the text of files that lie in or below the folder of the file `loaded`, or one of the folders `roots`.

    A file of another place is looked for there by the end of its path. The names come from machine code, which may name
    any file of this computer, so none outside is read, links included. Texts that are `given` by base name are in no
    file. Files that can't be read, or have more than MOST bytes, are missing.
    """
    folders = (*((Path(loaded).parent,) if loaded else ()), *roots)
    names = dict.fromkeys(name for name in files if name)
    held = {name: _split(given[base_name(name)]) for name in names if base_name(name) in given}
    found = {name: text for name in names if (text := held.get(name) or _lines(name, folders)) is not None}
    return Sources(MappingProxyType(found), tuple(name for name in names if name not in found))


def _lines(name: str, folders: Sequence[Path]) -> tuple[str, ...] | None:
    for folder, path in _paths(name, folders):
        try:
            # a device or a pipe might have no end
            if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                return _split(input_file.read(path, "", MOST).decode("utf-8-sig", "replace"))
        except (OSError, UserError, ValueError):  # too long for a path, unreadable or too large, a zero byte in it
            continue
    return None


def _split(text: str) -> tuple[str, ...]:
    """Return the lines as compilers count them: a form feed, at which Python splits too, ends none."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return tuple(line.expandtabs(4) for line in (lines if lines[-1] else lines[:-1]))


def _paths(name: str, folders: Sequence[Path]) -> Iterator[tuple[Path, Path]]:
    """Yield folders, each with paths in it that end as a name does: the whole of it first, its base name last."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")][-MOST_PARTS:]
    for folder in folders:
        yield folder, folder / name
        yield from ((folder, folder.joinpath(*parts[start:])) for start in range(len(parts)))
