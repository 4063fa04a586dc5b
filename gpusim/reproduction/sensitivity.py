"""Sensitivity: which single number of a machine, moved over its plausible range, turns a simulated claim's verdict.

Machine files give plausible ranges to guesses and fitted numbers. Each end, or other word, is set alone, and the claims
that were computed on the machine are computed again. Runs that can't feel a setting are not repeated: engines get the
same input without it. What was tried can be kept in a file; the next call tries only what it lacks, and claims that
come to something else by now.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, lru_cache, partial
from hashlib import sha256
from itertools import islice
from pathlib import Path

from gpusim.analysis.settings.given import as_given
from gpusim.analysis.settings.ineffective import View, same, view
from gpusim.machine import machine as model
from gpusim.machine.file import names
from gpusim.reproduction.bench import Bench, Done, Job, Pairs, Settings, launches, of_time, perform
from gpusim.reproduction.claims import read
from gpusim.reproduction.finding import NOT_COMPUTED, SIMULATED
from gpusim.reproduction.ledger import LedgerRow, Progress, silent, task
from gpusim.reproduction.tasks import Task, completed
from gpusim.support.parallel.processes import processes
from isa.errors import UserError
from isa.reading import input_file

VERDICTS = {True: "pass", False: "fail", None: ""}
DIGITS = 12  # of a hash
VIEWS = 256  # that a process keeps, of some hundred kilobytes each: those of most claims of a machine


@dataclass(frozen=True, slots=True)
class Move:
    """A number of a machine, set to an end of its plausible range."""

    machine: str
    path: str
    value: str

    @property
    def text(self) -> str:
        """The setting as `--set` takes it."""
        return f"{self.machine}:{self.path}={self.value}"


@dataclass(frozen=True, slots=True)
class Tried:
    """What a claim comes to with one setting alone; `passed` is None if the runs are impossible with it.

    `of` is a hash of what the claim comes to without the setting: with another result this one is out of date.
    """

    id: str
    set: str
    of: str
    ours: str
    passed: bool | None


Store = Mapping[tuple[str, str], Tried]  # by claim and setting
Keep = Callable[[Store], None]


def moves(row: LedgerRow, settings: Settings) -> list[Move]:
    """Return the moves to try for a claim: none unless it was simulated, has a verdict, and machines have ranges.

    Numbers that `settings` replace stay as they are.
    """
    kind = row.kind.split(":")[0]
    if row.passed is None or kind == NOT_COMPUTED or not (row.runs or kind in SIMULATED):
        return []
    return [move for key in row.machines for move in _moves(key, tuple(settings.get(key, {}).items()))]


def tried(
    found: Sequence[LedgerRow],
    settings: Settings,
    done: Mapping[Job, Done],
    workers: int,
    *,
    store: Store,
    report: Progress = silent,
    keep: Keep = lambda _: None,
) -> Store:
    """Return what claims come to with each of their moves: from `store` where that is up to date, else computed.

    `done` has the jobs of the rows. Moves whose claims are quick come first. `keep` is called with the whole store each
    time that some moves were tried, `report(moves tried, all)` likewise. Raises UserError when a process is killed.
    """
    claims, rows = {claim.id: claim for claim in read()}, {row.id: row for row in found}
    kept = current(found, store)
    missing: dict[Move, list[str]] = {}
    for row in found:
        for move in moves(row, settings):
            if (row.id, move.text) not in kept:
                missing.setdefault(move, []).append(row.id)
    quick_first = sorted(missing.items(), key=lambda item: sum(rows[name].seconds for name in item[1]))
    rest, count = iter(quick_first), 0
    with processes(workers) as pool:
        while batch := list(islice(rest, workers)):
            shared = dict(done)
            benches = [(_moved(Bench(settings, shared), move), move, ids) for move, ids in batch]
            by_task = {task(claims[one], bench): move for bench, move, ids in benches for one in ids}
            for each, row in completed(list(by_task), pool, partial(_submit, by_task, done)):
                kept[row.id, by_task[each].text] = _tried(rows[row.id], by_task[each], row)
            count += len(batch)
            report(count, len(missing))
            keep(kept)
    return kept


def current(found: Sequence[LedgerRow], store: Store) -> dict[tuple[str, str], Tried]:
    """Return what was tried, without what is out of date.

    That is of claims that come to something else by now, and settings that are no ends of plausible ranges any more.
    """
    hashes = {row.id: _hash(row) for row in found}
    return {key: one for key, one in store.items() if one.of == hashes.get(one.id, one.of) and is_end(one.set)}


def is_end(setting: str) -> bool:
    """Tell whether a setting as `--set` takes it is an end of the plausible range of a machine's number."""
    return setting in _ends(setting.partition(":")[0])


def turned(found: Iterable[LedgerRow], settings: Settings, store: Store) -> list[LedgerRow]:
    """Return the rows with the settings that turn their verdicts; those without moves stay as they are."""
    return [_turned(row, [move.text for move in moves(row, settings)], store) for row in found]


