"""Occupancy: how many blocks of a kernel one SM holds at once, and what stands in the way of one more.

The rules are those of `cuda_occupancy.h`, CUDA 6.5 and 13.0: registers are allocated per warp, in a file of each
scheduler (per block on compute capability 1.x), and shared memory per block, each rounded up to the machine's unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from gpusim.machine.architecture import check_architecture
from gpusim.machine.machine import Machine, every
from gpusim.sm.registers.scalar_registers import ScalarFile
from gpusim.support.document import doc
from isa.errors import UserError
from isa.kernel import Kernel
from isa.operands.operand import VCC
from isa.program import Program


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Resident blocks and warps of one SM, the scarcest resource, and what one block more would take."""

    blocks: int
    warps: int
    limiter: Annotated[str, doc("registers, scalar registers, shared memory, warps, threads or blocks.")]
    next_step: str


def occupancy(kernel: Kernel, machine: Machine) -> Occupancy:
    """Occupancy of a kernel on a machine, for a grid large enough to fill it.

    Raises UserError if not even one block fits, naming what it needs and what the machine has.
    """
    _check_limits(kernel, machine)
    fit = blocks_by_resource(kernel, machine)
    limiter = min(fit, key=lambda resource: fit[resource])
    blocks = fit[limiter]
    if blocks == 0:
        raise UserError(f"{kernel.name}: {_too_large(kernel, machine, limiter)}")
    return Occupancy(blocks, blocks * kernel.warps, limiter, _next_step(kernel, machine, blocks))


class TooLargeError(UserError):
    """A cooperative launch has more blocks than are resident at once: CUDA's error 720."""


