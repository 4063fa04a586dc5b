"""What functions of rows with more results, predicates or mixed widths take, and the few parts that they share.

`result(a, b, c, p, n)` and `truth(a, b, c, p, n)` take, per lane, as NumPy arrays of any shape or as scalars:

    a b c   uint64: the sources' patterns, those of 32 bits with zeros above. Signs, bars and ~ of the text have been
            applied; a negated integer x of 32 bits comes as 2**32 - x, so that the carry of a sum is right
    p       uint32: predicates read, Q in bit 0, q in bit 1, x in bit 2; e, f, g and h follow
    n       uint64, the same for all lanes: the modifiers' code in bits 0 to 30, in bit 31 whether a row that shifts a
            has a minus before it, the number n from bit 32 on, N from 48

and give uint64, of which as many bits count as d has; `truth` gives uint32, P in bit 0 and p in bit 1; u, v, w, r and
z follow. Otherwise they are written like those of isa.values.semantics.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.lanes import narrow

NUMBER, SECOND_NUMBER = np.uint64(32), np.uint64(48)  # places in n
NUMBERS = np.uint64(0xFFFF)
MINUS = 1 << 31  # in n


def code(n: Any) -> Any:
    """Return the code of the modifiers, as uint32."""
    return narrow(n)


def number(n: Any) -> Any:
    """Return the number of form letter n, as uint32."""
    return narrow((n >> NUMBER) & NUMBERS)


def second_number(n: Any) -> Any:
    """Return the number of form letter N, as uint32."""
    return narrow((n >> SECOND_NUMBER) & NUMBERS)


PARTS = (code, number, second_number)  # of result and truth functions
