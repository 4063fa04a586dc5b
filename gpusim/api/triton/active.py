"""A simulated card as the device that Triton launches on."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from gpusim.api.card.active import DEFAULT, Active, made
from gpusim.api.triton.driver import Driver
from gpusim.api.triton.on_cpu import on_cpu
from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import Sms
from gpusim.support.document import Setting
from isa.reading import extra

_ACTIVE: list[Driver] = []


def active(
    machine: Machine | str = DEFAULT,
    settings: dict[str, Setting] | None = None,
    *,
    sms: Sms = 1,
    values: bool = True,
    capture: Path | str | None = None,
) -> Active:
    """Let Triton launch on a simulated machine, and return what it ran; a `with` ends it.

    `kernel[grid](...)` compiles for the machine, executes, and takes simulated time. Arguments are tensors of PyTorch
    in the host's memory, which `device="cuda"` means if PyTorch was imported before, and arrays of
    `gpusim.triton.array`. `do_bench` and `triton.autotune` return simulated milliseconds; they launch with a cold L2,
    other launches find their arrays there. What a benchmark repeats is simulated once. `sms` are the SMs simulated, as
    in `gpusim.simulate`; without `values` launches are timed only. `capture` is a folder for launch files of
    the first of alike launches, for `gpusim run` and other commands. Raises UserError for a machine that executes no
    machine code, and without Triton.
    """
    extra.module("triton", "triton")
    driver, tensors = Driver(made(machine, settings, sms=sms, values=values, capture=capture)), ExitStack()
    if "torch" in sys.modules:
        tensors.enter_context(on_cpu())
    _ACTIVE.append(driver)
    _activate()

    def end() -> None:
        if driver in _ACTIVE:
            _ACTIVE.remove(driver)
            tensors.close()
            _activate()

    return Active(driver.card, end)


def _activate() -> None:
    """Tell Triton its driver: that of the last card; None lets it look for a GPU when it is next asked."""
    config: Any = extra.module("triton.runtime", "triton").driver
    config.set_active(_ACTIVE[-1] if _ACTIVE else None)
