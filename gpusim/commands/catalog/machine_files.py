"""`gpusim machines new` and `gpusim machines measure`: machine files from a data sheet, or from a card itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from msgspec import Struct

from gpusim.commands.frame.arguments import pairs
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import new_table, right
from gpusim.machine.file import Fact
from gpusim.machine.machine import File, names, read
from gpusim.machine.trust.measured import PROGRAM, card_of, of_card
from gpusim.machine.trust.sheet import of_sheet
from gpusim.machine.trust.writing import write
from gpusim.support import whole_file
from gpusim.support.document import Document, MachineKey, Setting, doc
from gpusim.support.plural import plural
from isa.errors import UserError
from isa.reading import input_file

MEASURE = "measure.cu"  # where nothing else is said


class Number(Struct, frozen=True):
    """A number of a new machine, and what the machine has that it is like; null where that has none."""

    value: Setting
    parent: Setting | None


class MachineFileDocument(Document, frozen=True):
    """A machine file that was written."""

    machine: Annotated[MachineKey | None, doc("The new machine; null where only the program was written.")]
    file: Annotated[str, doc("The file that was written.")]
    like: Annotated[str | None, doc("The machine that it extends.")]
    stated: Annotated[dict[str, Number], doc("The numbers that the file states.")]
    parents: Annotated[list[str], doc("The paths of all others, which are still the parent's.")]


def new(name: str, like: str, sheet: str, out: Path | None) -> Answer:
    """Write a machine file with the numbers of a data sheet, words such as sms=128 with spaces between."""
    parent = read(like)
    words = pairs("--sheet", "word=number", sheet.replace(",", " ").split())
    if not words:
        raise UserError('--sheet: is empty; write what the data sheet says, such as "sms=128 clock=2520 l2=72"')
    strings, facts = of_sheet(name, words, parent)
    return _written(out or Path(f"{name}.toml"), strings, facts, parent, like)


def measure(output: Path | None, like: str, out: Path | None) -> Answer:
    """Write the program that measures a card, or the machine file of what it printed; no file is replaced."""
    if output is None:
        path = out or Path(MEASURE)
        if path.exists():
            raise UserError(f"{path}: exists, and may have been edited; name another with --out")
        whole_file.write(path, PROGRAM.read_text(encoding="utf-8"))
        steps = (
            f"nvcc -O3 -arch=native {path} -o measure && ./measure > card.csv\n"
            "gpusim machines measure --read card.csv --like NAME --out card.toml"
        )
        return Answer(MachineFileDocument(None, str(path), None, {}, []), [f"{path} is written. On the card:\n{steps}"])
    parent = read(like)
    card = card_of(input_file.text(output, "give the output of measure.cu"), str(output))
    return _written(out or Path("card.toml"), *of_card(card, parent), parent, like)


def _written(path: Path, strings: Mapping[str, str], facts: Mapping[str, Fact], parent: File, like: str) -> Answer:
    """Write the file, and say what it states and what is still the parent's, which was named `like`."""
    base = like if like in names() else Path(os.path.relpath(like, path.parent)).as_posix()
    machine = write(path, {**strings, "extends": base}, facts)
    both = {
        key: Number(fact.value, parent.facts[key].value if key in parent.facts else None) for key, fact in facts.items()
    }
    rest = [key for key in parent.facts if key not in facts]
    table = new_table("number", *right(machine.key, parent.key, "differs"), tight=True)
    for key, one in both.items():
        table.add_row(key, str(one.value), "-" if one.parent is None else str(one.parent), _difference(one))
    document = MachineFileDocument(machine.key, str(path), parent.key, both, rest)
    total = len(rest) + len(facts)
    note = f"{path}: {plural(len(facts), 'number')} of {total} stated; {len(rest)} are still those of {parent.key}: "
    return Answer(document, [table, f"{note}{', '.join(_sections(rest))}."])


def _difference(one: Number) -> str:
    """Return how much a number differs from the parent's; empty if it is equal, or one of the two is no number."""
    if one.value == one.parent or not (isinstance(one.value, int) and isinstance(one.parent, int) and one.parent):
        return ""
    return f"{100 * (one.value / one.parent - 1):+.1f} %"


def _sections(paths: list[str]) -> list[str]:
    """Return the sections of some numbers, with how many they are."""
    names = [path.partition(".")[0] for path in paths]
    return [f"{name} {names.count(name)}" for name in dict.fromkeys(names)]
