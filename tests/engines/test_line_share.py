"""Which lines that SMs of a GPC ask for together differ: by steps of addresses, and by a walk of their blocks."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gpusim
from benchmarks.tensor import copies, kernels
from gpusim.engines.line_share import LONG, asked, differing
from gpusim.machine.machine import load
from gpusim.machine.simulated_sms import neighbours
from isa.executing import clusters
from isa.nvidia.abi.on_chip import on_chip
from isa.text.listing import read

H200 = load("h200")
ROWS = Path(gpusim.__file__).parent / "published" / "h100_l2_counts.csv"
TOGETHER = ROWS.with_name("h200_together.csv")
HEAD = ".grid {}\n.block 32\n.buffer x u32 1048576\nMOV R2, c[x]\nS2R R3, CTAID.X\nS2R R4, CTAID.Y\nS2R R5, LANEID\n"
LOAD = "\nSHL R5, R5, 2\nIADD R2, R2, R5\nIADD R2, R2, R6\nLDG R7, [R2]\nEXIT"
SMS, GPC = 132, 17  # of an H200, and of its first GPC where eight have equally many


def parts(body, blocks, grid="64 4"):
    """Return how many of 64 sectors that blocks ask for with the only load are different ones."""
    (found,) = differing(read(HEAD.format(grid) + body + LOAD), tuple(blocks)).values()
    return found


@pytest.mark.parametrize(
    ("body", "blocks", "expected"),
    [
        ("MOV R6, 0", range(16), 4),  # all ask for the same: 1 of 16
        ("SHL R6, R3, 7", range(16), 64),  # each its own line
        ("SHL R6, R4, 7", range(16), 4),  # the same along x
        ("SHL R6, R4, 7", range(56, 72), 8),  # eight of one row of the grid, eight of the next
        ("SHL R6, R3, 3", range(16), 16),  # 8 bytes apart: four begin in one sector
    ],
)
def test_steps_tell_who_asks_for_the_same(body, blocks, expected):
    """Where an address moves evenly with the block, by hand."""
    assert parts(body, blocks) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("LOP.AND R6, R3, 3\nSHL R6, R6, 7", 16),  # four lines in turn
        ("LOP.AND R6, R3, 12\nSHL R6, R6, 5", 16),  # the same for four blocks in a row
        ("LOP.AND R6, R3, 1\nSHL R6, R6, 6", 6),  # every second one 64 of 128 bytes further: six sectors of 64
    ],
)
def test_a_walk_tells_the_same_of_other_addresses(body, expected):
    """Sixteen blocks at places that are no linear function of their number, by hand."""
    assert parts(body, range(16)) == expected


def test_turns_of_a_loop_count_by_themselves():
    """Sixteen blocks read the same sixteen lines, each from its own on: in each turn all lines differ.

    From the fourth on a line comes again after four blocks: four blocks ask for each of these at once.
    """
    loop = """
    MOV R8, 0
    MOV R9, R2
again:
    IADD R6, R3, R8
    LOP.AND R6, R6, {mask}
    SHL R6, R6, 7
    IADD R2, R9, R6
    LDG R7, [R2]
    IADD R8, R8, 1
    ISETP.LT P0, R8, 16
@P0 BRA again
    EXIT"""
    for mask, expected in ((15, 64), (3, 16)):
        (found,) = differing(read(HEAD.format("64 4") + loop.format(mask=mask)), tuple(range(16))).values()
        assert found == expected


def test_a_long_block_is_run_for_a_while():
    """Each block loads a line of its own, and after so many instructions the same as all others: that is not seen."""
    late = """
    MOV R8, 0
    MOV R9, R2
again:
    ISETP.LT P1, R8, {turns}
    SEL R6, R3, RZ, P1
    SHL R6, R6, 7
    IADD R2, R9, R6
    LDG R7, [R2]
    IADD R8, R8, 1
    ISETP.LT P0, R8, {all}
