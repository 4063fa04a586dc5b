"""What a launch touches of its buffers, and so what the L2 keeps of them: by all blocks, moved ones, or some."""

import tracemalloc

import numpy as np
import pytest
from draws import draws
from hypothesis import assume, given, settings
from scan.kept import touched_lines
from strategies.launches import kernels
from tagged_caches import TAGS
from timing import plain_machine

import gpusim
from benchmarks.tensor import kernels as tensor
from gpusim.engines.walks import launch_lines
from gpusim.engines.walks.launch_lines import lines, lost, of_launch
from gpusim.engines.walks.program_order import walker
from gpusim.launch.caches.filled_caches import lines_of
from isa.kernel import Kernel
from isa.text.assembler import assemble
from isa.text.listing import read

MEGABYTE = 1 << 20
ALL = 1 << 30  # more lines than there are
KEEPS = TAGS | {"l2.bytes": 4 * MEGABYTE, "l2.keeps_bytes": MEGABYTE, "l2.loses_bytes": 2 * MEGABYTE, "l2.filled": 1}
ROWS = """.grid {grid}
.buffer x u32 {words} = iota
.buffer y u32 {words}
MOV R0, c[x]
MOV R1, c[y]
S2R R2, CTAID.X
S2R R3, TID.X
{place}
SHL R3, R3, 2
IADD R2, R2, R3
IADD R0, R0, R2
IADD R1, R1, R2
LDG R4, [R0]
STG [R1], R4
EXIT
"""


def rows(grid: int, place: str = "SHL R2, R2, 12", megabytes: int = 16) -> Kernel:
    """Return a kernel whose blocks load and store 128 bytes each, at that place of two buffers of so many MB."""
    return read(ROWS.format(grid=grid, place=place, words=megabytes * MEGABYTE // 4))


@given(kernels())
@settings(deadline=None, max_examples=draws(40))
def test_few_blocks_touch_what_they_access(kernel):
    """Of a launch of few accesses the lines are exactly those that the interpreter's blocks touch, and store to."""
    found, expected = lines(kernel, 128, ALL), touched_lines(kernel, 128)
    assume(found and expected)
    assert set(found.which.tolist()) == expected[0]
    assert (found.lines, found.stored) == tuple(map(len, expected))


@pytest.mark.parametrize("few", [False, True])
def test_blocks_that_move_evenly_touch_what_the_middle_one_does_further_on(monkeypatch, few):
    """4,096 rows of 4,096 bytes of which a block touches 128: that many lines of each buffer, run or moved."""
    monkeypatch.setattr(launch_lines, "ACCESSES", 20_000 if few else 100)
    found = lines(rows(4096), 128, ALL)
    assert (found.lines, found.stored) == (2 * 4096, 4096)
    expected = lines_of(rows(4096), 128).reshape(-1, 32)[:, 0]
    assert found.which.tolist() == expected.tolist()


def test_blocks_that_go_both_ways_are_moved_along_each_axis(monkeypatch):
    """With rows along y and columns of 128 bytes along x all is touched, also by blocks before the middle one."""
    monkeypatch.setattr(launch_lines, "ACCESSES", 1)
    place = "S2R R5, CTAID.Y\nSHL R2, R2, 7\nSHL R5, R5, 12\nIADD R2, R2, R5"
    found = lines(rows("32 256", place, 1), 128, ALL)
    assert found.which.tolist() == lines_of(rows(1, megabytes=1), 128).tolist()


def test_no_more_is_looked_for_than_matters(monkeypatch):
    """Where 1,000 lines are enough the count may end there; it is no less."""
    monkeypatch.setattr(launch_lines, "ACCESSES", 1)
    monkeypatch.setattr(launch_lines, "AT_ONCE", 4)
    assert 1000 <= lines(rows(4096), 128, 1000).lines < 1010


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("SHR R5, R2, 1\nLOP.XOR R2, R2, R5\nSHL R2, R2, 7", 2 * 4096),  # a Gray code: each block its own line
        ("LOP.AND R2, R2, 3\nSHL R2, R2, 7", 2 * 4),  # four lines for all
    ],
)
def test_where_places_are_unknown_some_blocks_stand_for_the_others(monkeypatch, place, expected):
    """Of 4,096 blocks 32 are run: the others touch new lines as the second half of these did."""
    monkeypatch.setattr(launch_lines, "ACCESSES", 100)
    found = lines(rows(4096, place), 128, ALL)
    assert (found.lines, found.which) == (expected, None)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_few_long_blocks_are_all_run(monkeypatch, blocks):
    """Of a launch that is one to three long blocks of unknown places none is left for the others to stand for."""
    monkeypatch.setattr(launch_lines, "ACCESSES", 0)
    assert lines(rows(blocks, "SHR R5, R2, 1\nLOP.XOR R2, R2, R5\nSHL R2, R2, 7"), 128, ALL).lines == 2 * blocks


