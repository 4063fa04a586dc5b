"""Which of two warps a scheduler lets go, as an H100 chose (gpusim/published/h100_order.csv), and simulated.

That a warp which does not yield goes on, and that one which yielded comes last, can be read off the rows without
exception. The policy `cggty` does so.
"""

import csv
import lzma
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest
from measured_programs import module

import gpusim

HERE = Path(__file__).parent / "measured"
FILE = Path(gpusim.__file__).parent / "published" / "h100_order.csv"
SCHEDULERS, WARPS, READS = 4, 8, 96
PIPE = 2  # cycles of a scheduler from one read of the clock to the next
REST = 12
MEAN = {False: 0.42, True: 2.4}  # percent, of the worst warp; 0.41 and 2.37 over all programs


class Choice(NamedTuple):
    """A choice between both warps of a scheduler, by whether each yielded; `stays`: who issued last issued again."""

    stays: bool
    yielded: bool  # who issued last
    other: bool  # the other one, when it issued last
    since: int  # cycles since then


def measured() -> tuple[dict[str, list[tuple[int, bool]]], dict[str, list[list[int]]]]:
    """Return the control codes of each program, and the clocks of each of its warps."""
    codes, clocks = {}, defaultdict(list)
    with FILE.open(encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            if row["codes"]:
                codes[row["program"]] = [(int(text.rstrip("Y")), text.endswith("Y")) for text in row["codes"].split()]
            gaps = (int(gap) for gap in row["gaps"].split())
            clocks[row["program"]].append(list(accumulate(gaps, initial=int(row["first"]))))
    return codes, dict(clocks)


def choices() -> Iterator[Choice]:
    """Yield the choices of all programs and schedulers at which both warps could issue."""
    codes, clocks = measured()
    for program, found in clocks.items():
        for k in range(SCHEDULERS):
            reads = sorted((found[warp][i], warp, i) for warp in (k, k + SCHEDULERS) for i in range(READS))
            yield from _of_scheduler(codes[program], reads, {k, k + SCHEDULERS})


def _of_scheduler(
    codes: list[tuple[int, bool]], reads: list[tuple[int, int, int]], warps: set[int]
) -> Iterator[Choice]:
    issued = dict[int, tuple[int, int]]()  # when and what each warp issued last
    last = -1
    for now, warp, i in reads:
        ready = {w for w, (at, j) in issued.items() if at + max(codes[j][0], PIPE) <= now and j < READS - 1}
        if ready == warps:
            (other,) = warps - {last}
            at, j = issued[other]
            yield Choice(warp == last, codes[issued[last][1]][1], codes[j][1], now - at)
        issued[warp], last = (now, i), warp


@pytest.fixture(scope="module")
def order() -> ModuleType:
    """The program that writes the code, as a module."""
    return module(HERE / "order.py")


def simulated(order: ModuleType, codes: list[tuple[int, bool]], folder: Path) -> np.ndarray:
    """Return the clocks of each warp on `h200` since the first one of all."""
    path = folder / "order.cubin"
    path.write_bytes(order.edited(lzma.decompress((HERE / "order.cubin.xz").read_bytes()), codes))
    function = gpusim.RawModule(path=path).get_function("edited")
    out, numbers = np.zeros(1 << 14, np.uint32), np.ones(1 << 12, np.float32)
    function((1,), (WARPS * 32,), (out, numbers), machine="h200", shared_mem=8192, complete=False)
    found = out[: WARPS * READS].reshape(WARPS, READS).astype(np.int64)
    return found - found.min()


def test_every_program_was_measured(order):
    """The file has each program as it is drawn, with eight warps, and no other."""
    codes, clocks = measured()
    assert codes == dict(order.programs())
    assert {len(found) for found in clocks.values()} == {WARPS}


def test_a_warp_that_does_not_yield_goes_on():
    """Whoever issued last and did not yield issues again as soon as it can, whatever its stall count was."""
    found = [one.stays for one in choices() if not one.yielded]
    assert len(found) > 15000
    assert all(found)


def test_a_warp_that_yields_comes_after_one_that_did_not():
    """Whoever yields never goes before one that did not yield when it issued last."""
    found = [one.stays for one in choices() if one.yielded and not one.other]
    assert len(found) > 1000
    assert not any(found)


def test_of_two_that_yielded_the_last_goes_on_while_the_other_rests():
    """It goes on in more than three of four cases within 12 cycles, and in less than three of ten behind them.

    No other number of cycles divides them better.
    """
    both = [one for one in choices() if one.yielded and one.other]
    early, late = ([one.stays for one in both if (one.since < REST) == soon] for soon in (True, False))
    assert np.mean(early) > 0.75
    assert np.mean(late) < 0.3
    right = {rest: sum(one.stays == (one.since < rest) for one in both) for rest in range(2, 40)}
    assert max(right, key=lambda rest: right[rest]) in (REST - 1, REST)  # nobody issues 11 cycles later


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("yields", [False, True])
def test_warps_end_when_they_do_on_the_chip(order, tmp_path, yields):
    """Both warps of a scheduler end nearly as on the chip, whichever comes first."""
    codes, clocks = measured()
    errors = []
    for program in (name for name in codes if name.startswith("0.") != yields):  # the mean is of all
        found, chip = simulated(order, codes[program], tmp_path), np.array(clocks[program])
        ends = [np.sort(each[:, -1] - each.min()) for each in (found, chip)]
        errors.append(100 * np.abs(ends[0] / ends[1] - 1).max())
    assert np.mean(errors) <= MEAN[yields], errors
