"""Cooperative launches in time: barriers of the grid, in both engines; what is too large; who simulates all SMs."""

import json
import lzma

import numpy as np
import pytest
from grid_kernels import DATA, launched, left, mirror, scan

import gpusim
from gpusim.commands import main
from gpusim.engines import endless_wait
from gpusim.engines.endless_wait import BlocksWaitError
from gpusim.engines.simulate import run_chip, run_sm
from gpusim.engines.walks.program_order import walk
from gpusim.machine.machine import load
from gpusim.machine.occupancy import TooLargeError
from gpusim.simulation.simulation import simulate
from isa.errors import DeadlockError, UserError

SMALL = {"chip.sms": "4"}


def launch_file(tmp_path):
    """Write a launch that synchronises its grid, and return its file."""
    (tmp_path / "grid.cubin").write_bytes(lzma.decompress((DATA / "grid_90.cubin.xz").read_bytes()))
    (tmp_path / "grid.toml").write_text("""
kernel = "mirror"
grid = [8]
block = [32]
cooperative = true
[[argument]]
name = "a"
buffer = "int32"
elements = 256
fill = "iota"
[[argument]]
name = "b"
buffer = "int32"
elements = 256
fill = "zero"
[[argument]]
value = 256
type = "int32"
[[expect]]
buffer = "b"
value = "766 - 3 * a"
""")
    return tmp_path / "grid.toml"


@pytest.mark.jit
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_grid_is_synchronised_in_time(engine):
    """All SMs are simulated, each element is that of program order, and both engines take the same cycles."""
    kernel, a, b = mirror(6, 64)
    found = simulate(kernel, load("h200", SMALL), engine=engine)
    assert found.run.sms == 4
    assert left(kernel, found.run.memory, "a").tolist() == a.tolist()
    assert left(kernel, found.run.memory, "b").tolist() == b.tolist()
    assert found.cycles == run_chip(kernel, load("h200", SMALL)).cycles


@pytest.mark.jit
@pytest.mark.parametrize(("architecture", "machine"), [(75, "rtx2080ti"), (80, "a100")])
def test_other_architectures_have_their_own_place(architecture, machine):
    """The address is where the code of each looks for it."""
    kernel, a, _ = mirror(5, 32, architecture=architecture)
    found = simulate(kernel, load(machine, {"chip.sms": "2"}))
    assert left(kernel, found.run.memory, "a").tolist() == a.tolist()


@pytest.mark.parametrize("run", [run_sm, run_chip, simulate])
def test_a_launch_with_more_blocks_than_fit_is_too_large(run):
    """As CUDA refuses it: its words, its number, and how many fit."""
    kernel, _, _ = mirror(4 * 32 + 1, 64)
    said = (
        r"mirror: cooperative launch too large \(error 720\): 129 blocks, and 128 are resident at once on h200, 32 on"
    )
    with pytest.raises(TooLargeError, match=said):
        run(kernel, load("h200", SMALL))


def test_of_a_cooperative_launch_no_sample_is_taken():
    """Each block waits for all others."""
    with pytest.raises(UserError, match="that synchronise the grid every block is simulated"):
        simulate(mirror(4, 64)[0], "h200", sample=2)


@pytest.mark.jit
def test_a_cooperative_launch_that_does_not_synchronise_takes_one_sm():
    """Its blocks have nothing to wait for."""
    arrays = {"out": np.zeros(64, int)}
    kernel = launched("within", 4, 64, arrays, cooperative=True)
    assert simulate(kernel, load("h200", SMALL)).run.sms == 1


@pytest.mark.jit
def test_a_scan_that_looks_at_later_blocks_has_the_values_of_the_walk():
    """One SM can't stand for all, which are simulated instead."""
    kernel, y = scan(6, turned=True)
    found = simulate(kernel, load("h200", SMALL))
    assert found.run.sms == 4
    assert left(kernel, found.run.memory, "y").tolist() == y.tolist() == left(kernel, walk(kernel).memory, "y").tolist()


@pytest.mark.jit
def test_a_raw_module_launches_cooperatively(tmp_path):
    """`cooperative=True` of a call, whose arrays then hold the results; without it the kernel traps."""
    path = tmp_path / "grid.cubin"
    path.write_bytes(lzma.decompress((DATA / "grid_90.cubin.xz").read_bytes()))
    function = gpusim.RawModule(path=path).get_function("mirror")
    a, b = np.zeros(192, np.int32), np.zeros(192, np.int32)
    function((6,), (32,), (a, b, np.int32(192)), cooperative=True, machine=load("h200", SMALL))
    assert a.tolist() == mirror(6, 32)[1].tolist()
    with pytest.raises(UserError, match="not cooperative"):
        function((6,), (32,), (a, b, np.int32(192)), machine=load("h200", SMALL), sms="all")


@pytest.mark.jit
def test_a_launch_file_launches_cooperatively(tmp_path, capsys):
    """`cooperative = true`: all SMs are simulated, which a note says, and the results are right."""
    assert main.execute(["run", str(launch_file(tmp_path)), "--set", "chip.sms=4", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["all_sms"] == "the grid is synchronised"
    assert "note: the grid is synchronised, so all 4 SMs were simulated" in told.err


@pytest.mark.jit
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_deadlock_in_time_names_the_word(engine, monkeypatch):
    """The last block waits for what nobody stores: the error has its line, the word, and what that holds."""
    monkeypatch.setattr(endless_wait, "FIRST_LOOK", 2000)
    kernel = launched("forward", 2, 32, {"flags": np.zeros(6, int)}, 1)
    said = r"grid.cu:117\), block 0, warp 0: waits for a store to flags\[1\] \(0x7f0000001004\), which holds 0, and no "
    with pytest.raises(DeadlockError, match=said):
        simulate(kernel, load("h200", SMALL), engine=engine)


def test_one_sm_refuses_a_launch_that_synchronises_its_grid_at_once():
    """Commands that show one SM say that all are needed before anything is simulated."""
    with pytest.raises(BlocksWaitError, match="synchronises its grid, and one SM is simulated; give --sms all"):
        run_sm(mirror(8, 64)[0], load("h200", SMALL))


@pytest.mark.jit
def test_a_launch_whose_blocks_wait_keeps_its_time_and_has_no_bound():
    """The pass of the bound, which runs a block by itself, ends at once and says why."""
    found = simulate(mirror(8, 64)[0], load("h200", SMALL), values=False)
    assert found.cycles > 1000
    assert found.bound is None
    assert "needs each block by itself, in program order, which does not end: mirror: mirror+0x" in found.no_bound


@pytest.mark.jit
def test_a_page_of_a_synchronised_grid_shows_the_first_sm(tmp_path, capsys):
    """A timeline is of one SM, while all are simulated: a note says so."""
    page = tmp_path / "page.html"
    command = ["view", str(launch_file(tmp_path)), "--out", str(page), "--set", "chip.sms=4"]
    assert main.execute(command) == 0
    assert (
        "note: the grid is synchronised, so all SMs were simulated, and the first is shown" in capsys.readouterr().err
    )


@pytest.mark.jit
def test_a_report_says_that_all_sms_ran(tmp_path, capsys):
    """On stderr, and in its document."""
    assert main.execute(["report", str(launch_file(tmp_path)), "--set", "chip.sms=4", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["all_sms"] == "the grid is synchronised"
    assert "so all 4 SMs were simulated" in told.err
