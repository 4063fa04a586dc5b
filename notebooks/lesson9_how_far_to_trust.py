"""How far to trust a simulator: where its numbers come from, what was fitted or predicted, what is missed."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="9. How far to trust it")

with app.setup:
    import re
    from collections import Counter
    from pathlib import Path

    import marimo as mo
    import matplotlib.pyplot as plt
    from teaching import Exercise, fields, marked, opening, picture

    import gpusim
    from gpusim.analysis.validation import outcomes, published_points
    from gpusim.machine import facts
    from gpusim.reproduction import claims, ledger
    from workloads.catalog import make

    LEDGER = Path(__file__).parents[1] / "docs" / "reproduction.md"  # written by `make reproduction`
    KINDS = "counted", "analytic", "input", "calibrated", "predicted"
    METHODS = "vendor", "measured", "paper", "derived", "fitted", "guess"
    CHIPS = "h200", "a100", "v100"
    QUICK = "LS20", "LS29", "LS33", "LS44", "CM10", "CM13", "VG15", "VG18", "VG25", "TN07", "TN19", "TN22"
    GUESSES = {  # numbers that nobody measured on this card, as they could be, too
        "policy gto": {"schedulers.policy": "gto"},
        "policy oldest": {"schedulers.policy": "oldest"},
        "schedulers out of step": {"schedulers.stagger": 1},
        "no turns at shared pipes": {"issue.rotate": 0},
        "latency of FFMA 22": {"unit.fp32.latency": 22},
        "a queue for two loads": {"load_store.queue": 2},
    }


@app.cell(hide_code=True)
def _():
    _rows = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in LEDGER.read_text().splitlines()]
    entries = [row for row in _rows if re.fullmatch(r"[A-Z]{2}\d\d", row[0])]
    return (entries,)


@app.cell(hide_code=True)
def _(entries):
    _figure, _axes = plt.subplots()
    for _row, _kind in enumerate(KINDS):
        _of = [entry for entry in entries if entry[6].startswith(_kind) and entry[5].endswith("%")]
        _errors = [abs(float(entry[5].rstrip(" %"))) for entry in _of]
        for _verdict, _colour, _marker in (("pass", "C0", "o"), ("fail", "C3", "X")):
            _points = [error for error, entry in zip(_errors, _of, strict=True) if entry[7].strip() == _verdict]
            _places = [_row + 0.3 * ((7 * n) % 11 - 5) / 5 for n in range(len(_points))]
            _label = _verdict if _row == 0 else None
            _axes.plot(_points, _places, _marker, color=_colour, alpha=0.7, label=_label)
    _axes.set(xlabel="relative error, %", yticks=range(len(KINDS)), yticklabels=KINDS, xlim=(-0.1, 200))
    _axes.set_xscale("symlog", linthresh=1)
    _axes.set_xticks((0, 1, 10, 100), ("0", "1", "10", "100"))
    _axes.invert_yaxis()
    _figure.legend(loc="outside upper right", ncols=2)
    opening(
        "9. How far to trust it",
        """A simulator can be made to give any one number. **So ask of each number how it came about: counted in the
        instructions, worked out by a formula, put in, fitted, or predicted. Only what is predicted tests the model;
        what is fitted tests that it can be fitted; what is put in tests nothing.** Then ask what was missed.""",
        picture(
            _figure,
            f"{len(entries)} claims of five documents, computed by gpusim (docs/reproduction.md): relative errors by "
            "kind. "
            "A claim fails beyond the tolerance that was set for it, and stays in the list.",
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

    These need no simulation; `gpusim reproduce LS37` takes a second more, `gpusim reproduce all` some minutes.
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

    Every number of a machine file says how it became known; `gpusim machines gtx580` lists them. **A guess does no
    harm where the result does not depend on it.** So change it, and see.
    """),
            picture(_figure, "Numbers of some machines by method."),
        ]
    )
    return


