"""Requests: the lines that accesses ask caches for, and the units of them that stores fill."""

import pytest
from tagged_caches import FAR, HIT, TAGS, latencies
from timing import cycles_of, run_text


@pytest.mark.parametrize(("threads", "again"), [(8, HIT), (12, FAR + 1), (16, HIT)])
def test_32_bytes_that_are_stored_in_part_do_not_stay(threads, again):
    """The words of 8 or 16 lanes fill units of 32 bytes; of those of 12, four are in the L2. What was loaded stays.

    The scheduler issues every other cycle.
    """
    store, load = "STL [RZ], R1", "LDL R2, [RZ]"
    assert latencies([store, load], local=4, threads=threads) == [again]
    assert latencies([store, load, store, load], local=4, threads=threads) == [again, HIT]


@pytest.mark.parametrize("queue", [1, 8])
def test_a_load_asks_for_the_lines_that_it_had_at_issue(queue):
    """A load whose address register is overwritten before its service asks for the old address's line, and hits."""
    text = """
.shared 4096
.buffer x u32 4096
[B------:R-:W-:-:S15] MOV R0, c[x]
[B------:R-:W-:-:S15] S2R R1, LANEID
[B------:R-:W-:-:S15] NOP
[B------:R-:W0:-:S15] LDG R2, [R0]
[B0-----:R-:W-:-:S15] SHL R1, R1, 7
[B------:R-:W-:-:S15] NOP
[B------:R-:W1:-:S01] LDS R3, [R1]
[B------:R-:W0:-:S01] LDG R2, [R0]
[B------:R-:W-:-:S15] IADD R0, R0, 1024
[B0-----:R-:W-:-:S15] IADD R4, R2, 1
[B------:R-:W-:-:S01] EXIT
"""
    codes = {
        "dependence.rule": "codes",
        "dependence.yield_stall": 0,
        "dependence.yield_rest": 0,
        "dependence.variable": "none",
    }
    run = run_text(text, TAGS | codes | {"load_store.queue": queue, "unit.int.latency": 4})
    issued, served = ({pc: cycle for cycle, _, pc in cycles_of(run, kind)} for kind in ("issue", "serve"))
    assert served[7] > issued[8] + 4
    assert issued[9] - served[7] == HIT
