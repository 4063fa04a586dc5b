# /// script
# [tool.marimo.opengraph]
# title = "9. How far to trust it"
# description = """How far to trust a simulator: where its numbers come from, what was fitted or predicted, what is \
# missed. 30 minutes."""
#
# [tool.marimo.display]
# theme = "system"
#
# [tool.gpusim]
# minutes = 30
# ///
"""How far to trust a simulator: where its numbers come from, what was fitted or predicted, what is missed."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="9. How far to trust it")

with app.setup:
    import csv
    from collections import Counter

    import marimo as mo
    import matplotlib.pyplot as plt
    from teaching import Exercise, fields, marked, opening, picture, precomputed
    from trust import CHIPS, GUESSES, H200, LAUNCHES, ROWS, held_out, simulated

    from gpusim.analysis.validate import measured
    from gpusim.analysis.validate.validation import Outcome
    from gpusim.machine.machine import facts
    from gpusim.reproduction import claims, ledger
    from workloads.measured.probes import EXPERIMENTS

    KINDS = "counted", "analytic", "arithmetic", "input", "fitted", "in sight", "predicted"
    METHODS = "vendor", "measured", "paper", "derived", "fitted", "guess"
    SWEEPS = {"tput": "FFMAs from 1 to 64 warps", "mixlds": "FFMAs among 64-bit shared loads"}  # by experiment
    KNOWN = {"fitted": "rules may be fitted to them", "predicted": "held out"}  # kind of a row, by its hash
    QUICK = "LS20", "LS29", "LS33", "LS44", "CM10", "CM13", "VG15", "VG18", "VG25", "TN07", "TN19", "TN22"


@app.function(hide_code=True)
def precompute() -> dict[str, object]:
    """Return what the pictures show: half a minute of simulations, and two tables of the documents."""
    return simulated()


@app.cell(hide_code=True)
def _():
    found_before = precomputed(9)
    entries = found_before["ledger"]
    kinds = tuple(kind for kind in KINDS if any(entry[1].startswith(kind) for entry in entries))
    return entries, found_before, kinds


@app.cell(hide_code=True)
def _(entries, kinds):
    _figure, _axes = plt.subplots()
    for _row, _kind in enumerate(kinds):
        _of = [entry for entry in entries if entry[1].startswith(_kind) and entry[0].endswith("%")]
        _errors = [abs(float(entry[0].rstrip(" %"))) for entry in _of]
        for _verdict, _colour, _marker in (("pass", "C0", "o"), ("fail", "C3", "X")):
            _points = [error for error, entry in zip(_errors, _of, strict=True) if entry[2] == _verdict]
            _places = [_row + 0.3 * ((7 * n) % 11 - 5) / 5 for n in range(len(_points))]
            _label = _verdict if _row == 0 else None
            _axes.plot(_points, _places, _marker, color=_colour, alpha=0.7, label=_label)
    _verdicts = {kind: [entry[2] for entry in entries if entry[1].startswith(kind)] for kind in kinds}
    _labels = [f"{kind}: {of.count('pass')} pass, {of.count('fail')} fail" for kind, of in _verdicts.items()]
    _axes.set(xlabel="relative error, %", yticks=range(len(kinds)), yticklabels=_labels, xlim=(-0.1, 400))
    _axes.set_xscale("symlog", linthresh=1)
    _axes.set_xticks((0, 1, 10, 100), ("0", "1", "10", "100"))
    _axes.invert_yaxis()
    _figure.legend(loc="outside upper right", ncols=2)
    opening(
        9,
        """A simulator can be made to give any single number. **So ask how each number was found: counted in the
        instructions, computed by a formula, put in, fitted, in sight of those who chose, or predicted. Only a predicted
        number tests the model; a fitted one tests that the model can be fitted, one in sight that some choice was good;
        an input, or arithmetic on a document's own numbers, tests nothing.** Then ask what the model misses.""",
        picture(
            _figure,
            f"{len(entries)} claims of five documents, computed by gpusim (docs/reproduction.md). A dot is a claim "
            "that has a relative error. A claim fails if its error exceeds its tolerance, and stays in the list.",
        ),
    )
    return


@app.cell(hide_code=True)
def _():
    chosen = mo.ui.dropdown(QUICK, value="LS29", label="claim")
    mo.vstack(
        [
            mo.md("""
    ## Compute one yourself

    The claims offered here need no simulation. `gpusim reproduce LS37` computes one that does, `gpusim reproduce all`
    the whole ledger in some minutes.
    """),
            chosen,
        ]
    )
    return (chosen,)


