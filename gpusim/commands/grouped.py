"""Help whose options stand in groups: a command's own, then those that many commands share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typer.core import TyperCommand

OWN = "Options"
GROUPS: Mapping[str, tuple[str, ...]] = {  # options that several commands have, by what they are about
    "Kernel and machine": ("--machine", "-p", "--set", "--policy", "--launch", "--arch", "--nvcc-flags", "--force"),
    "Simulation": (
        "--max-cycles",
        "--max-instructions",
        "--sms",
        "--threads",
        "--sample",
        "--engine",
        "--fast-forward",
        "--estimate",
    ),
    "Part of the run": ("--warps", "--cycles", "--lines"),
    "Output": (
        "--out",
        "--html",
        "--open",
        "--csv",
        "--parquet",
        "--plot",
        "--plots",
        "--markdown",
        "--trace",
        "--json",
    ),
    "Help": ("--help",),
}
GROUP_OF = {option: group for group, options in GROUPS.items() for option in options}


class Grouped(TyperCommand):
    """A command whose help has its options in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, the command's own options, and those of each group that it has."""
        found: dict[str, list[tuple[str, str]]] = {name: [] for name in ("Arguments", OWN, *GROUPS)}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                found[_group(parameter)].append(record)
        for name, records in found.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


def _group(parameter: Any) -> str:
    """The group of an option, by the first of its names that has one."""
    if parameter.param_type_name == "argument":
        return "Arguments"
    return next((GROUP_OF[name] for name in parameter.opts if name in GROUP_OF), OWN)
