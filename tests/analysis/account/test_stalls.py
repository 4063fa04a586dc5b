import pytest

from gpusim.analysis.account.stalls import lost_slots, waiting_most, warp_cycles
from gpusim.engines.simulate import run_sm
from gpusim.launch.codes.assign_codes import sharing
from gpusim.machine.machine import load
from isa.dataflow.waits.shared_barriers import RESULT, SharedBarrier
from isa.text.listing import read
from workloads.catalog import make

pytestmark = pytest.mark.jit
GTX580, V100 = load("gtx580"), load("v100")
KERNELS = [("sgemm-lai", {"m": "192", "n": "192", "k": "32"}), ("mix", {"iterations": "2"}), ("chain", {"warps": "3"})]


@pytest.mark.parametrize("arguments", KERNELS)
def test_warp_cycles_add_up(arguments):
    """The reasons of all warp-cycles add up to cycles x warp slots, and come in descending order."""
    run = run_sm(make(*arguments), GTX580)
    cycles = warp_cycles(run)
    assert sum(cycles.values()) == run.cycles * run.warp_slots
    assert list(cycles.values()) == sorted(cycles.values(), reverse=True)


@pytest.mark.parametrize("arguments", KERNELS)
def test_lost_slots_and_issues_add_up(arguments):
    """Lost cycles of issue slots and issued instructions x interval add up to cycles x schedulers."""
    run = run_sm(make(*arguments), GTX580)
    assert sum(lost_slots(run).values()) + run.warp_instructions * run.interval == run.cycles * len(run.lost)


def test_a_wait_is_charged_to_the_instruction_that_waits():
    """The FFMA that reads a loaded value waits longest, over 550 cycles, for global memory."""
    text = ".buffer a f32 32\nMOV R0, c[a]\nLDG R1, [R0]\nIADD R3, R3, 1\nFFMA R2, R1, R1, R1\nEXIT"
    kernel = read(text)
    run = run_sm(kernel, GTX580)
    worst = waiting_most(kernel, run)[0]
    assert (worst.pc, worst.text, worst.reason) == (3, "FFMA R2, R1, R1, R1", "long_scoreboard")
    assert worst.share == worst.cycles / (run.cycles * run.warp_slots)
    assert worst.cycles > 550


def test_a_wait_for_more_than_is_needed_is_reported():
    """An FADD that needs an LDS waits for an LDG on the same barrier, and a note says so; two barriers give no note."""
    far = ".shared 4\n.buffer a f32 32\n[B------:R-:W-:-:S06] MOV R8, c[a]\n[B------:R-:W0:-:S01] LDG R1, [R8]\n"
    near = "[B------:R-:W{}:-:S01] LDS R2, [RZ]\n"
    ends = "[B{}:R-:W-:-:S04] FADD R3, R2, R2\n[B------:R-:W-:-:S01] EXIT"
    found = []
    for barrier, waits in (("0", "0-----"), ("1", "-1----")):
        kernel = read(far + near.format(barrier) + ends.format(waits))
        shared = sharing(kernel.program, V100)
        waiting = waiting_most(kernel, run_sm(kernel, V100), shared=shared)
        found.append(next((one.reason, one.shared_barriers) for one in waiting if one.pc == 3))
    assert found == [("long_scoreboard", (SharedBarrier(0, 1, RESULT, (2,)),)), ("short_scoreboard", ())]


def test_not_being_selected_is_no_wait():
    """Warps that compete for issue slots have cycles of `not_selected`, which the list of waits leaves out."""
    kernel = read(".block 512\n" + "FFMA R0, R1, R2, R3\nFFMA R4, R1, R2, R3\n" * 20 + "EXIT")
    run = run_sm(kernel, GTX580)
    assert warp_cycles(run)["not_selected"] > 0
    assert "not_selected" not in {one.reason for one in waiting_most(kernel, run, 100)}


def test_a_wait_at_the_end_of_the_program_is_listed():
    """A warp that runs off the end waits there, and the list calls the place `end of the program`."""
    kernel = read(".buffer a f32 32\nMOV R0, c[a]\nLDG R1, [R0]")
    assert waiting_most(kernel, run_sm(kernel, GTX580))[0].text == "end of the program"
