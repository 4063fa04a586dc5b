"""Configurations of a Triton kernel ranked by their simulated time: compiled without a driver, and simulated.

Kernels that take tensor descriptors as arguments are refused; they may make them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from math import inf, prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.analysis.account.figures import Figures, figures
from gpusim.analysis.search.code.code_tuning import How, timed
from gpusim.api.python_words import in_words_of_python
from gpusim.api.raw_module import RawModule
from gpusim.api.triton.array import SHORT
from gpusim.api.triton.scratch import scratch
from gpusim.machine import machine as model
from gpusim.machine.architecture import executing, number
from gpusim.machine.machine import Machine
from gpusim.support.document import Setting
from gpusim.support.parallel.processes import as_done
from isa.errors import UserError
from isa.nvidia.compiler import tools
from isa.reading import extra

DEFAULT = "rtx3090"
ALIGNED = 16  # bytes of a pointer, and what divides a whole number, from which on Triton makes wider accesses
WARP = 32
OPTIONS = "num_warps", "num_stages", "num_ctas", "maxnreg"  # of a configuration, which are the compiler's
NAMES = {"float": "fp", "bfloat": "bf", "int": "i", "uint": "u"}  # Triton's, by NumPy's and PyTorch's
Grid = Sequence[int] | Callable[[Mapping[str, Any]], Sequence[int]]


@dataclass(frozen=True)
class Ranked:
    """A configuration and its simulated time; infinity, and the reason, where it could not be compiled or simulated."""

    config: Any
    milliseconds: float
    figures: Figures | None = None
    reason: str = ""


@dataclass(frozen=True)
class _Launch:
    """What is simulated: a cubin, its kernel, the sizes of its launch, and its arguments in order."""

    cubin: bytes
    name: str
    grid: tuple[int, ...]
    threads: int
    shared: int
    arguments: tuple[Any, ...]
    cluster: tuple[int, ...] = ()
    scratch: int = 0  # bytes of global memory for each block


def rank(
    kernel: Any,
    configs: Sequence[Any],
    arguments: Mapping[str, Any],
    grid: Grid,
    *,
    machine: Machine | str = DEFAULT,
    settings: Mapping[str, Setting] | None = None,
    how: How | None = None,
    jobs: int | None = None,
) -> list[Ranked]:
    """Return the configurations of a Triton kernel, fastest first, by their simulated time on a machine.

    `kernel` is a function under `triton.jit`, `configs` are `triton.Config`. `arguments` by name: NumPy arrays or
    tensors of any library, whose contents matter only where addresses follow from them, and numbers. `grid` is a tuple,
    or a function of the configuration's parameters. `how` says how much of each launch is simulated, by default as much
    as `gpusim tune` does, without the bound; so many `jobs` at a time, by default one for each core. Raises UserError
    for a machine that executes no machine code, and for arguments that the kernel doesn't take.
    """
    with in_words_of_python():
        where = _machine(machine, settings or {})
        found: dict[int, Ranked] = {}
        launches: dict[int, _Launch] = {}
        for place, config in enumerate(configs):
            made = _launched(kernel, dict(config.kwargs), _options(config), arguments, grid, where)
            if isinstance(made, str):
                found[place] = _ranked(config, made)
            else:
                launches[place] = made
        work = partial(_simulated, machine=where, how=how or How())
        for place, outcome in as_done(work, list(launches.items()), jobs):
            found[place] = _ranked(configs[place], outcome)
    return sorted((found[place] for place in range(len(configs))), key=lambda one: one.milliseconds)


def perf_model(
    kernel: Any, grid: Grid, *, machine: Machine | str = DEFAULT, settings: Mapping[str, Setting] | None = None
) -> Callable[..., float]:
    """Return a function for `prune_configs_by={"perf_model": ...}` of `triton.autotune`: milliseconds on a machine.

    It takes the kernel's arguments, the parameters of a configuration and its options by name, as Triton gives them;
    what can't be compiled or simulated takes for ever. Raises UserError as `rank` does.
    """
    with in_words_of_python():
        where = _machine(machine, settings or {})

    def milliseconds(**named: Any) -> float:
        options = {name: named.pop(name) for name in OPTIONS if named.get(name) is not None}
        constant = {one.name for one in kernel.params if one.is_constexpr}
        meta = {name: value for name, value in named.items() if name in constant}
        made = _launched(kernel, meta, options, named, grid, where)
        return _ranked(None, made if isinstance(made, str) else _simulated((0, made), where, How())[1]).milliseconds

    return milliseconds


def _ranked(config: Any, outcome: Figures | str) -> Ranked:
    """Return a configuration with its figures, or with the reason why it has none."""
    if isinstance(outcome, str):
        return Ranked(config, inf, reason=outcome)
    return Ranked(config, outcome.milliseconds, outcome)


def _machine(machine: Machine | str, settings: Mapping[str, Setting]) -> Machine:
    tools.find("nvdisasm")
    found = model.load(machine, settings) if isinstance(machine, str) else machine
    return executing(found)


def _options(config: Any) -> dict[str, Any]:
    """Return a configuration's options of the compiler."""
    return {name: value for name in OPTIONS if (value := getattr(config, name, None)) is not None}


