"""Triton kernels on a simulated card: launched with values and times, or ranked by configuration.

    with gpusim.triton.active("h200"):           # or, for all that follows: gpusim.triton.active("h200")
        add[(n // 1024,)](x, y, out, n, BLOCK=1024)

    gpusim.triton.rank(softmax, configs, {"x": x, "out": out, "n": 1000}, grid=(4096,), machine="rtx3090")

    fast = gpusim.triton.perf_model(softmax, grid)
    @triton.autotune(configs, key=["n"], prune_configs_by={"perf_model": fast, "top_k": 4})

Needs the extra `triton`.
"""

from gpusim.api.card.card import Card, Launched
from gpusim.api.triton.active import active
from gpusim.api.triton.array import Array, array
from gpusim.api.triton.ranking import DEFAULT, Ranked, perf_model, rank

__all__ = ["DEFAULT", "Array", "Card", "Launched", "Ranked", "active", "array", "perf_model", "rank"]
