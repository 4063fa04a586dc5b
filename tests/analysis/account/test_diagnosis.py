"""The diagnosis of launches whose limit is known."""

import pytest

import gpusim
from gpusim.analysis.account.findings import diagnosis as told_by
from gpusim.analysis.account.findings.advice import ADVICE, FULL, INDEPENDENT
from gpusim.analysis.account.findings.diagnosis import MOST, MUCH, WORTH, diagnosis
from gpusim.analysis.account.findings.finding import Finding
from gpusim.analysis.account.findings.resources import HIGH, Room
from gpusim.analysis.account.rates.utilisation import WAY, limiter, utilisation
from gpusim.sm.unit.stall import Stall
from isa.text import listing
from workloads.catalog import make

WASTE = {"grid", "warps", "scattered accesses", "bank conflicts", "serialised atomics", "divergence", "local memory"}


def found(name, machine="gtx580", settings=None, **parameters):
    """Return the findings of a kernel of the catalog by their limit, and its result."""
    result = gpusim.simulate(make(name, parameters), gpusim.load(machine, settings or {}))
    return {one.limit: one for one in diagnosis(result)}, result


@pytest.mark.jit
@pytest.mark.parametrize("ways", [2, 4, 32])
def test_bank_conflicts_are_named_with_their_ways(ways):
    """Loads with a stride of 2, 4 or 32 words have conflicts of so many ways, and the advice is to pad."""
    findings, result = found("bank-conflict", stride=str(ways))
    one = findings["bank conflicts"]
    assert one.what.startswith(f"{ways}-way bank conflicts at pc ")
    assert "pad" in one.remedy
    assert one.sure == "counted"
    loads = [i.row.mnemonic for pc, i in enumerate(result.kernel.program.instructions) if pc in one.pcs]
    assert set(loads) <= {"LDS", "STS"}


@pytest.mark.jit
def test_no_conflicts_are_named_where_there_are_none():
    """Loads with a stride of one word have no bank conflicts."""
    assert "bank conflicts" not in found("bank-conflict")[0]


@pytest.mark.jit
def test_what_bank_conflicts_cost_is_an_upper_limit():
    """Lifting 32-way conflicts in the simulation saves no more than the finding says, and most of it."""
    findings, result = found("bank-conflict", stride="32", warps="8")
    ideal = found("bank-conflict", settings={"what_if.shared_memory": "conflict-free"}, stride="32", warps="8")[1]
    saved = 1 - ideal.cycles / result.cycles
    assert saved <= findings["bank conflicts"].share + 0.01
    assert saved > 0.8 * findings["bank conflicts"].share


@pytest.mark.jit
def test_scattered_lanes_are_named():
    """Loads a stride of 32 words apart touch eight times the sectors that their bytes fill, neighbours no more."""
    settings = {"chip.dram_mbs": 4_000_000}
    assert "8 times the sectors" in found("coalescing", settings=settings, stride="32")[0]["scattered accesses"].what
    assert "scattered accesses" not in found("coalescing", settings=settings)[0]


@pytest.mark.jit
def test_a_wasted_bandwidth_is_no_roof():
    """Where lanes lie apart and the bandwidth is full, the lanes are told first, and the launch is not done."""
    one = next(iter(found("coalescing", stride="32")[0].values()))
    assert one.limit == "scattered accesses"
    assert "roof" not in one.what


@pytest.mark.jit
def test_the_bandwidth_is_named_where_it_is_full():
    """A stream of loads is limited by the memory bandwidth: bytes, not latency, are what to save."""
    findings, _ = found("stream")
    assert "move fewer bytes" in findings["memory bandwidth"].remedy
    assert "long_scoreboard" not in findings


@pytest.mark.jit
@pytest.mark.parametrize("blocks", ["81", "328"])
def test_wasted_bandwidth_is_told_once(blocks):
    """Of lanes eight words apart seven of eight bytes from the DRAM are wasted, which is full: nothing else is told."""
    findings, result = found("coalescing", "rtx3090", stride="8", blocks=blocks)
    assert "memory bandwidth" not in result.bound.limits
    assert 0.8 < findings["scattered accesses"].share < 7 / 8
    assert not {"DRAM", "long_scoreboard"} & set(findings)


@pytest.mark.jit
def test_a_share_of_the_bandwidth_is_told_where_others_idle():
    """With far fewer blocks than SMs an SM by itself has its share of the DRAM, and all SMs are to be simulated."""
    one = found("coalescing", "rtx3090", stride="8", blocks="16")[0]["DRAM"]
    assert one.what.endswith("% of its share for 1 of 82 SMs")
    assert "simulate all SMs (--sms all)" in one.remedy


