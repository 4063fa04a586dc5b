"""Blocks that wait for each other, without time: all that are resident go on, and who waits for ever is told."""

import numpy as np
import pytest
from grid_kernels import launched, left, mirror, queue, rounds, scan

from gpusim.engines.walks import side_by_side
from gpusim.engines.walks.program_order import block_alone, walk, walker
from isa.errors import BlockWaitsError, DeadlockError, ExecutionError, LimitError
from isa.executing.faults import LIMIT
from isa.memory import image
from isa.text.listing import read

NONE = np.zeros(1, int)
LATE = """
.grid 2
.block 2304
.buffer flag u32 1
    MOV R0, c[flag]
    S2R R2, TID.X
    ISETP.LT P0, R2, {first}
    @P0 EXIT
loop:
    LDG R1, [R0]
    ISETP.EQ P0, R1, 0
    @P0 BRA loop
    STG [R0], R1
    EXIT
"""


@pytest.mark.parametrize("architecture", [75, 80, 90, 100, 120])
def test_a_grid_is_synchronised(architecture):
    """Each block sees what all have stored before a barrier of the grid."""
    kernel, a, b = mirror(5, 96, architecture=architecture)
    memory = walk(kernel).memory
    assert left(kernel, memory, "a").tolist() == a.tolist()
    assert left(kernel, memory, "b").tolist() == b.tolist()


def test_a_launch_that_is_not_cooperative_traps_where_it_synchronises():
    """As on an H200 the address of the barrier is 0 there; the message says how to launch it."""
    one = np.zeros(128, int)
    with pytest.raises(
        ExecutionError, match=r"the kernel traps, as where it synchronises the grid .* cooperative=True"
    ):
        walk(launched("mirror", 4, 32, {"a": one, "b": one}, 128))


def test_a_barrier_made_by_hand_ends():
    """Rounds of an atomic and a loop that looks: each block has the sums of all."""
    kernel, a = rounds(6, 64, 5)
    assert left(kernel, walk(kernel).memory, "a").tolist() == a.tolist()


@pytest.mark.parametrize("turned", [False, True])
def test_a_scan_looks_back_at_blocks_before_and_behind(turned):
    """Also where each block waits for those that begin after it."""
    kernel, y = scan(9, turned=turned)
    assert left(kernel, walk(kernel).memory, "y").tolist() == y.tolist()


def test_a_queue_is_worked_off():
    """Blocks take tasks that others add, and each is done once."""
    kernel = queue(4, 40)
    memory = walk(kernel).memory
    assert left(kernel, memory, "seen").tolist() == [1] * 40
    assert left(kernel, memory, "done").tolist() == [40]


def test_a_lock_with_a_back_off_lets_all_in():
    """A sum behind a lock, whose waits grow, is that of all blocks."""
    kernel = launched("lock", 20, 32, {"held": NONE, "sum": NONE}, 0)
    memory = walk(kernel).memory
    assert left(kernel, memory, "sum").tolist() == [sum(range(20))]


def test_a_warp_waits_for_one_behind_it_in_the_code():
    """A loop on a flag in shared memory does not keep the warp from running that sets it."""
    kernel = launched("within", 1, 64, {"out": np.zeros(64, int)})
    assert left(kernel, walk(kernel).memory, "out").tolist() == [7] + [0] * 31 + [7] * 32


def test_as_few_blocks_as_said_are_resident():
    """Each block waits for the next one: three have room at once, so the fourth never begins, and is named."""
    flags = np.zeros(6, int)
    kernel = launched("forward", 5, 32, {"flags": flags}, 0)
    assert left(kernel, walk(kernel, resident=5).memory, "flags").tolist() == [1] * 5 + [0]
    said = (
        r"block 0, warp 0, waits for a store to flags\[1\] \(0x7f0000001004\), which holds 0, block 1 for one to flags"
        r"\[2\] .*; none of them ends: block 3 has not begun, as 3 blocks are resident at once"
    )
    with pytest.raises(DeadlockError, match=said):
        walk(kernel, resident=3)


