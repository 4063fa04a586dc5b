"""Settings that do nothing to a launch: each reported one does nothing, and each that never does anything is reported.

`test_every_key.py` checks the second claim for every key of four machines.
"""

import hypothesis.strategies as st
import pytest
from draws import draws
from hypothesis import given, settings
from strategies.launches import REPEATABLE, kernels, launches, looping_kernels
from strategies.machine_settings import as_file, others, result

import gpusim
from gpusim.analysis.settings.conditions import CONDITIONS
from gpusim.analysis.settings.ineffective import SEPARATE, ineffective
from gpusim.engines.simulate import run_sm
from gpusim.launch.file.prepare import prepared
from gpusim.machine.machine import build, load
from gpusim.sm.state.layout import layout
from gpusim.sm.state.row import decoded_t
from isa.errors import UserError
from isa.text import listing
from workloads.catalog import make

SAXPY = listing.load("examples/saxpy.asm")
REDUCE = listing.load("examples/reduce.asm")
WALK = listing.read(
    ".block 256\n.buffer x u32 16384\nS2R R0, TID.X\nSHL R0, R0, 2\nIADD R0, R0, c[x]\n"
    + "".join(f"LDG R2, [R0+{1024 * turn}]\nIADD R3, R2, 1\n" for turn in [*range(64), *range(64)])
    + "EXIT"
)
FILL = listing.read(".buffer x u32 32\nS2R R0, LANEID\nSHL R0, R0, 2\nIADD R0, R0, c[x]\nSTG [R0], R0\nEXIT")


def reported(kernel, machine, **given):
    """Return reasons by path, for settings written with two underscores instead of the point."""
    paths = {path.replace("__", "."): value for path, value in given.items()}
    return {each.setting: each.reason for each in ineffective(kernel, machine, paths)}


@pytest.mark.every
@pytest.mark.parametrize(
    ("kernel", "machine", "path", "value", "reason"),
    [
        (REDUCE, "h200", "shared_memory.bank_bytes", 8, "the bank rule volta has banks of 4 bytes"),
        (REDUCE, "h200", "shared_memory.merge_halves", 1, "the bank rule volta merges no half-warps"),
        (SAXPY, "h200", "shared_memory.latency_32", 16, "saxpy does not access shared memory"),
        (SAXPY, "gtx580", "unit.dp.latency", 99, "saxpy has no instruction of unit class dp"),
        (SAXPY, "gtx580", "barrier.per_warp", 9, "saxpy has no barrier"),
        (SAXPY, "gtx580", "what_if.barriers", "pass", "saxpy has no barrier"),
        (SAXPY, "gtx580", "what_if.barriers", "wait", "it is wait anyway"),
        (SAXPY, "gtx580", "chip.core_mhz", 5, "all cycles are of the shader clock"),
        (SAXPY, "gtx580", "schedulers.issue_interval", load("gtx580").schedulers.issue_interval, "anyway"),
        (SAXPY, "gtx580", "schedulers.active", 3, "the policy lrr has no active warps"),
        (SAXPY, "gtx580", "l1.ways", 8, "no cache keeps tags (cache.hits is not tags)"),
        (SAXPY, "gtx580", "cache.l1_latency_32", 7, "no load hits the L1 (cache.hits)"),
        (SAXPY, "gtx580", "limits.warps", 64, "limited by blocks"),
        (SAXPY, "gtx580", "limits.barriers", 4, "it refuses kernels that ask for more"),
        (SAXPY, "gtx580", "pairing.fp32", "none", "a turn has one dispatch port"),
        (SAXPY, "gtx580", "launch.block_latency", 500, "all blocks of an SM start at once"),
        (SAXPY, "h200", "constant_operand.far_lines", 2, "the next cache has the constants of saxpy when it begins"),
        (SAXPY, "h200", "constant_operand.far_latency", 70, "the next cache has the constants of saxpy when it begins"),
        (SAXPY, "h200", "dependence.yield_stall", 9, "saxpy yields nowhere"),
        (SAXPY, "gtx980", "dependence.yield_rest", 3, "the policy gto asks nobody when a warp yielded"),
        (SAXPY, "v100", "dependence.yield_rest", 3, "no scheduler has more than one warp of saxpy"),
        (SAXPY, "mi60", "branch.latency", 9, None),
        (FILL, "h200", "tag_stage.late_lines", 1, "asks the L1"),
        (FILL, "h200", "l1.joined", 1, "asks the L1"),
        (SAXPY, "h200", "l2.bytes", 31457280, "saxpy touches has room in each set of the L2"),
        (SAXPY, "h200", "l2.replacement", "random", "saxpy touches has room in each set of the L2"),
    ],
)
def test_a_setting_that_does_nothing_is_reported_with_its_reason(kernel, machine, path, value, reason):
    """Each setting without effect is reported with its reason; a kernel that does not fit the machine is refused."""
    if reason is None:
        with pytest.raises(UserError):
            ineffective(kernel, machine, {path: value})
        return
    (found,) = ineffective(kernel, machine, {path: value})
    assert (found.setting, found.value) == (path, str(value))
    assert reason in found.reason


