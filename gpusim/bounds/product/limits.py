"""The cycles that a step of a tiling takes of each resource of an SM, and whether an SM holds the tiling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from gpusim.bounds.product import tiling as of
from gpusim.bounds.product.tiling import Tiling
from gpusim.machine.architecture import number
from gpusim.machine.machine import Machine
from gpusim.machine.tensor_rates import products_per_cycle
from gpusim.sm.memory.cache.declaration import SHARE_PARTS
from gpusim.sm.memory.global_memory.declaration import arriving_mbs
from gpusim.sm.memory.l2_channel.declaration import most_loaded
from isa.memory import SECTOR_BYTES

TENSOR, SLOTS, SHARED, COPIES, L2, DRAM = (
    "tensor pipe", "issue slots", "shared memory", "copies under way", "L2", "DRAM",
)  # fmt: skip
INDEX_REGISTERS = 14  # R_index of equation 7: the 7 of section 4.1, whose addresses had one word and have two now
COPYING = 80  # the first architecture whose copies go past the registers (CUDA C++ Programming Guide 13.0, LDGSTS)
SHORT = 75  # the last whose instructions take half a step of halves: m16n8k8 (PTX ISA)


@dataclass(frozen=True)
class Held:
    """What an SM holds of a tiling: registers of a thread, bytes of shared memory of a block, blocks."""

    registers: int
    shared_bytes: int
    blocks: int


def held(tiling: Tiling, machine: Machine) -> Held:
    """Return what an SM holds of a tiling; no block where it does not fit (equations 2, 3, 6 and 7).

    Next to the sums a thread has the fragments of this step and of the next, as the report's prefetches two lines.
    """
    limits, kept = machine.limits, of.sums(tiling) + 2 * of.fragments(tiling) + INDEX_REGISTERS
    registers = kept if _copies(machine) else kept + of.prefetched(tiling)
    shared = of.stage_bytes(tiling) * tiling.stages
    if registers > limits.registers_per_thread or shared > limits.shared_per_block or not ahead(tiling, machine):
        return Held(registers, shared, 0)
    fit = (
        limits.registers // (registers * tiling.threads),
        limits.shared_bytes // (shared + limits.shared_reserved),
        limits.threads // tiling.threads,
    )
    return Held(registers, shared, min(fit) if tiling.threads <= limits.threads_per_block else 0)


def limits(tiling: Tiling, machine: Machine, kind: str) -> Mapping[str, Fraction]:
    """Return the cycles of a step by resource, of one block; the SM's blocks take their steps in turn.

    Equations 10 to 12 with the rates of a machine: no schedule of this tiling takes less than the largest.
    """
    schedulers, blocks = machine.schedulers, max(1, held(tiling, machine).blocks)
    slots = Fraction(schedulers.count * schedulers.dispatch_ports, schedulers.interval)
    multiplies = 2 if number(machine) <= SHORT else 1
    wave = Fraction(of.wave_bytes(tiling, blocks * machine.chip.sms))
    return {
        TENSOR: tiling.products / products_per_cycle(machine, kind, group=tiling.group),
        SLOTS: of.instructions(tiling, multiplies) / slots,
        SHARED: _shared_cycles(tiling, machine),
        COPIES: Fraction(_latency(machine), ahead(tiling, machine) * tiling.steps * blocks),
        L2: of.moved_bytes(tiling) / l2_bytes(machine, copies=tiling.group),
        DRAM: wave / dram_bytes(machine) / blocks,
    }


def ahead(tiling: Tiling, machine: Machine) -> int:
    """Return the stages under way while one is multiplied: one, in registers, where no copy goes past them."""
    return tiling.stages - 1 if _copies(machine) else 1


def shared_bytes(machine: Machine) -> Fraction:
    """Return the bytes per cycle between an SM and its shared memory."""
    shared = machine.shared_memory
    return Fraction(shared.banks * shared.bank_bytes * shared.passes_per_cycle, shared.pass_cycles)


def l2_bytes(machine: Machine, *, copies: bool = False) -> Fraction:
    """Return the bytes per cycle that an SM, or its copy engine, gets from the L2 while all do, at most."""
    channel, cache, engine = machine.l2_channel, machine.cache, machine.copy_engine
    if copies and engine:
        own = Fraction(SECTOR_BYTES * SHARE_PARTS, engine.load_parts)
    else:
        own = Fraction(SECTOR_BYTES * SHARE_PARTS, cache.l2_sector_parts) if cache else dram_bytes(machine)
    return min(own, Fraction(most_loaded(channel), machine.chip.sms)) if channel else own


def dram_bytes(machine: Machine) -> Fraction:
    """Return the bytes per cycle that the DRAM gives the whole chip."""
    return arriving_mbs(machine) / machine.chip.shader_mhz


def _shared_cycles(tiling: Tiling, machine: Machine) -> Fraction:
    """Return the cycles of reads and writes: one after the other where warps load.

    Whether wgmma's reads and a copy engine's writes hinder each other is not measured; they are taken not to.
    """
    read, written = of.read_bytes(tiling), of.written_bytes(tiling)
    return (max(read, written) if tiling.group else read + written) / shared_bytes(machine)


def _latency(machine: Machine) -> int:
    """Return the cycles from a load of 16 bytes for each lane to its data, from the L2 where there is one."""
    return machine.cache.l2_latency_128 if machine.cache else machine.global_memory.latency


def _copies(machine: Machine) -> bool:
    return number(machine) >= COPYING
