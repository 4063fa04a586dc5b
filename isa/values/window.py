"""Which window an address of 64 bits lies in (signature: isa.values.general)."""

# ruff: noqa: ARG001  (every function takes a, b, c, p and n; few need all)
from __future__ import annotations

from typing import Any

import numpy as np

from isa.operands.windows import LOCAL_WINDOW, SHARED_WINDOW
from isa.values.general import code
from isa.values.integer import WORD, extended
from isa.values.lanes import choose

SHARED, LOCAL, GLOBAL = 1, 2, 4  # codes: the memory asked for
_SHARED, _LOCAL = np.uint64(SHARED_WINDOW >> 32), np.uint64(LOCAL_WINDOW >> 32)
_IN_SHARED, _IN_LOCAL, _IN_GLOBAL = np.uint32(SHARED), np.uint32(LOCAL), np.uint32(GLOBAL)


def lies_in(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """QSPC: whether the address a + c, b bytes further on, lies in that memory; global memory is what no window has."""
    upper = (a + c + extended(b)) >> WORD
    found = choose(upper == _SHARED, _IN_SHARED, choose(upper == _LOCAL, _IN_LOCAL, _IN_GLOBAL))
    return choose((found & code(n)) != np.uint32(0), np.uint32(1), np.uint32(0))
