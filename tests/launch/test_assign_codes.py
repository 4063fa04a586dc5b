"""Control codes assigned to programs without any: worked out by hand, and checked in random programs."""

import pytest
from draws import draws, few
from hypothesis import assume, given, settings
from interpreter.interpret import interpret
from scan.every_cycle import scan
from strategies.launches import CODES, REPEATABLE, kernels, launches

from gpusim.engines.simulate import run_sm
from gpusim.launch.codes import share_barriers
from gpusim.launch.codes.assign_codes import with_codes
from gpusim.machine.machine import load
from gpusim.machine.occupancy import occupancy
from gpusim.sm.jit.rule import COMPILED
from gpusim.sm.registers.control_code.declaration import by_codes
from isa.dataflow.flow import reads, successors, writes
from isa.nvidia.control import show
from isa.row import Unit
from isa.text.assembler import assemble
from isa.text.listing import read
from workloads.catalog import CATALOG, make

OF_GCN = {"sgemm-vega-legacy", "sgemm-vega-vlp", "dgemm-vega-vlp", "cadence"}
V100 = load("v100")
CODED = launches(kernels(most_blocks=2, least=3), tags=False).filter(lambda launched: by_codes(launched[1]))


def codes(text: str, machine=V100) -> list[str]:
    """Return the codes that the instructions of a listing get."""
    return [show(i.control) for i in with_codes(assemble(text), machine).instructions if i.control]


def test_a_program_with_codes_keeps_them():
    """A program that has control codes keeps them, even wrong ones."""
    program = assemble("[B------:R-:W-:-:S01] MOV R1, 3\n[B------:R-:W-:-:S01] IADD R2, R1, 1")
    assert with_codes(program, V100) is program


def test_a_fixed_latency_is_a_stall_count_of_the_instruction_before_the_reader():
    """A V100's FADD takes 4 cycles: it stalls 1, and the next instruction, before the reader, stalls 3."""
    assert V100.unit["fp32"].latency == 4
    text = "FADD R1, R2, R3\nFADD R4, R5, R6\nFADD R7, R1, R1\nEXIT"
    assert [code[-3:-1] for code in codes(text)] == ["01", "03", "01", "01"]


def test_a_loop_holds_its_first_reader_from_the_branch():
    """The branch stalls for a result of the loop's last FADD, which the loop's first instruction reads."""
    text = "top:\nFADD R1, R1, R3\nISETP.LT P0, R8, 1\nFADD R1, R2, R2\n@P0 BRA top\nEXIT"
    written = V100.unit["compare"].latency
    assert [int(code[-3:-1]) for code in codes(text)] == [1, 4 - 1, written - 3, 4 - (written - 3) or 1, 1]


def test_a_load_sets_a_read_and_a_write_barrier():
    """The reader of a load waits for its write barrier; a write to its address waits for its read barrier only."""
    assert codes("LDS R1, [R2]\nIADD R2, R2, 4\nFADD R3, R1, R1\nEXIT") == [
        "[B------:R0:W1:-:S01]",
        "[B0-----:R-:W-:-:S01]",
        "[B-1----:R-:W-:-:S01]",
        "[B------:R-:W-:-:S01]",
    ]


def test_a_wait_for_a_result_covers_the_sources():
    """If a reader of a load's result waited on every path, a write to the load's address waits for nothing."""
    text = "LDS R1, [R2]\nFADD R3, R1, R1\nIADD R2, R2, 4\nEXIT"
    assert [code[1:11] for code in codes(text)] == ["B------:R-", "B0-----:R-", "B------:R-", "B------:R-"]
    one_way = "LDS R1, [R2]\n@P0 BRA over\nFADD R3, R1, R1\nover:\nIADD R2, R2, 4\nFADD R4, R1, R1\nEXIT"
    assert [code[1:11] for code in codes(one_way)][0::3] == ["B------:R0", "B0-----:R-"]


