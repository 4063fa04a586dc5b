"""Batches of pairs, of mutated texts and of programs of CUDA C, each from a seed, in any number of processes."""

from __future__ import annotations

import multiprocessing
import os
import resource
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from itertools import count, islice, takewhile
from random import Random
from time import monotonic
from types import MappingProxyType

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as with_seed

from fuzz import coverage, inputs, mutate, structure
from fuzz.checks import CHECKS, wrong_with
from fuzz.coverage import Coverage
from fuzz.cuda import batch as cuda
from fuzz.cuda import case
from fuzz.draw import batches
from fuzz.found import Found
from fuzz.pair import Pair
from fuzz.trial import trial
from isa.errors import UserError

EXAMPLES = 8  # of the strategy, for each batch
TEXTS = 60  # for each batch
MEMORY = 6 << 30  # bytes of a process
SECONDS = 60.0  # for a check of a pair
MOST = 20  # failures kept of one check


@dataclass
class Tally:
    """The coverage and the failures."""

    covered: Coverage = field(default_factory=Counter)
    found: list[Found] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add another tally; only the first failures of each check are kept, but all are counted."""
        self.covered += other.covered
        for each in other.found:
            if sum(one.check == each.check for one in self.found) < MOST:
                self.found.append(each)


def tried(pair: Pair, random: Random, always: bool = False) -> Tally:
    """Put a pair to all checks, or to those that are drawn."""
    tally = Tally(Coverage({"pairs": 1}))
    try:
        of = trial(pair)
    except UserError as error:
        return _failed(tally, Found("values", pair, f"UserError: {error}"))
    for name, check in CHECKS.items():
        if not always and random.randrange(check.every):
            continue
        try:
            with inputs.within(SECONDS):
                said = wrong_with(check, of)
        except inputs.OvertimeError as error:
            said = f"OvertimeError: {error}"
        tally.covered += Coverage({f"check: {name}": said is not None})
        if said:
            _failed(tally, Found(name, pair, said))
    try:
        tally.covered += Coverage(coverage.of_trial(of)) + coverage.cycles(of)
    except Exception as error:  # a run that no check reports
        _failed(tally, Found("values", pair, f"{type(error).__name__}: {error}"))
    return tally


def _failed(tally: Tally, found: Found) -> Tally:
    """Count a failure, and keep it."""
    tally.covered += Coverage({f"failed: {found.check}": 1})
    tally.found.append(found)
    return tally


def pairs(seed: int, examples: int = EXAMPLES) -> Tally:
    """Draw and try some batches of pairs."""
    tally, random = Tally(), Random(seed)

    @with_seed(seed)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(batches())
    def each(batch: list[Pair]) -> None:
        for pair in batch:
            tally.add(tried(pair, random))

    each()
    return tally


def texts(seed: int, number: int = TEXTS) -> Tally:
    """Mutate and read some texts of every kind."""
    tally, random = Tally(), Random(seed)
    inputs.warm()
    for _ in range(number):
        kind = random.choice(KINDS)
        known = inputs.seeds(kind)
        text = mutate.mutated(random.choice(known), known, random, structure.mutations(kind))
        said = inputs.wrong(kind, text)
        if said and said.startswith(inputs.OvertimeError.__name__):  # or something was compiled meanwhile
            said = inputs.wrong(kind, text)
        tally.covered += Coverage({"texts": 1, f"text: {kind}": 1})
        if said:
            _failed(tally, Found(kind, text, said))
    return tally


def programs(seed: int) -> Tally:
    """Draw some programs of CUDA C, and compare what they leave by nvcc and by g++."""
    if lacks := cuda.missing():
        return Tally(Coverage({f"not tried: CUDA C, without {lacks}": 1}))
    came = cuda.drawn(seed)
    tally = Tally(Coverage({"programs": came.programs, "runs of programs": len(came.runs)}))
    tally.covered += Coverage(f"compiled: {way}" for way in came.runs)
    for each in came.differences:
        _failed(tally, Found(case.CHECK, case.text(each), each.what))
    return tally


KINDS = tuple(kind for kind in inputs.READERS for _ in range(1 if kind == "command" else 3))
Batch = tuple[str, Callable[[], Tally]]  # a name and a function
Running = dict[Future[Tally], str]


ALL = MappingProxyType({"pairs": pairs, "texts": texts, "programs": programs})


def drawn(seed: int, only: str = "") -> Iterator[Batch]:
    """Yield batches without end, of one kind or of eight five of pairs, two of texts, one of programs."""
    for n in count(seed << 32):
        batch = programs if n % 8 == 1 else pairs if n % 4 else texts
        batch = ALL.get(only, batch)
        yield f"{batch.__name__}({n})", partial(batch, n)


def campaign(
    seconds: float, queue: Iterator[Batch], jobs: int, report: Callable[[Tally], None] = lambda _: None
) -> Tally:
    """Try batches for so many seconds; a batch whose process dies counts as failed."""
    tally, until = Tally(), monotonic() + seconds
    queue = takewhile(lambda _: monotonic() < until, queue)
    while True:
        running: Running = {}
        try:
            _in_processes(queue, tally, jobs, running, report)
        except BrokenProcessPool:
            died = [f"failed: process of {name}" for each, name in running.items() if not _finished(each)]
            tally.covered += Coverage(dict.fromkeys(died, 1))
        else:
            return tally


def _in_processes(
    queue: Iterator[Batch], tally: Tally, jobs: int, running: Running, report: Callable[[Tally], None]
) -> None:
    """Hand out batches and add their tallies; `running` has the batches whose result is still to come."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, initializer=_quota, initargs=(MEMORY,)) as pool:
        while True:
            running |= {pool.submit(batch): name for name, batch in islice(queue, jobs - len(running))}
            if not running:
                return
            for each in wait(running, return_when=FIRST_COMPLETED).done:
                tally.add(_result(each, running[each]))
                del running[each]
            report(tally)


def _result(future: Future[Tally], name: str) -> Tally:
    """Return a batch's tally, or one that counts the batch as failed if it raised."""
    error = future.exception()
    if error is None or isinstance(error, BrokenProcessPool):
        return future.result()
    return Tally(Coverage({f"failed: {type(error).__name__} in {name}": 1}))


def _finished(future: Future[Tally]) -> bool:
    return future.done() and future.exception() is None


def _quota(memory: int) -> None:
    """Limit the memory of a process, so that a text that asks for all memory fails, and not the computer."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
    os.nice(10)
