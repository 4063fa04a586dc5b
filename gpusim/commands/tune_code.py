"""`gpusim tune FILE.toml`: a CUDA kernel is tuned for one machine or several, from compiling to the ranks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import typer
from rich.text import Text

from gpusim.analysis.search.bounded_expression import Value
from gpusim.analysis.search.code_points import (
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
from gpusim.analysis.search.code_tuning import (
    CodeTrial,
    CodeTuned,
    How,
    Job,
    Place,
    checked,
    ranked,
    shared,
    trial,
)
from gpusim.analysis.search.kernel_tuner import Entry
from gpusim.analysis.search.results_file import hash_of, results
from gpusim.analysis.search.space_file import CodeSpace, Point, points, read, with_given
from gpusim.commands.arguments import flags_of, overrides_of, sms_of, whole_number
from gpusim.commands.document import show, write_json
from gpusim.commands.kernel_tuner_files import check_files, write_files
from gpusim.commands.notices import Launched, ineffective_at_all
from gpusim.commands.progress import begin_compiling, keeping, shown
from gpusim.commands.run import WRONG_VALUES
from gpusim.commands.tune_code_screen import Check, CodeOutcome, OnMachine, document, screen
from gpusim.machine import machine as model
from gpusim.machine.architecture import executing, machine_for, number
from gpusim.machine.simulated_sms import count
from gpusim.support import dask_cluster
from gpusim.support.document import Ineffective
from gpusim.support.processes import as_done
from gpusim.units.cache import tagged
from isa.architecture import Target
from isa.errors import UserError
from isa.sass.compile import ARCHITECTURE

Add = Callable[[CodeTrial], None]
Known = dict[tuple[str, tuple[Value, ...]], CodeTrial]


@dataclass(frozen=True)
class CodeTask:
    """A space file to tune, with the options of the command line as they are given."""

    path: Path
    machines: Sequence[str]
    given: Mapping[str, str]
    settings: Sequence[str]
    how: How
    jobs: int | None
    dask: str
    flags: str = ""


@dataclass(frozen=True)
class Outputs:
    """What becomes of the result: files, how many of the fastest to show, and whether as a document."""

    out: Path | None
    cache: Path | None
    t4: Path | None
    top: int
    json: bool


def how_of(sample: str, sms: str) -> How:
    """Return what of each launch is simulated; raises UserError for other words."""
    which = sms_of(sms or "1")
    if which != 1 and sample not in ("", "all"):
        raise UserError(f"--sample {sample}: of several SMs every block is simulated; leave it out, or take one SM")
    if sample not in ("", "all") and not whole_number(sample):
        raise UserError(f"--sample {sample}: give a number of blocks, or all")
    blocks = sample if sample == "all" else whole_number(sample) or How.sample
    return How(blocks, which)


def tune_code(task: CodeTask, to: Outputs) -> None:
    """Tune a CUDA kernel and show the result; raises UserError, and Exit where a winner computes wrong values."""
    with keeping(to.out):
        _tune(task, to)


def _tune(task: CodeTask, to: Outputs) -> None:
    space = with_given(read(task.path), task.given)
    space = replace(space, flags=(*space.flags, *flags_of(task.flags)))
    places = _places(task)
    every = points(space)
    check_inputs(space)
    files = {key: tuple(_of_machine(path, key, places) for path in (to.cache, to.t4)) for key in places}
    for cache, t4 in files.values():
        check_files(cache, t4, inputs=(space.path, space.source))
    for key, place in places.items():
        check_compiler(space, key, number(place.machine()))
    with results(to.out, _settings(task, space, places), CodeTrial) as (kept, add):
        known = {_key(each): each for each in kept}
        found = {**known, **_tried(task, space, places, every, known, add)}
    outcome = CodeOutcome(space, len(every), [_on(space, places[key], key, every, found, known) for key in places])
    for one in outcome.machines:
        _write(space, one, *files[one.machine.key])
    unfelt = _ineffective(task, space, outcome, places)
    if to.json:
        write_json(document(outcome, overrides_of(task.settings, None), to.top), unfelt)
    else:
        show(*screen(outcome, to.top), *_written(files))
    if any(one.check.wrong for one in outcome.machines):
        raise typer.Exit(WRONG_VALUES)


def _places(task: CodeTask) -> dict[str, Place]:
    """Return the machines by key; raises UserError for one that executes no machine code, or is given twice."""
    found: dict[str, Place] = {}
    for name in task.machines or [machine_for(Target("nvidia", ARCHITECTURE)).key]:
        place = Place(model.read(name), overrides_of(task.settings, None))
        count(executing(place.machine(), f"--machine {name}"), task.how.sms)
        if place.file.key in found:
            raise UserError(f"--machine {name}: given twice; leave one out")
        found[place.file.key] = place
    return found


def _of_machine(path: Path | None, key: str, places: Mapping[str, Place]) -> Path | None:
    """Return the name of a file of one machine: its own where there are several, k-a100.json of k.json."""
    return path and (path if len(places) == 1 else path.with_name(f"{path.stem}-{key}{path.suffix}"))


def _settings(task: CodeTask, space: CodeSpace, places: Mapping[str, Place]) -> CodeTuned:
    return CodeTuned(
        file=_digest(space.path, *flags_of(task.flags)),
        source=_digest(space.source),
        sizes=dict(space.sizes),
        facts={key: hash_of(place.machine()) for key, place in places.items()},
        sample=str(task.how.sample),
        sms=str(task.how.sms),
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

    def keep(one: CodeTrial) -> None:
        add(one)
        found[_key(one)] = one

    missing = {key: [one for one in every if (key, tuple(one.values())) not in known] for key in places}
    wanted = list(_wanted(space, places, missing, keep))
    with TemporaryDirectory() as name:
        folder = Path(name)
        made = _compiled(space, wanted, folder, task.jobs)
        in_turn = any(tagged(place.machine()) for place in places.values())
        begin_compiling("compiled", task.how.sms, in_turn=in_turn)
        if task.how == How():  # a first block says how many a sample may have
            begin_compiling("walk")
        groups = _groups(made, places, {*((key, tuple(one.values())) for key in missing for one in missing[key])}, keep)
        _simulated(task, space, places, groups, folder, known, keep)
    return found


def _wanted(
    space: CodeSpace, places: Mapping[str, Place], missing: Mapping[str, Sequence[Point]], keep: Add
) -> Iterator[Wanted]:
    """Yield the points to compile, each once for an architecture; those that no machine can launch are kept as such."""
    machines = {key: place.machine() for key, place in places.items()}
    asked: dict[int, dict[tuple[Value, ...], Point]] = {}
    for key, some in missing.items():
        for point in some:
            if why := refusal(space, point, [machines[key]]):
                keep(CodeTrial(key, dict(point), reason=why))
            else:
                asked.setdefault(number(machines[key]), {})[tuple(point.values())] = point
    for architecture, of_it in asked.items():
        yield from (Wanted(point, architecture) for point in of_it.values())


def _compiled(space: CodeSpace, wanted: Sequence[Wanted], folder: Path, jobs: int | None) -> list[Compiled]:
    """Compile the points into a folder."""
    found = []
    with (
        shown(f"compile {space.source.name}", "point") as tell,
        closing(as_done(partial(compiled, space=space, folder=folder), wanted, jobs)) as more,
    ):
        for each in more:
            found.append(each)
            tell(len(found), len(wanted))
    return found


def _groups(
    made: Iterable[Compiled], places: Mapping[str, Place], missing: set[tuple[str, tuple[Value, ...]]], keep: Add
) -> dict[tuple[str, str], list[Point]]:
    """Return the points by machine and code; those that could not be compiled are kept as such."""
    found: dict[tuple[str, str], list[Point]] = {}
    numbers = {key: number(place.machine()) for key, place in places.items()}
    for one in sorted(made, key=lambda each: str(each.point)):
        for key in places:
            if numbers[key] != one.architecture or (key, tuple(one.point.values())) not in missing:
                continue
            if one.reason:
                keep(CodeTrial(key, one.point, reason=one.reason))
            else:
                found.setdefault((key, one.code), []).append(one.point)
    return found


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
    with shown(f"tune {_name(space)}", "trial") as tell, closing(_spread(task, simulated, jobs)) as more:
        for done, each in enumerate(more, 1):
            _keep_all(keep, each, left[each.machine, each.code])
            tell(done, len(left))


def _keep_all(keep: Add, found: CodeTrial, some: Sequence[Point]) -> None:
    for each in shared(found, some):
        keep(each)


def _spread(
    task: CodeTask, function: Callable[[Job], CodeTrial], jobs: Iterable[Job]
) -> Generator[CodeTrial, None, None]:
    """Give the trial of each job, from processes of this computer or from a cluster."""
    if task.dask:
        return dask_cluster.as_done(function, jobs, address=task.dask)
    return as_done(function, jobs, task.jobs)


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
    settings = overrides_of(task.settings, None)
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


def _written(files: Mapping[str, Sequence[Path | None]]) -> Iterator[Text]:
    """Yield which file each machine got, where several share a given name; a path is never broken."""
    if len(files) > 1 and any(any(some) for some in files.values()):
        yield Text("\nfor Kernel Tuner:")
        for key, some in files.items():
            yield from (Text(f"{key}: {file}", no_wrap=True, overflow="ignore") for file in some if file)


def _write(space: CodeSpace, one: OnMachine, cache: Path | None, t4: Path | None) -> None:
    """Write the requested files of Kernel Tuner for one machine."""
    entries = [
        Entry(each.point, each.figures.milliseconds, each.figures.gflops) if each.figures else Entry(each.point, None)
        for each in one.trials
    ]
    write_files(cache, t4, one.machine.key, _name(space), _whole(space), space.values, entries)
