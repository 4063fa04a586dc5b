"""Published figures that a document does not print: they follow from those that it does, and the page says so."""

import re
from itertools import pairwise
from math import gcd
from pathlib import Path

import pytest

from gpusim.reproduction.claims import read
from gpusim.reproduction.unclaimed import read as unclaimed
from gpusim.reproduction.vega.vega_energy import TFLOPS
from gpusim.reproduction.vega.vega_speed import CLOCKS, published_rates

PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"
FIGURES = {claim.id: [figure.value for figure in claim.figures] for claim in read()}
RATES = published_rates()
FIGURE_2 = [FIGURES[name][0] for name in ("LS36", "LS37", "LS38")]
BANDWIDTHS = [FIGURES[name][-1] for name in ("LS02", "LS03")]  # of table 1, GB/s
SGEMM = [FIGURES[name][0] for name in ("LS47", "LS48", "LS49", "LS50")]
FORWARDED, STORED = zip(*TFLOPS.values(), strict=True)
POWERS = FIGURES["VG31"], FIGURES["VG32"]  # idle, forwarding, not
PICOJOULES = [
    ((handed - idle) / fast, (stored - idle) / slow)
    for (idle, handed, stored), fast, slow in zip(POWERS, FORWARDED, STORED, strict=True)
]
DERIVED = {
    "LS21": [100 * 12 / 13],
    "LS27": [256 / gcd(16 * 6, 256)],
    "LS28": [2 * 2 * 96 * 16, 4 * 2 * 2 * 96 * 16],
    "LS29": [36 + 12 + 6 + 1 + 7, 49 + 14 + 7 + 1 + 7, 6],
    "LS31": [32 / rate for rate in FIGURE_2],
    "LS32": [gbs / 4 * 96 for gbs in BANDWIDTHS],
    "LS41": [100 * rate / 32 for rate in FIGURE_2[:2]],
    "LS53": [rate / (1 + gain / 100) for rate, gain in zip(SGEMM, FIGURES["LS54"], strict=True)],
    "LS59": [96, BANDWIDTHS[1] / 4 * 96],
    "KZ18": [2 * 2],
    "CM04": [24 / 4],
    "CM10": [2 * 960 * 640 * 640],
    "CM12": [FIGURES["CM11"][1] / (FIGURES["CM11"][0] / 4)],
    "CM17": [FIGURES["CM08"][0] / FIGURES["CM07"][0], FIGURES["CM09"][0] / FIGURES["CM08"][0]],
    "VG23": [8 * 64, 64 / 8, 8],
    "VG25": [0, 0, 8],
    "VG26": [100 * FIGURES["VG30"][1] / (2 * 64 * 64 * 1.5 / 1000)],
    "VG28": [100 * (RATES[1792, mhz] / RATES[1536, mhz] - 1) for mhz in CLOCKS],
    "VG29": [(2 * 640 + 3) * 256**2 / RATES[256, mhz] * mhz / 1e6 / 640 for mhz in CLOCKS],
    "VG33": [100 * (1 - handed / stored) for handed, stored in PICOJOULES],
    "VG34": [100 * (fast / slow - 1) for fast, slow in zip(FORWARDED, STORED, strict=True)],
    "TN03": [2 / (1 / 64 + 1 / 64)],
    "TN07": [2 * (4 * 4 + 4 + 4), 2 * (5 * 5 + 5 + 5)],
    "TN08": [48 * 1024 / (2 * 2 * 64 * 8), 16],
    "TN15": [4, 64, 256, 13, 4, 4 + 64 + 256 + 13 + 4],
    "TN36": [256 / 2, 64 / 2, 160],
    "TN50": [1, 1, 1 + 1, 2 - 1],
}


@pytest.mark.every
@pytest.mark.parametrize("name", DERIVED)
def test_a_derived_figure_follows_from_printed_ones(name):
    """Each figure that is not printed is what the printed ones give, rounded to its last digit."""
    (claim,) = (claim for claim in read() if claim.id == name)
    for figure, value in zip(claim.figures, DERIVED[name], strict=True):
        assert figure.value == pytest.approx(value, abs=0.5001 * 10**-figure.decimals), claim.published


@pytest.mark.parametrize("name", DERIVED)
def test_the_page_says_what_is_derived(name):
    """The row of a figure that is not printed says in its note that it is derived."""
    (row,) = (line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {name} "))
    assert re.search(r"\bderived\b", row)


def test_the_dips_that_are_no_claim_are_smaller_than_the_one_that_is():
    """The list of what is not claimed has the other steps at which rates fall at all clocks, and by how much."""
    sizes = sorted({size for size, _ in RATES})
    falls = {
        size: [100 * (1 - RATES[size, mhz] / RATES[before, mhz]) for mhz in CLOCKS]
        for before, size in pairwise(sizes)
        if all(RATES[size, mhz] < RATES[before, mhz] for mhz in CLOCKS)
    }
    largest = falls.pop(1792)
    every = [fall for each in falls.values() for fall in each]
    assert min(largest) > max(every)
    (row,) = (one for one in unclaimed() if one.what.endswith("other than at 1792"))
    assert len(falls) == 11
    assert row.because.startswith(f"eleven steps of {min(every):.1f} to {max(every):.1f} %, ")
