"""Functions of a bench, called until all of their jobs are done, in any process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from gpusim.reproduction.bench import Bench, Done, Job, Missing, perform
from gpusim.support.parallel.processes import AHEAD, cores

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Task(Generic[T]):
    """A function of a bench in progress, and the jobs that it waits for."""

    function: Callable[[Bench], T]
    bench: Bench
    needs: tuple[Job, ...] = field(default=(), init=False)


Submit = Callable[[Executor, Task[T], Job], "Future[Done]"]


def _perform(pool: Executor, _: Task[T], job: Job) -> Future[Done]:
    return pool.submit(perform, job)


def completed(tasks: Sequence[Task[T]], pool: Executor, submit: Submit[T] = _perform) -> Iterator[tuple[Task[T], T]]:
    """Yield each task with its result as soon as it is known: one that lacks jobs is called again when they are done.

    The benches of all tasks share what is done. `submit(pool, task, job)` begins a job that a task needs first. What a
    task needs after earlier jobs goes before the others: else its chain of jobs would be the last to end.
    """
    ready, waiting = list(tasks), list[Task[T]]()
    under_way: dict[Future[Done], Job] = {}
    queue: dict[Job, Task[T]] = {}
    most = AHEAD * cores()
    while ready or waiting:
        for each in ready:
            try:
                yield each, each.function(each.bench)
            except Missing as missing:
                again = bool(each.needs)
                each.needs = missing.jobs
                waiting.append(each)
                new = {job: each for job in each.needs if job not in under_way.values() and job not in queue}
                queue = new | queue if again else queue | new
        while queue and len(under_way) < most:
            job = next(iter(queue))
            under_way[submit(pool, queue.pop(job), job)] = job
        for future in wait(under_way, return_when=FIRST_COMPLETED).done:
            tasks[0].bench.done[under_way.pop(future)] = future.result()
        ready = [each for each in waiting if each.bench.done.keys() >= set(each.needs)]
        waiting = [each for each in waiting if each not in ready]
