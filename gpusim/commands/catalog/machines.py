"""`gpusim machines`: the machines, and where their numbers come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Struct, convert, structs
from rich.table import Column, Table
from typer import Argument, Option

from gpusim.commands.catalog.machine_files import measure, new
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import new_table, right
from gpusim.commands.frame.options import machine, machines_from, out
from gpusim.machine import machine as model
from gpusim.machine.file import METHODS, Fact
from gpusim.machine.trust.grades import GRADES, Grade, grades
from gpusim.machine.trust.sheet import WORDS
from gpusim.support.document import Document, MachineKey, Setting, doc
from gpusim.support.plural import plural
from isa.errors import UserError

FIGURES = "sms", "warp_size", "shader_mhz", "peak_gflops", "peak_fp64_gflops", "bandwidth_gbs"
FILES = "new", "measure"  # words in place of a machine's name
LIKE = "h200"  # what a new machine extends where nothing is said
WIDEST = 10  # digits of a number; lists of pipes and units take several lines


class MachineSummary(Struct, frozen=True):
    """The headline figures of a machine."""

    machine: MachineKey
    name: Annotated[str, doc("Its maker's name for it.")]
    generation: Annotated[str, doc("Its generation.")]
    sms: Annotated[int, doc("SMs of the chip.")]
    warp_size: Annotated[int, doc("Lanes of a warp.")]
    shader_mhz: Annotated[float, doc("Shader clock in MHz.")]
    peak_gflops: Annotated[float, doc("Peak in single precision, 10^9 operations per second.")]
    peak_fp64_gflops: Annotated[float, doc("Peak in double precision, 10^9 operations per second.")]
    bandwidth_gbs: Annotated[float, doc("Bandwidth that the DRAM delivers, 10^9 bytes per second.")]
    methods: Annotated[dict[str, float], doc("Percent of its numbers that are known by each method.")]


class Stated(Struct, frozen=True, omit_defaults=True):
    """A number or word of a machine, its source, and its method; `to`: what a fitted one was fitted to.

    `plausible`: least and most of what it could be as well, or the other words.
    """

    value: Setting
    source: str
    method: str
    to: str = ""
    note: str = ""
    plausible: tuple[Setting, ...] = ()


class MachineDocument(MachineSummary, Document, frozen=True):
    """A machine and where its numbers come from."""

    facts: Annotated[dict[str, Stated], doc("Its numbers by path.")]
    grades: Annotated[list[Grade], doc("How they are known, by area.")] = []


class MachinesDocument(Document, frozen=True):
    """The machines that come with gpusim."""

    machines: Annotated[list[MachineSummary], doc("All of them.")]


class TwoMachinesDocument(Document, frozen=True):
    """Two machines side by side."""

    machines: Annotated[list[MachineKey], doc("The keys of the two, or the given names if the keys are equal.")]
    differing: Annotated[list[str], doc("Paths of the numbers that differ.")]
    facts: Annotated[dict[str, list[Setting | None]], doc("Numbers of both by path; null where a machine has none.")]


def machines(
    names: Annotated[
        Sequence[str],
        Argument(
            metavar="[NAME [OTHER]]", help="A machine's name, or a file ending in .toml.", autocompletion=machines_from
        ),
    ] = (),
    *,
    differing: Annotated[bool, Option("--differing", help="Of two, show only the numbers that differ.")] = False,
    like: Annotated[str | None, machine(f" that a new one extends. [default: {LIKE}]", option="--like")] = None,
    sheet: Annotated[str, Option("--sheet", metavar="WORDS", help=f"Of new: {', '.join(WORDS)}, as in sms=128.")] = "",
    output: Annotated[Path | None, Option("--read", help="Of measure: what the program printed on the card.")] = None,
    out: Annotated[Path | None, out("The file of new or measure.")] = None,
) -> Answer:
    """List the machines, or every number of one with its method, source and grades, or two side by side.

    `new NAME` makes a machine file of a data sheet. `measure` writes a CUDA program that measures the card it runs on,
    and with --read a machine file of its output.

    Example: gpusim machines gtx580 c2050

    Example: gpusim machines new "RTX 4090" --like rtx3090 --sheet "sms=128 clock=2520 bandwidth=1008" -o rtx4090.toml
    """
    if names and names[0] in FILES:
        if differing:
            raise UserError(f"--differing: compares two machines, and {names[0]} makes one; leave it out")
        return _file(names, like, sheet, output, out)
    _check_options(like=like, sheet=sheet, read=output, out=out)
    if differing and len(names) != 2:
        raise UserError("--differing: is for two machines; give two names")
    if len(names) > 2:
        raise UserError(f"machines: {len(names)} names; give one, or two to compare")
    return _two(names[0], names[1], differing) if len(names) == 2 else _one(names[0]) if names else _all()


def _file(names: Sequence[str], like: str | None, sheet: str, output: Path | None, out: Path | None) -> Answer:
    """Make a machine file, or the program that measures a card."""
    if names[0] == "measure":
        _check_options(sheet=sheet)
        if len(names) > 1:
            raise UserError(f"machines measure {names[1]}: takes no name; the card says its own")
        if like and output is None:
            raise UserError(f"--like {like}: is for --read, which makes the machine; leave it out")
        return measure(output, like or LIKE, out)
    _check_options(read=output)
    if len(names) != 2:
        raise UserError("machines new: give a name, such as machines new rtx4090 --like rtx3090 --sheet sms=128")
    return new(names[1], like or LIKE, sheet, out)


def _check_options(**given: object) -> None:
    """Raise UserError for an option that is of no use here."""
    for name, value in given.items():
        if value:
            raise UserError(f"--{name}: is for `machines new` or `machines measure`; leave it out")


def summary(name: str) -> MachineSummary:
    """Return the headline figures of a machine."""
    loaded, methods = model.load(name), Counter(fact.method for fact in model.facts(name).values())
    return MachineSummary(
        machine=loaded.key,
        name=loaded.name,
        generation=loaded.generation,
        sms=loaded.chip.sms,
        warp_size=loaded.limits.warp_size,
        shader_mhz=loaded.chip.shader_mhz,
        peak_gflops=model.peak_gflops(loaded),
        peak_fp64_gflops=model.peak_fp64_gflops(loaded),
        bandwidth_gbs=model.bandwidth_gbs(loaded),
        methods={method: 100 * methods[method] / methods.total() for method in METHODS},
    )


def _all() -> Answer:
    rows = [summary(name) for name in model.names()]
    used = {method[0]: method for method in METHODS if any(row.methods[method] for row in rows)}
    methods = ", ".join(f"{initial} {method}" for initial, method in used.items())
    note = (
        "warp: its lanes. Peaks in GFLOP/s, bandwidth in GB/s. The last columns say where the numbers come from, in %: "
    )
    return Answer(MachinesDocument(rows), [_table_of_machines(rows, used), f"{note}{methods}."])


def _one(name: str) -> Answer:
    facts = model.facts(name)
    stated = {path: convert(fact, Stated, from_attributes=True) for path, fact in facts.items()}
    known = list(grades(model.read(name), facts))
    document = MachineDocument(**structs.asdict(summary(name)), facts=stated, grades=known)
    return Answer(document, lambda: [_table_of_facts(model.load(name), facts), *_of_grades(known)])


def _of_grades(known: Sequence[Grade]) -> list[Table | str]:
    """The table of grades, and the deciding numbers that are another card's or guessed."""
    table = new_table("how far to trust", *right("numbers", *GRADES), tight=True)
    for each in known:
        table.add_row(each.area, str(each.numbers), *(f"{share:.0f} %" for share in each.shares.values()))
    doubtful: dict[str, list[str]] = {}
    for path, how in (item for each in known for item in each.doubtful.items()):
        doubtful.setdefault(how, []).append(path)
    told = "; ".join(f"{how}: {', '.join(paths)}" for how, paths in doubtful.items())
    return [table, f"Of the numbers that decide, {told}." if told else "All numbers that decide are known."]


