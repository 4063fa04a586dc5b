"""The page of stall reasons, from `gpusim/sm/unit/stall.py`."""

from __future__ import annotations

from generate.markdown import code, page, table
from gpusim.analysis.account.findings.advice import ADVICE
from gpusim.sm.unit.stall import Stall, label
from gpusim.views.palette import COLOURS

ABOUT = """\
Why a warp does not issue, in the order in which reasons are checked: a warp-cycle belongs to the first that holds.
Names are those of NVIDIA's profiler where it has one of that meaning. Letters are those of `gpusim timeline`. A reason
has one colour in every view, picture, plot and lesson.
[The model](../model.md) says how they are counted, [views](../views.md) which instruction each is blamed on."""

VARIABLES = "light", "dark", "on-light", "on-dark"


def stall_reasons() -> str:
    """Return the page."""
    rows = [(int(one), code(label(one)), _swatch(one), one.meaning, ADVICE[one].remedy) for one in Stall]
    return page("Stall reasons", ABOUT, table(("order", "reason", "letter", "meaning", "what to do about it"), rows))


def _swatch(reason: Stall) -> str:
    """The letter on its colour, which docs/style/site.css chooses by the theme."""
    colour = COLOURS[label(reason)]
    values = zip(VARIABLES, (*colour, *colour.letters), strict=True)
    style = ";".join(f"--{name}:{value}" for name, value in values)
    return f'<code class="swatch" style="{style}">{reason.letter.replace("_", "&#95;")}</code>'
