# /// script
# [tool.marimo.opengraph]
# title = "2. Latency hiding"
# description = "How warps and independent instructions hide latency. 20 minutes."
#
# [tool.marimo.display]
# theme = "system"
#
# [tool.gpusim]
# minutes = 20
# ///
"""How warps and independent instructions hide latency."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="2. Latency hiding")

with app.setup:
    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np
    from matplotlib.ticker import MaxNLocator
    from teaching import Exercise, fields, marked, opening, picture, precomputed, working

    import gpusim
    from gpusim import Result
    from gpusim.reproduction.lai.equations import WARP_SIZE, threads_needed
    from gpusim.sm.account.record.declaration import ISSUE
    from gpusim.views.palette import COLOURS
    from workloads.catalog import make

    LATENCY = 24  # cycles of a multiply-add, as CME213 takes them
    LECTURE = 18, 27  # warps that CME213 asks for
    WARPS = range(2, 33, 2)
    CHAINS = 1, 2, 4
    SHOWN = 60  # cycles
    ENOUGH = 0.95  # of all issue slots
    ISSUED, UNDER_WAY = COLOURS["selected"].light, COLOURS["under_way"].light


@app.function(hide_code=True)
def run(warps: int, chains: int, latency: int = LATENCY, length: int = 240, trace: bool = False) -> Result:
    """Simulate FFMAs of so many warps, each with so many independent chains, on a GTX 580 with that latency."""
    shape = {"op": "FFMA", "iterations": "1", "length": str(length), "streams": str(chains), "warps": str(warps)}
    machine = gpusim.load("gtx580", {"unit.fp32.latency": latency, "launch.warp_skew": 0})
    return gpusim.simulate(make("throughput", shape), machine, values=False, trace=trace)


@app.function(hide_code=True)
def rate(warps: int, chains: int, latency: int = LATENCY) -> float:
    """Return the FFMAs of all threads per cycle in the middle of a run: the difference of two lengths."""
    short, long = (run(warps, chains, latency, length) for length in (120, 240))
    return 120 * warps * WARP_SIZE / (long.cycles - short.cycles)


@app.function(hide_code=True)
def needed(latency: int, chains: int = 1) -> float:
    """Return equation 1 of Lai and Seznec, in warps: the latency over the cycles between two issues of the SM."""
    schedulers = gpusim.load("gtx580").schedulers
    return threads_needed(latency, schedulers.interval / schedulers.count) / WARP_SIZE / chains


@app.function(hide_code=True)
def precompute() -> list[list[float]]:
    """Return the rates of the first picture: for each number of chains, one for each number of warps."""
    return [[rate(warps, chains) for warps in WARPS] for chains in CHAINS]


@app.cell(hide_code=True)
def _():
    rates = dict(zip(CHAINS, precomputed(2), strict=True))
    full = max(map(max, rates.values()))
    _figure, _axes = plt.subplots()
    _axes.axvspan(*LECTURE, color="C7", alpha=0.35, lw=0, label=f"{LECTURE[0]} to {LECTURE[1]} warps (CME213)")
    for _chains, _marker in zip(CHAINS, "osD", strict=True):
        _axes.plot(WARPS, rates[_chains], _marker + "-", ms=5, label=f"{_chains} at a time in a warp")
    _axes.axhline(full, color="black", lw=1, ls="--", label="all issue slots used")
    _axes.set(xlabel="warps on the SM", ylabel="FFMAs of all threads\nper shader cycle", ylim=(0, 36))
    _figure.legend(loc="outside upper center", ncols=3, fontsize="small")
    opening(
        2,
        f"""The result of a multiply-add (FFMA) is available {LATENCY} cycles after its issue, but the SM can issue
        one of another warp in every cycle. **To issue in every cycle, the SM needs as many instructions in flight as
        the latency has cycles: warps x independent instructions of each.** Either factor can provide them, as long as
        there are some warps (exercise 4).""",
        picture(
            _figure,
            f"Simulated GTX 580 with a latency of {LATENCY} cycles. With one FFMA at a time {needed(LATENCY):.0f} "
            f"warps fill all slots; the course CME213 (Stanford, 2012) advises {LECTURE[0]} to {LECTURE[1]} warps, "
            "for latencies of as many cycles (shaded).",
        ),
    )
    return (full,)


@app.cell(hide_code=True)
def _():
    warps = mo.ui.slider(1, 32, value=8, show_value=True, label="warps")
    chains = mo.ui.slider(steps=[1, 2, 3, 4, 6, 8], value=1, show_value=True, label="independent instructions")
    latency = mo.ui.slider(6, 48, 2, value=LATENCY, show_value=True, label="latency")
    mo.vstack(
        [
            mo.md("""
    ## See it

    Each bar below is one instruction, from its issue (a mark) until its result is available; only then can the warp
    issue the next one of that chain. The top rows are the issue slots of both schedulers, filled if used. **An empty
    slot is lost.** Fill them, first with warps, then with independent instructions.
    """),
            mo.hstack([warps, chains, latency], justify="start", gap=2, wrap=True),
        ]
    )
    return chains, latency, warps


@app.cell(hide_code=True)
def _(chains, latency, warps):
    with working("Simulating these warps."):
        _result = run(warps.value, chains.value, latency.value, length=96, trace=True)
    _ffmas = [pc for pc, i in enumerate(_result.kernel.program.instructions) if i.row.mnemonic == "FFMA"]
    _trace = _result.run.trace
    _trace = _trace[(_trace["kind"] == ISSUE) & np.isin(_trace["pc"], _ffmas)]
    _start = int(_trace["cycle"][len(_trace) // 3])
    _trace = _trace[(_trace["cycle"] > _start - latency.value) & (_trace["cycle"] < _start + SHOWN)]
    _slots = _trace[_trace["cycle"] >= _start]
    _figure, (_top, _axes) = plt.subplots(2, sharex=True, figsize=(7.4, 4.6), height_ratios=(1, 5))
    for _scheduler in range(2):
        _starts = _slots["cycle"][_slots["warp"] % 2 == _scheduler].tolist()
        _top.broken_barh(
            [(cycle, 2) for cycle in _starts],
            (_scheduler - 0.4, 0.8),
            color=ISSUED,
            ec="white",
            lw=1,
        )
    _top.set(yticks=(0, 1), yticklabels=("scheduler 0", "scheduler 1"), ylim=(1.5, -0.5))
    for _cycle, _warp in zip(_trace["cycle"].tolist(), _trace["warp"].tolist(), strict=True):
        _axes.broken_barh([(_cycle, latency.value)], (_warp - 0.4, 0.8), color=UNDER_WAY, ec="white", lw=1)
    _axes.plot(_trace["cycle"] + 0.5, _trace["warp"], "|", color=ISSUED, ms=80 / max(4, warps.value), mew=3)
    _axes.set(xlim=(_start, _start + SHOWN), xlabel="shader cycle", ylabel="warp", ylim=(warps.value - 0.4, -0.6))
    _axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    picture(
        _figure,
        f"Warps: {warps.value}; independent instructions of each: {chains.value}; latency: {latency.value} cycles. "
        f"{len(_slots)} of {SHOWN} issue slots are used.",
    )
    return


@app.cell(hide_code=True)
def _(full):
    def fewest(chains: int) -> int:
        """Return the fewest warps that fill the slots, by trial."""
        return next(warps for warps in range(2, 33) if rate(warps, chains) > ENOUGH * full)

    with working("Finding the fewest warps by trial, for the solutions."):
        _trial = {chains: fewest(chains) for chains in (1, 4, 8)}
    _machine = gpusim.load("gtx580")
    _interval, _warps = _machine.schedulers.issue_interval, _machine.limits.warps
    exercises = (
        Exercise(
            f"Each warp has one instruction at a time, of {LATENCY} cycles. How many warps fill all issue slots?",
            needed(LATENCY),
            f"The SM issues in every cycle, so {LATENCY} must be in flight: {needed(LATENCY):.0f} warps, "
            f"{100 * needed(LATENCY) / _warps:.0f} % of the {_warps} that it holds. By trial, {_trial[1]} warps are "
            f"the fewest that fill {100 * ENOUGH:.0f} % of the slots.",
        ),
        Exercise(
            "How many warps are enough if each has four independent instructions at a time?",
            needed(LATENCY, 4),
            f"{LATENCY} / 4 = {needed(LATENCY, 4):.0f} warps; by trial {_trial[4]}. This is why a kernel with many "
            "registers, and so few warps, can be fast: lesson 5.",
        ),
        Exercise(
            f"How many threads does the SM need to hide latencies of up to {LECTURE[1]} cycles by warps alone?",
            needed(LECTURE[1]) * WARP_SIZE,
            f"{LECTURE[1]} warps of {WARP_SIZE} threads: {needed(LECTURE[1]) * WARP_SIZE:.0f}; the lecture says "
            f"{LECTURE[0] * WARP_SIZE} to {LECTURE[1] * WARP_SIZE}.",
        ),
        Exercise(
            f"On this chip a warp may issue only every {_interval} cycles, whatever its instructions (Tan et al. "
            "measured it). Each warp has any number of independent instructions. How many warps at least does the SM "
            "need to issue in every cycle?",
            needed(_interval),
            f"One warp fills one of {_interval} slots, so {needed(_interval):.0f} warps; by trial with eight chains "
            f"{_trial[8]}. Try fewer above.",
        ),
    )
    answers = fields(exercises)
    return answers, exercises


@app.cell(hide_code=True)
def _(answers, exercises):
    marked(2, exercises, answers)
    return


if __name__ == "__main__":
    app.run()
