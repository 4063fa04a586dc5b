"""Functions of a bench are called until their jobs are done, those of a chain first."""

from concurrent.futures import Executor, Future

from gpusim.reproduction.bench import Bench, Done, Job
from gpusim.reproduction.tasks import Task, completed


def named(name: str) -> str:
    """Be the function of a job."""
    return name


def test_what_a_task_needs_after_earlier_jobs_goes_before_the_others():
    """One task needs a job after another, twenty need one each: its second job begins before the last of theirs."""
    begun = list[str]()

    def submit(_pool: Executor, _task: Task[str], job: Job) -> Future[Done]:
        begun.append(job.arguments[0])
        future = Future[Done]()
        future.set_result(Done(job.arguments[0], None, 0.0))
        return future

    def chain(bench: Bench) -> str:
        return bench.compute(named, "first") + bench.compute(named, "second")

    others = [f"other {i}" for i in range(200)]
    bench = Bench()
    tasks = [Task(chain, bench), *(Task(lambda bench, name=name: bench.compute(named, name), bench) for name in others)]
    found = [result for _, result in completed(tasks, None, submit)]
    assert sorted(found) == sorted(["firstsecond", *others])
    assert sorted(begun) == sorted(["first", "second", *others])
    assert begun.index("second") < begun.index(others[-1])