HALVES = """S2R R5, CTAID.{axis}
ISETP.{half} P0, R5, {least}
@P0 BRA other
LDG R4, [R0]
EXIT
other:
LDG R4, [R1]"""


@pytest.mark.parametrize(
    ("grid", "axis", "half", "least"),
    [("4096 2", "Y", "EQ", 0), ("4096 2", "Y", "EQ", 1), ("8192", "X", "LT", 2048), ("8192", "X", "GE", 2048)],
)
def test_what_the_middle_block_leaves_out_others_may_touch(monkeypatch, grid, axis, half, least):
    """Blocks load 128 bytes of x, or of y: all is counted within a tenth, though data flow knows both places."""
    monkeypatch.setattr(launch_lines, "ACCESSES", 0)
    place = "SHL R2, R2, 7"
    text = ROWS.format(grid=grid, place=place, words=MEGABYTE // 4)
    text = text.replace("LDG R4, [R0]\nSTG [R1], R4", HALVES.format(axis=axis, half=half, least=least))
    found = lines(read(text), 128, ALL)
    assert found.which is None
    assert found.lines == pytest.approx(8192, rel=0.1)


def test_a_middle_block_that_does_nothing_stands_for_none(monkeypatch):
    """Where the second half of 4,096 blocks leaves at once, the first half touches two lines each."""
    monkeypatch.setattr(launch_lines, "ACCESSES", 0)
    leaves = "ISETP.GE P0, R2, 2048\n@P0 EXIT\nSHL R2, R2, 12"
    assert lines(rows(4096, leaves), 128, ALL).lines == pytest.approx(4096, rel=0.1)


def test_what_no_block_does_needs_no_other(monkeypatch):
    """Where no guard depends on the block, the middle one that leaves out a store stands for all."""
    monkeypatch.setattr(launch_lines, "ACCESSES", 0)
    text = ROWS.format(grid=4096, place="ISETP.NE P0, RZ, 0\nSHL R2, R2, 12", words=4 * MEGABYTE)
    found = lines(read(text.replace("STG", "@P0 STG")), 128, ALL)
    assert (found.lines, found.stored, len(found.which)) == (4096, 0, 4096)


@pytest.mark.jit
def test_sectors_of_a_block_are_kept_once():
    """A block that loads one line 50,000 times keeps its four sectors while it runs, not two places of each lane."""
    text = ROWS.format(grid=1, place="MOV R2, 0\nMOV R6, 0", words=1024)
    loop = "loop:\nLDG R4, [R0]\nIADD R6, R6, 1\nISETP.LT P0, R6, 50000\n@P0 BRA loop"
    kernel = read(text.replace("LDG R4, [R0]\nSTG [R1], R4", loop))
    one = walker(kernel, addresses=True)
    tracemalloc.start()
    seen, accesses = launch_lines._of_block(one, 0)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(seen.sector), accesses) == (4, 50_000)
    assert most < 40 * MEGABYTE


def test_long_blocks_are_run_less_often(monkeypatch):
    """Of blocks of which two million instructions are four, four and the last are run; of longer ones three."""
    number = []
    monkeypatch.setattr(launch_lines, "ACCESSES", 0)
    run = launch_lines.run_block
    monkeypatch.setattr(launch_lines, "run_block", lambda *given: (number.append(given[1]), run(*given)))
    place = "LOP.AND R2, R2, 3\nSHL R2, R2, 7"
    for long, most in ((10**6, 33), (60, 6), (30, 4)):
        monkeypatch.setattr(launch_lines, "LONG", long)
        number.clear()
        lines(rows(4096, place), 128, ALL)
        assert 2 < len(number) - 1 <= most, long


def test_a_grid_too_large_to_be_moved_is_not():
    """46,340 x 46,340 blocks that each have a place of their own: nobody counts, and that takes no room."""
    place = "S2R R5, CTAID.Y\nSHL R2, R2, 2\nSHL R5, R5, 2\nIADD R2, R2, R5"
    assert lines(rows("46340 46340", place), 128, ALL) is None


