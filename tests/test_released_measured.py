"""When the warps of a block go on behind a barrier: as an H100 released them (h100_released.csv), and simulated."""

import csv
import lzma
from pathlib import Path

import numpy as np
import pytest

import gpusim

HERE = Path(__file__).parent / "measured"
FILE = Path(gpusim.__file__).parent / "published" / "h100_released.csv"
BEHIND = 16  # cycles: of the barrier, the next one, and the read of the clock
FITS = 16  # warps of a block whose release is simulated to the cycle

Clocks = tuple[np.ndarray, np.ndarray]  # of each warp, before the barrier and behind it


def measured() -> dict[tuple[str, int], Clocks]:
    """Return the clocks by kernel and number of warps."""
    with FILE.open(encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {(row["kernel"], int(row["warps"])): (clocks(row["before"]), clocks(row["behind"])) for row in rows}


def clocks(text: str) -> np.ndarray:
    """Return the numbers in a field."""
    return np.array(text.split(), int)


def simulated(kernel: str, warps: int, folder: Path) -> Clocks:
    """Return the same on `h200`."""
    path = folder / "release.cubin"
    path.write_bytes(lzma.decompress((HERE / "release.cubin.xz").read_bytes()))
    out = np.zeros(64, np.uint32)
    function = gpusim.RawModule(path=path).get_function(kernel)
    function((1,), (32 * warps,), (out,), machine="h200", shared_mem=4096, complete=False)
    read = out.astype(np.int64) - int(out[32 : 32 + warps].max())
    return read[32 : 32 + warps], read[:warps]


def test_all_warps_of_a_barrier_go_on_together():
    """One warp of each scheduler reads its clock 16 cycles behind the last arrival, however many arrived."""
    for (kernel, warps), (_, behind) in measured().items():
        if kernel == "bar" and warps <= FITS:
            assert (np.sort(behind)[: min(4, warps)] == BEHIND).all()


def test_each_scheduler_lets_the_warps_go_two_cycles_apart():
    """The others follow by 2 cycles each, the pipe's time for a read of the clock, and the oldest four come last."""
    for (kernel, warps), (_, behind) in measured().items():
        if kernel == "bar" and warps <= FITS:
            assert sorted(behind) == [BEHIND + 2 * (i // 4) for i in range(warps)]
            assert set(behind[:4]) == {behind.max()}


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("kernel", ["bar", "load"])
def test_warps_go_on_when_they_do_on_the_chip(kernel, tmp_path):
    """With up to 16 warps the set of clocks behind the barrier is the chip's, to the cycle; not whose each is.

    More are late there: 20 warps by 5 cycles, and four more by 8 further ones each.
    """
    for (name, warps), (_, behind) in measured().items():
        if name == kernel and warps <= FITS:
            assert sorted(simulated(kernel, warps, tmp_path)[1]) == sorted(behind), warps