@app.cell(hide_code=True)
def _(chosen):
    (_row,) = ledger.without_runs(claims.select([chosen.value]), {})
    mo.md(f"""
    | | |
    |:---|:---|
    | document | {claims.SEEDS[_row.seed]} |
    | claim | {_row.what} |
    | published | {_row.published} |
    | computed now | {_row.ours} |
    | kind | {_row.kind} |
    | note | {_row.note or "none"} |
    """)
    return


@app.cell(hide_code=True)
def _():
    _machines = "gtx580", "c2050", "gtx680", "v100", "a100", "h200", "mi60"
    _counts = {name: Counter(fact.method for fact in facts(name).values()) for name in _machines}
    _figure, _axes = plt.subplots(figsize=(7.4, 3))
    _left = dict.fromkeys(_machines, 0)
    for _number, _method in enumerate(METHODS):
        _widths = [_counts[name][_method] for name in _machines]
        _axes.barh(_machines, _widths, left=list(_left.values()), color=f"C{_number}", label=_method)
        _left = {name: _left[name] + _counts[name][_method] for name in _machines}
    _axes.set(xlabel="numbers of the machine file")
    _axes.invert_yaxis()
    _axes.grid(axis="y", visible=False)
    _figure.legend(loc="outside upper center", ncols=6, fontsize="small", handlelength=1)
    mo.vstack(
        [
            mo.md("""
    ## Where the numbers of a machine come from

    Every number of a machine file has a method that says how it became known; `gpusim machines gtx580` lists them. **A
    guess does no harm if the result does not depend on it.** So change it and compare: the second picture does that for
    numbers of the GTX 580 that nobody published.
    """),
            picture(_figure, "Numbers of some machines by method."),
        ]
    )
    return


@app.cell(hide_code=True)
def _(found_before):
    effects = found_before["effects"]
    _figure, _axes = plt.subplots(figsize=(7.4, 2.6))
    _bars = _axes.barh(list(effects), list(effects.values()), color="C1")
    _axes.bar_label(_bars, fmt="%+.1f %%", padding=3, fontsize=9)
    _axes.set(xlabel="change of the SGEMM's cycles, %")
    _axes.margins(x=0.15)
    _axes.invert_yaxis()
    _axes.grid(axis="y", visible=False)
    picture(_figure, "SGEMM on a GTX 580 with one of these numbers changed.")
    return (effects,)


@app.cell(hide_code=True)
def _(found_before):
    with ROWS.open(newline="", encoding="utf-8") as _file:
        cells = dict(enumerate(csv.DictReader(_file), start=2))  # by line, as in a row
    observed = [measured.Outcome(row, found_before["rows"][str(row.line)]) for row in measured.read(ROWS, EXPERIMENTS)]

    def issued(row: measured.MeasuredRow, cycles: float) -> float:
        """Return the warp instructions per cycle of the SM if the iterations of a row take so many cycles."""
        length = int(cells[row.line]["inst_per_warp_iter"])
        return row.warps * length * (row.counts[1] - row.counts[0]) / cycles

    return observed, cells, issued