@pytest.mark.parametrize(("path", "value"), [("constant_operand.latency", 70), ("constant_operand.next_cycles", 500)])
def test_constants_of_one_line_are_waited_for_too(path, value):
    """How soon a line comes, and how soon to all schedulers, is felt by a kernel whose constants lie in one line."""
    assert ineffective(SAXPY, "h200", {path: value}) == ()


@pytest.mark.parametrize(("path", "value"), [("l1.lines_per_cycle", 1), ("tag_stage.store_parts", 99)])
def test_what_stores_take_of_the_tag_stage_is_felt(path, value):
    """A kernel that only stores looks up lines in the L1, and takes its tag stage."""
    assert ineffective(FILL, "h200", {path: value}) == ()


@pytest.mark.long
@pytest.mark.parametrize(("blocks", "reason"), [(4224, "has one wave of blocks"), (4225, None)])
def test_the_port_of_sms_that_are_apart_is_felt_in_grids_of_several_waves(blocks, reason):
    """48 KB of code come through the L1.5 to 132 SMs, which hold 32 blocks each: 4,224 are one wave."""
    kernel = listing.read(f".grid {blocks}\n" + "NOP\n" * 3072 + "EXIT")
    found = reported(kernel, "h200", fetch__l15_apart_parts=2000)
    assert list(found) == (["fetch.l15_apart_parts"] if reason else [])
    assert all(reason in words for words in found.values())


def test_a_default_that_the_file_does_not_have_is_felt():
    """A key that may be left out has a default: to set it there says nothing if the file has none, else it is felt."""
    assert ineffective(REDUCE, "h200", {"barrier.per_arrival": 0}) == ()
    (found,) = ineffective(REDUCE, "gtx580", {"barrier.per_arrival": 0})
    assert found.reason == "it is 0 anyway"


def test_lanes_beyond_a_warp_do_nothing():
    """A pipe takes at most one instruction per cycle: 64 lanes instead of 32 are reported, 16 are not."""
    kernel, file = make("chain", {"op": "MUFU.RCP", "length": "8"}), as_file(load("gtx580", {"pipe.sfu.lanes": 32}))
    (found,) = ineffective(kernel, file, {"pipe.sfu.lanes": 64})
    assert found.reason == "an instruction keeps pipe sfu for 1 cycle either way"
    assert ineffective(kernel, file, {"pipe.sfu.lanes": 16}) == ()


def test_instructions_of_the_memory_ports_take_no_pipe():
    """On an H200 shuffles take no pipe, so settings of a joint or a blocked pipe for them are reported."""
    kernel = listing.read("S2R R0, LANEID\nSHFL.BFLY R1, R0, 1\nIADD R2, R1, 1\nEXIT\n")
    reasons = reported(kernel, "h200", joint__shuffle="lite", blocked__shuffle="heavy")
    assert set(reasons.values()) == {"unit class shuffle goes through the memory ports, and takes no pipe"}
    assert len(reasons) == 2


@pytest.mark.jit
def test_latencies_of_machine_code_are_in_its_codes():
    """A latency that nothing but stall counts covers changes nothing, and is reported; a load's is not."""
    kernel, file = prepared("examples/saxpy.sass"), as_file(load("h200"))
    given = {"unit.fp32.latency": 99, "unit.imad.latency": 99, "global_memory.latency": 99}
    given = {path: value for path, value in given.items() if path in file.facts}
    reasons = {one.setting: one.reason for one in ineffective(kernel, file, given)}
    assert "global_memory.latency" not in reasons
    assert reasons["unit.fp32.latency"] == "the control codes of saxpy say when results of unit class fp32 are there"
    felt = {path: value for path, value in given.items() if path in reasons}
    assert result(kernel, load("h200")) == result(kernel, build(file, felt))


@pytest.mark.parametrize(("machine", "size"), [("v100", 1 << 20), ("h200", 31457280)])
def test_an_l2_with_room_for_all_has_no_size_that_matters(machine, size):
    """Of an L2 that holds 64 KB size, ways and policy are reported, and runs are equal; smaller ones are felt."""
    changes = {"l2.bytes": size, "l2.ways": 32, "l2.replacement": "fifo"}
    found = ineffective(WALK, machine, changes)
    assert [each.setting for each in found] == list(changes)
    runs = [run_sm(WALK, load(machine, each)) for each in ({}, changes)]
    assert runs[0].cycles == runs[1].cycles
    assert (runs[0].stalls == runs[1].stalls).all()
    small = {"l2.bytes": 32768, "l2.ways": 16}
    small |= {"l2_partition.bytes": 32768, "l2_partition.ways": 16} if machine == "h200" else {}
    assert "l2.bytes" not in {each.setting for each in ineffective(WALK, machine, small)}