def test_addresses_that_memory_holds_are_followed():
    """32 blocks load 32 numbers i each from x, and the word at 16,384 i of y: 32 lines of x, 1,024 of y."""
    gather = "LDG R4, [R0]\nSHL R4, R4, 14\nMOV R1, c[y]\nIADD R4, R4, R1\nLDG R6, [R4]"
    text = ROWS.format(grid=32, place="SHL R2, R2, 7", words=4 * MEGABYTE)
    found = lines(read(text.replace("LDG R4, [R0]\nSTG [R1], R4", gather)), 128, ALL)
    assert (found.lines, found.stored) == (32 + 1024, 0)


def test_what_faults_is_not_known():
    """If a block accesses no buffer nothing is known, and whole buffers count."""
    assert lines(Kernel("k", assemble("LDG R0, [RZ]"), (1, 1, 1), (32, 1, 1)), 128, ALL) is None


def test_what_is_left_decides_too():
    """Where launches leave less than a wave keeps, blocks are run; where they leave more, so many lines are enough."""
    kernel, left = rows(64, megabytes=1), {"l2.keeps_bytes": 3 * MEGABYTE, "l2.loses_bytes": 4 * MEGABYTE}
    few = {"limits.blocks": 1, "chip.sms": 1, "l2.left_spread": 4096}
    assert of_launch(kernel, plain_machine(KEEPS | left | few)) is None
    assert of_launch(kernel, plain_machine(KEEPS | left | few | {"l2.left_bytes": MEGABYTE})) is not None
    more = plain_machine(KEEPS | {"l2.left_bytes": 80 * MEGABYTE, "l2.left_spread": 5 * MEGABYTE})
    assert launch_lines._enough(more.l2, 128) == 100 * MEGABYTE // 128


def test_blocks_are_run_only_where_that_matters():
    """Buffers that are kept whole, and an L2 of which nothing more is known than its size, need no run."""
    assert of_launch(rows(64, megabytes=16), plain_machine(KEEPS)) is not None
    assert of_launch(rows(64, megabytes=16), plain_machine(KEEPS | {"l2.keeps_bytes": 0})) is None
    small = read(ROWS.format(grid=4, place="MOV R2, 0", words=1024))
    assert of_launch(small, plain_machine(KEEPS)) is None


@pytest.mark.jit
@pytest.mark.parametrize(("blocks", "expected"), [(64, 0), (4096, 0), (8192, 32), (16384, 64)])
def test_what_is_touched_says_what_is_kept(blocks, expected):
    """Two lines of 128 bytes a block: all of 1 MB is kept, half of 2 MB lost, all of 4 MB; not of 32 MB."""
    kernel = rows(blocks, "SHL R2, R2, 10")
    wide = {"chip.sms": 1, "limits.blocks": 1}
    kept = {"l2.keeps_bytes": MEGABYTE, "l2.loses_bytes": 3 * MEGABYTE}
    assert lost(kernel, plain_machine(KEEPS | wide | kept), 1)[0] == expected


@pytest.mark.parametrize("sms", [1, "all"])
def test_lines_that_a_launch_touches_are_in_a_full_l2(sms):
    """64 blocks that load 128 bytes each of buffers of 32 MB find them in an L2 of 4 MB, if a launch has left them."""
    found = [
        gpusim.simulate(rows(64), plain_machine(KEEPS | {"l2.filled": filled}), values=False, sms=sms).memory.whole
        for filled in (0, 1)
    ]
    assert found[0].dram_read > 0
    assert [found[1].dram_read, found[1].dram_written] == [0, 0]


@pytest.mark.jit
def test_boxes_of_the_copy_engine_are_seen():
    """A product of 128 x 128 tiles reads by tensor maps 256 columns of A and B, of 1,024, and stores its part of C."""
    (launch,) = tensor.wanted("wg128_tma2", "resident", 256)
    kernel, (x, y) = tensor.kernel(launch), launch.grid
    found = lines(kernel, 128, ALL)
    of_k = launch.k * 2 // 128
    stored = y * launch.tile[0] * x * launch.tile[1] * 4 // 128
    assert 0 <= found.lines - (of_k * (x * launch.tile[1] + y * launch.tile[0]) + stored) < 0.01 * found.lines
    assert 0 <= found.stored - stored < 0.01 * stored
    assert np.all(np.diff(found.which) > 0)
