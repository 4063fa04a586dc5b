# /// script
# [tool.marimo.opengraph]
# title = "10. Make it faster"
# description = "Five programs to make faster in an editor, marked by simulated cycles and checked values. 45 minutes."
#
# [tool.marimo.display]
# theme = "system"
#
# [tool.gpusim]
# minutes = 45
# ///
"""Five programs to make faster in an editor, marked by simulated cycles and checked values."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="10. Make it faster")

with app.setup:
    import marimo as mo
    import matplotlib.pyplot as plt
    import puzzle
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch
    from teaching import Exercise, fields, marked, opening, picture, precomputed, working

    import gpusim
    from gpusim import Result
    from gpusim.analysis.account.stalls import lost_slots, waiting_most
    from gpusim.analysis.search.latencies import latencies
    from gpusim.simulation.timeline.build import timeline
    from gpusim.sm.unit.stall import Stall
    from gpusim.views.palette import COLOURS
    from gpusim.views.timeline.document import Timeline

    CARD = gpusim.load(puzzle.MACHINE)
    WINDOW = 2000  # cycles of the timeline that are shown at first
    WAITED = 5  # instructions before which warps wait most
    FRAMED = {"danger": "refused", "warn": "not yet", "success": "passed"}


@app.function(hide_code=True)
def precompute() -> list[int]:
    """Return the cycles of each puzzle's start."""
    return [puzzle.attempted(one, puzzle.start(one)).result.cycles for one in puzzle.PUZZLES]


@app.cell(hide_code=True)
def _():
    starts = precomputed(10)
    _figure, _axes = plt.subplots(figsize=(7.4, 2.8))
    _names = [f"{one.number}. {one.title}" for one in puzzle.PUZZLES]
    _bars = _axes.barh(_names, starts, color="C0", label="as given")
    _axes.bar_label(_bars, [f"{cycles:,}" for cycles in starts], padding=3, fontsize=9)
    _targets = [one.target for one in puzzle.PUZZLES]
    _axes.plot(_targets, _names, "|", color="C3", ms=18, mew=3, label="target")
    _axes.set_xscale("log")
    _axes.set(xlabel="shader cycles (logarithmic)", xlim=(500, 150_000))
    _axes.invert_yaxis()
    _axes.grid(axis="y", visible=False)
    _figure.legend(loc="outside upper right", ncols=2)
    opening(
        10,
        """A warp issues in program order, and waits until the operands of its next instruction are there. **So a
        program gets faster if what takes long is under way together: loads before their first use, several sums for
        one, accesses that share banks or lines as little as they must.** Here are five programs with one fault each.
        Edit them until they take no more cycles than the target, and still store the same values.""",
        picture(_figure, f"Cycles of the five programs on a {CARD.name}, and what yours may take."),
    )
    return (starts,)


@app.cell(hide_code=True)
def _():
    chosen = mo.ui.dropdown(
        {f"{one.number}. {one.title}": one for one in puzzle.PUZZLES},
        value=f"1. {puzzle.PUZZLES[0].title}",
        label="puzzle",
    )
    submitted = {}  # by puzzle, the answer that was simulated last
    mo.vstack([mo.md("## The puzzle"), chosen])
    return chosen, submitted


@app.cell(hide_code=True)
def _(chosen, starts, submitted):
    _one = chosen.value
    editor = mo.ui.code_editor(
        submitted.get(_one.number, puzzle.start(_one)), language="c", min_height=300, max_height=600
    ).form(submit_button_label="Simulate", bordered=False)
    mo.vstack(
        [
            mo.md(f"{_one.task} It takes {starts[_one.number - 1]:,} cycles; **{_one.target:,} will do.**"),
            editor,
            mo.md(
                "Lines with a dot describe the launch and must stay, except `.shared`. A listing's instructions are "
                "those of lesson 1; `LDG.128` and `LDS.128` take four registers, `IMAD d, a, b, c` is a x b + c."
            ),
            mo.accordion({"Hint": mo.md(_one.hint), "A solution": mo.md(f"```asm\n{puzzle.solution(_one)}```")}),
        ]
    )
    return (editor,)


@app.cell(hide_code=True)
def _(chosen, editor, submitted):
    text = editor.value or submitted.get(chosen.value.number) or puzzle.start(chosen.value)
    submitted[chosen.value.number] = text
    with working("Simulating the program."):
        attempt = puzzle.attempted(chosen.value, text)
    return attempt, text


@app.function(hide_code=True)
def judged(one: puzzle.Puzzle, attempt: puzzle.Attempt, text: str) -> tuple[str, str]:
    """Return the kind of frame around the verdict on an answer, and the verdict in Markdown."""
    if attempt.errors:
        shown = "\n\n".join(puzzle.in_place(text, error) for error in attempt.errors)
        return "danger", f"This can't be simulated:\n\n```text\n{shown}\n```"
    result = attempt.result
    if not puzzle.right(result):
        wrong = result.verification
        return "danger", f"{wrong.wrong:,} of {wrong.values:,} values are wrong; the first: {wrong.first_wrong}."
    said = f"All {result.verification.values:,} values are right, in **{result.cycles:,} cycles**"
    if puzzle.passes(one, attempt):
        return "success", f"{said}: the puzzle is solved, with {one.target - result.cycles:,} cycles to spare."
    limit = f"No order of these instructions takes less than {result.bound.cycles:,} ({result.bound.limiter})."
    return "warn", f"{said}, {result.cycles - one.target:,} more than the target. {limit}"