def test_an_effective_setting_is_not_reported():
    """Settings that affect this kernel, in cycles, in time or in the bound, are not reported."""
    felt = {"global_memory.latency": 900, "chip.shader_mhz": 1000, "unit.fp32.latency": 30, "limits.blocks": 1}
    assert ineffective(SAXPY, "gtx580", felt) == ()


def test_settings_are_judged_together():
    """`l1.ways` is effective once caches keep tags; both keys of `[outstanding]` are judged as one section."""
    assert reported(SAXPY, "gtx580", l1__ways=8) != {}
    assert reported(SAXPY, "gtx580", l1__ways=8, cache__hits="tags") == {}
    counters = {"outstanding.vector": 3, "outstanding.shared": 3}
    assert ineffective(SAXPY, "gtx580", counters) == ()
    idle = listing.read("FFMA R0, R1, R2, R3\nEXIT\n")
    assert [each.setting for each in ineffective(idle, "gtx580", counters)] == list(counters)


def test_energies_count_only_if_requested():
    """An energy is effective for kernels with that work, and for none if energy is not requested."""
    kernel = listing.load("examples/vega.asm")
    path = next(f"energy.{key}" for key in ("single", "register"))
    given = {path: 12345, "energy.double": 9}
    assert [each.setting for each in ineffective(kernel, "mi60", given)] == ["energy.double"]
    assert [each.setting for each in ineffective(kernel, "mi60", given, energy=False)] == list(given)


def test_only_the_paths_asked_for_are_reported():
    """Only settings that `paths` names are reported."""
    given = {"barrier.latency": 99, "double.exclusive": "off"}
    assert [each.setting for each in ineffective(SAXPY, "gtx580", given, paths=["double.exclusive"])] == [
        "double.exclusive"
    ]


def test_conditions_name_existing_fields():
    """Conditions name only fields of the machine's record or of decoded rows, none of which is compared separately."""
    fields = {name for each in CONDITIONS for name in each.fields.split()}
    known = (
        {*layout("machine").names} - set(SEPARATE) | {f"rows.{name}" for name in decoded_t.names} | {"caches", "lines"}
    )
    assert {name.partition(".")[0] if name.rpartition(".")[2].isdecimal() else name for name in fields} <= known


def test_it_is_found_from_the_package():
    """`gpusim.ineffective` reports what the function reports, which takes a kernel and a machine's name."""
    setting = {"pipe.xu.lanes": 8}
    assert len(ineffective(SAXPY, "h200", setting)) == 1
    assert gpusim.ineffective(SAXPY, "h200", setting) == ineffective(SAXPY, "h200", setting)


def _reported_and_felt(drawn, data, count):
    """Draw some settings of a launch; return those that are reported and change its result all the same."""
    kernel, machine = drawn
    file = as_file(machine)
    own, felt = None, []
    for _ in range(count):
        path = data.draw(st.sampled_from(sorted(file.facts)))
        value = data.draw(st.sampled_from(others(path, file.facts[path].value, machine)))
        try:
            found = ineffective(kernel, file, {path: value}, energy=False)
        except UserError:  # such a machine can't be, or the kernel doesn't fit it
            continue
        if found:
            own = own or result(kernel, machine)
            felt += [] if result(kernel, build(file, {path: value})) == own else found
    return felt


@pytest.mark.parametrize(("kernel", "does"), [(SAXPY, True), (listing.read("FADD R0, R0, R0\nEXIT"), False)])
@pytest.mark.parametrize("setting", [{"l2.filled": 1}, {"l2.keeps_bytes": 1, "l2.loses_bytes": 2}])
def test_what_the_l2_holds_counts_where_something_asks_it(kernel, does, setting):
    """With tags it matters to SAXPY what the L2 holds, and what it keeps; to an addition it does not."""
    found = ineffective(kernel, "h200", {"cache.hits": "tags"} | setting, paths=[*setting][-1:])
    assert (found == ()) == does


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(25))
@given(launches(kernels()), st.data())
def test_what_is_reported_does_nothing(drawn, data):
    """Random kernels on random machines: a reported setting changes neither run, values, bound nor rates."""
    assert _reported_and_felt(drawn, data, 8) == []


@pytest.mark.slow
@settings(REPEATABLE, max_examples=draws(400))
@given(launches(kernels(most_blocks=5)) | launches(looping_kernels()), st.data())
def test_what_is_reported_does_nothing_to_many(drawn, data):
    """The same of more kernels, of several blocks and long loops, and more settings."""
    assert _reported_and_felt(drawn, data, 30) == []
