"""Results in flight: values after reads and writes that come too early, and the hazards that are reported.

On a V100 a MOV takes 4 cycles; R9 is stored in the end, and every register is 0 before it is written.
"""

from collections import defaultdict

import pytest
from coded import V100, coded
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.launches import REPEATABLE
from timing import plain_machine

from gpusim.analysis.account.hazards import hazards
from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.machine.machine import load
from gpusim.sm.jit.rule import COMPILED
from isa.dataflow import flow
from isa.text.listing import read


def found(*lines: str) -> list[tuple[str, str, int, int]]:
    """Kind, register, pc and other pc of each hazard of the lines."""
    return [(h.kind, h.register, h.pc, h.other) for h in hazards(coded(*lines), V100).hazards]


def stored(*lines: str, engine: str = "compiled") -> int:
    """R9's value in the end, in the first lane."""
    return int(run_sm(coded(*lines), V100, engine=engine).memory[1024:][0])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("stall", "value"), [(1, 0), (3, 0), (4, 7), (9, 7)])
def test_a_result_of_fixed_latency_is_available_after_its_latency(stall, value, engine):
    """A V100's MOV takes 4 cycles: with a smaller stall count its reader gets the old value, 0, and is a RAW hazard."""
    assert V100.unit["move"].latency == 4
    lines = f"[B------:R-:W-:-:S{stall:02}] MOV R8, 7", "[B------:R-:W-:-:S15] MOV R9, R8"
    assert stored(*lines, engine=engine) == value
    assert found(*lines) == ([("RAW", "R8", 1, 0)] if value == 0 else [])


@pytest.mark.parametrize("first", ["S2R R8, LANEID", "SHFL.IDX R8, R8, 0", "REDUX.SUM R8, R8"])
def test_a_queued_result_is_read_too_early_without_a_barrier(first):
    """On an H200 S2R, SHFL and REDUX use the memory queue: a reader that waits for no barrier is a RAW hazard."""
    lines = f"[B------:R-:W-:-:S01] {first}", "[B------:R-:W-:-:S15] MOV R9, R8"
    reported = hazards(coded(*lines), load("h200", {"chip.sms": 1})).hazards
    assert [(h.kind, h.register, h.pc, h.other) for h in reported] == [("RAW", "R8", 1, 0)]


def test_a_result_is_followed_to_its_end_when_an_earlier_one_is_forgotten():
    """Three queued results are written one behind the other: a wait for all suffices; R8 alone is read too early."""
    queued = [f"[B------:R-:W0:-:S15] S2R R{register}, LANEID" for register in (4, 5, 6)]
    reads = (
        "[B0-----:R-:W-:-:S15] IADD R9, R5, R6",
        "[B------:R-:W-:-:S01] S2R R8, LANEID",
        "[B------:R-:W-:-:S15] MOV R9, R8",
    )
    reported = hazards(coded(*queued, *reads), load("h200", {"chip.sms": 1})).hazards
    assert [(h.kind, h.register, h.pc, h.other) for h in reported] == [("RAW", "R8", 5, 4)]


def test_a_load_is_read_too_early_without_a_barrier():
    """Without the barrier the reader gets the value before the load, and is a RAW hazard; with it, the load's value."""
    lines = (
        "[B------:R-:W-:-:S15] MOV R7, 5",
        "[B------:R-:W-:-:S15] STS [RZ], R7",
        "[B------:R-:W0:-:S01] LDS R8, [RZ]",
    )
    assert stored(*lines, "[B------:R-:W-:-:S15] MOV R9, R8") == 0
    assert stored(*lines, "[B0-----:R-:W-:-:S15] MOV R9, R8") == 5
    assert found(*lines, "[B------:R-:W-:-:S15] MOV R9, R8") == [("RAW", "R8", 3, 2)]
    assert found(*lines, "[B0-----:R-:W-:-:S15] MOV R9, R8") == []


def test_an_earlier_result_may_be_written_over_a_later_one():
    """A load's result, 19 cycles after its service, overwrites that of a later MOV, unless the MOV waits."""
    lines = "[B------:R-:W0:-:S01] LDS R9, [RZ]", "[B------:R-:W-:-:S15] MOV R9, 7", "[B------:R-:W-:-:S15] NOP"
    assert stored(*lines) == 0
    assert found(*lines) == [("WAW", "R9", 1, 0)]
    mended = lines[0], "[B0-----:R-:W-:-:S15] MOV R9, 7", lines[2]
    assert (stored(*mended), found(*mended)) == (7, [])


def test_a_source_may_be_overwritten_before_it_is_read():
    """A MOV of 4 cycles overwrites a store's data register before the store reads it; a read barrier prevents that."""
    lines = "[B------:R0:W-:-:S01] STS [RZ], R8", "[B------:R-:W-:-:S15] MOV R8, 7"
    assert V100.shared_memory.war_32 > V100.unit["move"].latency + 1
    assert found(*lines) == [("WAR", "R8", 1, 0)]
    assert found(lines[0], "[B0-----:R-:W-:-:S15] MOV R8, 7") == []


