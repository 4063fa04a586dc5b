"""What `import gpusim` gives: kernels by name or path, machines by name, parameters as numbers, errors in its words."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import structs

from gpusim.analysis.account.answer import Result, frame, warned
from gpusim.analysis.settings import ineffective as checks
from gpusim.api.python_arguments import called, settings_of, typed
from gpusim.api.python_words import in_words_of_python
from gpusim.bounds import bounds
from gpusim.commands.catalog.machines import summary
from gpusim.commands.frame.arguments import is_code, is_listing, kernel_of, placed
from gpusim.commands.frame.options import MACHINE, POLICIES, CodeOptions
from gpusim.engines.simulate import Progress
from gpusim.machine import machine as model
from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import Sms, count
from gpusim.simulation import simulation
from gpusim.simulation.asked import Sample
from gpusim.sm.front.policies import declaration as policies
from gpusim.sm.front.policies.declaration import Policy
from gpusim.support.document import Ineffective, Setting, spelled
from isa.errors import UserError
from isa.kernel import Kernel
from isa.reading.nearest import nearest
from workloads.catalog import CATALOG
from workloads.entries.entry import shown_default

_Count = Annotated[int, msgspec.Meta(ge=1)]
_SWITCH: tuple[Any, str] = (bool, "True or False")
KINDS: Mapping[str, tuple[Any, str]] = {  # of arguments: their type, and what to give
    "engine": (str, "compiled or reference"),
    "values": _SWITCH,
    "max_cycles": (_Count | None, "a number of cycles, or None"),
    "policy": (str | None, f"the name of a policy: {POLICIES}"),
    "trace": _SWITCH,
    "fast_forward": _SWITCH,
    "sms": (_Count | Literal["all"], "a number of SMs, or all"),
    "threads": (_Count | None, "a number of threads, or None"),
    "estimate": (float | None, "a number of percent, such as 0.5"),
    "force": _SWITCH,
}


def simulate(
    kernel: Kernel | str | Path,
    machine: Machine | str | Path | None = None,
    *,
    settings: Mapping[str, Setting] | None = None,
    engine: str = "compiled",
    values: bool = True,
    max_cycles: int | None = None,
    policy: str | None = None,
    progress: Progress | None = None,
    sample: Sample = None,
    sms: Sms = 1,
    trace: bool = False,
    fast_forward: bool = True,
    threads: int | None = None,
    estimate: float | None = None,
    force: bool = False,
    strict: bool = False,
    **parameters: object,
) -> Result:
    """Simulate a kernel on a machine, and check its values.

    `kernel` is a name of `kernels()` with its parameters as further arguments, the path of a listing, of machine code
    or of CUDA C, or a Kernel. `machine` is a name of `machines()`, a .toml file, or a Machine; without it, it is the
    one of the kernel's architecture, else the GTX 580. `settings` replace numbers of a machine that is given by name.
    `force` runs machine code on a machine that does not execute it: what if; with `strict` a load behind a buffer ends
    it, which else is a BeyondBufferWarning. The other arguments are those of
    `gpusim.simulation.simulation.simulate`. Raises UserError, LimitError, DeadlockError and
    ExecutionError, as that does.

        gpusim.simulate("sgemm-lai", "gtx580", m=192, n=192, k=64)
        gpusim.simulate("examples/reduce.asm", "h200", settings={"unit.fp32.latency": 5})
    """
    given = {"engine": engine, "values": values, "max_cycles": max_cycles, "policy": policy, "trace": trace}
    given |= {"fast_forward": fast_forward, "threads": threads, "estimate": estimate, "sms": sms}
    with in_words_of_python():
        options = {name: typed(name, value, *KINDS[name]) for name, value in given.items()}
        forced, exact = (typed(name, value, *_SWITCH) for name, value in (("force", force), ("strict", strict)))
        chosen, loaded = _kernel(kernel, machine, parameters, named=SIMULATE, force=forced)
        chosen = replace(chosen, page_bytes=0) if exact else chosen
        where, changed = _machine(chosen, machine, settings or {}, by_name=chosen is not kernel)
        called("progress", progress)
        found = simulation.simulate(chosen, where, progress=progress, sample=sample, **options)
        return warned(Result.of(found, changed, loaded))


def kernels() -> Any:
    """Return a table of the kernels that come with gpusim, with their parameters and defaults."""
    return frame(
        {
            "kernel": entry.name,
            "description": entry.description,
            "parameters": ", ".join(f"{one.name}={shown_default(one)}" for one in entry.parameters),
            "machine": entry.machine,
        }
        for entry in CATALOG.values()
    )


def machines() -> Any:
    """Return a table of the machines that come with gpusim, with their headline figures."""
    every = map(summary, model.names())
    return frame({k: v for k, v in structs.asdict(one).items() if k != "methods"} for one in every)


def load(name_or_path: str | Path, overrides: Mapping[str, Setting] | None = None) -> Machine:
    """Return the machine of that name or file, with the values at some dotted paths replaced; raises UserError."""
    with in_words_of_python():
        if not isinstance(name_or_path, str | Path):
            raise UserError(f"{name_or_path!r}: give the name of a machine (gpusim.machines()), or a .toml file")
        return model.load(str(name_or_path), None if overrides is None else settings_of("overrides", overrides))


def bound(
    kernel: Kernel | str | Path,
    machine: Machine | str | Path | None = None,
    *,
    settings: Mapping[str, Setting] | None = None,
    sms: Sms = 1,
    limit: int = bounds.LIMIT,
    **parameters: object,
) -> bounds.Bound:
    """Return the bound of a launch, which no schedule undercuts; kernel and machine are given as for `simulate`.

    `sms` and `limit` are those of `gpusim.bounds.bounds.bound`, which says what is raised.

        gpusim.bound("sgemm-lai", "gtx580", m=192, n=192, k=64).cycles
    """
    with in_words_of_python():
        most = typed("limit", limit, _Count, "a number of warp instructions")
        chosen, _ = _kernel(kernel, machine, parameters, named=BOUND)
        where, _ = _machine(chosen, machine, settings or {}, by_name=chosen is not kernel)
        return bounds.bound(chosen, where, sms=count(where, typed("sms", sms, *KINDS["sms"])), limit=most)


def ineffective(
    kernel: Kernel | str | Path,
    machine: Machine | str | Path | None,
    settings: Mapping[str, Setting],
    *,
    paths: Iterable[str] | None = None,
    energy: bool = True,
    sms: Sms = 1,
    **parameters: object,
) -> tuple[Ineffective, ...]:
    """Return those settings that do nothing to a launch; the kernel is given as for `simulate`, the machine by name.

    `paths`, `energy` and `sms` are those of `gpusim.analysis.settings.ineffective.ineffective`, which says what is
    compared. Raises UserError for a machine that is loaded already, and as that does.

        gpusim.ineffective("stream", "h200", {"pipe.xu.lanes": 8})
    """
    with in_words_of_python():
        if isinstance(machine, Machine):
            raise UserError("machine: it is loaded already; give its name, so that it can be had without the settings")
        chosen, _ = _kernel(kernel, machine, parameters, named=INEFFECTIVE)
        name, _ = placed(chosen, str(machine) if machine else None, [])
        asked = settings_of("settings", settings)
        return checks.ineffective(chosen, name, asked, paths=paths, energy=energy, sms=sms)


def _arguments(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's arguments, but for the kernel and its parameters."""
    return [name for name in inspect.signature(function).parameters if name not in ("kernel", "parameters")]


