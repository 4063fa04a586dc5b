# /// script
# [tool.marimo.opengraph]
# title = "6. Scheduling DGEMM by hand"
# description = "Scheduling DGEMM by hand: the four versions of Tan et al., and a small program to reorder. 30 minutes."
#
# [tool.marimo.display]
# theme = "system"
#
# [tool.gpusim]
# minutes = 30
# ///
"""Scheduling DGEMM by hand: the four versions of Tan et al., and a small program to reorder."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="6. Scheduling DGEMM by hand")

with app.setup:
    from collections import Counter
    from collections.abc import Sequence

    import marimo as mo
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure
    from teaching import Exercise, fields, marked, opening, picture, precomputed

    import gpusim
    from gpusim.analysis.account.stalls import lost_slots
    from gpusim.analysis.search.latencies import latencies
    from gpusim.machine.machine import peak_fp64_gflops
    from gpusim.reproduction.claims import published
    from gpusim.reproduction.main_loop import main_loop
    from gpusim.views.palette import COLOURS
    from isa.schedule.reorder import improved, regions, reordered, static_stalls
    from isa.schedule.schedule import stalls
    from isa.text.assembler import assemble
    from isa.text.printer import show_instruction
    from workloads.catalog import make

    CARD = gpusim.load("c2050")
    COSTS = latencies(CARD)
    VERSIONS = {
        "v1": "128-bit accesses",
        "v2": "+ two buffers in\nshared memory",
        "v3": "+ shared loads\nscheduled",
        "v4": "+ global loads\nscheduled",
    }
    LETTERS = "abcdefghijkl"
    TEXT = """
        LDS.128 R4, [R0]
        LDS.128 R8, [R0+16]
        DFMA R12, R4, R8, R12
        DFMA R14, R4, R10, R14
        DFMA R16, R6, R8, R16
        DFMA R18, R6, R10, R18
        LDS.128 R20, [R0+32]
        LDS.128 R24, [R0+48]
        DFMA R12, R20, R24, R12
        DFMA R14, R20, R26, R14
        DFMA R16, R22, R24, R16
        DFMA R18, R22, R26, R18
    """
    PROGRAM = assemble(TEXT)


@app.function(hide_code=True)
def timed(order: Sequence[int]) -> Figure:
    """Return a figure of the issues of one warp in this order and of its stalls before them, in orange."""
    code = [PROGRAM.instructions[index] for index in order]
    figure, axes = plt.subplots(figsize=(7.4, 3.6))
    time = 0
    for row, (index, instruction, stall) in enumerate(zip(order, code, stalls(code, COSTS), strict=True)):
        axes.barh(row, stall, left=time, color=COLOURS["wait"].light, height=0.8)
        axes.barh(row, COSTS.issue_interval, left=time + stall, color=COLOURS["selected"].light, height=0.8)
        time += stall + COSTS.issue_interval
        axes.text(time + 2, row, f"{LETTERS[index]}  {show_instruction(instruction)}", va="center", fontsize=8)
    axes.set(xlabel="shader cycles of one warp", yticks=(), ylim=(len(code) - 0.4, -0.6), xlim=(0, 260))
    return figure


@app.function(hide_code=True)
def precompute() -> dict[str, list]:
    """Return for each version the percentage of the peak, and by stall reason that of issue slots lost to it."""
    shape = {"m": "3584", "n": "3584", "k": "1024", "read": "plain"}
    found = {}
    for name in VERSIONS:
        result = gpusim.simulate(make("dgemm-tan", {"variant": name, **shape}), CARD, values=False)
        slots = result.run.cycles * len(result.run.lost)
        lost = {reason: 100 * cycles / slots for reason, cycles in lost_slots(result.run).items()}
        found[name] = [result.percent_of_peak, lost]
    return found


@app.cell(hide_code=True)
def _():
    runs = precomputed(6)
    _peak, _cublas = peak_fp64_gflops(CARD), published("TN26")[0].value
    paper = {
        "v1": published("TN32")[0].value,
        "v2": published("TN31")[0].value,
        "v3": 100 * (1 + published("TN29")[0].value / 100) * _cublas / _peak,
        "v4": published("TN27")[1].value,
    }
    mix = Counter(i.row.mnemonic for i in main_loop(make("dgemm-tan", {"variant": "alg3", "read": "plain"}).program))
    return mix, paper, runs


@app.cell(hide_code=True)
def _(mix, paper, runs):
    _figure, _axes = plt.subplots()
    _bars = _axes.bar(VERSIONS.values(), [share for share, _ in runs.values()], 0.55, label="simulated")
    _axes.bar_label(_bars, fmt="%.1f", label_type="center", color="white")
    for _place, (_name, _share) in enumerate(paper.items()):
        _label = "Tan et al." if _name == "v1" else None
        _axes.hlines(_share, _place - 0.38, _place + 0.38, color="C3", lw=3, label=_label)
    _mix = 100 * mix["DFMA"] / mix.total()
    _axes.axhline(_mix, color="black", lw=1, ls="--", label=f"share of DFMAs, {_mix:.1f} %")
    _axes.set(ylabel="% of the peak in double precision", ylim=(0, 90))
    _axes.grid(axis="x", visible=False)
    _figure.legend(loc="outside upper right", ncols=3)
    opening(
        6,
        """A warp issues in program order: **an instruction that waits delays all that follow it.** So put enough
        other instructions between a load and the first use of its result to fill the time that the load takes.
        Threads that use all 63 registers leave room for few warps, too few to hide every wait, so the order of a
        program matters. It gave Tan et al. (2011) a fifth more speed.""",
        picture(
            _figure,
            "DGEMM on a Tesla C2050, with plain loads. A DFMA takes the slots of both schedulers; if every "
            "instruction did, the share of DFMAs (dashed) would be the limit. The paper says of version 1 only that it "
            "is no faster than its mark, and of version 2 that it is a little faster.",
        ),
    )
    return


@app.cell(hide_code=True)
def _(runs):
    lost = {name: {"used": 100 - sum(each.values()), **each} for name, (_, each) in runs.items()}
    _shown = [
        "used",
        *sorted({r for s in lost.values() for r in s} - {"used"}, key=lambda r: -lost["v1"].get(r, 0))[:6],
    ]
    _figure, _axes = plt.subplots(figsize=(7.4, 2.8))
    for _name, _shares in lost.items():
        _left = 0.0
        for _reason in _shown:
            _share = _shares.get(_reason, 0.0)
            _colour = COLOURS["selected" if _reason == "used" else _reason].light
            _axes.barh(_name, _share, left=_left, color=_colour, label=_reason if _name == "v1" else None)
            _left += _share
        _axes.barh(_name, 100 - _left, left=_left, color="black", alpha=0.3, label="others" if _name == "v1" else None)
    _axes.set(xlabel="% of all issue slots", xlim=(0, 100))
    _axes.invert_yaxis()
    _axes.grid(axis="y", visible=False)
    _figure.legend(loc="outside upper center", ncols=4, fontsize="small", handlelength=1)
    mo.vstack(
        [
            mo.md("""
    ## The gain of each version

    Every issue slot is used, or lost for one reason. `long_scoreboard` is a wait for global memory, `issue_interval`
    for the warp's own last issue, `mio_throttle` for room in the load/store queue, `math_pipe_throttle`
    and `dp_issue_conflict` for the double-precision unit. **Scheduling can remove waits for latencies. It can't remove
    waits for a busy unit.** A DFMA issues in one slot and keeps the other scheduler from using its own, so a program of
    DFMAs alone would use half of the slots.
    """),
            picture(_figure, "Issue slots of both schedulers: used, or lost for a reason."),
        ]
    )
    return (lost,)


@app.cell(hide_code=True)
def _():
    order = mo.ui.text(value=LETTERS, label="order", full_width=True)
    _costs = COSTS.of["LDS.128"].raw, COSTS.of["DFMA"].raw
    mo.vstack(
        [
            mo.md(f"""
    ## By hand

    Two rank-1 updates of a thread with 2 x 2 results: each loads two doubles of A and two of B, then multiplies. On
    this chip the result of an `LDS.128` is available after {_costs[0]} cycles, that of a `DFMA` after {_costs[1]}, and
    one warp issues every {COSTS.issue_interval} cycles at best. **Orange is a stall.** Write the letters in another
    order, and press Enter. Can you halve the stalls?
    """),
            order,
        ]
    )
    return (order,)


@app.cell(hide_code=True)
def _(order):
    _before = regions(PROGRAM)[0].before
    _given = order.value.replace(" ", "")
    _order = [LETTERS.find(letter) for letter in _given]
    _late = [
        f"{LETTERS[index]} needs {LETTERS[other]} before it"
        for place, index in enumerate(_order)
        for other in sorted(_before[index] - set(_order[:place]))
        if index >= 0
    ]
    if sorted(_given) != sorted(LETTERS):
        _shown = mo.callout(f"Write each of the letters {LETTERS[0]} to {LETTERS[-1]} once.", kind="warn")
    elif _late:
        _shown = mo.callout(f"This order computes something else: {'; '.join(_late[:3])}.", kind="danger")
    else:
        _sum = static_stalls(reordered(PROGRAM, _order), COSTS)
        _shown = picture(timed(_order), f"One warp stalls for {float(_sum):.0f} cycles in this order.")
    _shown
    return


@app.cell(hide_code=True)
def _(lost, mix):
    _between = 4
    _others_text = "".join(f"IADD R{8 + i}, R{8 + i}, 1\n" for i in range(_between))
    _store = assemble(f"LDG.128 R4, [R1]\n{_others_text}STS.128 [R2], R4\n").instructions
    _slow = latencies(gpusim.load("c2050", {"global_memory.latency": 1000}))
    _stall = stalls(_store, _slow)[1 + _between]
    _given, _best = (
        float(static_stalls(program, COSTS)) for program in (PROGRAM, reordered(PROGRAM, improved(PROGRAM, COSTS)))
    )
    _order = "".join(LETTERS[index] for index in improved(PROGRAM, COSTS))
    _wide = ", ".join(f"{mix[name]} `{name}`" for name in ("DFMA", "LDS.128", "LDG.128", "STS.128"))
    _all = mix.total()
    _others = _all - sum(mix[name] for name in ("DFMA", "LDS.128", "LDG.128", "STS.128"))
    _fallen = {r: lost["v3"].get(r, 0) - lost["v4"].get(r, 0) for r in lost["v3"] if r != "used"}
    _most = max(_fallen, key=_fallen.__getitem__)
    _interval = COSTS.issue_interval
    exercises = (
        Exercise(
            "A load from global memory takes 1000 cycles. Four independent instructions follow, then a store of the "
            f"loaded value. One warp issues every {_interval} cycles. For how many cycles does the store stall?",
            _stall,
            f"The store could issue {_between + 1} x {_interval} = {(_between + 1) * _interval} cycles "
            f"after the load: 1000 - {(_between + 1) * _interval} = {_stall}, as in section 4.3 of Tan et al.",
        ),
        Exercise(
            "What is the least sum of stalls of any order of the twelve instructions above?",
            _best,
            f"{_best:.0f} cycles, {_given:.0f} as given: all loads first, as in `{_order}`, so that the second pair "
            "of loads is under way while the first is multiplied. The wait for the first pair can't be hidden; in a "
            "loop it would be loaded a round earlier, which takes more registers.",
        ),
        Exercise(
            f"A round of Tan's program has {_wide} and {_others} others (table 3 of the paper). A `DFMA` takes a "
            "slot of both schedulers; suppose that all others do, too. What percentage of the peak can be reached?",
            100 * mix["DFMA"] / _all,
            f"{mix['DFMA']} / {_all} = {100 * mix['DFMA'] / _all:.2f} %.",
        ),
        Exercise(
            "Version 4 schedules the global loads. Which reason for lost slots does that reduce most?",
            _most,
            f"`{_most}`: from {lost['v3'][_most]:.1f} to {lost['v4'].get(_most, 0):.1f} % of all slots. Version 4 "
            "fetches into registers of its own, and stores them half a tile later.",
            choices=("dp_issue_conflict", "math_pipe_throttle", "long_scoreboard", "mio_throttle"),
        ),
    )
    answers = fields(exercises)
    return answers, exercises


@app.cell(hide_code=True)
def _(answers, exercises):
    marked(6, exercises, answers)
    return


if __name__ == "__main__":
    app.run()
