"""A timeline document, or two side by side, as one self-contained HTML file."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import chain, pairwise
from typing import Any

import msgspec

from gpusim.sm.memory.account.declaration import LEVELS
from gpusim.support.document import spelled
from gpusim.support.plural import plural
from gpusim.support.whole_file import COMPRESSION
from gpusim.views.palette import COLOURS
from gpusim.views.timeline.document import NONE, Issued, Letter, Timeline
from gpusim.views.timeline.units import AWAITED, Stretch, unit_rows

FOLDER = files("gpusim.views") / "html"
STYLES = ("colours.css", "style.css", "source.css", "narrow.css")
PLAIN = "warp", "block", "pc", "scheduler", "lanes", "conflicts", "late"  # columns taken unchanged from the document
STATES = "selected", "queued", "occupies", "under_way"  # of an instruction from its issue on
SCRIPTS = (  # ordered so that constants come before their use
    "elements.js",
    "run.js",
    "rows.js",
    "palette.js",
    "paint.js",
    "shares.js",
    "levels.js",
    "view.js",
    "labels.js",
    "instructions.js",
    "heat.js",
    "pane.js",
    "details.js",
    "totals.js",
    "tables.js",
    "sums.js",
    "differences.js",
    "source.js",
    "source_columns.js",
    "source_table.js",
    "source_bar.js",
    "source_page.js",
    "source_details.js",
    "source_keys.js",
    "pictures.js",
    "roofline.js",
    "memory.js",
    "tip.js",
    "select.js",
    "filter.js",
    "range.js",
    "search.js",
    "input.js",
    "legend.js",
    "tabs.js",
    "main.js",
)


def page(runs: Sequence[Timeline]) -> str:
    """Return the HTML of one run, or of two side by side."""
    from markupsafe import Markup  # noqa: PLC0415  (only pages need it)

    return rendered(
        _text("page.html"),
        title=" beside ".join(f"{run.kernel} on {run.machine}, {run.policy}" for run in runs),
        runs=[_shown(run) for run in runs],
        colours=COLOURS,
        style=Markup("\n".join(map(_text, STYLES))),
        script=Markup("\n".join(map(_text, SCRIPTS))),
    )


def rendered(template: str, **values: Any) -> str:
    """Return a template of Jinja with these values; `head.html`, which it includes, takes title, style and colours."""
    from jinja2 import Environment, FunctionLoader  # noqa: PLC0415  (only pages need it)

    pages = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, loader=FunctionLoader(_text))
    return pages.from_string(template).render(values)


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _shown(run: Timeline) -> dict[str, str]:
    """The texts that the template shows of a run, and its data."""
    return {
        "kernel": run.kernel,
        "machine": run.machine,
        "machine_name": run.machine_name,
        "policy": run.policy,
        "facts": "; ".join(_facts(run)),
        "packed": b64encode(gzip.compress(msgspec.json.encode(pack(run)), COMPRESSION, mtime=0)).decode(),
    }


def extent(run: Timeline) -> str:
    """Return in words the cycles of the document, of how many, and the number of warp instructions."""
    whole = "a run that does not end" if run.cycles == NONE else f"{run.cycles:,}"
    return f"cycles {run.start:,} to {run.end:,} of {whole}, {plural(len(run.instructions), 'warp instruction')}"


def _facts(run: Timeline) -> Iterable[str]:
    yield extent(run)
    if run.settings:
        yield f"settings {_pairs(run.settings)}"
    if run.parameters:
        yield f"parameters {_pairs(run.parameters)}"
    yield f"{plural(len(run.shown), 'warp')} of {plural(run.warp_slots, 'slot')}"
    yield f"{plural(run.schedulers, 'scheduler')}, an issue slot each {plural(run.interval, 'cycle')}"
    yield f"{run.clock_mhz:g} MHz"


def _pairs(values: Mapping[str, object]) -> str:
    return " ".join(f"{name}={spelled(value)}" for name, value in values.items())


# Fields of a document that are packed separately, or not shown.
SEPARATE = "instructions", "lost", "copies", "phases", "ineffective"


def pack(run: Timeline) -> dict[str, Any]:
    """Return the document with its instructions, their waits and its lost slots as columns of small numbers.

    `id` and `issue` are differences to the previous instruction; the other times are cycles since `issue`, NONE if
    there is none. A wait's `start` is cycles before `issue`, its `blocker` the difference of ids, 0 if there is none.
    The `end` of waits and lost slots is cycles since `start`; a reason is an index into `letters`.
    """
    fields = {name: getattr(run, name) for name in run.__struct_fields__ if name not in SEPARATE}
    names = [letter.name for letter in run.letters]
    waits = (w.reason for i in run.instructions for w in i.waits)
    used = chain(STATES, (AWAITED,), waits, (lost.reason for lost in run.lost))
    unnamed = sorted(set(used).difference(names))  # in a document from another program
    number = {name: at for at, name in enumerate([*names, *unnamed])}
    return fields | {
        "letters": [*run.letters, *(Letter(name, "?", name) for name in unnamed)],
        "instructions": _instructions(run.instructions),
        "waits": _waits(run.instructions, number),
        "lost": {
            "scheduler": [lost.scheduler for lost in run.lost],
            "reason": [number[lost.reason] for lost in run.lost],
            "start": [lost.start for lost in run.lost],
            "end": [lost.end - lost.start for lost in run.lost],
            "ended_by": [lost.ended_by for lost in run.lost],
        },
        "units": [_strip(name, works, number) for name, works in unit_rows(run).items()],
    }


def _strip(name: str, works: Sequence[Stretch], number: Mapping[str, int]) -> dict[str, Any]:
    """Return a row of a unit that works by itself: its name, and columns of its works."""
    columns = {"start": [one.start for one in works], "end": [one.end for one in works]}
    return {
        "name": name,
        "state": [number[one.state] for one in works],
        "words": [one.words for one in works],
        **columns,
    }


def _instructions(issued: Sequence[Issued]) -> dict[str, list[int]]:
    columns = {name: [getattr(i, name) for i in issued] for name in PLAIN}
    for name in ("begin", "end", "done"):
        columns[name] = [at if (at := getattr(i, name)) == NONE else at - i.issue for i in issued]
    for name in ("id", "issue"):
        columns[name] = _steps([getattr(i, name) for i in issued])
    columns["level"] = [LEVELS.index(i.level) if i.level in LEVELS else NONE for i in issued]
    return columns | {"waited": [len(i.waits) for i in issued]}


def _steps(numbers: list[int]) -> list[int]:
    return numbers[:1] + [after - before for before, after in pairwise(numbers)]


def _waits(issued: Sequence[Issued], number: dict[str, int]) -> dict[str, list[int]]:
    waits = [(i, wait) for i in issued for wait in i.waits]
    return {
        "reason": [number[wait.reason] for _, wait in waits],
        "start": [i.issue - wait.start for i, wait in waits],
        "end": [wait.end - wait.start for _, wait in waits],
        "blocker": [0 if wait.blocker == NONE else i.id - wait.blocker for i, wait in waits],
    }
