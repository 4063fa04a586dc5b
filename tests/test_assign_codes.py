"""Control codes assigned to programs that have none: by hand, and right in every random program."""

import pytest
from every_cycle import scan
from hypothesis import given, settings
from strategies import CODES, REPEATABLE, kernels, launches

from gpusim.assign_codes import with_codes
from gpusim.engines.simulate import run_sm
from gpusim.machine import by_codes, load
from gpusim.occupancy import occupancy
from gpusim.rule import COMPILED
from isa.assembler import assemble
from isa.control import show
from isa.interpret import interpret
from isa.listing import read
from workloads.catalog import make

V100 = load("v100")
CODED = launches(kernels(most_blocks=2, least=3), tags=False).filter(lambda launched: by_codes(launched[1]))


def codes(text: str, machine=V100) -> list[str]:
    """The codes that the instructions of a listing get."""
    return [show(i.control) for i in with_codes(assemble(text), machine).instructions if i.control]


def test_a_program_with_codes_keeps_them():
    """Codes are assigned to programs that have none; wrong ones stay as they are."""
    program = assemble("[B------:R-:W-:-:S01] MOV R1, 3\n[B------:R-:W-:-:S01] IADD R2, R1, 1")
    assert with_codes(program, V100) is program


def test_a_fixed_latency_is_a_stall_count_of_the_instruction_before_the_reader():
    """A V100's FADD takes 4 cycles: 1 to the next instruction, which holds its dependent reader for the other 3."""
    assert V100.unit["fp32"].latency == 4
    text = "FADD R1, R2, R3\nFADD R4, R5, R6\nFADD R7, R1, R1\nEXIT"
    assert [code[-3:-1] for code in codes(text)] == ["01", "03", "01", "01"]


def test_a_loop_holds_its_first_reader_from_the_branch():
    """What the end of a loop's body writes is waited for behind the branch, on the back edge too."""
    text = "top:\nFADD R1, R1, R3\nISETP.LT P0, R8, 1\nFADD R1, R2, R2\n@P0 BRA top\nEXIT"
    written = V100.unit["compare"].latency
    assert [int(code[-3:-1]) for code in codes(text)] == [1, 4 - 1, written - 3, 4 - (written - 3) or 1, 1]


def test_a_load_is_told_of_by_barriers():
    """Its reader waits for the write barrier; who overwrites its address, for the read barrier alone."""
    assert codes("LDS R1, [R2]\nIADD R2, R2, 4\nFADD R3, R1, R1\nEXIT") == [
        "[B------:R0:W1:-:S01]",
        "[B0-----:R-:W-:-:S01]",
        "[B-1----:R-:W-:-:S01]",
        "[B------:R-:W-:-:S01]",
    ]


def test_of_seven_loads_two_share_a_barrier():
    """Six barriers tell of six loads; with the seventh those two share one whose readers come closest together."""
    loads = [f"LDS R{i}, [RZ]" for i in range(10, 17)]
    reads = [line for i in (16, 15, 12, 14, 13, 11, 10) for line in (f"MOV R1, R{i}", "NOP", "NOP")]
    del reads[10:12]  # between the readers of R14 and R13
    made = codes("\n".join([*loads, *reads, "EXIT"]))
    assert [code[12:14] for code in made[:7]] == ["W0", "W1", "W2", "W3", "W3", "W5", "W4"]
    assert [code[1:8] for code in made[7::3]][:4] == ["B----4-", "B-----5", "B--2---", "B---3--"]


def test_units_of_variable_latency_and_long_ones_get_barriers():
    """MUFU is of variable latency on a V100; of a fixed latency beyond 15 a stall count can't tell."""
    assert codes("MUFU.RCP R1, R2\nMOV R3, R1")[0] == "[B------:R-:W0:-:S01]"
    slow = load("v100", {"unit.fp32.latency": 16})
    assert codes("FADD R1, R2, R3\nMOV R3, R1", slow) == ["[B------:R-:W0:-:S01]", "[B0-----:R-:W-:-:S01]"]


def test_a_pair_of_maxwell_has_a_stall_count_of_0():
    """A load or an exit beside arithmetic issues in the same turn; two sums do not, nor what depends on each other."""
    gtx980 = load("gtx980")
    text = "FADD R1, R2, R3\nLDS R4, [R5]\nFADD R6, R2, R3\nFADD R7, R2, R3\nEXIT"
    assert [code[-3:-1] for code in codes(text, gtx980)] == ["00", "01", "01", "00", "01"]
    assert codes("FADD R5, R2, R3\nLDS R4, [R5]\nEXIT", gtx980)[0][-3:-1] == "06"


@pytest.mark.jit
@pytest.mark.parametrize("machine", ["gtx980", "v100", "rtx2080ti", "a100", "rtx3090", "h200"])
def test_shipped_kernels_keep_their_values(machine):
    """On every machine that obeys codes, the SGEMM, which has none, leaves the memory of program order."""
    kernel = make("sgemm-lai", {"m": "96", "n": "96", "k": "32"})
    assert (run_sm(kernel, load(machine, {"chip.sms": 1})).memory == interpret(kernel).memory).all()


@settings(REPEATABLE, max_examples=40 if COMPILED else 3)
@given(CODED)
def test_assigned_codes_leave_no_register_early(launched):
    """Nothing issues before each result it touches is there, and each source that it overwrites has been read."""
    kernel, machine = launched
    resident = min(occupancy(kernel, machine).blocks, kernel.blocks)
    assert scan(kernel, machine, resident).early == []


def test_the_scan_sees_what_is_early():
    """Codes that wait for nothing let a reader go before its result, and a writer before a load has read its source."""
    wrong = "[B------:R-:W-:-:S01] LDS R1, [R2]\n[B------:R-:W-:-:S01] MOV R2, R1\n[B------:R-:W-:-:S01] EXIT"
    kernel = read(f".shared 4\n{wrong}")
    assert scan(kernel, load("v100", {"chip.sms": 1}), 1).early == [(1, "R1"), (1, "R2")]


def test_the_strategy_draws_codes():
    """The machines of the twin tests include those that obey codes."""
    assert "codes" in CODES["dependence.rule"]
