# /// script
# [tool.marimo.opengraph]
# title = "4. Shared-memory banks and wide loads"
# description = "Banks of shared memory, and loads of 64 and 128 bits among multiply-adds. 20 minutes."
#
# [tool.marimo.display]
# theme = "system"
#
# [tool.gpusim]
# minutes = 20
# ///
"""Banks of shared memory, and loads of 64 and 128 bits among multiply-adds."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="4. Shared-memory banks and wide loads")

with app.setup:
    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np
    from matplotlib.ticker import MaxNLocator
    from teaching import Exercise, fields, marked, opening, picture, precomputed, working

    import gpusim
    from gpusim.analysis.validate.validation import published_points
    from workloads.catalog import make

    CARD = "gtx580"
    NAMES = {32: "LDS", 64: "LDS.64", 128: "LDS.128"}
    RATIOS = (1, 2, 3, 4, 6, 8, 10, 12, 14, 16)
    USED = {32: 3, 64: 6, 128: 12}  # FFMAs to a load in an SGEMM with 6 x 6 results in each thread
    SHADES = "C0", "C3"  # of lanes above each other; white letters are readable on both
    ISSUE = 32  # thread instructions that an SM of this card issues in a shader cycle


@app.function(hide_code=True)
def mixed(ffmas: int, bits: int) -> float:
    """Return the thread instructions per cycle of an SM with so many FFMAs for each load of so many bits."""
    kernel = make("mix", {"ratio": f"{ffmas}:1", "lds": str(bits), "groups": "32", "iterations": "16"})
    return gpusim.simulate(kernel, CARD, values=False).thread_instructions_per_cycle


@app.function(hide_code=True)
def passes(stride: int, bits: int) -> int:
    """Return the passes of a load in which lane l reads word l * stride: cycles of many loads over those of a pass."""
    machine = gpusim.load(CARD)
    shape = {"stride": str(stride), "width": str(bits), "warps": "8"}
    short, long = (
        gpusim.simulate(make("bank-conflict", {**shape, "length": length}), machine, values=False).cycles
        for length in ("64", "192")
    )
    return round((long - short) / (8 * 128) / machine.shared_memory.pass_cycles)


@app.function(hide_code=True)
def precompute() -> list[list[float]]:
    """Return the rates of the first picture: for each width of loads, one for each ratio."""
    return [[mixed(ffmas, bits) for ffmas in RATIOS] for bits in NAMES]


@app.cell(hide_code=True)
def _():
    rates = dict(zip(NAMES, precomputed(4), strict=True))
    measured = {point.id: point.value for point in published_points(gpusim.load(CARD))}
    return measured, rates


@app.cell(hide_code=True)
def _(measured, rates):
    _figure, _axes = plt.subplots()
    for _bits, _name in NAMES.items():
        (_line,) = _axes.plot(RATIOS, rates[_bits], label=_name)
        _value = measured[f"mix-{USED[_bits]}-1-{_bits}"]
        _axes.plot(USED[_bits], _value, "o", ms=9, mfc="none", mew=2, color=_line.get_color())
        _axes.annotate(f"{_value}", (USED[_bits], _value), (6, -14), textcoords="offset points")
    _axes.axhline(ISSUE, color="black", lw=1, ls="--")
    _axes.annotate("all issue slots used", (RATIOS[-1], ISSUE), (0, 4), textcoords="offset points", ha="right")
    _axes.set(xlabel="FFMAs for each load", ylabel="thread instructions\nper shader cycle of an SM", ylim=(0, 36))
    _axes.legend(loc="lower right")
    opening(
        4,
        """Shared memory has 32 **banks**: word w is in bank w modulo 32. **In one pass each bank gives one word.
        Different words of one bank take a pass each; lanes that read the same word share it.** On this chip a load of
        64 bits serves half a warp at a time, and a load of 128 bits is served as two of 64. While the load/store unit
        works on a load, the schedulers issue FFMAs, if the program has enough of them.""",
        picture(
            _figure,
            "FFMAs mixed with independent loads on a GTX 580: curves are simulated, circles measured by Lai and Seznec "
            "(figure 2) at the ratio that a thread with 6 x 6 results needs.",
        ),
    )
    return


@app.cell(hide_code=True)
def _():
    stride = mo.ui.slider(0, 33, value=2, show_value=True, label="words from lane to lane")
    mo.vstack(
        [
            mo.md("""
    ## Lanes and banks

    The picture shows one 32-bit load: the column of each bank stacks the lanes that read from it. **The height of the
    highest column is the number of passes.** With a stride of 0 all lanes read one word, in one pass. Which strides are
    free of conflicts? Which is the worst?
    """),
            stride,
        ]
    )
    return (stride,)


@app.cell(hide_code=True)
def _(stride):
    with working("Simulating the loads."):
        _passes = passes(stride.value, 32)
    _words = sorted({lane * stride.value for lane in range(32)})
    _figure, _axes = plt.subplots(figsize=(7.4, 4.2))
    _seen = np.zeros(32, int)
    for _word in _words:
        _bank = _word % 32
        _lanes = [lane for lane in range(32) if lane * stride.value == _word]
        _axes.bar(_bank, 1, bottom=_seen[_bank], width=0.9, color=SHADES[_seen[_bank] % 2], edgecolor="white")
        _text = str(_lanes[0]) if len(_lanes) == 1 else "all"
        _axes.text(_bank, _seen[_bank] + 0.5, _text, ha="center", va="center", color="white", fontsize=7)
        _seen[_bank] += 1
    _axes.set(xlabel="bank", ylabel="passes", xlim=(-0.7, 31.7), ylim=(0, max(4, _seen.max())))
    _axes.set_xticks(range(0, 32, 4))
    _axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    _axes.grid(visible=False)
    picture(
        _figure,
        f"Lanes by bank at a stride of {stride.value}. Passes: {_seen.max()} by counting, {_passes} "
        "by the cycles that the kernel bank-conflict takes in the simulator.",
    )
    return


@app.cell(hide_code=True)
def _():
    with working("Simulating loads of each width."):
        _free = {bits: passes(bits // 32, bits) for bits in NAMES}
    _machine = gpusim.load(CARD)
    _cycles, _schedulers = _machine.shared_memory.pass_cycles, _machine.schedulers
    _slots = _free[128] * _cycles * _schedulers.count // _schedulers.interval
    _rows = "\n".join(
        f"    | `{NAMES[bits]}` | {bits // 32} | {_free[bits]} | {_free[bits] * _cycles} | "
        f"{32 * bits // 32 / _free[bits] / _cycles:.0f} |"
        for bits in NAMES
    )
    mo.md(f"""
    ## Wide loads

    A wider load is one instruction instead of two or four, which saves issue slots. **It saves no passes.** When the
    lanes read words side by side, a load takes

    | load | words per lane | passes | shader cycles | words per cycle |
    |---|---|---|---|---|
{_rows}

    `LDS.128` moves half as many words per cycle as the others. Its half-warps read two words of every four: each
    bank that they use serves two lanes, and the other banks are idle. Lai and Seznec measured these
    {_free[128] * _cycles} cycles. They explain the low curve above: {_schedulers.count} schedulers could issue {_slots}
    warp instructions meanwhile, but {USED[128]} FFMAs and a load are fewer.
    """)
    return


@app.cell(hide_code=True)
def _(measured, rates):
    _useful = {bits: measured[f"mix-{n}-1-{bits}"] * n / (n + 1) / ISSUE * 100 for bits, n in USED.items()}
    _best = max(_useful, key=_useful.__getitem__)
    _words = [[(32 + pad) * row % 32 for row in range(32)] for pad in range(4)]
    _ways = [max(banks.count(bank) for bank in banks) for banks in _words]
    exercises = (
        Exercise(
            "How many passes does a 32-bit load take at a stride of 8 words?",
            passes(8, 32),
            f"Lanes 0, 4, 8, ... meet in one bank: 32 lanes in 32 / 8 = 4 banks, {passes(8, 32)} in each.",
        ),
        Exercise(
            "A tile of 32 x 32 words lies in shared memory row by row, and a warp reads a column. How many words "
            "must be added to each row, at least, so that the column is read in one pass?",
            _ways.index(1),
            f"Lane r reads at word r (32 + p). Without padding all are in one bank: {_ways[0]} passes. With p = "
            f"{_ways.index(1)} each row begins one bank further: {_ways[_ways.index(1)]} pass. Kurzak's GEMM does "
            "this and calls it skewing.",
        ),
        Exercise(
            "The circle of `LDS.64` stands at 6 FFMAs for each load. The SM could issue 32 thread instructions in a "
            "cycle. What percentage of these are then FFMAs?",
            _useful[64],
            f"{measured['mix-6-1-64']} thread instructions per cycle, 6 of 7 of them FFMAs: {_useful[64]:.1f} % of "
            f"32. In the simulator {rates[64][RATIOS.index(6)] * 6 / 7 / ISSUE * 100:.1f} %.",
        ),
        Exercise(
            "Which load has the most FFMAs per cycle at its circle?",
            NAMES[_best],
            "; ".join(f"`{NAMES[bits]}` {share:.1f} %" for bits, share in _useful.items())
            + f" of the peak. `{NAMES[_best]}` takes fewer slots than `LDS`, and `LDS.128` takes too many cycles.",
            choices=tuple(NAMES.values()),
        ),
    )
    answers = fields(exercises)
    return answers, exercises


@app.cell(hide_code=True)
def _(answers, exercises):
    marked(4, exercises, answers)
    return


if __name__ == "__main__":
    app.run()
