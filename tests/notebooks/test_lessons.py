"""The lessons run, open on a picture, and know the answers to their exercises."""

import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpusim.reproduction import claims, ledger

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
# By hand, from the rule that the lesson states or the document it follows; where only a run can tell, from that run.
ANSWERS = {
    "lesson1_first_kernel": (8 * 128 - 1000, 4 * 13, 600 - 300, "a shorter latency"),
    "lesson2_latency_hiding": (24, 24 / 4, 27 * 32, 6),
    "lesson3_scheduling_policies": ("mio_throttle", 2, 2, "A warp may issue only every 6 cycles"),
    "lesson4_banks_and_wide_loads": (8, 1, 100 * 30.4 / 32 * 6 / 7, "LDS.64"),
    "lesson5_register_blocking": (7, 6, 100 * 36 / 42, 100 * 81 / 90),
    "lesson6_scheduling_by_hand": (1000 - 5 * 6, (46 - 6) - 2 * 6, 100 * 256 / 341, "long_scoreboard"),
    "lesson7_gcn_without_lds": (256 // 84, 100 * (1 - 20864 / 68416), 1792**2 // 64 // 256 - 3 * 64, 8 * 8),
    "lesson8_designing_a_gpu": ("two dispatch ports", "it is as fast as before", 100 * (1028546 / 791098 - 1)),
    "lesson9_how_far_to_trust": (
        "predicted",
        100 * (291 / 280.4 - 1),
        "pointer chase in 200 KB: past the L1",
        "policy gto",
    ),
}
MOVED = {  # widgets far from where they stand at first
    "lesson1_first_kernel": {"latency": 100, "warps": 1},
    "lesson2_latency_hiding": {"warps": 32, "chains": 8, "latency": 6},
    "lesson3_scheduling_policies": {"policies": ["two_level", "cggty"], "rules": [False] * 4},
    "lesson4_banks_and_wide_loads": {"stride": 0},
    "lesson5_register_blocking": {"blocking": 12, "depth": 32, "side": 32, "words": 4},
    "lesson6_scheduling_by_hand": {"order": "caab"},
    "lesson7_gcn_without_lds": {"clock": 1100},
    "lesson8_designing_a_gpu": {"cycles": 1, "lanes": 8, "ports": 2, "queue": 8, "width": "LDS.128"},
    "lesson9_how_far_to_trust": {"chosen": "TN19"},
}


@pytest.fixture(scope="module")
def teaching():
    """Return the module that the lessons share."""
    pytest.importorskip("marimo", reason="lessons need the extra: pip install gpusim[lessons]")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(NOTEBOOKS), *sys.path])
        yield import_module("teaching")


@pytest.fixture(scope="module", params=ANSWERS)
def lesson(request):
    """Return name, outputs and variables of a lesson that has run from top to bottom, as it does as a script."""
    request.getfixturevalue("teaching")
    outputs, variables = import_module(request.param).app.run()
    return request.param, [output for output in outputs if output is not None], variables


def test_every_lesson_is_tested():
    """The notebooks are those whose answers stand here."""
    names = sorted(path.stem for path in NOTEBOOKS.glob("lesson*.py"))
    assert names == sorted(ANSWERS)


@pytest.mark.slow
@pytest.mark.jit
def test_a_lesson_opens_on_its_rule_and_a_picture(lesson):
    """What comes first has a title, a rule in bold, and behind both a picture with its text."""
    first = lesson[1][0].text
    assert first.index("<h1") < first.index("<strong>") < first.index("<img")
    assert "alt=" in first[first.index("<img") :]


@pytest.mark.slow
@pytest.mark.jit
def test_the_answers_hold(lesson):
    """Two to four exercises, whose computed answers are those worked out by hand."""
    name, _, variables = lesson
    computed = [exercise.answer for exercise in variables["exercises"]]
    assert 2 <= len(computed) <= 4
    for answer, expected in zip(computed, ANSWERS[name], strict=True):
        assert answer == (expected if isinstance(expected, str) else pytest.approx(expected))


@pytest.mark.slow
@pytest.mark.jit
def test_answers_are_marked(lesson, teaching):
    """Of each exercise the right answer is called right, another is not, and none is left uncommented."""
    for exercise in lesson[2]["exercises"]:
        other = exercise.choices[exercise.choices[0] == exercise.answer] if exercise.choices else 1.2 * exercise.answer
        assert "Right" in teaching.verdict(exercise, exercise.answer).text
        assert "Not yet" in teaching.verdict(exercise, other).text
        assert teaching.verdict(exercise, None).text.find("Right") < 0
        assert not exercise.choices or exercise.answer in exercise.choices


@pytest.mark.slow
@pytest.mark.jit
def test_exercises_come_last_with_solutions_folded(lesson):
    """The last output has each question with a field, and its solution in a fold."""
    last, exercises = lesson[1][-1].text, lesson[2]["exercises"]
    assert last.count("<marimo-accordion") == len(exercises)
    assert last.count("<marimo-number") + last.count("<marimo-radio") == len(exercises)


@pytest.mark.slow
@pytest.mark.jit
def test_widgets_move_the_pictures_and_not_the_answers(lesson):
    """With its widgets elsewhere a lesson runs as well, shows something else, and asks for the same answers."""
    name, shown, variables = lesson
    widgets = {widget: SimpleNamespace(value=value) for widget, value in MOVED[name].items()}
    outputs, moved = import_module(name).app.run(defs=widgets)
    assert [one.answer for one in moved["exercises"]] == [one.answer for one in variables["exercises"]]
    assert {output.text for output in outputs if output is not None} - {output.text for output in shown}


@pytest.mark.slow
@pytest.mark.usefixtures("teaching")
def test_the_claims_of_lesson_9_need_no_run():
    """Each claim that the lesson offers is computed without simulating anything."""
    quick = import_module("lesson9_how_far_to_trust").QUICK
    assert [row.id for row in ledger.without_runs(claims.select(quick), {})] == list(quick)


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.usefixtures("teaching")
@pytest.mark.parametrize("policy", ["lrr", "gto", "two_level"])
def test_every_wait_of_lesson_3_is_explained(policy):
    """Until it exits a warp is said, in each slot, to issue, or why it does not and for whom.

    For nobody only where two levels leave a slot to none.
    """
    lesson3 = import_module("lesson3_scheduling_policies")
    found = lesson3.ran(policy, {})
    by = lesson3.states(found)
    for warp in found.shown:
        exits = max(cycle for g, cycle in by if g == warp)
        said = [lesson3.why(found, warp, cycle) for cycle in range(0, exits + 1, 2)]
        assert all(text.startswith(("**issues**", "before `")) for text in said)
        assert policy == "two_level" or all("← warp" in text for text in said if text.startswith("before"))
        assert sum(text.startswith("**issues**") for text in said) == len(found.program) - 1
