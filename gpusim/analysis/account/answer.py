"""A result as Python programs and notebooks use it: its screen, a dictionary, and tables of what it has."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from typing import Any

import msgspec
from rich.console import Console

from gpusim.analysis.account import report, run_document, source_lines
from gpusim.analysis.account.findings import diagnosis
from gpusim.analysis.account.findings.finding import Finding
from gpusim.analysis.account.stalls import lost_slots, waiting_most, warp_cycles
from gpusim.simulation import result
from gpusim.support.document import Setting
from gpusim.support.escaped_parts import EscapedParts
from isa.reading.source_text import NO_TEXTS
from isa.support import frozen

WIDTH = 100  # columns of the screen
LIBRARIES = "polars", "pandas"  # whose data frames are taken, the first that is installed
HTML = '<pre style="font-family: ui-monospace, monospace; line-height: 1.3; white-space: pre">{code}</pre>'


@frozen.comparable
@dataclass(frozen=True, repr=False)
class Result(result.Result):
    """A simulated launch: what `simulate` found, and views of it. A notebook shows the screen of `gpusim run`.

    `settings` are the numbers of the machine that were replaced, `loaded` is the file of the kernel, if it has one;
    sources that are in no file are `given` by name.
    """

    settings: Mapping[str, Setting] = field(default_factory=dict)
    loaded: str = ""
    given: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        found: result.Result,
        settings: Mapping[str, Setting],
        loaded: str = "",
        given: Mapping[str, str] = NO_TEXTS,
    ) -> Result:
        """Return the result with these views."""
        simulated = {one.name: getattr(found, one.name) for one in fields(found)}
        return cls(**simulated, settings=dict(settings), loaded=loaded, given=dict(given))

    def _repr_html_(self) -> str:
        """The screen for a notebook."""
        console = Console(record=True, file=StringIO(), width=WIDTH, highlight=False, force_jupyter=False)
        console.push_render_hook(EscapedParts())
        console.print(report.screen(self, self.settings))
        return console.export_html(inline_styles=True, code_format=HTML)

    def to_dict(self) -> dict[str, Any]:
        """Return the document of `gpusim run --json` as plain Python values."""
        found: dict[str, Any] = msgspec.to_builtins(run_document.document(self, self.settings))
        return found

    @property
    def diagnosis(self) -> tuple[Finding, ...]:
        """What limits the launch, and what to do, the costliest first."""
        return diagnosis.diagnosis(self)

    @property
    def stalls(self) -> Any:
        """A table with a row for each stall reason: warp-cycles, their share, and cycles of lost issue slots."""
        cycles, lost = warp_cycles(self.run), lost_slots(self.run)
        every = sum(cycles.values())
        return frame(
            {
                "reason": reason,
                "warp_cycles": cycles.get(reason, 0),
                "share": cycles.get(reason, 0) / every,
                "lost_slots": lost.get(reason, 0),
            }
            for reason in dict.fromkeys([*cycles, *lost])
        )

    @property
    def hotspots(self) -> Any:
        """A table of the instructions before which warps wait, the longest waits first."""
        count = len(self.kernel.program) + 1
        return frame(
            {"pc": one.pc, "text": one.text, "cycles": one.cycles, "share": one.share, "reason": one.reason}
            for one in waiting_most(self.kernel, self.run, count)
        )

    @property
    def lines(self) -> Any:
        """A table with a row for each line of the source: what is issued, waited for and accessed; empty without."""
        found = source_lines.by_line(self, self.loaded, given=self.given).lines
        found = found if any(one.line for one in found) else ()
        left_out = {"stalls", "pcs", "inlined"}
        return frame({key: value for key, value in asdict(one).items() if key not in left_out} for one in found)


class BeyondBufferWarning(UserWarning):
    """Machine code has read behind a buffer, in its last page: a chip gives what lies there, zeros here."""


def warned(found: Result) -> Result:
    """Return a result; warn of loads behind buffers, at the line that called the caller."""
    if found.run.beyond:
        warnings.warn(report.beyond(found, "strict=True"), BeyondBufferWarning, stacklevel=3)
    return found


def frame(records: Any) -> Any:
    """Return records as a data frame of Polars or pandas, whichever is installed, else as a list of dictionaries."""
    rows: Sequence[Mapping[str, Any]] = list(records)
    for library in LIBRARIES:
        if find_spec(library):
            return import_module(library).DataFrame(rows)
    return rows
