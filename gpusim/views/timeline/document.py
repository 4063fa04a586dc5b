"""The timeline document: what each warp instruction did, when, and what it waited for. Every view is derived from it.

Its JSON Schema is published (`gpusim schema timeline`); `version` grows when a field changes its meaning or is removed.
Cycles are shader cycles since the launch. Instructions are named by their `id`, which counts up in order of issue.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

import msgspec

from gpusim.support.document import Arguments, KernelKey, MachineKey, Policy, Settings, Unfelt, doc
from gpusim.views.timeline.memory_tables import MemoryTables
from isa.dataflow.waits.shared_barriers import SharedBarrier
from isa.reading.origin import Origin, number
from isa.support.brief import brief
from isa.support.escaped import escaped

VERSION = 1
NONE = -1  # no instruction, or no such cycle
_TEXTS = "kernel", "parameters", "machine", "machine_name", "settings", "policy", "program", "sources"
END = "end of the program"  # text of the row after a program's last
Cycle = Annotated[int, msgspec.Meta(ge=0)]
CycleOrNone = Annotated[int, msgspec.Meta(ge=NONE)]


class Letter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a state or stall reason is shown: its name, its letter in text, and what it means."""

    name: str
    letter: str
    meaning: str


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An instruction of the program: its text, the class of unit it needs, and its region, empty if it is in none.

    Regions are marked by comments in a listing, else they are loops; of nested ones the innermost. `shared_barriers`:
    instructions that it may wait for because they share a dependency barrier with one that it needs. `file` and `line`
    are its place in the source, line 0 if unknown; `function` and `offset` in bytes that in machine code, -1 if none.
    `inlined_file` and `inlined_line` are the place in a header whose code was inlined in that line, 0 if there is none.
    """

    pc: int
    text: str
    unit: str
    region: str = ""
    shared_barriers: tuple[SharedBarrier, ...] = ()
    file: str = ""
    line: Annotated[int, msgspec.Meta(ge=0)] = 0
    function: str = ""
    offset: Annotated[int, msgspec.Meta(ge=NONE)] = NONE
    inlined_file: str = ""
    inlined_line: Annotated[int, msgspec.Meta(ge=0)] = 0

    @property
    def number(self) -> str:
        """What tables call it: in machine code its offset, as 0x0cf0, else its pc."""
        return number(self.pc, self.offset)

    @property
    def place(self) -> str:
        """The same as a phrase: `offset 0x0cf0` or `pc 207`."""
        return f"{'pc' if self.offset == NONE else 'offset'} {self.number}"

    @property
    def name(self) -> str:
        """What messages call it: of machine code its place, else its text."""
        inlined = self.inlined_file, self.inlined_line
        place = Origin(self.function, self.offset, self.text, self.file, self.line, inlined)
        return str(place) if self.function else self.text


class SourceFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A source file by the name that the program's lines have for it, and its text, line by line; none if missing."""

    name: str
    lines: tuple[str, ...] | None = None

    __repr__ = brief


