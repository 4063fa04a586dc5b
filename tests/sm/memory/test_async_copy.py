"""Asynchronous copies: what is read before they are done, after they are, and by whom it is waited for."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from strategies.launches import REPEATABLE

from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.engines.walks.program_order import walk
from gpusim.launch.codes.assign_codes import with_codes
from gpusim.launch.feed import FEEDS
from gpusim.launch.memory_costs import cached_in
from gpusim.machine.machine import load
from gpusim.sm.unit.stall import Stall
from isa.executing.faults import ExecutionError
from isa.nvidia.file.dump import Encoded
from isa.nvidia.lowering.lower import instruction, lowered
from isa.operands.operand import PT, Predicate
from isa.text.listing import read

H200 = load("h200", {"chip.sms": 1})
WORDS = 1024  # of each buffer; as many lie before each
Y = slice(3 * WORDS, 4 * WORDS)
OLD = 7  # that shared memory holds before
HEAD = f"""
.block 32
.shared 512
.buffer x u32 {WORDS} = iota
.buffer y u32 {WORDS}
    S2R R0, LANEID
    SHL R1, R0, 2
    SHL R2, R0, 4
    MOV R9, {OLD}
    STS [R1], R9
    STS [R1+0x80], R9
    STS [R1+0x100], R9
    STS [R1+0x180], R9
    IADD R3, R1, c[x]
    IADD R4, R2, c[x]
    IADD R10, R1, c[y]
    ISETP.LT P0, R0, 5
"""


def kernel(*lines):
    """Return the kernel of some lines: R1 is 4 times the lane, R2 16 times, R3 and R4 are there in x; P0: lane < 5."""
    return read(HEAD + "\n".join(lines) + "\nEXIT")


def kept(place=0):
    """Return lines that store a word of shared memory for each lane, in y."""
    return f"LDS R5, [R1+{place:#x}]", f"STG [R10+{place:#x}], R5"


def results(made, machine=H200):
    """Return y by program order, by its oracle, and by each engine."""
    runs = [run_sm(made, machine, engine=engine).memory for engine in ENGINES]
    return [memory[Y] for memory in (walk(made).memory, interpret(made).memory, *runs)]


def waited(made):
    """Return for how many cycles the instruction before EXIT waits for loads or copies."""
    return int(run_sm(made, H200).stalls[len(made.program) - 2, Stall.LONG_SCOREBOARD])


def test_a_read_before_the_wait_gets_the_old_words_and_one_after_it_the_new():
    """In program order and by both engines; the copy is behind the read in time, not in the program."""
    made = kernel(
        *("LDGSTS [R1], [R3]", "LDGDEPBAR", "LDS R5, [R1]", "DEPBAR.LE SB0, 0", "LDS R6, [R1]"),
        *("STG [R10], R5", "STG [R10+0x80], R6"),
    )
    for y in results(made):
        assert (y[:32].tolist(), y[32:64].tolist()) == ([OLD] * 32, list(range(32)))


@pytest.mark.parametrize("words", [1, 2, 4])
def test_each_lane_copies_a_word_two_or_four(words):
    """Lanes copy 4, 8 or 16 bytes each, to places of their own; the rest of shared memory keeps its words."""
    name, place = {1: ("LDGSTS", "R1"), 2: ("LDGSTS.64", "R6"), 4: ("LDGSTS.128", "R2")}[words]
    made = kernel(
        *("SHL R6, R0, 3", f"IADD R7, {place}, c[x]", f"{name} [{place}], [R7]", "LDGDEPBAR", "DEPBAR.LE SB0, 0"),
        *(line for at in range(4) for line in kept(at * 0x80)),
    )
    for y in results(made):
        assert y[:128].tolist() == [*range(32 * words)] + [OLD] * (128 - 32 * words)


def test_lanes_whose_guard_is_false_copy_nothing():
    """The guard skips lanes: their words stay."""
    made = kernel("@P0 LDGSTS [R1], [R3]", "LDGDEPBAR", "DEPBAR.LE SB0, 0", *kept())
    for y in results(made):
        assert y[:32].tolist() == [0, 1, 2, 3, 4] + [OLD] * 27


def test_lanes_whose_last_predicate_is_false_write_zeros_and_read_nothing():
    """The predicate behind the addresses is no guard: others write zeros, and their address may be anywhere."""
    bad = "SEL R3, R3, 3, P0"
    made = kernel(bad, "LDGSTS [R1], [R3], P0", "LDGDEPBAR", "DEPBAR.LE SB0, 0", *kept())
    for y in results(made):
        assert y[:32].tolist() == [0, 1, 2, 3, 4] + [0] * 27
    none = kernel("LDGSTS [R1], [R0], !PT", "LDGDEPBAR", "DEPBAR.LE SB0, 0", *kept())
    for y in results(none):
        assert y[:32].tolist() == [0] * 32


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[R1+0x2], [R3]", "address 0x2 in shared memory is misaligned for 4 bytes"),
        ("[R1+0x200], [R3]", "4 bytes at 0x200 in shared memory lie outside"),
    ],
)
def test_a_bad_place_in_shared_memory_is_a_fault(text, message):
    """A place must be a multiple of the lane's bytes, and inside the block's shared memory, as all say alike."""
    made = kernel(f"LDGSTS {text}")
    for run in (lambda: run_sm(made, H200), lambda: walk(made), lambda: interpret(made)):
        with pytest.raises(ExecutionError, match=message):
            run()


def test_a_wait_ends_when_the_copies_before_the_last_groups_are_done():
    """A copy's group is done when a load in its place would be; DEPBAR.LE SB0, 1 does not wait for the last group."""
    both = "LDGSTS [R1], [R3]", "LDGDEPBAR", "LDGSTS [R1+0x80], [R3+0x800]", "LDGDEPBAR"
    waits = {n: waited(kernel(*both, f"DEPBAR.LE SB0, {n}")) for n in (0, 1, 2)}
    assert waits[2] == 0 < waits[1] <= waits[0]
    alone = waited(kernel("LDGSTS [R1], [R3]", "LDGDEPBAR", "DEPBAR.LE SB0, 0"))
    assert abs(alone - waited(kernel("LDG R5, [R3]", "FADD R5, R5, R5"))) <= 4


