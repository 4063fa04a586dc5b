"""`gpusim compare`: runs side by side, and the unit or stall reason behind each difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from typing import Annotated

from rich.console import RenderableType
from rich.table import Column, Table
from typer import Argument

from gpusim.analysis.account.comparison import Part, change, explanation, parts
from gpusim.analysis.account.figures import Figures, estimates
from gpusim.analysis.search.sweep import Axis, Subject, SweepPoint, figures_at, points
from gpusim.commands.causes.figures_charts import busy_section, cycles_section, difference_section, largest, reasons
from gpusim.commands.frame.arguments import sms_of
from gpusim.commands.frame.axes import axes_of, launches, subject_of
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import new_table, right
from gpusim.commands.frame.notices import ineffective_at_all
from gpusim.commands.frame.options import (
    Axes,
    Caches,
    CodeOptions,
    Estimated,
    MachineNames,
    PageOptions,
    kernels_from,
    repeated,
)
from gpusim.commands.frame.page_file import page_of
from gpusim.commands.frame.plugins import plug
from gpusim.commands.frame.progress import begin_compiling, told
from gpusim.machine.simulated_sms import Sms
from gpusim.support.document import KernelKey, MachineKey, OfSettings, doc
from gpusim.support.parallel.processes import as_done
from gpusim.support.plural import plural
from gpusim.views.charts import page as charts
from gpusim.views.charts.page import Row
from isa.errors import UserError

MOST = 6  # runs that a screen has room for
PLAIN = {
    "cycles": "cycles",
    "milliseconds": "milliseconds",
    "GFLOP/s": "gflops",
    "% of peak": "percent_of_peak",
    "GB/s of the DRAM": "dram_gbs",
    "  % of its peak": "percent_of_dram",
    "GB/s of the L2": "l2_gbs",
    "  % of its loads": "percent_of_l2",
    "thread instructions per cycle": "instructions_per_cycle",
    "warp instructions of an SM": "warp_instructions",
    "bound, cycles": "bound_cycles",
    "  set by": "bound_limiter",
    "resident blocks": "blocks",
    "resident warps": "warps",
    "  limited by": "occupancy_limiter",
    "registers of a thread": "registers",
    "bytes of shared memory": "shared_bytes",
}
OF_BYTES = "dram_gbs", "percent_of_dram", "l2_gbs", "percent_of_l2"  # shown where a kernel counts no operations
Cell = int | float | str | None


@dataclass(frozen=True)
class Variant:
    """A kernel and a machine by name, their parameters and settings, and the label that distinguishes the variant."""

    kernel: str
    machine: str
    subject: Subject
    point: SweepPoint
    label: str


@dataclass(frozen=True)
class Refusal:
    """The reason why a variant has no figures, and the exit code; some exceptions can't be sent between processes."""

    reason: str
    exit_code: int


Found = Sequence[tuple[Variant, Figures]]


@dataclass(frozen=True)
class Compared:
    """A variant: its label, its settings of machine and kernel by name, and its figures."""

    label: str
    kernel: KernelKey
    machine: MachineKey
    settings: dict[str, str]
    parameters: dict[str, str]
    figures: Figures


@dataclass(frozen=True)
class Difference:
    """A variant by its label, the shader cycles that it takes beyond the first, and the parts that add up to them."""

    of: str
    cycles: int
    parts: list[Part]


class CompareDocument(OfSettings, frozen=True, tag=2):
    """Variants side by side, and the causes of each difference from the first."""

    variants: Annotated[list[Compared], doc("All variants, in the order given.")]
    differences: Annotated[list[Difference], doc("All but the first.")]
    sms: Annotated[int | str, doc("SMs that are simulated: 1, which stands for all, so many, or all.")] = 1


