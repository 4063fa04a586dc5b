# /// script
# [tool.marimo.opengraph]
# title = "8. Designing a GPU"
# description = "What-if: which change of an SM makes a matrix product faster, and which changes nothing. 25 minutes."
#
# [tool.marimo.display]
# theme = "system"
#
# [tool.gpusim]
# minutes = 25
# ///
"""What-if: which change of an SM makes a matrix product faster, and which changes nothing."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="8. Designing a GPU")

with app.setup:
    from collections.abc import Mapping

    import marimo as mo
    import matplotlib.pyplot as plt
    from teaching import Exercise, fields, marked, opening, picture, precomputed, working

    import gpusim
    from gpusim import Result
    from gpusim.analysis.account.breakdown import breakdown
    from gpusim.machine.occupancy import occupancy
    from isa.kernel import Kernel
    from workloads.catalog import make

    CARD = gpusim.load("gtx580")
    CHANGES = {  # by change, the numbers of the machine that it sets
        "as it is": {},
        "half the latency of an FFMA": {"unit.fp32.latency": CARD.unit["fp32"].latency // 2},
        "half the latency of global memory": {"global_memory.latency": CARD.global_memory.latency // 2},
        "twice the registers": {"limits.registers": 2 * CARD.limits.registers},
        "twice the memory bandwidth": {"chip.dram_mbs": 2 * CARD.chip.dram_mbs},
        "shared memory twice as fast": {"shared_memory.pass_cycles": CARD.shared_memory.pass_cycles // 2},
        "a queue for 8 loads, not 1": {"load_store.queue": 8},
        "a refused load costs no slot": {"issue.refused_wastes_slot": 0},
        "two dispatch ports": {"schedulers.dispatch_ports": 2, "issue.pairing": "different-warp"},
    }
    SMALL = 5  # GFLOP/s
    NAMES = {"LDS": 32, "LDS.64": 64, "LDS.128": 128}


@app.function(hide_code=True)
def program(bits: int = 64) -> Kernel:
    """Return the SGEMM of 768 x 768 x 480 with loads of so many bits."""
    return make("sgemm-lai", {"m": "768", "n": "768", "k": "480", "lds": str(bits)})


@app.function(hide_code=True)
def sgemm(change: Mapping[str, int | str], bits: int = 64) -> Result:
    """Return SGEMM of 768 x 768 x 480, four blocks for each SM, on the machine with these numbers replaced."""
    return gpusim.simulate(program(bits), gpusim.load("gtx580", change), values=False)


@app.function(hide_code=True)
def precompute() -> dict[str, dict[str, float | str]]:
    """Return for each change GFLOP/s as simulated, GFLOP/s of the bound, and what sets it."""
    found = {}
    for name, change in CHANGES.items():
        result = sgemm(change)
        found[name] = {"gflops": result.gflops, "bound": result.bound.gflops, "limiter": result.bound.limiter}
    return found


@app.cell(hide_code=True)
def _():
    runs = precomputed(8)
    base = runs["as it is"]
    return base, runs


@app.cell(hide_code=True)
def _(base, runs):
    _figure, _axes = plt.subplots(figsize=(7.4, 4))
    _rates = [run["gflops"] for run in runs.values()]
    _axes.barh(list(runs), _rates, color=["C6", *["C0"] * (len(runs) - 1)], label="simulated")
    for _row, _rate in enumerate(_rates):
        _gain = f"{100 * (_rate / base['gflops'] - 1):+.1f} %"
        _axes.text(_rate - 15, _row, _gain, ha="right", va="center", color="white", fontsize=9)
    _axes.plot([run["bound"] for run in runs.values()], list(runs), "|", color="C3", ms=16, mew=3, label="bound")
    _axes.set(xlabel="GFLOP/s", xlim=(0, 1750))
    _axes.invert_yaxis()
    _axes.grid(axis="y", visible=False)
    _figure.legend(loc="outside upper right", ncols=2)
    opening(
        8,
        """Suppose you may change one thing in an SM. Which change makes a matrix product faster? **A machine is as fast
        as its scarcest resource allows. More of any other changes little; more of the scarcest makes another one the
        scarcest.** The bound names the scarcest resource without a simulation; a simulation adds the other losses.""",
        picture(
            _figure,
            f"SGEMM with 6 x 6 results in each thread on a {CARD.name}, and the gain of each change. As it is, the "
            f"bound is set by {base['limiter']}. Twice the registers let an SM hold "
            f"{occupancy(program(), gpusim.load('gtx580', CHANGES['twice the registers'])).blocks} blocks at a "
            f"time, not {occupancy(program(), CARD).blocks}, and that gains nothing.",
        ),
    )
    return


@app.cell(hide_code=True)
def _():
    ports = mo.ui.slider(1, 2, value=1, show_value=True, label="dispatch ports")
    queue = mo.ui.slider(1, 8, value=1, show_value=True, label="loads in the queue")
    cycles = mo.ui.slider(1, 4, value=2, show_value=True, label="cycles of a shared-memory pass")
    lanes = mo.ui.slider(steps=[8, 16, 32], value=16, show_value=True, label="lanes of each FFMA pipe")
    width = mo.ui.radio(list(NAMES), value="LDS.64", inline=True, label="the program's loads")
    mo.vstack(
        [
            mo.md("""
    ## Your machine

    Each step of the breakdown below is a cause of loss, from the chip's peak down to the simulated speed. **Work on the
    longest orange step.** More lanes raise the peak; do they raise the speed? Among the lost slots, `mio_throttle` is a
    full queue of loads, and `drain` the end of a block, which waits for its stores.
    """),
            mo.hstack([ports, queue, cycles, lanes, width], justify="start", gap=2, wrap=True),
        ]
    )
    return cycles, lanes, ports, queue, width


@app.cell(hide_code=True)
def _(base, cycles, lanes, ports, queue, width):
    _change = {
        "schedulers.dispatch_ports": ports.value,
        "issue.pairing": "different-warp",
        "load_store.queue": queue.value,
        "shared_memory.pass_cycles": cycles.value,
        "pipe.sp.lanes": lanes.value,
    }
    with working("Simulating your machine."):
        _run = sgemm(_change, NAMES[width.value])
    _peak, *_all = breakdown(_run).steps
    _steps = [(step.cause, step.loss) for step in _all if step.loss > SMALL]
    _steps = [(_peak.cause, 0.0), *_steps, ("smaller ones", sum(step.loss for step in _all if step.loss <= SMALL))]
    _figure, _axes = plt.subplots(figsize=(7.4, 3.4))
    _rate = _peak.rate
    for _row, (_, _loss) in enumerate(_steps):
        _rate -= _loss
        _axes.barh(_row, _rate, color="C0")
        _axes.barh(_row, _loss, left=_rate, color="C1")
        _axes.text(_rate + _loss, _row, f"  {_rate:.0f}", va="center", fontsize=9)
    _axes.set(xlabel="GFLOP/s: left (blue), lost in this step (orange)", xlim=(0, 1.12 * _peak.rate))
    _axes.set_yticks(range(len(_steps)), [cause for cause, _ in _steps], fontsize=9)
    _axes.invert_yaxis()
    _axes.grid(axis="y", visible=False)
    picture(
        _figure,
        f"Your machine: {_run.gflops:.0f} GFLOP/s, {100 * (_run.gflops / base['gflops'] - 1):+.1f} % against the first "
        f"picture's, as it is. That is {_run.percent_of_peak:.0f} % of its own peak; the bound is set by "
        f"{_run.bound.limiter}.",
    )
    return


@app.cell(hide_code=True)
def _(base, runs):
    _best = max(runs, key=lambda name: runs[name]["gflops"])
    with working("Simulating three more machines, for the solutions."):
        _wide, _faster = sgemm({}, 128), sgemm(CHANGES["shared memory twice as fast"], 128)
        _lanes = sgemm({"pipe.sp.lanes": 32})
    _gain = 100 * (_faster.gflops / _wide.gflops - 1)
    _narrow = 100 * (runs["shared memory twice as fast"]["gflops"] / base["gflops"] - 1)
    exercises = (
        Exercise(
            "Which change of the first picture gains most?",
            _best,
            f"{_best}: {base['gflops']:.0f} to {runs[_best]['gflops']:.0f} GFLOP/s. Issue slots were the scarcest; now "
            f"the bound is set by {runs[_best]['limiter']}, which is the peak itself. Tan et al. ask for exactly this.",
            choices=tuple(list(CHANGES)[1:]),
        ),
        Exercise(
            "Every FFMA pipe gets twice the lanes, 32 instead of 16. How fast is the SGEMM then?",
            "it is as fast as before" if round(_lanes.gflops / base["gflops"], 2) == 1 else "it is faster",
            f"{_lanes.gflops:.0f} GFLOP/s, as before: a scheduler issues one warp instruction in two cycles, which "
            f"keeps 16 lanes busy. The peak doubled, and the SGEMM reaches {_lanes.percent_of_peak:.0f} % of it.",
            choices=("it is twice as fast", "it is faster", "it is as fast as before"),
        ),
        Exercise(
            "Take the program with `LDS.128` on the GTX 580 as it is, and on one whose shared memory takes half the "
            "cycles for a pass. By how many percent is the second faster?",
            _gain,
            f"From {_wide.gflops:.0f} to {_faster.gflops:.0f} GFLOP/s: {_gain:.0f} %. With `LDS.64` the same change "
            f"gained {_narrow:.1f} %. As it is, the bound with `LDS.128` is set by the {_wide.bound.limiter}: the "
            "scarcest resource depends on the program too.",
            within=0.03,
        ),
    )
    answers = fields(exercises)
    return answers, exercises


@app.cell(hide_code=True)
def _(answers, exercises):
    marked(8, exercises, answers)
    return


if __name__ == "__main__":
    app.run()
