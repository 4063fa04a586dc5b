"""One instance of a kernel, run for its values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from kernel_tuner import interface, kernelbuilder, util
from kernel_tuner.core import KernelSource
from kernel_tuner.integration import TuneResults

from gpusim.api.kernel_tuner import current, language
from gpusim.api.kernel_tuner.device import SimulatedDevice
from gpusim.api.kernel_tuner.strategy import Interface
from gpusim.api.kernel_tuner.tuning import bound, check
from gpusim.machine.machine import Machine
from isa.errors import UserError


def ran(machine: Machine, args: tuple[Any, ...], named: Mapping[str, Any]) -> list[Any]:
    """Return what `kernel_tuner.run_kernel` returns for these arguments, on a machine; raises UserError."""
    given = bound(interface.run_kernel, args, named)
    source = KernelSource(given["kernel_name"], given["kernel_source"], given.get("lang"), given.get("defines"))
    if language.on_host(source.lang):
        return interface.run_kernel(**given)  # type: ignore[no-any-return]
    check(given)
    source.check_argument_lists(given["kernel_name"], given["arguments"])
    device = SimulatedDevice(machine, source.lang, given.get("compiler_options") or ())
    dev = Interface(device, quiet=bool(given.get("quiet")))
    arguments = dev.preprocess_gpu_arguments(given["arguments"], given["params"])
    memory = dev.ready_argument_list(arguments)
    instance, function = _compiled(dev, source, given, given["params"])
    if given.get("smem_args") is not None:
        dev.copy_shared_memory_args(util.get_smem_args(given["smem_args"], given["params"]))
    if given.get("cmem_args") is not None:
        dev.copy_constant_memory_args(given["cmem_args"])
    _run(dev, function, memory, instance)
    return [_after(dev, before, held) for before, held in zip(arguments, memory, strict=True)]


def _compiled(dev: Interface, source: KernelSource, given: Mapping[str, Any], params: Any) -> tuple[Any, Any]:
    """Return an instance of a kernel and its function; raises UserError if there is none on this card."""
    names = [*(given.get("block_size_names") or ())]
    util.append_default_block_size_names(names)
    optional = dict.fromkeys(("grid_div_x", "grid_div_y", "grid_div_z"))
    options = interface.Options({**optional, **given, "block_size_names": names})
    instance = dev.create_kernel_instance(source, options, params, verbose=False)
    if isinstance(instance, util.ErrorConfig):
        raise UserError(f"run_kernel: {params}: more than the {dev.max_threads} threads that a block may have")
    try:
        function = dev.compile_kernel(instance, verbose=False)
    finally:
        instance.delete_temp_files()
    if function is None:
        raise UserError(f"run_kernel: {params}: more shared memory than a block may have")
    return instance, function


def _run(dev: Interface, function: Any, memory: list[Any], instance: Any) -> None:
    if not dev.run_kernel(function, memory, instance):
        raise UserError(f"run_kernel: {instance.params}: a block of it doesn't fit an SM of the card")


def _after(dev: Interface, before: Any, held: Any) -> Any:
    """Return a copy of what an argument is after the launch."""
    if not isinstance(before, np.ndarray):
        return before
    made = np.zeros_like(before)
    dev.memcpy_dtoh(made, held)
    return made


class PythonKernel(kernelbuilder.PythonKernel):  # type: ignore[misc]  # Kernel Tuner has no types
    """Kernel Tuner's kernel that a script calls as a function, on the card of `use`."""

    def __init__(self, *args: Any, **named: Any) -> None:
        """Compile an instance, and keep memory for its arguments; raises UserError as `run_kernel` does."""
        given = bound(super().__init__, args, named)
        source = KernelSource(given["kernel_name"], given["kernel_string"], given.get("lang"))
        if language.on_host(source.lang):
            super().__init__(**given)
            return
        check(given)
        self.dev = Interface(SimulatedDevice(current(), source.lang), quiet=True)
        self.params = given.get("params") or {}
        if stored := given.get("results_file"):
            self.params.update(TuneResults(stored).get_best_config(self.dev.name, given["problem_size"]))
        self.kernel_instance, self.func = _compiled(self.dev, source, given, self.params)
        self.gpu_args = self.dev.ready_argument_list(given["arguments"])
        every = [True for _ in self.gpu_args]
        self.inputs, self.outputs = given.get("inputs") or every, given.get("outputs") or every
