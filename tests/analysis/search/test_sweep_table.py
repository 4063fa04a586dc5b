import csv
import sys

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from some_figures import FOUND

from gpusim.analysis.search.sweep import Axis, SweepPoint, SweepRow
from gpusim.analysis.search.sweep_table import (
    PLAIN,
    cell,
    cells,
    column_of,
    columns,
    compared,
    front,
    with_nulls,
    write_csv,
    write_parquet,
)
from isa.errors import UserError

POINT = SweepPoint({"limits.warps": "48"}, {"warps": "8", "op": "FFMA"})
ROWS = [
    SweepRow(POINT, FOUND),
    SweepRow(SweepPoint({"limits.warps": "4"}, {"warps": "8", "op": "FFMA"}), reason="too many warps"),
]
TABLE = st.lists(st.fixed_dictionaries({"gflops": st.integers(0, 5), "registers": st.integers(0, 5)}), max_size=12)


def test_names_of_axes_and_figures_are_kept_apart():
    """A setting, a parameter and a figure of one name have three columns."""
    found = cells(ROWS[0])
    assert (found["set.limits.warps"], found["p.warps"], found["warps"], found["p.op"]) == (48, 8, 8, "FFMA")
    assert (found["lost.wait"], found["stalls.selected"], found["limits.issue slots"]) == (50.0, 100.0, 80.0)
    assert found["cycles"] == 100
    assert "reason" not in found
    assert [column_of(Axis("machine", "limits.warps", ())), column_of(Axis("kernel", "op", ()))] == [
        "set.limits.warps",
        "p.op",
    ]


@pytest.mark.parametrize("wanted", [48, 0, -3, 0.5, 10.5, -2.25, 1e-9, "FFMA", "", "nan", "-inf", "1e999", "1_0", "٣"])
def test_numbers_of_axes_are_numbers(wanted):
    """Finite numbers, negative ones and fractions included, are numbers in a table; everything else is text."""
    found = cell(str(wanted))
    assert (found, type(found)) == (wanted, type(wanted))


def test_columns_do_not_depend_on_the_order_of_rows():
    """Columns are axes, figures, figures by limit or reason, and the reason for missing figures, in this order."""
    table = [cells(each) for each in ROWS]
    found = columns(table)
    assert found == columns(table[::-1])
    assert found[:3] == ["set.limits.warps", "p.warps", "p.op"]
    exact = [name for name in PLAIN if name != "error_percent"]
    assert found[3:] == [*exact, "limits.issue slots", "lost.drain", "lost.wait", "stalls.selected", "reason"]


def test_a_figure_that_a_row_lacks_has_no_cell_and_is_null():
    """A kernel without operations has no cell of GFLOP/s in a table, and null in a document, in the same place."""
    row = SweepRow(POINT, msgspec.structs.replace(FOUND, gflops=None))
    assert "gflops" not in cells(row)
    assert with_nulls(row) == {**cells(row), "gflops": None}
    assert list(with_nulls(row)) == list(cells(ROWS[0]))
    assert with_nulls(ROWS[1]) == cells(ROWS[1])


def test_a_table_is_written_as_it_is(tmp_path):
    """The file has each cell in its column, and an empty cell where the row has none."""
    table = [cells(each) for each in ROWS]
    write_csv(path := tmp_path / "results.csv", table)
    with path.open(newline="") as file:
        read = list(csv.DictReader(file))
    for row, written in zip(table, read, strict=True):
        assert written == {name: str(row.get(name, "")) for name in columns(table)}


def test_columns_are_named_with_or_without_their_prefix():
    """A figure precedes a parameter of its name; one column, a repeated one and one without numbers are refused."""
    axes = [Axis("machine", "limits.warps", ("4", "48")), Axis("kernel", "warps", ("8",)), Axis("kernel", "op", ("A",))]
    assert compared("gflops,warps,p.warps,limits.warps", axes, "--pareto") == [
        "gflops",
        "warps",
        "p.warps",
        "set.limits.warps",
    ]
    assert compared("", axes, "--pareto") == []
    for text, message in (
        ("gflops", r"--pareto gflops: one column; give two or more, such as gflops,registers"),
        ("gflop,warps", r"--pareto gflop: no column of numbers; did you mean gflops\?"),
        ("warps,zzz", r"--pareto zzz: no column of numbers; choose from cycles, .*, set.limits.warps, p.warps$"),
        ("warps,op", "--pareto op: no column of numbers"),
        ("cycles,cycles", "--pareto cycles,cycles: cycles twice; give each column once"),
        ("limits.warps,warps,set.limits.warps", r"set\.limits\.warps: set\.limits\.warps twice; give each column once"),
        ("warps,bound_limiter", "--pareto bound_limiter: no column of numbers"),
    ):
        with pytest.raises(UserError, match=message):
            compared(text, axes, "--pareto")


def test_a_front_is_drawn_over_any_numbers():
    """An axis of fractions and negative numbers can be compared, and its least number is the front."""
    axes = [Axis("kernel", "alpha", ("0.5", "-1", "2"))]
    assert compared("gflops,alpha", axes, "--pareto") == ["gflops", "p.alpha"]
    rows = [cells(SweepRow(SweepPoint({}, {"alpha": text}), FOUND)) for text in axes[0].values]
    assert [row["p.alpha"] for row in front(rows, ["gflops", "p.alpha"])] == [-1]


@given(TABLE)
def test_the_front_is_what_no_other_row_beats(table):
    """Of operations more, of registers fewer are better: no row is as good as one on the front, and better in one."""
    found = front(table, ["gflops", "registers"])
    for row in table:
        beaten = any(
            other["gflops"] >= row["gflops"] and other["registers"] <= row["registers"] and other != row
            for other in table
        )
        assert (row in found) == (not beaten)
    assert [row["gflops"] for row in found] == sorted((row["gflops"] for row in found), reverse=True)


@pytest.mark.parametrize("rate", ["gflops", "percent_of_peak", "instructions_per_cycle", "blocks", "warps"])
def test_more_is_better_for_rates_and_residents(rate):
    """More of a rate, of blocks or of warps is better, but fewer cycles are better, all else equal."""
    less, more = ({rate: number, "registers": 20, "cycles": number} for number in (2, 3))
    assert front([less, more], [rate, "registers"]) == [more]
    assert front([less, more], ["cycles", "registers"]) == [less]


def test_rows_without_figures_are_on_no_front():
    """A front leaves out rows without figures."""
    assert front([cells(each) for each in ROWS], ["gflops", "registers"]) == [cells(ROWS[0])]


def test_without_pyarrow_one_line_says_what_to_install(tmp_path, monkeypatch):
    """The error names the extra to install, and no file is left."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError, match=r"pyarrow is not installed; run pip install 'gpusim\[parquet\]'"):
        write_parquet(tmp_path / "results.parquet", [cells(each) for each in ROWS])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_parquet_holds_the_same_table(tmp_path):
    """Read back, the rows are those written, with null where a cell is missing."""
    parquet = pytest.importorskip("pyarrow.parquet")
    table = [
        cells(SweepRow(SweepPoint({"a.b": text}, each.point.parameters), each.figures, each.reason))
        for each in ROWS
        for text in ("2", "0.5")
    ]
    write_parquet(path := tmp_path / "results.parquet", table)
    read = parquet.read_table(path).to_pylist()
    assert read == [{name: row.get(name) for name in columns(table)} for row in table]
