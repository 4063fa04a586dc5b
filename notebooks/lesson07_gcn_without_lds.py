# /// script
# [tool.marimo.opengraph]
# title = "7. GCN without LDS"
# description = """A matrix product for Vega that needs no shared memory: scalar loads, long registers, what they save \
# and cost. 30 minutes."""
#
# [tool.marimo.display]
# theme = "system"
#
# [tool.gpusim]
# minutes = 30
# ///
"""A matrix product for Vega that needs no shared memory: scalar loads, long registers, what they save and cost."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="7. GCN without LDS")

with app.setup:
    import marimo as mo
    import matplotlib.pyplot as plt
    from teaching import Exercise, fields, marked, opening, picture, working

    import gpusim
    from gpusim.analysis.account.rates.energy import spent
    from gpusim.engines.walks.traffic import traffic
    from gpusim.machine.machine import seconds
    from gpusim.machine.occupancy import occupancy
    from gpusim.reproduction.main_loop import main_loop
    from gpusim.reproduction.vega.vega_access import PRINTED, pair
    from gpusim.reproduction.vega.vega_speed import DIP, TILE, UNITS, at_clock, published_rates, unit_cycles
    from isa.text.printer import show_instruction
    from workloads.catalog import make
    from workloads.papers.vega.vega_vlp import register_map

    USUAL, VLP = "sgemm-vega-legacy", "sgemm-vega-vlp"
    NAMES = {USUAL: "usual, through the LDS", VLP: "VLP, without LDS"}
    CARD = gpusim.load("mi60")
    REGISTERS = sum(len(block) for block in register_map().blocks.values())
    COUNTS = range(1, 8)  # workgroups of a compute unit
    LONELY = range(4, 8, 3)  # counts of which the last workgroup runs alone


@app.cell(hide_code=True)
def _():
    words = {
        "A in registers": pair(("A written", "A read")),
        "B in registers": pair(("B written", "B read")),
        "results in registers": pair(("C",)),
        "LDS": pair(PRINTED["VG16"]),
        "L1": pair(PRINTED["VG14"]),
    }
    return (words,)


@app.cell(hide_code=True)
def _(words):
    _figure, _axes = plt.subplots(figsize=(7.4, 2.6))
    for _column, _name in enumerate(NAMES.values()):
        _left = 0.0
        for _number, (_what, _counts) in enumerate(words.items()):
            _label = _what if _column == 0 else None
            _axes.barh(_name, _counts[_column], left=_left, color=f"C{_number}", label=_label)
            _left += _counts[_column]
        _axes.annotate(f"{_left:,.0f}", (_left, _column), (4, 0), textcoords="offset points", va="center")
    _axes.set(xlabel="words read and written for one step along k, tile of 64 x 256", xlim=(0, 82_000))
    _axes.invert_yaxis()
    _axes.grid(axis="y", visible=False)
    _figure.legend(loc="outside upper center", ncols=5, fontsize="small", handlelength=1)
    opening(
        7,
        """A multiply-add reads three words and writes one, so registers are the busiest memory of all. On AMD's GCN
        64 threads run in step as a wave, NVIDIA's warp. **One factor may come from a scalar register, which all 64
        lanes share, and a result may go straight to the wave's next instruction.** AMD's VLP SGEMM for Vega builds on
        both: each thread computes 64 rows of one column of C = A B, A comes by scalar loads, B from global memory, and
        nothing goes through shared memory (the LDS).""",
        picture(
            _figure,
            "The access table of AMD's readme, counted here in the instructions of both programs. In both a step "
            f"along k is {64 * 256:,} multiply-adds. The thin end is the L1.",
        ),
    )
    return


@app.cell(hide_code=True)
def _():
    _loops = {name: [show_instruction(i) for i in main_loop(make(name).program)] for name in NAMES}
    _vlp = _loops[VLP]
    _first = next(i for i, text in enumerate(_vlp) if text.startswith("V_FMA_F32")) - 4
    _usual = next(i for i, text in enumerate(_loops[USUAL]) if text.startswith("DS_READ"))
    _shown = {VLP: _vlp[_first : _first + 14], USUAL: _loops[USUAL][_usual : _usual + 14]}
    _text = {name: "```asm\n" + "\n".join(lines) + "\n```" for name, lines in _shown.items()}
    mo.vstack(
        [
            mo.md("""
    ## Two programs

    **On GCN no instruction waits for a load by itself: a wave counts its accesses in flight, and `S_WAITCNT` waits
    until few enough are left.** Its first number is for global memory, its second for the LDS and scalar loads. Scalar
    loads return in any order, so the only safe wait is for all of them (0), and a second buffer for A would not help.
    As soon as the multiply-adds of a row have issued, its registers are loaded for the next group.
    In VLP all lanes read the same word of A from `s32` to `s95`; eight multiply-adds to one sum follow each other, and
    each forwards its result to the next.
    """),
            mo.hstack(
                [mo.vstack([mo.md(f"**{NAMES[name]}**"), mo.md(_text[name])]) for name in NAMES],
                justify="start",
                wrap=True,
            ),
        ]
    )
    return


@app.cell(hide_code=True)
def _():
    clock = mo.ui.slider(steps=[1100, 1300, 1500, 1700], value=1500, show_value=True, label="core clock, MHz")
    mo.vstack(
        [
            mo.md(f"""
    ## The cost of many registers

    {REGISTERS} vector registers of each thread leave room for three waves in each SIMD. **So a compute unit, which has
    four SIMDs, holds three workgroups of four waves at a time; the fourth waits until one has ended.** With M = N =
    {DIP} there are {DIP * DIP // TILE} workgroups for {UNITS} x 3 places, and AMD measured a lower rate than with
    fewer: {published_rates()[DIP, 1500]} TFLOP/s at 1500 MHz, against {published_rates()[DIP - 256, 1500]} at
    M = N = {DIP - 256}.
    """),
            clock,
        ]
    )
    return (clock,)


@app.cell(hide_code=True)
def _(clock):
    _settings = {**at_clock(clock.value), "cache.hits": "tags"}
    _pairs = tuple(sorted((path, str(value)) for path, value in _settings.items()))
    with working("Simulating one to seven workgroups of a compute unit."):
        _rates = [count * 2 * TILE * 640 * UNITS * clock.value / unit_cycles(_pairs, count) / 1e6 for count in COUNTS]
    _figure, _axes = plt.subplots()
    _axes.bar(COUNTS, _rates, color=["C1" if count in LONELY else "C0" for count in COUNTS])
    _axes.set(xlabel="workgroups of each compute unit", ylabel="TFLOP/s of the chip", xticks=COUNTS)
    _axes.grid(axis="x", visible=False)
    picture(
        _figure,
        f"Simulated at {clock.value} MHz, k = 640. Orange: one workgroup more than whole rounds of three. The memory "
        "keeps its clock, so a faster core waits for it for more cycles.",
    )
    return


@app.cell(hide_code=True)
def _():
    _shape = {"m": "1024", "n": "1024", "k": "320"}
    spending = {}
    with working("Simulating both programs."):
        for _name in NAMES:
            _kernel = make(_name, _shape)
            _run = gpusim.simulate(_kernel, gpusim.load("mi60", {"cache.hits": "tags"}), values=False)
            spending[_name] = spent(traffic(_kernel, forwarding=_name == VLP), CARD, seconds(CARD, _run.cycles))
    _figure, _axes = plt.subplots(figsize=(7.4, 2.6))
    _flops = 2 * 1024 * 1024 * 320
    _parts = [part.name for part in spending[USUAL].parts if part.share > 0.001]
    for _name, _spent in spending.items():
        _left = 0.0
        for _number, _part in enumerate(_parts):
            _each = next((p.joules for p in _spent.parts if p.name == _part), 0.0) / _flops * 1e12
            _axes.barh(NAMES[_name], _each, left=_left, color=f"C{_number}", label=_part if _name == USUAL else None)
            _left += _each
    _axes.set(xlabel="picojoules for each floating-point operation")
    _axes.invert_yaxis()
    _axes.grid(axis="y", visible=False)
    _figure.legend(loc="outside upper center", ncols=5, fontsize="small", handlelength=1)
    mo.vstack(
        [
            mo.md("""
    ## Energy

    **Moving data costs energy, and more over a longer distance.** The energies of the machine file were fitted to two
    powers that AMD measured, so "single precision" includes all other energy that the chip uses. AMD's readme says that
    the LDS and vector registers take almost half; here they take less, as `gpusim reproduce VG35` reports.
    """),
            picture(_figure, "SGEMM of 1024 x 1024 x 320 on an MI60, without idle power."),
        ]
    )
    return (spending,)


@app.cell(hide_code=True)
def _():
    _held = occupancy(make(VLP), CARD)
    _usual, _vlp = pair(PRINTED["VG15"])
    _groups = DIP * DIP // TILE
    _loads = [i for i in main_loop(make(VLP).program) if i.row.mnemonic == "S_LOAD_DWORDX8"]
    _scalars = len({index for load in _loads for index in load.writes()})
    exercises = (
        Exercise(
            f"A SIMD has 256 registers for each lane. A thread of VLP takes {REGISTERS}, rounded up to a multiple "
            "of four. How "
            "many waves fit in a SIMD?",
            _held.warps // CARD.schedulers.count,
            f"{REGISTERS} round up to {-(-REGISTERS // 4) * 4}; 256 / {-(-REGISTERS // 4) * 4} is a little more than "
            f"{_held.warps // CARD.schedulers.count}.",
        ),
        Exercise(
            f"The usual program reads and writes {_usual:,.0f} words of vector registers for a step along k, VLP "
            f"{_vlp:,.0f}. What percentage does VLP save?",
            100 * (1 - _vlp / _usual),
            f"1 - {_vlp:,.0f} / {_usual:,.0f} = {100 * (1 - _vlp / _usual):.1f} %; the readme says 70 %.",
        ),
        Exercise(
            f"With M = N = {DIP} each workgroup computes a tile of {TILE:,} elements, and {UNITS} compute units have "
            "three places each. How many workgroups must wait for a place?",
            _groups - 3 * UNITS,
            f"{DIP}² / {TILE:,} = {_groups} workgroups, {3 * UNITS} places. While these {_groups - 3 * UNITS} run, "
            "most of the chip is idle.",
        ),
        Exercise(
            "Scalar loads bring A in pieces of 8 rows x 8 steps along k. How many scalar registers hold one piece?",
            _scalars,
            f"8 x 8 = {_scalars}, of the 96 that a wave has. There is no room for a second piece: the registers of "
            "a row are loaded anew once its multiply-adds have issued, and each group waits for all of them.",
        ),
    )
    answers = fields(exercises)
    return answers, exercises


@app.cell(hide_code=True)
def _(answers, exercises):
    marked(7, exercises, answers)
    return


if __name__ == "__main__":
    app.run()
