"""What Kernel Tuner takes for a strategy: it tunes with the one that was asked for, on a simulated device."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from kernel_tuner import util
from kernel_tuner.core import DeviceInterface, instantiate_observer
from kernel_tuner.interface import strategy_map
from kernel_tuner.observers import ContinuousObserver, OutputObserver, PrologueObserver
from kernel_tuner.runners.runner import Runner
from kernel_tuner.runners.sequential import SequentialRunner

from gpusim.api.kernel_tuner.ahead import Ahead
from gpusim.api.kernel_tuner.device import SimulatedDevice
from gpusim.machine.machine import Machine
from isa.errors import UserError


class Interface(DeviceInterface):  # type: ignore[misc]  # Kernel Tuner has no types
    """Kernel Tuner's interface of devices, of one that it does not know by name."""

    def __init__(self, device: SimulatedDevice, *, quiet: bool) -> None:
        """Take the device as the backend; observers are its own."""
        self.dev, self.lang, self.iterations = device, device.lang, 1
        self.use_nvml = self.use_tegra = self.requires_warmup = False
        self.name, self.units, self.max_threads = device.name, device.units, device.max_threads
        self.continuous_observers: list[Any] = []
        self.output_observers = [one for one in device.observers if isinstance(one, OutputObserver)]
        self.prologue_observers = [one for one in device.observers if isinstance(one, PrologueObserver)]
        kinds = ContinuousObserver, PrologueObserver
        self.benchmark_observers = [one for one in device.observers if not isinstance(one, kinds)]
        self.ahead: Ahead | None = None  # what other processes do of the present space
        if not quiet:
            sys.stdout.write(f"Using: {device.name}\n")  # as Kernel Tuner does

    def compile_and_benchmark(self, source: Any, memory: Any, params: dict[str, Any], options: Any, to: Any) -> Any:
        """Return the columns of a point, from the process that has it if there are several."""
        if self.ahead:
            return self.ahead.result(params)
        return super().compile_and_benchmark(source, memory, params, options, to)

    def check_kernel_output(
        self, func: Any, memory: Any, instance: Any, answer: Any, atol: Any, verify: Any, verbose: Any
    ) -> None:
        """Run a kernel and check its results; without an answer, all its arrays are for `verify`."""
        if verify and not answer:
            arrays = [one if isinstance(one, np.ndarray) else None for one in instance.arguments]
            super().check_kernel_output(func, memory, instance, arrays, atol, _without(verify, answer), verbose)
        else:
            super().check_kernel_output(func, memory, instance, answer, atol, verify, verbose)


def _without(verify: Callable[..., Any], answer: Any) -> Callable[..., Any]:
    """Return a check of results that gets this answer, whatever it is called with."""
    return lambda _, results, atol: verify(answer, results, atol=atol)


class SimulatedRunner(SequentialRunner):  # type: ignore[misc]
    """Kernel Tuner's sequential runner, of a device that is given; other processes may work ahead."""

    def __init__(self, replaced: Any, interface: Interface, *, quiet: bool, workers: int) -> None:
        """Take source and options from the runner that it takes the place of."""
        Runner.__init__(self)
        self.dev, self.units, self.quiet = interface, interface.units, quiet
        self.kernel_source, self.kernel_options = replaced.kernel_source, replaced.kernel_options
        self.warmed_up, self.simulation_mode = True, False
        self.gpu_args = interface.ready_argument_list(self.kernel_options.arguments)
        self.workers = workers

    def available_parallelism(self) -> int:
        """Return the number of processes."""
        return self.workers

    def run(self, space: Any, to: Any) -> Any:
        """Return the results of these points, as the sequential runner does."""
        points = space if isinstance(space, list) else list(space)
        if min(self.workers, len(points)) < 2:
            return super().run(points, to)

        def columns(params: dict[str, Any]) -> Any:
            return self.dev.compile_and_benchmark(self.kernel_source, self.gpu_args, params, self.kernel_options, to)

        with Ahead.of(columns, _fresh(points, to), min(self.workers, len(points))) as ahead:
            self.dev.ahead = ahead
            try:
                return super().run(points, to)
            finally:
                self.dev.ahead = None


def _fresh(points: Sequence[Sequence[Any]], to: Any) -> Iterator[dict[str, Any]]:
    """Yield the points that the cache lacks, each once."""
    known = set(to.cache or ())
    for one in points:
        if (key := ",".join(map(str, one))) not in known:
            known.add(key)
            yield dict(zip(to.tune_params, one, strict=True))


@dataclass
class Asked:
    """What Kernel Tuner's strategies don't get: a strategy by name or as an object (None: brute force), and so on."""

    strategy: Any
    cache: str
    quiet: bool = False
    options: Sequence[str] = ()
    observers: Sequence[Any] = ()
    workers: int = 1
    bounded: bool = False


class Simulated:
    """Tunes with a strategy, on a simulated machine."""

    def __init__(self, machine: Machine, asked: Asked) -> None:
        """Take the machine and what was asked for; raises UserError for an unknown strategy."""
        name = asked.strategy or "brute_force"
        if isinstance(name, str) and name not in strategy_map:
            raise UserError(f"strategy={name!r}: unknown; take one of {', '.join(strategy_map)}")
        self.machine, self.asked, self.environment = machine, asked, dict[str, Any]()
        self.strategy = strategy_map[name] if isinstance(name, str) else name

    def tune(self, searchspace: Any, runner: Any, to: Any) -> Any:
        """Return the results of the strategy; `runner` is the one whose place ours takes."""
        asked, lang = self.asked, runner.kernel_source.lang
        observers = _observers(asked.observers, lang)
        device = SimulatedDevice(self.machine, lang, asked.options, observers, bounded=asked.bounded)
        interface = Interface(device, quiet=asked.quiet)
        ours = SimulatedRunner(runner, interface, quiet=asked.quiet, workers=asked.workers)
        to.simulation_mode = False
        self.environment = {**ours.get_environment(to), "simulation": False}
        if not asked.cache:
            return self.strategy.tune(searchspace, ours, to)
        to.cachefile = asked.cache
        to.cache = util.process_cache(asked.cache, runner.kernel_options, to, ours)
        try:
            return self.strategy.tune(searchspace, ours, to)
        finally:
            with suppress(OSError):
                util.close_cache(asked.cache)


def _observers(given: Sequence[Any], lang: str) -> list[Any]:
    """Return observers, made where functions are given that make them; raises UserError for one of power."""
    about = {"device": 0, "platform": 0, "compiler": None, "lang": lang}
    made = [instantiate_observer(one, about) for one in given]
    for one in made:
        if hasattr(one, "continuous_observer"):
            raise UserError(f"observers: {type(one).__name__}: no power is simulated; leave it out")
    return made
