# /// script
# [tool.marimo.opengraph]
# title = "11. From CUDA C"
# description = "A slow kernel of CUDA C, where its time goes by line of source, and a faster one. 30 minutes."
#
# [tool.marimo.display]
# theme = "system"
#
# [tool.gpusim]
# minutes = 30
# ///
"""A slow kernel of CUDA C, where its time goes by line of source, and a faster one."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="11. From CUDA C")

with app.setup:
    from collections.abc import Mapping, Sequence

    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np
    from matplotlib.figure import Figure
    from teaching import Exercise, fields, marked, opening, picture, precomputed, working

    from gpusim import RawModule, Result, UserError
    from gpusim.analysis.account import source_lines
    from gpusim.support import shipped
    from gpusim.views.palette import COLOURS

    Row = Mapping[str, object]  # what a line of source did, in plain values
    FOLDER = shipped.folder("examples") / "lengths"
    VERSIONS = {  # what was changed
        "naive": "A thread for each vector: the lanes of a warp read places that are 128 bytes apart.",
        "tile": "Each warp brings whole vectors to shared memory, a lane for each number. Threads sum there.",
        "padded": "Rows of 33 words begin in different banks. One number is changed.",
    }
    BLOCKS, THREADS, LENGTH = 264, 256, 32  # two blocks for each SM of an H200; numbers of a vector
    SHOWN = 0.01  # of all waits: smaller parts are not drawn
    WIDTH = 64  # letters of a line
    MAX_CYCLES = 200_000


@app.function(hide_code=True)
def measured(module: RawModule) -> tuple[Result, bool]:
    """Run the module's kernel `lengths`; return its result, and whether it stored the squared lengths."""
    vectors = np.random.default_rng(1).random((BLOCKS * THREADS, LENGTH), dtype=np.float32)
    lengths = np.zeros(len(vectors), np.float32)
    kernel = module.get_function("lengths")
    result = kernel((BLOCKS,), (THREADS,), (vectors, lengths), max_cycles=MAX_CYCLES)
    return result, np.allclose(lengths, (vectors.astype(float) ** 2).sum(axis=1), rtol=1e-5)


@app.function(hide_code=True)
def by_line(result: Result) -> list[Row]:
    """Return by line of source the share of waits for each reason, and what its accesses touch."""
    lines = source_lines.by_line(result, "").lines
    every = sum(one.waits for one in lines)
    return [
        {
            "line": one.line,
            "stalls": {reason: round(cycles / every, 4) for reason, cycles in one.stalls.items()},
            "sectors": one.moved.sectors,
            "bytes": one.moved.needed,
            "conflicts": one.shared_conflicts,
        }
        for one in lines
        if one.line
    ]


@app.function(hide_code=True)
def precompute() -> dict[str, dict[str, object]]:
    """Return for each version its cycles and its lines; the code is what NVIDIA's compiler made of the source."""
    found = {}
    for name in VERSIONS:
        result, _ = measured(RawModule(path=FOLDER / f"{name}.cubin"))
        found[name] = {"cycles": result.cycles, "rows": by_line(result)}
    return found


@app.function(hide_code=True)
def source(name: str) -> str:
    """Return the text of a version."""
    return (FOLDER / f"{name}.cu").read_text(encoding="utf-8")


@app.function(hide_code=True)
def shortened(line: str) -> str:
    """Return a line that fits the figure; three dots say that it goes on."""
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..."


@app.function(hide_code=True)
def waits(rows: Sequence[Row], text: str) -> Figure:
    """Figure: the lines of a source, and for each the waits before its instructions, by reason."""
    lines = text.splitlines()
    seen = {}
    figure, axes = plt.subplots(figsize=(7.4, 1.3 + 0.27 * len(lines)))
    for row in rows:
        left = 0.0
        for reason, share in row["stalls"].items():
            if share >= SHOWN:
                bar = axes.barh(row["line"], 100 * share, left=100 * left, color=COLOURS[reason].light)
                seen.setdefault(reason, bar)
                left += share
    axes.set_yticks(
        range(1, len(lines) + 1),
        [f"{number:2} {shortened(line):{WIDTH}}" for number, line in enumerate(lines, 1)],
        family="monospace",
        fontsize=7,
    )
    axes.set(xlabel="% of all waits", ylim=(len(lines) + 0.6, 0.4))
    axes.grid(axis="y", visible=False)
    figure.legend(list(seen.values()), list(seen), loc="outside lower center", ncols=4, fontsize="small")
    return figure


