"""A timed loop like the measured ones: a body, two counting instructions, a branch; registers and launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from isa.instruction import Instruction
from isa.kernel import WARP_SIZE, Buffer, Kernel
from isa.nvidia.control import BARRIERS, Control
from isa.operands.operand import RZ, Predicate, Register
from isa.program import Program
from workloads.builder import Builder, at, instruction
from workloads.measured.codes import VARIABLE

COUNTER, LANE, PLACE, SCRATCH = (Register(i) for i in range(4))
DONE = Predicate(6)
CHOSEN = Predicate(5)
DATA = "data"
CAREFUL = Control(15, waits=1)  # before the loop: wait for everything
LAST = Control(15, waits=(1 << BARRIERS) - 1)
WARPS_PER_BLOCK = 32

COUNT = instruction("UIADD3", COUNTER, COUNTER, 1, RZ)
MARK = replace(instruction("NOP"), control=Control(1))
BRANCH = instruction("BRA", "loop", guard=replace(DONE, negated=True))


@dataclass(frozen=True)
class Stream:
    """The body of a timed loop, with its branch, and the layout of its accesses.

    `marked`: there is a NOP before the loop and one after it, where the clock was read. `offsets` are the byte offsets
    of the lanes' addresses, `warp_bytes` is the distance between warps, both in shared memory of `shared_bytes` or, if
    `data_bytes` is not 0, in a buffer of global memory.
    """

    body: tuple[Instruction, ...]
    offsets: tuple[int, ...] = ()
    warp_bytes: int = 0
    shared_bytes: int = 0
    data_bytes: int = 0
    marked: bool = False

    @cached_property
    def program(self) -> Program:
        """Return the whole program: addresses and counter before the loop, nothing after it."""
        b = Builder(shared_bytes=self.shared_bytes)
        _set_up(b, self)
        b.instructions = [_carefully(i) for i in b.instructions]
        b.extend([MARK] * self.marked)
        b.label("loop")
        b.extend(self.body)
        b.extend([MARK] * self.marked)
        b.extend([replace(instruction("EXIT"), control=LAST)])
        return b.build()


def test(iterations: int) -> Instruction:
    """Return the comparison that ends the loop."""
    return instruction("ISETP.GE", DONE, COUNTER, iterations)


def looped(steps: Sequence[Instruction], iterations: int, count: int = 1, end: int = 3) -> list[Instruction]:
    """Return the steps with the counting instruction at place `count`, the comparison at `end`, and the branch."""
    body = list(steps)
    body.insert(min(count, len(body)), COUNT)
    body.insert(min(end, len(body)), test(iterations))
    return [*body, BRANCH]


def kernel(name: str, stream: Stream, warps: int) -> Kernel:
    """Return the kernel that runs the stream in so many warps of one SM: one block, or two above 32 warps."""
    blocks = 1 if warps <= WARPS_PER_BLOCK else 2
    buffers = (Buffer(DATA, "u4", stream.data_bytes // 4),) if stream.data_bytes else ()
    block = (-(-warps // blocks) * WARP_SIZE, 1, 1)
    return Kernel(name=name, program=stream.program, grid=(blocks, 1, 1), block=block, buffers=buffers)


def _set_up(b: Builder, stream: Stream) -> None:
    """Zero the counter and compute the lane's address."""
    b.emit("MOV", COUNTER, 0)
    if not stream.offsets:
        return
    b.emit("S2R", LANE, "LANEID")
    _place(b, stream.offsets)
    if stream.warp_bytes:
        b.emit("S2R", SCRATCH, "TID.X")
        b.emit("SHF.R", SCRATCH, SCRATCH, 5, RZ)
        b.emit("IMAD", PLACE, SCRATCH, stream.warp_bytes, PLACE)
    if stream.data_bytes:
        b.emit("IADD3", PLACE, PLACE, DATA, RZ)


def _place(b: Builder, offsets: Sequence[int]) -> None:
    """Set the address: a multiple of the lane number if the offsets are, else lane by lane."""
    step = offsets[1] - offsets[0]
    b.emit("MOV", PLACE, offsets[0])
    if all(offset == offsets[0] + lane * step for lane, offset in enumerate(offsets)):
        b.emit("IMAD", PLACE, LANE, step, PLACE)
        return
    for lane, offset in enumerate(offsets[1:], 1):
        b.emit("ISETP.EQ", CHOSEN, LANE, lane)
        b.emit("MOV", PLACE, offset, guard=CHOSEN)


def _carefully(prepared: Instruction) -> Instruction:
    """Return the instruction with a control code that waits for everything before it."""
    slow = prepared.row.unit in VARIABLE
    return replace(prepared, control=replace(CAREFUL, write_barrier=0 if slow else None))


def load(mnemonic: str, destination: Register) -> Instruction:
    """Return a load from the lane's address."""
    return instruction(mnemonic, destination, at(PLACE))
