"""`gpusim tune FILE.toml`: a CUDA kernel is tuned for one machine or several, from compiling to the ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import structs
from rich.text import Text

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
    Job,
    Place,
    checked,
    ranked,
    shared,
    short_trial,
    trial,
    with_compilation,
)
from gpusim.analysis.search.kernel_tuner import Entry
from gpusim.analysis.search.results_file import hash_of, results
from gpusim.analysis.search.space_file import CodeSpace, Point, points, read, with_given
from gpusim.commands.frame.arguments import caches_of, flags_of, pairs
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.kernel_tuner_files import check_files, write_files
from gpusim.commands.frame.notices import Launched, ineffective_at_all
from gpusim.commands.frame.options import TunerFiles
from gpusim.commands.frame.progress import begin_compiling, shown, told
from gpusim.commands.frame.spread import spread_over
from gpusim.commands.run.run import WRONG_VALUES
from gpusim.commands.search.code.asked import CodeTask, CodeTuning, Task, how_of
from gpusim.commands.search.code.budget import budgeted, halved
from gpusim.commands.search.tune_code_screen import Check, CodeOutcome, OnMachine, document, screen
from gpusim.machine import machine as model
from gpusim.machine.architecture import executing, machine_for, number
from gpusim.machine.simulated_sms import count
from gpusim.support.document import Ineffective
from gpusim.support.parallel.processes import as_done
from isa.architecture import Target
from isa.errors import UserError
from isa.nvidia.compiler.compile import ARCHITECTURE

Add = Callable[[CodeTrial], None]
Known = dict[tuple[str, tuple[Value, ...]], CodeTrial]


def tune_code(given: Task, code: CodeTuning) -> Answer:
    """Tune a CUDA kernel for one machine or several; raises UserError. A winner with wrong values ends with code 1."""
    task = CodeTask(given, code, how_of(code))
    if code.budget and given.files.cache:
        raise UserError(f"--kernel-tuner {given.files.cache}: needs every point; leave --budget out, or take --t4")
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
    on = [_on(task, space, places[key], key, every, found, known) for key in places]
    outcome = CodeOutcome(space, len(every), on)
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

    settled = {key for key, one in known.items() if _settled(one, task.code.budget)}
    missing = [(key, one) for key in places for one in every if (key, tuple(one.values())) not in settled]
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


def _settled(one: CodeTrial, budget: int | None) -> bool:
    """Tell whether a trial on file is all that is asked for; a budget chooses among all points that have code."""
    return not one.code if budget else not one.left_out


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
    spread = spread_over(None if task.code.dask else task.given.jobs, task.code.dask)

    def run(key: str, instructions: int, codes: Sequence[str]) -> Iterator[CodeTrial]:
        jobs = (Job(code, stored(folder, code).read_bytes(), groups[key, code][0], key) for code in codes)
        whole = partial(trial, space=space, places=places, how=task.how)
        short = partial(short_trial, space=space, places=places, instructions=instructions)
        name = f"tune {_name(space)}{f', {instructions:,} warp instructions' if instructions else ''}"
        with shown(name, "trial") as tell, closing(spread(short if instructions else whole, jobs)) as more:
            for done, each in enumerate(more, 1):
                yield each
                tell(done, len(codes))

    for key in places:
        codes = [code for machine, code in groups if machine == key]
        mine = _on_file(key, known, task.code.budget)
        for code in mine.keys() & set(codes):
            new = [point for point in groups[key, code] if _is_new(mine[code], known.get((key, tuple(point.values()))))]
            _keep_all(keep, mine[code], new)
        found = halved(codes, task.code.budget, mine, partial(run, key))
        for each in found:
            _keep_all(keep, each, groups[key, each.code])


def _on_file(key: str, known: Known, budget: int | None) -> dict[str, CodeTrial]:
    """Return what is on file of each piece of machine code on a machine; short trials alone are of use in a budget."""
    of_machine = [each for each in known.values() if each.machine == key and each.code]
    order = sorted(of_machine, key=lambda each: not each.left_out)
    return {each.code: each for each in order if budget or not each.left_out}


def _is_new(found: CodeTrial, known: CodeTrial | None) -> bool:
    """Tell whether a trial of the same machine code says more than what is on file of a point."""
    return known is None or (known.left_out and not found.left_out)


def _keep_all(keep: Add, found: CodeTrial, some: Sequence[Point]) -> None:
    for each in shared(found, some):
        keep(each)


def _on(
    task: CodeTask, space: CodeSpace, place: Place, key: str, every: Sequence[Point], found: Known, known: Known
) -> OnMachine:
    """Return what came out on a machine, the values of the fastest checked; raises UserError if nothing could run."""
    keys = [(key, tuple(point.values())) for point in every]
    trials = [found[one] for one in keys]
    if not (order := ranked(trials)):
        raise UserError(f"{space.path}: no point can be simulated on {key}; the first: {trials[0].reason}")
    account = budgeted(task.code.budget, trials) if task.code.budget else None
    if not task.code.verbose:
        trials = [structs.replace(one, seconds={}) for one in trials]
    on_file = sum(one in known and not known[one].left_out for one in keys)
    check = _check(space, order, place)
    return OnMachine(place.machine(), trials, ranked(trials), on_file, check, account)


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
        if not each.left_out
    ]
    write_files(files, one.machine.key, _name(space), _whole(space), space.values, entries)
