from pathlib import Path

import msgspec
import pytest

from gpusim.machine import machine as model
from gpusim.machine.file import METHODS
from gpusim.sm.front.policies.declaration import POLICY_NAMES
from gpusim.sm.memory.cache.declaration import memory_latency
from gpusim.sm.memory.global_memory.declaration import line_cycles
from gpusim.sm.pipes.pipe.declaration import UnitCost, choices, initiation_interval, lanes
from gpusim.sm.registers.register_file.declaration import RegisterFile, register_bank, register_banks
from isa.errors import UserError
from isa.row import MEMORY_UNITS, Unit

# Unit classes that a generation lacks: Turing added uniform ones (tensor cores of Volta have no rows here), Kepler
# shuffles, Fermi ballots and bit counts.
VOLTA_LACKS = {Unit.REDUCE, Unit.UNIFORM, Unit.TENSOR}
KEPLER_LACKS = VOLTA_LACKS | {Unit.FP16, Unit.FP16M, Unit.DOT}
FERMI_LACKS = KEPLER_LACKS | {Unit.SHUFFLE}
GT200_LACKS = FERMI_LACKS | {Unit.PERMUTE, Unit.BITS, Unit.VOTE}
LATER = {
    "Turing": {Unit.REDUCE},
    "Vega": {Unit.FP16M, Unit.SHUFFLE, Unit.VOTE, Unit.REDUCE, Unit.DOT, Unit.TENSOR},
    "Volta": VOLTA_LACKS,
    "Maxwell": KEPLER_LACKS,
    "Kepler": KEPLER_LACKS,
    "Fermi": FERMI_LACKS,
    "GT200": GT200_LACKS,
}


def variant(folder: Path, text: str) -> str:
    """Write a machine file that extends the GTX 580 with `text`."""
    path = folder / "mine.toml"
    path.write_text(f'extends = "gtx580"\n{text}')
    return str(path)


@pytest.mark.every
@pytest.mark.parametrize("name", model.names())
def test_every_fact_has_a_source_and_a_method(name):
    """Every number of a shipped machine has a source and a known method, a guess a reason, and a fit its data."""
    for path, fact in model.facts(name).items():
        assert fact.source, path
        assert fact.method in METHODS, path
        assert fact.note or fact.method != "guess", path
        assert fact.to or fact.method != "fitted", path


@pytest.mark.parametrize("name", model.names())
def test_machine_and_facts_say_the_same(name):
    """The machine that the engines read holds exactly the values of the documented facts."""
    machine = model.load(name)
    for path, fact in model.facts(name).items():
        section, *rest = path.split(".")
        value = getattr(machine, section)
        for part in rest:
            value = value[part] if isinstance(value, dict) else getattr(value, part)
        assert value == fact.value, path


@pytest.mark.parametrize("name", model.names())
def test_every_arithmetic_unit_of_the_machine_has_a_pipe(name):
    """A generation lacks only unit classes of later ones; Vega alone has scalar loads. No pipe is unused."""
    machine = model.load(name)
    lacking = LATER.get(machine.generation, set()) | (set() if machine.scalar_file else {Unit.SMEM})
    lacking |= set() if machine.generation in ("Hopper", "Blackwell") else {Unit.SYNC}
    assert (machine.scalar_file is not None) == (machine.generation == "Vega")
    assert set(machine.unit) == set(Unit) - MEMORY_UNITS - {Unit.BARRIER, Unit.CONTROL, Unit.WARPGROUP} - lacking
    assert {pipe for unit in Unit for pipe in choices(machine, unit)} == set(machine.pipe)


@pytest.mark.parametrize("name", model.names())
def test_a_unit_class_may_be_added_whole_or_not_at_all(name):
    """`--set` adds a unit class to a machine; without its latency it is refused."""
    pipe = next(pipe for pipe in model.load(name).pipe if pipe != model.load(name).joint.get("fp16"))
    changes = {"unit.fp16.pipe": pipe, "unit.fp16.latency": 7}
    assert model.load(name, changes).unit["fp16"] == UnitCost(pipe, 7)
    if "fp16" not in model.load(name).unit:
        with pytest.raises(UserError, match=r"unit\.fp16\.latency is missing; add it"):
            model.load(name, {"unit.fp16.pipe": pipe})


