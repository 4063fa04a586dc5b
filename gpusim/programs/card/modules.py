"""Modules of a program: machine code for the card, with variables that lie in device memory as long as it is loaded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpusim.machine.architecture import number
from gpusim.machine.machine import Machine
from gpusim.programs.card import arena as memory
from gpusim.programs.card.arena import Allocation, Arena
from isa.kernel import Kernel as Launched
from isa.nvidia.abi import load
from isa.nvidia.abi.launch import WINDOW
from isa.nvidia.file import code as machine_code
from isa.nvidia.file.code import Code
from isa.nvidia.file.cubin import Function
from isa.nvidia.file.held import CodeError
from isa.nvidia.file.names import plain

LINE_BYTES = 16  # a constant bank ends with a whole one (isa/nvidia/abi/load.py)
PREFERRED_CARVEOUT = (1 << 32) - 1  # -1: the driver chooses


@dataclass(eq=False)
class Module:
    """Code, its cubin, and where its variables lie: of `__device__`, and constant bank 3; None where it has none."""

    code: Code
    image: bytes
    variables: Allocation | None
    constants: Allocation | None


@dataclass(eq=False)
class Kernel:
    """A kernel of a module, by its number, and the bytes of dynamic shared memory that its launches may have."""

    module: Module
    name: str
    number: int
    most_dynamic: int
    system: tuple[str, ...] | None = None  # memory of the system that it needs; None as long as nobody has asked
    last: tuple[object, Launched] | None = None  # its last launch, and what that depends on besides its arguments

    @property
    def function(self) -> Function:
        """Its resources."""
        cubin = self.module.code.cubin
        assert cubin is not None
        return cubin.functions[self.name]

    @property
    def plain(self) -> str:
        """Its name as a user wrote it."""
        return plain(self.name)


def loaded(arena: Arena, image: bytes, name: str, machine: Machine) -> Module:
    """Return the module of a fat binary, cubin or text of PTX, with its variables as they begin.

    Raises UserError for code that is not for the machine, and for a module larger than memory.
    """
    image = machine_code.cubin_of_image(image, name, number(machine))
    code = machine_code.of_cubin(image, name)
    cubin = code.cubin
    assert cubin is not None
    constants = _allocated(
        arena, cubin.constants + bytes(-len(cubin.constants) % LINE_BYTES), load.bank_name(load.CONSTANTS)
    )
    variables = _allocated(arena, cubin.memory, load.VARIABLES, cubin.memory_alignment)
    made = Module(code, image, variables, constants)
    data = load.initial(code, *(WINDOW + (one.place if one else 0) for one in (variables, constants)))
    for one, each in zip((variables, constants), data, strict=True):
        if one is not None:
            arena.held[one.place : one.place + len(each)] = np.frombuffer(each, np.uint8)
    return made


def unload(arena: Arena, module: Module) -> None:
    """Give back what a module's variables take."""
    for one in (module.variables, module.constants):
        if one:
            memory.free(arena, WINDOW + one.place)


def address_of(module: Module, name: str) -> tuple[int, int, bool] | None:
    """Return a variable's address, its size in bytes, and whether it is constant; None if there is none."""
    cubin = module.code.cubin
    one = cubin.variables.get(name) if cubin else None
    home = None if one is None else module.constants if one.constant else module.variables
    return (WINDOW + home.place + one.offset, one.size, one.constant) if one and home else None


def with_constants(arena: Arena, module: Module) -> Code:
    """Return the code with what constant bank 3 holds now."""
    cubin, home = module.code.cubin, module.constants
    if cubin is None or home is None:
        return module.code
    return replace(module.code, cubin=replace(cubin, constants=arena.held[home.place : home.end].tobytes()))


def described(kernel: Kernel, machine: Machine) -> list[int]:
    """Return what the program's side asks of a kernel: resources, limits, and its parameters' places and sizes."""
    function, launch = kernel.function, kernel.function.launch
    cubin = kernel.module.code.cubin
    parameters = launch.parameters if launch else ()
    own = [x for one in parameters for x in (one.offset, one.size)]
    constants = len(cubin.constants) if cubin else 0
    most = _most_threads(kernel, machine)
    version = kernel.module.code.architecture
    resources = [function.registers, shared_bytes(kernel), constants, function.stack_bytes, most, version, version]
    return [*resources, kernel.most_dynamic, PREFERRED_CARVEOUT, len(parameters), launch.size if launch else 0, *own]


def shared_bytes(kernel: Kernel) -> int:
    """Return the bytes of shared memory that a kernel declares, without the system's."""
    return max(0, kernel.function.shared_bytes - load.system_bytes(kernel.module.code))


def _most_threads(kernel: Kernel, machine: Machine) -> int:
    """Return the threads of a block at most: by `__launch_bounds__`, by registers, or by the machine."""
    launch, limits = kernel.function.launch, machine.limits
    bounds = launch.most_threads if launch and launch.most_threads else limits.threads_per_block
    unit = 8 * limits.warp_size  # registers of a warp are allocated in units of 8 a thread
    each = -(-kernel.function.registers * limits.warp_size // unit) * unit
    return min(bounds, limits.threads_per_block, limits.registers // each * limits.warp_size if each else bounds)


def _allocated(arena: Arena, data: bytes, name: str, alignment: int = 0) -> Allocation | None:
    if not data:
        return None
    made = memory.allocate(arena, len(data), memory.DEVICE, alignment, name)
    if made is None:
        raise CodeError(f"{name}: variables of {len(data):,} bytes are more than memory has; take less")
    arena.held[made.place : made.end] = np.frombuffer(data, np.uint8)
    return made


def known(module: Module) -> Any:
    """Return the names of its kernels."""
    cubin = module.code.cubin
    return [name for name, one in cubin.functions.items() if one.launch] if cubin else []