def resident(kernel: Kernel, machine: Machine) -> int:
    """Return the blocks that the machine holds at once; raises UserError if an SM holds none."""
    size = kernel.cluster_blocks
    return occupancy(kernel, machine).blocks * (machine.chip.sms // size * size)


def check_cooperative(kernel: Kernel, machine: Machine) -> None:
    """Raise TooLargeError for a cooperative launch whose blocks don't all fit at once, and UserError if none does."""
    each, many = occupancy(kernel, machine).blocks, resident(kernel, machine)
    if kernel.cooperative and kernel.blocks > many:
        raise TooLargeError(
            f"{kernel.name}: cooperative launch too large (error 720): {kernel.blocks} blocks, and {many} are resident "
            f"at once on {machine.key}, {each} on an SM; launch at most {many}"
        )


def is_one_wave(kernel: Kernel, machine: Machine, resident: int) -> bool:
    """Tell whether all blocks of the grid are resident at once, so many on each SM."""
    return kernel.blocks <= machine.chip.sms * resident


def blocks_by_resource(kernel: Kernel, machine: Machine) -> dict[str, int]:
    """Blocks of the kernel that each resource it uses could hold by itself."""
    limits = machine.limits
    registers = limits.registers, registers_per_block(kernel, machine)
    if kernel.program.registers and not _together(machine):
        registers = _warps_by_registers(kernel, machine), kernel.warps
    for_each = {
        "registers": registers,
        "shared memory": (limits.shared_bytes, shared_per_block(kernel, machine)),
        "warps": (limits.warps, kernel.warps),
        "threads": (limits.threads, kernel.threads),
        "blocks": (limits.blocks, 1),
    }
    if machine.scalar_file and kernel.program.scalars:
        for_each["scalar registers"] = _warps_by_scalars(kernel, machine.scalar_file, machine), kernel.warps
    return {resource: have // need for resource, (have, need) in for_each.items() if need}


def registers_per_block(kernel: Kernel, machine: Machine) -> int:
    """32-bit registers that a resident block holds, allocation granularity included."""
    if not _together(machine):
        return _registers_per_warp(kernel.program.allocated_registers, machine) * kernel.warps
    warps = _round_up(kernel.warps, machine.limits.warp_unit)
    return _round_up(kernel.program.allocated_registers * kernel.warp_size * warps, machine.limits.register_unit)


def _registers_per_warp(registers: int, machine: Machine) -> int:
    """32-bit registers that a warp holds whose threads have so many, allocation granularity included."""
    limits = machine.limits
    twice = str(registers) in limits.register_unit_doubled.split()
    return _round_up(registers * limits.warp_size, limits.register_unit << twice)


def _warps_by_registers(kernel: Kernel, machine: Machine) -> int:
    """Warps that the registers of the SM hold: equally many in each of the files, whichever blocks they are of.

    None if those of a block, counted for as many warps in each file, are more than a block may have.
    """
    limits, of_warp = machine.limits, _registers_per_warp(kernel.program.allocated_registers, machine)
    if of_warp > _of_block(machine) // _warps_of_block(kernel.warps, machine):
        return 0
    return limits.registers // of_warp // limits.warp_unit * limits.warp_unit


def _of_block(machine: Machine) -> int:
    """32-bit registers that a block may have."""
    return machine.limits.registers_per_block or machine.limits.registers


def _warps_of_block(warps: int, machine: Machine) -> int:
    """Warps of a block as the check of its registers counts them."""
    return _round_up(warps, machine.limits.block_warp_unit or machine.limits.warp_unit)


def _warps_by_scalars(kernel: Kernel, file: ScalarFile, machine: Machine) -> int:
    """Warps that the scalar registers of all schedulers hold, each scheduler's those of its own warps."""
    return machine.schedulers.count * (file.registers // _round_up(scalars_of_warp(kernel.program), file.unit))


def scalars_of_warp(program: Program) -> int:
    """Scalar registers that a warp needs: the highest named, plus one, and two for VCC where it is written."""
    return program.scalars + 2 * any(VCC in dict(i.row.implied).values() for i in program.instructions)


def _scalars_for(kernel: Kernel, machine: Machine, warps: int) -> int:
    """Most scalar registers of a warp with which so many warps fit."""
    file = machine.scalar_file
    if file is None:
        return kernel.program.scalars
    of_scheduler = _round_up(warps, machine.schedulers.count) // machine.schedulers.count
    return file.registers // of_scheduler // file.unit * file.unit


def shared_per_block(kernel: Kernel, machine: Machine) -> int:
    """Bytes of shared memory that a resident block holds, allocation granularity included."""
    program, limits = kernel.program, machine.limits
    reserved = max(program.reserved_bytes, limits.shared_reserved)
    return _round_up(program.own_shared_bytes + reserved, limits.shared_unit)


def _round_up(amount: int, unit: int) -> int:
    return -(-amount // unit) * unit


def _registers_for(kernel: Kernel, machine: Machine, blocks: int, warps: int) -> int:
    """Most registers per thread with which so many blocks of so many warps fit."""
    limits = machine.limits
    if _together(machine):
        of_block = limits.registers // blocks // limits.register_unit * limits.register_unit
        most = of_block // _round_up(warps, limits.warp_unit) // kernel.warp_size
    else:
        of_warp = limits.registers // _round_up(blocks * warps, limits.warp_unit)
        of_warp = min(of_warp, _of_block(machine) // _warps_of_block(warps, machine))
        most = of_warp // limits.register_unit * limits.register_unit // kernel.warp_size
        while _registers_per_warp(most, machine) > of_warp:
            most -= 1
    return min(most, limits.registers_per_thread)


def _together(machine: Machine) -> bool:
    """Whether a block's registers are allocated together, not warp by warp."""
    return machine.limits.register_scope == "block"


def _shared_for(kernel: Kernel, machine: Machine, blocks: int) -> int:
    """Most bytes of shared memory of its own with which so many blocks fit; none: 0."""
    limits = machine.limits
    reserved = max(kernel.program.reserved_bytes, limits.shared_reserved)
    most = limits.shared_bytes // blocks // limits.shared_unit * limits.shared_unit - reserved
    return max(0, min(most, limits.shared_per_block))


def _check_limits(kernel: Kernel, machine: Machine) -> None:
    """Refuse what no SM of this machine can run, whatever else it holds."""
    check_architecture(kernel, machine)
    limits = machine.limits
    if kernel.warp_size != limits.warp_size:
        raise UserError(
            f"{kernel.name}: is written for warps of {kernel.warp_size} lanes; {machine.key} has {limits.warp_size}; "
            f"{_other_warps(kernel, limits.warp_size)}"
        )
    for need, have, what, fix in (
        (kernel.program.registers, limits.registers_per_thread, "registers per thread", "spill or reuse some"),
        (kernel.threads, limits.threads_per_block, "threads per block", "launch smaller blocks"),
        (kernel.block[2], limits.block_z, "threads of a block in z", "turn the block, with more in x"),
        (kernel.program.own_shared_bytes, limits.shared_per_block, "bytes of shared memory", "take smaller tiles"),
    ):
        if need > have:
            advice = f"{fix}, or take a machine with more"
            raise UserError(f"{kernel.name}: needs {need} {what}; {machine.key} has {have}; {advice}")


def _other_warps(kernel: Kernel, lanes: int) -> str:
    """What the user can do about warps of another size, for which a kernel may have a parameter."""
    take = f"take one of {', '.join(other.key for other in every() if other.limits.warp_size == kernel.warp_size)}"
    return f"give -p lanes={lanes}, or {take}" if "lanes" in kernel.arguments else take


def _too_large(kernel: Kernel, machine: Machine, limiter: str) -> str:
    limits = machine.limits
    if limiter == "registers":
        need, fit = registers_per_block(kernel, machine), _registers_for(kernel, machine, 1, kernel.warps)
        advice = f"take at most {fit} per thread, or smaller blocks" if fit else "take smaller blocks"
        return f"needs {need} registers per block; {machine.key} has {_of_block(machine)}; {advice}"
    if limiter == "scalar registers":
        need, fit = scalars_of_warp(kernel.program), _scalars_for(kernel, machine, kernel.warps)
        return f"needs {need} scalar registers per warp; on {machine.key} {fit} leave room for a block; take no more"
    if limiter == "shared memory":
        need, fit = shared_per_block(kernel, machine), _shared_for(kernel, machine, 1)
        return f"needs {need} bytes of shared memory; {machine.key} has {limits.shared_bytes}; take at most {fit}"
    need, have = (kernel.warps, limits.warps) if limiter == "warps" else (kernel.threads, limits.threads)
    return f"needs {need} {limiter} per block; {machine.key} holds {have}; launch smaller blocks"


def _next_step(kernel: Kernel, machine: Machine, resident: int) -> str:
    """Say what must shrink, and to how much, for more warps to be resident in more blocks; each resource by itself."""
    limits, now = machine.limits, resident * kernel.warps
    more = range(resident + 1, limits.blocks + 1)
    blocks = next((count for count in more if count * _warps_for(kernel, machine, count) > now), 0)
    if not blocks:
        return _full(machine, resident, now)
    warps = _warps_for(kernel, machine, blocks)
    registers, shared = _registers_for(kernel, machine, blocks, warps), _shared_for(kernel, machine, blocks)
    wanted = (
        (kernel.program.allocated_registers, registers, "registers per thread"),
        (scalars_of_warp(kernel.program), _scalars_for(kernel, machine, blocks * warps), "scalar registers per warp"),
        (kernel.program.own_shared_bytes, shared, "bytes of shared memory"),
        (kernel.warps, limits.warps // blocks, "warps per block"),
        (kernel.threads, limits.threads // blocks // kernel.warp_size * kernel.warp_size, "threads per block"),
    )
    steps = [f"{most:,} {what} or fewer (now {now:,})" for now, most, what in wanted if now > most]
    return f"{blocks} blocks take {' and '.join(steps)}"


def _warps_for(kernel: Kernel, machine: Machine, blocks: int) -> int:
    """Warps that each of so many blocks may have, those of the kernel at most."""
    limits = machine.limits
    return min(kernel.warps, limits.warps // blocks, limits.threads // blocks // kernel.warp_size)


def _full(machine: Machine, blocks: int, warps: int) -> str:
    """Say why no size of block would hold more warps than these."""
    limits = machine.limits
    if warps == limits.warps:
        return f"{machine.key} holds no more than {warps} warps"
    if (warps + 1) * limits.warp_size > limits.threads:
        return f"{machine.key} holds no more than {limits.threads:,} threads"
    held = f"{machine.key} holds no more than {limits.blocks} blocks"
    return held if blocks == limits.blocks else "no smaller block holds more warps"
