"""`gpusim tune FILE.toml`: a CUDA kernel is tuned for one machine or several, from compiling to the ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from rich.text import Text
from typer import Argument, Option

from gpusim.analysis.search.bounded_expression import Value
from gpusim.analysis.search.code.code_points import (
    Compiled,
    Wanted,
    check_compiler,
    check_inputs,
    compiled,
    cubin_at,
    kernel,
    refusal,
    stored,
)
from gpusim.analysis.search.code.code_tuning import (
    CodeTrial,
    CodeTuned,
    How,
    Job,
    Place,
    checked,
    ranked,
    shared,
    trial,
    with_compilation,
)
from gpusim.analysis.search.kernel_tuner import Entry
from gpusim.analysis.search.results_file import hash_of, results
from gpusim.analysis.search.space_file import CodeSpace, Point, points, read, with_given
from gpusim.commands.frame.arguments import caches_of, flags_of, overrides_of, pairs, sms_of, whole_number
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.kernel_tuner_files import check_files, write_files
from gpusim.commands.frame.notices import Launched, ineffective_at_all
from gpusim.commands.frame.options import (
    Caches,
    DaskOfSpaceFile,
    Jobs,
    Numbers,
    NvccFlags,
    Overrides,
    SmsOfSpaceFile,
    Threads,
    Top,
    TunerFiles,
    among,
    machine,
)
from gpusim.commands.frame.progress import begin_compiling, shown, told
from gpusim.commands.frame.spread import spread_over
from gpusim.commands.run.run import WRONG_VALUES
from gpusim.commands.search.tune_code_screen import Check, CodeOutcome, OnMachine, document, screen
from gpusim.machine import machine as model
from gpusim.machine.architecture import executing, machine_for, number
from gpusim.machine.simulated_sms import count
from gpusim.support.document import Ineffective
from gpusim.support.parallel.processes import as_done
from isa.architecture import Target
from isa.errors import UserError
from isa.nvidia.compiler.compile import ARCHITECTURE
from workloads.spaces import SPACES

Add = Callable[[CodeTrial], None]
Known = dict[tuple[str, tuple[Value, ...]], CodeTrial]


MACHINE = "c2050"  # of a generated kernel, by default


@dataclass(frozen=True)
class Task:
    """What is tuned, on which machines, and what becomes of the results."""

    name: Annotated[
        str,
        Argument(
            metavar="SPACE",
            help=f"A space file ending in .toml, or a space: {', '.join(SPACES)}.",
            autocompletion=among(SPACES),
        ),
    ]
    files: TunerFiles
    machine: Annotated[
        Sequence[str],
        machine(f"; repeatable for a space file. [default: {MACHINE}, or that of the compiler's architecture]"),
    ] = ()
    parameter: Numbers = ()
    setting: Overrides = ()
    top: Top = 10
    out: Annotated[
        Path | None,
        Option("--out", "-o", "--results", metavar="FILE", help="Keep each result in a file, and resume from it."),
    ] = None
    jobs: Jobs = None


@dataclass(frozen=True)
class CodeTuning:
    """How the points of a space file are compiled and simulated."""

    sample: Annotated[
        str,
        Option("--sample", help="Of a space file: blocks to simulate of each SM's, or all. [default: a few seconds]"),
    ] = ""
    sms: SmsOfSpaceFile = None
    threads: Threads = None
    caches: Caches = None
    nvcc_flags: NvccFlags = ""
    dask: DaskOfSpaceFile = ""
    bound: Annotated[bool, Option("--bound", help="Of a space file: also the bound of each point.")] = False
    verbose: Annotated[bool, Option("--verbose", help="Of a space file: also the CPU seconds of each stage.")] = False


@dataclass(frozen=True)
class CodeTask:
    """A space file to tune, as the command line says."""

    given: Task
    code: CodeTuning
    how: How

    @property
    def settings(self) -> dict[str, str]:
        """The settings of the machines by path."""
        return overrides_of(self.given.setting, None)


def given_of(code: CodeTuning) -> dict[str, object]:
    """Return the options that differ from the defaults, by name."""
    default = CodeTuning()
    given = {one.name: getattr(code, one.name) for one in fields(code)}
    return {f"--{name.replace('_', '-')}": x for name, x in given.items() if x != getattr(default, name)}


def how_of(code: CodeTuning) -> How:
    """Return what of each launch is simulated; raises UserError for other words."""
    sample = code.sample
    which = sms_of(code.sms or "1")
    if which != 1 and sample not in ("", "all"):
        raise UserError(f"--sample {sample}: of several SMs every block is simulated; leave it out, or take one SM")
    if sample not in ("", "all") and not whole_number(sample):
        raise UserError(f"--sample {sample}: give a number of blocks, or all")
    blocks = sample if sample == "all" else whole_number(sample) or How.sample
    return How(blocks, which, code.threads, code.bound, code.verbose)


def tune_code(given: Task, code: CodeTuning) -> Answer:
    """Tune a CUDA kernel for one machine or several; raises UserError. A winner with wrong values ends with code 1."""
    task = CodeTask(given, code, how_of(code))
    space = with_given(read(Path(given.name)), pairs("-p", "name=value", given.parameter))
    space = replace(space, flags=(*space.flags, *flags_of(code.nvcc_flags)))
    places = _places(task)
    every = points(space)
    check_inputs(space)
    of_machines = {key: _of_machine(given.files, key, places) for key in places}
    for some in of_machines.values():
        check_files(some, inputs=(space.path, space.source))
    for key, place in places.items():
        check_compiler(space, key, number(place.machine()))
    with results(given.out, _settings(task, space, places), CodeTrial) as (kept, add):
        known = {_key(each): each for each in kept}
        found = {**known, **_tried(task, space, places, every, known, add)}
    outcome = CodeOutcome(space, len(every), [_on(space, places[key], key, every, found, known) for key in places])
    for one in outcome.machines:
        _write(space, one, of_machines[one.machine.key])
    unfelt = _ineffective(task, space, outcome, places)
    return Answer(
        lambda: document(outcome, task.settings, given.top),
        lambda: [*screen(outcome, given.top), *_written(of_machines)],
        unfelt,
        WRONG_VALUES if any(one.check.wrong for one in outcome.machines) else 0,
    )


def _places(task: CodeTask) -> dict[str, Place]:
    """Return the machines by key; raises UserError for one that executes no machine code, or is given twice."""
    found: dict[str, Place] = {}
    for name in task.given.machine or [machine_for(Target("nvidia", ARCHITECTURE)).key]:
        file = model.read(name)
        place = Place(file, {**caches_of(file, task.code.caches), **task.settings})
        count(executing(place.machine(), f"--machine {name}"), task.how.sms)
        if place.file.key in found:
            raise UserError(f"--machine {name}: given twice; leave one out")
        found[place.file.key] = place
    return found


def _of_machine(files: TunerFiles, key: str, places: Mapping[str, Place]) -> TunerFiles:
    """Return the files of one machine: of its own names where there are several, k-a100.json of k.json."""
    if len(places) == 1:
        return files
    return TunerFiles(*(one and one.with_name(f"{one.stem}-{key}{one.suffix}") for one in (files.cache, files.t4)))


def _settings(task: CodeTask, space: CodeSpace, places: Mapping[str, Place]) -> CodeTuned:
    return CodeTuned(
        file=_digest(space.path, *flags_of(task.code.nvcc_flags)),
        source=_digest(space.source),
        sizes=dict(space.sizes),
        facts={key: hash_of(place.machine()) for key, place in places.items()},
        sample=str(task.how.sample),
        sms=str(task.how.sms),
        bounded=task.how.bounded,
        version=version("gpusim"),
    )


def _digest(path: Path, *options: str) -> str:
    """Return the digest of a file, and of options of the command line if there are any."""
    return sha256(b"\0".join((path.read_bytes(), *map(str.encode, options)))).hexdigest()[:16]


def _key(found: CodeTrial) -> tuple[str, tuple[Value, ...]]:
    return found.machine, tuple(found.point.values())


def _tried(
    task: CodeTask, space: CodeSpace, places: Mapping[str, Place], every: Sequence[Point], known: Known, add: Add
) -> Known:
    """Compile and simulate the points without a trial, and add their trials."""
    found: Known = {}

    spent: dict[tuple[int, tuple[Value, ...]], float] = {}  # on compilation, by architecture

    def keep(one: CodeTrial) -> None:
        if task.how.counted:
            made_for = number(places[one.machine].machine()), tuple(one.point.values())
            one = with_compilation(one, spent[made_for]) if made_for in spent else one
        add(one)
        found[_key(one)] = one

    missing = [(key, one) for key in places for one in every if (key, tuple(one.values())) not in known]
    asked = _asked(space, places, missing, keep)
    with TemporaryDirectory() as name:
        folder = Path(name)
        made = _compiled(space, [wanted for wanted, _ in asked.values()], folder, task.given.jobs)
        spent |= {(one.architecture, tuple(one.point.values())): one.seconds for one in made}
        begin_compiling()
        if task.how.sample is None and task.how.sms == 1:  # a first block says how many a sample may have
            begin_compiling("count")
        groups: dict[tuple[str, str], list[Point]] = {}
        for one in sorted(made, key=lambda each: str(each.point)):
            for key in asked[one.architecture, tuple(one.point.values())][1]:
                if one.reason:
                    keep(CodeTrial(key, one.point, reason=one.reason))
                else:
                    groups.setdefault((key, one.code), []).append(one.point)
        _simulated(task, space, places, groups, folder, known, keep)
    return found


def _asked(
    space: CodeSpace, places: Mapping[str, Place], missing: Iterable[tuple[str, Point]], keep: Add
) -> dict[tuple[int, tuple[Value, ...]], tuple[Wanted, list[str]]]:
    """Return the points to compile, each once for an architecture, and the machines that can launch each.

    Those that a machine can't launch are kept as such.
    """
    machines = {key: place.machine() for key, place in places.items()}
    asked: dict[tuple[int, tuple[Value, ...]], tuple[Wanted, list[str]]] = {}
    for key, point in missing:
        if why := refusal(space, point, [machines[key]]):
            keep(CodeTrial(key, dict(point), reason=why))
        else:
            architecture = number(machines[key])
            wanted = asked.setdefault((architecture, tuple(point.values())), (Wanted(point, architecture), []))
            wanted[1].append(key)
    return asked


def _compiled(space: CodeSpace, wanted: Sequence[Wanted], folder: Path, jobs: int | None) -> list[Compiled]:
    """Compile the points into a folder."""
    made = as_done(partial(compiled, space=space, folder=folder), wanted, jobs)
    return told(f"compile {space.source.name}", made, len(wanted), "point")


def _simulated(
    task: CodeTask,
    space: CodeSpace,
    places: Mapping[str, Place],
    groups: Mapping[tuple[str, str], Sequence[Point]],
    folder: Path,
    known: Known,
    keep: Add,
) -> None:
    """Simulate each piece of machine code on each machine, unless it is on file, and keep the trials of its points."""
    on_file = {(each.machine, each.code): each for each in known.values() if each.code}
    for group in on_file.keys() & groups.keys():
        _keep_all(keep, on_file[group], groups[group])
    left = {group: some for group, some in groups.items() if group not in on_file}
    jobs = (Job(code, stored(folder, code).read_bytes(), some[0], key) for (key, code), some in left.items())
    simulated = partial(trial, space=space, places=places, how=task.how)
    spread = spread_over(None if task.code.dask else task.given.jobs, task.code.dask)
    with shown(f"tune {_name(space)}", "trial") as tell, closing(spread(simulated, jobs)) as more:
        for done, each in enumerate(more, 1):
            _keep_all(keep, each, left[each.machine, each.code])
            tell(done, len(left))


def _keep_all(keep: Add, found: CodeTrial, some: Sequence[Point]) -> None:
    for each in shared(found, some):
        keep(each)


def _on(space: CodeSpace, place: Place, key: str, every: Sequence[Point], found: Known, known: Known) -> OnMachine:
    """Return what came out on a machine, the values of the fastest checked; raises UserError if nothing could run."""
    keys = [(key, tuple(point.values())) for point in every]
    trials = [found[one] for one in keys]
    if not (order := ranked(trials)):
        raise UserError(f"{space.path}: no point can be simulated on {key}; the first: {trials[0].reason}")
    return OnMachine(place.machine(), trials, order, sum(one in known for one in keys), _check(space, order, place))


def _check(space: CodeSpace, order: Sequence[tuple[int, CodeTrial]], place: Place) -> Check:
    """Check the values of the fastest point; a refusal is its reason, as the ranks are known by then."""
    with shown(f"values of {_name(space)}"):
        try:
            return Check(checked(space, order[0][1].point, place))
        except UserError as error:
            return Check(reason=str(error))


def _ineffective(
    task: CodeTask, space: CodeSpace, outcome: CodeOutcome, places: Mapping[str, Place]
) -> Sequence[Ineffective]:
    """Return the settings that do nothing to any machine's winner, and report them on stderr."""
    settings = task.settings
    if not (paths := [path for path in settings if not path.startswith("limits.")]):
        return ()
    launches = []
    for one in outcome.machines:
        point, place = one.order[0][1].point, places[one.machine.key]
        made = kernel(space, point, cubin_at(space, point, number(one.machine)))
        launches.append(Launched(made, place.file, {**made.settings, **settings}, paths, task.how.sms))
    return ineffective_at_all(launches, paths)


def _name(space: CodeSpace) -> str:
    return space.file.kernel or space.source.stem


def _whole(space: CodeSpace) -> list[int]:
    """The sizes of the problem that are whole numbers, as Kernel Tuner has them."""
    return [int(size) for size in space.sizes.values() if size == int(size)] or [1]


def _written(files: Mapping[str, TunerFiles]) -> Iterator[Text]:
    """Yield which file each machine got, where several share a given name; a path is never broken."""
    some = [(key, file) for key, each in files.items() for file in (each.cache, each.t4) if file]
    if len(files) > 1 and some:
        yield Text("\nfor Kernel Tuner:")
        yield from (Text(f"{key}: {file}", no_wrap=True, overflow="ignore") for key, file in some)


def _write(space: CodeSpace, one: OnMachine, files: TunerFiles) -> None:
    """Write the requested files of Kernel Tuner for one machine."""
    entries = [
        Entry(each.point, each.figures.milliseconds, each.figures.gflops) if each.figures else Entry(each.point, None)
        for each in one.trials
    ]
    write_files(files, one.machine.key, _name(space), _whole(space), space.values, entries)
