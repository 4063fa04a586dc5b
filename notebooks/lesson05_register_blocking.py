# /// script
# [tool.marimo.opengraph]
# title = "5. Register blocking and the bound"
# description = "Register blocking, and the bound of Lai and Seznec equation by equation. 30 minutes."
#
# [tool.marimo.display]
# theme = "system"
#
# [tool.gpusim]
# minutes = 30
# ///
"""Register blocking, and the bound of Lai and Seznec equation by equation."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="5. Register blocking and the bound")

with app.setup:
    from collections.abc import Callable

    import marimo as mo
    import matplotlib.pyplot as plt
    from teaching import Exercise, fields, marked, opening, picture

    import gpusim
    from gpusim.analysis.validate.validation import published_points
    from gpusim.machine.machine import bandwidth_gbs, peak_gflops
    from gpusim.reproduction.lai import equations
    from gpusim.reproduction.main_loop import main_loop
    from workloads.catalog import make

    CARD = gpusim.load("gtx580")
    NAMES = {1: "LDS", 2: "LDS.64", 4: "LDS.128"}  # by words
    BLOCKINGS = range(1, 9)
    THREADS, DEPTH, INDICES = 256, 16, 7  # of a block; of a tile along k; registers for addresses and the loop's end
    USED = {1: 3, 2: 6, 4: 12}  # FFMAs to a load at blocking 6: the mixes that were measured
    MOST = CARD.limits.registers_per_thread
    FORMULAS = (  # as in the report
        r"T_{SM} \ge 32 \cdot \text{latency} / \text{issue interval}",
        r"R_T \le R_{max}",
        r"T_{SM} R_T \le R_{SM}",
        r"B_R^2 + B_R + 1 < R_T",
        r"\sqrt{T_B}\, B_R L \bmod T_B = 0",
        r"2\, Blk \sqrt{T_B}\, B_R L \le Sh_{SM}",
        r"B_R^2 + 2 \sqrt{T_B}\, B_R L / T_B + B_R + 1 + R_{index} \le R_T",
        r"B_{Sh} = \sqrt{T_B B_R^2}",
        r"F_T \text{ as measured}",
        r"P_{Mem} = B_{Sh} \cdot \text{bandwidth} / 4",
        r"P_{SM} = P \cdot B_R^2 / (B_R^2 + 2 B_R F_T)",
        r"\min(P_{Mem}, P_{SM})",
    )


@app.function(hide_code=True)
def counted(blocking: int, words: int) -> float:
    """Return the percentage of FFMAs among FFMAs and shared loads, counted in the main loop of the SGEMM."""
    side = str(16 * blocking)
    kernel = make(
        "sgemm-lai", {"m": side, "n": side, "blocking": str(blocking), "lds": str(32 * words), "prefetch": "off"}
    )
    names = [i.row.mnemonic for i in main_loop(kernel.program)]
    ffmas, loads = names.count("FFMA"), sum(name.startswith("LDS") for name in names)
    return 100 * ffmas / (ffmas + loads)


@app.function(hide_code=True)
def largest(fits: Callable[[int], bool]) -> int:
    """Return the largest blocking for which the condition holds."""
    return max(blocking for blocking in range(1, 33) if fits(blocking))


@app.cell(hide_code=True)
def _():
    _figure, _axes = plt.subplots()
    for _words, _marker in zip(NAMES, "osD", strict=True):
        _shares = [100 * equations.ffma_share(blocking, _words) for blocking in BLOCKINGS]
        (_line,) = _axes.plot(BLOCKINGS, _shares, label=NAMES[_words])
        _whole = [blocking for blocking in BLOCKINGS if blocking % _words == 0]
        _axes.plot(_whole, [counted(blocking, _words) for blocking in _whole], _marker, color=_line.get_color())
    _axes.set(xlabel="register blocking B_R: a thread computes B_R x B_R results", ylabel="FFMAs in the main loop, %")
    _axes.set(ylim=(0, 100))
    _axes.legend(loc="lower right")
    opening(
        5,
        """An FFMA can't read shared memory: both factors must be loaded into registers first. **A thread that keeps
        B_R x B_R results in registers needs 2 B_R loaded words for B_R² FFMAs: the larger B_R, the fewer issue slots
        go to loads.** The number of registers limits B_R: 63 for each thread on Fermi, as an instruction names one in
        six bits.""",
        picture(
            _figure,
            "Figure 1 of Lai and Seznec: curves are the formula B_R² / (B_R² + 2 B_R / words), dots are counted in the "
            "program that gpusim generates, where a line of B_R words is a whole number of loads.",
        ),
    )
    return


@app.cell(hide_code=True)
def _():
    blocking = mo.ui.slider(1, 12, value=6, show_value=True, label="B_R")
    depth = mo.ui.slider(8, 32, 8, value=DEPTH, show_value=True, label="depth L of a tile")
    side = mo.ui.slider(8, 32, 8, value=16, show_value=True, label="threads of a block, square root")
    words = mo.ui.radio({name: words for words, name in NAMES.items()}, value="LDS.64", inline=True, label="loads")
    mo.vstack(
        [
            mo.md(f"""
    ## The use of the registers

    Loading the next tile while this one is computed (prefetching) costs registers as well. **Results, prefetched
    elements, a line of A, loaded words of B, and {INDICES} registers for addresses and the loop must fit in {MOST}.**
    """),
            mo.hstack([blocking, depth, side, words], justify="start", gap=2, wrap=True),
        ]
    )
    return blocking, depth, side, words


@app.cell(hide_code=True)
def _(blocking, depth, side, words):
    _parts = {
        "results": blocking.value**2,
        "prefetched": equations.prefetch_registers(side.value**2, blocking.value, depth.value),
        "line of A": blocking.value,
        "of B": words.value,
        "addresses, loop": INDICES,
    }
    _figure, _axes = plt.subplots(figsize=(7.4, 1.9))
    _left = 0
    for _name, _count in _parts.items():
        _axes.barh(0, _count, left=_left, label=f"{_name}: {_count:g}", ec="white")
        _left += _count
    _axes.axvline(MOST, color="black", lw=1.5, ls="--")
    _axes.annotate(f"{MOST}", (MOST, 0.42), (3, 0), textcoords="offset points")
    _axes.set(xlabel="registers of a thread", yticks=(), ylim=(-0.5, 0.6), xlim=(0, max(75, _left + 3)))
    _axes.grid(axis="y", visible=False)
    _figure.legend(loc="outside upper center", ncols=5, fontsize="small", handlelength=1)
    picture(_figure, f"{_left:g} registers, {'which fit' if _left <= MOST else f'{_left - MOST:g} too many'}.")
    return


@app.cell(hide_code=True)
def _(blocking, depth, side, words):
    _threads, _rates = side.value**2, {point.id: point.value for point in published_points(CARD)}
    _peak, _schedulers = peak_gflops(CARD), CARD.schedulers
    _held = 2 * _threads
    _mixed = _rates[f"mix-{USED[words.value]}-1-{32 * words.value}"]
    _factor = equations.throughput_factor(6, words.value, _mixed)
    _tile = equations.shared_blocking(_threads, blocking.value)
    _memory = equations.memory_bound(bandwidth_gbs(CARD), _tile)
    _sm = equations.sm_bound(blocking.value, _factor, _peak)
    _need = equations.registers_needed(blocking.value, _threads, depth.value, INDICES) + words.value - 1
    _latency = CARD.unit["fp32"].latency
    _bytes = CARD.limits.shared_bytes

    equation_rows = [
        (
            1,
            "threads of an SM that hide the latency of an FFMA",
            f"{equations.threads_needed(_latency, _schedulers.interval / 2):.0f}",
        ),
        (
            2,
            f"registers of a thread are at most {MOST}",
            f"{_need:g}",
            equations.registers_fit_thread(_need, MOST),
        ),
        (
            3,
            f"{_held} threads, two blocks, have room in {CARD.limits.registers:,} registers",
            f"{_held * min(_need, MOST):,.0f}",
            equations.registers_fit_sm(_held, min(_need, MOST), CARD.limits.registers),
        ),
        (
            4,
            "loose: results, a line of A, a word of B",
            f"{blocking.value**2 + blocking.value + 1}",
            equations.blocking_fits_loosely(blocking.value, MOST),
        ),
        (
            5,
            "every thread fetches the same number of elements of a tile",
            f"{side.value * blocking.value * depth.value / _threads:g}",
            equations.tile_divides(_threads, blocking.value, depth.value),
        ),
        (
            6,
            f"tiles of two blocks have room in {_bytes:,} bytes",
            f"{16 * side.value * blocking.value * depth.value:,}",
            equations.shared_fits(2, _threads, blocking.value, depth.value, _bytes),
        ),
        (7, "tight: with prefetched elements and addresses", f"{_need:g}", _need <= MOST),
        (8, "rows and columns of a block's tile", f"{_tile:g}"),
        (9, "issue slots that a loaded word costs", f"{_factor:.3f}"),
        (10, "GFLOP/s that global memory can feed", f"{_memory:,.0f}"),
        (11, "GFLOP/s that the SMs can issue", f"{_sm:,.0f}"),
        (12, "the lower of both, in % of the peak", f"{100 * equations.potential(_memory, _sm) / _peak:.1f} %"),
    ]
    return (equation_rows,)


@app.cell(hide_code=True)
def _(equation_rows):
    def row(number: int, said: str, value: str, holds: bool | None = None) -> str:
        verdict = "" if holds is None else "yes" if holds else "**no**"
        return f"    | {number} | ${FORMULAS[number - 1]}$ | {said} | {value} | {verdict} |"

    _rows = "\n".join(row(*each) for each in equation_rows)
    mo.md(f"""
    ## The bound, equation by equation

    The values are those of the sliders above. $T_B$ is the threads of a block, $R_T$ the registers of a thread, $L$ the
    depth of a tile, $Blk$ the blocks of an SM, $P$ the peak. Equation 9 uses the rate measured for this load at
    $B_R = 6$ (lesson 4); equations 2, 3 and 7 count the registers of the bar above.

    | | equation | meaning | value | holds |
    |---|:---|:---|---|:---|
{_rows}
    """)
    return


@app.cell(hide_code=True)
def _():
    _figure, _axes = plt.subplots()
    _sides = (2, 3, 4, 5, 6)
    _runs = []
    for _blocking in _sides:
        _side = str(8 * 16 * _blocking)
        _kernel = make("sgemm-lai", {"m": _side, "n": _side, "k": "480", "blocking": str(_blocking)})
        _runs.append(gpusim.simulate(_kernel, CARD, values=False))
    for _offset, _name, _values in (
        (-0.27, "equation 11", [equations.sm_bound(blocking, 0.5, 100) for blocking in _sides]),
        (0, "bound of the program", [run.bound.percent_of_peak for run in _runs]),
        (0.27, "simulated", [run.percent_of_peak for run in _runs]),
    ):
        _bars = _axes.bar([blocking + _offset for blocking in _sides], _values, 0.26, label=_name)
        _axes.bar_label(_bars, fmt="%.0f", fontsize=8)
    _axes.set(xlabel="register blocking B_R", ylabel="% of the peak", xticks=_sides, ylim=(0, 100))
    _figure.legend(loc="outside upper right", ncols=3)
    mo.vstack(
        [
            mo.md("""
    ## The bound and the simulation

    Equation 11 counts FFMAs and loads only. The bound that gpusim computes counts every instruction of the program and
    every unit. A simulation also loses slots to latencies, barriers and full queues.
    """),
            picture(_figure, "SGEMM of 8 x 8 tiles, four for each SM of a GTX 580, with k = 480 and LDS.64."),
        ]
    )
    return


@app.cell(hide_code=True)
def _():
    _old = gpusim.load("gt200").limits.registers_per_thread
    _loose = largest(lambda b: equations.blocking_fits_loosely(b, MOST))
    _tight = largest(lambda b: equations.blocking_fits_tightly(b, THREADS, DEPTH, INDICES, MOST))
    _wide = largest(lambda b: equations.blocking_fits_tightly(b, THREADS, DEPTH, INDICES, _old))
    _needed = {b: equations.registers_needed(b, THREADS, DEPTH, INDICES) for b in (_tight, _tight + 1, _wide)}
    _bound = {b: equations.sm_bound(b, 0.5, 100) for b in (_tight, _wide)}
    exercises = (
        Exercise(
            f"By the loose condition (equation 4, B_R² + B_R + 1 < {MOST}), what is the largest B_R?",
            _loose,
            f"{_loose}² + {_loose} + 1 = {_loose**2 + _loose + 1}; one more would take "
            f"{(_loose + 1) ** 2 + _loose + 2}.",
        ),
        Exercise(
            f"What is it by the tight one (equation 7), with {THREADS} threads in a block and tiles of depth {DEPTH}?",
            _tight,
            f"{_tight} takes {_needed[_tight]:.0f} registers, and one more for the second word that `LDS.64` loads: "
            f"all {MOST}. "
            f"{_tight + 1} would take {_needed[_tight + 1]:.0f}.",
        ),
        Exercise(
            "With that blocking and `LDS.64` at full rate (half an issue slot for each word), what percentage of the "
            "peak can an SM reach at best (equation 11)?",
            _bound[_tight],
            f"{_tight}² / ({_tight}² + 2 x {_tight} / 2) = {_bound[_tight]:.1f} %. Global memory could feed more, so "
            "this is the bound; Lai and Seznec say about 85 %.",
        ),
        Exercise(
            f"GT200, the generation before, could name {_old} registers. If Fermi could too, what percentage of "
            "the peak could it reach by equations 7 and 11, with the same loads?",
            _bound[_wide],
            f"B_R = {_wide} takes {_needed[_wide]:.0f} registers: {_wide}² / ({_wide}² + {_wide}) = "
            f"{_bound[_wide]:.1f} %. "
            "(More registers for a thread would also leave room for fewer threads: equation 3.)",
        ),
    )
    answers = fields(exercises)
    return answers, exercises


@app.cell(hide_code=True)
def _(answers, exercises):
    marked(5, exercises, answers)
    return


if __name__ == "__main__":
    app.run()
