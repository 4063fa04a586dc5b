"""Hypothesis strategies, shared by all tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from msgspec import structs
from timing import ADDED

from gpusim.launch.codes.assign_codes import with_codes
from gpusim.machine.machine import Machine, load
from gpusim.machine.schema import PIPE_UNITS
from gpusim.sm.front.policies.declaration import POLICY_NAMES
from isa.dataflow.lanes.divergence import reconvergence_points
from isa.generators import hash_fill
from isa.instruction import Instruction
from isa.kernel import Buffer, Kernel
from isa.nvidia.control import Control
from isa.operands.operand import (
    PT,
    RZ,
    SCC,
    SPECIALS,
    Address,
    Constant,
    Convergence,
    Dependency,
    Immediate,
    Label,
    Predicate,
    Register,
    Special,
    Targets,
    Texture,
)
from isa.program import Program
from isa.row import Flow, Kind, Row, Unit
from isa.table import ROWS
from isa.text.assembler import assemble
from isa.text.operand_text import takes_negation
from strategies.bit_patterns import cancelling, halfway, patterns32, patterns64  # noqa: F401  (found here with the others)
from strategies.cache_choices import CACHES
from strategies.drawing import INPUT_WORDS, PROLOGUE, SLOT_BYTES, STRIDES, Sketch, alu, compare
from strategies.gcn import MEMORY_PATHS, WAIT_COUNTERS, gcn_addresses, gcn_registers
from strategies.machine_choices import CODES, MATRICES, MEMORY_PORTS, PORTS_APART, REGISTER_FILES, SECTIONS, SELECTIONS
from strategies.sketch import fragments, long_loop, parting_regions, without_scalars
from strategies.timeline_documents import timelines  # noqa: F401  (found here with the others)
from strategies.waits import waited

REPEATABLE = settings(derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))

# Programs: every row of the table, every kind of operand that it takes.


def predicates() -> st.SearchStrategy[Predicate]:
    """Predicates as a source, negated or not, PT included."""
    return st.builds(Predicate, st.integers(0, 7), st.booleans())


def controls() -> st.SearchStrategy[Control]:
    """Control codes of every kind."""
    barrier = st.none() | st.integers(0, 5)
    return st.builds(Control, st.integers(0, 15), st.booleans(), barrier, barrier, st.integers(0, 63))


def registers(
    row: Row,
    negated: st.SearchStrategy[bool],
    reuse: st.SearchStrategy[bool] = st.just(False),  # noqa: B008
) -> st.SearchStrategy[Register]:
    """Draw registers aligned as the row's width needs, RZ included."""
    last = (255 - row.words) // row.words
    return st.builds(Register, st.integers(0, last).map(lambda i: i * row.words) | st.just(RZ.index), negated, reuse)


def immediates(row: Row) -> st.SearchStrategy[Immediate]:
    """Literals of the row's width, integer and floating."""
    bits, kind = (patterns32(), "float") if row.width == 32 else (patterns64(), "double")
    if row.numbers is Kind.HALVES:
        return st.builds(Immediate, bits, st.just("int"))
    return st.builds(Immediate, bits, st.sampled_from(("int", kind)))


