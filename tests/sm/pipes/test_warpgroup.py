"""Matrix instructions of a warpgroup: values beside the chip's, and when operands are read and results written."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from draws import few
from read.fenced import ROOT
from timing import cycles_of
from warpgroup_code import DATA, module, recorded, result

from benchmarks.tensor import loops
from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.engines.walks.program_order import walk
from gpusim.machine.machine import load
from gpusim.sm.account.record.declaration import TRACE_KINDS
from gpusim.sm.unit.stall import Stall
from isa.errors import UserError
from isa.executing.faults import ExecutionError
from isa.nvidia.lowering.lower import lowered
from isa.text.listing import read

H200 = load("h200", {"chip.sms": 1, "launch.begin": 0})
KINDS = "f16", "f16h", "bf16", "tf32", "e4m3", "e5m2", "e4m3h"
ONE = np.uint32(0x3C003C00)  # two halves
LAST = "WARPGROUP.DEPBAR.LE"


def launch(name, kind, tiles, blocks=1):
    """Return the launch of a kernel on tiles of a kind, by each of so many blocks, and what the chip gave."""
    held = recorded("products")
    a, b, c, d = (held[f"{kind}/{letter}"][tiles] for letter in "ABCD")
    columns = np.ascontiguousarray(b.transpose(0, 2, 1)).view(np.uint32).reshape(-1)
    words = [np.ascontiguousarray(one).view(np.uint32).reshape(-1) for one in (a, c, d)]
    out = np.zeros_like(words[2])
    given = words[0], columns, words[1], out, np.int32(len(a))
    return module("products").get_function(name).launched((blocks,), (128,), given), words[2]


def results(made):
    """Return the result in program order and by each engine."""
    memories = [walk(made).memory, *(run_sm(made, H200, engine=engine).memory for engine in ENGINES)]
    return [result(memory, made, 4, np.uint32) for memory in memories]


def without(made, mnemonic):
    """Return the launch with another instruction, which does nothing, in the place of those of a name."""
    form = lowered("NOP")
    code = tuple(
        replace(one, row=form.row, operands=()) if one.row.mnemonic == mnemonic else one
        for one in made.program.instructions
    )
    return replace(made, program=replace(made.program, instructions=code))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("where", ["", "_rs"])
def test_values_are_the_chips(kind, where):
    """To the bit: sums of designed and random tiles, with A in shared memory and in registers."""
    made, expected = launch(kind + where, kind, slice(None))
    assert (result(run_sm(made, H200).memory, made, 4, np.uint32) == expected).all()


@pytest.mark.parametrize("name", ["s8", "u8s8", "s8sat"])
def test_whole_numbers_are_exact(name):
    """Sums of bytes wrap at 32 bits, or are clamped; A may be unsigned."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 256, (64, 32), np.uint8), rng.integers(0, 256, (8, 32), np.uint8)
    c = rng.choice(np.array([0, 1, -1, 2**31 - 1, -(2**31)], np.int64), (64, 8))
    of_a = a.astype(np.int64) if name[0] == "u" else a.view(np.int8).astype(np.int64)
    whole = of_a @ b.view(np.int8).astype(np.int64).T + c
    expected = np.clip(whole, -(2**31), 2**31 - 1) if name == "s8sat" else whole
    words = [one.view(np.uint32).reshape(-1) for one in (a, b, c.astype(np.int32))]
    given = *words, np.zeros(512, np.uint32), np.int32(1)
    made = module("products").get_function(name).launched((1,), (128,), given)
    found = result(run_sm(made, H200).memory, made, 4, np.int32).reshape(64, 8)
    assert (found == expected.astype(np.uint64).astype(np.uint32).view(np.int32)).all()


def test_program_order_and_engines_agree():
    """A product is the same whoever runs it."""
    made, expected = launch("f16", "f16", slice(0, 1))
    for found in results(made):
        assert (found == expected).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_blocks_that_are_there_together_have_warpgroups_of_their_own(engine):
    """Three blocks of an SM, whose warps begin at different schedulers, all compute what the chip does."""
    made, expected = launch("f16", "f16", slice(0, 1), blocks=3)
    assert H200.launch.rotates
    ran = run_sm(made, H200, engine=engine)
    assert ran.blocks == 3
    assert (result(ran.memory, made, 4, np.uint32) == expected).all()


