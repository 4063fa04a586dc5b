"""A machine: the numbers of one GPU that the simulator needs, as plain frozen data.

All cycles are shader cycles, the SM's fastest clock (on Fermi exactly two per core cycle).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from fractions import Fraction
from typing import Annotated, Any, Literal, cast, get_args, get_origin

import msgspec

from gpusim import machine_file
from gpusim.machine_file import Fact, names
from isa.errors import UserError
from isa.kernel import WARP_SIZE
from isa.profile import PLACE_BYTES
from isa.table import MEMORY_UNITS, Unit

__all__ = ["Fact", "Machine", "facts", "load", "names"]

MOST = 1_000_000_000  # products of two such numbers stay within 64 bits
SLOWEST = 64  # a share of the bandwidth moves a byte in so many cycles at the latest, for the same reason
Positive = Annotated[int, msgspec.Meta(ge=1, le=MOST)]
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
Flag = Literal[0, 1]
PIPE_UNITS = tuple(unit for unit in Unit if unit not in MEMORY_UNITS | {Unit.BARRIER, Unit.CONTROL})
# Sections whose keys are names: those allowed, none for names of the file's choice.
MEMBERS: Mapping[str, tuple[str, ...]] = {
    "pipe": (),
    "unit": tuple(unit.value for unit in PIPE_UNITS),
    "pairing": tuple(unit.value for unit in Unit),
}


class Chip(msgspec.Struct, frozen=True):
    """What there is of everything, and how fast it runs."""

    sms: Positive
    shader_mhz: Positive
    core_mhz: Positive
    dram_mbs: Positive  # DRAM bandwidth, 10^6 bytes per second


class Limits(msgspec.Struct, frozen=True):
    """What one SM can hold, and what one block or thread may ask for."""

    warps: Positive  # resident
    threads: Positive  # resident
    blocks: Positive  # resident
    registers: Positive  # 32-bit, of the SM
    registers_per_thread: Positive
    register_unit: Positive  # a warp's registers are allocated in multiples of this
    threads_per_block: Positive
    shared_bytes: Count  # of the SM
    shared_unit: Positive  # a block's shared bytes are allocated in multiples of this
    barriers: Positive  # per block


class Schedulers(msgspec.Struct, frozen=True):
    """Warp schedulers of one SM; scheduler k owns the warp slots that equal k modulo `count`."""

    count: Positive
    interval: Positive  # cycles between issue slots of one scheduler
    stagger: Count  # cycles by which scheduler k's slots lag behind those of scheduler 0, times k
    dispatch_ports: Positive  # instructions that one scheduler issues in one turn, at most
    reissue: Positive  # cycles between the turns in which one warp issues, at least
    policy: str


class Issue(msgspec.Struct, frozen=True):
    """What happens in an issue slot."""

    pairing: Literal["same-warp", "different-warp"]  # whose instructions the dispatch ports of one turn take
    rotate: Flag  # 1: the schedulers' rank rotates from slot to slot
    refused_wastes_slot: Flag  # 1: an instruction refused by a full queue costs the slot
    refused_moves_pointer: Flag  # 1: the policy goes on from the refused warp; 0: from the last one that issued
    refused_retry: Positive  # cycles until a refused warp is considered again


class Double(msgspec.Struct, frozen=True):
    """What double precision keeps the other schedulers from."""

    exclusive: Literal["off", "issue", "flight"]  # nothing; the same slot; all slots while one is in flight


class Pipe(msgspec.Struct, frozen=True):
    """An execution pipe; a warp instruction occupies it for its initiation interval of 32 / lanes cycles."""

    lanes: Positive
    shared: Flag  # 1: one per SM; 0: one per scheduler


class UnitCost(msgspec.Struct, frozen=True):
    """Where a unit class of the instruction table executes."""

    pipe: str
    latency: Positive  # cycles from issue until a dependent instruction may issue (RAW)


class SharedMemory(msgspec.Struct, frozen=True):
    """Shared memory: a pass is one trip through its data path."""

    rule: Literal["fermi"]  # how addresses become passes
    banks: Positive
    bank_bytes: Literal[4]
    pass_cycles: Positive
    merge_halves: Flag  # 1: a 128-bit access serves two half-warps with the same addresses together
    latency_32: Positive  # RAW cycles of a load of this width, with as many passes as are free
    latency_64: Positive
    latency_128: Positive
    free_passes_32: Positive  # passes already inside that latency; each further one adds pass_cycles
    free_passes_64: Positive
    free_passes_128: Positive
    war_32: Count  # cycles from service until the instruction's source registers may be overwritten
    war_64: Count
    war_128: Count


class LoadStore(msgspec.Struct, frozen=True):
    """The load/store units' instruction queue."""

    queue: Positive  # warp instructions