@app.cell(hide_code=True)
def _():
    known = precomputed(11)
    opening(
        11,
        """`nvcc` turns a line of CUDA C into many instructions, and notes for each the line that it comes from.
        **Warps wait before instructions; added up by line, their waits say which line of the source costs the time,
        and their reasons say what kind of cost it is.** gpusim runs the compiler's machine code, without a GPU, on its
        model of an H200.""",
        picture(
            waits(known["naive"]["rows"], source("naive")),
            f"{BLOCKS * THREADS:,} vectors of {LENGTH}, a thread for each: {known['naive']['cycles']:,} cycles, "
            "and what warps waited for.",
        ),
    )
    return (known,)


@app.cell(hide_code=True)
def _():
    version = mo.ui.radio(list(VERSIONS), value="naive", inline=True, label="version")
    mo.vstack(
        [
            mo.md(f"""
    ## Three versions

    A module is compiled from a file or a text, and its kernels are called with NumPy arrays, as CuPy's are:

    ```python
    module = gpusim.RawModule(path="naive.cu")
    vectors = numpy.random.default_rng(1).random(({BLOCKS * THREADS}, {LENGTH}), dtype=numpy.float32)
    lengths = numpy.zeros(len(vectors), numpy.float32)
    result = module.get_function("lengths")(({BLOCKS},), ({THREADS},), (vectors, lengths))
    ```

    Afterwards `lengths` has the results, and `result` the cycles. `mio_throttle` is a full queue of the load/store
    unit, `long_scoreboard` a wait for global memory, `short_scoreboard` one for shared memory.
    """),
            version,
        ]
    )
    return (version,)


@app.function(hide_code=True)
def accesses(rows: Sequence[Row]) -> str:
    """Return in Markdown what the lines access in memory."""
    head = "| line | sectors of 32 bytes | bytes asked for | sectors for them | conflicts |\n|---:|---:|---:|---:|---:|"
    lines = [
        f"| {one['line']} | {one['sectors']:,.0f} | {one['bytes']:,.0f} | {one['bytes'] / 32:,.0f} | "
        f"{one['conflicts']:,.0f} |"
        for one in rows
        if one["sectors"] or one["conflicts"]
    ]
    return "\n".join([head, *lines])


@app.cell(hide_code=True)
def _(known, version):
    _found = known[version.value]
    _gain = known["naive"]["cycles"] / _found["cycles"]
    mo.vstack(
        [
            mo.md(VERSIONS[version.value]),
            picture(
                waits(_found["rows"], source(version.value)),
                f"{version.value}.cu: {_found['cycles']:,} cycles, {_gain:.1f} times as fast as naive.cu.",
            ),
            mo.md(accesses(_found["rows"])),
            mo.md(
                "Sectors of global memory that the line's accesses touch, against those that their bytes fill; "
                "conflicts are passes through shared memory beyond those that the accesses' widths need."
            ),
        ]
    )
    return


@app.cell(hide_code=True)
def _():
    editor = mo.ui.code_editor(source("naive"), language="c++", min_height=280, max_height=600).form(
        submit_button_label="Compile and simulate", bordered=False
    )
    mo.vstack(
        [
            mo.md(f"""
    ## Your version

    Edit the kernel. It is launched with {BLOCKS} blocks of {THREADS} threads, and must store the same lengths. This
    needs the compiler, which `pip install 'gpusim[cuda]'` brings on Linux.
    """),
            editor,
        ]
    )
    return (editor,)


@app.function(hide_code=True)
def tried(text: str) -> tuple[Result | None, bool, str]:
    """Compile and run a text; return its result, whether the values are right, and errors in Markdown."""
    try:
        return *measured(RawModule(text)), ""
    except UserError as error:
        lines = "\n".join([str(error), *error.further])
        return None, False, f"```text\n{lines}\n```"


