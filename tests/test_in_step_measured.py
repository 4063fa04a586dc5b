"""What SMs wait for that load the same lines together: as an H200 waited (h200_in_step.csv), and simulated."""

import csv
import lzma
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import gpusim
from gpusim.launch.caches.lockstep import waves
from gpusim.machine.simulated_sms import mean
from gpusim.sm.memory.l2_share.declaration import PARTS

HERE = Path(__file__).parent / "measured"
H200 = mean(gpusim.load("h200"))  # rows tell of the mean SM
FILE = Path(gpusim.__file__).parent / "published" / "h200_in_step.csv"
SMS, STEPS, SKIPPED = 132, 64, 8
X, WAVES = 1, 8
MOST = 132  # rows of tiles, of 256 KB each


class Grid(NamedTuple):
    """A launch: rows of `sharers` blocks load the same tiles."""

    tile: str
    sharers: int
    groups: int
    resident: int
    l2: str


Waits = dict[Grid, list[tuple[float, float]]]  # by wave, of even and of odd steps


@pytest.fixture(scope="module")
def measured() -> Waits:
    """Return the waits in cycles."""
    found = defaultdict(list)
    with FILE.open(encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            grid = Grid(row["tile"], *(int(row[name]) for name in ("sharers", "groups", "resident")), row["l2"])
            found[grid].append((float(row["even"]), float(row["odd"])))
    return found


def of_one_wave(measured: Waits, tile: str, l2: str) -> dict[int, tuple[float, float]]:
    """Return the waits of grids of one wave, by the blocks that load the same."""
    return {g.sharers: found[0] for g, found in measured.items() if (g.tile, g.l2) == (tile, l2) and len(found) == 1}


def lacking(measured: Waits, grid: Grid) -> list[float]:
    """Return how much of the first wave's further waits for a cold L2 each wave has."""
    cold, warm = ([even for even, _ in measured[grid._replace(l2=l2)]] for l2 in ("cold", "warm"))
    return [(one - min(warm)) / (cold[0] - min(warm)) for one in cold]


def of_eight_waves(measured: Waits) -> list[Grid]:
    """Return the grids of eight waves with a cold L2, but for those whose 44 MB of tiles the warm one does not hold."""
    eight = [grid for grid, found in measured.items() if len(found) == WAVES and grid.l2 == "cold"]
    return [grid for grid in eight if grid.groups <= MOST]


@pytest.mark.parametrize("tile", ["tall", "wide"])
def test_who_waits_for_others_waits_as_long_as_alone(tile, measured):
    """From a cold L2 tiles that 132 SMs load together are about as late as those that 12, or each alone, load.

    In even steps they are 2 to 20 % sooner, as there are fewer bytes in all, and twice as late as with a warm L2.
    """
    found = of_one_wave(measured, tile, "cold")
    assert all(1 < found[1][0] / found[sharers][0] < 1.26 for sharers in found if sharers > 1)
    assert all(found[sharers][0] > 2 * warm for sharers, (warm, _) in of_one_wave(measured, tile, "warm").items())


def test_64_bytes_come_from_the_dram_together(measured):
    """Every second step of a tall tile, 32 bytes further on in its rows, takes 33 % longer than a warm one at most."""
    for sharers, (even, odd) in of_one_wave(measured, "tall", "cold").items():
        assert odd < 1.34 * of_one_wave(measured, "tall", "warm")[sharers][1] < 0.7 * even


def test_rows_that_fill_waves_stay_in_step(measured):
    """Of rows of 12 and 33 blocks, of which a wave is a whole number, each wave waits 84 % or more as long."""
    for grid in of_eight_waves(measured):
        if SMS % grid.sharers == 0:
            assert min(lacking(measured, grid)) >= 0.84


def test_rows_that_cross_waves_lose_step(measured):
    """Rows of 32 and 43 blocks cross waves; `waves` is less than 0.1 off in the mean over a grid's waves, once 0.14."""
    off = []
    for grid in of_eight_waves(measured):
        if SMS % grid.sharers:
            chip = lacking(measured, grid)
            ours = [one / PARTS for one in waves((grid.sharers, grid.groups, 1), SMS, grid.resident, X)]
            off.append(np.mean([abs(a - b) for a, b in zip(chip[1:], ours[1:], strict=False)]))
            assert chip[-1] < 0.48
    assert sorted(off)[-2] < 0.1
    assert max(off) < 0.14


def simulated(grid: Grid, folder: Path) -> tuple[float, float]:
    """Return the waits of the first block, of even and of odd steps, on `h200`."""
    path = folder / "in_step.cubin"
    path.write_bytes(lzma.decompress((HERE / "in_step.cubin.xz").read_bytes()))
    blocks, pitch = grid.sharers * grid.groups, 2048 if grid.tile == "tall" else 512 * grid.groups
    tiles, sums = np.zeros(grid.groups << 16, np.float32), np.zeros(256 * blocks, np.float32)
    waits = np.zeros(STEPS * blocks, np.uint32)
    function = gpusim.RawModule(path=path).get_function(grid.tile)
    arguments = (tiles, np.uint32(pitch), waits, sums)
    function((grid.sharers, grid.groups), (256,), arguments, machine=H200, caches=grid.l2, complete=False)
    of_first = waits.reshape(STEPS, blocks)[SKIPPED:, 0]
    return float(of_first[::2].mean()), float(of_first[1::2].mean())


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("tile", ["tall", "wide"])
@pytest.mark.parametrize("l2", ["warm", "cold"])
def test_one_sm_waits_as_they_do(tile, l2, measured, tmp_path):
    """The SM that stands for all waits 7 % less to 4 % more with a warm L2, and with a cold one 19 % less to 8 % more.

    From a cold L2 pieces of 32 bytes that an SM or a pair loads for itself are 34 and 17 % late: `dram.least_bytes`
    is of random lines, and rows 2 KB apart cost the DRAM less.
    """
    for sharers, chip in of_one_wave(measured, tile, l2).items():
        ours = simulated(Grid(tile, sharers, SMS // sharers, 1, l2), tmp_path)
        own_pieces = (tile, l2) == ("tall", "cold") and sharers <= 2
        least, most = (0.93, 1.04) if l2 == "warm" else (0.81, 1.34 if own_pieces else 1.08)
        for one, other in zip(ours, chip, strict=True):
            assert least < one / other < most
