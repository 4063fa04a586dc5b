"""What small kernels move at each level, counted by hand, and that all groupings of the counts add up."""

import numpy as np
import pytest
from hypothesis import given
from strategies.launches import kernels, launches

import gpusim
from gpusim.engines.simulate import run_sm
from gpusim.launch.feed import FEEDS
from gpusim.simulation.memory_account import of_run
from gpusim.sm.memory.account.declaration import HITS, KINDS, L2_MISSES, L2_READ, L2_UPDATED, NEEDED, SECTORS
from isa.memory import SECTOR_BYTES
from isa.text.listing import read

pytestmark = pytest.mark.jit
HEAD = ".block 32\n.buffer x i32 4096\n.buffer y i32 4096\n    S2R R0, TID.X\n"


def row(shift):
    """Return what puts the addresses of words in R8 and R9: the lanes' numbers times a power of two into x and y."""
    return f"    SHL R1, R0, {shift}\n    IADD R8, R1, c[x]\n    IADD R9, R1, c[y]\n"


COLD, WARM = {"l2.filled": 0}, {"l2.filled": 1}


def moved(text, key="h200", settings=COLD, places=None, **how):
    """Return what a listing moves on the machine, of all places or some."""
    machine = gpusim.load(key, settings)
    kernel = read(HEAD + text)
    account = of_run(kernel, machine, run_sm(kernel, machine, **how))
    return account.of(places=account.far if places is None else places)


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_row_of_words_is_four_sectors_at_each_level(engine):
    """32 words side by side: one request, four sectors, 128 bytes needed; a cold launch brings them from the DRAM."""
    found = moved(f"{row(2)}    LDG R2, [R8]\n    IADD R3, R2, 1\n    EXIT\n", engine=engine)
    assert (found.requests, found.wavefronts, found.sectors, found.hits, found.needed) == (1, 1, 4, 0, 128)
    assert (found.l2_requests, found.l2_read, found.l2_misses, found.dram_read) == (1, 4, 4, 4)
    assert (found.l2_written, found.dram_written, found.wasted) == (0, 0, 0)


def lines(number):
    """Return loads of so many lines, whose blocks lie side by side in x; there is one more block than SMs."""
    begin = f".grid 133\n.block 32\n.buffer x i32 {133 * 32 * number}\nS2R R0, TID.X\nS2R R1, CTAID.X\n"
    begin += f"IMUL R1, R1, {32 * number}\nIADD R0, R0, R1\nSHL R0, R0, 2\nIADD R8, R0, c[x]\n"
    return read(begin + "".join(f"LDG R{10 + n}, [R8+{128 * n}]\n" for n in range(number)) + "EXIT")


@pytest.mark.parametrize("number", [1, 8])
def test_what_a_cold_launch_must_bring_it_brings(number):
    """133 blocks load lines of their own on 132 SMs: all from the DRAM, though the SM with two has a share of one.

    Each line is a request of four sectors at the L2.
    """
    found = gpusim.simulate(lines(number), gpusim.load("h200", COLD), values=False).memory.whole
    sectors = 133 * 4 * number
    assert (found.l2_read, found.l2_misses, found.dram_read) == (
        sectors,
        pytest.approx(sectors),
        pytest.approx(sectors),
    )
    assert found.l2_requests == sectors / 4
    assert found.l2_hit_rate == pytest.approx(0)


def test_what_a_warm_launch_finds_nobody_brings():
    """133 blocks load the same row, of 128 bytes, less than a sector for each SM: it lies in the L2, or comes once."""
    kernel = read(
        ".grid 133\n.block 32\n.buffer x i32 32\nS2R R0, TID.X\nSHL R0, R0, 2\nIADD R0, R0, c[x]\nLDG R1, [R0]\nEXIT"
    )
    cold, warm = (gpusim.simulate(kernel, gpusim.load("h200", each), values=False) for each in (COLD, WARM))
    assert (cold.memory.whole.dram_read, warm.memory.whole.dram_read) == (pytest.approx(4), 0)


def test_what_is_partly_kept_is_not_brought_whole():
    """Of 136 KB about half is kept, as of 136 KB between 64 and 208 KB: no more than the rest comes from the DRAM."""
    sizes = WARM | {"l2.keeps_bytes": 3 << 14, "l2.loses_bytes": 13 << 14, "l2.left_bytes": 0}
    found = gpusim.simulate(lines(8), gpusim.load("h200", sizes), values=False).memory.whole
    assert 0.3 < found.dram_read / (133 * 4 * 8) < 0.7


def test_a_second_load_hits_the_l1():
    """The same row again: its four sectors are there, so the L2 is not asked."""
    load = "    LDG R2, [R8]\n    IADD R3, R2, 1\n"
    found = moved(f"{row(2)}{load}    BAR.SYNC 0\n{load}    EXIT\n")
    assert (found.requests, found.sectors, found.hits, found.l2_read) == (2, 8, 4, 4)
    assert found.hit_rate == 0.5


def test_a_stride_wastes_what_no_lane_needs():
    """Lanes 128 bytes apart touch 32 lines, a sector of each, four bytes of it needed; the L2 brings two at a time."""
    found = moved(f"{row(7)}    LDG R2, [R8]\n    IADD R3, R2, 1\n    EXIT\n")
    assert (found.sectors, found.needed, found.wasted) == (32, 128, 32 * 28)
    assert (found.l2_requests, found.l2_read, found.dram_read) == (32, 32, 64)


