"""What to do about each stall reason, in one line: for the diagnosis of a run and the page of stall reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gpusim.sm.unit.stall import Stall
from isa.kernel import Kernel


class Advice(NamedTuple):
    """What issue slots are lost to where a reason prevails, and what shortens it."""

    cause: str
    remedy: str


INDEPENDENT = "give each warp more independent instructions"
ALL_SMS = "simulate all SMs (--sms all): one alone has its share of the DRAM, and more where others have no block"
MORE_WARPS = "keep more warps resident, or give each more independent instructions"
ADVICE: Mapping[Stall, Advice] = {
    Stall.LAUNCH_DELAY: Advice("starts of blocks and warps", "let each block do more"),
    Stall.BARRIER: Advice(
        "waits at barriers",
        "let warps arrive together: equal work before the barrier, fewer barriers, more and smaller blocks per SM",
    ),
    Stall.BRANCH_RESOLVING: Advice("branches that resolve", "unroll the loop, or use predicates"),
    Stall.NO_INSTRUCTION: Advice("fetches of instructions", "make the code of the loop shorter, or run longer in it"),
    Stall.IMC_MISS: Advice(
        "constants that are not in the cache", "read them once into registers, or load them earlier"
    ),
    Stall.ISSUE_INTERVAL: Advice("the pause of a warp after each issue", "keep more warps resident"),
    Stall.WAIT: Advice("results of arithmetic", MORE_WARPS),
    Stall.SHORT_SCOREBOARD: Advice(
        "loads from shared memory", f"load earlier than the values are needed, and wider; {MORE_WARPS}"
    ),
    Stall.LONG_SCOREBOARD: Advice(
        "loads from global memory", f"load earlier than the values are needed (prefetch); {MORE_WARPS}"
    ),
    Stall.WAR_HAZARD: Advice(
        "registers that a store or load has not read yet", "let the next instructions write other registers"
    ),
    Stall.DRAIN: Advice(
        "stores at the end of blocks", "run more blocks per SM, so that others work meanwhile, or store earlier"
    ),
    Stall.MIO_THROTTLE: Advice(
        "the full load/store queue", "use fewer and wider accesses, without conflicts, spread among arithmetic"
    ),
    Stall.LG_THROTTLE: Advice(
        "the full queue of global and local accesses",
        "use fewer and wider accesses to global memory (float4), side by side, and no local memory;"
        " spread them among arithmetic",
    ),
    Stall.INSTRUCTION_REPLAY: Advice(
        "accesses that issue again", "let the lanes of a warp access neighbouring words of different banks"
    ),
    Stall.DISPATCH_STALL: Advice(
        "operands that are late", "let the operands of an instruction lie in different register banks"
    ),
    Stall.MATH_PIPE_THROTTLE: Advice("a busy arithmetic pipe", "use fewer of its instructions, or mix in others"),
    Stall.TEX_THROTTLE: Advice("the busy texture pipe", "fetch fewer textures, or load from global memory"),
    Stall.DP_ISSUE_CONFLICT: Advice("issues of double precision", "compute in single precision what may be"),
    Stall.NOT_SELECTED: Advice("other warps that are chosen", "nothing: the slots are used"),
    Stall.SELECTED: Advice("issues", "nothing: the slots are used"),
    Stall.WARP_EXITED: Advice("warps that have exited before their block", "give the warps of a block equal work"),
    Stall.NO_WARP: Advice("warp slots without a block", "start more or smaller blocks"),
}
# Remedies where an SM has all warps that it may have.
FULL: Mapping[str, str] = {
    ADVICE[Stall.DRAIN].remedy: "store earlier, or fewer sectors: neighbouring lanes to neighbouring words",
    ADVICE[Stall.ISSUE_INTERVAL].remedy: INDEPENDENT,
}
# What an author of the source can do where a compiler chooses instructions and registers.
IN_SOURCE: Mapping[Stall, Advice] = {
    Stall.WAR_HAZARD: Advice("accesses that wait with their registers", ADVICE[Stall.MIO_THROTTLE].remedy),
    Stall.BRANCH_RESOLVING: Advice("branches that resolve", "unroll the loop, or choose values without branches (?:)"),
    Stall.IMC_MISS: Advice(
        "parameters and constants that are not in the cache",
        "let each block do more, so that first reads count less, and read tables of constants from shared memory",
    ),
    Stall.DISPATCH_STALL: Advice(
        "operands that come late from the register file",
        "the compiler chooses registers: compute more with each value that is loaded, or unroll otherwise",
    ),
}


def advice_on(kernel: Kernel, reason: Stall) -> Advice:
    """Return the advice on a reason, in the terms of the source of machine code, or of a listing's instructions."""
    return IN_SOURCE.get(reason, ADVICE[reason]) if kernel.target else ADVICE[reason]
