from collections import Counter

import numpy as np
from draws import draws
from hypothesis import given, settings
from interpreter.interpret import interpret
from strategies.launches import kernels

from gpusim.engines.walks.profile import profile
from isa.kernel import Buffer, Kernel
from isa.memory import PLACE_BYTES
from isa.text.assembler import assemble


def kernel(text, threads):
    return Kernel("k", assemble(text), (1, 1, 1), (threads, 1, 1), {}, (Buffer("a", "<u4", 4096),))


def test_patterns_keep_their_place_within_a_kilobyte():
    """Two warps that read the same place of consecutive kilobytes share a pattern, whose addresses keep that place."""
    place = "S2R R0, TID.X\nLOP.AND R1, R0, 31\nSHL R1, R1, 2\nSHL R0, R0, 5\nLOP.AND R0, R0, 0xc00\n"
    text = place + "IADD R0, R0, R1\nIADD R0, R0, c[a]\nLDG R1, [R0+8]"
    (pattern,) = profile(kernel(text, 64)).accesses[7]
    assert pattern.count == 2
    assert pattern.addresses.tolist() == [8 + 4 * lane for lane in range(32)]
    assert pattern.active.all()


def test_distinct_patterns_are_counted_apart_and_inactive_lanes_are_zero():
    """A loop that doubles its stride gives a pattern per round; lanes whose guard is false have address 0."""
    text = """
        S2R R0, LANEID
        ISETP.LT P1, R0, 4
        MOV R2, 4
    loop:
        IMAD R1, R0, R2, c[a]
        @P1 LDG R3, [R1]
        ISETP.LT P0, R2, 16
        SHL R2, R2, 1
        @P0 BRA loop
    """
    patterns = profile(kernel(text, 96)).accesses[4]
    assert [p.count for p in patterns] == [3, 3, 3]
    assert [p.addresses[:5].tolist() for p in patterns] == [[0, 4, 8, 12, 0], [0, 8, 16, 24, 0], [0, 16, 32, 48, 0]]
    assert all(p.active.tolist() == [True] * 4 + [False] * 28 for p in patterns)


def test_repeats_of_an_unchanged_base_are_counted():
    """A load in a loop whose base register does not change counts each round of each warp."""
    text = ".shared 128\nS2R R0, LANEID\nSHL R0, R0, 2\nl:\nLDS R1, [R0]\nISETP.LT P0, R2, 9\nIADD R2, R2, 1\n@P0 BRA l"
    (pattern,) = profile(kernel(text, 64)).accesses[2]
    assert pattern.count == 20


@given(kernels())
@settings(deadline=None, max_examples=draws(60))
def test_a_profile_is_the_collapsed_trace(kernel):
    """Counts are those of the interpreter, and patterns the multiset of relative accesses with active lanes."""
    traced: dict[int, Counter] = {}

    def observe(pc, _warps, addresses, active):
        for row, on in zip(addresses.astype(np.int64), active, strict=True):
            low = min((int(a) for a, o in zip(row, on, strict=True) if o), default=0) // PLACE_BYTES * PLACE_BYTES
            lanes = tuple((int(a) - low, True) if o else (0, False) for a, o in zip(row, on, strict=True))
            if on.any():
                traced.setdefault(pc, Counter())[lanes] += 1

    run = interpret(kernel, [0], observe)
    result = profile(kernel)
    assert result.counts.tolist() == run.counts.tolist()
    assert result.active.tolist() == run.active.tolist()
    collapsed = {
        pc: Counter({tuple(zip(p.addresses.tolist(), p.active.tolist(), strict=True)): p.count for p in patterns})
        for pc, patterns in result.accesses.items()
    }
    assert collapsed == traced
