import csv
import gzip
import json
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
from read.kanata import read
from strategies.timeline_documents import by_hand

from gpusim.commands.main import execute
from gpusim.views.timeline.document import Issued, Line, Timeline, Wait
from gpusim.views.timeline.file import load

PROGRAM = [Line(0, "LDS R1, [R0]", "shared"), Line(1, "FADD R2, R1, R1", "fp32")]
LOAD = Issued(0, 0, 0, 0, 0, issue=2, begin=5, end=7, done=30, lanes=32)
ADD = Issued(1, 0, 0, 1, 0, 30, 30, 32, 48, 32, (Wait("short_scoreboard", 3, 30, 0),))
DOCUMENT = by_hand(PROGRAM, [LOAD, ADD], 60)


@pytest.fixture
def document(tmp_path):
    """A timeline kept in a file."""
    path = tmp_path / "run.json"
    path.write_bytes(msgspec.json.encode(DOCUMENT))
    return path


def written(path):
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def kanata_has(data):
    return [op.serial for op in read(data.decode())]


def perfetto_has(data):
    notes = [a for p in Trace.FromString(data).packet for a in p.track_event.debug_annotations if a.name_iid]
    return [0, 1] if notes else []


def csv_has(data):
    return [int(row["id"]) for row in csv.DictReader(data.decode().splitlines())]


def json_has(data):
    return [i.id for i in msgspec.json.decode(data, type=Timeline).instructions]


def svg_has(data):
    """Return a number for each issue of the warp: the last path of the picture draws them."""
    *_, issues = [path for path in ElementTree.fromstring(data).findall(".//{*}path") if path.get("fill")]
    return list(range(issues.get("d").count("z") // 2))  # each issue is in the scheduler's row and in the warp's


READERS = {"kanata": kanata_has, "perfetto": perfetto_has, "csv": csv_has, "svg": svg_has, "json": json_has}


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("form", READERS)
def test_a_document_becomes_a_file(document, tmp_path, monkeypatch, capsys, form, ending):
    """Each format has both instructions, a name in .gz compresses them, and the screen reports the file."""
    out = Path(f"out.{form}{ending}")
    monkeypatch.chdir(tmp_path)
    assert execute(["export", str(document), "--format", form, "--out", str(out)]) == 0
    assert READERS[form](written(out)) == [0, 1]
    message = capsys.readouterr().out
    first, second = message.splitlines()
    assert first.startswith(f"{out}: {out.stat().st_size:,} bytes; ")
    assert second == "2 instructions of 1 warp, cycles 0 to 60"
    assert {path.name for path in tmp_path.iterdir()} == {document.name, out.name}


@pytest.mark.slow
def test_a_document_becomes_parquet(document, tmp_path, capsys):
    """The Parquet file has a row for each instruction."""
    parquet = pytest.importorskip("pyarrow.parquet")
    out = tmp_path / "run.parquet"
    assert execute(["export", str(document), "--format", "parquet", "--out", str(out)]) == 0
    assert parquet.read_table(out)["id"].to_pylist() == [0, 1]
    assert "2 instructions" in capsys.readouterr().out


@pytest.mark.jit
def test_a_kernel_is_simulated_and_written(tmp_path, capsys):
    """The help's example writes all 26 instructions of two warps; --cycles and --warps write a part."""
    out, window = tmp_path / "saxpy.kanata.gz", tmp_path / "window.json"
    arguments = ["export", "examples/saxpy.asm", "--machine", "c2050"]
    assert execute([*arguments, "--format", "kanata", "--out", str(out)]) == 0
    assert len(kanata_has(written(out))) == 26
    assert execute([*arguments, "--format", "json", "--out", str(window), "--cycles", ":100", "--warps", "1"]) == 0
    document = load(window)
    assert {i.warp for i in document.instructions} == {1}
    assert (document.machine, document.start, document.end) == ("c2050", 0, 100)
    capsys.readouterr()


def test_json_tells_what_was_written(document, tmp_path, capsys):
    """The document gives the file, its format and size, the kernel and machine, and the cycles and warps written."""
    out = tmp_path / "run.csv"
    arguments = ["export", str(document), "--format", "csv", "--out", str(out), "--cycles", "31:40", "--json"]
    assert execute(arguments) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary.pop("bytes") == out.stat().st_size
    assert summary == {
        "schema_version": 1,
        "file": str(out),
        "format": "csv",
        "kernel": "k",
        "machine": "m",
        "instructions": 1,
        "warps": [0],
        "cycles": [31, 40],
    }


def test_another_table_is_written(document, tmp_path):
    """`--table waits` writes the one wait of the document."""
    out = tmp_path / "waits.csv"
    assert execute(["export", str(document), "--format", "csv", "--table", "waits", "--out", str(out)]) == 0
    assert out.read_text() == "instruction,reason,start,end,blocker\n1,short_scoreboard,3,30,0\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "kanata", "--table", "waits", "--out", "x"], "--table waits: only csv and parquet hold tables"),
        (["--format", "parquet", "--out", "x.gz"], "x.gz: Parquet is already compressed; leave out .gz"),
        (
            ["--format", "json", "--out", "x.gz"],
            "x.gz: timelines are recognized by their names; let it end in .json or .json.gz",
        ),
        (["--format", "json", "--out", "no/x.json"], "no/x.json: there is no directory no; create it"),
        (["--format", "csv", "--out", "-"], "-: output is written as a whole file, which stdout can't be; name a file"),
        (["--format", "csv", "--out", "no/such.csv"], "no/such.csv: there is no directory no; create it"),
        (["--format", "csv", "--out", "x", "--warps", "1-"], "--warps 1-: no warp slots; give numbers and ranges"),
        (["--format", "csv", "--out", "x", "--warps", "3"], "--warps 3: the timeline has [0]; choose among these"),
        (
            ["--format", "csv", "--out", "x", "--cycles", "9"],
            "--cycles 9: no cycles; give the first and the one after",
        ),
        (["--format", "csv", "--out", "x", "--cycles", "60:"], "cycles 60:: the timeline has 0:60; choose among these"),
        (["--format", "csv", "--out", "x", "--policy", "gto"], "a timeline is of a finished run; leave out"),
        (["--format", "xls", "--out", "x"], "--format xls: no such format; choose one of kanata"),
        (["--format", "csv"], "Missing option '--out'"),
    ],
)
def test_bad_input_ends_with_one_line(document, tmp_path, monkeypatch, capsys, arguments, message):
    """One line says what to do, the exit code is 2, and no file is written."""
    monkeypatch.chdir(tmp_path)
    assert execute(["export", document.name, *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == [document]


def test_a_file_that_is_no_timeline_is_reported(tmp_path, capsys):
    """A missing file and a JSON file that is no timeline are each reported, with exit code 2."""
    out = ["--format", "csv", "--out", str(tmp_path / "x")]
    assert execute(["export", str(tmp_path / "no.json"), *out]) == 2
    assert "no.json: No such file or directory" in capsys.readouterr().err
    (tmp_path / "odd.json").write_text("[]")
    assert execute(["export", str(tmp_path / "odd.json"), *out]) == 2
    assert "odd.json: no timeline: Expected `object`, got `array`; write one with" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "message"), [("html", "gpusim view writes HTML; choose one of "), ("x", "no such")])
def test_another_format_is_reported(name, message, capsys):
    """For html the error names `gpusim view`; for any other unknown format it lists the known ones."""
    assert execute(["export", "examples/saxpy.asm", "--format", name, "--out", "x"]) == 2
    assert capsys.readouterr().err.startswith(f"error: --format {name}: {message}")
