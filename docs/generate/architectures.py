"""The page of architectures: what of each is read, executed, timed and measured, and how far its figures are met.

`python -m generate.architectures` simulates every published figure, writes the errors into a table, and the page.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from generate.markdown import code, page, table
from gpusim.analysis.validate.validation import DIRECTORY, outcomes, published_points
from gpusim.machine import machine
from gpusim.machine.capability import SM_FILE
from gpusim.machine.machine import Machine, every
from gpusim.machine.trust.grades import GRADES, MEASURED, grades
from isa.architecture import NVIDIA
from workloads.catalog import make

DOCS = Path(__file__).parent.parent
PAGE, ERRORS = DOCS / "architectures.md", DOCS / "validation.csv"
KINDS = "input", "fitted", "predicted"
EARLIER: Mapping[str, str] = {  # compute capabilities of the machines that take listings alone, by generation
    "GT200": "1.3",
    "Fermi": "2.0, 2.1",
    "Kepler": "3.0, 3.5",
    "Maxwell": "5.2",
    "Vega": "GCN 5",
}
ABOUT = """\
Written by `make validation`, not by hand.

- *Code*: [machine code](sass.md) that is read and executed, with its values; `listings`: [listings](listing.md) and
  kernels of the catalog alone.
- *Occupancy*: `gpusim` knows what an SM holds.
- *Timed by*: machines that execute it. Code of an architecture without one is read, and its time refused.
- *Measured*: of the numbers of each machine, the share that this project measured on that chip, where there is some."""
FIGURES = """\
Of each machine the share of its numbers that were measured here, published, carried over from another card and guessed
(`gpusim machines NAME` has them by area), and the published figures of `gpusim validate NAME`, each the rate or the
latency of a microbenchmark, with the median and the largest error in percent. An *input* stands in the machine file: it
shows that the microbenchmark is right. To a *fitted* figure a number was fitted. From a *predicted* one no number
comes. Each figure's error is in `docs/validation.csv`; whole kernels on an H200 have [a page of their
own](validation.md)."""
HEAD = "architecture", "generation", "code", "occupancy", "timed by", "measured"
MACHINES = "machine", "known, in percent", *KINDS, "the largest of them"


class Error(NamedTuple):
    """A published figure and the error of its simulation, in percent."""

    machine: str
    id: str
    kind: str
    error: float


def stored(path: Path = ERRORS) -> list[Error]:
    """Return the errors of all figures, as the last simulation found them."""
    with path.open(newline="", encoding="utf-8") as file:
        return [Error(row["machine"], row["id"], row["kind"], float(row["error"])) for row in csv.DictReader(file)]


def simulated(name: str) -> Iterator[Error]:
    """Yield the errors of a machine's figures, simulated now; none where it has no figures."""
    if not (DIRECTORY / f"{name}.toml").is_file():
        return
    one = machine.load(name)
    for each in outcomes(published_points(one), one, make):
        yield Error(name, each.point.id, each.point.kind, round(100 * each.error, 2) + 0.0)


def architectures(errors: Sequence[Error]) -> str:
    """Return the page."""
    machines = [one for one in every() if one.generation != "What-if"]
    parts = (
        ABOUT,
        table(HEAD, _architectures(machines)),
        "## Machines",
        FIGURES,
        table(MACHINES, _of_all(machines, errors)),
    )
    return page("Architectures", *parts)


def write() -> None:
    """Simulate all figures; write the table of errors and the page."""
    found = [error for name in machine.names() for error in simulated(name)]
    with ERRORS.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerows([Error._fields, *found])
    PAGE.write_text(architectures(found), encoding="utf-8")


def _architectures(machines: Sequence[Machine]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each architecture, of NVIDIA's from the oldest on, GCN last."""
    known = _capabilities()
    named = {_capability(one): one.generation for one in machines}
    given = {name for names in named for name in names.split(", ")}
    others = {name: "" for name in [*known, *map(_dotted, NVIDIA)] if name not in given}
    for name, generation in sorted((named | others).items(), key=lambda item: _order(item[0])):
        mine = [one for one in machines if _capability(one) == name]
        read = name in map(_dotted, NVIDIA)
        own = "read, executed" if read else "listings" if mine else ""
        holds = "yes" if mine or name in known else ""
        yield name, generation, own, holds, ", ".join(code(one.key) for one in mine), _measured(mine)


def _capabilities() -> list[str]:
    """The compute capabilities whose occupancy is known."""
    with SM_FILE.open(newline="", encoding="utf-8") as file:
        return [row["capability"] for row in csv.DictReader(file)]


def _capability(one: Machine) -> str:
    """The compute capability of a machine, or those of its generation."""
    number = one.architecture.removeprefix("sm_")
    return _dotted(number) if number.isdecimal() else EARLIER[one.generation]


def _dotted(number: int | str) -> str:
    return f"{str(number)[:-1]}.{str(number)[-1]}"


def _order(name: str) -> tuple[bool, tuple[int, ...]]:
    first = name.split(", ", maxsplit=1)[0]
    return name.startswith("GCN"), tuple(int(part) for part in first.split(".") if part.isdecimal())


def _measured(machines: Iterable[Machine]) -> str:
    shares = {one.key: _shares(one)[MEASURED] for one in machines}
    return ", ".join(f"{code(key)} {share:.0f} %" for key, share in shares.items() if share >= 1)


def _shares(one: Machine) -> dict[str, float]:
    """Percent of a machine's numbers by grade."""
    counts = Counter[str]()
    for each in grades(machine.read(one.key), machine.facts(one.key)):
        counts.update({grade: each.shares[grade] * each.numbers for grade in GRADES})
    return {grade: 100 * counts[grade] / counts.total() for grade in GRADES}


def _of_all(machines: Iterable[Machine], errors: Sequence[Error]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each machine."""
    for one in machines:
        known = ", ".join(f"{grade} {share:.0f}" for grade, share in _shares(one).items() if share >= 0.5)
        own = [error for error in errors if error.machine == one.key]
        kinds = [_of_kind([each.error for each in own if each.kind == kind]) for kind in KINDS]
        worst = max(own, key=lambda each: abs(each.error), default=None)
        yield (
            code(one.key),
            known,
            *kinds,
            f"{code(worst.id)} {worst.error:+.1f}" if worst else "no figure is published",
        )


def _of_kind(errors: Sequence[float]) -> str:
    sizes = [abs(error) for error in errors]
    return f"{len(sizes)}: {median(sizes):.1f}, {max(sizes):.1f}" if sizes else ""


if __name__ == "__main__":
    write()
