"""What the L2 keeps of a kernel's buffers from launch to launch: all, a part spread evenly, or nothing."""

import numpy as np
import pytest
from tagged_caches import FAR, MISS, TAGS
from timing import cycles_of, plain_machine, run_text

from gpusim.launch.caches.filled_caches import spills
from gpusim.machine.machine import load
from gpusim.sm.memory.l2_share.l2_share import place_of
from isa.memory import bases
from isa.text.listing import read

MEGABYTE = 1 << 20
KEEPS = {"l2.bytes": 48 * MEGABYTE, "l2.keeps_bytes": 16 * MEGABYTE, "l2.loses_bytes": 32 * MEGABYTE}


def of(megabytes: int, **changes: int) -> int:
    """Return how many of 64 lines of a buffer of so many MB are not kept, of a grid of several waves."""
    kernel = read(f".grid 4\n.buffer x u32 {megabytes * MEGABYTE // 4}\nEXIT")
    machine = plain_machine(TAGS | KEEPS | {path.replace("__", "."): value for path, value in changes.items()})
    return spills(machine, kernel, 1)


@pytest.mark.parametrize(("megabytes", "lost"), [(8, 0), (16, 0), (20, 16), (24, 32), (32, 64), (40, 64)])
def test_between_two_sizes_lines_are_kept_in_proportion(megabytes, lost):
    """All of 16 MB is kept, nothing of 32, half of 24."""
    assert of(megabytes) == lost


def test_without_these_sizes_all_is_kept_that_fits():
    """With `bytes` alone the L2 keeps 48 MB, and nothing of more."""
    assert [of(size, l2__keeps_bytes=0, l2__loses_bytes=0) for size in (48, 49)] == [0, 64]


def test_of_one_wave_a_third_more_is_kept():
    """A grid whose blocks come to the same SMs again finds all of 16 * 4 / 3 = 21.3 MB, and nothing of 32."""
    kernel = {size: read(f".buffer x u32 {size * MEGABYTE // 4}\nEXIT") for size in (21, 22, 32)}
    lost = [spills(plain_machine(TAGS | KEEPS), kernel[size], 8) for size in (21, 22, 32)]
    assert lost[0] == 0 < lost[1] < 8 < lost[2] == 64


def test_lines_that_are_kept_hit():
    """Of 64 lines of a buffer of which half is kept those miss whose place lies below 32, as the rule has it, too."""
    machine = {"l2.bytes": 32768, "l2.ways": 1, "l2.filled": 1, "l2.keeps_bytes": 4096, "l2.loses_bytes": 12288}
    body = "".join(f"LDG R2, [R0+{128 * line}]\nIADD R3, R2, 1\n" for line in range(64))
    text = f".grid 9\n.buffer x u32 2048\nMOV R0, c[x]\n{body}EXIT"
    run = run_text(text, TAGS | machine | {"l1.global_loads": 0, "limits.blocks": 1})
    issued = [cycle for cycle, _, _ in cycles_of(run)][: 2 + 2 * 64]
    waits = [after - before for before, after in zip(issued[1:-1:2], issued[2::2], strict=False)][:64]
    hits = [wait < (FAR + MISS) / 2 for wait in waits]
    buffers = read(text).buffers
    first = bases(buffers)["x"] // 128
    assert hits == [place_of(first + line) >= 32 for line in range(64)]
    assert 16 < sum(hits) < 48


def test_the_parts_are_spread_evenly():
    """Of a million lines each of 64 places has a 64th, within a 20th of that."""
    places = np.bincount(place_of(np.arange(1 << 20)), minlength=64)
    assert len(places) == 64
    assert abs(places / (1 << 14) - 1).max() < 0.05


def test_an_h200_keeps_less_than_fits():
    """Of 36 and 44 MB that SMs of both sides read 31 and 70 % are lost: within 5 points of 35 and 75, as measured."""
    machine = load("h200", {"cache.hits": "tags"})
    for megabytes, lost in ((36, 0.35), (44, 0.75)):
        kernel = read(f".grid 9999\n.buffer x u32 {megabytes * MEGABYTE // 4}\nEXIT")
        assert spills(machine, kernel, 1) / 64 == pytest.approx(lost, abs=0.051)
