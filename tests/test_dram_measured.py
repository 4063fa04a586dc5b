"""What streams of reads and writes get of the DRAM: as an H200 moved them (h200_dram.csv), and by its machine file.

`memory.written` was fitted to these rows, `dram.written_alone` read off those of writes alone.
"""

import csv
from pathlib import Path

import pytest

import gpusim
from gpusim.machine.machine import load
from gpusim.sm.memory.dram.declaration import written_alone_cost
from gpusim.sm.memory.global_memory.declaration import arriving_mbs, line_cost, written_cost

FILE = Path(gpusim.__file__).parent / "published" / "h200_dram.csv"
Mix = tuple[int, int, int, int]  # arrays that are read and written, tiles of a block, whether in place
TOO_SLOW = {(1, 0, 1, 0), (0, 1, 1, 0)}  # blocks of a single tile of one array: handing them out takes longer


def measured() -> dict[Mix, float]:
    """Return for each mix the microseconds in which a megabyte of each array moves, the launch's own time left out.

    That is what the longest stream takes beyond one of half its length.
    """
    times: dict[Mix, dict[int, float]] = {}
    with FILE.open(encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            mix = (int(row["reads"]), int(row["writes"]), int(row["tiles"]), int(row["in_place"]))
            times.setdefault(mix, {})[int(row["megabytes"])] = float(row["microseconds"])
    longest = {mix: max(of) for mix, of in times.items()}
    return {mix: 2 * (of[longest[mix]] - of[longest[mix] // 2]) / longest[mix] for mix, of in times.items()}


def errors(written: float, alone: float) -> dict[Mix, float]:
    """Return for each mix the error in percent if a write takes so many times as long as a read, without reads too."""
    read = (1 << 20) / float(arriving_mbs(load("h200")))
    return {
        mix: 100 * (read * (mix[0] + (written if mix[0] else alone) * mix[1]) / took - 1)
        for mix, took in measured().items()
        if mix not in TOO_SLOW
    }


def test_a_mix_of_reads_and_writes_moves_as_measured():
    """Mixes are met within 4 %, and were up to 16 % too fast with writes that take no longer than reads."""
    found = {mix: error for mix, error in errors(*_written()).items() if mix[0] and mix[1]}
    assert len(found) == 9
    assert max(map(abs, found.values())) < 4
    assert min(errors(1, 1).values()) == pytest.approx(-16.2, abs=0.1)


def test_reads_alone_and_writes_alone_are_met():
    """Each is within 1 %; with the time of a turn for each, writes alone would be 18 % too slow."""
    alone = {mix: error for mix, error in errors(*_written()).items() if not (mix[0] and mix[1])}
    assert len(alone) == 4
    assert max(map(abs, alone.values())) < 1
    written, _ = _written()
    assert errors(written, written)[0, 1, 4, 0] == pytest.approx(18, abs=0.5)


def _written() -> tuple[float, float]:
    """Return how many times as long as a read a write takes among reads, and without."""
    machine = load("h200")
    return written_cost(machine) / line_cost(machine), written_alone_cost(machine) / line_cost(machine)