def test_a_deadlock_names_who_waits_for_what():
    """The last block waits for a word that nobody stores: with the line of its source, and the others behind it."""
    kernel = launched("forward", 3, 32, {"flags": np.zeros(6, int)}, 1)
    said = r"\(grid.cu:117\), block 0, .* flags\[1\].*, block 2 for one to flags\[3\] .*; no block will store it: all"
    with pytest.raises(DeadlockError, match=said):
        walk(kernel)


def test_a_block_by_itself_waits_without_end():
    """A block that is run alone, as for a bound, is given up as soon as it repeats itself."""
    kernel, _, _ = mirror(4, 32)
    one = walker(kernel)
    with pytest.raises(
        BlockWaitsError, match=r", waits for a store to grid.barrier \+ 4 .* each is run by itself here"
    ):
        block_alone(one, 0, LIMIT)
    with pytest.raises(BlockWaitsError):
        walk(kernel, started=lambda _: None)


@pytest.mark.parametrize("warp", [63, 64, 71])
def test_a_warp_behind_the_64th_waits_without_end(warp):
    """The last warps of a large block wait for a store that nobody makes: told long before the limit, with the warp."""
    kernel = read(LATE.format(first=32 * warp))
    with pytest.raises(DeadlockError, match=rf"block 0, warp {warp}, waits for a store to flag\[0\]"):
        walk(kernel, limit=40_000)


@pytest.mark.jit
def test_a_block_that_counts_its_looks_makes_way():
    """Its state never returns: it makes way after a while, and sees what another has stored."""
    looks = np.zeros(2, int)
    kernel = launched("patient", 2, 32, {"flag": NONE, "looks": looks}, 100_000_000, 1)
    memory = walk(kernel).memory
    assert left(kernel, memory, "flag").tolist() == [1]
    assert left(kernel, memory, "looks")[1] == 0


@pytest.mark.jit
@pytest.mark.parametrize("most", [100, 30_000])
def test_a_block_that_gives_up_goes_on_by_itself(most):
    """Nobody stores: it looks as often as it is to, and ends."""
    kernel = launched("patient", 1, 32, {"flag": NONE, "looks": NONE}, most, 0)
    assert left(kernel, walk(kernel).memory, "looks").tolist() == [most]


@pytest.mark.jit
def test_blocks_that_look_without_end_reach_the_limit():
    """A loop that counts its looks is no proof of a deadlock: the limit ends it."""
    kernel = launched("patient", 2, 32, {"flag": NONE, "looks": np.zeros(2, int)}, 2**31 - 1, 0)
    with pytest.raises(LimitError, match="more than 300000 warp instructions issued"):
        walk(kernel, limit=300_000)


def test_a_loop_without_memory_reaches_the_limit():
    """No other block can end it, and none is waited for."""
    with pytest.raises(LimitError, match="more than 5000 warp instructions"):
        walk(read(".grid 2\nloop:\nBRA loop\nEXIT"), limit=5000)


def test_observers_are_told_of_all_blocks():
    """Accesses of blocks that make way and come back are told as those of others: each element is stored once."""
    kernel, _, _ = mirror(4, 64)
    stores, rows = [], kernel.program.instructions

    def observe(pc, _warps, addresses, active):
        if rows[pc].row.is_store and rows[pc].row.update is None:
            stores.extend(addresses[active].tolist())

    walk(kernel, observe=observe)
    assert len(stores) == 3 * 256
    assert len(set(stores)) == 2 * 256


@pytest.mark.jit
@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_on_several_threads_wait_for_each_other(threads):
    """Several blocks by one call, and on several threads: where they meet, program order has the result."""
    kernel, a, b = mirror(6, 64)
    memory = side_by_side.walk(kernel, range(6), image(kernel), threads).memory
    assert left(kernel, memory, "a").tolist() == a.tolist()
    assert left(kernel, memory, "b").tolist() == b.tolist()
    turned, y = scan(5, turned=True)
    assert left(turned, side_by_side.walk(turned, range(5), image(turned), threads).memory, "y").tolist() == y.tolist()
    with pytest.raises(DeadlockError, match="block 2 has not begun"):
        side_by_side.walk(*waiting_forward(), threads, resident=2)


def waiting_forward():
    """Return blocks that each wait for the next one, their ids, and their memory."""
    kernel = launched("forward", 4, 32, {"flags": np.zeros(6, int)}, 0)
    return kernel, range(4), image(kernel)
