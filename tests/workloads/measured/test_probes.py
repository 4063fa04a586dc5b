import csv
from pathlib import Path

import pytest
from draws import few

from gpusim.engines.simulate import run_sm
from gpusim.launch.feed import TRACE_DRIVEN, recordable
from gpusim.machine.machine import load
from isa.kernel import WARP_SIZE
from workloads.measured.probes import EXPERIMENTS, UNKNOWN, probe

FOLDER = Path(__file__).parents[2] / "measured"


def rows():
    """Yield, for each row of micro.csv and edited.csv, the experiment, operation, parameters and counts."""
    with (FOLDER / "micro.csv").open() as micro, (FOLDER / "edited.csv").open() as edited:
        for row in csv.DictReader(micro):
            counts = int(row["i1"]), int(row["i2"])
            yield row["exp"], row["op"], row["param"], int(row["W"]), int(row["ILP"]), counts
        for row in csv.DictReader(edited):
            experiment, _, rest = row["name"].partition(":")
            yield experiment, row["kernel"], rest, int(row["W"]), 0, (1, 2)


ROWS = [
    *rows(),
    ("memlat", "DRAM", "foot8MB spacing128B n512 wid8B", 1, 1, (0, 1)),
    ("sched", "FADD", "", 5, 3, (0, 1)),
]


def test_the_rows_are_of_every_experiment():
    """Each experiment that has streams is among the rows."""
    assert {row[0] for row in ROWS} == EXPERIMENTS - UNKNOWN


@pytest.mark.jit
@pytest.mark.parametrize("row", few(ROWS, 12), ids=lambda row: " ".join(map(str, row[:3])))
def test_the_stream_of_a_row_runs_without_values(row):
    """Every row has kernels whose streams can be recorded; the kernel with more iterations takes longer."""
    found, machine = probe(*row), load("h200")
    second = run_sm(found.second, machine, feed=TRACE_DRIVEN)
    assert second.feed == TRACE_DRIVEN
    assert found.first is None or run_sm(found.first, machine, feed=TRACE_DRIVEN).cycles < second.cycles


@pytest.mark.parametrize("row", few(ROWS, 12), ids=lambda row: " ".join(map(str, row[:3])))
def test_every_instruction_has_a_control_code(row):
    """The streams carry control codes, branches and preparation included, and need nothing from memory."""
    kernel = probe(*row).second
    assert all(i.control is not None for i in kernel.program.instructions)
    assert recordable(kernel)


@pytest.mark.parametrize(("warps", "blocks"), [(1, 1), (32, 1), (48, 2), (64, 2)])
def test_more_than_32_warps_are_two_blocks(warps, blocks):
    """Up to 32 warps, 1,024 threads, are one block; more warps are split evenly between two."""
    kernel = probe("tput", "FFMA", "", warps, 8, (4, 12)).second
    assert (kernel.blocks, kernel.threads * blocks) == (blocks, warps * WARP_SIZE)


@pytest.mark.parametrize(("op", "ilp", "steps"), [("FFMA", 8, 240), ("FFMA", 7, 238), ("ISETP_SEL", 2, 480)])
def test_a_loop_has_whole_turns_of_240_steps_at_most(op, ilp, steps):
    """The loop has 240 steps of the operation, fewer if the chains do not divide 240, and three more instructions."""
    program = probe("tput", op, "", 1, ilp, (4, 12)).second.program
    assert len(program) - program.labels["loop"] == steps + 3 + 1


def test_a_mix_has_its_ratio():
    """A ratio of 3:1 in 20 groups is 60 of the first operation and 20 of the second."""
    made = [i.row.mnemonic for i in probe("mixlds", "FFMA:LDS64", "3:1 U20", 4, 0, (4, 12)).second.program.instructions]
    assert (made.count("FFMA"), made.count("LDS.64")) == (60, 20)


@pytest.mark.parametrize("row", [
    ("tput", "IMADWIDE", "", 1, 1, (4, 12)), ("ldspat", "LDS32", "zigzag", 1, 1, (2, 6)),
    ("mixalu", "FFMA", "", 4, 0, (4, 12)),
    ("ldg", "LDG128", "ca stride8B", 1, 1, (4, 12)), ("icache", "FFMA", "32768", 1, 8, (3, 9)),
    ("membw", "L2read", "bytes20MB reps64", 64, 4, (0, 1)), ("ref", "ch_unknown", "ch_unknown", 1, 0, (4, 12)),
], ids=lambda row: row[0])  # fmt: skip
def test_an_unknown_or_too_large_probe_has_no_stream(row):
    """Unknown operations and patterns, misaligned strides and programs that are too long have no stream."""
    assert probe(*row) is None
