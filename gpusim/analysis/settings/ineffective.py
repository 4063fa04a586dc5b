"""Settings of a machine that do nothing to a launch: no rule reads them, or they can't affect the kernel.

A setting does nothing if engines and analyses get the same input without it: occupancy, decoded rows with their
control codes, the packed numbers that some rule reads for this kernel, and the inputs of rates. The inputs are
compared, not guessed by the setting's name; `gpusim/analysis/settings/conditions.py` says which rule reads which
number when. So a reported setting surely does nothing; an unreported one may still make no difference in this run, such
as the size of a queue that is never full.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import msgspec
import numpy as np

from gpusim.analysis.account.rates.energy import spent
from gpusim.analysis.settings.conditions import CONDITIONS
from gpusim.analysis.settings.far_cache import holds_all
from gpusim.analysis.settings.given import Given, as_given
from gpusim.bounds import rates
from gpusim.engines.walks import launch_lines
from gpusim.engines.walks.traffic import traffic
from gpusim.machine import machine as model
from gpusim.machine import schema
from gpusim.machine.machine import File
from gpusim.machine.simulated_sms import Sms
from gpusim.sm.front.policies.declaration import POLICY_NAMES
from gpusim.sm.memory.cache.declaration import FAR, PARTITION, tagged
from gpusim.sm.memory.constant_operand.declaration import asks_beyond, cycles_of_line, requested
from gpusim.sm.pipes.pipe.declaration import choices, initiation_interval, pipe_names
from gpusim.sm.unit.asks import looks, through_port
from gpusim.sm.unit.opcodes import FETCH, LOAD, STORE, UNIT_CODE
from gpusim.support.document import ANYWAY, Ineffective, Setting
from gpusim.support.plural import plural
from isa.errors import UserError
from isa.kernel import Kernel
from isa.row import Unit

BY_UNIT = "unit", "pairing", "category", "joint", "blocked"  # sections whose keys are unit classes
SEPARATE = "instance", "pipe_interval", "units", "pairs", "row_bytes"  # compared by unit class, or never read
FOLLOWING = {  # from other numbers, or columns, which are compared
    "since_volta",
    *("sought", "sought_places", "flagged_places", "places_of_bank", "many_words"),
}
View = dict[str, Any]


def ineffective(
    kernel: Kernel,
    machine: str | File,
    settings: Mapping[str, Setting],
    *,
    paths: Iterable[str] | None = None,
    energy: bool = True,
    sms: Sms = 1,
) -> tuple[Ineffective, ...]:
    """Return those settings of a machine, by name or file, that do nothing to the launch, each beside all the others.

    `paths`: only these are checked; `energy`: the launch's energy counts as a result; `sms`: those that are
    simulated. Raises UserError where the machine can't have the settings, or kernel and machine don't fit.
    """
    file = model.read(machine) if isinstance(machine, str) else machine
    asked = list(settings if paths is None else paths)
    if not asked:
        return ()
    given = as_given(kernel, model.build(file, settings), several_sms=sms != 1)
    own = view(given)
    found = ((path, _reason(file, given, own, settings, path, energy=energy)) for path in asked)
    return tuple(Ineffective(path, str(settings[path]), reason) for path, reason in found if reason)


def view(given: Given) -> View:
    """Return by name all numbers of the machine that a launch depends on; equal views give equal results."""
    machine, record = given.machine, given.record
    found: View = {name: np.array(record[name]) for name in record.dtype.names if name not in (*SEPARATE, *FOLLOWING)}
    found |= {f"rows.{name}": np.array(given.rows[name]) for name in given.rows.dtype.names if name not in FOLLOWING}
    found |= {"caches": np.array(given.levels), "lines": np.array(machine.fetch.line if machine.fetch else 0)}
    found["caches"]["first"], found["caches"]["sector"] = 0, _sectors(given)
    if holds_all(given):
        found["caches"]["sets"][FAR], found["caches"]["ways"][FAR] = 1, 0
        found["caches"]["replacement"][FAR] = 0
    found["stagger"] %= record.interval  # slots are whole intervals apart
    if requested(given.rows):
        found |= _of_constants(given)
    if given.in_time:
        found["rows.latency"] *= _told(given.rows)
    found |= dict(_of_units(given))
    found |= {"occupancy": (given.fits.blocks, given.fits.warps, given.fits.limiter), "chip": _chip(given)}
    found |= {"kept": _kept(given), "others": _of_others(given)}
    if machine.schedulers.policy in POLICY_NAMES:  # a registered policy may read anything
        _forget(found, given)
    return found


def _of_constants(given: Given) -> View:
    """What constant operands depend on: of a single line neither its place counts, nor how soon a second would come."""
    record, rows = given.record, given.rows
    taken, lag = cycles_of_line(given.machine, given.resident * given.kernel.warps, given.kernel.blocks)
    far = int(record.constant_far_latency) if asks_beyond(rows) else 0
    found: View = {"turns": (taken, lag), "constant_far_latency": np.array(far)}
    if requested(rows) == 1:
        there = max(lag + record.constant_latency, far)
        found |= {"rows.constant_lines": rows["constant_lines"] > 0, "turns": there}
        found |= {name: np.array(there) for name in ("constant_latency", "constant_far_latency")}
    return found


def _kept(given: Given) -> tuple[int, int, int]:
    """Whether the L2 holds the kernel's buffers when the launch begins, and how much of them it does not keep.

    And of how much stores go on to the DRAM.
    """
    machine = given.machine
    if not (given.cached and tagged(machine) and machine.l2):
        return 0, 0, 0
    lost, gone = launch_lines.lost(given.kernel, machine, given.fits.blocks)
    return machine.l2.filled, lost, gone


def _of_others(given: Given) -> tuple[int, ...]:
    """What other SMs have of the L2, and want of it at the same time; this one's rules are not told."""
    channel = given.machine.l2_channel
    if channel is None or not (given.cached and tagged(given.machine) and looks(FAR)(given)):
        return ()
    return channel.furthest, channel.least_share, channel.merged, channel.merged_blocks


