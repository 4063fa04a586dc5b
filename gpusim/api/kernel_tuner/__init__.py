"""Kernel Tuner on a simulated card: `tune_kernel` takes and returns what Kernel Tuner's own one does.

One line of a script changes, its import; needs the extra `tuner`:

    from gpusim.api.kernel_tuner import tune_kernel # on an RTX 3090; gpusim.api.kernel_tuner.use("a100") for another
    card

Strategies, restrictions, metrics, caches and the search space are Kernel Tuner's. It takes an object with a method
`tune` as a strategy, and hands this a runner: ours tunes with the strategy that was asked for and with a runner of its
own, whose device is simulated. Nothing of Kernel Tuner is replaced.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gpusim.machine import machine as model
from gpusim.machine.architecture import executing
from gpusim.machine.machine import Machine
from isa.errors import UserError

DEFAULT = "rtx3090"
Results = tuple[list[dict[str, Any]], dict[str, Any]]


@dataclass
class _Card:
    machine: Machine | None = None


_CARD = _Card()


def use(machine: Machine | str) -> None:
    """Let the following calls tune for a machine, given as an object or by name.

    Raises UserError for an unknown name, and for a machine that executes no machine code.
    """
    found = model.load(machine) if isinstance(machine, str) else machine
    _CARD.machine = executing(found)


def tune_kernel(*args: Any, **named: Any) -> Results:
    """Tune a kernel as `kernel_tuner.tune_kernel` does, on the card of `use`; arguments and results are the same.

    `time` is the simulated one, in milliseconds; further columns are the bound, the occupancy, the shares of the stall
    reasons, and GB/s where tags count them. `iterations`, `device` and `platform` change nothing. With
    `simulation_mode` a cache is replayed, and nothing is simulated here. Raises UserError where the extra is missing
    and for `parallel`; else as Kernel Tuner does.
    """
    if find_spec("kernel_tuner") is None:
        raise UserError("kernel_tuner is not installed; pip install gpusim[tuner]")
    import kernel_tuner  # noqa: PLC0415  (an extra)

    if named.get("simulation_mode"):
        return kernel_tuner.tune_kernel(*args, **named)  # type: ignore[no-any-return]
    if named.get("parallel"):
        raise UserError("parallel: the simulated card runs one kernel at a time; leave it out")
    from gpusim.api.kernel_tuner.strategy import Simulated  # noqa: PLC0415

    if _CARD.machine is None:
        use(DEFAULT)
    assert _CARD.machine is not None
    ours = Simulated(
        _CARD.machine,
        named.get("strategy"),
        _cache_file(named.pop("cache", None)),
        quiet=bool(named.get("quiet")),
        options=named.get("compiler_options") or (),
        observers=named.pop("observers", None) or (),
    )
    results, environment = kernel_tuner.tune_kernel(*args, **{**named, "strategy": ours, "simulation_mode": True})
    return results, {**environment, **ours.environment}


def _cache_file(given: str | Path | None) -> str:
    """Return the name of a cache file as Kernel Tuner completes it."""
    name = str(Path(given).resolve()) if isinstance(given, Path) else given or ""
    return name if not name or name.endswith(".json") else f"{name}.json"
