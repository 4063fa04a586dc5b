"""Bitwise functions with predicates, and functions of predicates alone (signature: isa.values.general)."""

# ruff: noqa: ARG001  (every function takes a, b, c, p and n; few need all)
from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.general import code, number, second_number
from isa.values.lanes import choose, narrow, widen
from isa.values.semantics import lop3

ONE, NONE = np.uint32(1), np.uint32(0)


def bitwise(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """LOP3: the function of three words with truth table n."""
    return widen(lop3(narrow(a), narrow(b), narrow(c), number(n)))


def bitwise_any(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """LOP3's predicate: whether that word is not 0, or Q."""
    return choose(lop3(narrow(a), narrow(b), narrow(c), number(n)) != NONE, ONE, p & ONE)


def bitwise_and(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """LOP3.PAND's predicate: whether that word is not 0, and Q."""
    return choose(lop3(narrow(a), narrow(b), narrow(c), number(n)) != NONE, p & ONE, NONE)


def of_signs(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """PLOP3 of the sign bits of three words."""
    top = np.uint32(31)
    signs = (narrow(a) >> top) | ((narrow(b) >> top) << ONE) | ((narrow(c) >> top) << np.uint32(2))
    return of_predicates(a, b, c, signs, n)


def of_predicates(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """PLOP3: two functions of Q, q and x with truth tables n and N; Q counts 4, q 2 and x 1 of an entry's number."""
    place = ((p & ONE) << np.uint32(2)) | (p & np.uint32(2)) | ((p >> np.uint32(2)) & ONE)
    return ((number(n) >> place) & ONE) | (((second_number(n) >> place) & ONE) << ONE)


def predicates_of_bits(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """R2P: bit i of word a, from bit `code` on, is predicate i."""
    return narrow(a) >> code(n)


def bits_of_predicates(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """P2R: word a, in which bits of mask n, from bit `code` on, are the predicates of these numbers."""
    mask = number(n)
    return widen((narrow(a) & ~(mask << code(n))) | ((p & mask) << code(n)))


def selected(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """Pattern a where Q is true, b where not."""
    return choose((p & ONE) != NONE, a, b)


PARTS = (lop3, of_predicates)


def granted(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """USETMAXREG.TRY_ALLOC: true, whatever is asked for."""
    return p | ONE
