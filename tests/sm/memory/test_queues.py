"""The queues of the load/store unit: which one an instruction enters, and where in its ring."""

from types import SimpleNamespace

import pytest
from timing import PORT, cycles_of, run_text

from gpusim.sm.account.record.declaration import TRACE_KINDS
from gpusim.sm.memory import queues

# Two schedulers share a path to shared memory, which is separate from global memory, as in a compute unit of GCN.
PATHS: dict[str, int | str] = {
    "memory_paths.schedulers": 2,
    "memory_paths.store": 2,
    **{f"memory_paths.load_{width}": 2 for width in (32, 64, 128)},
    **{f"memory_paths.shared_{kind}": 2 for kind in ("load", "store_32", "store_64", "store_128")},
}
BOTH = ".block 128\n.shared 128\n.buffer a u32 64\nMOV R0, c[a]\nLDG R1, [R0]\nLDS R2, [RZ]\nEXIT"


def served_from(changes) -> dict[int, list[int]]:
    """By pc, the queue from which each scheduler's access was served, for four schedulers of one warp each."""
    run = run_text(BOTH, {"schedulers.count": 4, **changes})
    serves = [record for record in run.trace if TRACE_KINDS[record.kind] == "serve"]
    queue = {(int(record.pc), int(record.warp)): int(record.unit) for record in serves}
    return {pc: [queue[pc, warp] for warp in range(4)] for pc in (1, 2)}


@pytest.mark.parametrize(
    ("changes", "global_memory", "shared_memory"),
    [({}, [0, 0, 0, 0], [0, 0, 0, 0]), (PORT, [0, 1, 2, 3], [0, 1, 2, 3]), (PATHS, [0, 1, 2, 3], [4, 4, 5, 5])],
    ids=["one", "ports", "paths"],
)
def test_schedulers_enter_the_queues_that_the_machine_has(changes, global_memory, shared_memory):
    """Four schedulers use one queue, with ports one each; with paths of two, queues 4 and 5 lead to shared memory."""
    assert served_from(changes) == {1: global_memory, 2: shared_memory}


def test_a_full_queue_holds_only_the_warps_that_enter_it():
    """Two warps on two schedulers issue two loads of 32 passes each; each queue has one place.

    With one queue, warp 0's first load is served at 36, for 64 cycles, and warp 1's takes the place at 38. Warp 0's
    second load takes it in the slot after the service at 100, warp 1's in the slot after the service at 164.

    With ports a pass takes one cycle, and warp 0's second load finds its own queue empty at 37. Warp 1's first load is
    in its queue from 38 until the unit serves it at 36 + 32 = 68; its second load takes that place at 69.
    """
    text = ".block 64\n.shared 4096\nS2R R0, LANEID\nSHL R0, R0, 7\nLDS R1, [R0]\nLDS R2, [R0]\nEXIT"
    second = []
    for ports in ({}, {**PORT, "memory_port.units": "none"}):
        run = run_text(text, {"schedulers.count": 2, "load_store.queue": 1, **ports})
        second.append([(cycle, warp) for cycle, warp, pc in cycles_of(run) if pc == 3])
    assert second == [[(102, 0), (166, 1)], [(37, 0), (69, 1)]]


@pytest.mark.parametrize(("paths", "units"), [(1, [0, 0, 0]), (2, [0, 1, 0])])
def test_the_head_of_a_queue_says_which_unit_serves_it(paths, units):
    """Of three queues the second one's head goes to the unit apart, where there is one."""
    program = [SimpleNamespace(path=0), SimpleNamespace(path=1)]
    heads = [SimpleNamespace(head=1, entries=[SimpleNamespace(pc=1 - pc), SimpleNamespace(pc=pc)]) for pc in (0, 1, 0)]
    unit = SimpleNamespace(queues=heads)
    sm = SimpleNamespace(machine=SimpleNamespace(paths=paths), program=program, load_store=unit)
    assert [queues.path(sm, y) for y in range(3)] == units
