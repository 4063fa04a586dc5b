"""What the documents say with a number, or of a kernel, machine or experiment, and that is no claim here, with why."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from pathlib import Path

from gpusim.reproduction.claims import SEEDS
from isa.errors import UserError
from isa.reading import input_file

FILE = Path(__file__).with_name("unclaimed.csv")


@dataclass(frozen=True, slots=True)
class Unclaimed:
    """Something that a document says, in other words; `place` is where, `because` why it is no claim."""

    seed: str
    place: str
    what: str
    because: str


def read(path: Path = FILE) -> tuple[Unclaimed, ...]:
    """Return all of them in the order of the file.

    Raises UserError with `file:line` for other columns, a cell that is missing, too many or empty, an unknown document,
    and the same twice.
    """
    reader = csv.reader(input_file.text(path, "restore it").splitlines())
    names = [field.name for field in fields(Unclaimed)]
    if next(reader, []) != names:
        raise UserError(f"{path}:1: the first line must be {','.join(names)}")
    found: dict[Unclaimed, None] = {}
    for cells in reader:
        place = f"{path}:{reader.line_num}"
        if len(cells) != len(names) or not all(cell.strip() for cell in cells):
            raise UserError(
                f"{place}: {len(cells)} cells, or an empty one; write {', '.join(names)}, with commas in quotes"
            )
        one = Unclaimed(*cells)
        if one.seed not in SEEDS:
            raise UserError(f"{place}: there is no document {one.seed}; choose one of {', '.join(SEEDS)}")
        if one in found:
            raise UserError(f"{place}: the same row stands above; remove one")
        found[one] = None
    return tuple(found)