class GlobalMemory(msgspec.Struct, frozen=True):
    """Everything behind the SM."""

    rule: Literal["fermi"]  # how addresses become transactions
    line_bytes: Positive
    latency: Positive  # cycles
    request_cycles: Positive  # cycles of the load/store units per transaction
    war: Count  # cycles from service until the instruction's source registers may be overwritten


class LocalMemory(msgspec.Struct, frozen=True):
    """Local memory that hits the L1 cache."""

    latency: Positive  # cycles
    request_cycles: Positive  # cycles of the load/store units per transaction


class Texture(msgspec.Struct, frozen=True):
    """The texture path."""

    pipe: str
    latency: Positive  # cycles


class Barrier(msgspec.Struct, frozen=True):
    """BAR.SYNC."""

    latency: Count  # cycles from the last arrival to the release


class Branch(msgspec.Struct, frozen=True):
    """BRA."""

    latency: Positive  # cycles from issue until the warp may issue again


class Launch(msgspec.Struct, frozen=True):
    """How blocks start on an SM."""

    block_latency: Count  # cycles from a block's retirement to the start of the one that takes its place
    warp_skew: Count  # cycles between the starts of successive warps of a block
    block_skew: Count  # cycles between the starts of successive blocks at the beginning


class Machine(msgspec.Struct, frozen=True):
    """One GPU. `key` is the name it was loaded by, `name` the product's.

    `pairing`: by unit class, the unit classes that may go beside it in a later port of its turn, or `none`; all of them
    where it is absent.
    """

    key: str
    name: str
    generation: str
    chip: Chip
    limits: Limits
    schedulers: Schedulers
    issue: Issue
    pairing: dict[str, str]
    double: Double
    pipe: dict[str, Pipe]
    unit: dict[str, UnitCost]
    shared_memory: SharedMemory
    load_store: LoadStore
    global_memory: GlobalMemory
    local_memory: LocalMemory
    texture: Texture
    barrier: Barrier
    branch: Branch
    launch: Launch


def load(name_or_path: str, overrides: Mapping[str, int | str] | None = None) -> Machine:
    """Return the machine of that name or file, with the values at some dotted paths replaced.

    Raises UserError: unknown machine or key, a number without source or outside its range, pipes that don't exist.
    """
    path = machine_file.locate(name_or_path)
    strings, leaves = machine_file.read(path)
    checked = _checked(path.name, leaves, overrides or {})
    _check_strings(path.name, strings)
    tree: dict[str, Any] = {"key": path.stem, "pairing": {}, **strings}
    for key, fact in checked.items():
        _plant(tree, key.split("."), fact.value)
    machine = msgspec.convert(tree, Machine)
    _check_pipes(machine, checked)
    _check_pairing(machine, checked)
    _check_memory(machine, checked)
    return machine


def facts(name_or_path: str, overrides: Mapping[str, int | str] | None = None) -> dict[str, Fact]:
    """Every number of a machine by dotted path, in the order of the schema; raises UserError as `load` does."""
    path = machine_file.locate(name_or_path)
    return _checked(path.name, machine_file.read(path)[1], overrides or {})


