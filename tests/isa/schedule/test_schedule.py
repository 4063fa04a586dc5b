from __future__ import annotations

from itertools import combinations_with_replacement

import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.latency_tables import TABLE_3, latency_tables
from strategies.launches import REPEATABLE, alu_streams

from isa.dataflow.flow import reads, writes
from isa.operands.operand import Register
from isa.schedule.schedule import Latencies, best_places, stalls, total, totals
from workloads.builder import at, instruction
from workloads.papers.tan.tan import dgemm_tan

R = [Register(i) for i in range(16)]
SOME = settings(REPEATABLE, max_examples=draws(60))


def adds(*registers):
    """Return independent additions to registers."""
    return [instruction("IADD", R[r], R[r], 1) for r in registers]


def with_each(stream, instructions, places):
    """Return the stream with each instruction put before its place; those of one place keep their order."""
    out = list(stream)
    for place, each in reversed(list(zip(places, instructions, strict=True))):
        out.insert(place, each)
    return out


def waits_by_definition(instructions, latencies):
    """Return the stalls as the paper defines them: by two tables, looked up register by register."""
    last_raw, last_war, now, out = {}, {}, 0, []
    for each in instructions:
        latency = latencies.of[each.row.mnemonic]
        until = [last_raw.get(name, 0) for name in reads(each) | writes(each)]
        until += [last_war.get(name, 0) for name in writes(each)]
        out.append(max([0, *(time - now for time in until)]))
        now += out[-1]
        last_raw |= dict.fromkeys(writes(each), now + latency.raw)
        if latency.war:
            last_war |= {name: max(last_war.get(name, 0), now + latency.war) for name in reads(each)}
        now += latencies.issue_interval
    return out


def test_the_papers_example_stalls_970_cycles():
    """A store of a word loaded four independent instructions before waits 1000 - (4 * 6 + 6) cycles."""
    stream = [instruction("LDG", R[2], at(R[1])), *adds(3, 4, 5, 6), instruction("STS", at(R[7]), R[2])]
    assert stalls(stream, TABLE_3) == [0, 0, 0, 0, 0, 970]


def test_a_register_is_not_overwritten_before_it_is_read():
    """A write to a load's pointer or result waits 40 cycles, 46 less the issue interval; a second addition waits 12."""
    load, step = instruction("LDS.128", R[4], at(R[1])), instruction("IADD", R[1], R[1], 4)
    assert stalls([load, step], TABLE_3) == [0, 40]
    assert stalls([load, instruction("MOV", R[5], 0)], TABLE_3) == [0, 40]
    assert stalls([*adds(1), *adds(1)], TABLE_3) == [0, 12]


@SOME
@given(stream=alu_streams(), latencies=latency_tables())
def test_stalls_are_those_of_the_papers_two_tables(stream, latencies):
    """Instruction by instruction, for any latencies."""
    assert stalls(stream, latencies) == waits_by_definition(stream, latencies)
    assert total(stream, latencies) == sum(stalls(stream, latencies))


@SOME
@given(stream=alu_streams(), latencies=latency_tables())
def test_a_loop_stalls_as_its_body_does_written_out_many_times(stream, latencies):
    """The stalls of a round are the growth of the straight stream's, over twelve rounds from the 40th on."""
    period, late = 12, 40
    ends = [sum(stalls(list(stream) * rounds, latencies)) for rounds in (late, late + period)]
    assert period * total(stream, latencies, repeats=True) == ends[1] - ends[0]


def test_latencies_count_across_a_loops_branch():
    """A load whose result the next round reads stalls 16 cycles before four instructions, and 40 after them."""
    use, load = instruction("FADD", R[0], R[9], 1.0), instruction("LDS.128", R[8], at(R[12]))
    free = adds(1, 2, 3, 4)
    assert total([use, load, *free], TABLE_3, repeats=True) == 46 - 5 * 6
    assert total([use, *free, load], TABLE_3, repeats=True) == 46 - 6
    assert total([use, *free, load], TABLE_3) == 0


def test_an_early_load_spares_its_use_a_wait():
    """A load with four instructions before its use stalls nothing, one right before it most."""
    use = instruction("FFMA", R[0], R[9], R[9], R[0])
    load = instruction("LDS", R[9], at(R[10]))
    stream = [*adds(1, 2, 3, 4, 5, 6, 7, 8, 11, 12), use]
    assert totals(stream, load, TABLE_3, range(11)) == [0, 0, 0, 0, 0, 0, 0, 2, 8, 14, 20]


@SOME
@given(stream=alu_streams(), latencies=latency_tables(), repeats=st.booleans())
def test_all_places_are_asked_as_one_by_one(stream, latencies, repeats):
    """The sum for each place is that of the stream with the instruction there."""
    *rest, last = stream
    each = [total([*rest[:p], last, *rest[p:]], latencies, repeats=repeats) for p in range(len(stream))]
    assert totals(rest, last, latencies, range(len(stream)), repeats=repeats) == each


@settings(REPEATABLE, max_examples=draws(40))
@given(stream=alu_streams(), latencies=latency_tables(), data=st.data())
def test_several_instructions_stand_where_trying_all_places_puts_them(stream, latencies, data):
    """As good as the best of all ways to put up to three instructions into a short stream, behind another one."""
    count = min(data.draw(st.integers(1, 3)), len(stream) - 1)
    instructions, rest = stream[:count], stream[count : count + 7]
    before = data.draw(st.sampled_from(([], stream[::-1][:5])))
    firsts = data.draw(st.lists(st.integers(0, len(rest)), min_size=count, max_size=count).map(sorted))
    allowed = [range(first, len(rest) + 1) for first in firsts]
    ways = [
        places
        for places in combinations_with_replacement(range(len(rest) + 1), count)
        if all(place in some for place, some in zip(places, allowed, strict=True))
    ]

    def cost(places):
        return sum(stalls([*before, *with_each(rest, instructions, places)], latencies))

    found = best_places(rest, instructions, latencies, allowed, before)
    assert found in ways
    assert cost(found) == min(map(cost, ways))


def test_version_4_of_the_papers_dgemm_stalls_as_little_as_any():
    """Its two fetches and two stores among 160 instructions stall as little as in the best places for all four."""
    code = dgemm_tan(variant="v4").program.instructions
    dfmas = [pc for pc, i in enumerate(code) if i.row.mnemonic == "DFMA"][:128]
    loop = code[dgemm_tan(variant="v4").program.labels["loop"] : dfmas[-1] + 1]
    half = [i for i in loop if i.row.mnemonic in ("DFMA", "LDS.128", "TEX.128", "STS.128")]
    moved = [i for i in half if i.row.mnemonic in ("TEX.128", "STS.128")]
    rest = [i for i in half if i not in moved]
    assert (len(rest), len(moved)) == (160, 4)
    assert total(half, TABLE_3) == total(with_each(rest, moved, best_places(rest, moved, TABLE_3)), TABLE_3) > 0


def test_places_in_the_wrong_order_are_an_error():
    """Two instructions can't keep their order if the first one's places are all after the second one's."""
    with pytest.raises(ValueError, match="no place is left"):
        best_places(adds(1, 2), adds(3, 4), TABLE_3, [range(2, 3), range(1)])


def test_an_unknown_mnemonic_is_an_error():
    """A stream with an instruction that the table lacks raises KeyError."""
    with pytest.raises(KeyError):
        stalls([instruction("MUFU.RCP", R[0], R[1])], Latencies({}, 6))