SIMULATE, BOUND, INEFFECTIVE = _arguments(simulate), _arguments(bound), _arguments(ineffective)


def register_policy(name: str, function: Policy) -> None:
    """Make a function the scheduling policy of that name; `policies.declaration.register_policy` says of which kind.

    Raises UserError for what is no function, and for the name of a policy that comes with the simulator.
    """
    with in_words_of_python():
        typed("name", name, str, "a name")
        if not callable(function):
            raise UserError(f"function={function!r}: give a function of the state, a scheduler and a mask of warps")
        policies.register_policy(name, function)


def _kernel(
    kernel: Kernel | str | Path,
    machine: Machine | str | Path | None,
    parameters: Mapping[str, object],
    *,
    named: Sequence[str],
    force: bool = False,
) -> tuple[Kernel, str]:
    """Return the kernel, and the file that it was loaded from, if any; `named` are the arguments of the function."""
    if not isinstance(kernel, Kernel | str | Path):
        raise UserError(f"kernel={kernel!r}: give the name of a kernel (gpusim.kernels()), a path, or a Kernel")
    if isinstance(kernel, Kernel):
        if parameters:
            raise UserError(f"{next(iter(parameters))}: the kernel is made already; give its parameters to make")
        return kernel, ""
    name = str(kernel)
    _check_spelling(name, parameters, named)
    given = [f"{key}={spelled(value)}" for key, value in parameters.items()]
    where = str(machine) if isinstance(machine, Path) else machine if isinstance(machine, Machine | str) else None
    made = kernel_of(name, given, CodeOptions(force=force), where)
    return made, name if is_code(name) or is_listing(name) else ""


def _check_spelling(kernel: str, parameters: Iterable[str], named: Sequence[str]) -> None:
    """Raise UserError for what is no parameter of the kernel, and like an argument of the function."""
    known = [one.name for one in CATALOG[kernel].parameters] if kernel in CATALOG else []
    for name in parameters:
        meant = nearest(name, named)
        if name not in known and meant and not nearest(name, known):
            raise UserError(f"{name}: neither an argument nor a parameter of {kernel}; did you mean {meant}?")


def _machine(
    kernel: Kernel, machine: Machine | str | Path | None, settings: Mapping[str, Setting], *, by_name: bool
) -> tuple[Machine, Mapping[str, Setting]]:
    """Return the machine and its changed settings; those that its launch asks for too, if the kernel was named."""
    if not isinstance(machine, Machine | str | Path | None):
        raise UserError(f"machine={machine!r}: give the name of a machine, or what gpusim.load returns")
    settings = settings_of("settings", settings)
    if machine == "":
        raise UserError("machine='': give the name of a machine (gpusim.machines()), or leave it out")
    if isinstance(machine, Machine):
        if settings:
            raise UserError("settings: the machine is loaded already; give them to load, or name the machine")
        return machine, {}
    named = str(machine) if machine else None
    if not by_name:
        return model.load(named or MACHINE, settings), settings
    name, wanted = placed(kernel, named, [f"{path}={value}" for path, value in settings.items()])
    asked = dict(one.split("=", 1) for one in wanted)
    return model.load(name, asked), {**asked, **settings}
