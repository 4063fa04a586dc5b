"""A simulated card as the device that Triton launches on."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from gpusim.analysis.account.answer import Result
from gpusim.api.python_words import in_words_of_python
from gpusim.api.triton.card import Card, Launched
from gpusim.api.triton.driver import Driver
from gpusim.api.triton.on_cpu import on_cpu
from gpusim.machine import machine as model
from gpusim.machine.architecture import executing
from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import Sms
from gpusim.support.document import Setting
from isa.nvidia.compiler import tools
from isa.reading import extra

_ACTIVE: list[Driver] = []


class Active:
    """A card on which Triton launches from now on, to the end of a `with`, or of the program."""

    def __init__(self, card: Card) -> None:
        """Make it the active one."""
        self.card = card
        self._driver = Driver(card)
        self._tensors = ExitStack()
        if "torch" in sys.modules:
            self._tensors.enter_context(on_cpu())
        _ACTIVE.append(self._driver)
        _activate()

    @property
    def launches(self) -> list[Launched]:
        """The launches that were simulated, in order; without those that a benchmark repeated."""
        return self.card.launches

    @property
    def results(self) -> tuple[Result, ...]:
        """The whole results of the last launches, oldest first: some, as each has the memory of its launch."""
        return tuple(self.card.results)

    @property
    def milliseconds(self) -> float:
        """Simulated time since the beginning."""
        return self.card.milliseconds

    def end(self) -> None:
        """Make the card active that was before; none, if there was none."""
        if self._driver in _ACTIVE:
            _ACTIVE.remove(self._driver)
            self._tensors.close()
            _activate()

    def __enter__(self) -> Self:
        """Return this."""
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        """End it."""
        self.end()


def active(
    machine: Machine | str = "h200",
    settings: dict[str, Setting] | None = None,
    *,
    sms: Sms = 1,
    values: bool = True,
) -> Active:
    """Let Triton launch on a simulated machine, and return what it ran; a `with` ends it.

    `kernel[grid](...)` compiles for the machine, executes, and takes simulated time. Arguments are tensors of PyTorch
    in the host's memory, which `device="cuda"` means if PyTorch was imported before, and arrays of
    `gpusim.triton.array`. `do_bench` and `triton.autotune` return simulated milliseconds; they launch with a cold L2,
    other launches find their arrays there. What a benchmark repeats is simulated once. `sms` are the SMs simulated, as
    in `gpusim.simulate`; without `values` launches are timed only. Raises UserError for a machine that executes no
    machine code, and without Triton.
    """
    extra.module("triton", "triton")
    with in_words_of_python():
        tools.find("nvdisasm")
        found = model.load(machine, settings or {}) if isinstance(machine, str) else machine
        return Active(Card(executing(found), sms, values))


def _activate() -> None:
    """Tell Triton its driver: that of the last card; None lets it look for a GPU when it is next asked."""
    config: Any = extra.module("triton.runtime", "triton").driver
    config.set_active(_ACTIVE[-1] if _ACTIVE else None)