class Wait(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Cycles from `start` up to `end`, the latter not included, for which a warp waited for one reason.

    `blocker` is the id of the instruction whose result, read or place the warp waited for: the producer of a register,
    the one that occupies the pipe or the load/store unit, the one selected instead, or the last to reach a barrier.
    """

    reason: str
    start: Cycle
    end: Cycle
    blocker: int = NONE


class Issued(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A warp instruction that was issued.

    `waits` has no gaps and no overlaps, from the cycle after the warp's previous issue, or its block's launch, up to
    `issue`. `begin` to `end`: when its pipe, or the load/store unit, is occupied by it. `done`: when its result can be
    read, or its access has left the SM. Each of the three is NONE, -1, if it needs none. `conflicts`: passes through
    shared memory, or requests to global memory, beyond those that its width needs. `late`: cycles by which an access to
    global memory exceeds the latency of the level that serves it, while memory moves it and earlier transactions.
    `level`: where caches keep tags, the furthest level that it needed; empty where it asked none.
    """

    id: int
    warp: Annotated[int, doc("Slot of the SM.")]
    block: Annotated[int, doc("Id in the grid.")]
    pc: int
    scheduler: int
    issue: Cycle
    begin: CycleOrNone
    end: CycleOrNone
    done: CycleOrNone
    lanes: Annotated[int, doc("Threads whose guard holds.")]
    waits: tuple[Wait, ...] = ()
    conflicts: int = 0
    late: int = 0
    level: Annotated[str, doc("L1, L2, far L2, DRAM: those before it missed.")] = ""


class Lost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Cycles in which a scheduler's issue slot stayed empty, for the reason of the instruction that ended them."""

    scheduler: int
    reason: str
    start: Cycle
    end: Cycle
    ended_by: int = NONE


class Copy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A copy of the copy engine, which an instruction has asked for.

    From `start` up to `end` the engine asks for its bytes, or sends them; the last of them is there in cycle `landed`.
    """

    instruction: Annotated[int, doc("Id of the instruction.")]
    warp: Annotated[int, doc("Its slot.")]
    block: Annotated[int, doc("Id in the grid.")]
    pc: int
    bytes: Annotated[int, doc("Bytes of shared memory.")]
    start: Cycle
    end: Cycle
    landed: Cycle
    barrier: Annotated[int, doc("Address in shared memory of the barrier that counts its bytes; -1: none.")] = NONE


class Waiting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A warp that waits for a phase, from the cycle on in which its instruction issues."""

    warp: int
    instruction: int
    since: Cycle


class Phase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A phase of a barrier in shared memory, from the end of the phase before, or its block's launch, up to `end`.

    The last one ends when its block leaves. Of a phase that ends after the cycles of the document, `end` is NONE, -1,
    as are `arrivals` and `ended_by`.
    """

    barrier: Annotated[int, doc("Its address in the shared memory of its block.")]
    slot: Annotated[int, doc("Of its block.")]
    block: Annotated[int, doc("Id in the grid.")]
    number: Annotated[int, doc("Counted from 0 on.")]
    start: Cycle
    end: CycleOrNone
    arrivals: Annotated[int, doc("Arrivals that the next phase waits for; -1: not known, another block ended it.")] = (
        NONE
    )
    bytes: Annotated[int, doc("Bytes that copies of this SM's copy engine brought.")] = 0
    ended_by: Annotated[int, doc("The instruction that ended it: an arrival, or a copy; -1: not of this SM.")] = NONE
    waiting: Annotated[tuple[Waiting, ...], doc("Who waits for its end.")] = ()


class Resident(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A block on the SM: its id in the grid, its slot, its warp slots, when it was placed and when it left.

    `retired` is NONE, -1, if the block left after the cycles of the document.
    """

    id: int
    slot: int
    warps: tuple[int, ...]
    placed: Cycle
    retired: CycleOrNone


def escaped_texts(document: Timeline) -> Timeline:
    """Return the document with control characters in its texts shown as escapes: names and sources may be anybody's."""
    shown = {name: _escaped(getattr(document, name)) for name in _TEXTS}
    return msgspec.structs.replace(document, **shown)


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, tuple):
        return tuple(map(_escaped, value))
    if isinstance(value, Mapping):
        return {_escaped(key): _escaped(each) for key, each in value.items()}
    if isinstance(value, msgspec.Struct):
        fields = value.__struct_fields__
        return msgspec.structs.replace(value, **{name: _escaped(getattr(value, name)) for name in fields})
    return value


def seen(block: Resident, end: int) -> Resident:
    """Return a block as a document of the cycles up to `end` has it."""
    return msgspec.structs.replace(block, retired=NONE) if block.retired > end else block


def seen_phases(phases: Iterable[Phase], start: int, end: int) -> Iterator[Phase]:
    """Yield the phases that a document of the cycles from `start` up to `end` has, and as it has them.

    One that goes on is there if it is not the first, or a warp waits for it.
    """
    for phase in phases:
        if NONE < phase.end <= end:
            if phase.end > start:
                yield phase
            continue
        waiting = tuple(one for one in phase.waiting if one.since < end)
        if phase.start < end and (phase.number or waiting):
            open_one = {"end": NONE, "arrivals": NONE, "bytes": 0, "ended_by": NONE, "waiting": waiting}
            yield msgspec.structs.replace(phase, **open_one)


