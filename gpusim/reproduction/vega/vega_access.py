"""The access table of the SGEMM for Vega: words for each k of a tile of 64 by 256, counted in two kernels' streams.

Its columns are the usual SGEMM, whose blocks compute 64 by 64, and VLP, whose block computes the tile. Its rows count
differently: rows of A, except reads by multiply-adds, count one usual block; all others count the four that compute the
tile. Each of VLP's four waves loads all of A into its scalar registers; only one is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from gpusim.engines.walks.traffic import Level, Traffic, traffic
from gpusim.reproduction.bench import Bench
from gpusim.reproduction.finding import Finder, Finding, counted, registrar
from gpusim.reproduction.vega.vega_speed import VLP
from isa.dataflow.register_use import RESULTS
from workloads.catalog import make

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)

USUAL, DGEMM = "sgemm-vega-legacy", "dgemm-vega-vlp"
COLUMNS = {USUAL: "64", VLP: "256", DGEMM: "256"}  # of a block
FEW, MANY = 16, 48  # sizes along k, which differ by whole rounds of the main loop
STEP = 8  # k for which the usual SGEMM has one barrier
ONE, FOUR = 1, 4
BLOCK = "usual SGEMM: one of the four blocks"
WAVE = "VLP: one of the four waves, which all load A"
Count = Callable[[Traffic], int]


def read(level: Level, use: str, *, arithmetic: bool = False) -> Count:
    """Return what counts the words that are read at a level; `arithmetic`: by multiply-adds."""
    return lambda t: t.read(level, use, arithmetic=arithmetic)


def written(level: Level, use: str, *, arithmetic: bool = False) -> Count:
    """Return what counts the words that are written at a level; `arithmetic`: by multiply-adds."""
    return lambda t: t.written(level, use, arithmetic=arithmetic)


def both(level: Level, use: str, *, arithmetic: bool = False) -> Count:
    """Return what counts the words that are read or written at a level; `arithmetic`: by multiply-adds."""
    return lambda t: t.total(level, use, arithmetic=arithmetic)


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the table: the count in the usual block, the number of blocks, and the count in VLP, with its waves."""

    usual: Count
    blocks: int
    vlp: Count
    waves: int = ONE
    note: str = ""


def _alike(count: Count, blocks: int, note: str = "") -> Entry:
    """Return the row that counts the same in both kernels."""
    return Entry(count, blocks, count, ONE, note)


