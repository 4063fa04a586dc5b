import json
from collections import Counter
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

import pytest
from draws import few

from gpusim.analysis.account.limit_study import BARRIERS, ISSUE, LATENCY, LIMITS, REAL, UNIT, liftings, limit_study
from gpusim.bounds.bounds import bound
from gpusim.commands.main import execute
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import facts, load, names
from isa.text.listing import read
from workloads.catalog import make

EXAMPLES = Path(__file__).parents[3] / "examples" / "lengths"
ONE_WARP = "FFMA R0, R0, R1, R2\n"
UNEVEN = ".block 64\nS2R R0, WARPID\nISETP.EQ P0, R0, 0\n@!P0 BRA on\n{work}on:\nBAR.SYNC 0\nMOV R2, 0\nEXIT"
COPIES = (
    ".shared 128\n.buffer x u32 32\nS2R R0, TID.X\nSHL R1, R0, 2\nIADD R3, R1, c[x]\n"
    + "LDGSTS [R1], [R3]\nLDGDEPBAR\nDEPBAR.LE SB0, 0\nLDS R5, [R1]\n" * 2
    + "EXIT"
)
BRANCHES = "BRA a\na:\nBRA b\nb:\nBRA c\nc:\nEXIT"
# Keys that no limit lifts: instructions and their pipes, sizes and layouts, rules, clocks, energy; and barriers,
# whose cost `what_if.barriers` lifts.
KEPT = (
    *("barrier.*", "blocked.*", "bypass.*", "category.*", "dependence.[rv]*", "dependence.yield_rest", "energy.*"),
    *("cluster.gpcs", "joint.*", "limits.*", "selection.*", "tensor_peak.*"),
    *(
        "chip.core_mhz",
        "chip.shader_mhz",
        "chip.sms",
        "chip.stacks",
        "memory.e*",
        "memory_clock.mhz",
        "host_link.*",
        "cache.hits",
        "l2.filled",
        "l2.*s_bytes",
        "l2.left_*",
        "tag_stage.late_lines",
        "tag_stage.late_most",
        "tag_stage.late_words",
        "dram.most_used",
        "dram.together_bytes",
        "dram.window",
        "l2_channel.least_share",
        "l2_channel.merged*",
        "register_file.matrix_slack",
    ),
    *("matrix.*.first", "matrix.*.second", "matrix.*.addend"),
    *("*.bytes", "*.sector_bytes", "*.ways", "fetch.ahead", "fetch.*_lines", "fetch.*_ways", "fetch.line"),
    *(
        "global_memory.line_bytes",
        "*_memory.rule",
        "issue.refused_[mr]*",
        "issue.rotate",
        "l1.*_loads",
        "l1.*_stores",
        "l1.hashed",
        "*.replacement",
        "l1.carveouts",
        "l1.roomy",
    ),
    *("constant_operand.first_byte", "constant_operand.line_bytes", "constant_operand.far_lines"),
    *("constant_operand.parameters_near", "constant_cache.in_series", "constant_cache.next_bytes"),
    *("block_order.oldest_first", "launch.rotates"),
    *("memory_paths.schedulers", "memory_port.units", "register_file.[abcrw]*", "scalar_file.*", "write_back.*"),
    *("schedulers.active", "schedulers.count", "schedulers.policy"),
    *("shared_memory.bank*", "shared_memory.free_*", "shared_memory.merge_*", "shared_memory.passes_per_cycle"),
    *("texture.pipe", "unit.*.pipe"),
)
FIRST = ["coalesced", "no contention"]
KERNELS = [("sgemm-lai", {"m": "192", "n": "192", "k": "32"}), ("bank-conflict", {"stride": "8", "warps": "4"})]


def study(text: str, machine: str = "gtx580", **overrides):
    """Return the limit study of a listing, one run at a time, without skew; and its limits by name."""
    changes = {"launch.warp_skew": 0, **{path.replace("__", "."): value for path, value in overrides.items()}}
    found = limit_study(partial(read, text), machine, changes, workers=1)
    return found, {each.name: each for each in found.limits}


