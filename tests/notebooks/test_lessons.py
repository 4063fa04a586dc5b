"""The lessons run, open with a picture, and know the answers to their exercises."""

import json
import re
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from draws import few

from gpusim.engines import simulate
from gpusim.reproduction import claims, ledger
from gpusim.support import lesson

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
LESSONS = lesson.listed(NOTEBOOKS)
# Worked out by hand from the lesson's rule or its document; a few come from a run.
ANSWERS = {
    "lesson01_first_kernel": (8 * 128 - 1000, 4 * 13, 695 - 347, "a shorter latency"),
    "lesson02_latency_hiding": (24, 24 / 4, 27 * 32, 6),
    "lesson03_scheduling_policies": ("mio_throttle", 2, 2, "A warp may issue only every 6 cycles"),
    "lesson04_banks_and_wide_loads": (8, 1, 100 * 30.4 / 32 * 6 / 7, "LDS.64"),
    "lesson05_register_blocking": (7, 6, 100 * 36 / 42, 100 * 81 / 90),
    "lesson06_scheduling_by_hand": (1000 - 5 * 6, (46 - 6) - 2 * 6, 100 * 256 / 341, "long_scoreboard"),
    "lesson07_gcn_without_lds": (256 // 84, 100 * (1 - 20864 / 68416), 1792**2 // 64 // 256 - 3 * 64, 8 * 8),
    "lesson08_designing_a_gpu": ("two dispatch ports", "it is as fast as before", 100 * (1048348 / 797894 - 1)),
    "lesson09_how_far_to_trust": (
        "in sight",
        8,
        "pointer chase in 21.4 MB: L2",
        "policy gto",
    ),
    "lesson10_make_it_faster": (31 * 18, 32, 8),
    "lesson11_from_cuda": (7, 32, 32, 16878 / 3449),
    "lesson12_tensor_cores": (128 * 128 * 512 / 2048, 96 * 32 / 512, 100 * 64 * 10700 / 132 / (192 * 32), 19242 / 7666),
}
COMPUTING = [one for one in ANSWERS if "def precompute(" in (NOTEBOOKS / f"{one}.py").read_text(encoding="utf-8")]
LONG = "lesson09_how_far_to_trust"  # its simulations take 47 s of CPU, those of all others 24
MOVED = {  # values of widgets far from the first ones
    "lesson01_first_kernel": {"latency": 100, "warps": 1},
    "lesson02_latency_hiding": {"warps": 32, "chains": 8, "latency": 6},
    "lesson03_scheduling_policies": {"policies": ["two_level", "cggty"], "rules": [False] * 4},
    "lesson04_banks_and_wide_loads": {"stride": 0},
    "lesson05_register_blocking": {"blocking": 12, "depth": 32, "side": 32, "words": 4},
    "lesson06_scheduling_by_hand": {"order": "caab"},
    "lesson07_gcn_without_lds": {"clock": 1100},
    "lesson08_designing_a_gpu": {"cycles": 1, "lanes": 8, "ports": 2, "queue": 8, "width": "LDS.128"},
    "lesson09_how_far_to_trust": {"chosen": "TN19"},
    "lesson10_make_it_faster": {"editor": "EXIT"},
    "lesson11_from_cuda": {"version": "tile"},
    "lesson12_tensor_cores": {"version": "wgmma", "rows": 256, "columns": 256, "stages": 6, "sharers": 2},
}


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


def test_every_lesson_says_the_same_of_itself_everywhere():
    """The header's title is the page's, and its description is the docstring's sentence and the minutes."""
    for one in LESSONS:
        path = NOTEBOOKS / one.file
        shown = lesson.header(path)["marimo"]
        assert shown["opengraph"]["title"] == f"{one.number}. {one.title}"
        assert f'app_title="{one.number}. {one.title}"' in path.read_text(encoding="utf-8")
        assert shown["opengraph"]["description"] == f"{one.what} {one.minutes} minutes."
        assert shown["display"]["theme"] == "system"


def test_the_list_of_notebooks_has_the_headers(teaching):
    """Marimo's list, which sorts by file, has the lessons in their order, with title and description."""
    from marimo._metadata.opengraph import read_opengraph_from_file  # noqa: PLC0415  (an extra)

    files = sorted(path for path in NOTEBOOKS.glob("*.py") if "marimo.App(" in path.read_text(encoding="utf-8"))
    assert [path.name for path in files] == [one.file for one in teaching.LESSONS]
    for path, one in zip(files, LESSONS, strict=True):
        found = read_opengraph_from_file(str(path))
        assert (found.title, found.description) == (f"{one.number}. {one.title}", f"{one.what} {one.minutes} minutes.")


def test_every_lesson_links_to_its_neighbours(teaching):
    """The first and the last lesson have one neighbour, the others two; all link to the list."""
    for place, one in enumerate(LESSONS):
        links = re.findall(r"\]\((.*?)\)", teaching.neighbours(one.number))
        around = [LESSONS[other].file for other in (place - 1, place + 1) if 0 <= other < len(LESSONS)]
        assert [link.removeprefix("?file=") for link in links if link != "./"] == around
        assert "./" in links


def test_every_lesson_is_tested():
    """Each notebook has its answers in this file."""
    names = sorted(path.stem for path in NOTEBOOKS.glob("lesson*.py"))
    assert names == sorted(ANSWERS)


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.every
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.slow if one == LONG else ()) for one in COMPUTING]
)
def test_what_is_precomputed_is_what_is_computed(name, teaching):
    """What a lesson shows before it simulates is what simulating gives now; `make precomputed` stores it anew."""
    stored = json.loads(teaching.PRECOMPUTED.read_text(encoding="utf-8"))
    found = import_module("precompute").computed(name)
    assert found == {number: stored[number] for number in found}
    assert len(found) == 1


