"""Hazards of control codes: the checker reports the place and fix of each, and finds none in assigned codes."""

from dataclasses import replace

import numpy as np
import pytest
from coded import V100, coded
from draws import draws
from hypothesis import given, settings
from interpreter.interpret import interpret
from strategies.launches import REPEATABLE, kernels, launches

from gpusim.analysis.account.early.hazard import Hazard
from gpusim.analysis.account.hazards import hazards
from gpusim.engines.simulate import run_sm
from gpusim.launch.codes.assign_codes import with_codes
from gpusim.machine.machine import load
from gpusim.sm.jit.rule import COMPILED
from gpusim.sm.registers.control_code.declaration import by_codes
from isa.architecture import Target
from isa.reading.origin import Origin
from workloads.catalog import make

CODED = launches(kernels(most_blocks=2, least=3), tags=False).filter(lambda launched: by_codes(launched[1]))


def test_a_hazard_tells_place_and_mend():
    """A hazard reports register, line, pc and text of both instructions, its count, and the code that mends it."""
    (hazard,) = hazards(coded("[B------:R-:W-:-:S01] MOV R8, 7", "[B------:R-:W-:-:S15] MOV R9, R8"), V100).hazards
    assert str(hazard) == (
        "RAW R8: line 5, pc 1 `MOV R9, R8` reads it before line 4, pc 0 `MOV R8, 7` has written it (1 time); "
        "raise stall counts until 4 cycles lie between the two"
    )
    assert isinstance(hazard, Hazard)
    (hazard,) = hazards(coded("[B------:R-:W2:-:S01] LDS R8, [RZ]", "[B------:R-:W-:-:S15] MOV R9, R8"), V100).hazards
    assert hazard.mend == "let the other wait for barrier 2, the write barrier of the writer"
    (hazard,) = hazards(coded("[B------:R-:W-:-:S01] STS [RZ], R8", "[B------:R-:W-:-:S15] MOV R8, 7"), V100).hazards
    assert hazard.mend == "give the reader a read barrier, and let the other wait for it"


def test_a_hazard_in_machine_code_names_places():
    """Both instructions are named by their places in the machine code, and have the lines of its source."""
    kernel = coded("[B------:R-:W-:-:S01] MOV R8, 7", "[B------:R-:W-:-:S15] MOV R9, R8")
    origins = tuple(Origin("k", 16 * pc, f"I{pc}", "/a/k.cu", 7 + pc) for pc in range(len(kernel.program)))
    (hazard,) = hazards(replace(kernel, program=replace(kernel.program, origins=origins)), V100).hazards
    assert hazard.text == "k+0x10 I1 (k.cu:8) reads it before k+0x0 I0 (k.cu:7) has written it"
    assert (hazard.line, hazard.other_line) == (8, 7)


def test_results_of_machine_code_are_in_time():
    """A listing's early reader stores the old value; in machine code it stores the new one, and the hazard is found."""
    kernel = coded(
        "[B------:R-:W-:-:S01] MOV R8, 7", "[B------:R-:W-:-:S05] MOV R9, R8", "[B------:R-:W-:-:S05] STG [0x1000], R9"
    )
    compiled = replace(kernel, target=Target("nvidia", 70))
    assert run_sm(kernel, V100).memory[0x1000 // 4] != 7
    assert run_sm(compiled, V100).memory[0x1000 // 4] == 7
    assert [hazard.kind for hazard in hazards(compiled, V100).hazards] == ["RAW"]


@pytest.mark.jit
@pytest.mark.parametrize("machine", ["gtx980", "v100", "h200"])
def test_shipped_kernels_have_no_hazard(machine):
    """The SGEMM with assigned codes has no hazard on a GTX 980, a V100 and an H200."""
    assert hazards(make("sgemm-lai", {"m": "96", "n": "96", "k": "32"}), load(machine, {"chip.sms": 1})).hazards == ()


@settings(REPEATABLE, max_examples=draws(40 if COMPILED else 2))
@given(CODED)
def test_assigned_codes_have_no_hazard_and_right_values(launched):
    """Random programs with assigned codes leave the memory of program order though results are written in time only."""
    kernel, machine = launched
    coded = replace(kernel, program=with_codes(kernel.program, machine))
    noted = hazards(coded, machine)
    assert (noted.hazards, noted.error) == ((), None)
    assert np.array_equal(run_sm(coded, machine).memory, interpret(kernel).memory)
