"""The claims of CME213, lecture 9 (Stanford, 2012)."""

from __future__ import annotations

from gpusim.reproduction.finding import Finder, registrar

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)
