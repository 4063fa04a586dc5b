"""Traces for other simulators, and their runs."""

import re
import sys

import pytest

from benchmarks.peers import accel_sim, compare, trace
from gpusim.engines.walks.program_order import walk
from isa.errors import UserError
from isa.text import listing
from workloads.catalog import make

PARTED = """.kernel parted
.block 64
.buffer a i32 64
S2R R0, TID.X
ISETP.LT P0, R0, 20
SHL R1, R0, 2
IADD R1, R1, c[a]
@P0 EXIT
LDG R2, [R1]
@!P0 STG [R1], R2
EXIT
"""


def lines_of(folder):
    """Return the lines of each warp of a trace, by block and warp, and check the counts before them."""
    found, warps = [], []
    for line in (folder / "kernel-1.traceg").read_text().splitlines():
        if line == "#BEGIN_TB":
            found.append([])
        elif line.startswith("warp = "):
            warps = []
            found[-1].append(warps)
        elif re.match(r"[0-9a-f]{4} ", line):
            warps.append(line.split())
        elif line.startswith("insts"):
            warps.append(int(line.split()[2]))
    assert all(warp[0] == len(warp) - 1 for block in found for warp in block)
    return [[warp[1:] for warp in block] for block in found]


def test_a_trace_has_what_blocks_execute(tmp_path):
    """Each warp instruction has a line, of each block that is asked for, with all addresses of its accesses."""
    kernel = make("sg4", {"m": "256", "n": "128", "k": "16"})
    counts = walk(kernel, [1]).counts
    assert trace.write(kernel, [1, 1], tmp_path) == 2 * counts.sum()
    blocks = lines_of(tmp_path)
    assert blocks[0] == blocks[1]
    for pc, count in enumerate(counts):
        assert sum(line[0] == f"{16 * pc:04x}" for warp in blocks[0] for line in warp) == count
    accesses = []
    walk(kernel, [1], lambda _, __, places, active: accesses.extend(places[active].tolist()), addresses=True)
    memory = [line for warp in blocks[0] for line in warp if "0x" in line[-1]]
    traced = [int(word, 16) % (1 << 32) for line in memory for word in line if word.startswith("0x")]
    assert sorted(traced) == sorted(accesses)
    assert all(line[1] == "ffffffff" for line in memory)


def test_lanes_that_have_left_are_told(tmp_path):
    """Lanes that exit early are those of its line, and no later one has them."""
    assert trace.write(listing.read(PARTED), [0], tmp_path) == 16
    (((*_, early, load, store, last), other),) = lines_of(tmp_path)
    assert early[:2] == ["0040", f"{(1 << 20) - 1:08x}"]
    rest = f"{0xFFFFFFFF - (1 << 20) + 1:08x}"
    assert [line[1] for line in (load, store, last)] == [rest] * 3
    assert [len(line) for line in (load, store)] == [9 + 12, 9 + 12]
    assert [line[1] for line in other][4:] == ["00000000", *["ffffffff"] * 3]


def test_a_kernel_of_atomics_is_refused(tmp_path):
    """A trace would not tell what an atomic does."""
    text = PARTED.replace("@!P0 STG", "RED.ADD")
    with pytest.raises(UserError, match=r"no trace is written of RED\.ADD"):
        trace.write(listing.read(text), [0], tmp_path)


def test_without_a_build_a_line_says_so(tmp_path, monkeypatch, capsys):
    """Nothing is measured without a build, and one line tells which variable names it."""
    monkeypatch.setattr(sys, "argv", ["compare"])
    for value, words in (("", "set ACCEL_SIM to"), (str(tmp_path), "has no bin/release/accel-sim.out")):
        monkeypatch.setenv(accel_sim.VARIABLE, value)
        compare.main()
        out = capsys.readouterr().out
        assert words in out
        assert out.count("\n") == 1


def test_a_process_is_timed_by_what_it_says(tmp_path):
    """The last counts count, and CPU time is that of the process."""
    code = "print('gpgpu_n_tot_w_icount = 1\\ngpu_tot_sim_cycle = 3\\ngpgpu_n_tot_w_icount = 2'); sum(range(3 * 10**6))"
    ran = accel_sim.timed([sys.executable, "-c", code], tmp_path)
    assert ran[:2] == (2, 3)
    assert ran.seconds > 0
    with pytest.raises(RuntimeError, match="code 1"):
        accel_sim.timed([sys.executable, "-c", "raise SystemExit(1)"], tmp_path)
    runs = [accel_sim.Ran(10, 1, seconds) for seconds in (4.0, 2.0, 1.0)]
    assert compare.rate(runs) == 5
    assert "5 per CPU second, 1.00 to 4.00 s" in " ".join(compare.table("sg4", {"one": runs}).split())


def test_rates_are_drawn(tmp_path):
    """The picture has a panel for each case, and a bar for each simulator."""
    runs = [accel_sim.Ran(10, 1, 2.0)]
    compare.drawn({"sg4": {"ours": runs, "theirs": runs}}, tmp_path / "peers.svg")
    assert 'id="matplotlib.axis_2"' in (tmp_path / "peers.svg").read_text()


def test_ours_simulates_what_is_compared():
    """A run here is of the same blocks: of sg4 its four."""
    case = compare.Case("small", lambda: make("sg4", {"k": "16"}), "wide", 4)
    instructions, cycles = compare.simulated(case, "trace-driven")
    assert instructions == walk(make("sg4", {"k": "16"})).counts.sum()
    assert cycles > 0
