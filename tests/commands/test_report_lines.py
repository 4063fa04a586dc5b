import json
from dataclasses import replace

import pytest
from machine_code import saxpy
from read.fenced import ROOT
from read.schemas import check_document

from gpusim.commands import main
from gpusim.commands.frame import arguments

pytestmark = pytest.mark.jit
REDUCE = str(ROOT / "examples" / "reduce.asm")


def lines_of(capsys, *arguments):
    """Return the lines of a report by line."""
    assert main.execute(["report", *arguments, "--by", "line"]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.fixture
def machine_code(monkeypatch):
    """Let the command load machine code, whose source was compiled at that path."""

    def load(file):
        monkeypatch.setattr(arguments, "kernel_of", lambda *_: saxpy(file))

    return load


def test_each_line_has_its_figures(capsys, monkeypatch):
    """Line 16 of the sum has its text, 4 warp instructions of 128 threads, its waits and their reason."""
    monkeypatch.setenv("COLUMNS", "120")
    found = lines_of(capsys, REDUCE, "--machine", "h200")
    assert found[0] == "reduce on h200 (H200)"
    (row,) = (line.split() for line in found if line.startswith("  16 "))
    assert row[1:7] == ["STS", "[R2],", "R4", "1", "4", "128"]
    assert row[-1] == "long_scoreboard"
    (last,) = (line.split() for line in found if line.split()[:1] == ["all"])
    assert last[1:4] == ["24", "336", "8,190"]
    assert all(len(line) <= 120 for line in found)


@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_the_table_fits_the_terminal(columns, capsys, monkeypatch):
    """On a narrow terminal columns are left out, and every line keeps its number, its waits and some of its text."""
    monkeypatch.setenv("COLUMNS", columns)
    found = lines_of(capsys, REDUCE, "--machine", "h200")
    assert all(len(line) <= int(columns) for line in found)
    (row,) = (line.split() for line in found if line.startswith("  16 "))
    assert row[1].startswith("STS")
    assert {"52.3", "%", "long_scoreboard"} <= set(row)
    assert ("8,190" in " ".join(found)) == (columns == "200")


def test_machine_code_is_shown_by_its_source(machine_code, capsys, monkeypatch):
    """Machine code has the lines of its source, with the text of the file that lies beside it."""
    monkeypatch.setenv("COLUMNS", "120")
    machine_code("/build/saxpy.cu")
    found = lines_of(capsys, str(ROOT / "examples" / "saxpy.sass"), "--machine", "h200")
    assert [line.split()[:3] for line in found if line.lstrip()[:1] in {"2", "3"}] == [
        ["2", "extern", '"C"'],
        ["3", "for", "(int"],
    ]


def test_a_missing_source_leaves_numbers_and_one_note(machine_code, capsys, tmp_path):
    """Where the source is not found, lines have their numbers and figures, and the last line says what is missing."""
    machine_code("/build/saxpy.cu")
    found = lines_of(capsys, str(tmp_path / "k.sass"), "--machine", "h200")
    assert [line.split()[:3] for line in found if line.startswith("   3 ")] == [["3", "22", "71"]]
    assert found[-1] == "source not found: saxpy.cu; put it next to the file that was loaded, or give --source-root DIR"


def test_a_source_elsewhere_is_shown_if_its_folder_is_given(machine_code, capsys, tmp_path):
    """Code that names a file outside its folder shows its lines only with --source-root, here the examples' source."""
    machine_code(str(ROOT / "examples" / "saxpy.cu"))
    arguments = [str(tmp_path / "k.sass"), "--machine", "h200"]
    assert "extern" not in "".join(lines_of(capsys, *arguments))
    assert 'extern "C"' in "".join(lines_of(capsys, *arguments, "--source-root", str(ROOT / "examples")))


def test_the_document_has_every_figure(machine_code, capsys, tmp_path):
    """`--json` has each line with its instructions, figures and reasons, and the files that are missing."""
    machine_code("/build/saxpy.cu")
    arguments = [str(tmp_path / "k.sass"), "--machine", "h200", "--set", "unit.fp32.latency=9", "--json"]
    found = json.loads("\n".join(lines_of(capsys, *arguments)))
    check_document(found, "report-lines")
    assert [(one["file"], one["line"], len(one["pcs"])) for one in found["lines"]] == [
        ("/build/saxpy.cu", 2, 1),
        ("/build/saxpy.cu", 3, 22),
        ("/build/saxpy.cu", 4, 1),
    ]
    assert (found["settings"], found["missing"]) == ({"unit.fp32.latency": 9}, ["/build/saxpy.cu"])
    assert all(sum(one["stalls"].values()) == one["waits"] for one in found["lines"])


def test_several_files_have_heads(capsys, monkeypatch):
    """Lines of several files stand below the names of these."""
    kernel = saxpy("k.cu")
    origins = (replace(kernel.program.origins[0], file="h.cuh"), *kernel.program.origins[1:])
    kernel = replace(kernel, program=replace(kernel.program, origins=origins))
    monkeypatch.setattr(arguments, "kernel_of", lambda *_: kernel)
    found = [line.split()[0] for line in lines_of(capsys, "k.sass", "--machine", "h200") if line.strip()]
    assert [word for word in found if word in {"h.cuh", "2", "k.cu", "3", "4"}] == ["h.cuh", "2", "k.cu", "3", "4"]


def test_code_of_headers_stands_below_the_line_that_calls_it(capsys, monkeypatch):
    """A row below the line has the header's place with its part of the waits, which the last row does not count again.

    Where the column is narrow, the end of the place stays.
    """
    kernel = saxpy("k.cu")
    place = "/cuda/targets/x/include/cuda_fp16.hpp", 2604
    origins = tuple(replace(one, inlined=place) if one.line == 3 else one for one in kernel.program.origins)
    kernel = replace(kernel, program=replace(kernel.program, origins=origins))
    monkeypatch.setattr(arguments, "kernel_of", lambda *_: kernel)
    monkeypatch.setenv("COLUMNS", "120")
    found = lines_of(capsys, "k.sass", "--machine", "h200")
    (row,) = (line.split() for line in found if line.split()[:1] == ["from"] and "%" in line)
    (line,) = (line.split() for line in found if line.startswith("   3 "))
    (last,) = (line.split() for line in found if line.split()[:1] == ["all"])
    assert row[:2] == ["from", "cuda_fp16.hpp:2604"]
    assert row[2:6] == line[1:5]
    assert last[2] == "75"
    assert found[-2].startswith("from header:line: ")
    monkeypatch.setenv("COLUMNS", "60")
    assert any(":2604" in line for line in lines_of(capsys, "k.sass", "--machine", "h200"))


def test_copies_of_the_copy_engine_have_their_bytes(capsys, monkeypatch):
    """Of a box of 40 x 18 singles copies load the 36 x 17 in the first block's tensor, and store one of 32 x 16.

    The launch has twelve blocks of which the first stands for all.
    """
    monkeypatch.setenv("COLUMNS", "200")
    found = lines_of(capsys, str(ROOT / "examples" / "tensor" / "tma.toml"), "--machine", "h200")
    (head,) = (line for line in found if line.startswith("line"))
    end = head.index("bytes") + len("bytes")
    bytes_of = {line.split()[0]: line[:end].split()[-1] for line in found if line.split()}
    assert (bytes_of["19"], bytes_of["33"], bytes_of["all"]) == tuple(f"{12 * each:,}" for each in (2448, 2048, 4496))


def test_long_paths_keep_their_names(capsys, monkeypatch):
    """The head of a file's lines is cut at its beginning, so that headers of one folder differ."""
    kernel = saxpy("k.cu")
    file = "/usr/local/some-very-long-folder/bin/../targets/x86_64-linux/include/mma.hpp"
    origins = (replace(kernel.program.origins[0], file=file), *kernel.program.origins[1:])
    kernel = replace(kernel, program=replace(kernel.program, origins=origins))
    monkeypatch.setattr(arguments, "kernel_of", lambda *_: kernel)
    found = [line.strip() for line in lines_of(capsys, "k.sass", "--machine", "h200")]
    (head,) = (line for line in found if line.endswith("mma.hpp") and not line.startswith("source not found"))
    assert head.startswith(".../")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mix"], "--by line: mix has no lines of source; leave out --by, as it is no listing"),
        ([REDUCE, "--all"], "--by line: it has no use for --all; leave one of the two out"),
        ([REDUCE, "--totals"], "--by line: it has no use for --totals; leave one of the two out"),
        ([REDUCE, "--lines", "1:9"], "--by line: it has no use for --lines; leave one of the two out"),
    ],
)
def test_what_can_not_be_shown_by_line_is_refused(arguments, message, capsys):
    """A generated kernel, and options of the other table, are refused in one line."""
    assert main.execute(["report", *arguments, "--by", "line"]) == 2
    assert capsys.readouterr() == ("", f"error: {message}\n")