def addresses(row: Row) -> st.SearchStrategy[Address]:
    """Addresses; absolute ones aligned for the row."""
    size = row.accessed_bytes
    offsets = st.integers(0, 2**32 - 1) | st.integers(-64, 64).map(lambda offset: offset % 2**32)
    relative = st.builds(Address, st.integers(0, 254).map(Register), offsets)
    return relative | st.builds(Address, st.just(RZ), offsets.map(lambda offset: offset // size * size))


NAMES = ("n", "A", "loop_1", "x.y")


@st.composite
def instructions(draw: st.DrawFn, labels: tuple[str, ...] = ("end",), rows: tuple[Row, ...] = ROWS) -> Instruction:
    """Well-formed instructions of any row, branches to any of the labels."""
    row = draw(st.sampled_from(rows))
    signs = st.booleans() if takes_negation(row) else st.just(False)
    given = {
        "d": registers(row.at("d"), st.just(False)),
        "m": addresses(row),
        "M": addresses(row),
        "P": st.integers(0, 7).map(Predicate),
        "Q": predicates(),
        "s": st.sampled_from(SPECIALS).map(Special),
        "l": st.sampled_from(labels).map(Label),
        "t": st.sampled_from(NAMES).map(Texture),
        "B": st.integers(0, 15).map(Convergence),
        "k": st.integers(0, row.most or 15).map(lambda number: Immediate(number, "int")),
        "T": st.lists(st.sampled_from(labels), min_size=1, max_size=3).map(lambda names: Targets(tuple(names))),
        "y": st.integers(0, 5).map(Dependency),
    }
    if row.flow is Flow.LOCATE:
        given["a"] = given["l"]
    if row.is_gcn:
        given |= {letter: gcn_registers(row, letter) for letter in "dDabc"} | {"m": gcn_addresses(row)}
    operands = [
        draw(given.get(letter, registers(row.at(letter), signs, st.booleans()))) for letter in row.form if letter != "n"
    ]
    numbers = row.form.count("n")
    operands += [Immediate(draw(st.integers(0, row.most)), "int") for _ in range(numbers)]
    sources = [i for i, letter in enumerate(row.form) if row.words_of(letter) == row.source.words and letter in "abc"]
    if sources and row.source.width <= 64 and row.unit is not Unit.SMEM and draw(st.booleans()):
        constants = st.sampled_from(NAMES).map(Constant) if row.source.width == 32 else st.nothing()
        operands[draw(st.sampled_from(sources))] = draw(immediates(row.source) | constants)
    if row.form == "kk":
        count = draw(st.integers(1, 32).map(lambda warps: 32 * warps))
        operands = [operands[0], Immediate(count, "int")][: 2 - draw(st.integers(0, row.optional))]
    return Instruction(row, tuple(operands), PT if row.is_gcn else draw(st.just(PT) | predicates()))


def _without_lost_scc(body: Sequence[Instruction]) -> list[Instruction]:
    """The instructions without branches on SCC behind arithmetic that changes it, which the assembler refuses."""
    first = next((pc for pc, i in enumerate(body) if i.row.spoils_scc), len(body))
    return [
        i for pc, i in enumerate(body) if pc < first or i.row.condition is None or i.row.condition.index != SCC.index
    ]


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Well-formed programs: any instructions, labels anywhere (not meant to be run)."""
    body = tuple(_without_lost_scc(draw(st.lists(instructions(labels=("end", *NAMES)), max_size=12))))
    if draw(st.booleans()):
        body = tuple(replace(instruction, control=draw(controls())) for instruction in body)
    places = st.integers(0, len(body))
    labels = {name: draw(places) for name in ("end", *NAMES)}
    sizes = st.sampled_from((0, 4, 49152))
    return Program(body, labels, draw(sizes), draw(sizes))


@st.composite
def kernels(
    draw: st.DrawFn,
    barriers: bool = True,
    most_blocks: int = 2,
    least: int = 1,
    threads: Sequence[int] = (32, 64, 96, 128, 20, 50, 100),
    warp_sizes: Sequence[int] = (32, 32, 64),
    *,
    copies: bool = False,
) -> Kernel:
    """Small kernels that run to the end: loops, predicates, whole and partial barriers, every memory space and width.

    They have no race, unless `barriers` is False: then the barriers around exchanges may be missing. `least` is the
    number of parts on the outermost level. `threads` are those of blocks whose warps have 32 lanes. With
    `copies` there may be asynchronous ones.
    """
    lanes, blocks, seed = (
        draw(st.sampled_from(warp_sizes)),
        draw(st.integers(1, most_blocks)),
        draw(st.integers(0, 1 << 16)),
    )
    size = draw(st.sampled_from(threads)) * lanes // 32
    sketch = Sketch(draw, -(-size // lanes), barriers, lanes, copies=copies)
    sketch.emit(PROLOGUE)
    fragments(sketch, depth=0, together=True, least=least)
    width = sketch.one([".64", ".128", ""])
    sketch.emit(f"STG{width} [R2], R8", sketch.one(["EXIT", "EXIT", "S_ENDPGM"]))
    buffers = (
        Buffer("in", "<u4", INPUT_WORDS, hash_fill(seed, 0, 1 << 29, "<u4")),
        Buffer("out", "<u4", blocks * size * SLOT_BYTES // 4),
    )
    program = assembled(sketch)
    program = draw(safe_codes(program)) if draw(st.booleans()) else program
    return Kernel("random", program, (blocks, 1, 1), (size, 1, 1), buffers=buffers, warp_size=lanes)


def assembled(sketch: Sketch) -> Program:
    """The sketch's program, without its scalar parts if lanes may diverge."""
    head = f".shared {sketch.warps * sketch.lanes * SLOT_BYTES}\n.local 32\n"
    program = assemble(head + "\n".join(sketch.lines))
    return (
        assemble(head + "\n".join(without_scalars("\n".join(sketch.lines).splitlines())))
        if reconvergence_points(program)
        else program
    )


@st.composite
def parting_kernels(draw: st.DrawFn) -> Kernel:
    """Kernels of one block whose lanes diverge inside convergence barriers, nested and in loops, and little else."""
    sketch = Sketch(draw, 1, barriers=True)
    sketch.emit(PROLOGUE)
    parting_regions(sketch)
    sketch.emit("STG [R2], R8", "EXIT")
    buffers = Buffer("in", "<u4", INPUT_WORDS), Buffer("out", "<u4", 32 * SLOT_BYTES // 4)
    return Kernel("diverges", assembled(sketch), (1, 1, 1), (32, 1, 1), buffers=buffers)


@st.composite
def looping_kernels(
    draw: st.DrawFn, rounds: Sequence[int] = (3, 30, 61, 100), warp_sizes: Sequence[int] = (32, 32, 64)
) -> Kernel:
    """Kernels of long loops and several blocks, whose addresses and branches do not depend on memory's contents."""
    lanes, blocks = draw(st.sampled_from(warp_sizes)), draw(st.sampled_from((1, 1, 2, 5, 9)))
    size = draw(st.sampled_from((32, 64, 128, 50))) * lanes // 32
    sketch = Sketch(draw, -(-size // lanes), barriers=True, lanes=lanes, steady=True)
    sketch.emit(PROLOGUE, f"MOV R24, R{draw(st.sampled_from((2, 3)))}", "ISETP.LT P5, R4, 1")
    for counter in ("R25", "R26")[: draw(st.integers(1, 2))]:
        long_loop(sketch, counter, rounds)
    sketch.emit("STG [R2], R8", "EXIT")
    walked = max(8 * INPUT_WORDS * 4, 2 * max(rounds) * STRIDES[-1] // 4)  # words, by two loops
    buffers = Buffer("in", "<u4", INPUT_WORDS + walked), Buffer("out", "<u4", blocks * size * SLOT_BYTES // 4 + walked)
    program = assembled(sketch)
    program = draw(safe_codes(program)) if draw(st.booleans()) else program
    return Kernel("looping", program, (blocks, 1, 1), (size, 1, 1), buffers=buffers, warp_size=lanes)


@st.composite
def alu_streams(draw: st.DrawFn) -> list[Instruction]:
    """Straight streams of arithmetic, moves and comparisons on few registers, so that they depend on each other."""
    sketch = Sketch(draw, 1, barriers=False)
    sketch.emit("S2R R8, LANEID", "S2R R12, TID.X")
    for kind in draw(st.lists(st.sampled_from([alu, alu, compare]), min_size=1, max_size=25)):
        kind(sketch)
    return list(assemble("\n".join(sketch.lines)).instructions)


# Machines: the GTX 580 with all numbers that cost time drawn at random. One SM, so that it runs every block.

CHOICES: dict[str, Sequence[int | str]] = {
    "chip.sms": (1,),
    "chip.dram_mbs": (12000, 190000),
    "limits.blocks": (1, 2, 8),
    "schedulers.count": (2, 1, 2, 3, 4, 8, 8, 5),
    "schedulers.interval": (1, 2, 3, 4),
    "schedulers.stagger": (0, 1, 2),
    "schedulers.issue_interval": (1, 2, 6, 7),
    "schedulers.policy": POLICY_NAMES,
    "schedulers.active": (1, 2, 3),
    "schedulers.dispatch_ports": (1, 2, 2, 3, 5),
    "issue.pairing": ("same-warp", "different-warp", "different-category"),
    **{f"pairing.{unit.value}": (" ".join(Unit), " ".join(list(Unit)[::2]), "none", " ".join(Unit)) for unit in Unit},
    **{f"category.{unit.value}": ("vector", "scalar", "vector", unit.value) for unit in Unit},
    "issue.rotate": (0, 1),
    "issue.refused_wastes_slot": (0, 1),
    "issue.refused_moves_pointer": (0, 1),
    "issue.refused_retry": (1, 2, 5),
    "double.exclusive": ("flight", "off", "issue", "flight", "flight"),
    **{f"pipe.{pipe}.lanes": (4, 8, 16, 32) for pipe in ("sp", "int16", "sfu")},
    "pipe.dp.lanes": (4, 16, 32, 32),  # a busy pipe hides exclusive double precision
    "pipe.tex.lanes": (1, 2, 4, 32),  # fetches are few: they meet only at a slow pipe
    **{f"pipe.{pipe}.schedulers": (1, 2, 4) for pipe in ("sp", "int16", "dp", "sfu", "tex")},
    **{f"unit.{unit.value}.latency": (1, 4, 18, 40) for unit in PIPE_UNITS},
    **MATRICES,
    **{path: (pipe, "sp", "dp sp") for path, pipe in ADDED.items() if path.endswith(".pipe")},
    **{
        f"unit.{unit}.pipe": ("sp", "sp int16", "dp sfu sp int16", "sp")
        for unit in ("fp32", "fmul", "int", "move", "imul")
    },
    "texture.pipe": ("tex", "tex", "tex sp"),
    "shared_memory.rule": ("fermi", "gt200", "kepler", "volta", "gcn"),
    "shared_memory.banks": (8, 16, 32, 32, 64, 128),
    "shared_memory.bank_bytes": (4, 8),
    "shared_memory.pass_cycles": (1, 2, 5),
    "shared_memory.merge_halves": (0, 1),
    **{f"shared_memory.latency_{width}": (1, 26, 38) for width in (32, 64, 128)},
    **{f"shared_memory.free_passes_{width}": (1, 2, 8) for width in (32, 64, 128)},
    **{f"shared_memory.war_{width}": (0, 7, 46) for width in (32, 64, 128)},
    "instruction_replay.pass_slots": (0, 0, 1, 2),
    "instruction_replay.request_slots": (0, 0, 1, 3),
    "load_store.queue": (1, 1, 2, 4),
    "global_memory.rule": ("fermi", "gt200", "sectors"),
    "global_memory.latency": (10, 100, 300),
    "global_memory.request_cycles": (1, 2, 9),
    "global_memory.war": (0, 46),
    **{"local_memory.latency": (3, 48), "local_memory.request_cycles": (1, 2), "load_store.least_cycles": (1, 1, 5)},
    "texture.latency": (5, 200),
    "barrier.latency": (0, 1, 18),
    "barrier.per_warp": (0, 0, 3),
    "barrier.per_arrival": (2,),
    "barrier.defers": (0, 1),
    "branch.latency": (1, 3, 18),
    "scalar_file.registers": (4000,),
    "scalar_file.unit": (16,),
    "scalar_file.per_warp": (102,),
    **{
        "launch.block_latency": (0, 33),
        "launch.begin": (0, 7),
        "launch.warp_skew": (0, 2, 9),
        "launch.block_skew": (0, 16),
    },
    **{"launch.block_gap": (0, 0, 7), "launch.rotates": (0, 1), "launch.refill_parts": (0, 0, 73)},
}
LEVELS = "l1", "l2", "tag_stage", "l2_partition", "texture_cache", "scalar_cache", "l2_channel", "l2_atomic", "dram"
SEVERAL_PASSES: dict[str, Sequence[int]] = {
    "shared_memory.pass_cycles": (1,),
    "shared_memory.passes_per_cycle": (1, 2, 2, 3),
}
OPTIONAL = REGISTER_FILES, CACHES, *SECTIONS, SEVERAL_PASSES
QUEUES: Sequence[dict[str, Sequence[int | str]]] = (
    {},
    MEMORY_PORTS,
    PORTS_APART,
    MEMORY_PATHS,
)
DEPENDENCES: Sequence[dict[str, Sequence[int | str]]] = ({}, CODES, CODES, WAIT_COUNTERS)
WIDE = [unit for unit in PIPE_UNITS if unit in load("wide").unit and unit is not Unit.SMEM]
READ_LATE = dict.fromkeys((*(f"shared_memory.war_{width}" for width in (32, 64, 128)), "global_memory.war"), 1000)
# Barriers cover every result, and every source, which may be read later than the result comes.
ALL_CODED = load(
    "wide",
    {path: values[-1] for path, values in (MEMORY_PORTS | CODES).items()}
    | {"memory_port.units": " ".join(WIDE)}
    | READ_LATE,
)


def safe_codes(program: Program) -> st.SearchStrategy[Program]:
    """The program with control codes that are right on every machine, and wait for more than necessary."""
    count = len(program)
    draws = st.tuples(st.booleans(), st.sampled_from((0, 0, 0, 2, 15)), st.sampled_from((0, 0, 0, 1, 2, 4, 8, 16, 32)))
    return st.lists(draws, min_size=count, max_size=count).map(lambda drawn: _slower(program, drawn))


def _slower(program: Program, drawn: Sequence[tuple[bool, int, int]]) -> Program:
    coded = with_codes(program, ALL_CODED).instructions
    codes = [
        replace(i.control, stall=max(i.control.stall, stall), yields=yields, waits=i.control.waits | waits)
        for i, (yields, stall, waits) in zip(coded, drawn, strict=True)
        if i.control
    ]
    return replace(program, instructions=tuple(map(lambda i, c: replace(i, control=c), coded, codes)))


Sketched = tuple[dict[str, int | str], frozenset[str]]


@st.composite
def sketched_machines(draw: st.DrawFn, warp_size: int = 32, *, tags: bool = True) -> Sketched:
    """The parts of `machines`: settings of a GTX 580 by their paths, and the caches that it lacks."""
    choices = CHOICES | {"limits.warp_size": (warp_size,)}
    choices |= draw(st.sampled_from(DEPENDENCES)) | draw(st.sampled_from(QUEUES))
    for optional in OPTIONAL:
        choices |= optional if draw(st.booleans()) else {}
    choices |= draw(st.sampled_from(({}, {}, SELECTIONS)))  # without exclusive double precision, which is rare anyway
    if not tags:
        choices |= {"cache.hits": ("none", "l1", "l2")}
    drawn = {path: draw(st.sampled_from(values)) for path, values in choices.items()}
    if drawn.get("cache.hits") != "tags":
        return drawn, frozenset()
    return drawn, draw(st.frozensets(st.sampled_from(LEVELS))) - draw(
        st.sampled_from(({"l1"}, {"l2"}, {"l2", "l2_channel"}))
    )


def made(sketched: Sketched) -> Machine:
    """Return the machine of a sketch."""
    drawn, lacking = sketched
    return structs.replace(load("gtx580", drawn), **dict.fromkeys(lacking))


def machines(warp_size: int = 32, *, tags: bool = True) -> st.SearchStrategy[Machine]:
    """Machines of one SM, whose schedulers, pipes, latencies, queues and rules of issue are any combination.

    `tags`: caches may keep tags, and then no stream of the launch can be recorded.
    """
    return sketched_machines(warp_size, tags=tags).map(made)


def launches(of: st.SearchStrategy[Kernel], *, tags: bool = True) -> st.SearchStrategy[tuple[Kernel, Machine]]:
    """Kernels, each with a machine whose warps are of its size; `tags` as in `machines`."""
    return of.flatmap(
        lambda kernel: machines(kernel.warp_size, tags=tags).map(lambda machine: (fit(kernel, machine), machine))
    )


def fit(kernel: Kernel, machine: Machine) -> Kernel:
    """The kernel with the waits that the machine's programs need."""
    return replace(kernel, program=waited(kernel.program)) if machine.wait_counters else kernel
