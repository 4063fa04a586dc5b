"""Kernel Tuner on a simulated card: its functions, which take and return what Kernel Tuner's own ones do.

A script stays as it is below one line, or without any by `python -m gpusim.kernel_tuner`; needs the extra `tuner`:

    import gpusim.kernel_tuner
    gpusim.kernel_tuner.use("a100")     # from here on `kernel_tuner` is this one

Strategies, restrictions, metrics, caches and the search space are Kernel Tuner's. It takes an object with a method
`tune` as a strategy, and hands this a runner: ours tunes with the strategy that was asked for and with a runner of its
own, whose device is simulated. Nothing of Kernel Tuner is changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from gpusim.machine import machine as model
from gpusim.machine.architecture import executing
from gpusim.machine.machine import Machine
from isa.errors import UserError

DEFAULT = "rtx3090"
Results = tuple[Any, Any]


@dataclass
class _Card:
    machine: Machine | None = None
    bounded: bool = False


_CARD = _Card()


def use(machine: Machine | str = DEFAULT, *, bounded: bool = False) -> None:
    """Let the following calls run on a machine, given as an object or by name, and be what `import kernel_tuner` finds.

    `import cupy` then finds `gpusim.cupy`, on the same machine. With `bounded` the bound of each point is found, which
    may take as long as its time, and is two more columns. Raises UserError for an unknown name, for a machine
    that executes no machine code, without the extra, and where the script has taken `kernel_tuner` before.
    """
    found = executing(model.load(machine) if isinstance(machine, str) else machine)
    _check_installed()
    from gpusim.api.kernel_tuner import stand_in  # noqa: PLC0415  (an extra)

    stand_in.install((tune_kernel, run_kernel, tune_kernel_T1))
    stand_in.activate(found)
    _CARD.machine, _CARD.bounded = found, bounded


def current() -> Machine:
    """Return the card of `use`, or the default one."""
    if _CARD.machine is None:
        _CARD.machine = executing(model.load(DEFAULT))
    return _CARD.machine


def tune_kernel(*args: Any, **named: Any) -> Results:
    """Tune a kernel as `kernel_tuner.tune_kernel` does, on the card of `use`; arguments and results are the same.

    `time` is the simulated one, in milliseconds; further columns are the occupancy, the shares of the stall reasons,
    GB/s where tags count them, and the bound if `use` was asked for it. `parallel` is a number of processes.
    `iterations`, `device` and `platform` change nothing. Kernels in C and Fortran are the host's: Kernel Tuner times
    them itself. With `simulation_mode` a cache is replayed, and nothing is simulated here. Raises UserError where the
    extra is missing, for a language that the card doesn't run, and for texture references; else as Kernel Tuner does.
    """
    _check_installed()
    from gpusim.api.kernel_tuner import tuning  # noqa: PLC0415  (an extra)

    return tuning.tuned(current(), args, named, bounded=_CARD.bounded)


def tune_kernel_T1(*args: Any, **named: Any) -> Results:  # noqa: N802  (Kernel Tuner's name)
    """Tune what a file in its format T1 describes, as `kernel_tuner.tune_kernel_T1` does, on the card of `use`.

    Raises as `tune_kernel` does.
    """
    _check_installed()
    from gpusim.api.kernel_tuner import tuning  # noqa: PLC0415  (an extra)

    return tuning.tuned_file(current(), args, named, bounded=_CARD.bounded)


def run_kernel(*args: Any, **named: Any) -> list[Any]:
    """Run one instance of a kernel as `kernel_tuner.run_kernel` does, on the card of `use`; return its arguments after.

    Raises UserError as `tune_kernel` does, and for an instance that the card can't launch.
    """
    _check_installed()
    from gpusim.api.kernel_tuner import running  # noqa: PLC0415  (an extra)

    return running.ran(current(), args, named)


def _check_installed() -> None:
    if find_spec("kernel_tuner") is None:
        raise UserError("kernel_tuner is not installed; pip install gpusim[tuner]")
