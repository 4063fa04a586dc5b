"""Help in groups: commands by what they are for, options of a command: its own, then those that many share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from typer.core import TyperCommand, TyperGroup

OWN = "Options"
LONGEST = 70  # characters of a command's line of help
UNBOUNDED = re.compile(r"(\d+)<=x<=9223372036854775807")  # a range of an option that ends where numbers do
_GROUPS = {  # options that several commands have, by what they are about
    "Kernel and machine": "--machine -p --set --policy --caches --launch --arch --nvcc-flags --source-root --force "
    "--strict",
    "Simulation": "--max-cycles --max-instructions --sms --threads --sample --engine --fast-forward --estimate --jobs "
    "--dask",
    "Part of the run": "--warps --cycles --lines",
    "Output": "--out --html --open --csv --parquet --plot --plots --markdown --kernel-tuner --t4 --trace --json",
    "Help": "--help",
}
GROUPS: Mapping[str, tuple[str, ...]] = {group: tuple(options.split()) for group, options in _GROUPS.items()}
GROUP_OF = {option: group for group, options in GROUPS.items() for option in options}  # in the order of help


class Commands(TyperGroup):
    """The commands, each group of them under its head."""

    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each group's commands with their lines of help."""
        for group, names in self.groups.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(group):
                formatter.write_dl([(name, one.get_short_help_str(LONGEST)) for name, one in commands if one])


class Grouped(TyperCommand):
    """A command whose help has its options in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, the command's own options, and those of each group that it has."""
        found: dict[str, list[tuple[str, str]]] = {name: [] for name in ("Arguments", OWN, *GROUPS)}
        for parameter in sorted(self.get_params(ctx), key=_place):
            if record := parameter.get_help_record(ctx):
                name, text = record
                found[_group(parameter)].append((name, UNBOUNDED.sub(r"x>=\1", text)))
        for name, records in found.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


def _shared(parameter: Any) -> str:
    """The first name of an option by which it is in a group; empty for others."""
    return next((name for name in parameter.opts if name in GROUP_OF), "")


def _group(parameter: Any) -> str:
    return "Arguments" if parameter.param_type_name == "argument" else GROUP_OF.get(_shared(parameter), OWN)


def _place(parameter: Any) -> int:
    """Where an option stands in its group: the same for all commands."""
    return [*GROUP_OF, ""].index(_shared(parameter))
