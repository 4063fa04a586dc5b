"""The launch of a timed kernel, as it was when its cycles were measured."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from isa.kernel import WARP_SIZE, Buffer, Kernel
from isa.nvidia.abi import load
from isa.nvidia.abi.launch import LaunchState, Value, pointer
from isa.nvidia.file.code import Code
from workloads.measured.whole import clocks, others, products, tables
from workloads.measured.whole.tables import Compiled, Timed
from workloads.measured.whole.task import Task


def kernel(name: str, configuration: str = "solo", k: int | None = None) -> Kernel:
    """Return a timed kernel with its launch; `k` chooses among several inner sizes of a matrix product.

    Raises UserError for a launch that was not timed, and without the tools of the extra `cubin`.
    """
    return launched(tables.launch(name, configuration, k))


def launched(launch: Timed) -> Kernel:
    """Return the kernel of a timed launch; raises UserError without the tools of the extra `cubin`."""
    compiled = tables.compiled()[launch.kernel]
    work = products.task(launch) if launch.kernel in products.PRODUCTS else others.task(launch)
    warps = compiled.threads // WARP_SIZE
    found = load.kernel(_code(work), _state(compiled, launch, work, clocks.buffer(launch, warps)))
    sizes = {"configuration": launch.configuration} | ({"k": launch.k} if launch.k else {})
    return replace(
        found,
        name=launch.kernel,
        expected=work.expected,
        outcome=clocks.outcome(launch, warps),
        flops=work.flops,
        arguments=MappingProxyType(sizes),
    )


def _code(work: Task) -> Code:
    """Return the machine code with the task's constants in bank 3."""
    found = tables.machine_code()
    assert found.cubin is not None
    return replace(found, cubin=replace(found.cubin, constants=work.constants)) if work.constants else found


def _state(compiled: Compiled, launch: Timed, work: Task, of_clocks: Buffer) -> LaunchState:
    buffers = (*work.buffers, of_clocks)
    values = [a if isinstance(a, Value) else pointer(buffers, a) for a in (*work.arguments, clocks.NAME)]
    return LaunchState(
        kernel=compiled.symbol,
        grid=(launch.grid_x, launch.grid_y, 1),
        block=(compiled.threads, 1, 1),
        arguments=load.arguments(tables.machine_code(), compiled.symbol, values),
        buffers=buffers,
    )