def test_an_accumulator_that_is_read_before_the_wait_is_the_old_one():
    """Without the wait the registers still hold C when they are stored: the tensor cores write them later."""
    made, expected = launch("f16", "f16", slice(0, 1))
    c = np.ascontiguousarray(recorded("products")["f16/C"][0]).view(np.uint32).reshape(-1)
    assert (c != expected).any()
    for found in results(without(made, LAST)):
        assert (found == c).all()


def test_operands_in_shared_memory_are_read_when_the_product_is_computed():
    """A is overwritten with ones behind the instruction and before its wait: D is of these."""
    held, (made, _) = recorded("products"), launch("f16", "f16", slice(1, 2))
    late, _ = launch("overwritten", "f16", slice(1, 2))
    ones = np.full((1, 512), ONE, np.uint32).reshape(-1)
    b, c = (np.ascontiguousarray(held[f"f16/{x}"][1:2]) for x in "BC")
    columns = np.ascontiguousarray(b.transpose(0, 2, 1)).view(np.uint32).reshape(-1)
    words = ones, columns, c.reshape(-1).view(np.uint32), np.zeros(512, np.uint32), np.int32(1)
    plain = module("products").get_function("f16").launched((1,), (128,), words)
    expected = result(run_sm(plain, H200).memory, plain, 4, np.uint32)
    assert (expected != result(run_sm(made, H200).memory, made, 4, np.uint32)).any()
    for found in results(late):
        assert (found == expected).all()


@pytest.mark.parametrize("name", few(("kk", "mk", "kn", "mn"), 2))
def test_descriptors_say_where_operands_lie_as_on_the_chip(name):
    """All ways of mixing rows, random distances and starts, along k and turned: 16 products, as on an H200."""
    held = recorded("layout")
    halves, cases = held["halves"].astype(np.float16).view(np.uint32), held[f"{name}_descriptors"]
    out = np.zeros(len(cases) * 1024, np.float32)
    given = halves, np.int32(len(halves)), cases.reshape(-1), np.int32(len(cases)), out
    made = module("layout").get_function(name).launched((1,), (128,), given, shared_mem=4 * len(halves))
    found = result(run_sm(made, H200).memory, made, 5, np.float32)
    assert (found == held[name].reshape(-1).astype(np.float32)).all()


def test_an_operand_outside_shared_memory_is_a_fault():
    """It is one line that names the instruction and the address."""
    halves, far = np.zeros(1024, np.uint32), np.array([1 << 32 | 1 << 16 | 0x3000, 0], np.uint64)
    given = halves, np.int32(1024), far, np.int32(1), np.zeros(1024, np.float32)
    made = module("layout").get_function("kk").launched((1,), (128,), given, shared_mem=4096)
    with pytest.raises(ExecutionError, match=r"HGMMA.*16 bytes at 0x30400 lie outside"):
        run_sm(made, H200)
    with pytest.raises(ExecutionError, match=r"HGMMA.*16 bytes at 0x30400 lie outside"):
        walk(made)


def test_other_warps_may_stand_behind_a_warpgroup():
    """Of five warps the first four multiply, in each of several blocks: 16 more than C; the fifth's registers stay."""
    made = (
        module("five_warps", ROOT / "tests" / "data")
        .get_function("five")
        .launched((3,), (160,), (np.zeros(3 * 4 * 160, np.float32),))
    )
    given = np.arange(1, 5, dtype=np.float32)[:, None] + np.where(np.arange(160) < 128, 16, 0).astype(np.float32)
    for memory in (walk(made).memory, *(run_sm(made, H200, engine=engine).memory for engine in ENGINES)):
        assert (result(memory, made, 1, np.float32).reshape(3, 4, 160) == given).all()


def test_a_block_has_a_whole_warpgroup():
    """Three warps can't go together."""
    held = [np.zeros(512, np.uint32) for _ in range(4)]
    made = module("products").get_function("f16").launched((1,), (96,), (*held, np.int32(1)))
    with pytest.raises(UserError, match="4 warps"):
        run_sm(made, H200)


