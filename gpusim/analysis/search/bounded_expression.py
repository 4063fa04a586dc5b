"""Expressions of search spaces in Python syntax, built once, evaluated at many points, and bounded in size.

Numbers, words, names, lists, operators and calls of a few functions. A number has MOST_BITS bits at most, a word
MOST_LETTERS letters, a list MOST elements, and the expressions of a document share a budget of steps over all their
evaluations, so that untrusted expressions can't use up time or memory.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from isa.reading.syntax_tree import chain, parsed

MOST = 1_000_000  # elements of a list
MOST_LETTERS = 1000  # of a word: to compare two takes about a step
MOST_BITS = 256
MOST_STEPS = 100_000_000  # of all expressions of a document: some ten seconds
Value = int | float | str
Names = Mapping[str, Value]
Ask = Callable[[Names], Any]
_NUMBERS = frozenset((int, float, bool))  # asked for by type, which is quicker than to ask for a length
FUNCTIONS = ("range", "list", "min", "max", "abs")


@dataclass
class Budget:
    """The steps that are left to the expressions of a document: one for each part and each element of a list."""

    left: int = MOST_STEPS

    def spend(self, steps: int) -> None:
        """Take so many steps; raises ValueError if fewer are left."""
        self.left -= steps
        if self.left < 0:
            raise ValueError(
                f"takes over {MOST_STEPS:,} steps at all points; write shorter expressions, or fewer points"
            )


@dataclass(frozen=True)
class _Scope:
    """The names that an expression may use, and the budget that it takes its steps from."""

    known: Sequence[str]
    budget: Budget

    def elements(self, *values: Any) -> None:
        """Take a step for each element of lists and words that are walked through."""
        if elements := sum(map(_sized, values)):
            self.budget.spend(elements)


def built(text: str, known: Sequence[str], budget: Budget) -> Ask:
    """Return the expression as a function of the values of the `known` names; each call takes its steps of the budget.

    Raises ValueError with cause and fix for any other text. The function raises ValueError, TypeError or
    ArithmeticError if it can't be computed.
    """
    tree = parsed(text, "write it as in Python")
    steps, inner = sum(isinstance(node, ast.expr) for node in ast.walk(tree)), _built(tree, _Scope(known, budget))

    def ask(names: Names) -> Any:
        budget.spend(steps)
        return inner(names)

    return ask


def _built(node: ast.expr, scope: _Scope) -> Ask:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
        value = _bounded(node.value)
        return lambda _: value
    if isinstance(node, ast.Name):
        return _name(node.id, scope)
    if type(node) not in _BUILDERS:
        raise ValueError(f"takes numbers, operators and {', '.join(FUNCTIONS)}; leave out the rest")
    return _BUILDERS[type(node)](node, scope)


def _name(name: str, scope: _Scope) -> Ask:
    if name not in scope.known:
        raise ValueError(f"there is no parameter {name}; choose from {', '.join(scope.known) or 'none'}")

    def ask(names: Names) -> Value:
        value = names[name]
        return value if type(value) in _NUMBERS else _bounded(value)

    return ask


def _elements(node: Any, scope: _Scope) -> Ask:
    parts = [_built(each, scope) for each in node.elts]
    return lambda names: [_plain(part(names)) for part in parts]


def _unary(node: Any, scope: _Scope) -> Ask:
    inner, apply = _built(node.operand, scope), _UNARY[type(node.op)]
    return lambda names: apply(inner(names))


def _binary(node: Any, scope: _Scope) -> Ask:
    first, pairs = chain(node)
    start = _built(first, scope)
    steps = [(_operator(operation), _built(right, scope)) for operation, right in pairs]

    def ask(names: Names) -> Any:
        value = start(names)
        for apply, right in steps:
            value = apply(value, right(names))
            if type(value) not in _NUMBERS:
                scope.elements(value)
        return value

    return ask


def _operator(operation: ast.operator) -> Callable[[Any, Any], Any]:
    if type(operation) not in _BINARY:
        raise ValueError(f"takes {' '.join(_SIGNS)}; leave out other operators")
    return _BINARY[type(operation)]


def _logical(node: Any, scope: _Scope) -> Ask:
    parts = [_built(each, scope) for each in node.values]
    last = isinstance(node.op, ast.And)

    def ask(names: Names) -> Any:
        value: Any = last
        for part in parts:
            value = part(names)
            if bool(value) is not last:
                break
        return value

    return ask


def _comparison(node: Any, scope: _Scope) -> Ask:
    start = _built(node.left, scope)
    steps = [(_COMPARED[type(op)], _built(each, scope)) for op, each in zip(node.ops, node.comparators, strict=True)]

    def ask(names: Names) -> bool:
        left = start(names)
        for compare, part in steps:
            right = part(names)
            if type(right) not in _NUMBERS:
                scope.elements(left, right)
            if not compare(left, right):
                return False
            left = right
        return True

    return ask


def _call(node: Any, scope: _Scope) -> Ask:
    if not (isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS) or node.keywords:
        raise ValueError(f"takes numbers, operators and {', '.join(FUNCTIONS)}; leave out the rest")
    parts, call = [_built(each, scope) for each in node.args], _CALLED[node.func.id]

    def ask(names: Names) -> Any:
        values = [part(names) for part in parts]
        scope.elements(*values)
        return call(*values)

    return ask


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise ValueError(f"a number of {value.bit_length()} bits; write one of {MOST_BITS} at most")
    if isinstance(value, str) and len(value) > MOST_LETTERS:
        raise ValueError(f"a word of {len(value)} letters; write {MOST_LETTERS} at most")
    if isinstance(value, list | range) and len(value) > MOST:
        raise ValueError(f"{len(value)} elements; write {MOST} at most")
    return value


def _plain(value: Any) -> Value:
    if not isinstance(value, int | float | str):
        raise TypeError("a list holds numbers and words only")
    return value


def _range(*limits: int) -> range:
    """A range whose length is checked, as len() fails beyond the largest index."""
    for limit in limits:
        _bounded(limit)
    found = range(*limits)
    if found and (found[-1] - found[0]) // found.step >= MOST:
        raise ValueError(f"more than {MOST} elements; write a shorter range")
    return found


def _sized(value: Any) -> int:
    return len(value) if isinstance(value, str | list | range) else 0


def _added(left: Any, right: Any) -> Any:
    if _sized(left) + _sized(right) > MOST:
        raise ValueError(f"more than {MOST} elements; write fewer")
    return _bounded(left + right)


def _multiplied(left: Any, right: Any) -> Any:
    for some, times in ((left, right), (right, left)):
        if isinstance(times, int) and _sized(some) * times > MOST:
            raise ValueError(f"more than {MOST} elements; write fewer")
    return _bounded(left * right)


def _shifted(left: Any, right: Any) -> Any:
    if isinstance(right, int) and right > MOST_BITS:
        raise ValueError(f"a number of {right} bits and more; write one of {MOST_BITS} at most")
    return _bounded(left << right)


def _remainder(left: Any, right: Any) -> Any:
    if isinstance(left, str):  # else % would format the text
        raise TypeError("% takes numbers")
    return left % right


_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Not: operator.not_,
}  # fmt: skip
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: _added, ast.Sub: operator.sub, ast.Mult: _multiplied, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: _remainder, ast.LShift: _shifted, ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
_SIGNS = ("+", "-", "*", "/", "//", "%", "<<", ">>", "&", "|", "^")
_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right, ast.NotIn: lambda left, right: left not in right,
}  # fmt: skip
_CALLED: dict[str, Callable[..., Any]] = {"range": _range, "list": list, "min": min, "max": max, "abs": abs}
_BUILDERS: dict[type[ast.expr], Callable[[Any, _Scope], Ask]] = {
    ast.List: _elements, ast.Tuple: _elements, ast.UnaryOp: _unary, ast.BinOp: _binary, ast.BoolOp: _logical,
    ast.Compare: _comparison, ast.Call: _call,
}  # fmt: skip
