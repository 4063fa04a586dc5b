"""The lessons run, open with a picture, and know the answers to their exercises."""

import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from draws import few

from gpusim.reproduction import claims, ledger

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
# Worked out by hand from the lesson's rule or its document; a few come from a run.
ANSWERS = {
    "lesson1_first_kernel": (8 * 128 - 1000, 4 * 13, 695 - 347, "a shorter latency"),
    "lesson2_latency_hiding": (24, 24 / 4, 27 * 32, 6),
    "lesson3_scheduling_policies": ("mio_throttle", 2, 2, "A warp may issue only every 6 cycles"),
    "lesson4_banks_and_wide_loads": (8, 1, 100 * 30.4 / 32 * 6 / 7, "LDS.64"),
    "lesson5_register_blocking": (7, 6, 100 * 36 / 42, 100 * 81 / 90),
    "lesson6_scheduling_by_hand": (1000 - 5 * 6, (46 - 6) - 2 * 6, 100 * 256 / 341, "long_scoreboard"),
    "lesson7_gcn_without_lds": (256 // 84, 100 * (1 - 20864 / 68416), 1792**2 // 64 // 256 - 3 * 64, 8 * 8),
    "lesson8_designing_a_gpu": ("two dispatch ports", "it is as fast as before", 100 * (1048348 / 797894 - 1)),
    "lesson9_how_far_to_trust": (
        "in sight",
        8,
        "pointer chase in 21.4 MB: L2",
        "policy gto",
    ),
}
MOVED = {  # values of widgets far from the first ones
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


def ran(name, **widgets):
    """Run a lesson as a script and return its outputs and its variables."""
    defs = {widget: SimpleNamespace(value=value) for widget, value in widgets.items()}
    outputs, variables = import_module(name).app.run(defs=defs)
    return [output.text for output in outputs if output is not None], variables


def check_opening(first):
    """Check that a lesson opens with a title, a rule in bold, and a picture with its text."""
    assert first.index("<h1") < first.index("<strong>") < first.index("<img")
    assert "alt=" in first[first.index("<img") :]


def check_answers(exercises, expected):
    """Check that there are two to four exercises, with the answers worked out by hand."""
    assert 2 <= len(exercises) <= 4
    for exercise, answer in zip(exercises, expected, strict=True):
        assert exercise.answer == (answer if isinstance(answer, str) else pytest.approx(answer))


def check_marks(exercises, verdict):
    """Check that the right answer is called right, another is not, and no answer gets no verdict."""
    for exercise in exercises:
        other = exercise.choices[exercise.choices[0] == exercise.answer] if exercise.choices else 1.2 * exercise.answer
        assert "Right" in verdict(exercise, exercise.answer).text
        assert "Not yet" in verdict(exercise, other).text
        assert verdict(exercise, None).text.find("Right") < 0
        assert not exercise.choices or exercise.answer in exercise.choices


def check_end(last, exercises):
    """Check that each exercise has a field and a folded solution."""
    assert last.count("<marimo-accordion") == len(exercises)
    assert last.count("<marimo-number") + last.count("<marimo-radio") == len(exercises)


def test_every_lesson_is_tested():
    """Each notebook has its answers in this file."""
    names = sorted(path.stem for path in NOTEBOOKS.glob("lesson*.py"))
    assert names == sorted(ANSWERS)


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("name", ANSWERS)
def test_a_lesson_runs_from_top_to_bottom(name, teaching):
    """A lesson opens with its rule and a picture, and ends with exercises that it marks right."""
    shown, variables = ran(name)
    exercises = variables["exercises"]
    check_opening(shown[0])
    check_answers(exercises, ANSWERS[name])
    check_marks(exercises, teaching.verdict)
    check_end(shown[-1], exercises)


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.usefixtures("teaching")
@pytest.mark.parametrize("name", MOVED)
def test_widgets_move_the_pictures_and_not_the_answers(name):
    """With its widgets moved a lesson shows something else, and its answers stay the same."""
    (shown, variables), (elsewhere, moved) = ran(name), ran(name, **MOVED[name])
    assert [one.answer for one in moved["exercises"]] == [one.answer for one in variables["exercises"]]
    assert set(elsewhere) - set(shown)


@pytest.mark.usefixtures("teaching")
def test_the_claims_of_lesson_9_need_no_run():
    """Each claim that lesson 9 offers is computed without a simulation."""
    quick = few(import_module("lesson9_how_far_to_trust").QUICK, 5)
    assert [row.id for row in ledger.without_runs(claims.select(quick), {})] == list(quick)


@pytest.mark.jit
@pytest.mark.usefixtures("teaching")
@pytest.mark.parametrize("policy", ["lrr", "gto", "two_level"])
def test_every_wait_of_lesson_3_is_explained(policy):
    """In each slot until it exits a warp issues, or the lesson says why it waits and for which warp.

    Only under `two_level` may a wait name no warp: some slots go to none.
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
