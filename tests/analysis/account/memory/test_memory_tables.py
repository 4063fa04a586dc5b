"""The account of memory in every view: the same sums."""

import csv
import io
import json

import pytest
from read.fenced import ROOT

import gpusim
from gpusim.analysis.account.memory.least_dram import least_dram
from gpusim.analysis.account.memory.tables import tables
from gpusim.analysis.account.rates.memory_rates import memory_rates
from gpusim.analysis.account.rates.roofline import l1_gbs, roofs
from gpusim.analysis.account.source_lines import by_line
from gpusim.commands import main
from gpusim.engines.walks.traffic import traffic
from isa.memory import SECTOR_BYTES
from isa.text.listing import load
from workloads.catalog import make

pytestmark = pytest.mark.jit
REDUCE = ROOT / "examples" / "reduce.asm"
FIGURES = "sectors", "needed", "l2_sectors", "dram_read", "dram_written"


@pytest.fixture(scope="module", params=["h200", "gtx580"])
def result(request):
    """Give the example's sum on a machine with tags, and on one without."""
    return gpusim.simulate(load(REDUCE), request.param)


def test_all_tables_have_the_same_sums(result):
    """Instructions, lines of source, and buffers where they are known, add up to the whole launch, as levels do."""
    found, whole = tables(result), result.memory.whole
    lines = [one.moved for one in by_line(result, str(REDUCE)).lines]
    for name in FIGURES:
        expected = pytest.approx(getattr(whole, name))
        assert sum(getattr(one, name) for one in found.instructions) == expected
        assert sum(getattr(one, name) for one in found.buffers) == expected
        assert sum(getattr(one, name) for one in lines) == expected
    *parts, total = [one for one in found.l1 if not one.operation.startswith("Constant")]
    assert (sum(one.sectors for one in parts), total.operation) == (total.sectors, "Total")
    assert total.sectors == whole.sectors
    assert sum(one.sectors for one in found.dram) == 2 * whole.dram  # with their total
    assert found.tagged == bool(found.l2)


def test_the_document_of_a_run_has_the_tables(capsys):
    """`gpusim run --json` has the sectors of the account, and rates that are these over the time."""
    assert main.execute(["run", str(REDUCE), "--machine", "h200", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (dram,) = (one for one in found["moved"]["dram"] if one["operation"] == "Total")
    (rate,) = (one for one in found["memory"] if one["level"] == "DRAM")
    assert dram["gbs"] == pytest.approx(rate["gbs"])
    assert dram["percent"] == pytest.approx(rate["percent"])
    (total,) = (one for one in found["moved"]["l2"] if one["operation"] == "Total")
    assert total["hit_rate"] == pytest.approx(1 - total["misses"] / total["sectors"])


def test_an_exported_table_has_the_same_sums(tmp_path, result):
    """The table `memory` of an export has each instruction and each buffer of the account."""
    path, whole = tmp_path / "memory.csv", result.memory.whole
    given = ["export", str(REDUCE), "--machine", result.machine.key, "--format", "csv", "--table", "memory"]
    assert main.execute([*given, "--out", str(path)]) == 0
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    for name in FIGURES:
        own = [sum(float(row[name]) for row in rows if bool(row["pc"]) is by_pc) for by_pc in (True, False)]
        assert own == [pytest.approx(getattr(whole, name))] * 2


def test_screens_show_the_account(capsys):
    """A run shows requests, sectors and hits by level; a report shows buffers and instructions."""
    assert main.execute(["run", str(REDUCE), "--machine", "h200"]) == 0
    shown = capsys.readouterr().out
    assert "requests  sectors  per" in shown
    assert "\nGlobal Load " in shown
    assert "requests, " in shown
    assert "for each byte: " in shown
    assert main.execute(["report", str(REDUCE), "--machine", "h200"]) == 0
    shown = capsys.readouterr().out
    assert "buffer " in shown
    assert "DRAM read" in shown


@pytest.mark.parametrize("name", ["stream", "transpose"])
@pytest.mark.parametrize("settings", [{"l2.filled": 0}, {"l2.filled": 1}])
def test_traffic_and_run_agree_on_the_dram(name, settings):
    """What `traffic` leaves to the DRAM is what a run moves there, but for a line of each SM."""
    kernel, machine = make(name, {}), gpusim.load("h200", settings)
    least, moved = least_dram(traffic(kernel), kernel, machine), gpusim.simulate(kernel, machine, values=False).memory
    lines = 4 * len(kernel.buffers) * min(kernel.blocks, machine.chip.sms)
    assert abs(moved.whole.dram_read - least.read * 4 / SECTOR_BYTES) <= lines
    assert abs(moved.whole.dram_written - least.written * 4 / SECTOR_BYTES) <= lines
    assert (least.read == 0) == bool(settings["l2.filled"])


@pytest.mark.parametrize("caches", [(), ("--set", "l2.filled=0")])
def test_traffic_has_the_caches_of_the_launch(caches, capsys):
    """Of a launch that asks for full caches, `traffic` and `run` say the same of the DRAM, also with empty ones.

    So does the table of `traffic`: its rows of the DRAM add up to that.
    """
    words = []
    for command in ("traffic", "run"):
        given = [command, str(ROOT / "examples" / "lengths" / "naive.cubin"), "--machine", "h200", *caches, "--json"]
        assert main.execute(given) == 0
        words.append(json.loads(capsys.readouterr().out))
    (moved,) = (one for one in words[1]["moved"]["dram"] if one["operation"] == "Load")
    assert words[0]["dram_read"] * 4 == pytest.approx(moved["bytes"], rel=0.01)
    rows = [one for one in words[0]["words"] if one["level"] == "DRAM"]
    assert {one["whose"] for one in rows} == {"c[0x0]", "vectors", "lengths"}
    assert [sum(one[way] for one in rows) for way in ("read", "written")] == [
        words[0]["dram_read"],
        words[0]["dram_written"],
    ]
    assert (moved["bytes"] == 0) == (not caches)


def test_each_level_has_its_roof():
    """Work per byte grows from level to level, as fewer bytes reach the next, and no launch is above a roof."""
    result = gpusim.simulate(make("matmul-naive", {}), "h200")
    found = {one.level: one for one in roofs(result)}
    assert list(found) == ["L1", "L2", "DRAM"]
    assert found["L1"].per_byte < found["L2"].per_byte < found["DRAM"].per_byte
    assert all(result.gflops <= one.per_byte * one.bandwidth_gbs for one in found.values())
    assert found["L1"].bandwidth_gbs == l1_gbs(result.machine) > found["L2"].bandwidth_gbs
    rates = {one.level: one.gbs for one in memory_rates(result)}
    assert found["L2"].per_byte == pytest.approx(result.gflops / rates["L2"])


def test_explain_names_the_level_that_served_a_load(capsys):
    """A wait for the first load of a cold launch names the DRAM, and that L1 and L2 missed."""
    given = ["explain", str(REDUCE), "--machine", "h200", "--set", "l2.filled=0", "--warp", "1", "--cycle", "400"]
    assert main.execute(given) == 0
    assert "L1 and L2 missed, the DRAM served it" in " ".join(capsys.readouterr().out.split())
