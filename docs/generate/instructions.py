"""The page of instructions: a row for each of `isa/table.py`, with its description in `docs/listing.md`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from generate.markdown import code, page, table
from isa.row import Row
from isa.table import ROWS

LISTING = Path(__file__).parent.parent / "listing.md"
HEAD = "mnemonic", "operands", "unit class", "bits", "flops", "what it does"
ABOUT = """\
Each mnemonic of `isa/table.py`. Operands are written as in [listings](../listing.md); that page also says what the
mnemonics of a group have in common. A machine takes an instruction if its file names the unit class
([`unit`](machine-keys.md)); `bits` are those of an operand in registers, `flops` operations of a thread."""


def described() -> Mapping[str, tuple[str, str]]:
    """Return the operands and the meaning of each mnemonic that a table of `docs/listing.md` names."""
    return dict(_described(LISTING.read_text(encoding="utf-8")))


def _described(text: str) -> Iterator[tuple[str, tuple[str, str]]]:
    for line in text.split("\n## Instructions")[1:]:
        for cells in re.findall(r"^\| (`.*?) \| (.*?) ?\| .*? \| (.*) \|$", line, re.M):
            names, operands, meaning = cells
            meaning = meaning.replace("](", "](../")  # read from a folder deeper
            yield from ((name, (operands, meaning)) for name in re.findall(r"`([^`]+)`", names))


def instructions() -> str:
    """Return the page; raises KeyError for a mnemonic that `docs/listing.md` doesn't describe."""
    words = described()
    gcn = [_cells(row, words) for row in ROWS if row.is_gcn]
    others = [_cells(row, words) for row in ROWS if not row.is_gcn]
    return page("Instructions", ABOUT, table(HEAD, others), "## GCN", table(HEAD, gcn))


def _cells(row: Row, words: Mapping[str, tuple[str, str]]) -> tuple[object, ...]:
    operands, meaning = words[row.mnemonic]
    return code(row.mnemonic), operands, row.unit, row.width, row.flops or "", meaning
