"""The claims of Tan et al., DGEMM on Fermi (SC 2011)."""

from __future__ import annotations

from gpusim.reproduction.finding import Finder, registrar

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)