@pytest.mark.jit
def test_latency_is_named_where_the_bandwidth_is_idle():
    """A chase of pointers in one warp waits for loads, with one of 48 warps resident because the grid has no more."""
    findings, _ = found("pointer-chase")
    assert "1 of 48 warps resident, limited by the grid" in findings["long_scoreboard"].what
    assert findings["dependence chain"].share > 0.9


@pytest.mark.jit
@pytest.mark.parametrize(
    ("blocks", "what", "share"),
    [
        (4, "4 blocks for 16 SMs: the others idle", 12 / 16),
        (17, "the fullest SM has 2 blocks, the mean SM 1.06: others idle at the end", 15 / 32),
        (16, None, 0),
    ],
)
def test_idle_sms_are_counted(blocks, what, share):
    """Fewer blocks than SMs, or a last wave of one block, leave so many SMs idle; a full wave leaves none."""
    findings, _ = found("coalescing", blocks=str(blocks))
    assert ("grid" in findings) == bool(what)
    if what:
        assert (findings["grid"].what, findings["grid"].share) == (what, pytest.approx(share))


@pytest.mark.jit
def test_no_more_warps_are_asked_for_where_all_are_resident():
    """With 48 of 48 warps resident that wait for loads, the remedy is more independent instructions alone."""
    text = ".kernel full\n.grid 128\n.block 192\n.buffer x i32 65536\n"
    text += "    S2R R0, TID.X\n    SHL R0, R0, 2\n    IADD R0, R0, c[x]\n"
    kernel = listing.read(text + "    LDG R1, [R0]\n    IADD R1, R1, 1\n" * 40 + "    EXIT\n")
    settings = {"chip.dram_mbs": 4_000_000, "global_memory.latency": 4_000}
    result = gpusim.simulate(kernel, gpusim.load("gtx580", settings))
    assert result.occupancy.warps == 48
    one = {each.limit: each for each in diagnosis(result)}["long_scoreboard"]
    assert INDEPENDENT in one.remedy
    assert "resident" not in one.remedy


@pytest.mark.jit
def test_registers_are_named_where_they_keep_warps_away():
    """Where registers leave room for a third of the warps, waits for loads tell so, and how many would do."""
    text = ".kernel few\n.grid 64\n.block 128\n.buffer x i32 65536\n"
    text += "    S2R R0, TID.X\n    SHL R0, R0, 2\n    IADD R0, R0, c[x]\n"
    kernel = listing.read(text + "    LDG R1, [R0]\n    IADD R1, R1, 1\n" * 40 + "    MOV R62, R1\n    EXIT\n")
    settings = {"chip.dram_mbs": 4_000_000}
    one = {each.limit: each for each in diagnosis(gpusim.simulate(kernel, gpusim.load("gtx580", settings)))}
    assert "16 of 48 warps resident, limited by registers" in one["long_scoreboard"].what
    assert "registers per thread or fewer (now 63)" in one["long_scoreboard"].remedy


@pytest.mark.jit
@pytest.mark.parametrize("name", ["stream", "transpose", "chain", "barrier", "divergence", "mix"])
def test_findings_are_few_worthwhile_and_ordered(name):
    """There are at most three findings, the costliest first, waste of a fifth before others; no remedy stands twice.

    Each is of 5 % or more, or about the busiest resource.
    """
    findings, result = found(name)
    order = [
        (one.limit not in WASTE or one.share < MUCH, one.sure == "likely" and one.limit in WASTE, -one.share)
        for one in findings.values()
    ]
    assert len(findings) <= MOST
    assert order == sorted(order)
    assert all(WORTH <= one.share <= 1 for one in findings.values() if one.limit not in utilisation(result))
    assert len({one.remedy for one in findings.values()}) == len(findings)


@pytest.mark.jit
@pytest.mark.parametrize("name", ["mix", "stream"])
def test_a_busy_resource_saves_what_the_next_one_leaves(name):
    """A finding about a busy resource saves no more than what lies above the next busiest, which it names from 77 %."""
    findings, result = found(name)
    used = utilisation(result)
    one = next(one for one in findings.values() if one.limit in used)
    others = {name: part for name, part in used.items() if name not in (one.limit, WAY)}
    assert one.share == pytest.approx(1 - max(others.values()), abs=1e-9)
    assert all(f"{name} {100 * part:.0f} %" in one.what for name, part in others.items() if part >= HIGH)


@pytest.mark.jit
def test_what_is_busy_is_named_where_no_finding_is_about_it():
    """Lanes on two ways keep the issue slots busy: the first finding says so, as none is about these."""
    findings, result = found("divergence", ways="2")
    assert (part := utilisation(result)["issue slots"]) >= HIGH
    assert next(iter(findings.values())).what.endswith(f"; busy: issue slots {100 * part:.0f} %")