def test_a_machine_without_double_precision_has_no_peak_there():
    """Without the unit class dp a machine has 0 lanes and a peak of 0 in double precision."""
    machine = model.load("gtx580")
    bare = msgspec.structs.replace(machine, unit={name: unit for name, unit in machine.unit.items() if name != "dp"})
    assert (lanes(bare, Unit.DP), model.peak_fp64_gflops(bare)) == (0, 0)


@pytest.mark.parametrize("name", model.names())
def test_a_core_cycle_is_two_shader_cycles_on_fermi_alone(name):
    """A core cycle is 2 shader cycles on Fermi and 1296/602 on GT200; other machines have one clock."""
    machine = model.load(name)
    ratio = {"Fermi": 2, "GT200": 1296 / 602}.get(machine.generation, 1)
    assert machine.chip.shader_mhz == pytest.approx(ratio * machine.chip.core_mhz, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "single", "double"),
    [
        ("gtx580", 1581.056, 197.632),
        ("gtx580-1566", 1603.584, 200.448),
        ("c2050", 1030.4, 515.2),
        ("gt200", 622.08, 77.76),
        ("gtx480", 1344.96, 168.12),
        ("gtx460", 907.2, 75.6),
        ("gtx680", 3090.432, 128.768),
        ("k20m", 3524.352, 1174.784),
        ("mi25", 12288, 768),
        ("mi50", 13248, 6624),
        ("mi60", 14745.6, 7372.8),
    ],
)
def test_peaks_follow_from_pipes_and_clock(name, single, double):
    """Peaks are the papers' 1581, 1604, 1030, 1345, 3090 and 3520; GT200's 622 are MADs, as its 933 counts FMULs.

    Vega's are AMD's: 12.3 and 0.77, 14.7 and 7.37 TFLOP/s.
    """
    machine = model.load(name)
    assert model.peak_gflops(machine) == pytest.approx(single)
    assert model.peak_fp64_gflops(machine) == pytest.approx(double)


def test_a_pipe_takes_a_warp_every_32_over_lanes_cycles():
    """The initiation interval is 32 over the lanes, and 1 with 32 lanes or more."""
    sp = {lanes: model.load("gtx580", {"pipe.sp.lanes": lanes}) for lanes in (4, 16, 32, 64)}
    intervals = {lanes: initiation_interval(machine, "sp") for lanes, machine in sp.items()}
    assert intervals == {4: 8, 16: 2, 32: 1, 64: 1}


def test_private_pipes_count_once_per_scheduler():
    """The private SP pipes take 32 thread instructions per cycle together; the shared int pipe takes 16."""
    machine = model.load("gtx580")
    assert lanes(machine, Unit.FP32) == 32
    assert lanes(machine, Unit.IMUL) == 16


def test_a_share_of_the_bandwidth_moves_a_line():
    """One of 16 SMs gets 192.4 GB/s / 16 / 1544 MHz = 7.788 bytes per cycle: a line of 128 takes 16.435 cycles."""
    assert float(line_cycles(model.load("gtx580"))) == pytest.approx(128 / (192400 / 16 / 1544))
    slowest = 16 * 1544 // 64
    assert line_cycles(model.load("gtx580", {"chip.dram_mbs": slowest})) == 64 * 128
    with pytest.raises(UserError, match=f"385 MB/s is under 1/64 byte a cycle for each SM; take {slowest} or more"):
        model.load("gtx580", {"chip.dram_mbs": slowest - 1})


@pytest.mark.parametrize(
    ("mhz", "latency", "cycles"),
    [(1502, 585, 585), (751, 585, 421), (3004, 585, 912), (1000, 585, 475), (751, 200, 200)],
)
def test_latency_beyond_the_l2_follows_the_memory_clock(mhz, latency, cycles):
    """Of 585 cycles at 1502 MHz, 258 are the L2 hit at any clock; the other 327 are half as many at half the clock."""
    machine = model.load("mi60", {"chip.shader_mhz": mhz, "global_memory.latency": latency})
    assert memory_latency(machine) == cycles


def test_without_a_memory_clock_the_latency_is_the_files():
    """A GTX 580, whose file has no memory clock, keeps its latency in cycles at 722 MHz."""
    machine = model.load("gtx580", {"chip.shader_mhz": 722})
    assert memory_latency(machine) == machine.global_memory.latency


def test_seconds_of_a_clock():
    """1,566 million shader cycles of the 1566 MHz card take one second."""
    assert model.seconds(model.load("gtx580-1566"), 1566e6) == pytest.approx(1.0)