@app.cell(hide_code=True)
def _(attempt, chosen, text):
    _kind, _said = judged(chosen.value, attempt, text)
    mo.callout(mo.md(_said), kind=_kind)
    return


@app.cell(hide_code=True)
def _(attempt):
    _cycles = attempt.result.cycles if attempt.result else 1
    shown = mo.ui.range_slider(
        0, _cycles, value=(0, min(WINDOW, _cycles)), show_value=True, full_width=True, debounce=True, label="cycles"
    )
    mo.vstack([mo.md("## What the warps did"), shown]) if attempt.result else None
    return (shown,)


@app.function(hide_code=True)
def drawn(found: Timeline, first: int, last: int) -> Figure:
    """Figure: for each warp its issues and waits from one cycle to another."""
    seen = {}
    figure, axes = plt.subplots(figsize=(7.4, 1.6 + 0.3 * len(found.shown)))
    for made in found.instructions:
        spans = [(wait.reason, wait.start, wait.end - wait.start) for wait in made.waits]
        for name, start, length in (*spans, ("selected", made.issue, found.interval)):
            if start < last and start + length > first:
                axes.broken_barh([(start, length)], (made.warp - 0.4, 0.8), color=COLOURS[name].light, lw=0)
                seen.setdefault(name, Patch(color=COLOURS[name].light, label=name))
    axes.set(xlabel="shader cycle", ylabel="warp", xlim=(first, max(last, first + 1)), yticks=found.shown)
    axes.set_ylim(max(found.shown) + 0.5, -0.5)
    axes.grid(visible=False)
    figure.legend(handles=list(seen.values()), loc="outside lower center", ncols=4, fontsize="small")
    return figure


@app.cell(hide_code=True)
def _(attempt):
    with working("Following each warp."):
        followed = timeline(attempt.result.kernel, CARD) if attempt.result else None
    return (followed,)


@app.cell(hide_code=True)
def _(followed, shown):
    picture(
        drawn(followed, *shown.value),
        f"Cycles {shown.value[0]:,} to {shown.value[1]:,} of {followed.cycles:,}: each warp issues, or waits for a "
        "reason.",
    ) if followed else None
    return


@app.function(hide_code=True)
def slots(result: Result) -> str:
    """Return in Markdown what became of the issue slots: used, or lost for a reason."""
    slots = result.run.cycles * len(result.run.lost)
    lost = {reason: 100 * cycles / slots for reason, cycles in lost_slots(result.run).items()}
    rows = [f"| used | {100 - sum(lost.values()):.1f} % | an instruction was issued |"]
    rows += [f"| `{name}` | {share:.1f} % | {Stall[name.upper()].meaning} |" for name, share in lost.items()]
    return "\n".join(["| issue slots | share | |", "|:---|---:|:---|", *rows])


@app.function(hide_code=True)
def waits(result: Result) -> str:
    """Return in Markdown the instructions before which warps wait most."""
    code = result.kernel.program.instructions
    rows = [
        f"| {code[one.pc].line} | `{one.text}` | {100 * one.share:.0f} % | `{one.reason}` |"
        for one in waiting_most(result.kernel, result.run, WAITED)
    ]
    return "\n".join(["| line | warps wait before | of their time | mostly |", "|---:|:---|---:|:---|", *rows])


@app.cell(hide_code=True)
def _(attempt):
    mo.vstack(
        [
            mo.md("## What the scheduler did"),
            mo.md(f"Each of {CARD.schedulers.count} schedulers had a slot every {CARD.schedulers.interval} cycles."),
            mo.md(slots(attempt.result)),
            mo.md(waits(attempt.result)),
        ]
    ) if attempt.result else None
    return


@app.cell(hide_code=True)
def _():
    _latency = latencies(CARD).of["IMAD"].raw
    _banks = [lane * 32 % 32 for lane in range(32)]
    _lines = {lane * 32 // 128 for lane in range(32)}
    exercises = (
        Exercise(
            f"Puzzle 2 begins with a chain of 32 `IMAD`s, each of {_latency} cycles. How many cycles at least lie "
            "between the issue of the first and of the last?",
            31 * _latency,
            f"31 x {_latency} = {31 * _latency}: each waits for the one before. With four sums it is a quarter, or "
            f"the 31 x {CARD.schedulers.issue_interval} cycles between the issues of one warp, whichever is more.",
        ),
        Exercise(
            "In puzzle 3 as given, lane l of a warp reads word 32 l. How many passes does one load take?",
            max(map(_banks.count, _banks)),
            "Word 32 l is in bank 0 for each l, so 32 lanes want one bank: 32 passes. With rows of 33 words, word "
            "33 l is in bank l modulo 32: one pass.",
        ),
        Exercise(
            "In puzzle 4 as given, neighbouring lanes read words that are 32 bytes apart. How many lines of 128 bytes "
            "does one load touch?",
            len(_lines),
            f"32 x 32 bytes are {32 * 32:,}, so {len(_lines)} lines; neighbouring words would be in one.",
        ),
    )
    answers = fields(exercises)
    return answers, exercises


@app.cell(hide_code=True)
def _(answers, exercises):
    marked(10, exercises, answers)
    return


if __name__ == "__main__":
    app.run()
