"""Rows of machine code: one base mnemonic, and the modifiers that it takes with what each changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from isa.row import Kind, Row, Unit

Change = int | Mapping[str, Any]  # bits of the code that `result` and `truth` receive, or other fields of the row
NOTHING: Mapping[str, Any] = MappingProxyType({})
REAL: Mapping[str, str] = MappingProxyType({"abc": "-|"})  # signs of IEEE numbers


@dataclass(frozen=True, slots=True)
class Family:
    """Rows that begin with `base`; letters and functions are those of isa.row.

    A text may leave out the operands of `optional`: predicates are then PT, or !PT for letters in `falsely`, and
    registers RZ. `modifiers` that change nothing here have the code 0. Without its optional operands and its `silent`
    modifiers a row is the listing's of that name, if there is one: the machine treats the two alike.

    Operands have nothing before, around and behind them but what the family says, by their letters: `signs` are of `-`,
    `|` and `~`; `halves` are letters of sources that take a half, such as H0_H0, `singles` of those that take F32
    (isa.operands.operand_change); `parts` are others, such as B1, which change the row like modifiers do. `shared` are
    letters of operands that are uniform registers or uniform predicates alone; what is written is uniform only there.
    """

    base: str
    form: str
    unit: Unit
    result: Callable[..., Any] | None = None
    truth: Callable[..., Any] | None = None
    optional: str = ""
    falsely: str = ""
    modifiers: Mapping[str, Change] = field(default_factory=lambda: NOTHING)
    silent: frozenset[str] = frozenset()
    fields: Mapping[str, Any] = field(default_factory=lambda: NOTHING)  # other fields of every row
    alone: bool = False  # its rows are no listing's
    signs: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    halves: str = ""
    singles: str = ""
    parts: Mapping[str, Mapping[str, Change]] = field(default_factory=lambda: NOTHING)
    shared: str = ""

    def row(self, mnemonic: str, parts: Sequence[str] = ()) -> Row | None:
        """Return the row of a mnemonic with its modifiers and of parts of operands; None if none of this family.

        The row's name has the parts behind the modifiers.
        """
        names = mnemonic.removeprefix(self.base).split(".")[1:]
        changes = [self.modifiers.get(name, 0 if name in self.silent else None) for name in names]
        changes += [self.part(name) for name in parts]
        if None in changes or len(set(names)) < len(names):
            return None
        code = 0
        name = ".".join((mnemonic, *parts))
        plain = Row(name, self.form, self.unit, result=self.result, truth=self.truth, shared=self.shared, **self.fields)
        if self.signs is REAL and plain.numbers is Kind.INTEGER:
            plain = replace(plain, kind=Kind.REAL)
        for change in changes:
            if isinstance(change, int):
                code |= change
            elif change is not None:
                plain = replace(plain, **change)
        return replace(plain, code=plain.code | code)

    def part(self, name: str, letter: str = "") -> Change | None:
        """Return what a part of an operand changes; None for one that no operand, or not that of the letter, has."""
        found = (some.get(name) for letters, some in self.parts.items() if letter in letters)
        return next((one for one in found if one is not None), None)

    def signs_of(self, letter: str) -> str:
        """Return which of `-`, `|` and `~` may stand before and around an operand."""
        return "".join(some for letters, some in self.signs.items() if letter in letters)

    def functions(self, names: Sequence[str]) -> Iterator[tuple[str, Callable[..., Any]]]:
        """Yield the functions that its rows may have in the fields of these names, with the name."""
        every = (self.modifiers, *self.parts.values())
        changes = (change for some in every for change in some.values() if change and not isinstance(change, int))
        own = ((name, getattr(self, name, None)) for name in names)
        changed = ((name, fields[name]) for fields in (self.fields, *changes) for name in names if name in fields)
        return ((name, one) for name, one in (*own, *changed) if one is not None)

    def short(self, mnemonic: str) -> str:
        """Return the listing's name of a row without optional operands, if it may be one."""
        if self.alone:
            return ""
        names = mnemonic.removeprefix(self.base).split(".")[1:]
        return ".".join((self.base, *(name for name in names if name not in self.silent)))


def of_warp(family: Family) -> Family:
    """Return the family of the same instruction on what all lanes share, which is no operation of a thread."""
    changes = {name: change if isinstance(change, int) else dict(change) for name, change in family.modifiers.items()}
    fields = {name: one for name, one in family.fields.items() if name != "flops"}
    base, shared = f"U{family.base}", family.form
    return replace(family, base=base, unit=Unit.UNIFORM, modifiers=changes, fields=fields, shared=shared)


def of_base(families: Mapping[str, Family], mnemonic: str) -> Family | None:
    """Return the family with the longest base that a mnemonic begins with."""
    base = mnemonic
    while base not in families:
        base, _, last = base.rpartition(".")
        if not last or not base:
            return None
    return families[base]