def test_a_warp_that_exits_has_its_copies_done():
    """Nobody waits for the copy; another warp of the block sees it after the first has gone, in program order too."""
    made = read(
        HEAD.replace(".block 32", ".block 64") + "S2R R8, TID.X\nISETP.LT P1, R8, 32\n@P1 LDGSTS [R1], [R3]\nEXIT"
    )
    assert walk(made).counts[-1] == 2
    assert run_sm(made, H200).cycles > run_sm(read(HEAD + "EXIT"), H200).cycles


COPIES = st.lists(
    st.tuples(st.integers(0, 20), st.sampled_from(["P0", "!P0", "PT"]), st.sampled_from(["", "@P0 ", "@!P0 "])),
    min_size=4,
    max_size=4,
)
BETWEEN = st.one_of(
    st.just("LDGDEPBAR"),
    st.builds("DEPBAR.LE SB0, {}".format, st.integers(0, 3)),
    st.builds("LDS R{0}, [R1+{1:#x}]".format, st.integers(16, 23), st.sampled_from([0, 0x80, 0x100, 0x180])),
)


@given(COPIES, st.lists(BETWEEN, max_size=12), st.randoms())
@settings(REPEATABLE, max_examples=12)
def test_engines_agree_and_what_is_waited_for_is_there(copies, between, random):
    """Both engines leave the same words and cycles; behind a wait for all groups these are those of program order.

    Its oracle has the same words, those that are read too early among them.

    The copies have places of their own: which of two copies to one place is done last nobody promises.
    """
    lines = [
        f"{guard}LDGSTS [R1+{0x80 * place:#x}], [R3+{4 * word:#x}], {reads}"
        for place, (word, reads, guard) in enumerate(copies)
    ] + between
    random.shuffle(lines)
    made = kernel(*lines, "LDGDEPBAR", "DEPBAR.LE SB0, 0", *(line for at in range(4) for line in kept(at * 0x80)))
    one, other = (run_sm(made, H200, engine=engine) for engine in ENGINES)
    assert one.cycles == other.cycles
    assert np.array_equal(one.memory, other.memory)
    assert np.array_equal(one.memory[Y], walk(made).memory[Y])
    assert np.array_equal(walk(made).memory, interpret(made).memory)