def test_sources_read_after_the_result_need_a_read_barrier():
    """If a machine reads a load's sources after its result is written, a write to them waits for a read barrier."""
    late = load("v100", {"shared_memory.war_32": 100})
    made = codes("LDS R1, [R2]\nFADD R3, R1, R1\nIADD R2, R2, 4\nEXIT", late)
    assert [code[1:16] for code in made[:3]] == ["B------:R0:W1:-", "B-1----:R-:W-:-", "B0-----:R-:W-:-"]


def test_loads_first_needed_together_share_a_barrier():
    """Two loads that one instruction needs first share barrier 0."""
    assert [code[1:14] for code in codes("LDS R1, [RZ]\nLDS R2, [RZ]\nFADD R3, R1, R2\nEXIT")] == [
        "B------:R-:W0",
        "B------:R-:W0",
        "B0-----:R-:W-",
        "B------:R-:W-",
    ]


def test_two_of_seven_loads_share_a_barrier():
    """Seven loads are issued and read three cycles apart, but R14's a cycle after R13's: these two share barrier 3.

    R13's reader then waits one cycle too long; with any other pair it would be three.
    """
    loads = "\n".join(f"LDS R{i}, [RZ]" + ("" if i == 13 else "\nNOP\nNOP") for i in range(10, 17))
    reads = "\n".join(f"MOV R1, R{i}\nNOP\nNOP" for i in range(10, 17))
    made = codes(f"{loads}\n{reads}\nEXIT", load("v100", {"shared_memory.latency_32": 60}))
    given = [code[12:14] for code in made if code[12:14] != "W-"]
    assert given == ["W0", "W1", "W2", "W3", "W3", "W4", "W5"]


def test_in_a_loop_a_prefetch_shares_with_no_load_from_shared_memory():
    """Five prefetched words and a loop's two shared loads have six barriers: two prefetches share, no shared load does.

    If a load from shared memory shared its barrier, each round would take longer.
    """
    prefetch = [f"LDG R{i}, [R20]" for i in range(10, 15)]
    turn = [
        "top:",
        "LDS R1, [R21]",
        "LDS R2, [R21+4]",
        "FADD R3, R1, R3",
        "NOP",
        "NOP",
        "FADD R3, R2, R3",
        "@P0 BRA top",
    ]
    use = [line for i in range(10, 15) for line in (f"STS [R22], R{i}", "NOP")]
    made = codes("\n".join([*prefetch, *turn, *use, "EXIT"]))
    far, near = ({code[12:14] for code in made[part]} for part in (slice(5), slice(5, 7)))
    assert (len(far), len(near), far & near) == (4, 2, set())


@pytest.mark.long
@pytest.mark.parametrize("machine", few(["gtx980", "v100", "h200"], 1))
def test_no_kernel_waits_for_its_prefetch(machine):
    """No instruction of a catalog kernel that needs only near results waits for a far one on the same barrier."""
    where = load(machine)
    for name in set(CATALOG) - OF_GCN:
        program = with_codes(make(name).program, where)
        assert [
            (name, pc) for pc, held in enumerate(_held(program)) if _waits_far(program.instructions, pc, held)
        ] == []


def _held(program):
    """Return by pc each (giver, barrier, whether for its result) that may be held before it, on any path."""
    code, after = program.instructions, successors(program)
    held, todo = [set() for _ in code], list(range(len(code)))
    while todo:
        pc = todo.pop()
        control = code[pc].control
        own = {(pc, control.read_barrier, False), (pc, control.write_barrier, True)}
        behind = {
            one for one in held[pc] | own if one[1] is not None and not (one[0] != pc and control.waits >> one[1] & 1)
        }
        for target in after[pc]:
            if behind - held[target]:
                held[target] |= behind
                todo.append(target)
    return held