@app.cell(hide_code=True)
def _(observed, issued):
    _figure, _all = plt.subplots(1, 2, sharey=True, figsize=(7.4, 3.6))
    _by = {"tput": lambda row: row.ilp, "mixlds": lambda row: row.warps}
    _across = {"tput": lambda row: row.warps, "mixlds": lambda row: int(row.param.split(":")[0])}
    for _axes, _sweep in zip(_all, SWEEPS, strict=True):
        _of = [outcome for outcome in observed if outcome.row.experiment == _sweep]
        for _number, _each in enumerate(sorted({_by[_sweep](outcome.row) for outcome in _of})):
            _line = sorted((o for o in _of if _by[_sweep](o.row) == _each), key=lambda o: _across[_sweep](o.row))
            _x = [_across[_sweep](outcome.row) for outcome in _line]
            _axes.plot(_x, [issued(one.row, one.simulated) for one in _line], lw=1, color=f"C{_number}", label=_each)
            for _place, _one in zip(_x, _line, strict=True):
                _fill = f"C{_number}" if _one.row.kind == "predicted" else "white"
                _axes.plot(_place, issued(_one.row, _one.row.cycles), "o", ms=5, color=f"C{_number}", mfc=_fill)
        _axes.axhline(H200.schedulers.count, color="black", lw=1, ls="--")
    _all[0].set_xscale("log", base=2)
    _all[0].set_xticks((1, 2, 4, 8, 16, 32, 64), (1, 2, 4, 8, 16, 32, 64))
    _all[0].set(xlabel="warps on the SM", ylabel="warp instructions per cycle", ylim=(0, 4.3), title="FFMA")
    _all[1].set(xlabel="FFMAs for each LDS.64", title="FFMA and LDS.64")
    _all[0].legend(title="FFMAs at a time", fontsize="small")
    _all[1].legend(title="warps", fontsize="small", ncols=2)
    _scores = {
        (sweep, kind): measured.summary(
            (one for one in observed if (one.row.experiment, one.row.kind) == (sweep, kind)), lambda row: row.kind
        )[kind]
        for sweep in SWEEPS
        for kind in KNOWN
    }
    _lines = "\n".join(
        f"    | {SWEEPS[sweep]} | {KNOWN[kind]} | {score['n']} | {100 * score['median_error']:.1f} % | "
        f"{100 * score['p95_error']:.1f} % |"
        for (sweep, kind), score in _scores.items()
    )
    mo.vstack(
        [
            mo.md("""
    ## Comparison with a real GPU

    A rule can be fitted to a measurement without being true. **So hold some measurements out before the first rule is
    made, and try the rules on them at the end.** The pictures show lessons 2 and 4 on an H200: all available rows of
    two sweeps, measured with the microbenchmarks of `docs/hopper.md`. A hash of each row's name decided whether rules
    might be fitted to the row (hollow) or not (filled).
    """),
            picture(
                _figure,
                "Circles are measured, lines simulated; the dashed line is all issue slots. An FFMA reads three "
                "registers from two banks, which takes two cycles; with more FFMAs at a time the compiler can let "
                "neighbours share a read.",
            ),
            mo.md(f"""
    | sweep | | rows | median error | 95th percentile |
    |:---|:---|---|---|---|
{_lines}

    Held-out rows have about the errors of the others, so nothing suggests rules that only fit. The right picture has
    larger errors than the left one: its loops are rewritten here, in another order and with other registers than the
    compiler's. `gpusim validate h200 --measured FILE.csv` compares any such file.
    """),
        ]
    )
    return


@app.cell(hide_code=True)
def _(found_before):
    _cells = found_before["whole"]
    whole = {
        (kernel, launch): error
        for kernel, errors in _cells.items()
        for launch, error in zip(LAUNCHES, errors, strict=True)
    }
    _figure, _axes = plt.subplots(figsize=(7.4, 5))
    for _number, _launch in enumerate(LAUNCHES):
        _of = [1 + whole[kernel, _launch] for kernel in _cells]
        _axes.plot(_of, range(len(_of)), "os^D"[_number], color=f"C{_number}", mfc="none", mew=1.5, label=_launch)
    _axes.axvline(1, color="black", lw=1)
    _axes.set_yticks(range(len(_cells)), list(_cells), fontsize=8)
    _axes.set(xlabel="simulated / measured cycles")
    _axes.invert_yaxis()
    _figure.legend(loc="outside upper right", ncols=len(LAUNCHES))
    _means = {launch: sum(abs(whole[kernel, launch]) for kernel in _cells) / len(_cells) for launch in LAUNCHES}
    mo.vstack(
        [
            mo.md("""
    ## Whole kernels

    The rows above are loops of a few instructions. **A kernel has errors that no loop shows**: its blocks share an SM,
    and the SMs share caches and channels. Here are compiled kernels of which nothing was fitted: one block alone
    (`solo`), one on each SM (`persm`), as many as fit (`resident`), and a whole problem (`full`).
    `gpusim validate h200 --kernels` computes them, and compares stall reasons too (`docs/validation.md`).
    """),
            picture(
                _figure,
                "Each mark is a kernel on an H200. Mean error: "
                + ", ".join(f"{launch} {100 * mean:.0f} %" for launch, mean in _means.items())
                + ".",
            ),
        ]
    )
    return


@app.cell(hide_code=True)
def _(observed, issued):
    _chains = [one.row for one in observed if one.row.experiment == "tput" and one.row.ilp == 1]
    impossible = max(_chains, key=lambda row: issued(row, row.cycles) / row.warps)
    return (impossible,)