@pytest.mark.parametrize(
    ("high", "least", "words"),
    [
        ({"b": 0.95, "c": 0.78}, HIGH, "b 95 %, c 78 %, d 62 %"),
        ({"b": 0.95, "c": 0.78}, 0.6, "b 95 %, c 78 %, d 62 %"),
        ({"b": 0.95}, HIGH, "b 95 %, d 62 %"),
        ({"b": 0.95}, 0.6, "b 95 %, e 70 %, d 62 %"),
    ],
)
def test_resources_are_named_by_how_busy_they_are(high, least, words):
    """All from 77 % on, what sets the bound from 60 % on, else two; not the one that is told, nor the way to caches."""
    room = Room({"a": 0.99, WAY: 0.97, **high, "e": 0.7, "d": 0.62}, "d")
    assert room.named({"a"}, least) == words


@pytest.mark.jit
@pytest.mark.parametrize(
    ("machine", "access", "filled", "limit", "name"),
    [
        ("h200", "LDG.128 R{1}, [R0+{0}]", 1, "L2, loads", "L2"),
        ("h200", "LDG.128 R{1}, [R0+{0}]", 0, "device memory", "DRAM"),
        ("h200", "STG.128 [R0+{0}], R{1}", 1, "L2, stores", "L2"),
        ("v100", "LDG.128 R{1}, [R0+{0}]", 1, "L2 channel", "L2"),
    ],
)
def test_a_level_of_memory_that_sets_the_bound_is_named(machine, access, filled, limit, name):
    """What the bound calls otherwise is the busiest resource; at 70 % it is named behind two that are busier."""
    head = ".block 256\n.grid 132\n.buffer x u32 1081344\nS2R R0, TID.X\nS2R R1, CTAID.X\nIMAD R0, R1, 256, R0\n"
    body = "".join(f"{access.format(540672 * n, 4 * n + 4)}\n" for n in range(8))
    kernel = listing.read(f"{head}SHL R0, R0, 4\nIADD R0, R0, c[x]\n{body}EXIT\n")
    settings = {"cache.hits": "tags", "l2.filled": filled}
    result = gpusim.simulate(kernel, gpusim.load(machine, settings), values=False)
    assert result.bound.limiter == limit
    assert next(iter(utilisation(result))) == limiter(result) == name
    assert Room({"a": 0.78, "b": 0.77, name: 0.7}, limiter(result)).named(()) == f"a 78 %, b 77 %, {name} 70 %"


@pytest.mark.jit
def test_a_resource_whose_remedy_is_told_displaces_no_finding(monkeypatch):
    """Where the limit's remedy is that of a costlier finding, three findings stay as they are, with three remedies."""
    monkeypatch.setattr(told_by, "MOST", 2)
    before, result = found("bank-conflict", stride="32")
    remedies = [one.remedy for one in before.values()]
    assert len(remedies) == 2
    again = Finding("pipe", 0.5 * next(iter(before.values())).share, "counted", "busy", remedies[0])
    monkeypatch.setattr(told_by, "resources", lambda *_: iter((again,)))
    assert [one.remedy for one in diagnosis(result)] == remedies


def results(pair):
    """Return a kernel of one warp: twenty pairs of a result and its reader."""
    head = ".shared 4096\n.local 64\n    S2R R0, TID.X\n    SHL R1, R0, 2\n"
    return listing.read(head + f"    {pair[0]}\n    {pair[1]}\n" * 20 + "    EXIT\n")


READER = "IADD R3, R2, 1"


@pytest.mark.jit
@pytest.mark.parametrize(
    ("producer", "machine", "cause", "remedy"),
    [
        ("S2R R2, LANEID", "v100", "reads of special registers", "execute these"),
        ("LDS R2, [R1]", "v100", "reads of special registers and loads from shared memory", "load earlier"),
        ("LDS R2, [R1]", "gtx580", "loads from shared memory", "load earlier"),
    ],
)
def test_waits_name_what_is_awaited(producer, machine, cause, remedy):
    """Waits for results name what these are, and shared or global memory only where a load from it is awaited."""
    found = diagnosis(gpusim.simulate(results((producer, READER)), gpusim.load(machine)))
    one = next(one for one in found if one.limit == "short_scoreboard")
    assert f" lost to {cause} (short_scoreboard)" in one.what
    assert one.remedy.startswith(remedy)


def test_every_stall_reason_has_its_advice():
    """Each stall reason has a cause and a remedy in one line."""
    assert set(ADVICE) == set(Stall)
    assert all(advice.cause and advice.remedy and "\n" not in advice.remedy for advice in ADVICE.values())


def test_no_remedy_of_a_full_sm_asks_for_more_warps_or_blocks():
    """Where all warps are resident, waits at the end of blocks are no reason to run more blocks."""
    assert set(FULL) <= {advice.remedy for advice in ADVICE.values()}
    assert not any("more blocks" in remedy or "more warps" in remedy for remedy in FULL.values())
