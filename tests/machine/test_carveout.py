"""What shared memory takes of the L1: sizes of the guide, the smallest that holds the resident blocks."""

from dataclasses import replace

import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from scan.left_to_l1 import left
from strategies.launches import REPEATABLE

from gpusim.engines.simulate import run_sm
from gpusim.machine.carveout import carved, taken
from gpusim.machine.machine import load
from isa.errors import UserError
from isa.text.listing import read
from workloads.catalog import make

KB = 1024
# KB of a block (1 KB of them the system's), threads, and KB of which an H200 reads all again from its L1, 2026-11-28
MEASURED = [
    (1, 32, 216), (2, 32, 184), (5, 32, 84), (9, 32, 20), (17, 32, 16), (33, 32, 16), (47, 32, 52),
    (1, 1024, 240), (2, 1024, 240), (5, 1024, 232), (9, 1024, 216), (17, 1024, 184), (33, 1024, 148), (47, 1024, 148),
    (9, 128, 84), (17, 128, 20), (33, 128, 16), (47, 128, 52),
    (17, 256, 84), (33, 256, 20), (47, 256, 52),
]  # fmt: skip
OWN = 0, 1, 2, 4, 8, 12, 16, 32, 46  # KB of a block's own
SIZES = {  # KB that shared memory takes, by threads of a block: as ncu told of an H200, 2026-11-30
    32: (32, 64, 100, 164, 228, 228, 228, 228, 196),
    64: (32, 64, 100, 164, 228, 228, 228, 228, 196),
    96: (32, 64, 100, 132, 196, 228, 228, 228, 196),
    128: (32, 64, 100, 132, 164, 228, 228, 228, 196),
    192: (32, 64, 64, 100, 132, 132, 196, 228, 196),
    256: (32, 32, 64, 100, 132, 132, 164, 228, 196),
    384: (32, 32, 32, 64, 100, 132, 132, 196, 196),
    512: (16, 16, 32, 64, 100, 132, 132, 132, 196),
    768: (8, 8, 16, 32, 64, 64, 100, 132, 132),
    1024: (8, 8, 8, 16, 32, 32, 64, 100, 100),
}


def kernel(kilobytes, threads=32):
    """Return a kernel whose blocks have so many threads and KB of shared memory."""
    return read(f".block {threads}\n.shared {kilobytes * KB}\nEXIT\n", "k")


@pytest.mark.parametrize(("kilobytes", "threads", "hit"), MEASURED)
def test_an_h200_keeps_what_shared_memory_leaves(kilobytes, threads, hit):
    """Of 256 KB the L1 has what the size for all resident blocks leaves; an H200 keeps 8 to 12 KB less than that."""
    found = carved(kernel(kilobytes - 1, threads), load("h200"))
    assert 8 <= found.l1.bytes / KB - hit <= 12


@pytest.mark.parametrize("threads", SIZES)
def test_an_h200_has_room_for_more_blocks(threads):
    """For each size of shared memory of blocks of so many threads, that which ncu named."""
    machine = load("h200")
    assert tuple(taken(kernel(own, threads), machine) // KB for own in OWN) == SIZES[threads]


@pytest.mark.parametrize(
    ("machine", "kilobytes", "threads", "size"),
    [
        ("rtx2080ti", 0, 32, 32),  # 32 KB are the least there
        ("rtx2080ti", 3, 128, 32),  # 8 blocks of 1,024 threads have 24 KB
        ("rtx2080ti", 5, 128, 64),
        ("rtx3090", 0, 32, 16),  # 16 blocks, of each 1 KB for the system
        ("rtx3090", 40, 256, 100),  # two blocks
        ("v100", 0, 32, 0),
        ("v100", 20, 1024, 64),
        ("a100", 1, 32, 64),  # 32 blocks
    ],
)
def test_the_smallest_size_that_holds_all_blocks_is_taken(machine, kilobytes, threads, size):
    """Sizes are those of each compute capability; shared memory of resident blocks says which."""
    where = load(machine)
    assert taken(kernel(kilobytes, threads), where) == size * KB
    assert carved(kernel(kilobytes, threads), where).l1.bytes == left(where, kernel(kilobytes, threads))


@pytest.mark.parametrize(("size", "left_over"), [(64 * KB, 32 * KB), (32 * KB, 32 * KB), (2 * KB, 2 * KB)])
def test_sizes_that_leave_nothing_are_left_out(size, left_over):
    """With a smaller memory of both an RTX 2080 Ti has the sizes of 32 and 64 KB as far as they leave the L1 some."""
    machine = load("rtx2080ti", {"l1.bytes": size})
    assert carved(kernel(40), machine).l1.bytes == left(machine, kernel(40)) == left_over


def test_a_machine_without_sizes_stays():
    """Where a machine's file has no sizes, its L1 is what the file says."""
    machine = load("gtx580")
    assert carved(kernel(40), machine) is machine


@pytest.mark.jit
def test_shared_memory_costs_hits():
    """A chase of pointers through 64 KB hits the L1 of an RTX 3090, unless a block holds 90 KB of shared memory."""
    chase = make("pointer-chase", {"footprint": str(64 * KB), "stride": "128", "loads": "4096"})
    large = replace(chase, program=replace(chase.program, shared_bytes=90 * KB))
    alone, beside = (run_sm(one, load("rtx3090"), feed="trace-driven").cycles for one in (chase, large))
    assert beside > 2 * alone


@pytest.mark.parametrize(
    ("sizes", "message"),
    [("0 32 16", "0 32 16 are no sizes in KB"), ("0 x", "0 x are no sizes in KB")],
)
def test_wrong_sizes_are_refused(sizes, message):
    """Sizes rise, and are whole KB."""
    with pytest.raises(UserError, match=message):
        load("h200", {"l1.carveouts": sizes})


@settings(REPEATABLE, max_examples=draws(100))
@given(
    st.sampled_from(("h200", "a100", "rtx3090", "rtx2080ti", "v100")),
    st.integers(0, 48),
    st.sampled_from((32, 96, 256, 1024)),
    st.sampled_from((0, 4096, 65536)),
)
def test_what_is_left_is_that_of_the_guide(name, kilobytes, threads, less):
    """On any of these chips, with any block and a smaller memory of both, the L1 has what the oracle finds."""
    whole = load(name)
    machine = load(name, {"l1.bytes": whole.l1.bytes - less})
    assert carved(kernel(kilobytes, threads), machine).l1.bytes == left(machine, kernel(kilobytes, threads))
