"""Documents for other programs: how each begins, and what fields mean that several have.

`gpusim schema` prints the JSON Schema of each, with these descriptions and the docstrings of the types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, Meta, Struct, UnsetType


def doc(text: str) -> Meta:
    """Return what describes a field in the schema of its document."""
    return Meta(description=text)


Plain = int | float | str | bool
Setting = int | str  # a number or a word of a machine's file
Extent = tuple[int, int, int]
KernelKey = Annotated[str, doc("Name of the kernel, or of the listing.")]
Arguments = Annotated[Mapping[str, Plain], doc("The kernel's parameters; none of a listing.")]
MachineKey = Annotated[str, doc("The machine by its key, which is the name of its file.")]
Settings = Annotated[Mapping[str, Setting], doc("Numbers of the machine that were replaced, by path.")]
Policy = Annotated[str, doc("Scheduling policy.")]


@dataclass(frozen=True)
class Ineffective:
    """A setting that does nothing: no rule reads it on this machine, or the kernel can't feel it."""

    setting: Annotated[str, doc("The path in the machine's file.")]
    value: Annotated[str, doc("What it was set to.")]
    reason: str


ANYWAY = "it is {} anyway"  # the reason of a setting to what the machine has

Unfelt = Annotated[Sequence[Ineffective] | UnsetType, doc("Those of the settings that do nothing.")]
Gflops = Annotated[float, doc("10^9 operations per second of the chip; 0 where the kernel counts none.")]
Pc = Annotated[int, doc("Program counter: the instruction's index in its program.")]
SourceLine = Annotated[int, doc("Line of the listing; 0 where there is no text.")]
Text = Annotated[str, doc("The instruction as listings have it.")]
Labels = Annotated[Mapping[str, int], doc("Program counters by label.")]
if TYPE_CHECKING:
    Finite = float
else:
    Finite = float | None  # JSON has null for what is infinite or no number


def plain(arguments: Mapping[str, object]) -> dict[str, Plain]:
    """Return a kernel's parameters as documents have them: what is neither a number nor a word, as text."""
    return {name: value if isinstance(value, Plain) else str(value) for name, value in arguments.items()}


def spelled(value: object) -> str:
    """Return a parameter's value as the command line takes it: a switch is on or off."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


class Document(Struct, frozen=True, forbid_unknown_fields=True, tag_field="schema_version", tag=1):
    """What `--json` prints: first `schema_version`, which grows when a field changes its meaning or goes."""


class OfSettings(Document, frozen=True, kw_only=True):
    """A document of a machine with settings; behind its other fields, those that do nothing."""

    ineffective: Unfelt = UNSET


class LaunchDocument(OfSettings, frozen=True):
    """A kernel on a machine, with which the documents of simulations begin."""

    kernel: KernelKey
    parameters: Arguments
    machine: MachineKey
    settings: Settings
    policy: Policy
    grid: Annotated[Extent, doc("Blocks in x, y and z.")]
    block: Annotated[Extent, doc("Threads of a block in x, y and z.")]
