"""What the numbers of a machine must be to each other."""

from __future__ import annotations

from collections.abc import Mapping

from gpusim.machine.file import Fact
from gpusim.machine.schema import MEMBERS, Machine
from gpusim.sm.front.policies.declaration import check_policy
from gpusim.sm.front.selection.declaration import Selection
from gpusim.sm.memory.cache.declaration import SECTORS, Kept, NearCache
from gpusim.sm.unit.asks import WIDTHS
from gpusim.sm.unit.ranges import MOST
from isa.errors import UserError
from isa.memory import PLACE_BYTES, SECTOR_BYTES
from isa.row import Unit

SLOWEST = 64  # a share of the bandwidth moves a byte in so many cycles at the latest: products stay within 64 bits


def check(machine: Machine, facts: Mapping[str, Fact]) -> None:
    """Check the relations between a machine's numbers; raises UserError naming the place of the wrong one."""
    check_policy(machine.schedulers.policy, f"{facts['schedulers.policy'].place}: ")
    _check_registers(machine, facts)
    _check_pipes(machine, facts)
    _check_pairing(machine, facts)
    _check_port(machine, facts)
    _check_other_pipes(machine, facts)
    _check_memory(machine, facts)
    _check_fetch(machine, facts)
    for level in ("l1", "l2", "l2_partition", "texture_cache", "scalar_cache", "constant_cache"):
        if cache := getattr(machine, level):
            _check_cache(machine, level, cache, facts)
    if machine.l1 and machine.l1.carveouts:
        _check_carveouts(machine.l1, facts)
    if (part := machine.l2_partition) and (machine.l2 is None or machine.l2.bytes % part.bytes):
        place, size = facts["l2_partition.bytes"].place, machine.l2.bytes if machine.l2 else "no"
        raise UserError(f"{place}: partitions of {part.bytes} bytes, of an L2 of {size} bytes; take a divisor of these")
    if machine.cache and machine.cache.hits == "tags" and not (machine.l1 or machine.l2):
        raise UserError(f"{facts['cache.hits'].place}: {machine.key} has no cache that keeps tags; add [l1] or [l2]")
    if machine.selection:
        _check_selection(machine, machine.selection, facts)
    back = machine.write_back
    if back and back.patience < back.notice - 2:
        place, least = facts["write_back.patience"].place, f"{back.notice - 2}, two less than the notice"
        raise UserError(f"{place}: a wait of {back.patience} cycles; take {least}, or more")
    if machine.dependence:
        _check_classes(machine.dependence.variable, facts["dependence.variable"])
        if machine.wait_counters and machine.dependence.rule == "codes":
            place = facts["dependence.rule"].place
            raise UserError(f"{place}: programs wait for codes or for counts; take scoreboard beside [wait_counters]")


def _check_registers(machine: Machine, facts: Mapping[str, Fact]) -> None:
    """Check that the register counts whose unit is doubled are numbers."""
    for word in machine.limits.register_unit_doubled.split():
        if not word.isdecimal():
            place = facts["limits.register_unit_doubled"].place
            raise UserError(f"{place}: {word} is no number of registers; write some with spaces between, such as 21 22")