@app.cell(hide_code=True)
def _(found_before):
    found = {
        chip: [Outcome(*pair) for pair in zip(held_out(chip), found_before["figures"][chip], strict=True)]
        for chip in CHIPS
    }
    _flat = [(name, outcome) for name in CHIPS for outcome in found[name]]
    _figure, _axes = plt.subplots(figsize=(7.4, 5))
    for _row, (_name, _outcome) in enumerate(_flat):
        _axes.barh(_row, 100 * _outcome.error, color=f"C{CHIPS.index(_name)}")
        _axes.annotate(
            f"{100 * _outcome.error:+.1f}",
            (max(0, 100 * _outcome.error), _row),
            (3, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    _axes.set_yticks(range(len(_flat)), [f"{name}: {outcome.point.what}" for name, outcome in _flat], fontsize=8)
    _axes.set(xlabel="error of the simulation, %", xlim=(-70, 35))
    _axes.invert_yaxis()
    _axes.grid(axis="y", visible=False)
    mo.vstack(
        [
            mo.md("""
    ## More figures that nothing was fitted to

    Single figures of an H200, and of an A100 and a V100 that others measured. A bar to the left means that the
    simulation is too fast, or its rate too low. **The largest error says most:** it shows what the model lacks.
    """),
            picture(_figure, "(simulated - measured) / measured, of cycles, rates or bytes per cycle."),
        ]
    )
    return (found,)


@app.cell(hide_code=True)
def _(cells, effects, entries, found, impossible, issued, kinds):
    _share = {}
    for _kind in kinds:
        _verdicts = [entry[2] for entry in entries if entry[1].startswith(_kind)]
        _share[_kind] = _verdicts.count("pass") / (_verdicts.count("pass") + _verdicts.count("fail"))
    _weakest = min(_share, key=_share.__getitem__)
    _least, _median, _most = (float(cells[impossible.line][f"cyc1_{which}"]) for which in ("min", "med", "max"))
    _chases = [outcome for outcome in found["a100"] if "chase" in outcome.point.id]
    _worst = max(_chases, key=lambda outcome: abs(outcome.error))
    _matters = max(effects, key=lambda name: abs(effects[name]))
    exercises = (
        Exercise(
            "Which kind of claims has the smallest share that passes?",
            _weakest,
            ", ".join(f"{kind} {100 * share:.0f} %" for kind, share in _share.items())
            + ". Claims that people saw while they chose may fail all the same: they chose by what is known of the "
            "hardware. A list of passing claims alone would be a list of fitted ones.",
            choices=kinds,
        ),
        Exercise(
            f"Measurements err, too. An FFMA that needs the result of the last can issue "
            f"{H200.unit['fp32'].latency} cycles after it, no sooner. One measured row of the left picture on the H200 "
            "contradicts this. How many warps does it have?",
            impossible.warps,
            f"{impossible.warps} warps with one FFMA at a time issue {issued(impossible, impossible.cycles):.2f} per "
            f"cycle, one of each warp every {impossible.warps / issued(impossible, impossible.cycles):.2f} cycles. "
            f"The file hints at the reason: launches of the shorter loop took from {_least:,.0f} to {_most:,.0f} "
            f"cycles, {_median:,.0f} in the median, and the difference of the two loops subtracts too much.",
        ),
        Exercise(
            "Which pointer chase of the A100 has the largest error?",
            _worst.point.what,
            f"{_worst.point.value} measured, {_worst.simulated:.0f} simulated. The footprint is a little larger than "
            "the near half of the L2. A real cache spreads lines over its sets in a way that nobody published; here "
            "consecutive lines use consecutive sets, so each set has a line too many, and none is there when its turn "
            "comes again.",
            choices=tuple(outcome.point.what for outcome in _chases),
        ),
        Exercise(
            "Which of the unpublished numbers matters most to the SGEMM?",
            _matters,
            f"{_matters}: {effects[_matters]:+.1f} % cycles. So gpusim's cycles of this card's SGEMM hold for a "
            "card with this policy. The faster of two programs may be the same under other policies: try.",
            choices=tuple(GUESSES),
        ),
    )
    answers = fields(exercises)
    return answers, exercises


@app.cell(hide_code=True)
def _(answers, exercises):
    marked(9, exercises, answers)
    return


if __name__ == "__main__":
    app.run()