def test_override_replaces_a_value_and_says_so():
    """A --set value replaces the machine's, is converted from text, and has the command line as its source."""
    changes = {"schedulers.count": "4", "schedulers.policy": "gto", "pipe.sp.lanes": 32}
    machine, facts = model.load("gtx580", changes), model.facts("gtx580", changes)
    assert (machine.schedulers.count, machine.schedulers.policy, machine.pipe["sp"].lanes) == (4, "gto", 32)
    assert (facts["schedulers.count"].source, facts["schedulers.count"].method) == ("command line", "set")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("pipe.spp.lanes", 32, "--set pipe.spp.lanes: unknown machine key; did you mean pipe.sp.lanes?"),
        ("chip.sms", "many", "--set chip.sms=many: it takes a whole number from 1 to 1000000000"),
        ("chip.sms", 0, "--set chip.sms=0: it takes a whole number from 1 to 1000000000"),
        (
            "double.exclusive",
            "on",
            "--set double.exclusive=on: it takes one of off, issue, flight",
        ),
        ("barrier.latency", 10**10, "--set barrier.latency=10000000000: it takes a whole number from 0 to 1000000000"),
        ("pipe.dp.lanes", 5, "--set pipe.dp.lanes: 5 lanes don't divide a warp; take a divisor or a multiple of 32"),
        (
            "schedulers.policy",
            "fifo",
            f"--set schedulers.policy: unknown scheduling policy fifo; choose one of {', '.join(POLICY_NAMES)}",
        ),
        ("texture.pipe", "zz", "--set texture.pipe: there is no pipe zz; choose from sp, int16, dp, sfu, tex"),
    ],
)
def test_bad_override_is_refused_in_one_line(monkeypatch, path, value, message):
    """A bad --set is refused with the key, the fault and the values allowed."""
    monkeypatch.setattr("gpusim.sm.front.policies.declaration.REGISTERED", {})  # other tests register policies
    with pytest.raises(UserError) as caught:
        model.load("gtx580", {path: value})
    assert str(caught.value) == message


def test_codes_with_wait_counters_are_refused():
    """A machine can't have both control codes and wait counters."""
    codes = {
        "dependence.rule": "codes",
        "dependence.yield_stall": 0,
        "dependence.yield_rest": 0,
        "dependence.variable": "none",
    }
    message = r"--set dependence\.rule: programs wait for codes or for counts; take scoreboard beside \[wait_counters\]"
    with pytest.raises(UserError, match=message):
        model.load("gtx580", codes | {"wait_counters.vector": 63, "wait_counters.shared": 15})


def test_a_variant_overrides_what_it_names_and_inherits_the_rest(tmp_path):
    """A file with `extends` changes its own keys, keeps the others, and may add a pipe and its units."""
    path = variant(
        tmp_path,
        'name = "Mine"\n[pipe.fat]\n'
        'lanes = { value = 64, source = "s", method = "vendor" }\n'
        'schedulers = { value = 2, source = "s", method = "vendor" }\n'
        '[unit.fp32]\npipe = { value = "fat", source = "s", method = "vendor" }\n',
    )
    machine, base = model.load(path), model.load("gtx580")
    assert (machine.key, machine.name) == ("mine", "Mine")
    assert (machine.unit["fp32"].pipe, machine.unit["fp32"].latency) == ("fat", base.unit["fp32"].latency)
    assert machine.limits == base.limits


def test_a_new_pipe_without_all_its_keys_is_refused(tmp_path):
    """A pipe that a variant adds must have all its keys."""
    path = variant(tmp_path, '[pipe.fat]\nlanes = { value = 64, source = "s", method = "vendor" }\n')
    with pytest.raises(UserError, match=r"mine\.toml: pipe\.fat\.schedulers is missing; add it"):
        model.load(path)


def test_a_machine_file_of_its_own_must_be_complete(tmp_path):
    """A file without `extends` must have every key; the error names the first missing one."""
    path = tmp_path / "bare.toml"
    path.write_text('name = "Bare"\ngeneration = "None"\n')
    with pytest.raises(UserError, match=r"bare\.toml: chip\.sms is missing; add it, or let the file extend one"):
        model.load(str(path))


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ('smss = { value = 1, source = "s", method = "vendor" }', "3:1", "unknown machine key chip.smss; did you mean"),
        ('sms = { value = 1.5, source = "s", method = "vendor" }', "3:1", "sms = 1.5: it takes a whole number from 1"),
        ('  sms = { value = "x", source = "s", method = "vendor" }', "3:3", "sms = 'x': it takes a whole number"),
        ("sms = 16", "3:1", "chip.sms = 16 has no source"),
        (
            'sms = { value = 16, source = "s", method = "vendor", plausible = [0, 16], note = "n" }',
            "3:1",
            "plausible chip.sms = 0: it takes a whole number from 1",
        ),
    ],
)
def test_a_bad_key_is_named_with_its_place(tmp_path, line, place, message):
    """An unknown key or a wrong value is refused with file, line and column."""
    with pytest.raises(UserError) as caught:
        model.load(variant(tmp_path, f"[chip]\n{line}\n"))
    assert f"mine.toml:{place}: " in str(caught.value)
    assert message in str(caught.value)


