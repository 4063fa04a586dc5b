"""A launch of a program: its values in device memory, its time on the machine."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from gpusim.analysis.account.figures import Figures, figures
from gpusim.analysis.account.findings.diagnosis import diagnosis
from gpusim.analysis.account.findings.finding import Finding
from gpusim.engines.endless_wait import BlocksWaitError
from gpusim.engines.simulate import Progress, run_sm, threads_for
from gpusim.engines.walks import side_by_side
from gpusim.launch.feed import TRACE_DRIVEN
from gpusim.launch.file.caches import holding
from gpusim.machine.machine import Machine, seconds
from gpusim.machine.occupancy import resident
from gpusim.programs.card import arena as memory
from gpusim.programs.card import captures, modules, system
from gpusim.programs.card.alike import told_by
from gpusim.programs.card.arena import Allocation, Arena
from gpusim.programs.card.captures import Captures
from gpusim.programs.card.clock import USUAL
from gpusim.simulation.asked import Sample
from gpusim.simulation.result import Result
from gpusim.simulation.simulation import simulate
from isa.errors import UserError
from isa.kernel import Buffer, Dim3
from isa.kernel import Kernel as Launched
from isa.memory import Held, bases, length
from isa.nvidia.abi import load
from isa.nvidia.abi.launch import LaunchState
from isa.texture import TextureObject

NANO, THOUSAND = 1e-6, 1e3  # milliseconds of a nanosecond, of a second
WORD = 8  # bytes of an address
MANY = 1 << 16  # threads of a launch from which on its values are computed on several threads
WAVES_BLOCKS = 1  # of a sample: rounded up to two whole waves


@dataclass(frozen=True)
class Shape:
    """What a launch asks for: grid, block, bytes of dynamic shared memory, cluster (None: the code's)."""

    grid: Dim3
    block: Dim3
    dynamic: int
    cluster: Dim3 | None
    cooperative: bool
    stream: int


@dataclass(frozen=True)
class How:
    """How launches are run: with time, by a sample of first waves, so many of alike ones, those of some kernels."""

    timed: bool = True
    sampled: bool = False
    alike: int = 0  # 0: all
    kernels: frozenset[str] = frozenset()  # none: all
    threads: int | None = None


@dataclass(frozen=True)
class Row:
    """One launch of the program. `milliseconds` is None without time, and `why` says why; `same_as` was simulated."""

    number: int
    kernel: str
    shape: Shape
    milliseconds: float | None
    figures: Figures | None = field(repr=False, default=None)
    findings: tuple[Finding, ...] = field(repr=False, default=())
    why: str = ""
    same_as: int | None = None


@dataclass(eq=False)
class Runner:
    """The card's part in launches: its machine, memory, textures, stack, and the times that are known.

    `machine` has its caches as they are when a launch begins; `settings` are what that changes, by path.
    """

    machine: Machine
    settings: Mapping[str, str]
    arena: Arena
    how: How
    begins: float  # milliseconds of a kernel besides those of its blocks
    textures: dict[int, TextureObject | None] = field(default_factory=dict)
    stack: int = 1024  # bytes of a thread, cudaLimitStackSize
    rows: list[Row] = field(default_factory=list)
    exact: dict[Hashable, Row] = field(default_factory=dict)
    alike: dict[Hashable, list[Row]] = field(default_factory=dict)
    captures: Captures | None = None
    limits: dict[str, int] = field(default_factory=dict)  # bytes of the system's memory, by name, if not the usual


def prepared(runner: Runner, kernel: modules.Kernel, shape: Shape, arguments: bytes) -> Launched:
    """Return a launch on memory as it is; raises LaunchError for one that the code doesn't take, and LoweringError.

    One that differs from the kernel's last in grid and arguments alone has the same program.
    """
    system.provide(runner.arena, kernel, runner.limits)
    arena, code = runner.arena, modules.with_constants(runner.arena, kernel.module)
    constants = code.cubin.constants if code.cubin else b""
    form = shape, arena.made, len(arena.live), tuple(runner.textures.items()), runner.stack, constants
    if kernel.last and kernel.last[0] == form:
        return load.with_arguments(kernel.last[1], code, kernel.name, arguments)
    made = load.kernel(code, _state(runner, kernel, shape, arguments))
    if kernel.last and kernel.last[1].program == made.program:
        made = replace(made, program=kernel.last[1].program)  # of which what was worked out is known
    kernel.last = form, made
    return made


def _state(runner: Runner, kernel: modules.Kernel, shape: Shape, arguments: bytes) -> LaunchState:
    return LaunchState(
        kernel=kernel.name,
        grid=shape.grid,
        block=shape.block,
        dynamic_shared=shape.dynamic,
        arguments=arguments,
        buffers=_buffers(runner.arena, kernel.module),
        stack=runner.stack,
        textures=_textures(runner),
        sms=runner.machine.chip.sms,
        cluster=shape.cluster,
        cooperative=shape.cooperative,
    )


def run(
    runner: Runner,
    kernel: modules.Kernel,
    shape: Shape,
    arguments: bytes,
    progress: Progress | None = None,
) -> Row:
    """Run a launch: find its time, then leave its values in memory. Raises UserError for what is not executed."""
    launch = prepared(runner, kernel, shape, arguments)
    reached = _reached(runner.arena, kernel.module, arguments)
    if cold := frozenset(one.name for one in reached if one.number in runner.arena.cold):
        launch = replace(launch, cold=cold)
    runner.arena.cold.difference_update(one.number for one in reached)
    row = _timed(runner, kernel, launch, shape, progress)
    runner.rows.append(row)
    first = not any(_alike(one, row) for one in runner.rows[:-1])
    if not runner.captures or not captures.is_wanted(runner.captures, row.number, first=first):
        compute(runner, launch)
        return row
    code, state = kernel.module.code, _state(runner, kernel, shape, arguments)
    before = captures.kept(state)
    compute(runner, launch)
    captures.write(runner.captures, row.number, code, kernel.module.image, before, state, launch.cold)
    return row


def _reached(arena: Arena, module: modules.Module, arguments: bytes) -> list[Allocation]:
    """Return the allocations whose addresses are among the arguments, and the module's variables."""
    addresses = np.frombuffer(arguments[: len(arguments) // WORD * WORD], np.uint64).tolist()
    found = [one for address in addresses if (one := memory.find(arena, address))]
    return found + [one for one in (module.variables, module.constants) if one]


def _alike(one: Row, other: Row) -> bool:
    return (one.kernel, one.shape.grid, one.shape.block) == (other.kernel, other.shape.grid, other.shape.block)


def compute(runner: Runner, launch: Launched) -> None:
    """Leave in memory what all blocks store. Raises ExecutionError at a fault."""
    arena, words = runner.arena, length(launch)
    end = memory.used(arena)
    places = bases(launch.buffers)
    for one in launch.buffers:
        if one.place is None and one.fill is not None:  # a constant bank of this launch
            first = places[one.name]
            arena.held[first : first + one.nbytes] = one.fill(np.arange(one.nbytes)).view(np.uint8)
    held = Held(arena.held[: len(arena.held) // 4 * 4].view(np.uint32), words)
    large = launch.blocks * launch.threads >= MANY
    try:
        blocks, threads = range(launch.blocks), threads_for(launch.blocks, runner.how.threads) if large else 1
        side_by_side.walk(launch, blocks, held, threads, resident(launch, runner.machine))
    finally:
        memory.clear(arena, end, len(arena.held))


def _timed(
    runner: Runner,
    kernel: modules.Kernel,
    launch: Launched,
    shape: Shape,
    progress: Progress | None,
) -> Row:
    number = len(runner.rows) + 1
    row = Row(number, kernel.plain, shape, None)
    wanted = runner.how.kernels
    if not runner.how.timed or (wanted and kernel.plain not in wanted):
        return row
    form = kernel.number, shape.grid, shape.block, shape.dynamic, shape.cluster
    told = told_by(launch)
    cold = tuple(one.place for one in launch.buffers if one.name in launch.cold)
    exact = form, told, cold, tuple((one.place, one.nbytes) for one in launch.buffers)
    others = runner.alike.setdefault(form, [])
    known = runner.exact.get(exact)
    if known is None and runner.how.alike and len(others) >= runner.how.alike:
        known = others[-1]
    if known is not None:
        same = known.same_as or known.number
        return replace(known, number=number, shape=shape, figures=None, same_as=same)
    try:
        row = _found(runner, launch, row, others, progress)
    except UserError as error:
        return replace(row, why=str(error))
    others.append(row)
    if told is not None:
        runner.exact[exact] = row
    return row


def _found(runner: Runner, launch: Launched, row: Row, others: Sequence[Row], progress: Progress | None) -> Row:
    """Return the row with its time, and of the first of alike launches also with its figures and findings.

    Raises UserError for a launch that is not simulated.
    """
    again = others and not runner.how.sampled
    cycles = _cycles(runner, launch, progress) if again else None
    if cycles is None:
        found = _simulated(runner, launch, progress)
        row, cycles = replace(row, figures=figures(found), findings=diagnosis(found)), found.cycles
    else:
        row = replace(row, findings=others[0].findings)
    return replace(row, milliseconds=THOUSAND * seconds(runner.machine, cycles) + runner.begins)


def _cycles(runner: Runner, launch: Launched, progress: Progress | None) -> int | None:
    """Return the cycles of a launch by one SM; None if its blocks wait for those of others, or are of clusters."""
    if launch.cluster_blocks > 1:
        return None
    try:
        return run_sm(launch, runner.machine, feed=TRACE_DRIVEN, progress=progress).cycles
    except BlocksWaitError:
        return None


def _simulated(runner: Runner, launch: Launched, progress: Progress | None) -> Result:
    sample: Sample = WAVES_BLOCKS if runner.how.sampled else None
    asked = replace(launch, settings=runner.settings)
    return simulate(asked, runner.machine, values=False, sample=sample, progress=progress)


def runner(machine: Machine, how: How, caches: str = "warm", captured: Captures | None = None) -> Runner:
    """Return what runs launches on a machine whose L2 holds what they touch (warm), or nothing (cold)."""
    where, settings = holding(machine, caches)
    asked: Mapping[str, str] = MappingProxyType({path: str(value) for path, value in settings.items()})
    begins = (machine.host_link or USUAL).kernel_ns * NANO
    return Runner(where, asked, memory.created(), how, begins, captures=captured)


def _textures(runner: Runner) -> tuple[TextureObject, ...]:
    """Return the textures by handle, of those that were given back one that nothing reads."""
    places = {f"allocation {one.number}" for one in runner.arena.live}
    each = [one if one and one.buffer in places else None for one in runner.textures.values()]
    some = next(filter(None, each), None)
    return tuple(one or some for one in each if some) if some else ()


def _buffers(arena: Arena, module: modules.Module) -> tuple[Buffer, ...]:
    """Return all allocations as buffers; variables of other modules are no more than that to this one."""
    own = {one.number for one in (module.variables, module.constants) if one}
    return tuple(
        memory.buffer(
            arena,
            one if one.number in own or one.name in system.NAMES else replace(one, name=f"allocation {one.number}"),
        )
        for one in arena.live
    )