def test_a_machine_without_such_tensor_cores_refuses_the_kernel():
    """The message names the instruction and what the machine's file lacks."""
    made, _ = launch("f16", "f16", slice(0, 1))
    with pytest.raises(UserError, match=r"HGMMA.*\[warpgroup\]"):
        run_sm(replace(made, any_machine=True), load("rtx3090", {"chip.sms": 1, "launch.begin": 0}))


def test_the_wait_lasts_until_the_product_is_there():
    """From the issue by the last warp: begin, fill, N/2 cycles, drain, as the machine's file has them."""
    made, _ = launch("f16", "f16", slice(0, 1))
    waits = next(pc for pc, one in enumerate(made.program.instructions) if one.row.mnemonic == LAST)
    slower = load("h200", {"chip.sms": 1, "launch.begin": 0, "warpgroup.drains": 115})
    stalls = [int(run_sm(made, machine).stalls[waits, Stall.BARRIER]) for machine in (H200, slower)]
    assert stalls[1] - stalls[0] == 4 * 100


def beside_a_product(operations, count, changes=None, sums="F32", engine="compiled", kind="issue"):
    """Return the issue cycles of a warp that repeats operations beside m64n64k16, from the first cycle of its sums on.

    Or its records of another kind.

    The last of the four warps, 2 cycles apart, issues the product at 15, so it is computed from 15 + 10 + 20 on.
    """
    descriptors = [f"UMOV UR{8 + i}, {word:#x}" for i, word in enumerate((0, 0x40000040, 512, 0x40000040))]
    product = f"HGMMA.64x64x16.{sums}.gsb0 R24, UR8, R24, !PT"
    code = [operations[i % len(operations)].format(d=64 + i % 8, a=72 + i % 2, b=75 - i % 2) for i in range(count)]
    text = [".block 128", ".shared 16384", *descriptors, "WARPGROUP.ARRIVE", product, *code, "EXIT"]
    machine = load("h200", {"chip.sms": 1, "launch.begin": 0, "fetch.ahead": 1000, **(changes or {})})
    run = run_sm(read("\n".join(text)), machine, engine=engine, trace=True)
    found = [cycle - 45 for cycle, warp, pc in cycles_of(run, kind) if warp == 0 and 5 < pc < len(text) - 3]
    return [cycle for cycle in found if cycle >= 0]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("operation", "waits"),
    [
        ("LDS R64, [R72]", True),
        ("STS [R72], R64", True),
        ("SHFL.BFLY R64, R72, R73", True),
        ("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR4], RZ", False),
    ],
)
def test_what_passes_data_waits_while_a_product_reads(operation, waits, engine):
    """From 10 cycles behind the issue by the last warp on, 64 + 256 rows in 80; a barrier's commands are served."""
    descriptors = [f"UMOV UR{8 + i}, {word:#x}" for i, word in enumerate((0, 0x40000040, 0, 0x40000040))]
    barrier = ["UMOV UR4, 0x8000", "UMOV UR6, 0xfffff000", "UMOV UR7, 0x7ffff", "SYNCS.EXCH.64 URZ, [UR4], UR6"]
    product = ["WARPGROUP.ARRIVE", "HGMMA.64x256x16.F32.gsb0 R80, UR8, R80, !PT"]
    code = [
        ".block 128",
        ".shared 32776",
        *descriptors,
        *barrier,
        *product,
        *["IADD3 R70, R70, R70, RZ"] * 6,
        operation,
    ]
    machine = load("h200", {"chip.sms": 1, "launch.begin": 0, "fetch.ahead": 1000})
    run = run_sm(read("\n".join([*code, "EXIT"])), machine, engine=engine, trace=True)
    issued = max(cycle for cycle, _, pc in cycles_of(run) if pc == 9)
    served = sorted(cycle for cycle, _, pc in cycles_of(run, "serve") if pc == 16)
    came = min(cycle for cycle, _, pc in cycles_of(run) if pc == 16)
    assert issued + 10 < came < issued + 90
    assert served[0] == (issued + 90 if waits else came)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("queue", [1, 3, 6])
