"""Which card launches run on: the one made active last, or an H200."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from gpusim.analysis.account.answer import Result
from gpusim.api.card.card import Card, Launched
from gpusim.api.python_words import in_words_of_python
from gpusim.machine import machine as model
from gpusim.machine.architecture import executing
from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import Sms
from gpusim.support.document import Setting
from isa.nvidia.compiler import tools

DEFAULT = "h200"
_ACTIVE: list[Card] = []  # the last one is launched on
_DEFAULT: list[Card] = []  # one, once it was asked for


class Active:
    """A card on which launches run from now on, to the end of a `with`, or of the program."""

    def __init__(self, card: Card, end: Callable[[], None]) -> None:
        """Take what ends it."""
        self.card, self._end = card, end

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
        self._end()

    def __enter__(self) -> Self:
        """Return this."""
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        """End it."""
        self.end()


def active(
    machine: Machine | str = DEFAULT,
    settings: dict[str, Setting] | None = None,
    *,
    sms: Sms = 1,
    values: bool = True,
    capture: Path | str | None = None,
) -> Active:
    """Let kernels of CuPy's and Numba's kind launch on a machine, and return what it ran; a `with` ends it.

    `sms` are the SMs simulated, as in `gpusim.simulate`; without `values` launches are timed only. `capture`
    is a folder for launch files of the first of alike launches, for `gpusim run` and other commands. Raises UserError
    for a machine that executes no machine code.
    """
    card = made(machine, settings, sms=sms, values=values, capture=capture)
    _ACTIVE.append(card)
    return Active(card, lambda: _ACTIVE.remove(card) if card in _ACTIVE else None)


def current() -> Card:
    """Return the card that launches run on: the last active one, else an H200."""
    if _ACTIVE:
        return _ACTIVE[-1]
    if not _DEFAULT:
        _DEFAULT.append(made(DEFAULT))
    return _DEFAULT[0]


def made(
    machine: Machine | str,
    settings: dict[str, Setting] | None = None,
    *,
    sms: Sms = 1,
    values: bool = True,
    capture: Path | str | None = None,
) -> Card:
    """Return a card of a machine; raises UserError for one that executes no machine code, and without nvdisasm.

    `capture` is a folder for launch files of the first of alike launches, which is made if there is none.
    """
    if capture is not None:
        Path(capture).mkdir(parents=True, exist_ok=True)
    with in_words_of_python():
        tools.find("nvdisasm")
        found = model.load(machine, settings or {}) if isinstance(machine, str) else machine
        return Card(executing(found), sms, values, folder=Path(capture) if capture is not None else None)