def test_every_lesson_that_computes_beforehand_has_it_stored(teaching):
    """The file of what is precomputed has the lessons that have a `precompute`, and no other."""
    modules = {str(one.number): import_module(one.file.removesuffix(".py")) for one in LESSONS}
    stored = json.loads(teaching.PRECOMPUTED.read_text(encoding="utf-8"))
    assert set(stored) == {number for number, module in modules.items() if hasattr(module, "precompute")}


class SimulationError(Exception):
    """A lesson simulates."""


@pytest.mark.jit
@pytest.mark.parametrize("name", few(ANSWERS, 1))
def test_the_first_picture_waits_for_no_simulation(name, teaching, monkeypatch):
    """Where nothing can be simulated, a lesson still draws its first picture."""
    opened = []

    def refused(*_):
        raise SimulationError

    monkeypatch.setattr(simulate, "_engine", refused)
    monkeypatch.setattr(teaching, "neighbours", lambda number: opened.append(number) or "")  # an opening calls it
    with suppress(SimulationError):
        import_module(name).app.run()
    assert opened[0] == int(name.removeprefix("lesson")[:2])


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("name", ANSWERS)
def test_a_lesson_runs_from_top_to_bottom(name, teaching):
    """A lesson opens with links, its rule and a picture, and ends with exercises that it marks right, and links."""
    shown, variables = ran(name)
    assert 'href="./"' in shown[0]
    assert 'href="./"' in shown[-1]
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


@pytest.mark.long
@pytest.mark.usefixtures("teaching")
def test_the_claims_of_lesson_9_need_no_run():
    """Each claim that lesson 9 offers is computed without a simulation."""
    quick = few(import_module("lesson09_how_far_to_trust").QUICK, 5)
    assert [row.id for row in ledger.without_runs(claims.select(quick), {})] == list(quick)


@pytest.mark.jit
@pytest.mark.usefixtures("teaching")
@pytest.mark.parametrize("policy", ["lrr", "gto", "two_level"])
def test_every_wait_of_lesson_3_is_explained(policy):
    """In each slot until it exits a warp issues, or the lesson says why it waits and for which warp.

    Only under `two_level` may a wait name no warp: some slots go to none.
    """
    third = import_module("lesson03_scheduling_policies")
    found = third.ran(policy, {})
    by = third.states(found)
    for warp in found.shown:
        exits = max(cycle for g, cycle in by if g == warp)
        said = [third.why(found, warp, cycle) for cycle in range(0, exits + 1, 2)]
        assert all(text.startswith(("**issues**", "before `")) for text in said)
        assert policy == "two_level" or all("← warp" in text for text in said if text.startswith("before"))
        assert sum(text.startswith("**issues**") for text in said) == len(found.program) - 1