def test_a_product_issues_when_one_of_the_queue_begins(queue, engine):
    """The first begins 10 + 20 cycles behind its issue by the last warp, the others every 32: then a place is free."""
    descriptors = [f"UMOV UR{8 + i}, {word:#x}" for i, word in enumerate((0, 0x40000040, 512, 0x40000040))]
    products = [f"HGMMA.64x64x16.F32{end} R24, UR8, R24, !PT" for end in [""] * 10 + [".gsb0"]]
    text = "\n".join([".block 128", ".shared 16384", *descriptors, "WARPGROUP.ARRIVE", *products, "EXIT"])
    machine = load("h200", {"chip.sms": 1, "launch.begin": 0, "fetch.ahead": 1000, "warpgroup.queue": queue})
    run, first = run_sm(read(text), machine, engine=engine, trace=True), len(descriptors) + 1
    issued = [max(cycle for cycle, _, pc in cycles_of(run) if pc == first + i) for i in range(len(products))]
    begins = [issued[0] + 30 + 32 * i for i in range(len(products))]
    assert begins[-1] == max(int(record.detail) for record in run.trace if TRACE_KINDS[record.kind] == "product")
    assert all(cycle >= begin for cycle, begin in zip(issued[queue:], begins, strict=False))
    assert all(cycle - begin <= 3 for cycle, begin in zip(issued[queue + 1 :], begins[1:], strict=False))
    assert issued[queue - 1] < begins[0]
    assert run.stalls[first + queue, Stall.MIO_THROTTLE] > 0


@pytest.mark.parametrize("engine", ENGINES)
def test_warpgroups_take_turns_at_the_queue(engine):
    """Once the queue is full, products of two warpgroups alternate, as an H200's do (2026-11-30)."""
    descriptors = [f"UMOV UR{8 + i}, {word:#x}" for i, word in enumerate((0, 0x40000040, 512, 0x40000040))]
    products = [f"HGMMA.64x64x16.F32{end} R24, UR8, R24, !PT" for end in [""] * 15 + [".gsb0"]]
    text = "\n".join([".block 256", ".shared 16384", *descriptors, "WARPGROUP.ARRIVE", *products, "EXIT"])
    run = run_sm(
        read(text), load("h200", {"chip.sms": 1, "launch.begin": 0, "fetch.ahead": 1000}), engine=engine, trace=True
    )
    first = len(descriptors) + 1
    turns = [warp for _, warp, pc in cycles_of(run) if warp in (0, 4) and pc >= first and pc < first + 16]
    assert len(turns) == 32
    assert all(one != other for one, other in pairwise(turns[6:26]))


CLOCKS = {  # N, registers: cycles between clocks read behind 16 products on an H200 (2026-11-30): the last, and the end
    (8, 0): (18, 125),
    (8, 1): (13, 95),
    (64, 0): (32, 235),
    (64, 1): (32, 235),
    (128, 0): (64, 459),
    (128, 1): (64, 459),
}


@pytest.mark.jit
@pytest.mark.parametrize("case", few(CLOCKS, 2))
def test_clocks_between_products_are_the_chips(case):
    """With A in shared memory (0) or registers (1), behind each of the last products and behind the wait: within 2."""
    out = np.zeros(160, np.uint32)
    code = module("product_queue", ROOT / "tests" / "data")
    code.get_function("q_{}_{}".format(*case))((1,), (128,), (out,), shared_mem=65536, machine="h200")
    found = np.diff(out[:19].astype(np.int64))
    assert np.abs(found[[12, 13, 14, 15]] - CLOCKS[case][0]).max() <= 2
    assert abs(found[17] - CLOCKS[case][1]) <= 2


ADD, MOST, POWER = "FADD R{d}, R{a}, R{b}", "FMNMX R{d}, R{a}, R{b}, PT", "MUFU.EX2 R{d}, R{a}"
PAIRS = [cycle + i for cycle in range(0, 32, 4) for i in (2, 3)]


@pytest.mark.parametrize("engine", ENGINES)
def test_arithmetic_issues_in_the_cycles_that_sums_leave(engine):
    """Sums of eight columns take both banks in two cycles of four, 32 cycles in all; then FADDs go on in each cycle."""
    assert beside_a_product([ADD], 60, engine=engine)[:20] == [*PAIRS, 32, 33, 34, 35]