def test_a_unit_that_does_not_exist_is_refused(tmp_path):
    """A unit class that is not in the instruction table is refused with the nearest one."""
    path = variant(tmp_path, '[unit.fp31]\npipe = { value = "sp", source = "s", method = "vendor" }\n')
    with pytest.raises(UserError, match=r"unknown machine key unit\.fp31\.pipe; did you mean unit\.fp32\.pipe\?"):
        model.load(path)


def test_an_optional_section_is_there_whole_or_not_at_all():
    """The GTX 580 has no register banks; `--set` adds them, and without one of the keys they are refused."""
    keys = {"banks": 4, "mapping": "kepler", "collecting": 2, "window": 0, "carried": 1, "returned": 0}
    changes = {f"register_file.{key}": value for key, value in keys.items()}
    whole = RegisterFile(4, "kepler", 2, 0, carried=1, reuse=2, returned=0)
    assert model.load("gtx580").register_file is None
    assert model.load("gtx580", changes | {"register_file.reuse": 2}).register_file == whole
    with pytest.raises(UserError, match=r"has no \[register_file\], and register_file\.reuse is missing; set all"):
        model.load("gtx580", changes)
    with pytest.raises(UserError, match=r"register_file\.banks=3: it takes one of 1, 2, 4"):
        model.load("gtx580", {"register_file.banks": 3})


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("units", "shuffle fp31", "h200 has no unit class fp31; choose from fp32"),
        ("early_128", 32, "32 cycles early of 32"),
    ],
)
def test_impossible_memory_ports_are_refused(key, value, message):
    """An unknown unit class at a memory port is refused, and so is a result before its service."""
    with pytest.raises(UserError, match=f"--set memory_port.{key}: {message}"):
        model.load("h200", {f"memory_port.{key}": value})


@pytest.mark.parametrize(
    ("name", "banks", "first"),
    [
        ("gtx680", 4, [0, 1, 0, 1, 2, 3, 2, 3, 0]),
        ("gtx980", 4, [0, 1, 2, 3, 0, 1, 2, 3, 0]),
        ("h200", 2, [0, 1, 0, 1, 0, 1, 0, 1, 0]),
        ("gtx580", 0, [0] * 9),
        ("gtx680-speculated", 0, [0] * 9),
    ],
)
def test_registers_lie_in_the_banks_of_their_generation(name, banks, first):
    """R0 to R8: Kepler's banks hold pairs (Zhang PPoPP'17, table 3), later ones go by number, Fermi has none."""
    machine = model.load(name)
    assert register_banks(machine) == banks
    assert [register_bank(machine, register) for register in range(9)] == first


def test_stacks_of_memory_bring_their_part_of_the_bandwidth():
    """Other stacks than a file's scale the bandwidth, and channels if there are several; a bandwidth that is set stays.

    A machine without stacks refuses them, and so does one that is left none.
    """
    assert model.load("h200", {"chip.stacks": 8}).chip.dram_mbs == 6_400_000
    assert model.facts("h200", {"chip.stacks": "3"})["chip.dram_mbs"].value == 2_400_000
    assert model.load("h200", {"chip.stacks": 6}) == model.load("h200")
    assert model.load("h200", {"chip.stacks": 8, "chip.dram_mbs": 5_000_000}).chip.dram_mbs == 5_000_000
    channels = {"memory_channels.count": 4, "memory_channels.bytes": 256}
    assert model.load("v100", {"chip.stacks": 2, **channels}).memory_channels.count == 4
    with pytest.raises(UserError, match=r"chip\.stacks=4: rtx3090\.toml has no stacks of memory; set chip"):
        model.load("rtx3090", {"chip.stacks": 4})
    with pytest.raises(UserError, match=r"chip\.stacks=0: a DRAM has one at least"):
        model.load("h200", {"chip.stacks": 0})
