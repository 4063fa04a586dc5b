"""The claims of the SGEMM for Vega with scalar loads (MI60)."""

from __future__ import annotations

from gpusim.reproduction.finding import Finder, registrar

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)
