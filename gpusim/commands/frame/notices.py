"""Settings that do nothing, and launches that can't show what they are for: a line for each on stderr.

Settings are a field of JSON documents, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gpusim.commands import streams
from gpusim.commands.frame.arguments import Chosen, overrides_of
from gpusim.machine.machine import File, Machine, facts, read
from gpusim.machine.trust.grades import CARRIED, deciding
from gpusim.support.document import ANYWAY, Ineffective, Setting
from gpusim.support.plural import plural
from isa.dataflow.memory.order_dependence import asks_blocks
from isa.errors import UserError
from isa.kernel import Kernel
from isa.text.printer import named
from workloads.catalog import CATALOG

if TYPE_CHECKING:
    from gpusim.engines.sm_run import SmRun
    from gpusim.machine.simulated_sms import Sms
    from gpusim.simulation.result import Result

NAMED = 4  # numbers that a note names
MOST = 64  # launches checked at most: each takes some hundredths of a second unless the program is large


class Launched(NamedTuple):
    """A kernel on the machine of a file, all settings of the machine, the paths of those to check, and the SMs."""

    kernel: Kernel
    file: File
    settings: Mapping[str, Setting]
    asked: Iterable[str]
    sms: Sms = 1


def ineffective_settings(chosen: Chosen, *, energy: bool = False, sms: Sms = 1) -> Sequence[Ineffective]:
    """Return the settings of a command line that do nothing to its launch, and report them on stderr.

    `energy`: the run computes energy too; `sms`: those that it simulates.
    """
    asked = given(chosen.kernel, chosen.overrides)
    launched = Launched(chosen.kernel, read(chosen.name), chosen.overrides, asked, sms)
    return ineffective_at_all([launched], asked, energy=energy)


def given(kernel: Kernel, overrides: Mapping[str, Setting]) -> list[str]:
    """Return the paths of the settings that the kernel's launch does not ask for itself."""
    return [path for path, value in overrides.items() if kernel.settings.get(path) != value]


def ineffective_at_all(
    launches: Iterable[Launched], paths: Iterable[str], *, energy: bool = False
) -> Sequence[Ineffective]:
    """Return the settings at some paths that do nothing to any of the launches, and report them on stderr.

    `energy`: the runs compute energy too. Of many launches only the first are checked. Where kernel and machine don't
    fit, the settings may be the cause, and are not reported.
    """
    felt, rest = set[str](), iter(launches)
    found: dict[str, dict[str, Ineffective]] = {path: {} for path in paths}  # by path and value
    looked: list[Launched] = []
    while felt != found.keys() and (each := next(rest, None)) and len(looked) < MOST:
        asked = [path for path in each.asked if path not in felt]
        reported = _reported(each._replace(asked=asked), energy=energy)
        felt |= set(asked) - reported.keys()
        for path, one in reported.items():
            found[path][one.value] = one
        looked.append(each)
    more = f" ({plural(MOST, 'launch', 'es')} checked)" if next(rest, None) else ""
    kept = [_joined(values, more) for path, values in found.items() if values and path not in felt]
    kernels = ", ".join(dict.fromkeys(each.kernel.name for each in looked))
    machines = ", ".join(dict.fromkeys(each.file.key for each in looked))
    tell(kept, f"{kernels} on {machines}")
    return kept


def tell(found: Iterable[Ineffective], what: str) -> None:
    """Report settings that change nothing on stderr, a line for each."""
    for one in found:
        streams.tell(f"note: {one.setting}={one.value} changes nothing for {what}: {one.reason}\n")


def unread(setting: Sequence[str]) -> Sequence[Ineffective]:
    """Return the settings that decide no point of a space, as all but limits do, and report them on stderr."""
    given = {path: value for path, value in overrides_of(setting, None).items() if not path.startswith("limits.")}
    found = [Ineffective(path, value, "constraints read limits alone") for path, value in given.items()]
    tell(found, "any point of a space")
    return found


def tell_of_channels(name: str, machine: Machine, sms: Sms) -> None:
    """Report on stderr where a kernel of the catalog that shows what several memory channels do can't show it."""
    if name not in CATALOG or not CATALOG[name].channels:
        return
    if machine.memory_channels is None or machine.memory_channels.count == 1:
        other = CATALOG[name].machine
        streams.tell(f"note: {name} needs several memory channels, and {machine.key} has one: try {other}\n")
    elif sms != "all":
        why = f"fewer than all SMs have their share of the {machine.memory_channels.count} alone"
        streams.tell(f"note: {name} needs several memory channels, and {why}: add --sms all\n")


