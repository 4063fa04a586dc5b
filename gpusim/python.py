"""What `import gpusim` gives: kernels by name or path, machines by name, parameters as numbers, errors in its words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import structs

from gpusim import simulation
from gpusim.analysis.account.answer import Result, frame
from gpusim.commands.arguments import MACHINE, is_code, is_listing, kernel_of, placed
from gpusim.commands.machines import summary
from gpusim.engines.simulate import Progress
from gpusim.machine import machine as model
from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import Sms
from gpusim.simulation import Sample
from gpusim.support.document import Setting, spelled
from gpusim.support.python_words import in_words_of_python
from isa.errors import UserError
from isa.kernel import Kernel
from workloads.catalog import CATALOG


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
    **parameters: object,
) -> Result:
    """Simulate a kernel on a machine, and check its values.

    `kernel` is a name of `kernels()` with its parameters as further arguments, the path of a listing, of machine code
    or of CUDA C, or a Kernel. `machine` is a name of `machines()`, a .toml file, or a Machine; without it, it is the
    one of the kernel's architecture, else the GTX 580. `settings` replace numbers of a machine that is given by name.
    The other arguments are those of `gpusim.simulation.simulate`. Raises UserError, LimitError, DeadlockError and
    ExecutionError, as that does.

        gpusim.simulate("sgemm-lai", "gtx580", m=192, n=192, k=64)
        gpusim.simulate("examples/reduce.asm", "h200", settings={"unit.fp32.latency": 5})
    """
    with in_words_of_python():
        chosen, loaded = _kernel(kernel, parameters)
        where, changed = _machine(chosen, machine, settings or {}, by_name=chosen is not kernel)
        found = simulation.simulate(
            chosen,
            where,
            engine=engine,
            values=values,
            max_cycles=max_cycles,
            policy=policy,
            progress=progress,
            sample=sample,
            sms=sms,
            trace=trace,
            fast_forward=fast_forward,
            threads=threads,
            estimate=estimate,
        )
        return Result.of(found, changed, loaded)


def kernels() -> Any:
    """Return a table of the kernels that come with gpusim, with their parameters and defaults."""
    return frame(
        {
            "kernel": entry.name,
            "description": entry.description,
            "parameters": ", ".join(f"{one.name}={one.default}" for one in entry.parameters),
            "machine": entry.machine,
        }
        for entry in CATALOG.values()
    )


def machines() -> Any:
    """Return a table of the machines that come with gpusim, with their headline figures."""
    every = map(summary, model.names())
    return frame({k: v for k, v in structs.asdict(one).items() if k != "methods"} for one in every)


def _kernel(kernel: Kernel | str | Path, parameters: Mapping[str, object]) -> tuple[Kernel, str]:
    """Return the kernel, and the file that it was loaded from, if any."""
    if not isinstance(kernel, str | Path):
        if parameters:
            raise UserError(f"{next(iter(parameters))}: the kernel is made already; give its parameters to make")
        return kernel, ""
    name = str(kernel)
    made = kernel_of(name, [f"{key}={spelled(value)}" for key, value in parameters.items()])
    return made, name if is_code(name) or is_listing(name) else ""


def load(name_or_path: str, overrides: Mapping[str, Setting] | None = None) -> Machine:
    """Return the machine of that name or file, with the values at some dotted paths replaced; raises UserError."""
    with in_words_of_python():
        return model.load(name_or_path, overrides)


def _machine(
    kernel: Kernel, machine: Machine | str | Path | None, settings: Mapping[str, Setting], *, by_name: bool
) -> tuple[Machine, Mapping[str, Setting]]:
    """Return the machine and its changed settings; those that its launch asks for too, if the kernel was named."""
    if not isinstance(machine, Machine | str | Path | None):
        raise UserError(f"machine={machine!r}: give the name of a machine, or what gpusim.load returns")
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
