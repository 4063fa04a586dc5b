import pytest

from benchmarks import sg4_listing
from isa.text import listing
from workloads.catalog import make


def test_the_listing_reads_back_as_the_kernel(tmp_path, monkeypatch):
    """The script's listing reads back as sg4's program with its launch, constants and buffers."""
    file = tmp_path / "sg4.asm"
    monkeypatch.setattr("sys.argv", ["sg4_listing.py", str(file)])
    sg4_listing.main()
    kernel, written = make("sg4"), listing.load(file)
    for what in ("grid", "block", "parameters", "buffers", "flops"):
        assert getattr(written, what) == getattr(kernel, what), what
    assert written.program == kernel.program


def test_a_file_that_cannot_be_written_ends_with_one_line(tmp_path, monkeypatch, capsys):
    """The message names the file, and the exit code is 2."""
    file = tmp_path / "missing" / "sg4.asm"
    monkeypatch.setattr("sys.argv", ["sg4_listing.py", str(file)])
    with pytest.raises(SystemExit) as ended:
        sg4_listing.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"{file}: No such file or directory; give a path that can be written\n"
