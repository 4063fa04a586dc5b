"""The claims of Kurzak's slides on autotuning BLAS (PPAM 2011)."""

from __future__ import annotations

from gpusim.reproduction.finding import Finder, registrar

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)