def _check_memory(machine: Machine, facts: Mapping[str, Fact]) -> None:
    """Check what the address rules and the bound's access patterns rely on."""
    row = machine.shared_memory.banks * machine.shared_memory.bank_bytes
    for path, size in (("global_memory.line_bytes", machine.global_memory.line_bytes), ("shared_memory.banks", row)):
        if size < 32 or PLACE_BYTES % size:
            place = facts[path].place
            raise UserError(f"{place}: {path} makes {size} bytes; take a power of two from 32 to {PLACE_BYTES} bytes")
    longest = SECTORS * SECTOR_BYTES
    if machine.cache and machine.cache.hits == "tags" and machine.global_memory.line_bytes > longest:
        place = facts["global_memory.line_bytes"].place
        raise UserError(f"{place}: caches keep tags of lines up to {longest} bytes; take fewer, or other cache.hits")
    near = min(getattr(machine.cache, f"l2_latency_{width}", MOST) for width in WIDTHS)
    if machine.l2_channel and machine.l2_channel.spread >= near:
        place, spread = facts["l2_channel.spread"].place, machine.l2_channel.spread
        raise UserError(f"{place}: {spread} cycles nearer than the mean, of {near}; take less than the L2's latencies")
    channels, line = machine.memory_channels, machine.global_memory.line_bytes
    if channels and channels.bytes % line:
        place = facts["memory_channels.bytes"].place
        raise UserError(f"{place}: {channels.bytes} bytes of a channel are no whole lines; take a multiple of {line}")
    slices = machine.l2_atomic
    if slices and slices.bytes % line:
        place = facts["l2_atomic.bytes"].place
        raise UserError(f"{place}: {slices.bytes} bytes of a slice are no whole lines; take a multiple of {line}")
    shared = machine.shared_memory
    if shared.passes_per_cycle > 1 and shared.pass_cycles > 1:
        place, several = facts["shared_memory.passes_per_cycle"].place, f"{shared.passes_per_cycle} passes in a cycle"
        raise UserError(f"{place}: {several}, where one takes {shared.pass_cycles}; set shared_memory.pass_cycles = 1")
    chip, slowest = machine.chip, -(-machine.chip.sms * machine.chip.shader_mhz // SLOWEST)
    if chip.dram_mbs < slowest:
        place = facts["chip.dram_mbs"].place
        raise UserError(
            f"{place}: {chip.dram_mbs} MB/s is under 1/{SLOWEST} byte a cycle for each SM; take {slowest} or more"
        )


def _check_cache(machine: Machine, level: str, cache: Kept, facts: Mapping[str, Fact]) -> None:
    """Check that lines are whole sectors, and the cache whole sets."""
    line, place = machine.global_memory.line_bytes, facts[f"{level}.sector_bytes"].place
    if cache.sector_bytes % SECTOR_BYTES or line % cache.sector_bytes:
        raise UserError(f"{place}: sectors of {cache.sector_bytes} bytes; take 32 or more that divide a line of {line}")
    if cache.bytes % (line * cache.ways):
        place, sets = facts[f"{level}.bytes"].place, f"sets of {cache.ways} lines of {line} bytes"
        raise UserError(f"{place}: {cache.bytes} bytes are no whole {sets}; take a multiple of {line * cache.ways}")


def _check_carveouts(cache: NearCache, facts: Mapping[str, Fact]) -> None:
    """Check that sizes of shared memory are whole KB, and rise."""
    place, sizes = facts["l1.carveouts"].place, cache.carveouts.split()
    if not all(size.isdecimal() for size in sizes) or sorted(set(map(int, sizes))) != list(map(int, sizes)):
        raise UserError(f"{place}: {cache.carveouts} are no sizes in KB; write them from the smallest, such as 0 32 64")


def _check_pipes(machine: Machine, facts: Mapping[str, Fact]) -> None:
    """Check the relations between leaves: whole initiation intervals, and every pipe that is named exists."""
    size = machine.limits.warp_size
    for name, pipe in machine.pipe.items():
        if size % pipe.lanes and pipe.lanes % size:
            place = facts[f"pipe.{name}.lanes"].place
            raise UserError(f"{place}: {pipe.lanes} lanes don't divide a warp; take a divisor or a multiple of {size}")
    used = {f"unit.{name}.pipe": unit.pipe for name, unit in machine.unit.items()}
    for path, named in (*used.items(), ("texture.pipe", machine.texture.pipe)):
        names = named.split()
        for name in names or [repr(named)]:
            if name not in machine.pipe:
                choose = f"choose from {', '.join(machine.pipe)}"
                raise UserError(f"{facts[path].place}: there is no pipe {name}; {choose}")
        if len(set(names)) < len(names):
            raise UserError(f"{facts[path].place}: {named} names a pipe twice; name each once")


def _check_other_pipes(machine: Machine, facts: Mapping[str, Fact]) -> None:
    """Check that joint and blocked pipes exist beside the class's own, and joint ones beside a single one."""
    for section, named in (("joint", machine.joint), ("blocked", machine.blocked)):
        for unit, name in named.items():
            own = machine.unit[unit].pipe.split() if unit in machine.unit else []
            if not own or name not in machine.pipe or name in own or (section == "joint" and len(own) > 1):
                place = facts[f"{section}.{unit}"].place
                one = "one pipe" if section == "joint" else "pipes"
                raise UserError(f"{place}: {unit} can't have {name} {section}; give a class of {one} another one")


def _check_selection(machine: Machine, selection: Selection, facts: Mapping[str, Fact]) -> None:
    """Check that `keeps` names unit classes, and that nothing but pipes and operands holds a selected warp."""
    _check_classes(selection.keeps, facts["selection.keeps"])
    if machine.double.exclusive != "off":
        place = facts["double.exclusive"].place
        raise UserError(f"{place}: a machine with [selection] has no exclusive double precision; write off")


def _check_fetch(machine: Machine, facts: Mapping[str, Fact]) -> None:
    """Check that the instruction caches have whole sets."""
    for level in ("l0", "l1", "l15") if machine.fetch else ():
        lines, ways = (getattr(machine.fetch, f"{level}_{key}") for key in ("lines", "ways"))
        if lines % ways:
            place = facts[f"fetch.{level}_lines"].place
            raise UserError(f"{place}: {lines} lines; take a multiple of the {ways} of a set")


def _check_pairing(machine: Machine, facts: Mapping[str, Fact]) -> None:
    """Check that the pairing matrix names unit classes, or `none`."""
    for unit, others in machine.pairing.items():
        _check_classes(others, facts[f"pairing.{unit}"])


def _check_classes(named: str, fact: Fact) -> None:
    """Check that a fact's words are unit classes, or `none`."""
    classes = MEMBERS["pairing"]
    for word in named.split() if named != "none" else ():
        if word not in classes:
            raise UserError(f"{fact.place}: there is no unit class {word}; choose from {', '.join(classes)}, or none")


def _check_port(machine: Machine, facts: Mapping[str, Fact]) -> None:
    """Check that what goes through the memory ports has a pipe, and that no load is back before it was served."""
    port, shared = machine.memory_port, machine.shared_memory
    if port is None:
        if machine.constant_path:
            place = facts["constant_path.cycles"].place
            raise UserError(
                f"{place}: [constant_path] is a way from the queues of [memory_port]; add that, or leave it out"
            )
        return
    if machine.memory_paths:
        place = facts["memory_port.units"].place
        raise UserError(f"{place}: [memory_port] and [memory_paths] both give queues to schedulers; leave out one")
    for word in port.units.split() if port.units != "none" else ():
        if word not in machine.unit or word == Unit.SMEM:
            place, choose = facts["memory_port.units"].place, f"choose from {', '.join(machine.unit)}, or none"
            raise UserError(f"{place}: {machine.key} has no unit class {word}; {choose}")
    for width, early in ((64, port.early_64), (128, port.early_128)):
        latency = getattr(shared, f"latency_{width}")
        if early >= latency:
            place = facts[f"memory_port.early_{width}"].place
            raise UserError(f"{place}: {early} cycles early of {latency}; take fewer than the latency")
