"""The records of the state and their arrays, as mypy sees them."""

# `make records` writes this file from the units' declarations: change those.

from gpusim.sm.records.arrays import (
    Columns,
    Memory,
    Numbers,
    Plain,
    Records,
    RecordTable,
    Table,
    Tables,
    Word,
)
from gpusim.sm.records.machine import (
    Level,
    MachineNumbers,
    UnitNumbers,
)
from gpusim.sm.records.memory import (
    Ahead,
    Beyond,
    Buffer,
    Cache,
    Entry,
    LoadStore,
    Outcome,
    Question,
    Queue,
    Scratch,
)
from gpusim.sm.records.replay import (
    Event,
    Feed,
    Script,
    Stream,
    Trace,
)
from gpusim.sm.records.row import (
    Row,
)
from gpusim.sm.records.sm import (
    Chip,
    Fault,
    InstructionCache,
    LaunchNumbers,
    Sm,
)
from gpusim.sm.records.warps import (
    Barrier,
    Block,
    Effect,
    Hazard,
    Lanes,
    PartedLanes,
    Pipe,
    Scheduler,
    StackEntry,
    Warp,
)

__all__ = [
    "Ahead",
    "Barrier",
    "Beyond",
    "Block",
    "Buffer",
    "Cache",
    "Chip",
    "Columns",
    "Effect",
    "Entry",
    "Event",
    "Fault",
    "Feed",
    "Hazard",
    "InstructionCache",
    "Lanes",
    "LaunchNumbers",
    "Level",
    "LoadStore",
    "MachineNumbers",
    "Memory",
    "Numbers",
    "Outcome",
    "PartedLanes",
    "Pipe",
    "Plain",
    "Question",
    "Queue",
    "RecordTable",
    "Records",
    "Row",
    "Scheduler",
    "Scratch",
    "Script",
    "Sm",
    "StackEntry",
    "Stream",
    "Table",
    "Tables",
    "Trace",
    "UnitNumbers",
    "Warp",
    "Word",
]