@app.cell(hide_code=True)
def _(editor, known):
    yours, _right, _errors = None, False, ""
    if editor.value:
        with working("Compiling and simulating your version."):
            yours, _right, _errors = tried(editor.value)
    if _errors:
        _shown = mo.callout(mo.md(_errors), kind="danger")
    elif yours is None:
        _shown = mo.md("")
    elif not _right:
        _shown = mo.callout("Some lengths are wrong.", kind="danger")
    else:
        _gain = known["naive"]["cycles"] / yours.cycles
        _said = f"All lengths are right, in **{yours.cycles:,} cycles**: {_gain:.1f} times as fast as naive.cu."
        _shown = mo.vstack(
            [
                mo.callout(mo.md(_said), kind="success" if _gain > 1 else "warn"),
                picture(waits(by_line(yours), editor.value), "Your version, and what warps waited for."),
                mo.md(accesses(by_line(yours))),
            ]
        )
    _shown
    return (yours,)


@app.cell(hide_code=True)
def _(known, yours):
    _cycles = {f"{name}.cu": one["cycles"] for name, one in known.items()} | ({"yours": yours.cycles} if yours else {})
    _figure, _axes = plt.subplots(figsize=(7.4, 2.2))
    _bars = _axes.barh(list(_cycles), list(_cycles.values()), color="C0")
    _axes.bar_label(_bars, [f"{cycles:,}" for cycles in _cycles.values()], padding=3, fontsize=9)
    _axes.set(xlabel="cycles of an SM of the H200")
    _axes.margins(x=0.12)
    _axes.invert_yaxis()
    _axes.grid(axis="y", visible=False)
    _gain = known["naive"]["cycles"] / known["padded"]["cycles"]
    mo.vstack(
        [
            mo.md("## The faster one"),
            picture(
                _figure,
                f"The same lengths, {_gain:.1f} times as fast: neighbours read neighbours, and rows begin in different "
                "banks. docs/why-slow.md has each step on the command line.",
            ),
        ]
    )
    return


@app.cell(hide_code=True)
def _(known):
    def _costliest(name: str) -> int:
        return max(known[name]["rows"], key=lambda row: sum(row["stalls"].values()))["line"]

    _loads = known["naive"]["rows"]
    _line = next(row for row in _loads if row["line"] == _costliest("naive"))
    _each = _line["sectors"] / (_line["bytes"] / (32 * 4))
    exercises = (
        Exercise(
            "Which line of naive.cu has the most waits?",
            _costliest("naive"),
            f"Line {_costliest('naive')}, `{source('naive').splitlines()[_costliest('naive') - 1].strip()}`: its loads "
            "wait for the load/store unit, which takes the lanes of each one sector after the other.",
        ),
        Exercise(
            "How many sectors of 32 bytes does one load of that line touch?",
            _each,
            f"The lanes' vectors are {4 * LENGTH} bytes apart, so each of 32 lanes touches a sector of its own: "
            f"{_each:.0f}. Side by side the 32 numbers would fill four.",
        ),
        Exercise(
            "In tile.cu a row has 32 words, and each lane reads its own row. In padded.cu a row has 33. In how many "
            "different banks do the rows of 32 lanes begin there?",
            len({33 * lane % 32 for lane in range(32)}),
            "Row l begins at word 33 l, in bank l modulo 32: in all 32 banks. With 32 words all rows begin in bank 0.",
        ),
        Exercise(
            "How many times as fast as naive.cu is padded.cu?",
            known["naive"]["cycles"] / known["padded"]["cycles"],
            f"{known['naive']['cycles']:,} / {known['padded']['cycles']:,} = "
            f"{known['naive']['cycles'] / known['padded']['cycles']:.2f}.",
        ),
    )
    answers = fields(exercises)
    return answers, exercises


@app.cell(hide_code=True)
def _(answers, exercises):
    marked(11, exercises, answers)
    return


if __name__ == "__main__":
    app.run()