_A_WRITTEN = written(Level.REGISTERS, "A"), ONE, written(Level.SCALARS, "A"), FOUR
_A_READ = read(Level.REGISTERS, "A", arithmetic=True), FOUR, read(Level.SCALARS, "A", arithmetic=True), FOUR
TABLE: Mapping[str, Entry] = {
    "A L2": _alike(read(Level.L2, "A"), ONE, BLOCK),
    "A L1": Entry(read(Level.L1, "A"), ONE, read(Level.SCALAR_CACHE, "A"), FOUR),
    "A written": Entry(*_A_WRITTEN, f"{BLOCK}; {WAVE}, to scalar registers"),
    "A read": Entry(*_A_READ, f"by multiply-adds alone; {WAVE}"),
    "A LDS written": _alike(written(Level.SHARED, "A"), ONE, BLOCK),
    "A LDS read": _alike(read(Level.SHARED, "A"), ONE, f"{BLOCK}, 64 threads"),
    "B L2": _alike(read(Level.L2, "B"), FOUR),
    "B L1": _alike(read(Level.L1, "B"), FOUR),
    "B written": _alike(written(Level.REGISTERS, "B"), FOUR, "of 256 threads"),
    "B read": _alike(read(Level.REGISTERS, "B", arithmetic=True), FOUR, "by multiply-adds alone"),
    "B LDS written": _alike(written(Level.SHARED, "B"), FOUR),
    "B LDS read": _alike(read(Level.SHARED, "B"), FOUR),
    "C": _alike(both(Level.REGISTERS, RESULTS, arithmetic=True), FOUR, "by multiply-adds; VLP: with forwarding"),
    "barrier": _alike(lambda t: STEP * t.barriers, ONE, f"for each step of {STEP} along k"),
}
SEPARATE: Mapping[str, tuple[str, ...]] = {  # entries of the usual SGEMM in a note
    "VG11": ("B LDS read",),
    "VG16": ("A LDS written", "A LDS read", "B LDS written", "B LDS read"),
}
PRINTED: Mapping[str, tuple[str, ...]] = {  # the entries that each line of the document counts, or sums
    "VG01": ("A L2",),
    "VG02": ("A written",),
    "VG03": ("A read",),
    "VG04": ("A LDS written",),
    "VG05": ("A LDS read",),
    "VG06": ("B L2",),
    "VG07": ("B L1",),
    "VG08": ("B written",),
    "VG09": ("B read",),
    "VG10": ("B LDS written",),
    "VG11": ("B LDS read", "B LDS written"),
    "VG12": ("C",),
    "VG13": ("A L2", "B L2"),
    "VG14": ("A L1", "B L1"),
    "VG15": ("A written", "A read", "B written", "B read", "C"),
    "VG16": ("A LDS written", "A LDS read", "B LDS written", "B LDS read", "B LDS written"),
    "VG17": ("barrier",),
}
NOTES: Mapping[str, str] = {
    "VG11": "taken as read and written, as the row of VGPR writes has it; {0:.0f} are read, by 256 threads",
    "VG13": "as printed: A of one usual block, B of four",
    "VG14": "as printed; A, which has no row of its own, of one usual block and one wave",
    "VG15": "as printed: A of one usual block and one wave; without what is read to be written to the LDS",
    "VG16": "as printed: what is written of B counts twice, as in its row of reads; {0:.0f} if it does not",
}


def pair(entries: tuple[str, ...], vlp: str = VLP) -> tuple[float, float]:
    """Return the sum of some entries of the table, for each k: of the usual SGEMM, and of VLP, or a kernel like it."""
    rows = [TABLE[name] for name in entries]
    usual = sum(per_k(USUAL, row.usual) * row.blocks for row in rows)
    return usual, sum(per_k(vlp, row.vlp) / row.waves for row in rows)


def _enter(name: str, entries: tuple[str, ...]) -> None:
    def of_table(_: Bench) -> Finding:
        note = NOTES.get(name, TABLE[entries[0]].note)
        return counted(*pair(entries), note=note.format(pair(SEPARATE[name])[0]) if name in SEPARATE else note)

    claim(name)(of_table)


for _name, _entries in PRINTED.items():
    _enter(_name, _entries)


@claim("VG18")
def saved(_: Bench) -> Finding:
    """The share of the usual SGEMM's register words that VLP avoids."""
    usual, vlp = pair(PRINTED["VG15"])
    share = 100 * (1 - vlp / usual)
    return counted(share, note=f"{share:.1f} of the printed sums, which have reads and writes together")


@claim("VG19")
def operand(_: Bench) -> Finding:
    """The share of a multiply-add's vector registers that VLP replaces with a scalar register."""
    usual, vlp = (operands(kernel) for kernel in (USUAL, VLP))
    return counted(100 * (1 - vlp / usual), note="of three read and one written")


def operands(kernel: str, bits: int = 32) -> float:
    """Return how many words each multiply-add of the main loop has in vector registers, forwarded or not."""
    few, many = (_counts(kernel, k, forwarding=False) for k in (FEW, MANY))
    words = many.total(Level.REGISTERS, arithmetic=True) - few.total(Level.REGISTERS, arithmetic=True)
    return words / (many.arithmetic[bits] - few.arithmetic[bits])


def per_k(kernel: str, count: Count) -> float:
    """Return the count of the main loop for each k."""
    few, many = (count(_counts(kernel, k, forwarding=True)) for k in (FEW, MANY))
    return (many - few) / (MANY - FEW)


@cache
def _counts(kernel: str, k: int, *, forwarding: bool) -> Traffic:
    """Return the traffic of one block."""
    return traffic(make(kernel, {"m": "64", "n": COLUMNS[kernel], "k": str(k)}), forwarding=forwarding)
