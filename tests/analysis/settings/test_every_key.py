"""Every key of every kind of machine affects some kernel, or is reported as doing nothing for all."""

from dataclasses import replace
from functools import cache

import pytest
from strategies.machine_settings import in_time, others, result
from strategies.setting_probes import probes

from gpusim.analysis.account.limit_study import REAL
from gpusim.analysis.settings.ineffective import ineffective
from gpusim.bounds.bounds import bound
from gpusim.machine.facts import checked
from gpusim.machine.machine import build, read
from gpusim.machine.schema import PIPE_UNITS
from isa.errors import UserError
from isa.row import Unit

# A machine of each kind of issue and dependence, and one whose caches keep tags.
MACHINES = "gtx580", "gtx480", "h200", "mi60"
WHAT_IF = dict(REAL)
ABSENT = [f"{section}.{unit}" for section in ("pairing", "category") for unit in Unit] + [
    f"{section}.{unit}" for section in ("joint", "blocked") for unit in PIPE_UNITS
]
MOST = 4  # values of a key of many


class Asked:
    """A machine of one SM, with its share of the bandwidth, and the results of kernels on it."""

    def __init__(self, name):
        file = read(name)
        facts = checked(file.name, file.facts, {})
        sms, bandwidth = facts["chip.sms"].value, facts["chip.dram_mbs"].value
        self.file = replace(
            file, facts=checked(file.name, file.facts, {"chip.sms": 1, "chip.dram_mbs": bandwidth // sms})
        )
        self.machine = build(self.file)
        self.kernels = [kernel for kernel in probes(self.machine) if self._runs(kernel)]
        self.as_it_is = cache(lambda number: in_time(self.kernels[number], self.machine))
        self.with_values = cache(lambda number: result(self.kernels[number], self.machine))
        self.bound = cache(lambda number: bound(self.kernels[number], self.machine))

    def _runs(self, kernel):
        try:
            return bool(ineffective(kernel, self.file, {"chip.core_mhz": 1}))
        except UserError:
            return False

    def values(self, path, now):
        """Return other values that the machine may have; at most 4 of a number."""
        found = [value for value in others(path, now, self.machine) if self._may_be(path, value)]
        return found[:MOST] if isinstance(now, int) else found

    def _may_be(self, path, value):
        try:
            return bool(build(self.file, {path: value}))
        except UserError:
            return False

    def feels(self, number, path, value):
        """Tell whether another value changes a kernel's run, bound or values."""
        changed, kernel = build(self.file, {path: value}), self.kernels[number]
        if in_time(kernel, changed) != self.as_it_is(number):
            return True
        return bound(kernel, changed) != self.bound(number) or result(kernel, changed) != self.with_values(number)

    def silent(self, path, value):
        """Return kernels that an unreported value does not affect; None if it affects a kernel, or one does not fit."""
        found = []
        for number, kernel in enumerate(self.kernels):
            if kernel.name == "long" and not path.startswith("fetch."):
                continue
            try:
                reported = ineffective(kernel, self.file, {path: value}, energy=False)
            except UserError:
                return None
            if not reported and self.feels(number, path, value):
                return None
            if not reported:
                found.append((value, kernel.name))
        return found


def _silent(asked, path, now):
    """Return kernels that no value of a key affects, without a report; none if the key affects some kernel."""
    found = []
    for value in asked.values(path, now):
        silent = asked.silent(path, value)
        if silent is None:
            return []
        found += silent
    return found


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.parametrize("name", MACHINES)
def test_no_key_does_nothing_silently(name):
    """Each key of a machine affects some kernel, or is reported as doing nothing for each."""
    asked = Asked(name)
    keys = {path: fact.value for path, fact in asked.file.facts.items()}
    keys = dict.fromkeys(ABSENT, "") | WHAT_IF | keys
    silent = {path: found for path, now in keys.items() if (found := _silent(asked, path, now))}
    assert silent == {}
