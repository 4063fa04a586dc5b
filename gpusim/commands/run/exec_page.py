"""The page of a program: its kernels, each with a page of its own, and what the card did when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from gpusim.commands.run.exec_screen import Form, forms, kernel_cells, sums
from gpusim.programs.card.clock import KERNELS, ON_DEVICE, TO_DEVICE, TO_HOST, Span
from gpusim.programs.program import Executed
from gpusim.views.charts.bars import Bar, Segment, bars
from gpusim.views.charts.page import Key, PageSection, Row, Table, page

COLOURS = {KERNELS: "link", TO_DEVICE: "heat", TO_HOST: "other", ON_DEVICE: "faint"}
HEADS = "kernel", "launches", "grid", "block", "µs each", "µs", "%", "limiter"
MOST = 400  # parts of a bar: of more, neighbours become one


def program_page(ran: Executed, title: str, facts: Sequence[str], links: Mapping[int, str]) -> str:
    """Return the page; `links` are the pages of launches by their numbers."""
    whole = sum(one.milliseconds or 0.0 for one in ran.session.runner.rows)
    ranked = forms(ran.session.runner.rows)
    rows = [_row(form, whole, links) for form in ranked]
    kernels = PageSection(
        "Kernels", ["By their time; the limiter is that of the first launch."], table=Table(HEADS, rows)
    )
    return page(title, [*facts, *sums(ran, ran.session.machine.key)], [kernels, *_timeline(ran.session.clock.spans)])


def _row(form: Form, whole: float, links: Mapping[int, str]) -> Row:
    head, *cells = kernel_cells(form, whole)
    link = next((links[one.number] for one in form.rows if one.number in links), "")
    return Row(head, cells, link=link)


def _timeline(spans: Sequence[Span]) -> Iterator[PageSection]:
    """Yield the section of what each part of the card did when; nothing where there is no time."""
    parts = {part: sorted(own, key=attrgetter("begin")) for part, own in _by_part(spans)}
    if not parts:
        return
    rows = [_bar(part, own) for part, own in parts.items()]
    text = ["Microseconds from the program's first call on; the host's own work takes no time."]
    keys = [Key(COLOURS[part], "", part) for part in parts]
    yield PageSection("What the card did", text, bars(rows, "microseconds"), keys, _steps(spans))


def _by_part(spans: Sequence[Span]) -> Iterator[tuple[str, list[Span]]]:
    for part, own in groupby(sorted(spans, key=attrgetter("part")), attrgetter("part")):
        yield part, list(own)


def _bar(part: str, spans: Sequence[Span]) -> Bar:
    """Return a bar of what a part did, with nothing where it waited."""
    segments, now = list[Segment](), 0.0
    for begin, end, title in _merged(spans):
        segments += [Segment(COLOURS[part], max(0.0, begin - now), "nothing", 0.0)]
        segments += [Segment(COLOURS[part], end - max(now, begin), title)]
        now = end
    busy = sum(one.took for one in spans)
    return Bar(part, f"{busy:,.1f} µs", tuple(segments))


def _merged(spans: Sequence[Span]) -> Iterator[tuple[float, float, str]]:
    """Yield begin, end and title of spans, of several neighbours as one where there are many."""
    size = -(-len(spans) // MOST)
    for first in range(0, len(spans), size):
        own = spans[first : first + size]
        name = own[0].what if len(own) == 1 else f"{len(own)} from {own[0].what} on"
        end = own[-1].begin + own[-1].took
        yield own[0].begin, end, f"{name}: {own[0].begin:,.2f} to {end:,.2f} µs"


def _steps(spans: Sequence[Span]) -> Table:
    """Return the first things that the card did."""
    rows = [
        Row(one.what, (one.part, str(one.stream), f"{one.begin:,.2f}", f"{one.took:,.2f}", f"{one.nbytes:,}"))
        for one in spans[:MOST]
    ]
    more = f"the first {MOST} of {len(spans):,}" if len(spans) > MOST else ""
    return Table(("what", "part", "stream", "begins, µs", "takes, µs", "bytes"), rows, more)