def test_a_source_overwritten_before_service_gives_the_new_value():
    """A store after a slow load is served after its data register is overwritten: it stores the new value."""
    slow = ["[B------:R-:W-:-:S01] S2R R1, LANEID", "[B------:R-:W-:-:S15] NOP", "[B------:R-:W-:-:S15] NOP"]
    slow += ["[B------:R-:W-:-:S15] SHL R2, R1, 7", "[B------:R-:W-:-:S15] SHL R1, R1, 2"]
    slow += ["[B------:R-:W0:-:S01] LDS R12, [R2]"]  # 32 words of one bank
    store = "[B------:R0:W-:-:S01] STS [R1], R8", "[B------:R-:W-:-:S15] MOV R8, 7"
    load = *["[B------:R-:W-:-:S15] NOP"] * 5, "[B------:R-:W1:-:S15] LDS R9, [R1]", "[B-1----:R-:W-:-:S15] NOP"
    waiting = store[1].replace("B------", "B0-----")
    assert stored(*slow, *store, *load) == 7
    assert stored(*slow, store[0], waiting, *load) == 0


def test_a_guard_is_read_too():
    """A guard that is read before its comparison's result still has its old value, false, and is a RAW hazard."""
    lines = "[B------:R-:W-:-:S01] ISETP.EQ P0, RZ, 0", "[B------:R-:W-:-:S15] @P0 MOV R9, 7"
    assert stored(*lines) == 0
    assert found(*lines) == [("RAW", "P0", 1, 0)]


OBEYING = {
    "dependence.rule": "codes",
    "dependence.yield_stall": 1,
    "dependence.yield_rest": 0,
    "dependence.variable": "none",
    "schedulers.interval": 1,
    "schedulers.issue_interval": 1,
    "schedulers.dispatch_ports": 1,
}


@st.composite
def streams(draw: st.DrawFn) -> list[str]:
    """Straight lines of arithmetic and loads of shared memory on few registers, with any stall counts and barriers."""
    register = st.sampled_from((4, 5, 6, 7))
    lines = ["[B------:R-:W-:-:S15] MOV R8, 7"]
    for _ in range(draw(st.integers(2, 12))):
        code = f"[B{draw(st.sampled_from(('------', '0-----', '-1----')))}:R-:W-:-:S{draw(st.integers(1, 9)):02}]"
        d, a, b = draw(register), draw(register), draw(register)
        load = code.replace("W-", f"W{draw(st.integers(0, 1))}")
        choice = [
            f"{code} IADD R{d}, R{a}, {draw(st.integers(1, 9))}",
            f"{code} IMAD R{d}, R{a}, 3, R{b}",
            f"{load} LDS R{d}, [RZ+{4 * draw(st.integers(0, 3))}]",
            f"{load} SHFL.IDX R{d}, R{a}, 0",
            f"{code.replace('R-', 'R0')} STS [RZ+64], R{a}",
        ]
        lines.append(draw(st.sampled_from(choice)))
    return lines


@settings(REPEATABLE, max_examples=draws(150 if COMPILED else 4))
@given(streams())
def test_values_and_hazards_are_those_of_the_times_of_reads_and_writes(lines):
    """Each operand is what was written last by the trace's times; hazards are where the program's order says else."""
    tail = ["[B012345:R-:W-:-:S15] NOP", *["[B------:R-:W-:-:S15] NOP"] * 3, "[B------:R-:W-:-:S01] EXIT"]
    machine = plain_machine(OBEYING)
    made = read(".block 32\n.shared 128\n" + "\n".join([*lines, *tail]))
    run = run_sm(made, machine, trace=True)
    expected, early = _by_time(made.program.instructions, run, machine)
    assert {(h.kind, h.register, h.pc, h.other) for h in hazards(made, machine).hazards} == early
    for register, value in expected.items():
        assert int(run.registers[0][int(register[1:])][0]) == value, register


def _by_time(code, run, machine):
    """Registers in the end, and the hazards, worked out from the cycles of issues and services alone."""
    issued = {int(r.pc): int(r.cycle) for r in run.trace if r.kind == 1}
    served = {int(r.pc): int(r.cycle) for r in run.trace if r.kind == 3}
    writes: dict[str, list[tuple[int, int, int]]] = defaultdict(list)  # time, pc, value
    early = set()
    for pc, instruction in enumerate(code):
        operands = {}
        for name in flow.reads(instruction):
            seen = [w for w in writes[name] if w[0] <= issued[pc]]
            operands[name] = max(seen)[2] if seen else 0
            latest = max((w[1] for w in seen), default=-1)
            early |= {("RAW", name, pc, w[1]) for w in writes[name] if w[0] > issued[pc] and w[1] > latest}
        for name in flow.writes(instruction):
            start, latency = issued[pc], machine.unit.get(instruction.row.unit.value)
            done = served[pc] + machine.shared_memory.latency_32 if pc in served else start + latency.latency
            early |= {("WAW", name, pc, w[1]) for w in writes[name] if w[0] > done}
            writes[name].append((done, pc, _value(instruction, operands)))
    for pc, start in served.items():
        done = start + max(1, machine.shared_memory.war_32)
        for name in flow.reads(code[pc]):
            early |= {("WAR", name, w[1], pc) for w in writes[name] if w[1] > pc and w[0] < done}
    return {name: max(all_of)[2] for name, all_of in writes.items() if all_of}, early


def _value(instruction, operands) -> int:
    """The instruction's result from these operands; shared memory holds zeros."""
    held = [operands.get(f"R{r}", 0) for r in instruction.reads()]
    numbers = [o.bits for o in instruction.operands if hasattr(o, "bits")]
    match instruction.row.mnemonic:
        case "MOV":
            return numbers[0]
        case "IADD":
            return (held[0] + numbers[0]) % 2**32
        case "IMAD":
            return (held[0] * 3 + held[-1]) % 2**32
        case "SHFL.IDX":
            return held[0]
    return 0
