"""What a call of `gpusim.simulate` asks for: SMs, a sample, a policy."""

from __future__ import annotations

import msgspec

from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import Sms, count
from isa.errors import UserError
from isa.kernel import Kernel
from isa.nvidia.abi.on_chip import synchronises

Sample = int | str | None
MEETING, WAITING = "the grid is synchronised", "blocks wait for blocks of other SMs"  # why all SMs are simulated


def several_of(kernel: Kernel, machine: Machine, sms: Sms, sample: Sample, threads: int | None) -> int:
    """Return how many SMs are simulated together; 0: one that stands for all. Raises UserError for what can't be.

    One SM of a launch with clusters brings those of its cluster, one of a launch whose grid is synchronised all.
    """
    meets = bool(why_all(kernel, sms))
    many = count(machine, "all" if meets else sms, kernel)
    if threads is not None and (sms == 1 or threads < 1):
        reason = "one SM runs on one thread; take several, or leave it out" if sms == 1 else "give at least 1"
        raise UserError(f"threads={threads}: {reason}")
    if sms != 1 and sample not in (None, "all"):
        raise UserError(f"sample={sample}: of several SMs every block is simulated; leave it out, or take one SM")
    if meets and sample not in (None, "all"):
        raise UserError(
            f"sample={sample}: of launches that synchronise the grid every block is simulated; leave it out"
        )
    if sms == 1 and kernel.cluster_blocks > 1 and sample not in (None, "all"):
        raise UserError(f"sample={sample}: of launches with clusters every block is simulated; leave it out")
    return 0 if many == 1 else many


def why_all(kernel: Kernel, sms: Sms) -> str:
    """Return why all SMs are simulated where one is asked for; empty if they are not from the start."""
    return MEETING if sms == 1 and synchronises(kernel) else ""


def valid(sample: Sample) -> Sample:
    """Return the sample; raises UserError for what is none."""
    if sample is None or sample == "all" or (isinstance(sample, int) and sample >= 1):
        return sample
    raise UserError(f"sample={sample}: give a number of blocks, or all")


def with_policy(machine: Machine, policy: str | None) -> Machine:
    """Return the machine with another scheduling policy, if one is asked for."""
    if policy is None:
        return machine
    return msgspec.structs.replace(machine, schedulers=msgspec.structs.replace(machine.schedulers, policy=policy))
