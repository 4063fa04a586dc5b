# /// script
# [tool.marimo.opengraph]
# title = "12. A matrix product on tensor cores"
# description = "Plain loads, cp.async, wgmma, tensor copies: what each step gains, and what no step beats. 35 minutes."
#
# [tool.marimo.display]
# theme = "system"
#
# [tool.gpusim]
# minutes = 35
# ///
"""Plain loads, cp.async, wgmma, tensor copies: what each step gains, and what no step beats."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="12. A matrix product on tensor cores")

with app.setup:
    from collections.abc import Mapping
    from itertools import pairwise

    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np
    from matplotlib.figure import Figure
    from teaching import Exercise, fields, marked, opening, picture, precomputed

    import gpusim
    from gpusim import RawModule, Result
    from gpusim.analysis.account import gemm_shares
    from gpusim.analysis.account.stalls import warp_cycles
    from gpusim.support import shipped
    from gpusim.views.palette import COLOURS

    Step = Mapping[str, object]  # what a version did, in plain values
    FOLDER = shipped.folder("examples") / "gemm"
    CARD = gpusim.load("h200")
    STEPS = {  # what was changed, and the bytes of its stages
        "plain": (
            "Tiles go from global memory to registers, from there to shared memory, and then are multiplied.",
            32768,
        ),
        "copies": ("`cp.async` copies past the registers, into three stages, while `mma.sync` works.", 98304),
        "wgmma": ("Four warps multiply together, straight from shared memory: no fragments, few instructions.", 98304),
        "tma": ("A thread has the copy engine bring whole tiles; barriers in shared memory count their bytes.", 131072),
    }
    TILE, DEPTH, THREADS = 128, 512, {"tma": 384}  # of a block; four warps more, of which a thread brings the tiles
    SHOWN = 0.01  # of all waits: smaller parts are not drawn
    PRODUCTS = 2048  # multiplications of halves in a cycle of an SM by wgmma


@app.function(hide_code=True)
def measured(name: str) -> tuple[Result, bool]:
    """Run a version on a tile of 128 by 128 and depth 512; return its result, and whether C is A times B exactly."""
    random = np.random.default_rng(1)
    a, b = (random.integers(-8, 8, (TILE, DEPTH)).astype(np.float16) for _ in "ab")
    c = np.zeros((TILE, TILE), np.float32)
    kernel = RawModule(path=FOLDER / f"{name}.cubin").get_function("gemm")
    maps = (gpusim.tensor_map(one, box=(TILE, 64), swizzle="128B") for one in (a, b))
    arguments = (*(maps if name == "tma" else (a, b)), c, np.int32(TILE), np.int32(DEPTH))
    result = kernel((1,), (THREADS.get(name, 256),), arguments, shared_mem=STEPS[name][1])
    return result, bool(np.array_equal(c, a.astype(np.float64) @ b.T.astype(np.float64)))


@app.function(hide_code=True)
def precompute() -> dict[str, Step]:
    """Return for each version its cycles, its bound, and what its warps waited for."""
    found = {}
    for name in STEPS:
        result, right = measured(name)
        waited = warp_cycles(result.run)
        every = sum(waited.values())
        found[name] = {
            "cycles": result.cycles,
            "bound": result.bound.cycles,
            "limiter": result.bound.limiter,
            "instructions": int(result.run.issued.sum()),
            "busy": result.run.pipe_cycles["tensor"] / (4 * result.cycles),
            "right": right,
            "stalls": {reason: round(cycles / every, 4) for reason, cycles in waited.items()},
        }
    return found


@app.function(hide_code=True)
def steps(known: Mapping[str, Step]) -> Figure:
    """Figure: cycles of each version, and of these the bound and the tensor pipe's."""
    figure, axes = plt.subplots(figsize=(7.4, 2.6))
    names = [f"{name}.cu" for name in known]
    bars = axes.barh(names, [one["cycles"] for one in known.values()], color="C0", label="cycles")
    axes.barh(names, [one["bound"] for one in known.values()], 0.5, color="C1", label="bound")
    busy = [one["busy"] * one["cycles"] for one in known.values()]
    axes.barh(names, busy, 0.2, color="C2", label="tensor pipe busy")
    axes.bar_label(bars, [f"{one['cycles']:,}" for one in known.values()], padding=3, fontsize=9)
    axes.set(xlabel="cycles of an SM of the H200")
    axes.margins(x=0.12)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.legend(loc="lower right", fontsize="small")
    return figure


@app.function(hide_code=True)
def waits(known: Mapping[str, Step]) -> Figure:
    """Figure: what the warps of each version waited for, as shares of their time."""
    figure, axes = plt.subplots(figsize=(7.4, 2.9))
    seen = {}
    for name, one in known.items():
        left = 0.0
        for reason, share in one["stalls"].items():
            if share >= SHOWN:
                seen.setdefault(reason, axes.barh(f"{name}.cu", 100 * share, left=left, color=COLOURS[reason].light))
                left += 100 * share
    axes.set(xlabel="% of the warps' time")
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    figure.legend(list(seen.values()), list(seen), loc="outside lower center", ncols=4, fontsize="small")
    return figure