def compare(
    kernels: Annotated[
        Sequence[str],
        Argument(metavar="KERNEL", help="Names of kernels, or paths of listings.", autocompletion=kernels_from),
    ],
    axes: Axes,
    code: CodeOptions,
    how: Estimated,
    picture: PageOptions,
    machine: MachineNames = (),
    caches: Caches = None,
    variant: Annotated[Sequence[str], repeated("--variant", "'A=1 B=2'", "Add a variant with all these changes")] = (),
) -> Answer:
    """Simulate variants side by side, without values: kernels, machines, policies, numbers, parameters.

    The lines below the table name, for each variant, the unit or stall reason that makes most of its difference from
    the first one.

    Example: gpusim compare sgemm-lai -p m=192 -p n=192 -p k=64 --machine gtx580 --machine gtx680

    Example: gpusim compare mix --policy lrr,gto --html policies.html
    """
    plug(axes.plugin)
    page, sms = page_of(picture, "compare.html"), sms_of(how.sms)
    made = partial(subject_of, code=code, how=how, caches=caches)
    variants = _variants(made, kernels, machine or [None], axes, variant)
    if not 2 <= len(variants) <= MOST:
        hint = "give two kernels, machines or values" if len(variants) < 2 else "take gpusim sweep"
        raise UserError(f"compare: {plural(len(variants), 'variant')}, and there is room for 2 to {MOST}; {hint}")
    paths = dict.fromkeys(path for each in variants for path in each.point.settings)
    of_all = chain.from_iterable(launches(each.subject, [each.point]) for each in variants)
    unfelt = ineffective_at_all(of_all, paths)
    begin_compiling()
    found = _simulated(variants)
    return Answer(lambda: _document(found, sms), lambda: _screen(found), unfelt, page=page, charts=lambda: _page(found))


def _variants(
    made: Callable[[str, str | None], Subject],
    kernels: Sequence[str],
    machines: Sequence[str | None],
    axes: Axes,
    given: Sequence[str],
) -> list[Variant]:
    """Every kernel on every machine, unchanged and as each variant given changes it, at each point of the axes."""
    chosen = product(kernels, machines, [None, *given] if given else [None])
    several = len(kernels) > 1, len(machines) > 1, len(given) > 0
    found = []
    for kernel, given_machine, changed in chosen:
        subject, changes = made(kernel, given_machine), (changed or "").split()
        name = given_machine or subject.file.key
        own = [change for change in changes if "." in change.partition("=")[0]]
        rest = _changed(axes.parameter, [change for change in changes if change not in own])
        varied = axes_of(kernel, subject.file, Axes(_changed(axes.setting, own), rest, axes.policy))
        words = [text for text, one in zip((kernel, name, changed or "unchanged"), several, strict=True) if one]
        for point in points(varied):
            label = " ".join([*words, *_varied(varied, point)]) or kernel
            found.append(Variant(kernel, name, subject, point, label))
    return found


def _changed(texts: Sequence[str], changes: Sequence[str]) -> list[str]:
    """The options, in which those of the variant replace others of the same name."""
    replaced = {change.partition("=")[0] for change in changes}
    return [*(text for text in texts if text.partition("=")[0] not in replaced), *changes]


def _varied(axes: Sequence[Axis], point: SweepPoint) -> list[str]:
    """A point's values on the axes that vary, each by the last part of its name."""
    varied = [axis.name for axis in axes if len(axis.values) > 1]
    return [f"{name.rpartition('.')[2]}={point.values[name]}" for name in varied]


def _simulated(variants: Sequence[Variant]) -> Found:
    """Simulate all; raises UserError for the first variant that fails, with the exit code of `run`."""
    results = dict(told("compare", as_done(_numbered, list(enumerate(variants))), len(variants), "variant"))
    return [(variant, _accepted(variant, results[number])) for number, variant in enumerate(variants)]


def _numbered(job: tuple[int, Variant]) -> tuple[int, Figures | Refusal]:
    number, variant = job
    try:
        return number, figures_at(variant.point, variant.subject)
    except UserError as error:
        return number, Refusal(str(error), error.exit_code)


def _accepted(variant: Variant, result: Figures | Refusal) -> Figures:
    if isinstance(result, Refusal):
        error = UserError(f"{variant.label}: {result.reason}")
        error.exit_code = result.exit_code
        raise error
    return result


def _screen(found: Found) -> Iterator[RenderableType]:
    first, figures = found[0]
    yield from _simulated_sms(first)
    yield _table(found)
    yield ""
    for line in estimates([each for _, each in found], "variant"):
        yield f"{line}\n"
    for variant, other in found[1:]:
        yield explanation(figures, other, first.label, variant.label)


