"""The claim of Tan et al. on CUBLAS 3.2, whose kernel is not published: the GEMM stencil replaces it."""

from __future__ import annotations

from gpusim.reproduction.bench import Bench, Measurement, Run
from gpusim.reproduction.finding import Finder, Finding, in_sight, registrar
from gpusim.reproduction.gf100 import OF_THE_BOARD, WITHOUT_TAGS

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)

SIDE = 1792  # 28 by 28 tiles: 56 on each SM


def dgemm(bench: Bench) -> Measurement:
    """Return the run in place of CUBLAS's DGEMM on the C2050."""
    sizes = {"precision": "d", "m": SIDE, "n": SIDE, "k": SIDE}
    return bench.runs(Run("gemm-stencil", "c2050", sizes, values=False))[0]


@claim("TN26")
def cublas(bench: Bench) -> Finding:
    """DGEMM in tiles of 64 by 64 by 16."""
    run = dgemm(bench)
    note = f"gemm-stencil 64x64x16, read through 1D textures; {WITHOUT_TAGS}"
    choices = f"{OF_THE_BOARD}, while the paper's other rates were known; reading through textures"
    return in_sight(choices, run.gflops, run.percent_of_peak, note=note)
