"""The tables of memory for people: by level, by buffer, by instruction."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from gpusim.views.timeline.memory_tables import TOTAL, Accesses, MemoryTables
from isa.memory import SECTOR_BYTES

CONSTANTS = "Constant", "Scalar"  # whose caches are no part of the L1
SHOWN = 12  # instructions, those with most sectors
MEANING = (
    "Of the whole launch; sectors of 32 bytes. Needed: bytes that lanes access. L1 hits: what it holds, or waits for "
    "already; L2 hits: what it holds, and all that is stored."
)


def levels(found: MemoryTables) -> Iterator[Table]:
    """Yield what each operation asks for at each level, and what comes of it; then the same of shared memory."""
    table = numbers("memory", "requests", "sectors", "each", "hits", "bytes", "needed")
    for one in found.l1:
        if one.operation != TOTAL:
            each = one.requests, one.sectors, one.sectors_per_request, one.hit_rate, one.bytes
            table.add_row(_cache(one.operation), *_cells(*each), _share(one.needed, one.bytes))
    for two in found.l2:
        if two.operation != TOTAL:
            each = two.requests, two.sectors, two.sectors_per_request, two.hit_rate, two.bytes
            table.add_row(f"L2 {two.operation}", *_cells(*each), "")
    for three in found.dram:
        if three.operation != TOTAL and three.sectors:
            table.add_row(f"DRAM {three.operation}", *_cells(0, three.sectors, None, None, three.bytes), "")
    if table.row_count:
        yield table
    if found.shared:
        yield _shared(found)


def _cache(operation: str) -> str:
    return operation if operation.startswith(CONSTANTS) else f"L1 {operation}"


def _shared(found: MemoryTables) -> Table:
    table = numbers("shared memory", "requests", "wavefronts", "bank conflicts")
    for one in found.shared:
        if one.operation != TOTAL:
            table.add_row(one.operation, *map(_count, (one.requests, one.wavefronts, one.bank_conflicts)))
    return table


def grouped(found: MemoryTables) -> Iterator[Table]:
    """Yield what accesses moved at each level, by buffer and by instruction."""
    if found.tagged:
        yield _accesses("buffer", found.buffers)
    most = sorted(found.instructions, key=lambda one: -(one.sectors or one.l2_sectors))
    yield _accesses("instruction", most[:SHOWN])


def _accesses(head: str, rows: tuple[Accesses, ...] | list[Accesses]) -> Table:
    table = numbers(head, "sectors", "hits", "needed", "L2 sectors", "L2 hits", "DRAM read", "written")
    for one in rows:
        needed = _share(one.needed, SECTOR_BYTES * one.sectors)
        first = _count(one.sectors), _rate(one.hit_rate), needed
        behind = _count(one.l2_sectors), _rate(one.l2_hit_rate), _count(one.dram_read), _count(one.dram_written)
        table.add_row(one.name, *first, *behind)
    return table


def _cells(
    requests: float, sectors: float, each: float | None, hits: float | None, size: float
) -> tuple[str, str, str, str, str]:
    return _count(requests), _count(sectors), "" if each is None else f"{each:.3g}", _rate(hits), _bytes(size)


def _count(number: float) -> str:
    return f"{number:,.0f}" if number else ""


def _rate(rate: float | None) -> str:
    return "" if rate is None else f"{100 * rate:.1f} %"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else ""


def _bytes(size: float) -> str:
    """Write a number of bytes with three digits."""
    for name, unit in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if size >= unit:
            return f"{size / unit:.3g} {name}" if size < 1000 * unit else f"{size / unit:,.0f} {name}"
    return f"{size:.0f} B"


def numbers(first: str, *others: str) -> Table:
    """Return an empty table: a column of texts, which fold, and columns of numbers."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table