def load(path: Path) -> Store:
    """Return what was tried from a file; raises UserError where it has other columns, or another verdict."""
    reader = csv.reader(io.StringIO(input_file.text(path, "name another")))
    columns = [field.name for field in fields(Tried)]
    if next(reader, []) != columns:
        raise UserError(f"{path}:1: not a file of what was tried, whose columns are {','.join(columns)}; name another")
    return {(one.id, one.set): one for one in (_read(cells, f"{path}:{reader.line_num}") for cells in reader)}


def text(store: Store) -> str:
    """Return the text of the file: what was tried by claim, in the order of the ledger, and by setting."""
    order = {claim.id: place for place, claim in enumerate(read())}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(field.name for field in fields(Tried))
    for one in sorted((one for one in store.values() if one.id in order), key=lambda one: (order[one.id], one.set)):
        writer.writerow((asdict(one) | {"passed": VERDICTS[one.passed]}).values())
    return out.getvalue()


def again(job: Job, before: Job) -> Done | None:
    """Do a job anew that differs from one done before in a setting; None if its launches can't feel the difference."""
    try:
        views = _views(job)
        if views and all(map(same, views, _views_before(before))):
            return None
    except UserError:
        pass  # it is the job's own error, too
    return perform(of_time(job))


def _views(job: Job) -> list[View]:
    """What engines get of each of a job's launches; nothing if these are not known."""
    return [view(as_given(*launch)) for launch in launches(job)]


_views_before = lru_cache(maxsize=VIEWS)(_views)


@cache
def _moves(key: str, overrides: Pairs) -> Sequence[Move]:
    """All moves of a machine's numbers, but of those that are replaced."""
    found = model.facts(key, dict(overrides)).items()
    return [Move(key, path, str(value)) for path, fact in found for value in fact.plausible if value != fact.value]


@cache
def _ends(key: str) -> frozenset[str]:
    """The settings of all moves of a machine; none if there is no such machine."""
    return frozenset(move.text for move in _moves(key, ())) if key in names() else frozenset()


def _moved(bench: Bench, move: Move) -> Bench:
    """Return a bench on which one more number of a machine is replaced."""
    own = {**bench.settings.get(move.machine, {}), move.path: move.value}
    return replace(bench, settings={**bench.settings, move.machine: own})


def _submit(
    moved: Mapping[Task[LedgerRow], Move], done: Mapping[Job, Done], pool: Executor, each: Task[LedgerRow], job: Job
) -> Future[Done]:
    """Begin a job that a moved number may change; where it does not, the result is that of the job without the move."""
    before = _without(job, (moved[each].path, moved[each].value))
    if before == job or before not in done:
        return pool.submit(perform, of_time(job))
    result: Future[Done] = Future()
    result.set_running_or_notify_cancel()

    def pass_on(future: Future[Done | None]) -> None:
        if future.cancelled():  # nobody waits any more
            return
        if error := future.exception():
            result.set_exception(error)
        else:
            result.set_result(future.result() or done[before])

    pool.submit(again, job, before).add_done_callback(pass_on)
    return result


def _without(job: Job, pair: tuple[str, str]) -> Job:
    """Return the job without a setting."""
    return replace(job, arguments=tuple(_left(argument, pair) for argument in job.arguments))


def _left(argument: object, pair: tuple[str, str]) -> object:
    return tuple(each for each in argument if each != pair) if isinstance(argument, tuple) else argument


def _tried(before: LedgerRow, move: Move, after: LedgerRow) -> Tried:
    possible = not after.kind.startswith(NOT_COMPUTED)
    ours, passed = (after.ours, after.passed) if possible else (after.kind, None)
    return Tried(before.id, move.text, _hash(before), ours, passed)


def _hash(row: LedgerRow) -> str:
    """Return a hash of all that a claim says and comes to."""
    parts = row.published, row.tolerance, row.ours, row.note, VERDICTS[row.passed]
    return sha256("\n".join(parts).encode()).hexdigest()[:DIGITS]


def _turned(row: LedgerRow, settings: Sequence[str], store: Store) -> LedgerRow:
    if not settings:
        return row
    known = [store[row.id, setting] for setting in settings if (row.id, setting) in store]
    turns = tuple(one.set for one in known if one.passed is not None and one.passed is not row.passed)
    impossible = tuple(one.set for one in known if one.passed is None)
    untried = len(settings) - len(known)
    return replace(row, turned_by=turns, impossible=impossible, tried=len(known), untried=untried)


def _read(cells: Sequence[str], place: str) -> Tried:
    verdicts = {word: passed for passed, word in VERDICTS.items()}
    if len(cells) != len(fields(Tried)) or cells[-1] not in verdicts:
        raise UserError(f"{place}: not a row of what was tried; remove it")
    name, setting, of, ours, word = cells
    return Tried(name, setting, of, ours, verdicts[word])
