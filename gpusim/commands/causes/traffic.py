"""`gpusim traffic`: the words that a kernel moves at each level; with a machine, how long its DRAM takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from typer import Option

from gpusim.analysis.account.memory.least_dram import LeastDram, least_dram
from gpusim.commands.frame.arguments import instructions_of, kernel_of, machine_if_any
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import new_table, right
from gpusim.commands.frame.options import CodeOptions, MachineIfAny, MaxInstructions, OfKernel, Overrides
from gpusim.commands.frame.progress import begin_compiling, shown
from gpusim.engines.walks.traffic import Level, Traffic
from gpusim.engines.walks.traffic import traffic as count
from gpusim.machine.machine import Machine
from gpusim.sm.memory.global_memory.declaration import arriving_mbs
from gpusim.support.document import Arguments, Document, KernelKey, MachineKey, doc, plain
from gpusim.support.plural import plural
from isa.executing.faults import LIMIT
from isa.kernel import Kernel
from isa.program import WORD_BYTES

ALL = (
    "registers: every result is written to them and read from them; --forwarding leaves out results that only the next "
    "instruction takes, and so does `gpusim run --energy` on machines with energy.forwarding."
)
FORWARDED = "registers: a result that only the next instruction takes is neither written to them nor read from them."


@dataclass(frozen=True)
class Moved:
    """32-bit words that a launch reads and writes at a level, of one use: a buffer, results, or others."""

    level: Level
    whose: str
    read: int
    written: int


class TrafficDocument(Document, frozen=True, tag=2):
    """Words that a launch moves at each level, and its arithmetic; in what time a machine's DRAM moves them."""

    kernel: KernelKey
    parameters: Arguments
    forwarding: Annotated[bool, doc("Results that only the next instruction takes are not counted at registers.")]
    words: Annotated[list[Moved], doc("From the registers to DRAM: with a machine what its L2 leaves to the DRAM.")]
    barriers: Annotated[int, doc("How often warps are released from a barrier, over all blocks.")]
    arithmetic: Annotated[dict[str, int], doc("Floating-point thread instructions by the bits of their operands.")]
    machine: Annotated[MachineKey | None, doc("The machine whose bandwidth is taken; null if none was given.")] = None
    dram_read: Annotated[
        int | None, doc("Words that its DRAM reads at least: those that its L2 lacks; null without a machine.")
    ] = None
    dram_written: Annotated[int | None, doc("Words that go to its DRAM at least, as its L2 does not keep them.")] = None
    dram_milliseconds: Annotated[
        float | None, doc("Time in which its DRAM moves these words; null without a machine.")
    ] = None


def traffic(
    launch: OfKernel,
    code: CodeOptions,
    machine: MachineIfAny = None,
    setting: Overrides = (),
    forwarding: Annotated[
        bool, Option("--forwarding", help="The next instruction gets a result without the register file.")
    ] = False,
    max_instructions: MaxInstructions = None,
) -> Answer:
    """Count the 32-bit words that a launch reads and writes at each level, by use: a buffer, results, or others.

    It needs no machine, and assumes empty caches. With one, registers are counted as the machine forwards results, and
    at the DRAM what its L2 leaves to it at least, as in a run; the screen says in what time the DRAM moves that.

    Example: gpusim traffic sgemm-vega-vlp --machine mi60
    """
    kernel = kernel_of(launch.kernel, launch.parameter, code, machine)
    where = machine_if_any(kernel, machine, setting)
    forwarding = forwarding or bool(where and where.energy and where.energy.forwarding)
    begin_compiling("walk")
    with shown(kernel.name):
        found = count(kernel, forwarding=forwarding, limit=instructions_of(launch.kernel, max_instructions, LIMIT))
    least = least_dram(found, kernel, where) if where else None
    found = least.traffic if least else found
    moved = [_of_machine(least, where)] if where and least else []
    words = [(each.level, each.whose, f"{each.read:,}", f"{each.written:,}") for each in _rows(found)]
    table = new_table("level", "whose", *right("words read", "words written"), rows=words)
    releases = f"{kernel.name}: {plural(found.barriers, 'barrier release')}"
    screen = table, "", releases, *moved, FORWARDED if forwarding else ALL
    return Answer(_document(kernel, found, where, least, forwarding=forwarding), screen)


def _rows(found: Traffic) -> Iterator[Moved]:
    """Yield the words by level and use, from the lanes outwards."""
    for level in Level:
        for use in sorted({words.use for words in found.words if words.level is level}):
            yield Moved(level, use, found.read(level, use), found.written(level, use))


def _milliseconds(least: LeastDram, machine: Machine) -> float:
    """Return the time in which the machine's DRAM moves the words that it must."""
    return WORD_BYTES * (least.read + least.written) / (1e6 * float(arriving_mbs(machine))) * 1000


def _of_machine(least: LeastDram, machine: Machine) -> str:
    rate = float(arriving_mbs(machine)) / 1000
    words = f"{least.read:,} words read and {least.written:,} written at least"
    time, why = _milliseconds(least, machine), f": {least.why}" if least.why else ""
    return f"DRAM of {machine.key} ({machine.name}): {time:.4g} ms for {words}, at {rate:.4g} GB/s{why}"


def _document(
    kernel: Kernel, found: Traffic, machine: Machine | None, least: LeastDram | None, *, forwarding: bool
) -> TrafficDocument:
    return TrafficDocument(
        kernel=kernel.name,
        parameters=plain(kernel.arguments),
        forwarding=forwarding,
        words=list(_rows(found)),
        barriers=found.barriers,
        arithmetic={str(bits): count for bits, count in found.arithmetic.items()},
        machine=machine.key if machine else None,
        dram_read=least.read if least else None,
        dram_written=least.written if least else None,
        dram_milliseconds=_milliseconds(least, machine) if machine and least else None,
    )
