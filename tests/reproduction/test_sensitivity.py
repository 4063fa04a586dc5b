from dataclasses import replace
from pathlib import Path

import pytest

from gpusim.machine import machine as model
from gpusim.reproduction import ledger, sensitivity
from gpusim.reproduction.bench import Bench, Job, Run, of_time, perform
from gpusim.reproduction.claims import read, select
from gpusim.reproduction.finding import counted, not_reproducible, predicted
from gpusim.reproduction.sensitivity import Tried, again, load, moves, text, tried, turned
from isa.errors import UserError

QUEUE = "gtx580:load_store.queue=4"
STAGGER = "gtx580:schedulers.stagger=1"
NO_ENDS = "gtx580:load_store.queue=3", "gtx580:load_store.queue=1", "gtx580:no.such=1", "gtx1:load_store.queue=4", "x"
ROOT = Path(__file__).parents[2]


def slots(settings):
    """Return a number that depends on the queue of the machine, in another process."""
    return dict(settings).get("load_store.queue", "1")


def by_queue(bench):
    """Compute 31.3 where the queue is 1, else less."""
    return predicted(32.3 - int(bench.compute(slots, bench.pairs("gtx580"))))


def impossible(bench):
    """Fail where the schedulers are staggered."""
    if "schedulers.stagger" in dict(bench.pairs("gtx580")):
        raise UserError("not this one")
    return predicted(33.3)


FINDERS = {
    "LS18": impossible,
    "LS36": by_queue,
    "LS37": lambda _: counted(30.4),
    "LS38": lambda _: not_reproducible("x"),
}


@pytest.fixture(name="found")
def rows_of_some_claims(monkeypatch):
    """Return rows of made-up claims, and what is done for them."""
    monkeypatch.setattr(ledger, "FINDERS", FINDERS)
    done = {}
    return list(ledger.rows(select(FINDERS), {}, 1, done=done)), done


def named(row, settings=None):
    """Return the moves of a row as text."""
    return [move.text for move in moves(row, settings or {})]


def test_each_end_of_each_plausible_range_is_a_move(found):
    """Simulated claims have a move for each end, or other word, of each number of their machines but its own value."""
    rows, _ = found
    facts = model.facts("gtx580").items()
    ends = [f"gtx580:{path}={end}" for path, fact in facts for end in fact.plausible if end != fact.value]
    assert named(rows[1]) == ends
    assert QUEUE in ends
    assert "gtx580:load_store.queue=1" not in ends
    assert [each for each in ends if "schedulers.policy" in each] == [
        f"gtx580:schedulers.policy={name}" for name in ("gto", "oldest", "cggty", "two_level")
    ]


def test_other_claims_have_no_moves(found):
    """Neither a count, nor a claim without a verdict, nor one with an error is tried; a number that was set stays."""
    rows, _ = found
    assert [len(moves(row, {})) > 0 for row in rows] == [True, True, False, False]
    assert moves(replace(rows[1], kind="not computed: it broke"), {}) == []
    assert len(named(rows[1])) == len(named(rows[1], {"gtx580": {"load_store.queue": "1"}})) + 1


def test_a_verdict_is_turned_by_what_moves_it(found):
    """Of all moves only the longer queue turns the claim that depends on it; those of impossible runs are listed."""
    rows, done = found
    reported = []
    store = tried(rows, {}, done, 2, store={}, report=lambda *counts: reported.append(counts))
    first, second, *others = turned(rows, {}, store)
    assert (first.impossible, second.impossible) == ((STAGGER,), ())
    count = len(named(rows[1]))
    assert (second.passed, second.turned_by, second.tried) == (True, (QUEUE,), count)
    assert (first.passed, first.turned_by, first.tried) == (True, (), count)
    assert {(row.turned_by, row.tried) for row in others} == {(None, None)}
    assert reported[-1] == (count, count)
    assert store["LS36", QUEUE].ours == "28.3"
    failing = [replace(row, passed=False) for row in rows]
    assert turned(failing, {}, store)[1].turned_by == tuple(name for name in named(rows[1]) if name != QUEUE)


def test_only_what_is_missing_is_tried(found):
    """What a file has is not tried again, unless the claim itself comes to something else by now.

    Settings that are no end of a plausible range leave the file.
    """
    rows, done = found
    store = tried(rows, {}, done, 1, store={})
    kept = {key: replace(one, ours="kept") for key, one in store.items()}
    assert tried(rows, {}, done, 1, store=kept) == kept
    less = {key: one for key, one in kept.items() if key != ("LS36", QUEUE)}
    again_tried = tried(rows, {}, done, 1, store=less)
    assert {key for key, one in again_tried.items() if one.ours != "kept"} == {("LS36", QUEUE)}
    old = {key: replace(one, of="0" * 12) for key, one in kept.items() if key[0] == "LS36"}
    assert {one.ours for key, one in tried(rows, {}, done, 1, store=old).items() if key[0] == "LS36"} == {
        "31.3",
        "28.3",
    }
    gone = {("LS36", name): Tried("LS36", name, store["LS36", QUEUE].of, "31.3", passed=True) for name in NO_ENDS}
    assert tried(rows, {}, done, 1, store={**kept, **gone}) == kept
    other = {("TN01", QUEUE): Tried("TN01", QUEUE, "", "1", None)}
    assert tried(rows, {}, done, 1, store={**kept, **other}) == {**kept, **other}


