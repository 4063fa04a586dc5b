"""`gpusim machines`: the machines, and where their numbers come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.table import Column, Table

from gpusim import machine as model
from gpusim.commands.document import new_table, right, show, write_json
from gpusim.machine_file import METHODS, Fact
from gpusim.plural import plural
from isa.errors import UserError

FIGURES = "sms", "warp_size", "shader_mhz", "peak_gflops", "peak_fp64_gflops", "bandwidth_gbs"
WIDEST = 10  # digits of a number; lists of pipes and units take several lines


def machines(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME [OTHER]]", help="A machine's name, or a file ending in .toml.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON document.")] = False,
) -> None:
    """List the machines, or every number of one with its method and source, or two side by side.

    Example: gpusim machines gtx580 c2050
    """
    match names or []:
        case []:
            _tell_all(json)
        case [name]:
            _tell_one(name, json)
        case [name, other]:
            _tell_two(name, other, json)
        case more:
            raise UserError(f"machines: {len(more)} names; give one, or two to compare")


def summary(name: str) -> dict[str, Any]:
    """Return the headline figures of a machine: peaks in GFLOP/s, bandwidth in GB/s, percent of facts per method."""
    machine, methods = model.load(name), Counter(fact.method for fact in model.facts(name).values())
    return {
        "machine": machine.key,
        "name": machine.name,
        "generation": machine.generation,
        "sms": machine.chip.sms,
        "warp_size": machine.limits.warp_size,
        "shader_mhz": machine.chip.shader_mhz,
        "peak_gflops": model.peak_gflops(machine),
        "peak_fp64_gflops": model.peak_fp64_gflops(machine),
        "bandwidth_gbs": model.bandwidth_gbs(machine),
        "methods": {method: 100 * methods[method] / methods.total() for method in METHODS},
    }


def _tell_all(json: bool) -> None:
    rows = [summary(name) for name in model.names()]
    if json:
        write_json({"machines": rows})
        return
    used = {method[0]: method for method in METHODS if any(row["methods"][method] for row in rows)}
    methods = ", ".join(f"{initial} {method}" for initial, method in used.items())
    note = (
        "warp: its lanes. Peaks in GFLOP/s, bandwidth in GB/s. The last columns say where the numbers come from, in %: "
    )
    show(_table_of_machines(rows, used), f"{note}{methods}.")


def _tell_one(name: str, json: bool) -> None:
    facts = model.facts(name)
    if json:
        write_json({**summary(name), "facts": {path: _as_dict(fact) for path, fact in facts.items()}})
    else:
        show(_table_of_facts(model.load(name), facts))


def _tell_two(name: str, other: str, json: bool) -> None:
    """Every number that one of two machines has; those that differ are marked."""
    both = [model.load(name).key, model.load(other).key]
    facts = [model.facts(name), model.facts(other)]
    paths = list(dict.fromkeys([*facts[0], *facts[1]]))
    pairs = {path: [each[path].value if path in each else None for each in facts] for path in paths}
    differing = [path for path, (one, another) in pairs.items() if one != another]
    if json:
        write_json({"machines": both, "differing": differing, "facts": pairs})
    else:
        note = (
            f"{len(differing)} of {plural(len(pairs), 'number')} differ, marked *; -: the machine has no such number."
        )
        show(_table_of_pairs(both, pairs), note)


def _table_of_pairs(both: list[str], pairs: Mapping[str, list[int | str | None]]) -> Table:
    table = new_table("", "key", *right(*both), tight=True)
    for path, values in pairs.items():
        mark = "*" if values[0] != values[1] else ""
        table.add_row(mark, path, *("-" if value is None else str(value) for value in values))
    return table


def _table_of_machines(rows: list[dict[str, Any]], used: Mapping[str, str]) -> Table:
    """The headline figures, whole in 80 columns: the methods have but their initials."""
    columns = right("SMs", "warp", "MHz", "FP32", "FP64", "GB/s", *used)
    table = new_table("machine", "gen.", *columns, tight=True)
    for row in rows:
        figures = [row[key] for key in FIGURES] + [row["methods"][method] for method in used.values()]
        table.add_row(row["machine"], row["generation"], *(f"{figure:.0f}" for figure in figures))
    return table


def _table_of_facts(machine: model.Machine, facts: Mapping[str, Fact]) -> Table:
    title = f"{machine.key}: {machine.name} ({machine.generation})"
    table = new_table(Column("key", overflow="fold"))
    table.title, table.title_justify = title, "left"
    table.add_column("value", justify="right", overflow="fold", min_width=WIDEST)
    table.add_column("method", min_width=max(map(len, METHODS)))
    table.add_column("source; note", overflow="fold")
    for path, fact in facts.items():
        table.add_row(path, str(fact.value), fact.method, _provenance(fact))
    return table


def _provenance(fact: Fact) -> str:
    fitted = f"fitted to {fact.to}" if fact.to else ""
    return "; ".join(part for part in (fact.source, fitted, fact.note) if part)


def _as_dict(fact: Fact) -> dict[str, int | str]:
    optional = {"to": fact.to, "note": fact.note}
    required = {"value": fact.value, "source": fact.source, "method": fact.method}
    return required | {key: text for key, text in optional.items() if text}
