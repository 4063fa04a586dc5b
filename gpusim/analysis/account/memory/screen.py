"""The tables of memory for people: by level, by buffer, by instruction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.table import Table

from gpusim.views.timeline.memory_tables import TOTAL, Accesses, MemoryTables
from isa.memory import SECTOR_BYTES
from isa.reading.origin import number

SHOWN = 12  # instructions, those with most sectors
LEGEND = "Of the launch, sectors of 32 bytes; needed: by lanes; DRAM: read and written"
MEANING = (
    "Of the whole launch; sectors of 32 bytes. Needed: bytes that lanes access. L1 hits: what it holds, or waits for "
    "already; L2 hits: what it holds, and all that is stored."
)


def levels(found: MemoryTables) -> Iterator[Table]:
    """Yield what each operation asks for at each level beyond shared memory, and what comes of it, if there is any."""
    heads = "requests", "sectors", "per req", "L1 hits", "needed", "L2 sectors", "L2 hits", "DRAM"
    table = numbers("memory", *heads)
    for column, name in zip(table.columns[1:], heads, strict=True):
        column.no_wrap = " " not in name  # on a narrow screen heads of two words take two lines
    table.columns[0].no_wrap = True
    for one in found.l1:
        if one.operation != TOTAL:
            own = [each for each in found.instructions if each.operation == one.operation]
            first = _count(one.requests), _count(one.sectors), _each(one.sectors_per_request), _rate(one.hit_rate)
            table.add_row(one.operation, *first, _share(one.needed, one.bytes), *_behind(own))
    for name in dict.fromkeys(one.operation for one in found.instructions):
        if name not in {one.operation for one in found.l1}:
            table.add_row(name, *[""] * 5, *_behind([each for each in found.instructions if each.operation == name]))
    if table.row_count:
        yield table


def _behind(own: Sequence[Accesses]) -> tuple[str, str, str]:
    """Return the sectors of the L2 of some instructions, the part that it holds, and the sectors of the DRAM."""
    sectors = sum(one.l2_sectors for one in own)
    hits = sum(one.l2_sectors * (one.l2_hit_rate or 0) for one in own)
    dram = sum(one.dram_read + one.dram_written for one in own)
    return _count(sectors), _rate(hits / sectors if sectors else None), _count(dram)


def shared(found: MemoryTables) -> str:
    """Return in a line what all accesses to shared memory take; empty if there are none."""
    if not found.shared:
        return ""
    *_, total = found.shared
    passes = f"{total.requests:,.0f} requests, {total.wavefronts:,.0f} passes"
    return f"{passes}, {total.bank_conflicts:,.0f} of them bank conflicts" if total.bank_conflicts else passes


def left_out(found: MemoryTables) -> str:
    """Return in a line which instructions `grouped` shows; empty if all."""
    every = len(found.instructions)
    return f"{SHOWN} of {every} instructions that access memory, those with most sectors" if every > SHOWN else ""


def grouped(found: MemoryTables) -> Iterator[Table]:
    """Yield what accesses moved at each level, by buffer and by instruction."""
    if found.tagged and found.buffers:
        yield _accesses("buffer", found.buffers)
    if found.instructions:
        most = sorted(found.instructions, key=lambda one: -(one.sectors or one.l2_sectors))
        named = [replace(one, name=f"{number(one.pc, one.offset)} {one.name}") for one in most[:SHOWN]]
        yield _accesses("instruction", named)


def _accesses(head: str, rows: tuple[Accesses, ...] | list[Accesses]) -> Table:
    table = numbers(head, "sectors", "hits", "needed", "to L2", "L2 hits", "DRAM read", "write")
    for one in rows:
        needed = _share(one.needed, SECTOR_BYTES * one.sectors)
        first = _count(one.sectors), _rate(one.hit_rate), needed
        behind = _count(one.l2_sectors), _rate(one.l2_hit_rate), _count(one.dram_read), _count(one.dram_written)
        table.add_row(one.name, *first, *behind)
    return table


def _each(sectors: float | None) -> str:
    return "" if sectors is None else f"{sectors:.3g}"


def _count(number: float) -> str:
    return f"{number:,.0f}" if number else ""


def _rate(rate: float | None) -> str:
    return "" if rate is None else f"{100 * rate:.1f} %"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else ""


def numbers(first: str, *others: str) -> Table:
    """Return an empty table: a column of texts, which fold, and columns of numbers."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table
