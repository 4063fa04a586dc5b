"""What compiles rules, made of Numba's parts: imported only where the cache lacks code, for Numba's import is slow."""