def tell_of_turns(run: SmRun, threads: int | None) -> None:
    """Report on stderr why SMs took turns on one thread, if they did and more `threads` were asked for."""
    if run.engine == "compiled" and run.in_turn and (threads or 1) > 1:
        streams.tell(f"note: the SMs ran on one thread: {run.in_turn}\n")


def tell_of_beyond(result: Result) -> None:
    """Report on stderr the loads of machine code behind a buffer, if there are any."""
    if result.run.beyond:
        from gpusim.analysis.account.report import beyond  # noqa: PLC0415  (--help waits for no compiler)

        streams.tell(f"warning: {beyond(result)}\n")


def tell_of_others(result: Result, kernel: Kernel, sms: Sms) -> None:
    """Report on stderr what an SM that stands for others has to do with them, or may have."""
    _tell_of_waiting(result, kernel, sms)
    _tell_of_slices(result, sms)


def tell_of_trust(result: Result, chosen: Chosen) -> None:
    """Report on stderr which numbers of another card what limits the run follows from, if any."""
    if result.bound is None:
        return
    limiter, file = result.bound.limiter, read(chosen.name)
    used = frozenset(one.row.unit.value for one in chosen.kernel.program.instructions)
    doubtful = deciding(limiter, file, facts(chosen.name, chosen.overrides), used)
    found = [path for path, known in doubtful.items() if known == CARRIED]
    if found:
        more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
        said = f"{', '.join(found[:NAMED])}{more}"
        streams.tell(f"note: limited by {limiter}; {chosen.name} has from another card: {said}\n")


def tell_of_all(result: Result) -> None:
    """Report on stderr that all SMs were simulated in place of one, if they were, and why."""
    if result.all_sms:
        streams.tell(f"note: {result.all_sms}, so all {result.run.sms} SMs were simulated\n")


def _tell_of_waiting(result: Result, kernel: Kernel, sms: Sms) -> None:
    """Report on stderr that all SMs were simulated in place of one, and why; or that one misses what others store."""
    run = result.run
    if sms == 1 and kernel.cluster_blocks > 1:
        streams.tell(f"note: the {run.sms} SMs of a cluster were simulated\n")
    elif result.all_sms:
        tell_of_all(result)
    elif sms == 1 and run.blocks < kernel.blocks and (asks := asks_blocks(kernel)):
        where = named(kernel.program, asks[0])
        streams.tell(f"note: {where} may go by what blocks of other SMs store, and one SM is timed: add --sms all\n")


def _tell_of_slices(result: Result, sms: Sms) -> None:
    """Report on stderr an atomic that the timed SM does, if nothing is known of who else does it at the same place."""
    from gpusim.engines.slice_share import unseen  # noqa: PLC0415  (--help waits for no compiler)

    run, kernel = result.run, result.kernel
    if sms == 1 and run.sms == 1 and run.blocks < kernel.blocks:
        for pc in [pc for pc in unseen(kernel, result.machine, run.first_sm) if run.active[pc]][:1]:
            where = named(kernel.program, pc)
            streams.tell(f"note: {where} may be of one SM or of all, and one SM is timed: add --sms all\n")


def _joined(values: Mapping[str, Ineffective], more: str) -> Ineffective:
    """All values of a setting, with the reason of one that differs from the machine's own value, if there is one."""
    one, *_ = sorted(values.values(), key=lambda each: each.reason == ANYWAY.format(each.value))
    return replace(one, value=",".join(sorted(values, key=_in_order)), reason=one.reason + more)


def _in_order(value: str) -> tuple[bool, int, str]:
    """Numbers by size, before words."""
    return (False, int(value), "") if value.isdecimal() else (True, 0, value)


def _reported(launch: Launched, *, energy: bool) -> dict[str, Ineffective]:
    """Return those of the settings to check that do nothing, by path."""
    from gpusim.analysis.settings.ineffective import ineffective  # noqa: PLC0415  (--help waits for no compiler)

    try:
        found = ineffective(
            launch.kernel, launch.file, launch.settings, paths=launch.asked, energy=energy, sms=launch.sms
        )
    except UserError:
        return {}
    return {each.setting: each for each in found}
