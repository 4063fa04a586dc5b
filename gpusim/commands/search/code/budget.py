"""`gpusim tune FILE.toml --budget N`: short trials choose which points are simulated in full, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated

from msgspec import Struct, structs
from rich.console import RenderableType

from gpusim.analysis.search.bounded_expression import Value
from gpusim.analysis.search.code.code_tuning import CodeTrial
from gpusim.analysis.search.code.halving import Compared, best, compared, missed, plan
from gpusim.commands.frame.document import new_table, right
from gpusim.support.document import doc
from gpusim.support.plural import plural
from isa.errors import UserError

Run = Callable[[int, Sequence[str]], Iterator[CodeTrial]]  # of so many warp instructions; 0: full trials
FULL = 0
COMPILE = "compile"


class Round(Struct, frozen=True):
    """Trials of the same length."""

    instructions: Annotated[int | None, doc("Warp instructions of each; null: full trials.")]
    points: Annotated[int, doc("Points of different machine code that had one.")]
    seconds: Annotated[float, doc("CPU seconds of all, without compilation.")]
    pairs: Annotated[int, doc("Points among them with a full trial, too.")]
    factor: Annotated[float | None, doc("Median of full over predicted time; null below three pairs.")]
    error_percent: Annotated[float | None, doc("Standard deviation from that; null below three pairs.")]


class LeftOut(Struct, frozen=True):
    """A point without a full trial, and the time that its longest short trial predicts."""

    point: dict[str, Value]
    milliseconds: float | None


class Budgeted(Struct, frozen=True):
    """What a budget was spent on, and what it may have cost."""

    budget: Annotated[int, doc("Full trials whose cost was given.")]
    rounds: list[Round]
    left_out: list[LeftOut]
    missed_percent: Annotated[
        float | None,
        doc("Chance that a point which was left out is the fastest, by the errors above; null where one is unknown."),
    ]


def halved(codes: Sequence[str], budget: int | None, known: Mapping[str, CodeTrial], run: Run) -> Iterator[CodeTrial]:
    """Yield the trials of pieces of machine code, again whenever more is known of one; raises UserError.

    `known`: what is on file of them, and is not run again. Without a budget all are run in full.
    """
    state, left = dict(known), list(codes)
    rounds = plan(len(codes), len(codes) if budget is None else budget)
    for instructions, many in rounds.rounds:
        left = best({code: _prediction(state.get(code)) for code in left}, many)
        missing = [code for code in left if not _has(state.get(code), instructions)]
        for found in run(instructions, missing):
            state[found.code] = _joined(state.get(found.code), found)
            yield state[found.code]
        left = [code for code in left if not state[code].reason]
        if left and all(_prediction(state[code]) is None for code in left):
            raise UserError(f"--budget {budget}: no point has a short trial; leave it out")
    left = best({code: _prediction(state.get(code)) for code in left}, rounds.full)
    for found in run(FULL, [code for code in left if code not in state or state[code].left_out]):
        yield structs.replace(found, short=state[found.code].short if found.code in state else [])


def _prediction(found: CodeTrial | None) -> float | None:
    return found.short[-1].milliseconds if found and found.short else None


def _has(found: CodeTrial | None, instructions: int) -> bool:
    """Tell whether a trial needs no short one of that length."""
    return found is not None and bool(found.reason or any(one.instructions == instructions for one in found.short))


def _joined(before: CodeTrial | None, found: CodeTrial) -> CodeTrial:
    """Return what was known of machine code with one more short trial, or the reason why there is none."""
    if before is None or found.reason:
        return found
    return structs.replace(before, short=sorted([*before.short, *found.short], key=lambda one: one.instructions))


def budgeted(budget: int, trials: Sequence[CodeTrial]) -> Budgeted:
    """Return the account of a machine's trials."""
    each = list({one.code: one for one in reversed(trials) if one.code}.values())
    lengths = sorted({short.instructions for one in each for short in one.short})
    errors = {length: compared(_pairs(each, length)) for length in lengths}
    full = [one for one in each if one.figures]
    spent = sum(sum(one.seconds.values()) - one.seconds.get(COMPILE, 0.0) for one in full)
    rounds = [_round(each, length, errors[length]) for length in lengths]
    return Budgeted(
        budget,
        [*rounds, Round(None, len(full), spent, len(full), None, None)],
        [LeftOut(one.point, _prediction(one)) for one in trials if one.left_out],
        _missed([one for one in each if one.left_out], errors, min(map(_milliseconds, full), default=0.0)),
    )


def _round(each: Sequence[CodeTrial], length: int, error: Compared | None) -> Round:
    some = [short.seconds for one in each for short in one.short if short.instructions == length]
    pairs = len(list(_pairs(each, length)))
    factor, percent = (error.factor, error.percent) if error else (None, None)
    return Round(length, len(some), sum(some), pairs, factor, percent)


def _pairs(each: Sequence[CodeTrial], length: int) -> Iterator[tuple[float, float]]:
    """Yield the predicted time and that of the full trial, of points that have both."""
    for one in each:
        for short in one.short:
            if one.figures and short.milliseconds and short.instructions == length:
                yield short.milliseconds, one.figures.milliseconds


def _missed(left_out: Sequence[CodeTrial], errors: Mapping[int, Compared | None], fastest: float) -> float | None:
    """Return the chance in percent; None where an error or a prediction is not known."""
    found = []
    for one in left_out:
        by, time = (errors[one.short[-1].instructions] if one.short else None), _prediction(one)
        if by is None or time is None:
            return None
        found.append((time, by))
    return 100 * missed(found, fastest)


def _milliseconds(one: CodeTrial) -> float:
    return one.figures.milliseconds if one.figures else 0.0


def screen(found: Budgeted) -> Iterator[RenderableType]:
    """Yield the rounds, and what they leave open."""
    yield f"\nwithin a budget of {plural(found.budget, 'full trial')}:\n"
    columns = right("points", "CPU seconds", "each", "error")
    yield new_table("trials", *columns, rows=[_row(one) for one in found.rounds], tight=True)
    pairs = max((one.pairs for one in found.rounds[:-1] if one.error_percent is not None), default=0)
    if pairs:
        yield f"error: standard deviation from {plural(pairs, 'full trial')}, after one factor"
    if found.left_out:
        chance = "not known" if found.missed_percent is None else f"{found.missed_percent:.2g} %"
        what = plural(len(found.left_out), "point")
        yield f"left out: {what}; chance that one is the fastest, by these errors: {chance}"


def _row(one: Round) -> tuple[str, ...]:
    what = "in full" if one.instructions is None else f"of {one.instructions:,} warp instructions"
    error = "" if one.error_percent is None else f"{one.error_percent:.2g} %"
    return what, f"{one.points:,}", f"{one.seconds:.1f}", f"{one.seconds / max(1, one.points):.2f}", error
