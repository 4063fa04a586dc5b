from dataclasses import replace
from hashlib import sha256

import pytest
from draws import few

from gpusim.analysis.validate.measured import NO_STREAM, NO_TIME, Outcome, outcomes, read, summary
from gpusim.analysis.validate.validation import DIRECTORY
from gpusim.machine.machine import load
from isa.errors import UserError
from workloads.measured.probes import EXPERIMENTS, probe

ROWS = DIRECTORY / "h200.csv"
MICRO = "exp,op,W,ILP,param,i1,i2,cyc1_med,cyc2_med,other\n"
EDITED = "name,kernel,W,cyc1_med,cyc2_med\n"
LATENCY = "lat,FFMA,1,1,,8,24,100.5,356.5,x\n"  # 16 more iterations of 16 instructions of 4 cycles take 1024


def rows(folder, text):
    """Return the rows of a file with this text."""
    (path := folder / "rows.csv").write_text(text)
    return read(path, EXPERIMENTS)


def simulated(given):
    """Return the outcomes of rows on an H200, in one process."""
    make = lambda row: probe(row.experiment, row.op, row.param, row.warps, row.ilp, row.counts)  # noqa: E731
    return list(outcomes(given, load("h200"), make, 1))


def test_a_row_is_what_its_columns_say(tmp_path):
    """Columns are found by name, others are ignored, and the figure is the difference of the times."""
    (row,) = rows(tmp_path, MICRO + LATENCY)
    assert (row.line, row.experiment, row.op, row.warps, row.ilp, row.counts) == (2, "lat", "FFMA", 1, 1, (8, 24))
    assert (row.cycles, row.kind) == (256, "input")


def test_an_edited_row_ran_4_and_12_iterations(tmp_path):
    """The name splits into experiment and the rest, commas and all; the counts are fixed."""
    (row,) = rows(tmp_path, EDITED + '"reusekeep:FFMA EEE a reuse, LOP3 aaa odd between",base_alu,8,1,2\n')
    assert (row.experiment, row.op, row.warps, row.counts) == ("reusekeep", "base_alu", 8, (4, 12))
    assert row.param == "FFMA EEE a reuse, LOP3 aaa odd between"


def test_half_of_the_rows_are_open_to_fits(tmp_path):
    """A row is fitted if the SHA-256 of its key is even, predicted if it is odd."""
    text = "".join(f"tput,FFMA,{w},8,,4,12,1,2,\n" for w in range(1, 33))
    kinds = [row.kind for row in rows(tmp_path, MICRO + text)]
    odd = [int(sha256(f"tput|FFMA|{w}|8|".encode()).hexdigest(), 16) % 2 for w in range(1, 33)]
    assert kinds == [("fitted", "predicted")[each] for each in odd]
    assert 8 < sum(odd) < 24


def test_a_schedule_is_timed_to_its_last_end(tmp_path):
    """A `sched` row has start and end of each warp in `param`: its figure is the last end minus the first start."""
    (row,) = rows(tmp_path, MICRO + 'sched,FFMA,2,8,"rep1 warp:start:end 0:2:2053 1:0:1999 ",0,1,0,0,\n')
    assert row.cycles == 2053


@pytest.mark.parametrize(("text", "message"), [
    ("exp,op,W\n", r"rows.csv:1: column ILP is missing; a measured file has exp, op, W, ILP, .*"),
    ("", r"rows.csv:1: column exp is missing; .*"),
    (MICRO + "tput,FFMA,one,8,,4,12,1,2,\n", r"rows.csv:2: column W: 'one' is no whole number from 1 to \d+; .*"),
    (MICRO + LATENCY + "tput,FFMA,1,-8,,4,12,1,2,\n", r"rows.csv:3: column ILP: '-8' is no whole number .*"),
    (MICRO + "tput,FFMA,1,8,,4,12,1,fast,\n", r"rows.csv:2: column cyc2_med: 'fast' is no number; give cycles .*"),
    (MICRO + "tput,FFMA,1,8,,4,12,nan,2,\n", r"rows.csv:2: column cyc1_med: 'nan' is no number; .*"),
    (MICRO + "tputs,FFMA,1,8,,4,12,1,2,\n", r"rows.csv:2: column exp: there is no experiment 'tputs'; .*"),
    (EDITED + "bank3:FFMA:EEE,base_alu,1,1,2\n", r"rows.csv:2: column name: there is no experiment 'bank3'; .*"),
    (MICRO + "tput,FFMA\n", r"rows.csv:2: 2 columns where the first line has 10; .*"),
    (MICRO + '"tput', r"rows.csv: unexpected end of data; give a file of comma-separated values"),
])  # fmt: skip
def test_a_wrong_file_is_reported_by_place_cause_and_fix(tmp_path, text, message):
    """A missing column, a number that is none, an unknown experiment and a torn line are each reported in one line."""
    with pytest.raises(UserError, match=message) as caught:
        rows(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    """A path without a file, and bytes that are no text, are refused."""
    with pytest.raises(UserError, match=r"none.csv: No such file or directory; give a file of comma-separated values"):
        read(tmp_path / "none.csv", EXPERIMENTS)
    (binary := tmp_path / "rows.bin").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match=r"rows.bin: .*; give a file of comma-separated values"):
        read(binary, EXPERIMENTS)


def test_a_latency_is_simulated_by_its_slope(tmp_path):
    """By hand: 16 more rounds of 16 FFMAs of 4 cycles take 1024; against a measured 256 the error is 300 %."""
    (outcome,) = simulated(rows(tmp_path, MICRO + LATENCY))
    assert (outcome.simulated, outcome.error) == (1024, 3)


def test_rows_without_a_stream_are_reported(tmp_path):
    """A row without an instruction stream and one without a time each have that reason and no simulated figure."""
    text = MICRO + "lat,IMADWIDE,1,1,,8,24,1,2,\n" + "clk,clock64_gap,1,1,,0,1,0,0,\n"
    assert [(o.simulated, o.reason) for o in sorted(simulated(rows(tmp_path, text)), key=lambda o: o.row.line)] == [
        (None, NO_STREAM), (None, NO_TIME),
    ]  # fmt: skip


def test_the_summary_is_of_absolute_errors(tmp_path):
    """Counts, medians and 95th percentiles by experiment; rows that were not simulated do not count."""
    (row,) = rows(tmp_path, MICRO + LATENCY)
    found = [Outcome(row, 256 * factor) for factor in (0.9, 1.0, 1.3)] + [Outcome(row, None, NO_STREAM)]
    found.append(Outcome(replace(row, experiment="tput"), 256.0))
    lines = summary(found, lambda each: each.experiment)
    assert lines["tput"] == {"n": 1, "median_error": 0, "p95_error": 0}
    assert lines["lat"]["n"] == 3
    assert lines["lat"]["median_error"] == pytest.approx(0.1)
    assert lines["lat"]["p95_error"] == pytest.approx(0.28)


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize(("experiment", "median", "most"), [("tput", 0.01, 0.11), ("mixlds", 0.04, 0.12)])
def test_predicted_rows_of_an_h200_are_met(experiment, median, most):
    """Predicted FFMAs have a median error under 1 % and none of 11 %; among shared loads under 4 %, none of 12 %."""
    separate = [row for row in read(ROWS, EXPERIMENTS) if (row.experiment, row.kind) == (experiment, "predicted")]
    assert len(separate) > 20
    errors = [abs(outcome.error) for outcome in simulated(few(separate, 12))]
    assert sorted(errors)[len(errors) // 2] < median
    assert max(errors) < most
