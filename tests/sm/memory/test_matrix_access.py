"""Matrices in shared memory: who gets what, passes, times, faults, and what walks see of them."""

import numpy as np
import pytest
from interpreter.interpret import interpret
from timing import PORT, issue_times, run_text

from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.engines.walks.program_order import walk
from gpusim.engines.walks.races import races
from gpusim.engines.walks.traffic import Level, traffic
from gpusim.machine.machine import load
from isa.executing.faults import ExecutionError
from isa.text.listing import read

H200 = load("h200", {"chip.sms": 1})
Y = slice(1024, 1024 + 1024)
HEAD = """
.block 32
.shared 8192
.buffer y u32 1024
    S2R R0, LANEID
    SHL R2, R0, 2
    IADD R3, R2, c[y]
"""
SUFFIXES = {1: "", 2: ".2", 4: ".4"}
EACH_HALF = (
    # Shared memory has the number of each of its first 512 halves, R1 the address of a row for each lane.
    "IMUL R8, R0, 0x20002",
    "IADD R8, R8, 0x10000",
    *(line for word in range(0, 256, 32) for line in (f"STS [R2+{4 * word:#x}], R8", "IADD R8, R8, 0x400040")),
    "LOP.XOR R1, R0, 5",
    "SHL R1, R1, 4",
)


def kernel(*lines):
    """Return the kernel of some lines: R2 is 4 times the lane, R3 there in y."""
    return read(HEAD + "\n".join(lines) + "\nEXIT")