def _waits_far(code, pc, held):
    """Tell whether a barrier makes the instruction wait for a far result, though it needs only near ones."""
    written, touched = writes(code[pc]), reads(code[pc]) | writes(code[pc])
    for barrier in range(6):
        on = {(by, write) for by, where, write in held if where == barrier and code[pc].control.waits >> barrier & 1}
        needed = {
            (by, write) for by, write in on if (writes(code[by]) & touched if write else reads(code[by]) & written)
        }
        far = {(by, write) for by, write in on if write and code[by].row.unit is Unit.GLOBAL}
        if far - needed and not far & needed:
            return True
    return False


def test_units_of_variable_latency_and_long_ones_get_barriers():
    """A V100's MUFU, of variable latency, gets a write barrier; so does an FADD of 16 cycles, beyond a stall count."""
    assert codes("MUFU.RCP R1, R2\nMOV R3, R1")[0] == "[B------:R-:W0:-:S01]"
    slow = load("v100", {"unit.fp32.latency": 16})
    assert codes("FADD R1, R2, R3\nMOV R3, R1", slow) == ["[B------:R-:W0:-:S01]", "[B0-----:R-:W-:-:S01]"]


def test_a_pair_of_maxwell_has_a_stall_count_of_0():
    """A load or an exit pairs with an FADD in one turn; two FADDs do not, nor does a load that reads the sum."""
    gtx980 = load("gtx980")
    text = "FADD R1, R2, R3\nLDS R4, [R5]\nFADD R6, R2, R3\nFADD R7, R2, R3\nEXIT"
    assert [code[-3:-1] for code in codes(text, gtx980)] == ["00", "01", "01", "00", "01"]
    assert codes("FADD R5, R2, R3\nLDS R4, [R5]\nEXIT", gtx980)[0][-3:-1] == "06"


@pytest.mark.jit
@pytest.mark.parametrize("machine", ["gtx980", "v100", "rtx2080ti", "a100", "rtx3090", "h200"])
def test_shipped_kernels_keep_their_values(machine):
    """On six machines with control codes the SGEMM leaves the same memory as in program order."""
    kernel = make("sgemm-lai", {"m": "96", "n": "96", "k": "32"})
    assert (run_sm(kernel, load(machine, {"chip.sms": 1})).memory == interpret(kernel).memory).all()


LONG = 20_000  # cycles: the scan of each of more takes minutes


@settings(REPEATABLE, max_examples=draws(40 if COMPILED else 3))
@given(CODED)
def test_assigned_codes_leave_no_register_early(launched):
    """Nothing issues before each result it touches is there, and each source that it overwrites has been read."""
    kernel, machine = launched
    assume(run_sm(kernel, machine).cycles <= LONG)
    resident = min(occupancy(kernel, machine).blocks, kernel.blocks)
    assert scan(kernel, machine, resident).early == []


def test_the_scan_finds_early_readers_and_writers():
    """With codes that wait for nothing the scan finds a reader before the result, and a writer before the read."""
    wrong = "[B------:R-:W-:-:S01] LDS R1, [R2]\n[B------:R-:W-:-:S01] MOV R2, R1\n[B------:R-:W-:-:S01] EXIT"
    kernel = read(f".shared 4\n{wrong}")
    assert scan(kernel, load("v100", {"chip.sms": 1}), 1).early == [(1, "R1"), (1, "R2")]


def test_the_strategy_draws_codes():
    """The machines that the twin tests draw include some that obey control codes."""
    assert "codes" in CODES["dependence.rule"]


def test_a_latency_that_the_program_does_not_use_changes_no_barriers():
    """Machines that differ only in a latency that the program does not use share one choice of barriers."""
    program = make("sg4", {"k": "8"}).program
    machines = [load("h200", {"unit.dp.latency": latency}) for latency in (8, 9, 10)]
    before = share_barriers.kept()
    coded = [with_codes(program, machine) for machine in machines]
    assert share_barriers.kept() - before >= 2
    assert coded[0] == coded[1] == coded[2]