class InstructionRates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The speed of a launch, its bound and the peak, in 10^9 thread instructions per second of the chip."""

    speed: float
    bound: float
    peak: float
    per_byte: Annotated[float, doc("Thread instructions for each byte of the DRAM.")]


class Roof(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A level of memory over which a launch moves bytes: what it delivers at most, and the work for each byte there."""

    level: Annotated[str, doc("L1, L2 or DRAM.")]
    bandwidth_gbs: Annotated[float, doc("10^9 bytes per second of the chip.")]
    per_byte: Annotated[float, doc("Operations for each byte, thread instructions where there are none.")]


class Summary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The launch as a whole: speed, bound and peak in 10^9 operations per second of the chip, and a full SM's load.

    Speed and bound are 0 for a kernel without operations; it has the rates of its instructions instead, if it moves
    bytes. `bandwidth_gbs` is the bandwidth that the DRAM delivers, in 10^9 bytes per second; `flops_per_byte` counts
    the bytes that the launch moves to and from it, 0 if there are none, or none are known.
    """

    gflops: float
    bound_gflops: float
    bound_limiter: str
    peak_gflops: float
    bandwidth_gbs: float
    flops_per_byte: float
    blocks: int
    warps: int
    occupancy_limiter: str
    instructions: InstructionRates | None = None
    roofs: Annotated[tuple[Roof, ...], doc("Levels of memory that the launch moves bytes at, the L1 first.")] = ()
    memory: Annotated[MemoryTables | None, doc("What the launch moved.")] = None


class Timeline(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="version", tag=VERSION):
    """A run of one SM, or its cycles from `start` up to `end`, for the warp slots in `shown`.

    `instructions` are in order of issue: those that wait, issue or are under way within the cycles. A blocker may lie
    outside. `lost` are the lost slots that overlap the cycles, `copies` and `phases` those that do.
    """

    kernel: KernelKey
    parameters: Arguments
    machine: MachineKey
    machine_name: Annotated[str, doc("The machine's name.")]
    settings: Settings
    policy: Policy
    clock_mhz: Annotated[float, doc("Shader clock in MHz.")]
    interval: Annotated[int, msgspec.Meta(ge=1), doc("Cycles between a scheduler's issue slots.")]
    schedulers: Annotated[int, doc("Warp schedulers of the SM.")]
    warp_slots: Annotated[int, doc("Warp slots of the SM.")]
    cycles: Annotated[CycleOrNone, doc("Cycles of the whole run; -1 if it does not end.")]
    start: Annotated[Cycle, doc("The first cycle of the document.")]
    end: Annotated[Cycle, doc("The cycle after its last one.")]
    shown: Annotated[tuple[int, ...], doc("Warp slots that the document has.")]
    letters: Annotated[tuple[Letter, ...], doc("States and stall reasons.")]
    program: Annotated[tuple[Line, ...], doc("The program, and a row after its end.")]
    blocks: Annotated[tuple[Resident, ...], doc("Blocks on the SM, in the order in which they were placed.")]
    instructions: Annotated[tuple[Issued, ...], doc("Warp instructions in order of issue.")]
    lost: Annotated[tuple[Lost, ...], doc("Lost issue slots.")]
    copies: Annotated[tuple[Copy, ...], doc("Copies of the copy engine, as they landed.")] = ()
    phases: Annotated[tuple[Phase, ...], doc("Phases of barriers in shared memory.")] = ()
    summary: Summary | None = None
    sources: Annotated[tuple[SourceFile, ...], doc("The source files of the program.")] = ()
    ineffective: Unfelt = msgspec.UNSET

    __repr__ = brief

    @property
    def numbering(self) -> str:
        """The head of a column of `Line.number`: offset for machine code, else pc."""
        return "pc" if all(line.offset == NONE for line in self.program) else "offset"