def test_sums_of_16_bits_take_one_cycle_of_four():
    """Two registers for eight columns: one cycle."""
    left = [cycle for cycle in range(32) if cycle % 4]
    assert beside_a_product([ADD], 70, sums="F16")[: len(left)] == left


def test_a_pipe_that_takes_an_instruction_every_other_cycle_takes_one_in_four():
    """FMNMX has a cycle and the next: two cycles later sums are read."""
    found = beside_a_product([MOST], 40)
    assert {b - a for a, b in pairwise(found[:8])} == {4}


def test_a_result_that_finds_a_free_cycle_keeps_its_pipe_for_the_cycles_of_sums():
    """MUFU.EX2 issues in any cycle, every 8 + 2 then."""
    found = beside_a_product([POWER], 12)
    assert [b - a for a, b in pairwise(found)][:3] == [10, 10, 10]


def test_what_writes_no_register_issues_beside_sums():
    """ISETPs of a chain of stall counts of 4 go on, in a cycle of each four in which sums are read and written."""
    assert beside_a_product(["ISETP.NE P0, R{a}, R{b}"], 30)[:8] == list(range(1, 32, 4))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_warp_that_waits_for_sums_leaves_the_slot_to_others(engine):
    """An FFMA that reads two of a bank is one cycle late at 3: it isn't selected until 6, nor the FADD behind until 10.

    One that waits for reads of the FFMA before it is selected, and keeps the slot.
    """
    twice = "FFMA R{d}, R72, R74, R75"
    assert beside_a_product(["FADD R{d}, R72, R75", twice], 40, engine=engine)[:2] == [2, 6]
    assert beside_a_product(["FADD R{d}, R72, R75", twice], 40, engine=engine, kind="select")[:1] != [3]
    assert beside_a_product([twice], 40, engine=engine)[:3] == [2, 6, 10]
    assert beside_a_product([twice], 40, engine=engine, kind="select")[:2] == [3, 7]


def test_without_banks_nothing_waits():
    """Then registers are never late."""
    found = beside_a_product([ADD], 60, {"register_file.mapping": "none"})
    assert found[:20] == list(range(20))


OPERATIONS = {"ffma": 1, "fmnmx": 6, "imad": 10, "mix": 11}  # by their numbers in beside.cu
BESIDE = (
    ("imad", 2, 4.05),
    ("fmnmx", 2, 4.00),
    ("imad", 1, 4.50),
    ("fmnmx", 1, 4.53),
    ("mix", 2, 3.82),
    ("mix", 1, 4.50),
)


def beside(operation, warpgroups, products):
    """Return how many cycles a scheduler takes for an operation that warps repeat, beside products or alone."""
    out, name = np.zeros(128, np.int64), f"_Z4kernILi128ELi0ELi{OPERATIONS[operation]}ELi0EEvPxiiif"
    given = out, np.int32(40), np.int32(warpgroups), np.int32(products), np.float32(1)
    module("beside").get_function(name)((1,), (384,), given, shared_mem=67584, machine="h200")
    return out[3] / out[2] / warpgroups


@pytest.mark.jit
@pytest.mark.parametrize(("operation", "warpgroups", "chip"), few(BESIDE, 2))
def test_operations_beside_products_take_longer_as_on_the_chip(operation, warpgroups, chip):
    """Warps repeat an operation while another warpgroup multiplies: within 25 % of an H200, and slower than alone."""
    found = beside(operation, warpgroups, 1)
    assert abs(found / chip - 1) < 0.25
    assert found > 1.3 * beside(operation, warpgroups, 0)


@pytest.mark.long
def test_timed_loops_take_what_they_take_on_the_chip():
    """Loops of products of all types, with A in shared memory or registers, by one or two warpgroups: within 5 %."""
    machine = load("h200", loops.WARM)
    timed = [row for row in loops.rows(DATA) if row.plan == "wg" and row.warps <= 8]
    errors = [abs(loops.outcome(DATA, row, machine).error) for row in few(timed, 4)]
    assert len(errors) >= 4
    assert max(errors) < 5