def test_what_was_tried_is_kept_as_it_goes(found):
    """After each step the whole store is kept, so that an interruption loses little."""
    rows, done = found
    sizes = []
    tried(rows[1:2], {}, done, 1, store={}, keep=lambda store: sizes.append(len(store)))
    assert sizes == list(range(1, len(named(rows[1])) + 1))


def test_the_file_is_read_as_it_was_written(tmp_path):
    """All is written by claim and setting, and read again; claims that are no more are left out."""
    path = tmp_path / "tried.csv"
    ones = [Tried("TN01", STAGGER, "abc", "1 / 2", passed=True), Tried("LS36", STAGGER, "abc", "", passed=None)]
    ones += [Tried("LS36", QUEUE, "abc", "a, b", passed=False)]
    store = {(one.id, one.set): one for one in ones}
    path.write_text(text({**store, ("XX01", QUEUE): Tried("XX01", QUEUE, "", "", passed=None)}))
    assert load(path) == store
    assert [line.split(",")[:2] for line in path.read_text().splitlines()] == [
        ["id", "set"],
        ["LS36", QUEUE],
        ["LS36", STAGGER],
        ["TN01", STAGGER],
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", ":1: not a file of what was tried, whose columns are id,set,of,ours,passed; name another"),
        ("id,seed\n", ":1: not a file of what was tried"),
        ("id,set,of,ours,passed\nLS36,a,b,c\n", ":2: not a row of what was tried; remove it"),
        ("id,set,of,ours,passed\nLS36,a,b,c,maybe\n", ":2: not a row of what was tried; remove it"),
    ],
)
def test_another_file_is_refused(tmp_path, content, message):
    """Other columns, missing cells and other verdicts end in one line with the place."""
    path = tmp_path / "other.csv"
    path.write_text(content)
    with pytest.raises(UserError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}{message}")


def job(**settings):
    """Return the job of a chain of FFMAs with settings."""
    bench = Bench({"gtx580": {path.replace("__", "."): str(value) for path, value in settings.items()}})
    return bench._job(Run("chain", "gtx580", {"length": 8}))


@pytest.mark.jit
def test_a_run_that_cannot_feel_a_setting_is_not_repeated():
    """A chain of FFMAs can't feel the latency of special functions, and is repeated with another one of FFMAs."""
    before = job()
    assert again(job(unit__sfu__latency=40), before) is None
    slower = again(job(unit__fp32__latency=22), before)
    assert slower.value.cycles > perform(before).value.cycles
    assert isinstance(again(job(unit__fp32__pipe="none"), before).error, UserError)


@pytest.mark.jit
def test_the_time_alone_is_the_same():
    """Without the check of values a run has the same cycles, and other jobs stay as they are."""
    assert perform(of_time(job())).value.cycles == perform(job()).value.cycles
    assert not perform(of_time(job())).value.checked
    assert of_time(Job(slots, ((),))) == Job(slots, ((),))


def test_the_kept_file_has_ends_of_plausible_ranges_alone():
    """Each setting of docs/sensitivity.csv is an end of the plausible range of a machine's number as it is now."""
    kept = load(ROOT / "docs" / "sensitivity.csv").values()
    assert kept
    assert sorted({one.set for one in kept if not sensitivity.is_end(one.set)}) == []


def used():
    """Return the machines on which claims of the written page are simulated."""
    page = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8").splitlines()
    cells = [line.split(" | ") for line in page if line[2:6] in {claim.id for claim in read()}]
    kinds = sensitivity.SIMULATED
    return sorted({key for row in cells if row[6].split(":")[0] in kinds for key in row[8].split(", ") if key})


@pytest.mark.parametrize("name", used())
def test_the_machines_with_claims_have_plausible_ranges(name):
    """Where claims are simulated every guess and fitted number has a range, and machines exist at all ends."""
    facts = model.facts(name).items()
    assert [path for path, fact in facts if fact.method in ("guess", "fitted") and not fact.plausible] == []
    for path, fact in facts:
        for end in fact.plausible:
            model.load(name, {path: end})  # raises UserError where the machine can't have it


@pytest.mark.long
@pytest.mark.jit
def test_a_claim_is_turned_by_the_settings_that_its_run_feels(monkeypatch):
    """A claim on the cycles of a chain of FFMAs is turned by their latency; another latency leaves its result alone."""
    cycles = perform(job()).value.cycles

    def same_cycles(bench):
        (run,) = bench.runs(Run("chain", "gtx580", {"length": 8}))
        return predicted(f"{run.cycles}", passed=run.cycles == cycles)

    monkeypatch.setattr(ledger, "FINDERS", {"LS36": same_cycles})
    done = {}
    rows = list(ledger.rows(select(["LS36"]), {}, 1, done=done))
    store = tried(rows, {}, done, 2, store={})
    (row,) = turned(rows, {}, store)
    assert "gtx580:unit.fp32.latency=22" in row.turned_by
    assert store["LS36", "gtx580:unit.sfu.latency=40"].ours == rows[0].ours == str(cycles)
    assert row.tried == len(named(row))