PIPELINE = """
.grid 8
.block 128
.shared 4096
.buffer x u32 65536
.buffer y u32 1024
    S2R R0, TID.X
    S2R R7, CTAID.X
    SHL R1, R0, 2
    SHL R8, R7, 12
    IADD R3, R1, c[x]
    IADD R3, R3, R8
    MOV R2, 0
    LDGSTS [R1], [R3]
    LDGDEPBAR
loop:
    IADD R2, R2, 1
    ISETP.LT P0, R2, 100
    IADD R3, R3, 64
    LDGSTS [R1+0x200], [R3], P0
    LDGDEPBAR
    DEPBAR.LE SB0, 1
    BAR.SYNC 0
    LDS R5, [R1]
    BAR.SYNC 0
    @P0 BRA loop
    EXIT
"""


@pytest.mark.jit
@pytest.mark.parametrize("machine", ["h200", "v100"])
def test_time_is_that_of_all_feeds(machine):
    """A loop that copies ahead has the same cycles and stalls whether values are computed, or the state comes back."""
    made, on = read(PIPELINE), load(machine, {"chip.sms": 1, "cache.hits": "none"})
    runs = [run_sm(made, on, feed=feed, fast_forward=True) for feed in FEEDS]
    assert {run.cycles for run in runs} == {runs[0].cycles}
    assert all(np.array_equal(run.stalls, runs[0].stalls) for run in runs)
    assert machine == "h200" or runs[-1].skipped > 0


def test_machine_code_of_copies_is_read():
    """The place in shared memory has 32 bits, the address 64; caches say nothing; the predicate may be negated."""
    form = lowered("LDGSTS.E.BYPASS.LTC128B.128 [R7+UR4+0x10], desc[UR6][R2.64+0x20], !P1")
    place, address, predicate = form.operands
    assert (form.row.mnemonic.split(".")[0], form.row.nbytes, form.row.copies) == ("LDGSTS", 16, True)
    assert (place.base.index, place.offset, place.wide) == (7, 0x10, False)
    assert (address.base.index, address.offset, address.wide) == (2, 0x20, True)
    assert predicate == Predicate(1, negated=True)
    assert lowered("LDGSTS.E [R3], [R4.64]").operands[2:] in ((), (PT,))


@pytest.mark.jit
def test_a_predicate_that_only_a_copy_reads_decides_in_every_feed():
    """Which lanes read memory is part of its time: it takes as long on each feed, also where it differs by block."""
    for test in ("ISETP.LT P1, R0, 5", "S2R R9, CTAID.X\nISETP.EQ P1, R9, 1"):
        text = HEAD + "\n".join((test, "LDGSTS [R1], [R3], P1", "LDGDEPBAR", "DEPBAR.LE SB0, 0", "EXIT"))
        made = replace(read(text), grid=(300, 1, 1))
        assert len({run_sm(made, H200, feed=feed).cycles for feed in FEEDS}) == 1


def test_copies_land_where_accesses_are_counted():
    """Without control codes the words are there after the wait, whether or not accesses are limited by a count."""
    made = kernel("LDGSTS [R1], [R3]", "LDGDEPBAR", "DEPBAR.LE SB0, 0", *kept())
    counted = load("gtx580", {"outstanding.vector": 8, "outstanding.shared": 50})
    for y in results(made, counted):
        assert y[:32].tolist() == list(range(32))


def test_a_group_that_no_lane_closes_stays_open():
    """LDGDEPBAR under a guard that holds nowhere closes no group: the wait for groups covers nothing."""
    made = kernel("LDGSTS [R1], [R3]", "@!PT LDGDEPBAR", "DEPBAR.LE SB0, 0", *kept())
    for y in results(made):
        assert y[:32].tolist() == [OLD] * 32


