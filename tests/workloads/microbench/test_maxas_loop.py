from __future__ import annotations

from collections import Counter

import pytest

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from isa.errors import UserError
from workloads.microbench.maxas_loop import maxas_loop

SLOTS = 520  # of a round: 512 FFMAs and 8 others


def body(kernel):
    """Return the instructions of the loop."""
    program = kernel.program
    start = program.labels["loop"]
    end = next(pc for pc, i in enumerate(program.instructions) if i.row.mnemonic == "BRA")
    return program.instructions[start : end + 1]


def slots_of_a_round(reuse: str, rule: str = "scoreboard", policy: str = "lrr") -> float:
    """Return the cycles of a round for each of a GTX 980 scheduler's four warps; lrr shares turns out evenly."""
    machine = load("gtx980", {"schedulers.policy": policy, "dependence.rule": rule})
    short, long = (run_sm(maxas_loop(reuse, iterations=n), machine, feed="trace-driven").cycles for n in (4, 12))
    return (long - short) / 8 / 4


@pytest.mark.parametrize("reuse", ["on", "off"])
def test_every_thread_adds_up_its_tiles(check, reuse):
    """Each thread's sum of its 64 results is that of the tiles of its rounds, with reuse flags and without."""
    check(maxas_loop(reuse, iterations=3, blocks=1))


def test_a_round_has_the_instructions_of_maxas():
    """A round has 512 FFMA, 4 IADD, 3 LOP.XOR and 1 ISETP, and 32 LDS.128, loads, stores, barrier and branch."""
    counted = Counter(i.row.mnemonic for i in body(maxas_loop()))
    others = {"LDS.128": 32, "LDG.64": 4, "STS.64": 4, "BAR.SYNC": 1, "BRA": 1}
    assert counted == {"FFMA": 512, "IADD": 4, "LOP.XOR": 3, "ISETP.LE": 1, **others}


def test_factors_share_a_bank_sixteen_times_in_sixty_four():
    """Without reuse 16 of a step's 64 FFMAs read two registers of one bank, never a factor's and the result's."""
    ffmas = [i.operands for i in body(maxas_loop("off")) if i.row.mnemonic == "FFMA"][:64]
    banks = [[register.index % 4 for register in sources] for _, *sources in ffmas]
    assert sum(a == b for a, b, _ in banks) == 16
    assert all(c not in (a, b) for a, b, c in banks)


@pytest.mark.jit
def test_the_loop_takes_no_more_than_its_issue_slots_with_reuse_only():
    """With a scoreboard a round takes its 520 slots within half a per cent; without reuse 50 to 128 more."""
    assert slots_of_a_round("on") == pytest.approx(SLOTS, rel=0.005)
    assert 50 < slots_of_a_round("off") - SLOTS <= 128


@pytest.mark.long
@pytest.mark.jit
def test_assigned_codes_lose_the_pairs_that_the_queue_separates():
    """With codes and `lrr` a round costs some 2 % more: if the queue takes the second of a pair later, it issues alone.

    With `gto`, which stays with a warp until it stalls, the order of the warps costs 5 to 8 %, with codes and without.
    """
    assert slots_of_a_round("on") < slots_of_a_round("on", "codes") < 1.025 * SLOTS
    assert 1.05 * SLOTS < slots_of_a_round("on", "codes", "gto") < 1.08 * SLOTS
    assert 1.05 * SLOTS < slots_of_a_round("on", policy="gto") < 1.08 * SLOTS


@pytest.mark.parametrize("bad", [{"reuse": "yes"}, {"iterations": 0}, {"blocks": 0}])
def test_bad_parameters_are_refused(bad):
    """Another word than on or off, and numbers below 1, raise UserError."""
    with pytest.raises(UserError, match=r"^maxas-loop: "):
        maxas_loop(**bad)