def results(made):
    """Return y by program order, by its oracle, and by each engine, of which all must agree."""
    runs = [run_sm(made, H200, engine=engine) for engine in ENGINES]
    assert len({run.cycles for run in runs}) == 1
    found = [memory[Y] for memory in (walk(made).memory, interpret(made).memory, *(run.memory for run in runs))]
    assert all(np.array_equal(found[0], one) for one in found)
    return found[0]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_lane_gets_two_halves_of_the_row_that_another_names(count, transposed):
    """Lane l has elements 2 (l % 4) and the next of row l / 4 (PTX ISA, ldmatrix); transposed, of column l / 4."""
    name = f"LDSM.16.{'MT88' if transposed else 'M88'}{SUFFIXES[count]}"
    stores = [f"STG [R3+{0x80 * k:#x}], R{12 + k}" for k in range(count)]
    y = results(kernel(*EACH_HALF, f"{name} R12, [R1]", *stores))
    found = y[: 32 * count].view(np.uint16).reshape(count, 32, 2).tolist()
    for matrix in range(count):
        for lane in range(32):
            places = [(lane // 4, 2 * (lane % 4) + half) for half in range(2)]
            rows = [(c, r) if transposed else (r, c) for r, c in places]
            assert found[matrix][lane] == [8 * ((8 * matrix + r) ^ 5) + c for r, c in rows]


@pytest.mark.parametrize("layout", ["M88", "MT88"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_what_is_stored_is_what_the_same_load_gets(count, layout):
    """A store and a load of the same rows give each lane its own words back; other bytes stay."""
    suffix = SUFFIXES[count]
    words = [f"IMUL R{4 + k}, R0, {0x10003 + 0x50007 * k:#x}" for k in range(count)]
    stores = [f"STG [R3+{0x80 * k:#x}], R{12 + k}" for k in range(count)]
    made = kernel(
        *("LOP.XOR R1, R0, 9", "SHL R1, R1, 5", *words, f"STSM.16.{layout}{suffix} [R1+16], R4"),
        *(f"LDSM.16.{layout}{suffix} R12, [R1+0x10]", *stores, "LDS R20, [R2]", "STG [R3+0x200], R20"),
    )
    y = results(made)
    for k in range(count):
        assert y[32 * k : 32 * k + 32].tolist() == [lane * (0x10003 + 0x50007 * k) % 2**32 for lane in range(32)]
    beside = [word for word in range(32) if word % 8 < 4]
    assert not y[128:160][beside].any()


def test_of_equal_rows_the_first_stays_and_of_matrices_the_last():
    """As an H200 stores four matrices whose 32 rows are one place: 300 to 303, with 100 m + l in lane l."""
    words = [f"IADD R{4 + k}, R0, {100 * k}" for k in range(4)]
    y = results(kernel(*words, "STSM.16.M88.4 [0x0], R4", "LDS R12, [R2]", "STG [R3], R12"))
    assert y[:8].tolist() == [300, 301, 302, 303, 0, 0, 0, 0]


def test_lanes_that_take_no_part_name_no_row_and_have_no_part():
    """Rows of lanes whose guard is false are zeros, and these lanes keep their registers; as a shuffle has it."""
    lines = ("ISETP.GE P0, R0, 4", "MOV R12, 7", "@P0 LDSM.16.M88 R12, [R1]", "STG [R3], R12")
    y = results(kernel(*EACH_HALF, *lines))
    first = [8 * (lane // 4 ^ 5) + 2 * (lane % 4) for lane in range(32)]
    assert y[4:32].tolist() == [0] * 12 + [half + (half + 1 << 16) for half in first[16:]]
    assert y[:4].tolist() == [7] * 4
    nobody = kernel(*EACH_HALF, "ISETP.GE P0, R0, 8", "MOV R12, 7", "@P0 LDSM.16.M88 R12, [R1]", "STG [R3], R12")
    assert results(nobody)[:32].tolist() == [7] * 8 + [0] * 24


def test_the_addresses_of_other_lanes_mean_nothing():
    """One matrix takes 8 addresses, two take 16: those of other lanes may be anywhere."""
    for count in (1, 2):
        lines = (f"ISETP.GE P0, R0, {8 * count}", "@P0 MOV R1, 0x3fff1", f"LDSM.16.M88{SUFFIXES[count]} R12, [R1]")
        y = results(kernel(*EACH_HALF, *lines, "STG [R3], R12"))
        assert y[0] == 8 * 5 + (8 * 5 + 1 << 16)


@pytest.mark.parametrize(
    ("place", "message"), [("[R1+0x8]", "misaligned for 16 bytes"), ("[R1+0x1e10]", "16 bytes at 0x2000 lie outside")]
)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_bad_row_is_a_fault(place, message, engine):
    """A row lies at a multiple of 16 bytes, inside the block's shared memory; the message names the lane."""
    made = kernel("SHL R1, R0, 4", f"LDSM.16.M88.4 R12, {place}")
    lane = 0 if "mis" in message else 31
    for run in (lambda: run_sm(made, H200, engine=engine), lambda: walk(made), lambda: interpret(made)):
        with pytest.raises(ExecutionError, match=f"lane {lane}: .*{message}"):
            run()


def test_an_absolute_address_is_checked_when_it_is_read():
    """A row that all lanes name is checked in the text."""
    with pytest.raises(Exception, match="take a multiple of 16"):
        kernel("LDSM.16.M88 R12, [0x8]")


# Offsets of the lanes' rows, and wavefronts of one, two and four matrices, as measured on an H200.
PATTERNS = {
    "16 l": (lambda lane: 16 * lane, (1, 2, 4)),
    "32 l": (lambda lane: 32 * lane, (2, 4, 8)),
    "64 l": (lambda lane: 64 * lane, (4, 8, 16)),
    "128 l": (lambda lane: 128 * lane, (8, 16, 32)),
    "144 l": (lambda lane: 144 * lane, (1, 2, 4)),
    "80 l": (lambda lane: 80 * lane, (1, 2, 4)),
    "one row": (lambda _: 0, (1, 2, 4)),
    "two rows in a bank": (lambda lane: lane % 2 * 128, (2, 4, 8)),
    "matrices are one": (lambda lane: lane % 8 * 16, (1, 2, 4)),
    "halves swapped": (lambda lane: (lane ^ 4) * 16, (1, 2, 4)),
    "swizzled rows of 128 bytes": (lambda lane: lane * 128 + (lane // 8 ^ lane % 8) * 16, (1, 2, 4)),
    "swizzled rows of 64 bytes": (lambda lane: lane * 64 + (lane // 2 & 3) * 16, (1, 2, 4)),
}


def at_rows(offset, *lines):
    """Return a listing whose R1 has the offset that a function gives of each lane."""
    bits = [f"STS [{4 * lane:#x}], {offset(lane)}" for lane in range(32)]
    return ".shared 8192\nS2R R0, LANEID\nSHL R2, R0, 2\n" + "\n".join((*bits, "LDS R1, [R2]", *lines, "EXIT"))


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("access", ["LDSM.16.{} R4, [R1]", "STSM.16.{} [R1], R4"])
def test_wavefronts_are_those_that_were_measured(name, access):
    """Equal rows of a matrix go together, matrices never do, and transposing costs nothing."""
    offset, wavefronts = PATTERNS[name]
    for layout in ("M88", "MT88"):
        lines = [access.format(f"{layout}{suffix}") for suffix in SUFFIXES.values()]
        run = run_text(at_rows(offset, *lines), PORT)
        assert tuple(run.load_store_cycles[-5:-2].tolist()) == wavefronts


@pytest.mark.parametrize("stride", [16, 32, 128])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_result_comes_21_cycles_and_two_for_each_wavefront_after_its_service(count, stride):
    """21 + 2 n, measured on an H200 in chains, whatever the matrices; the reader issues then."""
    text = at_rows(lambda lane: stride * lane, "MOV R3, R1", f"LDSM.16.M88{SUFFIXES[count]} R4, [R1]", "MOV R8, R4")
    *_, begin, end = issue_times(text, PORT)
    assert end - begin == 21 + 2 * count * stride // 16


@pytest.mark.parametrize(
    ("count", "stride", "cycles"), [(1, 16, 4), (2, 16, 6), (4, 16, 10), (1, 128, 16), (4, 32, 16)]
)
def test_stores_of_one_scheduler_follow_each_other_after_the_larger_of_two_times(count, stride, cycles):
    """2 cycles and 2 for each matrix, or 2 for each wavefront: as measured of one warp on an H200."""
    store = f"STSM.16.M88{SUFFIXES[count]} [R1], R4"
    text = at_rows(lambda lane: stride * lane, "MOV R3, R1", *[store] * 30)
    times = issue_times(text, PORT | {"load_store.queue": 2})
    assert times[-1] - times[-11] == 10 * cycles


def test_what_other_warps_named_is_a_race():
    """A load of rows that another warp stored is a race without a barrier, at the words of the rows named."""
    text = """
    .block 64
    .shared 2048
        S2R R0, TID.X
        SHL R1, R0, 4
        STSM.16.M88.4 [R1], R4
        {}
        LOP.XOR R1, R1, 0x200
        LDSM.16.M88 R8, [R1]
    """
    assert races(read(text.format("BAR.SYNC 0"))) == []
    found = races(read(text.format("NOP")))
    assert [(race.address, race.first.pc, race.second.pc) for race in found] == [(0x200, 2, 5)]


def test_traffic_counts_what_lanes_get():
    """A lane gets a word of each matrix: 32 words of one, 128 of four."""
    for count in (1, 2, 4):
        found = traffic(kernel("SHL R1, R0, 4", f"LDSM.16.M88{SUFFIXES[count]} R4, [R1]"))
        assert found.read(Level.SHARED) == 32 * count
        found = traffic(kernel("SHL R1, R0, 4", f"STSM.16.M88{SUFFIXES[count]} [R1], R4"))
        assert found.written(Level.SHARED) == 32 * count


def test_a_matrix_turned_twice_is_as_it_was():
    """MOVM gives lane 4 r + t the halves of columns: element (r, c) comes from (c, r)."""
    lines = ("IMUL R8, R0, 0x20002", "IADD R8, R8, 0x10000", "MOVM.16.MT88 R9, R8", "MOVM.16.MT88 R10, R9")
    y = results(kernel(*lines, "STG [R3], R9", "STG [R3+0x80], R10"))
    turned = np.arange(64).reshape(8, 8).T.ravel()
    assert y[:32].view(np.uint16).tolist() == turned.tolist()
    assert y[32:64].view(np.uint16).tolist() == list(range(64))