def copied_bytes(size, kept, base=0):
    """Return the bytes at a lane's place of so many of which so many are kept, from that word of x on."""
    return np.arange(base, base + size // 4, dtype=np.uint32).view(np.uint8)[:kept].tolist() + [0] * (size - kept)


@pytest.mark.parametrize("size", [4, 8, 16])
def test_a_copy_that_fills_takes_the_bytes_that_its_address_does_not_leave_out(size):
    """As an H200 copies src-size bytes: ptxas adds size - src-size to the address; none at all where P is false."""
    suffix = "" if size == 4 else f".{8 * size}"
    text = f"LDGSTS.E{suffix}.ZFILL [R1], desc[UR4][R4], P0"
    row, scale = lowered(text).row, size.bit_length() - 1
    made = kernel(
        *(f"SHL R1, R0, {scale}", "IADD R4, R1, c[x]", f"LOP.AND R6, R0, {size - 1}", "IADD R4, R4, R6"),
        *("ISETP.NE P0, R0, 20", "LDGSTS [R1], [R4], P0", "LDGDEPBAR", "DEPBAR.LE SB0, 0", "SHL R1, R0, 2"),
        *(line for at in range(size // 4) for line in kept(at * 0x80)),
    )
    code = tuple(replace(i, row=replace(row, registers="")) if i.row.copies else i for i in made.program.instructions)
    made = replace(made, program=replace(made.program, instructions=code))
    lanes = [copied_bytes(size, 0 if lane == 20 else size - lane % size, lane * size // 4) for lane in range(32)]
    for y in results(made):
        assert y[: 8 * size].view(np.uint8).tolist() == [byte for lane in lanes for byte in lane]


def test_a_copy_that_fills_needs_only_the_bytes_that_it_takes():
    """The last word of a buffer is enough for a copy of 16 bytes that leaves out 12; 13 bytes are a fault."""
    row = lowered("LDGSTS.E.128.ZFILL [R1], desc[UR4][R4]").row
    for left, good in ((12, True), (11, False)):
        made = kernel(
            *(f"MOV R4, {4 * WORDS + left}", "IADD R4, R4, c[x]", "LDGSTS.128 [R2], [R4]", "LDGDEPBAR"),
            *("DEPBAR.LE SB0, 0", "EXIT"),
        )
        code = tuple(
            replace(i, row=replace(row, registers="")) if i.row.copies else i for i in made.program.instructions
        )
        one = replace(made.buffers[0], elements=WORDS + 1)  # of x: its last word is the first of those 16 bytes
        made = replace(made, program=replace(made.program, instructions=code), buffers=(one, *made.buffers[1:]))
        for run in (
            lambda made=made: run_sm(made, H200),
            lambda made=made: walk(made),
            lambda made=made: interpret(made),
        ):
            if good:
                run()
            else:
                with pytest.raises(ExecutionError, match="16 bytes at 0x2000 lie in no buffer"):
                    run()


def coded(*lines):
    """Return a kernel with control codes, in which barrier 0 counts groups."""
    made = with_codes(kernel(*lines).program, H200)
    closing = next(pc for pc, i in enumerate(made.instructions) if i.row.mnemonic == "LDGDEPBAR")
    code = list(made.instructions)
    code[closing] = replace(code[closing], control=replace(code[closing].control, write_barrier=0))
    return replace(kernel(*lines), program=replace(made, instructions=tuple(code)))


@pytest.mark.parametrize("guard", ["", "@!PT "])
def test_a_wait_mask_for_the_barrier_that_counts_groups_waits_for_all(guard):
    """LDGDEPBAR holds barrier 0 by its code: who waits for it by its mask, executed or not, finds the words there."""
    made = coded("LDGSTS [R1], [R3]", "LDGDEPBAR", f"{guard}NOP", *kept())
    (place,) = (pc for pc, i in enumerate(made.program.instructions) if i.row.mnemonic == "NOP")
    code = list(made.program.instructions)
    code[place] = replace(code[place], control=replace(code[place].control, waits=1))
    waiting = replace(made, program=replace(made.program, instructions=tuple(code)))
    for y in results(waiting):
        assert y[:32].tolist() == list(range(32))
    for y in results(made):
        assert y[:32].tolist() == [OLD] * 32


def test_depbar_waits_whatever_its_guard():
    """A wait whose guard holds nowhere waits all the same, in time and in program order."""
    made = kernel("LDGSTS [R1], [R3]", "LDGDEPBAR", "@!PT DEPBAR.LE SB0, 0", *kept())
    for y in results(made):
        assert y[:32].tolist() == list(range(32))


def test_depbar_of_a_set_waits_for_the_barriers_in_it():
    """DEPBAR {5,4,3,2,1,0} has a wait mask of all."""
    assert instruction(Encoded(0, "DEPBAR {5,4,3,2,1,0}", 0x91A, 0x0), {}).control.waits == 0b111111


def test_many_copies_without_a_wait_do_not_end_the_run():
    """400 copies of a warp are under way at once; all are there after the wait."""
    copies = [f"LDGSTS [R1+{0x80 * (n % 4):#x}], [R3+{4 * n:#x}]" for n in range(400)]
    made = kernel(*copies, "LDGDEPBAR", "DEPBAR.LE SB0, 0", *(line for at in range(4) for line in kept(at * 0x80)))
    for y in results(made):
        assert y[:128].tolist() == [396 + at + lane for at in range(4) for lane in range(32)]


def test_groups_without_copies_are_done():
    """A program that copies nothing waits for its LDGDEPBAR alone, for nothing where that takes no time."""
    made = read(".block 64\n" + "LDGDEPBAR\nDEPBAR.LE SB0, 0\nBAR.SYNC 0\n" * 20 + "EXIT")
    for engine in ENGINES:
        for machine, most in ((H200, 40), (load("a100", {"chip.sms": 1}), 0)):
            run = run_sm(made, machine, engine=engine)
            waits = run.stalls[:, Stall.LONG_SCOREBOARD].sum() / (2 * 20)
            assert most - 8 <= waits <= most
            assert int(run.issued.sum()) == 2 * 61


STRIDES = [("", 4, 1), ("", 8, 2), ("", 128, 32), (".128", 16, 4), (".64", 24, 2)]


@pytest.mark.parametrize(("suffix", "stride", "passes"), STRIDES)
def test_bank_conflicts_of_what_is_written_take_the_unit(suffix, stride, passes):
    """By hand, of 4 warps: a copy takes the unit for the passes of its places, and for one cycle, on an H200."""
    made = read(
        f".block 128\n.shared 16384\n.buffer x u32 1024\nS2R R0, LANEID\nIMUL R1, R0, {stride}\nMOV R3, c[x]\n"
        + f"LDGSTS{suffix} [R1], [R3]\n" * 10
        + "EXIT"
    )
    runs = [run_sm(made, H200, engine=engine) for engine in ENGINES]
    assert len({run.cycles for run in runs}) == 1
    assert runs[0].load_store_cycles[3:13].tolist() == [4 * passes] * 10


def test_a_copy_of_many_passes_keeps_the_unit_for_all_of_them():
    """32 passes of 5 cycles each, without a section of copies: more cycles than a byte counts."""
    head = ".block 32\n.shared 4096\n.buffer x u32 32\nS2R R0, LANEID\nSHL R1, R0, 7\n"
    made = read(head + "MOV R3, c[x]\nLDGSTS [R1], [R3]\nEXIT")
    machine = load("gtx580", {"chip.sms": 1, "shared_memory.pass_cycles": 5})
    for engine in ENGINES:
        assert run_sm(made, machine, engine=engine).load_store_cycles[3] == 32 * 5


def test_a_copy_that_bypasses_asks_the_l2_alone():
    """Ptxas' spelling of cp.async.cg: the line is not there for a load from the L1 behind it."""
    near, far = (lowered(f"LDGSTS.E{name}.128 [R7], desc[UR6][R2.64]").row for name in ("", ".BYPASS"))
    assert (near.bypasses, far.bypasses) == (False, True)
    assert cached_in(far, H200) != cached_in(near, H200)