def _launched(
    kernel: Any,
    meta: Mapping[str, Any],
    options: Mapping[str, Any],
    arguments: Mapping[str, Any],
    grid: Grid,
    machine: Machine,
) -> _Launch | str:
    """Compile a configuration, or return why it can't be; raises UserError for arguments that the kernel lacks."""
    triton = extra.module("triton", "triton")
    source, given = specialized(kernel, {**arguments, **meta})
    target = extra.module("triton.backends.compiler", "triton").GPUTarget("cuda", number(machine), WARP)
    try:
        made = triton.compile(triton.compiler.ASTSource(fn=kernel, **source), target=target, options=dict(options))
    except triton.TritonError as error:
        return f"Triton: {str(error).strip().splitlines()[-1]}"
    told = made.metadata
    size = tuple(grid(dict(meta)) if callable(grid) else grid)
    cluster = tuple(told.cluster_dims) if getattr(told, "num_ctas", 1) > 1 else ()
    if cluster:  # a program is a cluster
        size = tuple(a * b for a, b in zip_longest(size, cluster, fillvalue=1))
    arrays = tuple(_array(value) for value in given)
    scratch = getattr(told, "global_scratch_size", 0)
    return _Launch(made.asm["cubin"], told.name, size, WARP * told.num_warps, told.shared, arrays, cluster, scratch)


def specialized(kernel: Any, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """Return how Triton types the arguments of a kernel, for its compiler, and those that the launch passes, in order.

    As Triton's launcher does, a whole number of 1 is a constant, and pointers and numbers that 16 divides are told so.
    Raises UserError for an argument that is missing or that the kernel doesn't take.
    """
    if unknown := [name for name in given if name not in kernel.arg_names]:
        raise UserError(f"{unknown[0]}: {kernel.__name__} has no such argument; it takes {', '.join(kernel.arg_names)}")
    signature: dict[str, str] = {}
    constants: dict[str, Any] = {}
    attributes: dict[tuple[int], list[list[object]]] = {}
    passed = []
    for place, parameter in enumerate(kernel.params):
        name, value = parameter.name, given.get(parameter.name, parameter.default)
        if name not in given and not parameter.has_default:
            raise UserError(f"{name}: {kernel.__name__} needs it; give it in arguments or in each configuration")
        if parameter.is_constexpr or value is None or (_is_whole(value) and value == 1):
            signature[name], constants[name] = "constexpr", value
            continue
        signature[name] = _type_of(name, value)
        if not _is_number(value) or (_is_whole(value) and value % ALIGNED == 0):
            attributes[place,] = [["tt.divisibility", ALIGNED]]
        passed.append(value)
    return {"signature": signature, "constexprs": constants, "attrs": attributes}, passed


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, bool | int | float | np.number | np.bool_)


def _type_of(name: str, value: Any) -> str:
    """Return Triton's name of an argument's type."""
    if isinstance(value, bool | np.bool_):
        return "i1"
    if _is_whole(value):
        return "i32" if int(value) in SHORT else "i64"
    if _is_number(value):
        return "fp32"
    kind = str(getattr(value, "dtype", "")).rpartition(".")[2]
    if kind == "bool":
        return "*i1"
    letters = kind.rstrip("0123456789")
    if letters not in NAMES:
        raise UserError(f"{name}: {type(value).__name__} of {kind or 'no'} type; give an array or a number")
    return f"*{NAMES[letters]}{kind[len(letters) :]}"


def _array(value: Any) -> Any:
    """Return what a launch passes: numbers as the machine has them, arrays of NumPy, others by their size alone."""
    if isinstance(value, bool | np.bool_):
        return np.int8(value)
    if _is_whole(value):
        return np.int32(value) if int(value) in SHORT else np.int64(value)
    if _is_number(value):
        return np.float32(value)
    return value if isinstance(value, np.ndarray) else _zeros(value)


def _zeros(tensor: Any) -> NDArray[np.uint8]:
    """Return as many bytes as a tensor of another library has."""
    return np.zeros(tensor.numel() * tensor.element_size(), np.uint8)


def _simulated(job: tuple[int, _Launch], machine: Machine, how: How) -> tuple[int, Figures | str]:
    """Simulate a launch, and return its place and its figures; a refusal is a reason."""
    place, launch = job
    try:
        return place, figures(timed(_kernel(launch), machine, how))
    except UserError as error:
        return place, str(error)


def _kernel(launch: _Launch) -> Any:
    with TemporaryDirectory() as name:
        path = Path(name) / f"{launch.name}.cubin"
        path.write_bytes(launch.cubin)
        function = RawModule(path=path).get_function(launch.name)
    hidden = scratch(len(function.parameter_bytes) - len(launch.arguments), launch.scratch, prod(launch.grid))
    arguments = (*launch.arguments, *hidden)
    return function.launched(
        launch.grid, (launch.threads,), arguments, shared_mem=launch.shared, cluster=launch.cluster or None
    )