def test_machine_code_without_lines_says_how_to_get_them(capsys, monkeypatch):
    """Machine code that was compiled without lines is refused, with the option that gives them."""
    kernel = saxpy()
    bare = replace(kernel.program, origins=tuple(replace(one, line=0) for one in kernel.program.origins))
    monkeypatch.setattr(arguments, "kernel_of", lambda *_: replace(kernel, program=bare))
    assert main.execute(["report", "saxpy.sass", "--by", "line"]) == 2
    message = "error: --by line: saxpy has no lines of source; compile with -lineinfo\n"
    assert capsys.readouterr() == ("", message)


LAUNCH = """
schema_version = 1
grid = [2]
block = [64]
argument = [
  { value = 200, type = "int32" },
  { value = 2.0, type = "float32" },
  { name = "x", buffer = "float32", elements = 200, fill = "hash 1" },
  { name = "y", buffer = "float32", elements = 200, fill = "hash 2" },
]
"""


def test_code_of_the_compiler_is_shown_by_its_source(capsys, tmp_path, monkeypatch):
    """A dump with lines of source, executed with its launch file, has the text of the source next to it."""
    lines = (ROOT / "examples" / "saxpy.sass").read_text().splitlines()
    for offset, line in (("0170", 4), ("0010", 3), ("0000", 2)):
        at = next(k for k, text in enumerate(lines) if f"/*{offset}*/" in text)
        lines.insert(at, f'\t//## File "/build/saxpy.cu", line {line}')
    (tmp_path / "saxpy.sass").write_text("\n".join(lines))
    (tmp_path / "saxpy.toml").write_text(LAUNCH)
    (tmp_path / "saxpy.cu").write_text((ROOT / "examples" / "saxpy.cu").read_text())
    monkeypatch.chdir(tmp_path)
    found = json.loads("\n".join(lines_of(capsys, "saxpy.sass", "--json")))
    # the SM has one of the two blocks, each of which has 128 of the elements
    rows = {one["line"]: (one["text"][:6], len(one["pcs"]), one["moved"]["needed"]) for one in found["lines"]}
    assert rows == {2: ("extern", 1, 0), 3: ("for (i", 22, 2 * 3 * 4 * 128), 4: ("}", 17, 0)}
