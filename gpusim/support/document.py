"""Documents for other programs: their common head, and the meaning of shared fields.

`gpusim schema` prints the JSON Schema of each, with these descriptions and the docstrings of the types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, Meta, Struct, UnsetType


def doc(text: str) -> Meta:
    """Return the description of a field for the schema of its document."""
    return Meta(description=text)


Plain = int | float | str | bool
Setting = int | str  # a number or a word of a machine's file
NONE: Mapping[str, Setting] = {}  # settings, by path
Extent = tuple[int, int, int]
KernelKey = Annotated[str, doc("Name of the kernel, or of the listing.")]
Arguments = Annotated[Mapping[str, Plain], doc("The kernel's parameters; a listing has none.")]
MachineKey = Annotated[str, doc("The machine by its key, which is the name of its file.")]
Settings = Annotated[Mapping[str, Setting], doc("Numbers of the machine that were replaced, by path.")]
Policy = Annotated[str, doc("Scheduling policy.")]


@dataclass(frozen=True)
class Ineffective:
    """A setting that does nothing: no rule reads it on this machine, or it can't affect the kernel."""

    setting: Annotated[str, doc("The path in the machine's file.")]
    value: Annotated[str, doc("The value given.")]
    reason: str


ANYWAY = "it is {} anyway"  # the reason of a setting to the machine's own value

Unfelt = Annotated[Sequence[Ineffective] | UnsetType, doc("The settings that do nothing.")]
Gflops = Annotated[float | None, doc("10^9 operations per second of the chip; null where the kernel counts none.")]
OfPeak = Annotated[
    float | None,
    doc("Percent of the chip's peak in the kernel's precision; null where the kernel counts no operations."),
]
Pc = Annotated[int, doc("Program counter: the instruction's index in its program.")]
SourceLine = Annotated[int, doc("Line of the listing; 0 where there is no text.")]
Text = Annotated[str, doc("The instruction as listings have it.")]
Labels = Annotated[Mapping[str, int], doc("Program counters by label.")]
if TYPE_CHECKING:
    Finite = float
else:
    Finite = float | None  # JSON has null for infinite values and NaN


def plain(arguments: Mapping[str, object]) -> dict[str, Plain]:
    """Return a kernel's parameters as documents have them: numbers and words as they are, others as text."""
    return {name: value if isinstance(value, Plain) else str(value) for name, value in arguments.items()}


def spelled(value: object) -> str:
    """Return a parameter's value as the command line takes it: a switch is on or off."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


class Document(Struct, frozen=True, forbid_unknown_fields=True, tag_field="schema_version", tag=1):
    """The output of `--json`, with `schema_version` first; it grows when a field changes its meaning or is removed."""


class OfSettings(Document, frozen=True, kw_only=True):
    """A document of a machine with settings; its last field has the settings that do nothing."""

    ineffective: Unfelt = UNSET


class LaunchDocument(OfSettings, frozen=True):
    """The first fields of a simulation's document: a kernel on a machine."""

    kernel: KernelKey
    parameters: Arguments
    machine: MachineKey
    settings: Settings
    policy: Policy
    grid: Annotated[Extent, doc("Blocks in x, y and z.")]
    block: Annotated[Extent, doc("Threads of a block in x, y and z.")]