@app.cell(hide_code=True)
def _():
    known = precomputed(12)
    opening(
        12,
        """A tensor core multiplies 16 by 8 numbers in one instruction, and four warps together 64 by 256. It is so fast
        that everything else is late. **Each step takes one thing out of its way: first the waits for copies, then the
        fragments in registers, then the threads that copy. What is left is a bound that no schedule beats.**""",
        picture(
            steps(known),
            f"C = A Bᵀ of halves: a tile of {TILE} by {TILE}, {DEPTH} deep, by one block, in four versions.",
        ),
    )
    return (known,)


@app.cell(hide_code=True)
def _(known):
    version = mo.ui.radio(list(known), value=next(iter(known)), inline=True, label="version")
    mo.vstack([mo.md("## Four versions"), version])
    return (version,)


@app.cell(hide_code=True)
def _(known, version):
    _one = known[version.value]
    _text = (FOLDER / f"{version.value}.cu").read_text(encoding="utf-8")
    mo.vstack(
        [
            mo.md(STEPS[version.value][0]),
            mo.md(f"```cuda\n{_text}```"),
            mo.md(
                f"**{_one['cycles']:,} cycles**, {_one['instructions']:,} warp instructions. The bound is "
                f"{_one['bound']:,} cycles, set by {_one['limiter']}; the tensor pipe is busy "
                f"{100 * _one['busy']:.0f} % of the time."
            ),
            picture(waits(known), "What warps wait for, in each version."),
        ]
    )
    return


@app.cell(hide_code=True)
def _():
    rows = mo.ui.slider(64, 256, 64, value=128, show_value=True, label="rows of a block's tile")
    columns = mo.ui.slider(64, 256, 64, value=128, show_value=True, label="columns")
    stages = mo.ui.slider(2, 6, value=3, show_value=True, label="stages of 128 bytes of K")
    sharers = mo.ui.radio({"alone": 1, "a multicast to two blocks": 2}, value="alone", inline=True, label="B comes")
    mo.vstack(
        [
            mo.md("""
    ## What no version beats

    When all SMs work, each gets its share of the L2: 81 bytes in a cycle. **A tile of `rows` by `columns` loads
    `rows + columns` lines for `rows` times `columns` products: the larger it is, the less it loads for each.**
    Registers hold the tile, and shared memory the stages.
    """),
            mo.hstack([rows, columns, stages, sharers], justify="start", gap=2, wrap=True),
        ]
    )
    return columns, rows, sharers, stages


@app.cell(hide_code=True)
def _(columns, rows, sharers, stages):
    _shares = gemm_shares.of_halves(CARD, rows.value, columns.value, stages.value, sharers.value)
    _found, _held, _limiter = _shares.by_resource, _shares.held, _shares.limiter
    _figure, _axes = plt.subplots(figsize=(7.4, 2.6))
    _axes.barh(list(_found), [100 * one for one in _found.values()], color="C0")
    _axes.axvline(100, color="black", lw=1.5, ls="--")
    _axes.set(xlabel="% of the tensor pipe's cycles")
    _axes.invert_yaxis()
    _axes.grid(axis="y", visible=False)
    _fits = f"An SM holds {_held.blocks} of its blocks." if _held.blocks else "No SM holds it."
    picture(
        _figure,
        f"{rows.value} by {columns.value} numbers by wgmma: {100 / _found[_limiter]:.0f} % of the peak at most, "
        f"by {_limiter}. {_held.registers} registers, {_held.shared_bytes:,} bytes of shared memory. {_fits}",
    )
    return


@app.cell(hide_code=True)
def _(known):
    _small, _usual = (gemm_shares.of_halves(CARD, rows, 128, 3).by_resource for rows in (64, 128))
    _cycles = [one["cycles"] for one in known.values()]
    exercises = (
        Exercise(
            f"wgmma makes {PRODUCTS:,} products of halves in a cycle of an SM. How many cycles does the tensor pipe "
            f"need for the tile of {TILE} by {TILE}, {DEPTH} deep?",
            TILE * TILE * DEPTH / PRODUCTS,
            f"{TILE} x {TILE} x {DEPTH} products over {PRODUCTS:,}.",
        ),
        Exercise(
            "A warp of plain.cu has 64 by 32 numbers of C. How many `ldmatrix.x4`, of 512 bytes each, does it take to "
            "load what it multiplies in a step of 16 halves of K?",
            (64 + 32) * 32 / 512,
            "64 lines of A and 32 of B, of 32 bytes each: 3,072 bytes.",
        ),
        Exercise(
            "All SMs load from the L2, with tiles of 64 by 128 and wgmma. What share of the peak is left, in percent?",
            100 / max(_small.values()),
            f"The L2 takes {_small['L2']:.2f} cycles for each cycle of the tensor pipe; of tiles of 128 by 128 "
            f"{_usual['L2']:.2f}.",
        ),
        Exercise(
            "How many times as fast as the first version is the last one?",
            _cycles[0] / _cycles[-1],
            "; ".join(f"{after:,} after {before:,} cycles" for before, after in pairwise(_cycles)) + ".",
        ),
    )
    answers = fields(exercises)
    return answers, exercises


@app.cell(hide_code=True)
def _(answers, exercises):
    marked(12, exercises, answers)
    return


if __name__ == "__main__":
    app.run()
