"""Shared parts of the lessons: their opening, their figures, and exercises with computed answers."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

import marimo as mo
import matplotlib.pyplot as plt
from dark import darken
from matplotlib.figure import Figure

from gpusim.sm.jit import code_cache
from gpusim.sm.jit.rule import COMPILED
from gpusim.support.lesson import listed

HERE = Path(__file__).parent
LESSONS = listed(HERE)
PRECOMPUTED = HERE / "precomputed.json"
FIRST_TIME = "The first simulation after an installation takes half a minute more: it compiles gpusim."
ONE_OF_BOTH = "<style>.on-dark, .dark .on-light {display: none} .dark .on-dark {display: block}</style>"
CAPTION = 'style="text-align: center; opacity: 0.75; font-size: 0.9em"'
SHORT = 60  # choices with fewer letters in all are in one row
plt.style.use(HERE / "lessons.mplstyle")


@dataclass(frozen=True, slots=True)
class Exercise:
    """A question with its answer, and the derivation, both in Markdown.

    A number may be off by the relative error `within`; an answer in words is one of `choices`.
    """

    question: str
    answer: float | str
    solution: str
    within: float = 0.01
    choices: tuple[str, ...] = ()


def picture(figure: Figure, caption: str) -> mo.Html:
    """Return a figure above its caption, which screen readers also read."""
    light = _image(figure, caption, "light")
    darken(figure)
    dark = _image(figure, caption, "dark")
    plt.close(figure)
    shown = f'<div style="overflow-x: auto">{light}{dark}</div>'
    return mo.Html(f"{ONE_OF_BOTH}<figure>{shown}<figcaption {CAPTION}>{escape(caption)}</figcaption></figure>")


def _image(figure: Figure, caption: str, scheme: str) -> str:
    """An image for pages of a scheme, as wide as the page, but not so narrow that its letters can't be read."""
    drawn = BytesIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None}, transparent=scheme == "dark")
    address = "data:image/svg+xml;base64," + b64encode(drawn.getvalue()).decode()
    return f'<img class="on-{scheme}" alt="{escape(caption)}" style="width: 100%; min-width: 34em" src="{address}">'


def opening(number: int, rule: str, shown: mo.Html) -> mo.Html:
    """Return the head of a lesson: its title, the rule that it is about, and the picture that shows it."""
    (title,) = (one.title for one in LESSONS if one.number == number)
    return mo.vstack([mo.md(f"{neighbours(number)}\n\n# {number}. {title}\n\n{rule}"), shown], gap=1)


def precomputed(number: int) -> Any:
    """Return what a lesson's `precompute` gives, as `make precomputed` stored it: no picture waits for a simulation."""
    return json.loads(PRECOMPUTED.read_text(encoding="utf-8"))[str(number)]


def working(what: str) -> AbstractContextManager[object]:
    """Show in the running cell what it computes, until it has."""
    compiled = not COMPILED or code_cache.holds("gpusim.engines.compiled", "run")
    shown: AbstractContextManager[object] = mo.status.spinner(what if compiled else f"{what} {FIRST_TIME}")
    return shown


def neighbours(number: int) -> str:
    """Return in Markdown links to the lesson before, to the list of all, and to the lesson after."""
    by = {one.number: f"[{{}}](?file={one.file})".format for one in LESSONS}
    title = {one.number: f"{one.number}. {one.title}" for one in LESSONS}
    before = [by[number - 1](f"← {title[number - 1]}")] if number - 1 in by else []
    after = [by[number + 1](f"{title[number + 1]} →")] if number + 1 in by else []
    return " · ".join([*before, "[all lessons](./)", *after])


def fields(exercises: Sequence[Exercise]) -> mo.ui.array:
    """Return a field for the answer of each exercise, empty."""
    return mo.ui.array([_field(exercise.choices) for exercise in exercises])


def _field(choices: tuple[str, ...]) -> Any:
    if choices:
        return mo.ui.radio(list(choices), inline=sum(map(len, choices)) < SHORT)
    return mo.ui.number(label="Your answer:")


def is_right(exercise: Exercise, given: float | str) -> bool:
    """Tell whether an answer is right."""
    if isinstance(exercise.answer, str) or isinstance(given, str):
        return given == exercise.answer
    return abs(given - exercise.answer) <= exercise.within * abs(exercise.answer)


def marked(number: int, exercises: Sequence[Exercise], answers: mo.ui.array) -> mo.Html:
    """Return a lesson's exercises with their fields, a verdict on each answer, folded solutions, and its neighbours."""
    parts: list[object] = [mo.md("## Exercises")]
    for place, (exercise, field, given) in enumerate(zip(exercises, answers, answers.value, strict=True), start=1):
        solution = mo.accordion({"Solution": mo.md(exercise.solution)})
        parts += [mo.md(f"**{place}.** {exercise.question}"), field, verdict(exercise, given), solution]
    return mo.vstack([*parts, mo.md(neighbours(number))], gap=0.7)


def verdict(exercise: Exercise, given: Any) -> mo.Html:
    """Return the verdict on an answer; empty if there is none."""
    if given is None:
        return mo.md("")
    right = is_right(exercise, given)
    return mo.callout("Right." if right else "Not yet: look again.", kind="success" if right else "warn")
