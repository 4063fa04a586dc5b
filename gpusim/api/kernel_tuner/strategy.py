"""What Kernel Tuner takes for a strategy: it tunes with the one that was asked for, on a simulated device."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from kernel_tuner import util
from kernel_tuner.core import DeviceInterface
from kernel_tuner.interface import strategy_map
from kernel_tuner.observers import ContinuousObserver, OutputObserver, PrologueObserver
from kernel_tuner.runners.runner import Runner
from kernel_tuner.runners.sequential import SequentialRunner

from gpusim.api.kernel_tuner.device import SimulatedDevice
from gpusim.machine.machine import Machine
from isa.errors import UserError


class Interface(DeviceInterface):  # type: ignore[misc]  # Kernel Tuner has no types
    """Kernel Tuner's interface of devices, of one that it does not know by name."""

    def __init__(self, device: SimulatedDevice, *, quiet: bool) -> None:
        """Take the device as the backend; observers are its own."""
        self.dev, self.lang, self.iterations = device, "CUDA", 1
        self.use_nvml = self.use_tegra = self.requires_warmup = False
        self.name, self.units, self.max_threads = device.name, device.units, device.max_threads
        self.continuous_observers: list[Any] = []
        self.output_observers = [one for one in device.observers if isinstance(one, OutputObserver)]
        self.prologue_observers = [one for one in device.observers if isinstance(one, PrologueObserver)]
        kinds = ContinuousObserver, PrologueObserver
        self.benchmark_observers = [one for one in device.observers if not isinstance(one, kinds)]
        if not quiet:
            sys.stdout.write(f"Using: {device.name}\n")  # as Kernel Tuner does


class SimulatedRunner(SequentialRunner):  # type: ignore[misc]
    """Kernel Tuner's sequential runner, of a device that is given."""

    def __init__(self, replaced: Any, interface: Interface, *, quiet: bool) -> None:
        """Take source and options from the runner that it takes the place of."""
        Runner.__init__(self)
        self.dev, self.units, self.quiet = interface, interface.units, quiet
        self.kernel_source, self.kernel_options = replaced.kernel_source, replaced.kernel_options
        self.warmed_up, self.simulation_mode = True, False
        self.gpu_args = interface.ready_argument_list(self.kernel_options.arguments)


class Simulated:
    """Tunes with a strategy, by name or as an object (None: brute force), on a simulated machine."""

    def __init__(
        self,
        machine: Machine,
        strategy: Any,
        cache: str,
        *,
        quiet: bool,
        options: Sequence[str],
        observers: Sequence[Any],
    ) -> None:
        """Take all that Kernel Tuner's strategies don't get; raises UserError for an unknown strategy."""
        if isinstance(strategy, str) and strategy not in strategy_map:
            raise UserError(f"strategy={strategy!r}: unknown; take one of {', '.join(strategy_map)}")
        self.machine, self.cache, self.quiet, self.options, self.observers = machine, cache, quiet, options, observers
        self.strategy = strategy_map[strategy or "brute_force"] if isinstance(strategy, str | None) else strategy
        self.environment: dict[str, Any] = {}

    def tune(self, searchspace: Any, runner: Any, tuning_options: Any) -> Any:
        """Return the results of the strategy; `runner` is the one whose place ours takes."""
        if runner.kernel_source.lang.upper() != "CUDA":
            raise UserError(f"lang={runner.kernel_source.lang}: the simulated card runs CUDA; leave lang out")
        device = SimulatedDevice(self.machine, compiler_options=self.options, observers=self.observers)
        ours = SimulatedRunner(runner, Interface(device, quiet=self.quiet), quiet=self.quiet)
        tuning_options.simulation_mode = False
        self.environment = {**ours.get_environment(tuning_options), "simulation": False}
        if not self.cache:
            return self.strategy.tune(searchspace, ours, tuning_options)
        tuning_options.cachefile = self.cache
        tuning_options.cache = util.process_cache(self.cache, runner.kernel_options, tuning_options, ours)
        try:
            return self.strategy.tune(searchspace, ours, tuning_options)
        finally:
            with suppress(OSError):
                util.close_cache(self.cache)
