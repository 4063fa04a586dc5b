# /// script
# [tool.marimo.opengraph]
# title = "3. Warp scheduling policies"
# description = "Warp scheduling policies side by side, slot by slot, and why each warp waits. 30 minutes."
#
# [tool.marimo.display]
# theme = "system"
#
# [tool.gpusim]
# minutes = 30
# ///
"""Warp scheduling policies side by side, slot by slot, and why each warp waits."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="3. Warp scheduling policies")

with app.setup:
    from collections.abc import Mapping

    import marimo as mo
    import matplotlib.pyplot as plt
    from teaching import Exercise, fields, marked, opening, picture, precomputed, working

    import gpusim
    from gpusim.simulation.timeline.build import timeline
    from gpusim.sm.front.policies.declaration import POLICY_NAMES
    from gpusim.views.explain import Step, explain
    from gpusim.views.palette import COLOURS as PALETTE
    from gpusim.views.timeline.document import Issued, Timeline, Wait
    from isa.text import listing

    State = tuple[str, Issued, Wait | None]  # name of the state or stall reason, the instruction, why it waits
    States = dict[tuple[int, int], State]  # by warp and cycle
    WARPS, ROUNDS, PAIRS = 6, 4, 3
    FIRST = 260  # cycles in the first picture
    SLOTS = 40  # shown at once
    DEPTH = 4  # steps shown back to the cause
    MACHINE = {"schedulers.count": 1, "launch.warp_skew": 0}
    RULES = {  # by rule, the numbers of the machine that switch it off
        "A warp may issue only every 6 cycles": {"schedulers.issue_interval": 2},
        "The result of a multiply-add is available after 18 cycles": {"unit.fp32.latency": 4},
        "The result of a load is available after 46 cycles": {"shared_memory.latency_128": 4},
        "A load that finds the queue full costs its slot": {"issue.refused_wastes_slot": 0},
    }
    COLOURS = {
        name: PALETTE[name]
        for name in (
            "selected",
            "issue_interval",
            "wait",
            "short_scoreboard",
            "mio_throttle",
            "not_selected",
            "math_pipe_throttle",
        )
    }
    OTHER = "white"  # in the picture; the grid has no colour there
    MEANING = {
        "lrr": "takes turns",
        "gto": "stays with a warp while it can, then takes the oldest",
        "oldest": "always prefers the warp that was placed first",
        "cggty": "stays with a warp while it can, then takes the youngest",
        "two_level": "takes turns among four warps; the others wait until one of these stalls for long",
    }


@app.function(hide_code=True)
def ran(policy: str, off: Mapping[str, int]) -> Timeline:
    """Return the timeline of six warps on one scheduler, with some numbers of the machine replaced."""
    part = "    LDS.128 R4, [R1]\n" + "    FFMA R8, R4, R5, R8\n    FFMA R9, R6, R7, R9\n" * PAIRS
    head = f".kernel rounds\n.block {32 * WARPS}\n.shared {512 * WARPS}\n"
    kernel = listing.read(f"{head}    S2R R0, TID.X\n    SHL R1, R0, 4\n{part * ROUNDS}    EXIT\n")
    settings = {**MACHINE, "schedulers.policy": policy, **off}
    return timeline(kernel, gpusim.load("gtx580", settings), settings=settings)


@app.function(hide_code=True)
def states(found: Timeline) -> States:
    """Return by warp and cycle whether the warp issues, or why it waits."""
    by = {}
    for made in found.instructions:
        for wait in made.waits:
            by |= {(made.warp, cycle): (wait.reason, made, wait) for cycle in range(wait.start, wait.end)}
        issuing = range(made.issue, made.issue + found.interval)
        by |= {(made.warp, cycle): ("selected", made, None) for cycle in issuing}
    return by


@app.function(hide_code=True)
def styled(name: str) -> str:
    """Return as CSS the ground and the letters of a state or reason, on light and on dark pages."""
    if name not in COLOURS:
        return "background: transparent"
    ground = COLOURS[name]
    pairs = {"background": ground, "color": ground.letters}
    return ";".join(f"{which}: light-dark({one.light}, {one.dark})" for which, one in pairs.items())


@app.function(hide_code=True)
def grid(found: Timeline, by: States, cycle: int) -> str:
    """Return as HTML a row per warp and a column per issue slot, with a frame around the cycle's slot."""
    letters = {letter.name: letter.letter for letter in found.letters}
    here = cycle // found.interval
    first = max(0, min(here - SLOTS // 4, found.cycles // found.interval - SLOTS))
    lines = []
    for warp in found.shown:
        cells = []
        for slot in range(first, first + SLOTS):
            name = by[warp, slot * found.interval][0] if (warp, slot * found.interval) in by else "warp_exited"
            frame = "box-shadow: inset 2px 0 currentColor, inset -2px 0 currentColor;" if slot == here else ""
            cells.append(f'<td style="{styled(name)};{frame}" title="{name}">{letters[name]}</td>')
        lines.append(f"<tr><th>warp {warp}</th>{''.join(cells)}</tr>")
    style = "font: 12px monospace; border-collapse: collapse; text-align: center; white-space: nowrap"
    numbers = f"<tr><th></th><td colspan={SLOTS // 2} style='text-align:left'>cycle {first * found.interval}</td>"
    numbers += f"<td colspan={SLOTS - SLOTS // 2} style='text-align:right'>{(first + SLOTS) * found.interval}</td></tr>"
    return f"<table style='{style}'>{''.join(lines)}{numbers}</table>"


@app.function(hide_code=True)
def why(found: Timeline, warp: int, cycle: int) -> str:
    """Return in Markdown whether the warp issues in the cycle, or why, how long and for which instruction it waits."""
    if cycle >= found.end:
        return "has exited"
    first, *causes = explain(found, warp, cycle, DEPTH)
    if first.what == "selected":
        return f"**issues** `{first.instruction}`"
    if first.what == "warp_exited":
        return first.words
    said = [f"before `{first.instruction}`: {described(first)}"]
    said += [f"← warp {one.warp}'s `{one.instruction}`: {described(one)}" for one in causes if one.cycle == cycle]
    return "<br>".join(said)


@app.function(hide_code=True)
def described(step: Step) -> str:
    """Return why and how long a warp waits, or the times of an instruction that has issued."""
    return step.words if step.words.startswith("issued") else f"**{step.what}** until cycle {step.end}, {step.words}"


@app.function(hide_code=True)
def precompute() -> dict[str, list]:
    """Return for two policies the cycles of the first picture, and its bars: name, start, length and warp."""
    drawn = {}
    for policy in ("lrr", "gto"):
        found = ran(policy, {})
        bars = []
        for made in found.instructions:
            spans = [(wait.reason, wait.start, wait.end - wait.start) for wait in made.waits]
            bars += [[*span, made.warp] for span in (*spans, ("selected", made.issue, found.interval))]
        drawn[policy] = [found.cycles, [bar for bar in bars if bar[1] < FIRST]]
    return drawn


@app.cell(hide_code=True)
def _():
    _figure, _all = plt.subplots(2, sharex=True, figsize=(7.4, 4.6))
    _seen = {}
    for _axes, (_policy, (_cycles, _bars)) in zip(_all, precomputed(3).items(), strict=True):
        for _name, _start, _length, _warp in _bars:
            _colour = COLOURS[_name].light if _name in COLOURS else OTHER
            _bar = _axes.broken_barh([(_start, _length)], (_warp - 0.4, 0.8), color=_colour, lw=0)
            _seen.setdefault(_name, _bar)
        _axes.set(ylim=(WARPS - 0.5, -0.5), ylabel="warp", title=f"{_policy} {MEANING[_policy]}: {_cycles} cycles")
        _axes.grid(visible=False)
    _axes.set(xlabel="shader cycle", xlim=(0, FIRST))
    _shown = [name for name in COLOURS if name in _seen]
    _figure.legend([_seen[name] for name in _shown], _shown, loc="outside lower center", ncols=4, fontsize="small")
    opening(
        3,
        """In each issue slot a scheduler picks one of the warps that can issue. **The policy says which one: loose
        round robin (`lrr`) takes turns, greedy-then-oldest (`gto`) stays with one warp as long as that can issue.**
        Rules decide in a fixed order whether a warp can issue. It can't if it has just issued
        (`issue_interval`), if a result that it needs is not available (of a multiply-add: `wait`, of a shared load:
        `short_scoreboard`), if the queue of loads is full (`mio_throttle`), or if its pipe is busy
        (`math_pipe_throttle`). A warp that passes all rules is eligible: the policy selects it, or does not
        (`not_selected`).""",
        picture(
            _figure,
            f"The first cycles of {WARPS} warps on one scheduler of a GTX 580. Each has {ROUNDS} rounds of a wide load "
            f"from shared memory and {2 * PAIRS} multiply-adds on it. selected is an issue; other colours are waits, "
            "for the reasons in the legend.",
        ),
    )
    return


@app.cell(hide_code=True)
def _():
    policies = mo.ui.array(
        [
            mo.ui.dropdown(POLICY_NAMES, value=value, label=label)
            for label, value in (("policy above", "lrr"), ("policy below", "gto"))
        ]
    )
    rules = mo.ui.array([mo.ui.switch(value=True, label=rule) for rule in RULES])
    mo.vstack(
        [
            mo.md("""
    ## Step by step

    **Switch off one rule at a time, and watch the waits that it causes.** A row is a warp, a column an issue slot of
    2 cycles. The table below each grid explains the framed slot: a warp issues, or it waits for a reason and for an
    instruction of another warp (←).
    """),
            mo.hstack([policies[0], policies[1]], justify="start", gap=2),
            mo.vstack(list(rules), gap=0.2),
        ]
    )
    return policies, rules


@app.cell(hide_code=True)
def _(policies, rules):
    _off = {
        path: value
        for on, (_, one) in zip(rules.value, RULES.items(), strict=True)
        if not on
        for path, value in one.items()
    }
    with working("Simulating both policies."):
        found = [(each, states(each)) for each in (ran(policy, _off) for policy in policies.value)]
    interval = found[0][0].interval
    last = max(each.cycles for each, _ in found) // interval * interval
    return found, interval, last


@app.cell(hide_code=True)
def _():
    get_cycle, set_cycle = mo.state(0)
    return get_cycle, set_cycle


@app.cell(hide_code=True)
def _(interval, last, set_cycle):
    def _by(slots: int) -> None:
        set_cycle(lambda cycle: min(last, max(0, cycle + slots * interval)))

    back = mo.ui.button(label="◀ step", on_change=lambda _: _by(-1), keyboard_shortcut="Ctrl-ArrowLeft")
    forth = mo.ui.button(label="step ▶", on_change=lambda _: _by(1), keyboard_shortcut="Ctrl-ArrowRight")
    start = mo.ui.button(label="◀◀ start", on_change=lambda _: set_cycle(0))
    play = mo.ui.refresh(options=["0.3s", "1s", "3s"], label="play, a slot every", on_change=lambda _: _by(1))
    return back, forth, play, start


@app.cell(hide_code=True)
def _(back, forth, get_cycle, interval, last, play, set_cycle, start):
    slider = mo.ui.slider(
        0,
        last,
        interval,
        value=min(get_cycle(), last),
        show_value=True,
        label="cycle",
        full_width=True,
        on_change=set_cycle,
    )
    mo.vstack([mo.hstack([start, back, forth, play], justify="start"), slider])
    return


@app.cell(hide_code=True)
def _(found, get_cycle, last):
    _cycle = min(get_cycle(), last)
    _seen = {name for _, by in found for name, _, _ in by.values()}
    _letters = [letter for letter in found[0][0].letters if letter.name in _seen or letter.name == "warp_exited"]

    def _chip(name: str, letter: str) -> str:
        return f'<span style="{styled(name)};padding:0 5px;font-family:monospace">{letter}</span> {name}'

    _legend = "&emsp;".join(_chip(letter.name, letter.letter) for letter in _letters)
    _parts = [mo.Html(f"<div style='font-size:12px'>{_legend}</div>")]
    for _each, _by in found:
        _head = f"**{_each.policy}** {MEANING[_each.policy]}: {_each.cycles} cycles in all"
        _parts += [mo.md(_head), mo.Html(grid(_each, _by, _cycle))]
        _rows = "\n".join(f"| {warp} | {why(_each, warp, _cycle)} |" for warp in _each.shown)
        _parts.append(mo.md(f"| warp | in cycle {_cycle} |\n|---|:---|\n{_rows}"))
    mo.vstack(_parts)
    return


@app.cell(hide_code=True)
def _():
    with working("Simulating both policies without each of the rules, for the solutions."):
        _lrr, _gto = ran("lrr", {}), ran("gto", {})
        _gains = {rule: ran("lrr", off).cycles - ran("gto", off).cycles for rule, off in RULES.items()}
    _first = states(_lrr)[3, 60]
    _best = max(_gains, key=_gains.__getitem__)
    _queued = next(made for made in _lrr.instructions if made.id == _first[2].blocker)
    _chosen = explain(_gto, 5, 162, DEPTH)[1]
    exercises = (
        Exercise(
            "With all rules on, why does warp 3 not issue in cycle 60 under `lrr`?",
            _first[0],
            why(_lrr, 3, 60) + ".",
            choices=tuple(COLOURS),
        ),
        Exercise(
            "Which warp's load keeps it from issuing?",
            _queued.warp,
            f"The load of warp {_queued.warp}, issued in cycle {_queued.issue}: it is in the queue, which has room for "
            "one, while "
            "the load/store unit still works on the load before.",
        ),
        Exercise(
            "With all rules on, warp 5 could issue in cycle 162 under `gto`. Which warp does?",
            _chosen.warp,
            why(_gto, 5, 162) + ".",
        ),
        Exercise(
            f"With all rules on `lrr` is faster, {_lrr.cycles} cycles to {_gto.cycles}. Which rule must be "
            "switched off for `gto` to gain most on it?",
            _best,
            "; ".join(f"{rule}: {gain:+d} cycles" for rule, gain in _gains.items())
            + ". A greedy policy gains only if a warp can issue again in the next slot.",
            choices=tuple(RULES),
        ),
    )
    answers = fields(exercises)
    return answers, exercises


@app.cell(hide_code=True)
def _(answers, exercises):
    marked(3, exercises, answers)
    return


if __name__ == "__main__":
    app.run()