@pytest.mark.jit
@pytest.mark.parametrize("links", [1, 10])
def test_zero_latency_saves_12_cycles_per_link(links):
    """An FFMA of a chain issues after 18 cycles, at zero latency after the issue interval of 6: 12 fewer per link."""
    found, limits = study(ONE_WARP * (links + 1) + "EXIT", schedulers__issue_interval=6, unit__fp32__latency=18)
    assert limits[LATENCY].saves_alone == 12 * links
    assert limits[LATENCY].alone == found.cycles - 12 * links


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("stride", ["2", "32"])
def test_without_conflicts_a_stride_costs_as_much_as_a_unit_stride(stride):
    """With bank conflicts lifted, lanes 2 or 32 words apart take the cycles of lanes at neighbouring words."""
    kernel = partial(make, "bank-conflict", {"stride": stride, "warps": "4"})
    (first,) = (each for each in limit_study(kernel, "gtx580", {}, workers=1).limits if each.name == "bank conflicts")
    assert first.saves_alone > 256 * 4
    assert first.alone == run_sm(make("bank-conflict", {"warps": "4"}), load("gtx580"), feed="trace-driven").cycles


@pytest.mark.jit
def test_without_barriers_no_warp_waits_for_the_slow_one():
    """The slow warp issues after the issue interval of 6 cycles, not after the barrier's 100: the run is 94 shorter."""
    changes = {"barrier__latency": 100, "barrier__per_warp": 0, "schedulers__issue_interval": 6}
    found, limits = study(UNEVEN.format(work="MOV R1, 0\n" * 40), **changes)
    assert limits[BARRIERS].saves_alone == 94
    assert found.notes == {}


@pytest.mark.jit
@pytest.mark.parametrize(("name", "parameters"), few(KERNELS[::-1], 1))
def test_savings_in_order_add_up(name, parameters):
    """Savings in order add up from the real machine to the ideal one; the first limit saves the same alone."""
    found = limit_study(partial(make, name, parameters), "gtx580", {}, workers=2)
    assert sum(each.saves_in_order for each in found.limits) == found.cycles - found.ideal
    assert found.limits[0].alone == found.limits[0].in_order
    assert all(each.alone + each.saves_alone == found.cycles for each in found.limits)
    assert found.limits[-1].in_order == found.ideal < found.cycles
    assert found.cycles == run_sm(make(name, parameters), load("gtx580"), feed="trace-driven").cycles


@pytest.mark.jit
def test_progress_counts_every_run():
    """The progress ends with all runs done: one unchanged, and for each limit one in order and one alone."""
    reported = []
    found = limit_study(partial(read, "EXIT"), "gtx580", {}, workers=1, tell=lambda *counts: reported.append(counts))
    runs = 1 + 2 * len(found.limits)
    assert [done for done, _ in reported] == [0, *range(2, runs + 1)]
    assert {total for _, total in reported} == {runs}


@pytest.mark.parametrize("name", few(names(), 9))
def test_every_machine_can_be_lifted(name):
    """All settings together give a machine with no higher bound, and with nothing left to lift."""
    limits = liftings(name, {})
    settings = {path: value for lifting in limits for path, value in lifting.settings.items()}
    lifted = load(name, {**REAL, **settings})
    kernel = read(f".warp {lifted.limits.warp_size}\nMOV R0, 1\nEXIT")
    assert bound(kernel, lifted).cycles <= bound(kernel, load(name)).cycles
    assert [lifting.name for lifting in limits[:4]] == [*FIRST, "bank conflicts", "shared-memory passes"]
    assert liftings(name, settings) == []


def test_every_number_is_lifted_or_kept():
    """Exactly one pattern lifts or keeps each key of every machine, but two lift `what_if.shared_memory`.

    Every pattern matches a key.
    """
    patterns = [*(pattern for limit in LIMITS.values() for pattern in limit), *KEPT]
    paths = {path for name in names() for path in facts(name, REAL)}
    found = Counter(path for path in paths for pattern in patterns if fnmatchcase(path, pattern))
    assert found == dict.fromkeys(paths, 1) | {"what_if.shared_memory": 2}
    assert [pattern for pattern in patterns if not any(fnmatchcase(path, pattern) for path in paths)] == []


@pytest.mark.jit
def test_a_lifted_branch_takes_a_cycle():
    """Where a warp may issue every cycle, each of three branches of 20 cycles saves 19."""
    one_each = {"schedulers__interval": 1, "schedulers__stagger": 0, "schedulers__issue_interval": 1}
    _, limits = study(BRANCHES, **one_each, branch__latency=20)
    assert limits["branches"].saves_alone == 3 * 19