def _sectors(given: Given) -> Any:
    """Sectors of each cache in units of 32 bytes; those of the L2 are no smaller than one request to it."""
    sectors, rows = np.array(given.levels["sector"]), given.rows
    asking = {int(cache) - 1 for cache in rows["cached"][rows["action"] != STORE] if cache}
    partly = FAR in asking or (given.record.keeps_stores and given.does(STORE, unit=Unit.LOCAL))
    asked = 1 if partly or not asking else min(sectors[which] for which in asking)
    for which in (PARTITION, FAR):
        if given.levels["sets"][which]:
            asked = sectors[which] = max(sectors[which], asked)
    return sectors


def _told(rows: Any) -> Any:
    """Tell for each instruction whether something but control codes may wait for its result."""
    barriers = (rows["write_barrier"] >= 0) | (rows["read_barrier"] >= 0)
    return barriers | (rows["queued"] != 0) | np.isin(rows["action"], (LOAD, FETCH))


def _chip(given: Given) -> tuple[float, ...]:
    """The inputs of rates, and the number of partitions of the L2."""
    chip, l2, part = given.machine.chip, given.machine.l2, given.machine.l2_partition
    partitions = l2.bytes // part.bytes if l2 and part and given.cached else 0
    partitions = partitions if given.several_sms else min(partitions, 1)  # one SM has the one near it
    return chip.sms, chip.shader_mhz, rates.peak_gflops(given.kernel, given.machine), partitions


def _of_units(given: Given) -> Iterator[tuple[str, Any]]:
    """Yield the needs of the program's unit classes, and their pipes."""
    machine, record, names = given.machine, given.record, pipe_names(given.machine)
    units = {UNIT_CODE[unit] for unit in (*given.units, Unit.CONTROL)}  # the end of a program exits
    others = sum(1 << unit for unit in units)
    for unit in sorted(units):
        needs = np.array(record.units[unit])
        if needs["blocked"] >= 0 and names[needs["blocked"]] not in given.pipes:
            needs["blocked"] = -1
        if needs["choices"] == 0:
            needs["joint"] = needs["blocked"] = -1  # nothing is occupied
        needs["single_pipe"] = 0
        yield f"unit.{unit}", needs
        yield f"pairs.{unit}", int(record.pairs[unit]) & others if given.pairs else 0
    for name in given.pipes:
        index = names.index(name)
        shared = record.instance[: machine.schedulers.count, index].tolist()
        yield f"pipe.{name}", (int(record.pipe_interval[index]), shared)


