# /// script
# [tool.marimo.opengraph]
# title = "1. First kernel"
# description = """A student's first kernel: what a warp is, what it waits for, and the four answers of a simulation. \
# 15 minutes."""
#
# [tool.marimo.display]
# theme = "system"
#
# [tool.gpusim]
# minutes = 15
# ///
"""A student's first kernel: what a warp is, what it waits for, and the four answers of a simulation."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="1. First kernel")

with app.setup:
    from collections.abc import Sequence
    from textwrap import dedent

    import marimo as mo
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure
    from teaching import Exercise, fields, marked, opening, picture, precomputed, working

    import gpusim
    from gpusim import Result
    from gpusim.analysis.account.stalls import lost_slots
    from gpusim.sm.account.record.declaration import ISSUE
    from gpusim.sm.unit.stall import Stall
    from isa.text import listing

    LATENCY = "global_memory.latency"
    LAST = 1700  # cycle at the right edge, so that dots move and not the axis
    TEXT = """
        .kernel saxpy
        .grid 8
        .block 128
        .param n = 1000
        .param factor = 2.0
        .buffer x f32 1000 = hash 1
        .buffer y f32 1000 = hash 2
        .expect y = 2 * x + y
        .flops 2000

        S2R R0, TID.X               // which thread of the block
        S2R R1, CTAID.X             // which block
        S2R R2, NTID.X              // threads of a block
        IMAD R0, R1, R2, R0         // which element: block x threads + thread
        ISETP.LT P0, R0, c[n]       // is that element below n?
        SHL R1, R0, 2               // its byte offset
        IADD R2, R1, c[x]
        IADD R3, R1, c[y]
        @P0 LDG R4, [R2]
        @P0 LDG R5, [R3]
        FFMA R5, R4, c[factor], R5  // 2 x + y
        @P0 STG [R3], R5
        EXIT
    """


@app.function(hide_code=True)
def issued(result: Result) -> list[list[int | str]]:
    """Return cycle, warp and mnemonic of each warp instruction that the SM issued."""
    code = result.kernel.program.instructions
    trace = result.run.trace[result.run.trace["kind"] == ISSUE]
    return [[int(one["cycle"]), int(one["warp"]), code[one["pc"]].row.mnemonic] for one in trace]


@app.function(hide_code=True)
def precompute() -> list[list[int | str]]:
    """Return what the first picture shows."""
    return issued(gpusim.simulate(listing.read(TEXT, "saxpy"), "gtx580", trace=True))


@app.function(hide_code=True)
def issues(rows: Sequence[Sequence[int | str]]) -> Figure:
    """Figure: a dot for each warp instruction that the SM issued, by cycle and warp, memory accesses marked."""
    kinds = {"LDG": ("loads", "o"), "STG": ("stores", "s"), "FFMA": ("multiply-adds", "D")}
    figure, axes = plt.subplots()
    for label, marker in (*kinds.values(), ("other instructions", "|")):
        shown = [row[:2] for row in rows if kinds.get(row[2], ("other instructions", "|"))[0] == label]
        axes.plot(*zip(*shown, strict=True), marker, ms=7, label=label)
    axes.set(xlabel="shader cycles since the launch", ylabel="warp slot of the SM", ylim=(-0.6, None))
    axes.set_yticks(sorted({warp for _, warp, _ in rows}))
    axes.invert_yaxis()
    figure.legend(loc="outside upper right", ncols=4)
    return figure


@app.cell(hide_code=True)
def _():
    opening(
        1,
        """A kernel is one program that many threads run. The GPU runs 32 of them, a **warp**, in step: it issues an
        instruction for all 32 at once. **A warp issues its next instruction as soon as the values that it reads are
        available, and waits until then.** A load from global memory takes hundreds of cycles, and an instruction that
        reads its result waits that long.""",
        picture(
            issues(precomputed(1)),
            f"One block on an SM of a {gpusim.load('gtx580').name}: each mark is the issue of a warp instruction.",
        ),
    )
    return


@app.cell(hide_code=True)
def _():
    mo.md(f"""
    The gap is the wait for both loads: the multiply-add needs `R4` and `R5`. Here is the program. Lines with a dot
    describe the launch: blocks, threads of a block, parameters, data, and the result to expect. An instruction after
    `@P0` takes effect only in the threads where `P0` holds; `c[x]` is the address at which the buffer `x` begins.

    ```asm{dedent(TEXT).rstrip()}
    ```
    """)
    return


@app.cell(hide_code=True)
def _():
    with working("Simulating the program."):
        kernel = listing.read(TEXT, "saxpy")
        result = gpusim.simulate(kernel, "gtx580", trace=True)
    return kernel, result


@app.cell(hide_code=True)
def _(result):
    _reason, _cycles = next(iter(lost_slots(result.run).items()))
    _slots = result.cycles * result.machine.schedulers.count
    mo.md(f"""
    ## The results of a simulation

    `gpusim.simulate(listing.read(text), "gtx580")` gives four answers:

    1. **Are the values right?** {result.verification.wrong} of {result.verification.values} checked values are wrong.
       The simulator computed them instruction by instruction.
    2. **How long did it take?** {result.cycles:,} cycles of the SM.
    3. **How fast could it be?** In any order of its instructions it takes {result.bound.cycles:,} cycles or more. The
       {result.bound.limiter} sets this bound: each of its instructions needs the result of the one before.
    4. **Where did the time go?** {100 * _cycles / _slots:.0f} % of the cycles in which a scheduler could have issued
       were lost because a warp {Stall[_reason.upper()].meaning} (`{_reason}`).
    """)
    return


@app.cell(hide_code=True)
def _(result):
    _latency = result.machine.global_memory.latency
    latency = mo.ui.slider(100, 2 * _latency, 50, value=_latency, show_value=True, label="cycles of a global load")
    warps = mo.ui.slider(1, 8, value=4, show_value=True, label="warps of a block")
    mo.vstack(
        [
            mo.md(f"""
    ## Try it

    A machine is a file of numbers; `gpusim.load("gtx580", {{"{LATENCY}": 200}})` replaces one. Move the sliders: does a
    slower memory spread the dots of a warp, or only move those after the gap?
    """),
            mo.hstack([latency, warps], justify="start", gap=2),
        ]
    )
    return latency, warps


@app.cell(hide_code=True)
def _(latency, warps):
    _text = TEXT.replace(".block 128", f".block {32 * warps.value}")
    _text = _text.replace(".grid 8", f".grid {-(-1000 // (32 * warps.value))}")
    _machine = gpusim.load("gtx580", {LATENCY: latency.value})
    _result = gpusim.simulate(listing.read(_text, "saxpy"), _machine, trace=True)
    _figure = issues(issued(_result))
    _figure.axes[0].set(xlim=(-20, LAST), ylim=(7.6, -0.6))
    picture(
        _figure,
        f"The busiest SM has {_result.run.blocks} of the {_result.kernel.blocks} blocks, each of "
        f"{32 * warps.value} threads. With loads of {latency.value} cycles it takes {_result.cycles:,} cycles.",
    )
    return


@app.cell(hide_code=True)
def _(kernel, result):
    _latency = result.machine.global_memory.latency
    _half = gpusim.simulate(kernel, gpusim.load("gtx580", {LATENCY: _latency // 2}))
    _idle = kernel.blocks * kernel.threads - 1000
    _length = len(kernel.program)
    exercises = (
        Exercise(
            "The launch has 8 blocks of 128 threads for 1000 elements. How many threads have nothing to do?",
            _idle,
            f"8 x 128 = {kernel.blocks * kernel.threads} threads, 1000 elements: {_idle}. The guard `@P0` keeps "
            "them from storing after the end of `y`.",
        ),
        Exercise(
            "The SM of the picture got one block. How many warp instructions did it issue?",
            result.run.warp_instructions,
            f"A block of 128 threads is {kernel.warps} warps, and each issues the {_length} instructions of the "
            f"program once: {kernel.warps} x {_length} = {result.run.warp_instructions}. Instructions whose guard "
            "holds in no lane are issued too.",
        ),
        Exercise(
            f"A load takes {_latency} cycles. By how many cycles does the launch get shorter if it takes half as "
            "many? Think first, then move the slider.",
            result.cycles - _half.cycles,
            f"From {result.cycles:,} to {_half.cycles:,} cycles: by {result.cycles - _half.cycles}. Both loads of a "
            "warp "
            "are under way at the same time, and so are those of all warps, so the latency counts once, not "
            f"for each of {2 * kernel.warps} loads.",
            within=0.05,
        ),
        Exercise(
            "What would shorten this launch most?",
            "a shorter latency",
            f"The bound is set by the {result.bound.limiter}. The SM issues {result.run.warp_instructions} "
            f"warp instructions in {result.cycles:,} cycles, so it has slots, pipes and bandwidth to spare. (More "
            "elements for each SM would make it faster per element: lesson 2.)",
            choices=("more bandwidth", "a shorter latency", "more pipes"),
        ),
    )
    answers = fields(exercises)
    return answers, exercises


@app.cell(hide_code=True)
def _(answers, exercises):
    marked(1, exercises, answers)
    return


if __name__ == "__main__":
    app.run()