def initiation_interval(pipe: Pipe) -> int:
    """Cycles for which a warp instruction keeps the pipe from the next one."""
    return max(1, WARP_SIZE // pipe.lanes)


def pairs(machine: Machine, unit: Unit) -> tuple[Unit, ...]:
    """Unit classes that may go beside this one in a later dispatch port of its turn."""
    named = machine.pairing.get(unit.value)
    return tuple(Unit) if named is None else tuple(other for other in Unit if other in named.split())


def lanes(machine: Machine, unit: Unit) -> int:
    """Thread instructions of this unit class per cycle that all pipes of one SM take together."""
    pipe = machine.pipe[machine.unit[unit].pipe]
    return pipe.lanes * (1 if pipe.shared else machine.schedulers.count)


def peak_gflops(machine: Machine) -> float:
    """Single-precision peak of the chip in GFLOP/s, two operations per fused multiply-add (RR-7923 table 1)."""
    return _peak(machine, Unit.FP32)


def peak_fp64_gflops(machine: Machine) -> float:
    """Double-precision peak of the chip in GFLOP/s, two operations per fused multiply-add."""
    return _peak(machine, Unit.DP)


def bandwidth_gbs(machine: Machine) -> float:
    """DRAM bandwidth of the chip, 10^9 bytes per second."""
    return machine.chip.dram_mbs / 1000


def line_cycles(machine: Machine) -> Fraction:
    """Cycles in which one SM's fair share of the DRAM bandwidth moves a line."""
    chip = machine.chip
    return Fraction(machine.global_memory.line_bytes * chip.sms * chip.shader_mhz, chip.dram_mbs)


def seconds(machine: Machine, cycles: float) -> float:
    """Time that so many shader cycles take."""
    return cycles / (machine.chip.shader_mhz * 1e6)


def _peak(machine: Machine, unit: Unit) -> float:
    return machine.chip.sms * lanes(machine, unit) * 2 * machine.chip.shader_mhz / 1000


def _schema(struct: Any = Machine, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted path and type of every leaf; `*` stands for a name of the file's choice."""
    for field in msgspec.structs.fields(struct):
        path = prefix + field.name
        if get_origin(field.type) is dict and get_args(field.type)[1] is str:
            yield f"{path}.*", str
        elif get_origin(field.type) is dict:
            yield from _schema(get_args(field.type)[1], f"{path}.*.")
        elif isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from _schema(field.type, f"{path}.")
        elif prefix:
            yield path, field.type


def _pattern(path: str) -> str:
    """`pipe.sp.lanes` -> `pipe.*.lanes`; a path of a section with fixed keys stays itself."""
    parts = path.split(".")
    return ".".join([parts[0], "*", *parts[2:]]) if parts[0] in MEMBERS and len(parts) > 1 else path


def _checked(file: str, leaves: Mapping[str, Fact], overrides: Mapping[str, int | str]) -> dict[str, Fact]:
    """Facts that all have a place in the schema, a value of its type, and none missing."""
    schema = dict(_schema())
    found = {path: _typed(path, fact, schema) for path, fact in leaves.items()}
    found |= {path: _override(path, value, schema, found) for path, value in overrides.items()}
    wanted = list(_paths(schema, found))
    for path in wanted:
        if path not in found:
            raise UserError(f"{file}: {path} is missing; add it, or let the file extend one that has it")
    return {path: found[path] for path in wanted}


def _paths(schema: Mapping[str, Any], found: Mapping[str, Fact]) -> Iterator[str]:
    """Every path that the machine must have, given the pipes that it names."""
    pipes = dict.fromkeys(path.split(".")[1] for path in found if path.startswith("pipe."))
    paired = (unit for unit in MEMBERS["pairing"] if f"pairing.{unit}" in found)
    members = {"pipe": tuple(pipes), "unit": MEMBERS["unit"], "pairing": tuple(paired)}
    for pattern in schema:
        section = pattern.split(".", maxsplit=1)[0]
        yield from (pattern.replace("*", member) for member in members.get(section, ("*",)))


def _typed(path: str, fact: Fact, schema: Mapping[str, Any]) -> Fact:
    section, *rest = path.split(".")
    if _pattern(path) not in schema or (MEMBERS.get(section) and rest[0] not in MEMBERS[section]):
        raise UserError(f"{fact.place}: unknown machine key {path}; {_nearest(path, _paths(schema, {path: fact}))}")
    try:
        msgspec.convert(fact.value, schema[_pattern(path)])
    except msgspec.ValidationError:
        raise UserError(f"{fact.place}: {path} = {fact.value!r}: it {_allowed(schema[_pattern(path)])}") from None
    return fact


def _override(path: str, value: int | str, schema: Mapping[str, Any], found: Mapping[str, Fact]) -> Fact:
    optional = [f"pairing.{unit}" for unit in MEMBERS["pairing"]]
    if path not in found and path not in optional:
        raise UserError(f"--set {path}: unknown machine key; {_nearest(path, [*found, *optional])}")
    try:
        converted = msgspec.convert(value, schema[_pattern(path)], strict=False)
    except msgspec.ValidationError:
        raise UserError(f"--set {path}={value}: it {_allowed(schema[_pattern(path)])}") from None
    return Fact(cast("int | str", converted), "command line", "set", place=f"--set {path}")


def _allowed(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return f"takes one of {', '.join(map(str, get_args(kind)))}"
    if kind is str:
        return "takes a word"
    limits = kind.__metadata__[0]
    return f"takes a whole number from {limits.ge} to {limits.le}"


def _nearest(path: str, known: Iterable[str]) -> str:
    near = get_close_matches(path, list(known), 1)
    return f"did you mean {near[0]}?" if near else "`gpusim machines gtx580` lists the keys"


def _plant(tree: dict[str, Any], parts: list[str], value: int | str) -> None:
    for part in parts[:-1]:
        tree = tree.setdefault(part, {})
    tree[parts[-1]] = value


def _check_strings(file: str, strings: Mapping[str, str]) -> None:
    for key in ("name", "generation"):
        if key not in strings:
            raise UserError(f'{file}:1:1: {key} is missing; add {key} = "..." at the top')


def _check_memory(machine: Machine, facts: Mapping[str, Fact]) -> None:
    """Check what the address rules and the bound's access patterns rely on."""
    row = machine.shared_memory.banks * machine.shared_memory.bank_bytes
    for path, size in (("global_memory.line_bytes", machine.global_memory.line_bytes), ("shared_memory.banks", row)):
        if size < 32 or PLACE_BYTES % size:
            place = facts[path].place
            raise UserError(f"{place}: {path} makes {size} bytes; take a power of two from 32 to {PLACE_BYTES} bytes")
    chip, slowest = machine.chip, -(-machine.chip.sms * machine.chip.shader_mhz // SLOWEST)
    if chip.dram_mbs < slowest:
        place = facts["chip.dram_mbs"].place
        raise UserError(
            f"{place}: {chip.dram_mbs} MB/s is under 1/{SLOWEST} byte a cycle for each SM; take {slowest} or more"
        )


def _check_pipes(machine: Machine, facts: Mapping[str, Fact]) -> None:
    """Check the relations between leaves: whole initiation intervals, and every pipe that is named exists."""
    for name, pipe in machine.pipe.items():
        if WARP_SIZE % pipe.lanes and pipe.lanes % WARP_SIZE:
            place = facts[f"pipe.{name}.lanes"].place
            raise UserError(f"{place}: {pipe.lanes} lanes don't divide a warp; take a divisor or a multiple of 32")
    used = {f"unit.{name}.pipe": unit.pipe for name, unit in machine.unit.items()}
    for path, name in (*used.items(), ("texture.pipe", machine.texture.pipe)):
        if name not in machine.pipe:
            raise UserError(f"{facts[path].place}: there is no pipe {name}; choose one of {', '.join(machine.pipe)}")


def _check_pairing(machine: Machine, facts: Mapping[str, Fact]) -> None:
    """Check that the pairing matrix names unit classes, or `none`."""
    classes = MEMBERS["pairing"]
    for unit, others in machine.pairing.items():
        for word in others.split() if others != "none" else ():
            if word not in classes:
                place = facts[f"pairing.{unit}"].place
                raise UserError(f"{place}: there is no unit class {word}; choose from {', '.join(classes)}, or none")