@app.cell(hide_code=True)
def _():
    _kernel = make("sgemm-lai", {"m": "768", "n": "768", "k": "480"})
    _base = gpusim.simulate(_kernel, "gtx580", values=False).cycles
    effects = {
        name: 100 * (gpusim.simulate(_kernel, gpusim.load("gtx580", change), values=False).cycles / _base - 1)
        for name, change in GUESSES.items()
    }
    _figure, _axes = plt.subplots(figsize=(7.4, 2.6))
    _bars = _axes.barh(list(effects), list(effects.values()), color="C1")
    _axes.bar_label(_bars, fmt="%+.1f %%", padding=3, fontsize=9)
    _axes.set(xlabel="change of the SGEMM's cycles, %")
    _axes.margins(x=0.15)
    _axes.invert_yaxis()
    _axes.grid(axis="y", visible=False)
    picture(_figure, "SGEMM on a GTX 580 if numbers that nobody published were others.")
    return (effects,)


@app.cell(hide_code=True)
def _():
    found = {}
    for _name in CHIPS:
        _machine = gpusim.load(_name)
        _points = [point for point in published_points(_machine) if point.kind == "predicted"]
        found[_name] = list(outcomes(_points, _machine, make))
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
    _axes.set(xlabel="error of the simulation, %")
    _axes.invert_yaxis()
    _axes.grid(axis="y", visible=False)
    mo.vstack(
        [
            mo.md("""
    ## An H200, an A100, a V100

    Measurements that nothing in the machine files was made from. The H200's rules were found on half of some thousand
    measured loops and tried once on the other half (`docs/hopper.md`); what is left unexplained stands there.
    """),
            picture(_figure, "Predicted figures: (simulated - measured) / measured."),
        ]
    )
    return (found,)


@app.cell(hide_code=True)
def _(effects, entries, found):
    _share = {}
    for _kind in KINDS:
        _verdicts = [entry[7].strip() for entry in entries if entry[6].startswith(_kind)]
        _share[_kind] = _verdicts.count("pass") / (_verdicts.count("pass") + _verdicts.count("fail"))
    _weakest = min(_share, key=_share.__getitem__)
    _chase = next(outcome for outcome in found["h200"] if outcome.point.id == "chase-1m")
    _worst = max(found["a100"], key=lambda outcome: abs(outcome.error))
    _matters = max(effects, key=lambda name: abs(effects[name]))
    exercises = (
        Exercise(
            "Of which kind of claims does the smallest share pass?",
            _weakest,
            ", ".join(f"{kind} {100 * share:.0f} %" for kind, share in _share.items())
            + ". As it should be: whoever shows only what passes has fitted it.",
            choices=KINDS,
        ),
        Exercise(
            f"An H200 was measured at {_chase.point.value} cycles for {_chase.point.what}; simulated are "
            f"{_chase.simulated:.1f}. What is the error in percent?",
            100 * _chase.error,
            f"{_chase.simulated:.1f} / {_chase.point.value} - 1 = {100 * _chase.error:+.1f} %. The L2 of the chip "
            "has a near and "
            "a far half; the machine file has their mean.",
        ),
        Exercise(
            "Which predicted figure of the A100 is missed most?",
            _worst.point.what,
            f"{_worst.point.value} measured, {_worst.simulated:.0f} simulated. The footprint is a little larger than "
            "the L1. A real "
            "cache spreads lines over its sets in a way that nobody published; here they go in turn, and most still "
            "hit.",
            choices=tuple(outcome.point.what for outcome in found["a100"] if "chase" in outcome.point.id),
        ),
        Exercise(
            "Which of the unpublished numbers matters most to the SGEMM?",
            _matters,
            f"{_matters}: {effects[_matters]:+.1f} % cycles. So what gpusim says of this card's SGEMM holds for a "
            "card of this "
            "policy; the order of two programs may hold for others, too. Try.",
            choices=tuple(GUESSES),
        ),
    )
    answers = fields(exercises)
    return answers, exercises


@app.cell(hide_code=True)
def _(answers, exercises):
    marked(exercises, answers)
    return


if __name__ == "__main__":
    app.run()