def test_a_word_for_all_lanes_is_needed_once():
    """A broadcast needs four bytes of one sector, however many lanes ask for them."""
    found = moved(f"{row(32)}    LDG R2, [R8]\n    IADD R3, R2, 1\n    EXIT\n")
    assert (found.sectors, found.needed) == (1, 4)


def test_a_warm_l2_serves_all():
    """Where the L2 holds the buffers when the launch begins, it misses nothing, and the DRAM moves nothing."""
    found = moved(f"{row(2)}    LDG R2, [R8]\n    STG [R9], R2\n    EXIT\n", settings={"l2.filled": 1})
    assert (found.l2_read, found.l2_written, found.l2_misses, found.dram) == (4, 4, 0, 0)
    assert found.l2_hit_rate == 1


def test_a_store_goes_through_to_the_l2():
    """A store of a row is four sectors at the L1, and four that are stored in the L2, which reads nothing for them."""
    found = moved(f"{row(2)}    STG [R9], R0\n    EXIT\n")
    assert (found.requests, found.sectors, found.needed, found.l2_written, found.dram) == (1, 4, 128, 4, 0)


def test_an_atomic_changes_sectors_in_the_l2():
    """A reduction to one word is one sector that the L2 changes, and brings first, with its neighbour."""
    found = moved(f"{row(32)}    RED.ADD [R9], R0\n    EXIT\n")
    assert (found.sectors, found.l2_updated, found.l2_read, found.l2_misses, found.dram_read) == (1, 1, 0, 1, 2)


def test_each_buffer_has_its_own():
    """Of a load from x and a store to y the account tells the buffers apart."""
    kernel = read(HEAD + f"{row(2)}    LDG R2, [R8]\n    STG [R9], R2\n    EXIT\n")
    found = gpusim.simulate(kernel, gpusim.load("h200", COLD)).memory
    x, y = (found.of(places=[found.places.index(name)]) for name in "xy")
    assert (x.l2_read, x.l2_written, x.dram_read) == (4, 0, 4)
    assert (y.l2_read, y.l2_written, y.dram_read) == (0, 4, 0)


def test_shared_memory_counts_passes_and_conflicts():
    """A store of two-way conflicts takes two passes, one of them a conflict, and touches nothing beyond the SM."""
    kernel = read(".block 32\n.shared 8192\n    S2R R0, LANEID\n    SHL R0, R0, 3\n    STS [R0], R0\n    EXIT\n")
    account = gpusim.simulate(kernel, "h200").memory
    found = account.of()
    assert (found.requests, found.wavefronts, found.conflicts, found.l2_sectors) == (1, 2, 1, 0)
    assert account.whole.requests == 0


def test_without_tags_the_cost_says_what_moves():
    """On a GTX 580 without tags a row is one transaction of 128 bytes from the DRAM, and nobody knows the buffer."""
    found = moved(f"{row(2)}    LDG R2, [R8]\n    IADD R3, R2, 1\n    EXIT\n", "gtx580", {})
    assert (found.requests, found.sectors, found.hits, found.dram_read, found.l2_sectors) == (1, 4, 0, 4, 0)


def test_a_false_guard_asks_for_nothing():
    """An access whose guard holds in no lane is no request."""
    text = f"{row(2)}    ISETP.LT P0, R0, 0\n@P0 LDG R2, [R8]\n    IADD R3, R2, 1\n    EXIT\n"
    assert moved(text).requests == 0


def test_every_feed_counts_the_same():
    """Executed, address-only and trace-driven runs have equal tables."""
    kernel = read(
        ".grid 264\n"
        + HEAD
        + row(4)
        + "loop:\n    LDG R2, [R8]\n    IADD R1, R1, 4\n    IADD R8, R8, 4\n    IADD R9, R9, 4\n"
        "    ISETP.LT P0, R1, 512\n    STG [R9], R2\n@P0 BRA loop\n    EXIT\n"
    )
    tables = [run_sm(kernel, gpusim.load("h200"), feed=feed).account for feed in FEEDS]
    assert tables[0].any()
    assert all(np.array_equal(tables[0], other) for other in tables[1:])


def check(account):
    """Check what holds for each part of an account: hits and misses are sectors, and nothing is needed twice."""
    counts = account.counts
    assert (counts >= 0).all()
    assert (counts[..., HITS] <= counts[..., SECTORS]).all()
    far = counts[:, account.far]
    sectors = far[..., SECTORS]
    assert (far[..., NEEDED] * (sectors > 0) <= SECTOR_BYTES * sectors).all()
    assert (counts[..., L2_MISSES] <= counts[..., L2_READ] + counts[..., L2_UPDATED]).all()
    whole = account.of()
    for groups in (
        [account.of([pc]) for pc in account.pcs],
        [account.of(places=[place]) for place in range(len(account.places))],
    ):
        for name in KINDS:
            assert sum(getattr(one, name) for one in groups) == pytest.approx(getattr(whole, name))


@given(launches(kernels()))
def test_all_groupings_of_random_programs_add_up(launch):
    """Sums by instruction and by place are the totals; hits and needed bytes are within sectors, on any machine."""
    kernel, machine = launch
    check(of_run(kernel, machine, run_sm(kernel, machine)))


@given(launches(kernels()))
def test_both_engines_count_the_same(launch):
    """The compiled engine and SimPy give equal tables."""
    kernel, machine = launch
    tables = [run_sm(kernel, machine, engine=engine).account for engine in ("compiled", "reference")]
    assert np.array_equal(*tables)
