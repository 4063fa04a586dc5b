"""Trace records written to a file during the run."""

from __future__ import annotations

import resource

import numpy as np
import pytest

from gpusim.commands import main
from gpusim.engines.simulate import run_sm, write_trace
from gpusim.engines.trace import to_file
from gpusim.machine.machine import load
from gpusim.sm.state.layout import layout
from isa.errors import LimitError
from workloads.catalog import make

GTX580 = load("gtx580")


@pytest.mark.jit
def test_the_file_holds_the_records_of_a_run(tmp_path):
    """The file has every record that a run keeps in memory, field by field, over many portions."""
    kernel, path = make("throughput", {"iterations": "3", "length": "64"}), tmp_path / "trace.npy"
    write_trace(kernel, GTX580, path)
    kept = run_sm(kernel, GTX580, trace=True).trace
    written = np.load(path, mmap_mode="r")
    assert len(written) == len(kept) > 3000
    assert all(np.array_equal(written[name], kept[name]) for name in written.dtype.names)


def test_a_run_that_fails_leaves_no_file(tmp_path):
    """A run that meets its limit leaves neither a trace nor a part of one."""
    with pytest.raises(LimitError):
        write_trace(make("chain"), GTX580, tmp_path / "trace.npy", max_cycles=100)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.jit
def test_the_command_writes_a_trace(tmp_path, capsys):
    """`gpusim run --trace FILE` writes the file; if it can't, it prints one line of error and ends with code 2."""
    path = tmp_path / "chain.npy"
    assert main.execute(["run", "chain", "-p", "length=4", "--trace", str(path)]) == 0
    assert len(np.load(path)) > 4
    capsys.readouterr()
    assert main.execute(["run", "chain", "-p", "length=4", "--trace", str(tmp_path / "no" / "chain.npy")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_write_error_of_the_disk_is_raised(tmp_path):
    """Records that do not fit raise the OSError of the disk, with the file's name, and leave no file."""

    def fill():
        with to_file(tmp_path / "x.npy") as take:
            for _ in range(100):
                take(np.zeros(1000, layout("trace")))

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(OSError, match="File too large") as failed:
            fill()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert failed.value.filename == str(tmp_path / "x.npy")
    assert list(tmp_path.iterdir()) == []
