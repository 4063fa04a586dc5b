"""Write what blocks of a launch execute as a trace of Accel-Sim, version 4 of its format (.traceg).

A line is a warp instruction: its address, the active lanes, the register written, the opcode, registers read, and of an
access to memory bytes, and the address of each active lane. As in traces recorded on a GPU, the first register stands
for all words of a wide operand, and predicates and uniform registers are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.program_order import Walker, bits, walker
from gpusim.engines.walks.waits import one_block
from gpusim.sm.walk import access_log
from gpusim.sm.walk.access_log import ACTIVE, FIRST, WARP
from gpusim.support import whole_file
from isa.errors import UserError
from isa.instruction import Instruction
from isa.kernel import WARP_SIZE, Kernel
from isa.operands.operand import RZ_INDEX, Address, Register
from isa.program import CODE_BYTES
from isa.row import Unit

LIST = "kernelslist.g"  # the file that names the traces
ISA = 86  # of Ampere, the newest that Accel-Sim of October 2024 reads
MOST_READ = 4  # registers of an instruction that its reader has room for
WRITTEN = "dDo"  # letters of operands (isa.instruction)
FULL = (1 << WARP_SIZE) - 1
EXIT = "EXIT"
SPACES = {Unit.SHARED: 0, Unit.GLOBAL: 1 << 32}  # where each memory begins
HEAD = """-kernel name = {name}
-kernel id = 1
-grid dim = ({blocks},1,1)
-block dim = ({threads},1,1)
-shmem = {shared}
-nregs = {registers}
-binary version = {isa}
-cuda stream id = 0
-shmem base_addr = 0x00007f0000000000
-local mem base_addr = 0x00007f1000000000
-nvbit version = none
-accelsim tracer version = 4

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]
"""


class Turn(NamedTuple):
    """Warps that execute an instruction together: its pc, the active lanes of each warp, and rows of its accesses."""

    pc: int
    masks: Mapping[int, int]
    rows: NDArray[np.uint32]


def write(kernel: Kernel, blocks: Sequence[int], folder: Path) -> int:
    """Write the trace of some blocks, and the list that names it, into a folder; return the warp instructions.

    Raises UserError for a kernel of atomics, matrices or generic addresses, of which a trace would say something else.
    """
    one, lines = walker(kernel, addresses=True, again=False), [_line(pc, i) for pc, i in enumerate(_checked(kernel))]
    head = HEAD.format(
        name=kernel.name,
        blocks=len(blocks),
        threads=kernel.warps * WARP_SIZE,
        shared=kernel.program.shared_bytes,
        registers=kernel.program.allocated_registers,
        isa=ISA,
    )
    done = 0
    with whole_file.unfinished(folder / "kernel-1.traceg") as part, part.open("w", encoding="ascii") as file:
        file.write(head)
        for place, block in enumerate(blocks):
            warps: list[list[str]] = [[] for _ in range(kernel.warps)]
            for turn in turns(one, block):
                _add(warps, turn, *lines[turn.pc])
            file.write(_block(place, warps))
            done += sum(map(len, warps))
    (folder / LIST).write_text("kernel-1.traceg\n", encoding="ascii")
    return done


def turns(one: Walker, block: int) -> Iterator[Turn]:
    """Yield what the warps of a block do, an instruction each, in program order.

    A guard that holds in some lanes counts as true in all that run, but for accesses to memory and exits.
    """
    held, code, warps = one.launch, one.launch.program, one.launch.sm.warps[: one.kernel.warps]
    log = access_log.room(WARP_SIZE)
    one_block.begin(held.sms, held.memory, one.away[0], block)
    log.members[:] = log.phases[:] = 0
    coming = np.arange(one.kernel.warps)
    while True:
        places, running, before = warps["pc"].copy(), warps["lanes"][:, 0].copy(), code["active"].copy()
        done = one_block.run(held.sms, held.memory, one.away[0], one.group, log, 1)
        if not done:
            return
        pc = int(places[coming[0]])
        if code["active"][pc] == before[pc]:
            running[:] = 0
        elif one.kernel.program.instructions[pc].row.mnemonic == EXIT:
            running &= ~np.where(warps["live"] == 0, 0, warps["lanes"][:, 0])
        yield Turn(pc, {w: int(running[w]) & FULL for w in coming[:done].tolist()}, log.rows[: log.size[0]].copy())
        log.size[0], coming = 0, one.group.copy()


def _checked(kernel: Kernel) -> Sequence[Instruction]:
    """Return the instructions; raises UserError for those whose accesses a trace would not tell as they are."""
    for pc, each in enumerate(kernel.program.instructions):
        row = each.row
        odd = (
            row.generic or row.update is not None or row.bulk or row.matrices or row.unit in (Unit.LOCAL, Unit.TEXTURE)
        )
        if odd:
            raise UserError(f"{kernel.name}: no trace is written of {row.mnemonic} (instruction {pc})")
    return kernel.program.instructions


def _line(pc: int, one: Instruction) -> tuple[str, str, int | None]:
    """Return what a line has before and behind the mask, and where its memory begins (None: it accesses none)."""
    written = [f"R{r}" for r in one.writes()[:1] if r < RZ_INDEX]
    read = [f"R{r}" for r in _read(one)[:MOST_READ]]
    words = [str(len(written)), *written, one.row.mnemonic, str(len(read)), *read]
    return f"{pc * CODE_BYTES:04x}", " ".join(words), SPACES.get(one.row.unit)


def _read(one: Instruction) -> list[int]:
    """Return the first register of each operand that is read."""
    found = []
    for letter, operand in one.slots():
        register = operand.base if isinstance(operand, Address) else operand
        if letter not in WRITTEN and isinstance(register, Register) and register.index < RZ_INDEX:
            found.append(register.index)
    return found


def _add(warps: list[list[str]], turn: Turn, place: str, rest: str, start: int | None) -> None:
    """Add a line for each warp of a turn."""
    if start is None:
        for warp, mask in turn.masks.items():
            warps[warp].append(f"{place} {mask:08x} {rest} 0 \n")
        return
    for row in turn.rows:
        lanes = bits(row[None, ACTIVE:FIRST])[0, :WARP_SIZE]
        places = " ".join(f"0x{start + at:x}" for at in row[FIRST:][lanes].tolist())
        warps[int(row[WARP])].append(f"{place} {int(row[ACTIVE]):08x} {rest} 4 0 {places} \n")


def _block(place: int, warps: Sequence[Sequence[str]]) -> str:
    """Return the text of a block."""
    each = (f"warp = {w}\ninsts = {len(lines)}\n{''.join(lines)}\n" for w, lines in enumerate(warps))
    return f"#BEGIN_TB\n\nthread block = {place},0,0\n\n{''.join(each)}#END_TB\n\n"
