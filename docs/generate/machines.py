"""The pages of machines: all of them at a glance, and for each its drawing and every number with its source."""

from __future__ import annotations

from itertools import takewhile

from generate.markdown import block, code, contents, page, table
from gpusim.commands.catalog.machines import MachineSummary, provenance, summary
from gpusim.machine import machine
from gpusim.machine.file import DIRECTORY, Fact

ABOUT = """\
Peaks are in GFLOP/s, bandwidth in GB/s; the last column has the share of the numbers that became known by each
[method](contributing.md)."""
OVERVIEW = "machine", "name", "generation", "SMs", "warp", "MHz", "FP32", "FP64", "GB/s", "numbers, in percent"
FACTS = "key", "value", "method", "source; note"


def machines() -> dict[str, str]:
    """Return the pages by their paths: `machines`, and one for each machine."""
    names = machine.names()
    index = page(
        "Machines",
        ABOUT,
        table(OVERVIEW, [_overview(summary(name)) for name in names]),
        contents(*(f"machines/{name}" for name in names)),
    )
    return {"machines": index} | {f"machines/{name}": _page(name) for name in names}


def _overview(row: MachineSummary) -> list[object]:
    figures = row.shader_mhz, row.peak_gflops, row.peak_fp64_gflops, row.bandwidth_gbs
    known = ", ".join(f"{method} {share:.0f}" for method, share in row.methods.items() if share)
    first = f"[{row.machine}](machines/{row.machine}.md)", row.name, row.generation, row.sms, row.warp_size
    return [*first, *(f"{figure:,.0f}" for figure in figures), known]


def _page(name: str) -> str:
    loaded = machine.load(name)
    facts = machine.facts(name)
    about = f"{loaded.name}, generation `{loaded.generation}`. [Machine keys](../machine-keys.md) says what each means."
    rows = [_cells(path, fact) for path, fact in facts.items()]
    return page(name, about, *_drawing(name), table(FACTS, rows))


def _cells(path: str, fact: Fact) -> tuple[object, ...]:
    return code(path), code(fact.value), fact.method, provenance(fact)


def _drawing(name: str) -> list[str]:
    """The comment with which the file begins: a drawing of the SM, and the names of the sources."""
    lines = (DIRECTORY / f"{name}.toml").read_text(encoding="utf-8").splitlines()
    comment = [line.removeprefix("#").removeprefix(" ") for line in takewhile(lambda line: line[:1] == "#", lines)]
    return [block("\n".join(comment))] if comment else []