def _forget(found: View, given: Given) -> None:
    """Clear the fields that no rule reads for this launch."""
    for condition in CONDITIONS:
        if condition.fields and not condition.reads(given):
            for field in condition.fields.split():
                name, _, index = field.partition(".")
                column = name if index.isdecimal() else field
                found[column][int(index) if index.isdecimal() else ...] = np.zeros((), found[column].dtype)


def _reason(file: File, given: Given, own: View, settings: Mapping[str, Setting], path: str, *, energy: bool) -> str:
    """Return why a setting does nothing; empty if it does or may do something."""
    section = path.partition(".")[0]
    if section == "energy" and not energy:
        return "energy is not asked for"
    for left_out in ({path}, {other for other in settings if other.startswith(f"{section}.")}):
        try:
            before = model.build(file, {other: value for other, value in settings.items() if other not in left_out})
            other = as_given(given.kernel, before, several_sms=given.several_sms)
        except UserError:
            continue  # the machine can't be without it: perhaps without all of its section
        if before == given.machine or (path not in file.facts and _default(path, settings[path])):
            return ANYWAY.format(settings[path])
        unfelt = same(own, view(other)) and (section != "energy" or _energy(given) == _energy(other))
        return _why(path, given, other) if unfelt else ""
    return ""


def _default(path: str, value: Setting) -> bool:
    """Tell whether this value is the default of a key that may be left out."""
    section, *_, key = path.split(".")
    if path not in schema.DEFAULTED and f"{section}.*.{key}" not in schema.DEFAULTED:
        return False
    fields = {field.name: field.default for field in msgspec.structs.fields(schema.sections()[section])}
    return bool(fields[key] == value)


def same(one: View, other: View) -> bool:
    """Tell whether two views are equal, so that the launches give the same results, energy left out."""
    return one.keys() == other.keys() and all(_equal(one[name], other[name]) for name in one)


def _equal(one: Any, other: Any) -> bool:
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else bool(one == other)


def _energy(given: Given) -> Any:
    """The energy of the launch if it takes a second; None if the machine has no energies."""
    costs = given.machine.energy
    return costs and spent(traffic(given.kernel, forwarding=bool(costs.forwarding)), given.machine, 1.0)


def _why(path: str, given: Given, other: Given) -> str:
    """Return in words why a setting does nothing, by the machine that has it."""
    section, _, key = path.partition(".")
    member, machine, kernel = key.partition(".")[0], given.machine, given.kernel.name
    if section in BY_UNIT and member not in given.units:
        return f"{kernel} has no instruction of unit class {member}"
    if section in ("joint", "blocked") and through_port(machine, Unit(member)):
        return f"unit class {member} goes through the memory ports, and takes no pipe"
    if section == "pipe" and (words := _of_pipe(member, given, other)):
        return words
    if section == "unit" and key.endswith(".latency") and given.in_time:
        return f"the control codes of {kernel} say when results of unit class {member} are there"
    named = {
        "kernel": kernel,
        "policy": given.policy,
        "rule": machine.shared_memory.rule,
        "limiter": given.fits.limiter,
        "blocks": plural(given.fits.blocks, "block"),
    }
    for each in CONDITIONS:
        if each.why and any(fnmatchcase(path, keys) for keys in each.keys.split()) and not each.reads(given):
            return each.why.format(**named)
    room = section == "l2" and holds_all(given)
    rest = f"all that {kernel} touches has room in each set of the L2" if room else ""
    return rest or f"nothing that {kernel} does on {machine.key} depends on it"


def _of_pipe(name: str, given: Given, other: Given) -> str:
    """Return in words why a setting of a pipe does nothing; empty if the reason is not known."""
    if name not in given.pipes and not _through_port(name, given):
        return f"no instruction of {given.kernel.name} goes through pipe {name}"
    cycles = [initiation_interval(each.machine, name) for each in (given, other)]
    if given.machine.pipe[name].lanes != other.machine.pipe[name].lanes and cycles[0] == cycles[1]:
        return f"an instruction keeps pipe {name} for {cycles[0]} cycle{'s' * (cycles[0] > 1)} either way"
    return f"the instructions of pipe {name} go through the memory ports" if name not in given.pipes else ""


def _through_port(name: str, given: Given) -> bool:
    """Tell whether instructions of the program that would take the pipe go through the memory ports instead."""
    machine = given.machine
    return any(name in choices(machine, unit) and through_port(machine, unit) for unit in given.units)