def _two(name: str, other: str, only_differing: bool) -> Answer:
    """Every number that one of two machines has; those that differ are marked."""
    both, facts = _headings(name, other), [model.facts(name), model.facts(other)]
    paths = dict.fromkeys([*facts[0], *facts[1]])
    pairs = {path: [each[path].value if path in each else None for each in facts] for path in paths}
    differing = [path for path, (one, another) in pairs.items() if one != another]
    note = f"{len(differing)} of {plural(len(pairs), 'number')} differ, marked *; -: the machine has no such number."
    shown = {path: pairs[path] for path in (differing if only_differing else paths)}
    return Answer(TwoMachinesDocument(both, differing, pairs), [_table_of_pairs(both, shown), note])


def _headings(*names: str) -> list[str]:
    """The machines' keys, or the given names if the keys are equal."""
    keys = [model.load(name).key for name in names]
    return keys if len(set(keys)) == len(keys) else list(names)


def _table_of_pairs(both: list[str], pairs: Mapping[str, list[int | str | None]]) -> Table:
    table = new_table("", "key", *right(*both), tight=True)
    for path, values in pairs.items():
        mark, style = ("*", "bold") if values[0] != values[1] else ("", None)
        table.add_row(mark, path, *("-" if value is None else str(value) for value in values), style=style)
    return table


def _table_of_machines(rows: list[MachineSummary], used: Mapping[str, str]) -> Table:
    """The headline figures, which fit into 80 columns; methods are shown by their initials."""
    figures = [[getattr(row, key) for key in FIGURES] + [row.methods[each] for each in used.values()] for row in rows]
    cells = [(row.machine, row.generation, *(f"{x:.0f}" for x in own)) for row, own in zip(rows, figures, strict=True)]
    columns = right("SMs", "warp", "MHz", "FP32", "FP64", "GB/s", *used)
    return new_table("machine", "gen.", *columns, rows=cells, tight=True)


def _table_of_facts(machine: model.Machine, facts: Mapping[str, Fact]) -> Table:
    title = f"{machine.key}: {machine.name} ({machine.generation})"
    table = new_table(Column("key", overflow="fold"))
    table.title, table.title_justify = title, "left"
    table.add_column("value", justify="right", overflow="fold", min_width=WIDEST)
    table.add_column("method", min_width=max(map(len, METHODS)))
    table.add_column("source; note", overflow="fold")
    for path, fact in facts.items():
        table.add_row(path, str(fact.value), fact.method, provenance(fact))
    return table


def provenance(fact: Fact) -> str:
    """Return where a number comes from: its source, what it was fitted to, what else is plausible, and its note."""
    fitted = f"fitted to {fact.to}" if fact.to else ""
    between = ", " if isinstance(fact.value, str) else " to "
    plausible = f"plausible: {between.join(map(str, fact.plausible))}" if fact.plausible else ""
    return "; ".join(part for part in (fact.source, fitted, plausible, fact.note) if part)
