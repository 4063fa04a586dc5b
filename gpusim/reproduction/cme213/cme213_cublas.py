"""The claim of CME213 on CUBLAS, whose kernel is not published: the GEMM stencil as MAGMA tuned it replaces it."""

from __future__ import annotations

from gpusim.reproduction.bench import Bench
from gpusim.reproduction.finding import Finder, Finding, in_sight, registrar
from gpusim.reproduction.gf100 import OF_THE_CARD, WITH_TAGS

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)

SIZE = {"m": 640, "n": 960, "k": 640}  # row-major C of 960 by 640: the size is read off 786,432,000 operations


@claim("CM09")
def cublas(bench: Bench) -> Finding:
    """SGEMM of the lecture's size, in tiles of 96 by 96."""
    run = bench.run("gemm-stencil", "gtx480", **SIZE)
    share = f"{run.percent_of_peak:.1f} % of peak"
    note = f"70 tiles of 96 by 96 on 15 SMs, the last row of them ragged; {share}; {WITH_TAGS}"
    milliseconds = 2 * SIZE["m"] * SIZE["n"] * SIZE["k"] / run.gflops / 1e6
    return in_sight(f"{OF_THE_CARD}; the kernel in place of CUBLAS", run.gflops, milliseconds, note=note)
