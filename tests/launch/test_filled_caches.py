"""What the L2 keeps of a kernel's buffers from launch to launch: all, a part spread evenly, or nothing."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tagged_caches import FAR, MISS, TAGS
from timing import cycles_of, plain_machine, run_text

import gpusim
from gpusim.engines.simulate import run_sm
from gpusim.launch.caches.filled_caches import passes, spills, stored_to
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


def test_a_cold_buffer_is_not_there():
    """Of two buffers of eight lines loads of the cold one miss the L2, and those of the other one hit."""
    body = "".join(f"LDG R2, [R{base}+{128 * line}]\nIADD R3, R2, 1\n" for base in (0, 1) for line in range(8))
    text = f".buffer x u32 256\n.buffer y u32 256\nMOV R0, c[x]\nMOV R1, c[y]\n{body}EXIT"
    machine = plain_machine(TAGS | {"l2.filled": 1, "l2.bytes": 32768, "l2.ways": 4, "l1.global_loads": 0})
    run = run_sm(replace(read(text), cold=frozenset({"y"})), machine, trace=True)
    issued = [cycle for cycle, _, _ in cycles_of(run)][2:]
    waits = [after - before for before, after in zip(issued[:-1:2], issued[1::2], strict=False)]
    assert [wait < (FAR + MISS) / 2 for wait in waits] == [True] * 8 + [False] * 8


def test_the_parts_are_spread_evenly():
    """Of a million lines each of 64 places has a 64th, within a 20th of that."""
    places = np.bincount(place_of(np.arange(1 << 20)), minlength=64)
    assert len(places) == 64
    assert abs(places / (1 << 14) - 1).max() < 0.05


def test_an_h200_keeps_less_than_fits():
    """Of 36 and 44 MB that SMs of both sides read 31 and 70 % are lost: within 5 points of 35 and 75, as measured."""
    for megabytes, lost in ((36, 0.35), (44, 0.75)):
        kernel = read(f".grid 9999\n.buffer x u32 {megabytes * MEGABYTE // 4}\nEXIT")
        assert passes(load("h200"), kernel, 8) / 64 == pytest.approx(lost, abs=0.051)


def test_what_is_left_is_lost_by_a_normal_distribution():
    """Half of 24 MB is lost, of a deviation less and more 16 and 84 %; what is stored goes on beyond 16 MB."""
    machine = plain_machine(TAGS | KEEPS | {"l2.left_bytes": 24 * MEGABYTE, "l2.left_spread": 2 * MEGABYTE})
    kernels = [read(f".grid 4\n.buffer x u32 {size * MEGABYTE // 4}\nEXIT") for size in (16, 22, 24, 26, 32)]
    assert [spills(machine, each, 1) for each in kernels] == [0, 10, 32, 54, 64]
    assert [passes(machine, each, 1) for each in kernels] == [0, 24, 32, 40, 64]


ROWS = Path(gpusim.__file__).parent / "published" / "h200_dirty.csv"
DIRTY = {"l2.keeps_bytes": 48 * MEGABYTE, "l2.dirty_keeps_bytes": 16 * MEGABYTE, "l2.dirty_loses_bytes": 32 * MEGABYTE}


def copies(megabytes: int, store: str = "STG [R1], R2"):
    """Return a kernel that loads from one buffer of so many MB and stores to another."""
    buffers = "".join(f".buffer {name} u32 {megabytes * MEGABYTE // 4}\n" for name in "ab")
    return read(f".grid 4\n{buffers}MOV R0, c[a]\nMOV R1, c[b]\nLDG R2, [R0]\n{store}\nEXIT")


@pytest.mark.parametrize(("megabytes", "gone"), [(16, 0), (20, 16), (24, 32)])
def test_what_is_stored_beyond_a_size_goes_on(megabytes, gone):
    """Two buffers of 16 to 24 MB are kept; of one that is stored to all waits up to 16 MB, and half of 24 goes on."""
    machine = plain_machine(TAGS | KEEPS | DIRTY)
    assert spills(machine, copies(megabytes), 1) == 0
    assert passes(machine, copies(megabytes), 1) == gone


def test_what_is_not_kept_goes_on():
    """Without limits of what waits, and where nothing is stored, as much goes on as is not kept."""
    kernel, none = copies(24), copies(24, "NOP")
    assert [passes(plain_machine(TAGS | KEEPS), each, 1) for each in (kernel, none)] == [64, 64]
    assert passes(plain_machine(TAGS | KEEPS | DIRTY), none, 1) == 0


def test_where_a_store_goes_pointers_say():
    """A store goes to the buffer whose first place its address is computed from; to any if it is computed from none."""
    assert stored_to(copies(1)) == {"b"}
    assert stored_to(copies(1, "RED.ADD [R0], R2")) == {"a"}
    assert stored_to(copies(1, "STG [R2], R0")) == {"a", "b"}
    assert stored_to(copies(1, "NOP")) == set()


def test_an_h200_writes_what_it_was_measured_to_write():
    """Launches that store 8 to 64 MB again write 16 % of it more or less to the DRAM, 5 % in the mean of all rows."""
    with ROWS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    off = []
    for row in rows:
        if row["what"] != "apart":
            size = int(row["megabytes"]) * MEGABYTE
            kernel = read(f".grid 9999\n.buffer x u32 {size // 4}\nMOV R0, c[x]\nSTG [R0], R1\nEXIT")
            off.append(abs(passes(load("h200"), kernel, 8) / 64 - int(row["dram_written_bytes"]) / size))
    assert len(off) == 22
    assert max(off) < 0.16
    assert sum(off) / len(off) < 0.05


def test_an_h200_reads_again_what_it_was_measured_to_read():
    """Launches that load 8 to 56 MB again find all but what was measured, within 5 points: in place, or apart."""
    with ROWS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    count = 0
    for row in rows:
        if row["what"] != "alone":
            loaded = int(row["megabytes"]) * MEGABYTE
            size = loaded * (2 if row["what"] == "apart" else 1)
            kernel = read(f".grid 9999\n.buffer x u32 {size // 4}\nEXIT")
            measured = int(row["dram_read_bytes"]) / loaded
            assert spills(load("h200"), kernel, 8) / 64 == pytest.approx(measured, abs=0.05), row
            count += 1
    assert count == 20
