"""Arithmetic on buffers in text: the expected values of a listing, in double precision."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.reading.syntax_tree import chain, parsed

Values = NDArray[np.float64]
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: np.negative, ast.UAdd: np.positive}


def evaluate(text: str, buffers: Mapping[str, Values]) -> Values:
    """Return the number or array of an expression over buffer names, numbers, + - * ( ), lists and `product`.

    Raises ValueError with cause and fix.
    """
    try:
        tree = parsed(text, "write numbers and buffers joined by + - *")
    except ValueError as error:
        raise ValueError(f"{text!r} {error}") from None
    try:
        return np.asarray(_value(tree, buffers), np.float64)
    except OverflowError:
        raise ValueError(f"{text!r} holds a number beyond double precision; write a smaller one") from None


def _value(node: ast.expr, buffers: Mapping[str, Values]) -> Any:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name) if name in buffers:
            return buffers[name]
        case ast.Name(id="inf" | "nan" as name):
            return float(name)
        case ast.List(elts=elements):
            return np.array([_number(element, buffers) for element in elements])
        case ast.UnaryOp(op=operator, operand=inner) if type(operator) in _UNARY:
            return _UNARY[type(operator)](_value(inner, buffers))
        case ast.BinOp() | ast.Call():
            return _chained(node, buffers) if isinstance(node, ast.BinOp) else _called(node, buffers)
    raise _unusable(node, buffers)


def _called(node: ast.Call, buffers: Mapping[str, Values]) -> Any:
    """Return product(a, b, depth): A times B transposed, row after row, of matrices with so many elements in a row."""
    if ast.unparse(node.func) != "product" or len(node.args) != len(("a", "b", "depth")) or node.keywords:
        raise _unusable(node, buffers)
    left, right, depth = _value(node.args[0], buffers), _value(node.args[1], buffers), _number(node.args[2], buffers)
    if depth < 1 or any(np.ndim(one) == 0 or one.size % depth for one in (left, right)):
        raise ValueError(f"buffers have no rows of {depth:g} elements; write product(a, b, elements of a row)")
    rows = (one.reshape(-1, int(depth)) for one in (left, right))
    return np.inner(*rows).ravel()


def _chained(node: ast.BinOp, buffers: Mapping[str, Values]) -> Any:
    """Return the value of a chain of operators, from left to right."""
    first, pairs = chain(node)
    if any(type(operation) not in _BINARY for operation, _ in pairs):
        raise _unusable(node, buffers)
    value = _value(first, buffers)
    for operation, right in pairs:
        value = _combined(_BINARY[type(operation)], value, _value(right, buffers))
    return value


def _unusable(node: ast.expr, buffers: Mapping[str, Values]) -> ValueError:
    fix = f"write numbers, + - *, lists and buffers (known: {', '.join(buffers) or 'none'})"
    return ValueError(f"{_text(node)!r} can't be used here; {fix}")


def _text(node: ast.expr) -> str:
    """Return the source text, or its kind if that is impossible: a chain may be too long to write out."""
    try:
        return ast.unparse(node)
    except RecursionError:
        return type(node).__name__


def _number(node: ast.expr, buffers: Mapping[str, Values]) -> float:
    value = np.asarray(_value(node, buffers))
    if value.ndim:
        raise ValueError(f"{_text(node)!r} is not a single number; a list holds numbers only")
    return float(value)


def _combined(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    shapes = np.shape(left), np.shape(right)
    if all(shapes) and shapes[0] != shapes[1]:
        raise ValueError(f"{shapes[0][0]} and {shapes[1][0]} elements can't be combined; use buffers of one length")
    with np.errstate(all="ignore"):
        return operation(left, right)
