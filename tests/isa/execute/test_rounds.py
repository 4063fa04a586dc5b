import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from strategies.launches import kernels

from isa.dataflow.address_slice import address_slice
from isa.errors import ExecutionError, LimitError
from isa.execute import interpret as interpreter
from isa.execute.interpret import interpret
from isa.kernel import Buffer, Kernel
from isa.text.assembler import assemble

WALK = """
    .shared 256
    S2R R0, TID.X
    SHL R1, R0, 2
    IADD R1, R1, c[a]
loop:
    LDG R4, [R1]
    @P1 STS [R0], RZ
    BAR.SYNC 0
    IADD R1, R1, c[stride]
    ISETP.GT P1, R2, c[switch]
    ISETP.LT P0, R2, c[rounds]
    IADD R2, R2, 1
    @P0 BRA loop
    STG [R1], R4
"""


def kernel(text=WALK, elements=1 << 16, **parameters):
    numbers = {"rounds": 700, "stride": 36, "switch": 1 << 20} | parameters
    return Kernel("k", assemble(text), (1, 1, 1), (64, 1, 1), numbers, (Buffer("a", "<u4", elements),))


def outcome(chosen, monkeypatch=None, **options):
    """Return counts and the multiset of accesses by warp; with `monkeypatch`, every round by itself."""
    accesses = []

    def observe(pc, warps, addresses, active):
        for warp, row, on in zip(warps, addresses, active, strict=True):
            accesses.append((pc, int(warp), np.where(on, row, 0).tobytes()))

    with pytest.MonkeyPatch.context() as patch:
        if monkeypatch:
            patch.setattr(interpreter, "_loops", lambda *_: {})
        run = interpret(chosen, None, observe, address_slice(chosen.program), **options)
    return run.counts.tolist(), run.active.tolist(), sorted(accesses), run.registers.tolist()


@given(kernels())
@settings(deadline=None, max_examples=draws(60))
def test_rounds_taken_together_are_those_taken_one_by_one(chosen):
    """Counts, active lanes, accesses and registers of random kernels are the same with every round by itself."""
    assert outcome(chosen) == outcome(chosen, monkeypatch=True)


@pytest.mark.parametrize("switch", [1 << 20, 0, 5, 333, 698])
def test_a_loop_ends_and_changes_in_its_own_round(switch):
    """A loop of 701 rounds whose guarded store begins in any round is counted and observed as round by round."""
    text = WALK.replace("[R0], RZ", "[RZ], RZ")
    chosen = kernel(text, switch=switch)
    assert outcome(chosen) == outcome(chosen, monkeypatch=True)
    assert outcome(chosen)[0][3] == 2 * 701


def test_a_long_loop_takes_few_visits(monkeypatch):
    """Of 100,001 rounds nearly all are taken together: branches are visited fewer than 150 times."""
    visited = []
    real = interpreter._transfer
    monkeypatch.setattr(interpreter, "_transfer", lambda *a: (visited.append(a[-1]), real(*a)))
    run = interpret(
        kernel("l:\nISETP.LT P0, R2, c[rounds]\nIADD R2, R2, 1\n@P0 BRA l", rounds=100_000),
        evaluate=np.ones(3, np.bool_),
    )
    assert run.counts.tolist() == [2 * 100_001] * 3
    assert len(visited) < 150


def test_a_fault_in_a_later_round_is_reported_as_round_by_round():
    """A loop that leaves its buffer after some hundred rounds ends with the same message as round by round."""
    chosen = kernel(elements=4096)
    with pytest.raises(ExecutionError) as by_itself:
        outcome(chosen, monkeypatch=True)
    with pytest.raises(ExecutionError) as together:
        outcome(chosen)
    assert str(together.value) == str(by_itself.value)


def test_an_endless_loop_meets_its_limit():
    """An endless loop whose rounds are taken together stops at the limit on instructions."""
    with pytest.raises(LimitError):
        outcome(kernel("l:\nBRA l"), limit=draws(10_000_000))
