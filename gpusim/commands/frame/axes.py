"""The axes of sweeps and comparisons, from the options of a command line: lists and ranges of values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial

from gpusim.analysis.search.sweep import MOST, Axis, Build, Subject, SweepPoint
from gpusim.commands.frame.arguments import (
    POLICY,
    code_of,
    code_option,
    cycles_of,
    is_code,
    is_listing,
    pairs,
    percent_of,
    placed,
    sms_of,
)
from gpusim.commands.frame.notices import Launched
from gpusim.commands.frame.options import MACHINE, Axes, CodeOptions, Estimated
from gpusim.engines.estimated import tolerated
from gpusim.machine import machine as model
from gpusim.machine.facts import checked
from gpusim.machine.machine import File
from gpusim.simulation.asked import several_of
from gpusim.sm.front.policies.declaration import POLICY_NAMES, check_policy
from isa.errors import UserError
from isa.kernel import Kernel
from isa.text import listing
from workloads.catalog import CATALOG, arguments, find, make
from workloads.entries.entry import Parameter

_RANGE = re.compile(r"(?P<first>-?\d{1,18}):(?P<last>-?\d{1,18})(:(?P<step>\d{1,18}))?")


def subject_of(
    kernel: str,
    machine: str | None,
    code: CodeOptions,
    how: Estimated,
    caches: str | None,
) -> Subject:
    """Return the kernel, by name, from a listing or of machine code, and the machine's file, by default its own.

    All but a kernel by name has a limit on cycles. Raises UserError for an unknown kernel or machine, and for a listing
    or code that is missing or wrong, and where the machine has not so many SMs.
    """
    percent, sms, limit = percent_of(how.estimate), sms_of(how.sms), cycles_of(kernel, how.max_cycles)
    tolerated(percent, sms=sms)
    build = _builder(kernel, machine, code)
    made = build({}) if kernel not in CATALOG or caches else None
    name = placed(made, machine, ())[0] if made else machine or MACHINE
    file = _placed(made, name, caches) if made else model.read(name)
    several_of(made or build({}), model.build(file), sms, None, how.threads)
    return Subject(build, file, limit, estimate=percent, sms=sms, threads=how.threads)


def _builder(kernel: str, machine: str | None, code: CodeOptions) -> Build:
    """Return the function that builds the kernel from its parameters; raises UserError for an unknown one."""
    if is_code(kernel) or code_option(code):
        return partial(_built, kernel, code, machine)
    if is_listing(kernel):
        return partial(_assembled, listing.text_of(kernel), kernel)
    find(kernel)
    return partial(make, kernel)


def _placed(kernel: Kernel, machine: str, caches: str | None) -> File:
    """Return the file of a machine with the settings that a kernel's launch asks for."""
    file, asked = model.read(machine), placed(kernel, machine, (), caches=caches)[1]
    return replace(file, facts=checked(file.name, file.facts, pairs("--set", "machine.path=value", asked)))


def _built(name: str, code: CodeOptions, machine: str | None, _: Mapping[str, str]) -> Kernel:
    return _launched(name, code, machine)


@cache
def _launched(name: str, code: CodeOptions, machine: str | None) -> Kernel:
    return code_of(name, (), code, machine)


def _assembled(text: str, name: str, _: Mapping[str, str]) -> Kernel:
    return listing.read(text, name)


def axes_of(kernel: str, file: File, given: Axes) -> list[Axis]:
    """Return the machine's axes and then the kernel's, in the order given; a repeated option adds values.

    Raises UserError for a name or a value that the machine's file or the kernel does not have. Values that exclude
    each other are no error here.
    """
    of_machine = {
        name: _listed(texts) for name, texts in _by_name("--set", "machine.path=values", given.setting).items()
    }
    if given.policy:
        if POLICY in of_machine:
            raise UserError(f"--policy {given.policy}: --set {POLICY} already names one; give one of the two")
        of_machine[POLICY] = policies_of(given.policy)
    of_kernel = _by_name("-p", "name=values", given.parameter)
    axes = [Axis("machine", name, values) for name, values in of_machine.items()]
    _check_machine(file, axes)
    return axes + [Axis("kernel", name, _of_kernel(kernel, name, texts)) for name, texts in of_kernel.items()]


def launches(subject: Subject, points: Iterable[SweepPoint]) -> Iterator[Launched]:
    """Yield the launch of each point with its settings of the machine; skip points whose kernel can't be built."""
    for point in points:
        with suppress(UserError):
            kernel = subject.build(point.parameters)
            yield Launched(kernel, subject.file, point.settings, point.settings, subject.sms)


def policies_of(text: str) -> tuple[str, ...]:
    """Return the scheduling policies that `--policy` names: all, or some with commas; raises UserError for others."""
    found = POLICY_NAMES if text == "all" else _listed([text])
    for policy in found:
        check_policy(policy, "--policy: ")
    return tuple(found)


def _by_name(option: str, form: str, texts: Sequence[str]) -> dict[str, list[str]]:
    """The values of an option by name, as written."""
    found: dict[str, list[str]] = {}
    for text in texts:
        for name, values in pairs(option, form, [text]).items():
            found.setdefault(name, []).append(values)
    return found


def _listed(texts: Sequence[str], whole: Callable[[str], bool] = lambda _: False) -> tuple[str, ...]:
    """Values as written, split at commas and with ranges expanded; a text for which `whole` holds is one value."""
    return tuple(dict.fromkeys(value for text in texts for value in ([text] if whole(text) else _spelt_out(text))))


def _spelt_out(text: str) -> Iterator[str]:
    for part in text.split(","):
        if found := _RANGE.fullmatch(part):
            first, last, step = int(found["first"]), int(found["last"]), int(found["step"] or 1)
            if not step or last < first:
                raise UserError(f"{part}: no such range; give FIRST:LAST or FIRST:LAST:STEP, upwards")
            if last - first >= MOST * step:
                raise UserError(f"{part}: more than {MOST:,} values; give a larger step, FIRST:LAST:STEP, or fewer")
            yield from map(str, range(first, last + 1, step))
        else:
            yield part


def _of_kernel(kernel: str, name: str, texts: Sequence[str]) -> tuple[str, ...]:
    """The values of a kernel's parameter; a text that the parameter takes unsplit is one value."""
    if kernel not in CATALOG:
        what, where = ("machine code", "launch file") if is_code(kernel) else ("a listing", ".param lines")
        raise UserError(f"-p {name}: {kernel} is {what}; change its {where} instead")
    known = CATALOG[kernel].parameters
    values = _listed(texts, lambda text: _takes(known, name, text))
    for value in values:
        arguments(kernel, known, {name: value})
    return values


def _takes(known: Sequence[Parameter], name: str, text: str) -> bool:
    try:
        arguments("", known, {name: text})
    except UserError:
        return False
    return True


def _check_machine(file: File, axes: Sequence[Axis]) -> None:
    """Check each value by itself, with the other axes at their first value."""
    first = {axis.name: axis.values[0] for axis in axes}
    for axis in axes:
        for value in axis.values:
            checked(file.name, file.facts, first | {axis.name: value})
            if axis.name == POLICY:
                check_policy(value, f"--set {POLICY}: ")
