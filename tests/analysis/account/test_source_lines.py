from dataclasses import replace

import pytest
from machine_code import LINES, saxpy
from read.fenced import ROOT

from gpusim.analysis.account import stalls
from gpusim.analysis.account.pressure_report import pressure_report
from gpusim.analysis.account.source_lines import by_line
from gpusim.machine.machine import load
from gpusim.simulation.simulation import simulate
from gpusim.simulation.timeline.build import timeline
from isa.text import listing

pytestmark = pytest.mark.jit
CONFLICTS = """
.grid 3
.block 64
.shared 8192
.buffer x f32 8192
    S2R R0, TID.X
    SHL R1, R0, 7
    IADD R2, R1, c[x]
    LDG R3, [R2]
    STS [R1], R3
    BAR.SYNC 0
    LDS R4, [R1]
    STG [R2], R4
    EXIT
"""
LISTINGS = {"conflicts": CONFLICTS, "reduce": (ROOT / "examples" / "reduce.asm").read_text()}
MACHINES = {"h200": {"chip.sms": 1}, "gtx580": {"chip.sms": 2}}


def machine_code(text):
    """Return the kernel of a listing, its instructions from every third line of a source."""
    kernel = listing.read(text)
    origins = tuple(replace(saxpy().program.origins[0], line=1 + pc % 3) for pc in range(len(kernel.program)))
    return replace(kernel, program=replace(kernel.program, origins=origins))


@pytest.fixture(scope="module", params=[(name, key) for name in LISTINGS for key in MACHINES], ids="-".join)
def found(request):
    """Give a simulated launch by line, its machine, and the report by instruction of the same."""
    name, key = request.param
    result = simulate(machine_code(LISTINGS[name]), load(key, MACHINES[key]), values=False)
    return by_line(result), pressure_report(result)


def test_lines_add_up_to_the_instructions(found):
    """Instructions, issues, threads and waits by reason of all lines are those of all instructions."""
    lines, report = found
    run = lines.result.run
    assert sorted(pc for one in lines.lines for pc in one.pcs) == list(range(len(lines.result.kernel.program)))
    assert sum(one.issued for one in lines.lines) == sum(each.issued for each in report.instructions)
    assert sum(one.threads for one in lines.lines) == run.active.sum()
    assert sum(one.waits for one in lines.lines) == stalls.waits(run).sum()
    assert sum(one.share for one in lines.lines) == pytest.approx(1)


def test_each_line_has_the_sums_of_its_instructions(found):
    """A line's issues and waits are those that the report by instruction has for its instructions."""
    lines, report = found
    for one in lines.lines:
        own = [report.instructions[pc] for pc in one.pcs]
        assert one.issued == sum(each.issued for each in own)
        if one.line:
            assert one.waits == sum(one.stalls.values()) == sum(each.waits for each in own)


def test_conflicts_are_those_of_the_timeline(found):
    """Passes of a line beyond those that its accesses need are those that a trace of every access counts."""
    lines, _ = found
    result, program = lines.result, lines.result.kernel.program
    trace = timeline(result.kernel, result.machine)
    beyond = [0] * 4
    for one in trace.instructions:
        if program.instructions[one.pc].row.unit.value == "shared":
            beyond[program.source(one.pc)[1]] += one.conflicts
    assert {one.line: one.shared_conflicts for one in lines.lines if one.line} == {k: beyond[k] for k in (1, 2, 3)}


def test_loads_of_a_stride_show_their_sectors():
    """64 threads 128 bytes apart load and store 64 sectors each for 256 bytes, in each of the blocks of the SM."""
    result = simulate(listing.read(CONFLICTS, "c.asm"), load("h200", {"chip.sms": 1}), values=False)
    rows = {one.line: (one.moved.sectors, one.moved.needed) for one in by_line(result, "c.asm").lines}
    assert {line: each for line, each in rows.items() if any(each)} == {9: (192, 768), 13: (192, 768)}


def test_lines_have_their_text_file_by_file():
    """Lines stand in the order of their numbers, with their text, files in the order of the program."""
    kernel = saxpy("examples/saxpy.cu")
    inlined = tuple(
        replace(one, file="/none/h.cuh", line=9) if pc in (16, 20) else one
        for pc, one in enumerate(kernel.program.origins)
    )
    kernel = replace(kernel, program=replace(kernel.program, origins=inlined))
    found = by_line(simulate(kernel, "h200", values=False), str(ROOT / "README.md"))
    assert [(one.file, one.line, len(one.pcs)) for one in found.lines] == [
        ("examples/saxpy.cu", 2, 1),
        ("examples/saxpy.cu", 3, LINES.count(3) - 2),
        ("examples/saxpy.cu", 4, 1),
        ("/none/h.cuh", 9, 2),
    ]
    assert [one.text[:6] for one in found.lines] == ["extern", "for (i", "}", ""]
    assert found.sources.missing == ("/none/h.cuh",)


def test_waits_at_the_end_of_a_program_are_of_no_line():
    """The two warps that run off the end, and wait there for their stores, do so on line 0, without instructions."""
    kernel = listing.read(CONFLICTS.replace("    EXIT\n", ""), "c.asm")
    *_, last = by_line(simulate(kernel, "gtx580", values=False), "c.asm").lines
    assert (last.file, last.line, last.pcs, last.issued) == ("", 0, (), 2)
    assert last.waits > 0


def test_code_of_headers_is_a_part_of_the_line_that_calls_it():
    """A header's places have their instructions, issues, threads and waits; the line's sums have these too."""
    kernel = saxpy("k.cu")
    origins = tuple(
        replace(one, inlined=("/cuda/h.hpp", 5 + pc % 2)) if pc in (16, 18, 21) else one
        for pc, one in enumerate(kernel.program.origins)
    )
    result = simulate(replace(kernel, program=replace(kernel.program, origins=origins)), "h200", values=False)
    plain, found = (by_line(one) for one in (simulate(kernel, "h200", values=False), result))
    assert [replace(one, inlined=()) for one in found.lines] == list(plain.lines)
    run, waits = result.run, stalls.waits(result.run)
    (parts,) = (one.inlined for one in found.lines if one.inlined)
    assert {(one.file, one.line): one.pcs for one in parts} == {("/cuda/h.hpp", 5): (16, 18), ("/cuda/h.hpp", 6): (21,)}
    for one in parts:
        own = list(one.pcs)
        assert (one.issued, one.threads) == (run.issued[own].sum(), run.active[own].sum())
        assert one.waits == waits[own].sum()
        assert one.share == pytest.approx(one.waits / waits.sum())
    assert [one.waits for one in parts] == sorted((one.waits for one in parts), reverse=True)
