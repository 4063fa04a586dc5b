"""What a launch touches of its buffers, and so what the L2 keeps of them: by all blocks, moved ones, or some."""

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


def test_addresses_that_memory_holds_are_followed():
    """32 blocks load 32 numbers i each from x, and the word at 16,384 i of y: 32 lines of x, 1,024 of y."""
    gather = "LDG R4, [R0]\nSHL R4, R4, 14\nMOV R1, c[y]\nIADD R4, R4, R1\nLDG R6, [R4]"
    text = ROWS.format(grid=32, place="SHL R2, R2, 7", words=4 * MEGABYTE)
    found = lines(read(text.replace("LDG R4, [R0]\nSTG [R1], R4", gather)), 128, ALL)
    assert (found.lines, found.stored) == (32 + 1024, 0)


def test_what_faults_is_not_known():
    """If a block accesses no buffer nothing is known, and whole buffers count."""
    assert lines(Kernel("k", assemble("LDG R0, [RZ]"), (1, 1, 1), (32, 1, 1)), 128, ALL) is None


def test_blocks_are_run_only_where_that_matters():
    """Buffers that are kept whole, and an L2 of which nothing more is known than its size, need no run."""
    assert of_launch(rows(64, megabytes=16), plain_machine(KEEPS)) is not None
    assert of_launch(rows(64, megabytes=16), plain_machine(KEEPS | {"l2.keeps_bytes": 0})) is None
    small = read(ROWS.format(grid=4, place="MOV R2, 0", words=1024))
    assert of_launch(small, plain_machine(KEEPS)) is None


@pytest.mark.parametrize(("blocks", "expected"), [(64, 0), (4096, 0), (8192, 32), (16384, 64)])
def test_what_is_touched_says_what_is_kept(blocks, expected):
    """Two lines of 128 bytes a block: all of 1 MB is kept, half of 1.5 MB lost, all of 2 MB and more; not of 32 MB."""
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
