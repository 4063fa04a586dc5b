"""Calls of Kernel Tuner's functions that tune, with a strategy of ours."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import Any

from kernel_tuner import file_utils, interface, util
from kernel_tuner.core import KernelSource
from kernel_tuner.strategies.wrapper import OptAlgWrapper

from gpusim.api.kernel_tuner import language
from gpusim.api.kernel_tuner.strategy import Asked, Simulated
from gpusim.machine.machine import Machine
from gpusim.support.parallel.processes import cores
from isa.errors import UserError

_OF_DRIVER = "nvml_", "tegra_", "cuda_sm_percentage"  # parameters that change clocks, power or SMs of a card
_CUSTOM = "custom_search_method_path"
_OF_SEARCH = _CUSTOM, "max_fevals", "time_limit", "constraint_aware"  # not the search method's own


def tuned(machine: Machine, args: tuple[Any, ...], named: Mapping[str, Any], *, bounded: bool) -> tuple[Any, Any]:
    """Return what `kernel_tuner.tune_kernel` returns for these arguments, on a machine; raises UserError.

    `bounded`: each point has its bound, too.
    """
    given = bound(interface.tune_kernel, args, named)
    if given.get("simulation_mode") or _of_host(given):
        return interface.tune_kernel(**given)  # type: ignore[no-any-return]
    check(given)
    ours = Simulated(machine, _asked(given, bounded))
    replaced = {"strategy": ours, "simulation_mode": True, "parallel": False, "cache": None, "observers": None}
    replaced["restrictions"] = _restrictions(given, machine.limits.threads_per_block)
    results, environment = interface.tune_kernel(**{**given, **replaced})
    return results, {**environment, **ours.environment}


def tuned_file(machine: Machine, args: tuple[Any, ...], named: Mapping[str, Any], *, bounded: bool) -> tuple[Any, Any]:
    """Return what `kernel_tuner.tune_kernel_T1` returns for these arguments, likewise; raises UserError."""
    given = bound(interface.tune_kernel_T1, args, named)
    inputs = file_utils.get_input_file(Path(given["input_filepath"]))
    described = inputs["KernelSpecification"]
    if given.get("simulation_mode") or language.on_host(described["Language"]):
        return interface.tune_kernel_T1(**given)  # type: ignore[no-any-return]
    strategy, options = _search(inputs.get("Search", {}), given)
    cache = given.get("cache_filepath") or described.get("SimulationInput")
    ours = Simulated(machine, Asked(strategy, _cache_file(cache), quiet=True, bounded=bounded))
    replaced = {"strategy": ours, "strategy_options": options, "simulation_mode": True, "cache_filepath": ""}
    found, more = interface.tune_kernel_T1(**{"device": 0, **given, **replaced})
    return (found, more) if given.get("output_T4", True) else (found, {**more, **ours.environment})


def bound(function: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by their names; raises TypeError as the call would."""
    return dict(signature(function).bind(*args, **named).arguments)


def check(given: Mapping[str, Any]) -> None:
    """Raise UserError for what a simulated card lacks, among arguments that tune or run a kernel."""
    if textures := given.get("texmem_args"):
        raise UserError(f"texmem_args: {', '.join(textures)}: CUDA 12 has no texture references; pass arrays")
    names = given.get("tune_params") or given.get("params") or {}
    for name in names:
        if str(name).startswith(_OF_DRIVER):
            raise UserError(f"{name}: the simulated card has one clock, no power and all its SMs; leave it out")
    for number, one in enumerate(given["arguments"], 1):
        if type(one).__module__.partition(".")[0] == "torch":
            raise UserError(f"argument {number}: a tensor of PyTorch; pass tensor.numpy()")


def _of_host(given: Mapping[str, Any]) -> bool:
    """Tell whether a kernel is one of the host; raises UserError for a language of neither host nor card."""
    source = KernelSource(given["kernel_name"], given["kernel_source"], given.get("lang"), given.get("defines"))
    return language.on_host(source.lang)


def _asked(given: Mapping[str, Any], bounded: bool) -> Asked:
    return Asked(
        given.get("strategy"),
        _cache_file(given.get("cache")),
        quiet=bool(given.get("quiet")),
        options=given.get("compiler_options") or (),
        observers=given.get("observers") or (),
        workers=_workers(given.get("parallel")),
        bounded=bounded,
    )


def _restrictions(given: Mapping[str, Any], most: int) -> Any:
    """Return the restrictions, with one by which points whose blocks have too many threads are none of the space.

    Kernel Tuner leaves these out by what it knows of a device. Where one function restricts, they are in the space, and
    skipped.
    """
    asked = given.get("restrictions")
    names = [name for name in util.default_block_size_names if name in given["tune_params"]]
    if not names or not isinstance(asked, list | None):
        return asked
    return [*(asked or ()), f"{' * '.join(names)} <= {most}"]


def _workers(parallel: bool | int | None) -> int:
    """Return the number of processes: 1, or as many as asked for; Kernel Tuner takes it from the environment, too."""
    if parallel is None:
        parallel = bool(os.environ.get(interface.environment_key_parallel))
    workers = cores() if parallel is True else int(parallel or 1)
    if workers < 1:
        raise UserError(f"parallel={parallel}: give a number of processes, or True for one on each core")
    return workers


def _cache_file(given: str | Path | None) -> str:
    """Return the name of a cache file as Kernel Tuner completes it."""
    name = str(Path(given).resolve()) if isinstance(given, Path) else given or ""
    return name if not name or name.endswith(".json") else f"{name}.json"


def _search(described: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the strategy and its options, as a file describes them or as given in its place."""
    strategy, options = given.get("strategy"), dict(given.get("strategy_options") or {})
    if strategy is None:
        strategy = described["Name"]
        options |= {one["Name"]: one["Value"] for one in described.get("Attributes", ())}
    if _CUSTOM not in options:
        return strategy, options
    made = file_utils.import_class_from_file(Path(options[_CUSTOM]), strategy)
    method = made(**{name: value for name, value in options.items() if name not in _OF_SEARCH})
    options.setdefault("constraint_aware", getattr(method, "constraint_aware", False))
    return OptAlgWrapper(method), {name: value for name, value in options.items() if name != _CUSTOM}