def _page(found: Found) -> str:
    """The same as a page: where the cycles go, what makes each difference, how busy units are, and all figures."""
    (variant, figures), *others = found
    runs = [(one.label, each) for one, each in found]
    differences = [
        difference_section(
            (variant.label, figures), (one.label, each), explanation(figures, each, variant.label, one.label)
        )
        for one, each in others
    ]
    rows = [
        Row(name.strip(), [_shown(value) for value in values]) for name, values in _plain([each for _, each in found])
    ]
    table = charts.Table(("figure", *(name for name, _ in runs)), rows)
    sections = [cycles_section(runs, "Where the cycles go"), *differences, busy_section(runs)]
    kernels, labels = (list(dict.fromkeys(names)) for names in ([one.kernel for one, _ in found], dict(runs)))
    title = f"{', '.join(kernels)}: {' beside '.join(labels)}" if labels != kernels else " beside ".join(labels)
    sections.append(charts.PageSection("All figures", table=table))
    return charts.page(f"gpusim compare: {title}", _facts(found), sections)


def _simulated_sms(variant: Variant) -> Iterator[str]:
    """Yield which SMs are simulated, if not one that stands for all."""
    sms = variant.subject.sms
    if sms != 1:
        yield "all SMs are simulated\n" if sms == "all" else f"{sms} SMs of each machine are simulated\n"


def _facts(found: Found) -> list[str]:
    """What each variant is: kernel, machine, and what was chosen of them."""
    chosen = [(each, " ".join(f"{name}={value}" for name, value in each.point.values.items())) for each, _ in found]
    told = [
        f"{each.label}: {each.kernel} on {each.machine}{f', {values}' if values else ''}" for each, values in chosen
    ]
    return [*told, *map(str.strip, _simulated_sms(found[0][0])), *estimates([each for _, each in found], "variant")]


def _table(found: Found) -> Table:
    """A line for each figure and a column for each variant; for two variants also the difference."""
    columns = [Column(variant.label, justify="right", overflow="fold") for variant, _ in found]
    last = list(right("difference")) if len(found) == 2 else []
    lines = _lines([figures for _, figures in found])
    rows = [(name, *map(_shown, values), *(_difference(*values) for _ in last)) for name, values in lines]
    return new_table("", *columns, *last, rows=rows)


def _lines(each: Sequence[Figures]) -> Iterator[tuple[str, Sequence[Cell]]]:
    """Yield the name and the values of each line: rates, occupancy, where slots went, how busy each unit is."""
    yield from _plain(each)
    yield "cycles of issue slots", [""] * len(each)
    yield "  used", [figures.used for figures in each]
    for reason in reasons(each):
        yield f"  lost: {reason}", [figures.lost.get(reason, 0.0) for figures in each]
    yield "busy at least, % of cycles", [""] * len(each)
    for limit in largest([figures.limits for figures in each], [100.0] * len(each)):
        yield f"  {limit}", [figures.limits.get(limit, 0.0) for figures in each]


def _plain(each: Sequence[Figures]) -> Iterator[tuple[str, Sequence[Cell]]]:
    """Yield the name and the values of each figure that is no part of a whole."""
    rated = all(figures.gflops is not None for figures in each)
    for name, field in PLAIN.items():
        if rated and field in OF_BYTES:
            continue
        values = [getattr(figures, field) for figures in each]
        if any(values):
            yield name, values


def _shown(value: Cell) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else value


def _difference(one: Cell, other: Cell) -> str:
    """The second value relative to the first; empty where that is undefined."""
    if isinstance(one, str) or isinstance(other, str):
        return "" if one == other else "*"
    return change(one, other) if one and other is not None and other != one else ""


def _document(found: Found, sms: Sms) -> CompareDocument:
    (_, first), *others = found
    return CompareDocument(
        variants=[
            Compared(one.label, one.kernel, one.machine, one.point.settings, one.point.parameters, figures)
            for one, figures in found
        ],
        differences=[
            Difference(variant.label, other.cycles - first.cycles, parts(first, other)) for variant, other in others
        ],
        sms=sms,
    )