@pytest.mark.parametrize(
    ("limit", "resource"),
    [
        ("bank conflicts", "load/store unit"),
        ("bandwidth", "memory bandwidth"),
        (LATENCY, "dependence chain"),
        (ISSUE, "issue slots"),
        ("pipes", "pipe sp"),
    ],
)
def test_a_lifted_limit_lowers_its_bound(limit, resource):
    """The bound's cycles of a resource fall when its limit is lifted."""
    text = (
        ".shared 4096\n.buffer a f32 32\nS2R R0, LANEID\nSHL R0, R0, 5\nMOV R3, c[a]\n"
        "LDG R1, [R3]\nLDS R2, [R0]\nFFMA R4, R1, R2, R4\nEXIT"
    )
    (settings,) = (each.settings for each in liftings("gtx580", {}) if each.name == limit)
    limits = [bound(read(text), load("gtx580", {**REAL, **more})).limits[resource] for more in ({}, settings)]
    assert limits[1] < limits[0]


def test_a_lifted_limit_is_never_put_back():
    """If every access takes one pass, the study does not lift bank conflicts, which would bring back passes."""
    one_pass = {**REAL, "what_if.shared_memory": "one-pass"}
    assert "bank conflicts" not in [each.name for each in liftings("gtx580", one_pass)]
    (passes,) = (each for each in liftings("gtx580", one_pass) if each.name == "shared-memory passes")
    assert passes.settings == {"shared_memory.pass_cycles": 1}


def test_more_ports_keep_the_pairing_of_one_warp():
    """With more ports a GTX 680 still pairs instructions of one warp; a GTX 580 pairs those of different warps."""
    pairing = {
        name: each.settings.get("issue.pairing")
        for name in ("gtx680", "gtx580")
        for each in liftings(name, {})
        if each.name == ISSUE
    }
    assert pairing == {"gtx680": None, "gtx580": "different-warp"}


@pytest.mark.long
@pytest.mark.jit
def test_barriers_of_a_kernel_that_follows_pointers_stay():
    """If addresses come from memory, or there are no barriers, no barrier is lifted and a note says why."""
    text = ".block 64\n.shared 256\n.buffer a u32 32\nMOV R0, c[a]\nLDG R1, [R0]\n{}LDS R2, [R1]\nEXIT"
    for barrier, why in (
        ("BAR.SYNC 0\n", "where the kernel goes depends on what it loads"),
        ("", "the kernel has none"),
    ):
        found, limits = study(text.format(barrier))
        assert BARRIERS not in limits
        assert found.notes[BARRIERS].startswith(f"not lifted: {why}")


@pytest.mark.jit
def test_stall_counts_of_a_listing_are_reported():
    """On a GTX 980 zero latency leaves the stall counts of a listing's own control codes, and a note says so."""
    found, limits = study("[B------:R-:W-:-:S15] FADD R0, R0, R0\n[B------:R-:W-:-:S05] EXIT", "gtx980")
    assert found.notes[LATENCY] == "the stall counts of the program's own control codes stay"
    assert limits[LATENCY].saves_alone == 0


@pytest.mark.jit
def test_copies_that_are_there_save_the_wait_for_them():
    """The second copy does not wait for the first, but the exit for both; limits of other kernels are not lifted."""
    found, limits = study(COPIES, "h200")
    assert limits["waits for copies"].saves_alone > 24
    assert {"copy engine", "copy latency", "barriers in shared memory", "tensor cores"}.isdisjoint(limits)
    assert "bytes more of shared memory with 1 resident" in found.notes["stages"]
    assert "no more than 'waits for copies' (LDGSTS) alone" in found.notes["stages"]  # it has no bulk copies


@pytest.mark.long
@pytest.mark.jit
def test_lanes_side_by_side_save_what_a_rewritten_kernel_saves(capsys):
    """Where threads read vectors of their own, side by side saves as much as padded.cu does, and nothing else 5 %."""
    documents = []
    for name in ("naive", "padded"):
        command = "limits" if name == "naive" else "run"
        assert execute([command, str(EXAMPLES / f"{name}.cubin"), "--json"]) == 0
        documents.append(json.loads(capsys.readouterr().out))
    found, cycles = documents[0]["study"], documents[0]["study"]["cycles"]
    limits = {one["name"]: one["saves_alone"] for one in found["limits"]}
    rewritten = 1 - documents[1]["cycles"] / cycles
    assert limits.pop("coalesced") / cycles == pytest.approx(rewritten, abs=0.06)
    assert max(limits.values()) < 0.05 * cycles


@pytest.mark.jit
def test_passes_of_lanes_apart_are_told_where_they_are_lifted():
    """Lanes that lie apart keep the load/store unit, which its own limit leaves: a note names the one that has them."""
    found = limit_study(
        partial(make, "coalescing", {"stride": "32"}), "gtx580", {"chip.dram_mbs": 4_000_000}, workers=1
    )
    limits = {each.name: each for each in found.limits}
    assert limits["coalesced"].saves_alone > 0
    assert found.notes[UNIT].endswith("their limit is 'coalesced'")