@P0 BRA again
    EXIT"""
    for turns, expected in ((LONG, 64), (LONG // 20, range(5, 64))):
        text = HEAD.format("64 4") + late.format(turns=turns, all=2 * LONG)
        (found,) = differing(read(text), tuple(range(16))).values()
        assert found == expected or found in np.ravel(expected)


def test_a_load_by_no_lane_asks_for_nothing():
    """Nothing is told of it, whether its address moves evenly or not."""
    body = "LOP.AND R6, R3, 3\nSHL R6, R6, 7\nISETP.LT P0, R5, 0\nIADD R2, R2, R6\n@P0 LDG R7, [R2]\nEXIT"
    assert not differing(read(HEAD.format("64 4") + body), tuple(range(16)))


@pytest.mark.jit
def test_boxes_of_a_product_are_shared_along_rows():
    """The first 17 of 32 x 32 blocks of 128 x 128: one box of A for all, 17 of B."""
    (launch,) = kernels.wanted("wg128_tma2", "full", 0)
    found = differing(on_chip(kernels.kernel(launch), SMS), neighbours(kernels.kernel(launch), H200, 0))
    assert sorted(found.values()) == [round(64 / GPC)] * 2 + [64] * 2


@pytest.mark.jit
@pytest.mark.parametrize(("stages", "shared"), [(1, False), (8, True)])
def test_copies_under_way_are_asked_for_together(stages, shared):
    """Blocks four boxes apart: neighbours have the same under way if these are eight, and not if it is one."""
    name = "tensor load cycles per copy box=64x128 swz=3 stages=8 blocks=132"
    (row,) = (one for one in copies.rows() if str(one).startswith(name))
    asked = copies.launch(row)
    after = (copies.number(stages), *asked.after[1:])
    kernel = copies.kernel(replace(asked, after=after), 40)
    assert (max(differing(kernel, tuple(range(8))).values()) < 64) == shared


@pytest.mark.parametrize(
    ("body", "grid", "threads", "expected"),
    [
        ("MOV R6, 0", "132", 32, 5 / GPC),  # 17 SMs get it by five reads, four at a time
        ("SHL R6, R3, 7", "132", 32, 1),  # each its own line
        ("SHL R6, R4, 7", "2 66", 32, 9 / GPC),  # eight pairs and a half
        ("MOV R6, 0", "528", 32, 1 - (12 / GPC) * 5 / 8),  # four blocks of each SM: five eighths ask at the same time
        ("LOP.AND R6, R3, 3\nSHL R6, R6, 7", "132", 32, 1),  # nobody knows who keeps in step
    ],
)
def test_the_l2_is_asked_once_for_what_neighbours_want_together(body, grid, threads, expected):
    """Of the sectors that SMs get the L2 is asked for a part, by hand."""
    text = HEAD.format(grid).replace(".block 32", f".block {threads}")
    (found,) = asked(read(text + body + LOAD), H200, 0).values()
    assert found == pytest.approx(expected)


def test_waves_out_of_step_ask_for_themselves():
    """Rows of 12 blocks fill waves of 132, and stay in step; of rows of 40 some go on in the next wave."""
    rows = [asked(read(HEAD.format(grid) + "SHL R6, R4, 7" + LOAD), H200, 0) for grid in ("12 880", "40 264")]
    within, beyond = (next(iter(one.values())) for one in rows)
    assert within < beyond < 1


def test_panels_of_a_product_ask_as_on_a_chip():
    """Of 256 to 4,096 blocks, each with panels of rows and columns, as the coalescer of an H100 counted."""
    panels = "SHL R3, R3, 12\nSHL R4, R4, 12\nIADD R5, R2, R4\nLDG R7, [R5]\nIADD R5, R2, R3\nLDG R8, [R5]\nEXIT"
    with ROWS.open(encoding="utf-8", newline="") as file:
        counted = [row for row in csv.DictReader(line for line in file if line[0] != "#") if "panels" in row["launch"]]
    for row in counted[1:]:  # the first has fewer blocks than SMs
        side = int(row["launch"].split("=")[1].split()[0]) // 64
        text = HEAD.format(f"{side} {side}").replace(".block 32", ".block 256") + panels
        found = np.mean(list(asked(read(text), H200, 0).values()))
        measured = float(row["coalescer_out_sectors"]) / float(row["coalescer_in_sectors"])
        assert found == pytest.approx(measured, rel=0.1)


def test_tiles_are_asked_for_as_on_the_chip():
    """Of blocks that load the same tiles, 1 to 8 on an SM, in one wave or four, the median error is below 12 %."""
    tiles, column = "SHL R3, R3, 12\nSHL R4, R4, 12\nIADD R5, R2, R4\nLDG R7, [R5]\n", "IADD R5, R2, R3\nLDG R8, [R5]\n"
    with TOGETHER.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(line for line in file if line[0] != "#"))
    errors = []
    for row in rows:
        resident = int(row["resident"])
        shared = f".shared {0 if resident == 8 else (226 << 10) // resident - 2048}\n"
        text = HEAD.format(f"{row['columns']} {row['rows']}").replace(".block 32", f".block 256\n{shared}")
        found = np.mean(list(asked(read(text + tiles + column * int(row["both"]) + "EXIT"), H200, 0).values()))
        errors.append(abs(found * float(row["l1_loaded_sectors"]) / float(row["l2_read_sectors"]) - 1))
    assert len(errors) == 132
    assert np.median(errors) < 0.12


def test_neighbours_are_the_blocks_of_a_gpc():
    """Eight GPCs of 132 SMs in turn, 16 or 17 each; the SM's own is one of them; fewer where the grid ends."""
    kernel = read(HEAD.format("64 4") + "EXIT")
    found = [neighbours(kernel, H200, sm) for sm in range(SMS)]
    assert all(sm in one for sm, one in enumerate(found))
    assert sorted(len(one) for one in set(found)) == [16] * 4 + [17] * 4
    assert neighbours(read(HEAD.format("20 1") + "EXIT"), H200, 18) == (17, 18, 19)


def test_neighbours_of_clusters_are_clusters():
    """Clusters of 2 x 1 blocks lie on successive SMs: those of a GPC are whole but for the first or last one."""
    kernel = replace(read(HEAD.format("64 4") + "EXIT"), cluster=(1, 2, 1))
    found = neighbours(kernel, H200, 0)
    assert found[:4] == (0, 64, 1, 65)
    assert np.unique([clusters.of_block(kernel, block)[0] for block in found]).size == 9
