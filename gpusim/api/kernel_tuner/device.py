"""A simulated card as Kernel Tuner's backends have cards: memory, compiler, launches, events."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from kernel_tuner.backends.backend import GPUBackend
from kernel_tuner.observers import BenchmarkObserver
from kernel_tuner.util import SkippableFailure
from numpy.typing import NDArray

from gpusim.analysis.account.figures import figures
from gpusim.analysis.account.rates.memory_rates import memory_rates
from gpusim.analysis.search.code.code_tuning import How, timed
from gpusim.api.cupy.array import ndarray
from gpusim.api.kernel_tuner import language, opencl
from gpusim.api.raw_module import RawFunction, RawModule
from gpusim.launch.file.caches import holding
from gpusim.machine.architecture import number
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import occupancy
from gpusim.simulation.result import Result
from isa.errors import UserError

TOO_MUCH = "too many resources requested for launch"  # words by which Kernel Tuner knows what to skip
TOO_MUCH_SHARED = "uses too much shared data"
_UNROLL = re.compile(r"^(\s*#\s*pragma\s+unroll[\s(]+)(\w+)", re.M)  # NVRTC takes a macro there, nvcc does not
UNITS = {"time": "ms", "bound": "ms", "occupancy": "%"}


class SimulatedDevice(GPUBackend):  # type: ignore[misc]  # Kernel Tuner has no types
    """A machine; while an event is under way, a launch is timed, otherwise its values are computed."""

    def __init__(
        self,
        machine: Machine,
        lang: str,
        compiler_options: Sequence[str] = (),
        observers: Sequence[Any] = (),
        *,
        bounded: bool = False,
    ) -> None:
        """Take the machine with tags in its caches, whose L2 holds what copies left there; `lang` is its language.

        `bounded`: the bound of each timed launch is found, too.
        """
        self.how = How(bounded=bounded)
        self.machine, _ = holding(machine, "warm")
        self.lang, self.compiler_options = lang.upper(), language.options(lang, compiler_options)
        self.name, self.max_threads, self.units = machine.name, machine.limits.threads_per_block, UNITS
        self.env = {"device_name": self.name, "iterations": 1, "compiler_options": list(compiler_options)}
        self.module: RawModule | None = None
        self.result: Result | None = None
        self.num_regs, self.shared, self.timing = 0, 0, False
        self.observers = [*observers, SimulatedTime()]
        for one in self.observers:
            one.register_device(self)

    def get_environment(self) -> dict[str, Any]:
        """Return what is known of the device."""
        return self.env

    def ready_argument_list(self, arguments: Sequence[Any]) -> list[Any]:
        """Return copies of NumPy's arrays, the card's memory; scalars, and arrays of gpusim.cupy, as they are."""
        return [
            np.array(one) if isinstance(one, np.ndarray) and not isinstance(one, ndarray) else one for one in arguments
        ]

    def compile(self, kernel_instance: Any) -> RawFunction:
        """Return the kernel of an instance; raises SkippableFailure for too much shared memory, else UserError."""
        name, options = kernel_instance.name, [*self.compiler_options, "-I."]
        try:
            self.module = RawModule(self._cuda(kernel_instance), options=options, architecture=number(self.machine))
            found = self.module.get_function(name)
            self.num_regs = found.num_regs
            return found
        except UserError as error:
            if TOO_MUCH_SHARED in str(error):
                raise SkippableFailure(str(error)) from None
            raise

    def _cuda(self, kernel_instance: Any) -> str:
        """Return the source in CUDA C++, with the use of a template that its instance needs."""
        code, name = kernel_instance.kernel_string, kernel_instance.name
        if self.lang == language.OPENCL:
            return opencl.translated(code)
        code = _UNROLL.sub(lambda one: f"{one[1]}{kernel_instance.params.get(one[2], one[2])}", code)
        return f"{code}\nstatic void *_gpusim_instance = (void *)({name});\n" if "<" in name else code

    def start_event(self) -> None:
        """Begin to time launches."""
        self.timing = True

    def stop_event(self) -> None:
        """End it."""
        self.timing = False

    def kernel_finished(self) -> bool:
        """Tell that a launch is over: it is when it has been simulated."""
        return True

    def synchronize(self) -> None:
        """Wait for nothing."""

    def run_kernel(self, func: RawFunction, gpu_args: Any, threads: Any, grid: Any, _stream: object = None) -> None:
        """Time a launch, or compute its values in the arguments; raises SkippableFailure if a block doesn't fit."""
        launch = tuple(map(int, grid)), tuple(map(int, threads)), tuple(gpu_args)
        kernel = func.launched(*launch, shared_mem=self.shared)
        try:
            occupancy(kernel, self.machine)
        except UserError as error:
            raise SkippableFailure(f"{TOO_MUCH}: {error}") from None
        if self.timing:
            self.result = timed(kernel, self.machine, self.how)
        else:
            func(*launch, shared_mem=self.shared, machine=self.machine, caches=None)

    def memset(self, allocation: NDArray[Any], value: int, size: int) -> None:
        """Set bytes of an array."""
        allocation.view(np.uint8).reshape(-1)[:size] = value

    def memcpy_dtoh(self, dest: NDArray[Any], src: NDArray[Any]) -> None:
        """Copy from the card's memory."""
        dest[...] = src

    def memcpy_htod(self, dest: NDArray[Any], src: NDArray[Any]) -> None:
        """Copy to the card's memory."""
        dest[...] = src

    def copy_constant_memory_args(self, cmem_args: Mapping[str, Any]) -> None:
        """Set `__constant__` variables of the module that was compiled last; raises UserError."""
        assert self.module is not None
        for name, given in cmem_args.items():
            data = np.frombuffer(np.ascontiguousarray(given).tobytes(), np.uint8)
            self.module.get_global(name)[: len(data)] = data

    def copy_shared_memory_args(self, smem_args: Mapping[str, int]) -> None:
        """Set the bytes of dynamic shared memory of launches."""
        self.shared = int(smem_args["size"])

    def copy_texture_memory_args(self, texmem_args: Mapping[str, Any]) -> None:
        """Take none: texture references are refused before."""


class SimulatedTime(BenchmarkObserver):  # type: ignore[misc]
    """Adds what the last launch took, and why."""

    def get_results(self) -> dict[str, Any]:
        """Return the columns of a launch."""
        result = self.dev.result
        found = figures(result)
        columns = {"time": found.milliseconds, "times": [found.milliseconds], "method": result.scaling.method}
        if self.dev.how.bounded:
            columns["bound"] = found.milliseconds * found.bound_cycles / found.cycles
            columns["limiter"] = found.bound_limiter
        columns["occupancy"] = 100 * found.warps / result.machine.limits.warps
        columns |= {f"stall_{reason}": share for reason, share in found.stalls.items()}
        return columns | {f"gbs_{rate.level}": rate.gbs for rate in memory_rates(result)}
