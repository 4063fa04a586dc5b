"""Expressions as users write them, read by Python's parser and bounded, so that recursion over them is safe."""

from __future__ import annotations

import ast
from collections.abc import Iterator

DEEPEST = 100  # levels of a tree, which recursive functions walk
LONGEST = 1_000_000  # characters


TOO_DEEP = f"is nested deeper than {DEEPEST} levels; write it flatter"
TOO_MUCH = f"is nested deeper than {DEEPEST} levels, or has over 2,000 operators in a row; write it flatter, or shorter"


def parsed(text: str, fix: str) -> ast.expr:
    """Return the tree of an expression; raises ValueError, which ends with `fix`, for any other text.

    It also raises for text nested deeper than DEEPEST, and for more than Python's parser accepts: over 2,000 operators
    in a row. A shorter chain of operators, 1 + 2 + 3, is one level: see `chain`.
    """
    if len(text) > LONGEST:
        raise ValueError(f"is an expression of {len(text)} characters; write {LONGEST} at most")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (RecursionError, MemoryError):
        raise ValueError(TOO_MUCH) from None
    except SyntaxError as error:
        raise ValueError(TOO_MUCH if "nested" in error.msg else f"is no expression; {fix}") from None
    except ValueError:  # a NUL character
        raise ValueError(f"is no expression; {fix}") from None
    if any(level > DEEPEST for level in _levels(tree)):
        raise ValueError(TOO_DEEP)
    return tree


def chain(node: ast.BinOp) -> tuple[ast.expr, list[tuple[ast.operator, ast.expr]]]:
    """Return the first operand of a chain of operators, then each operator with the operand after it, in order."""
    pairs: list[tuple[ast.operator, ast.expr]] = []
    first: ast.expr = node
    while isinstance(first, ast.BinOp):
        pairs.append((first.op, first.right))
        first = first.left
    return first, pairs[::-1]


def _levels(tree: ast.expr) -> Iterator[int]:
    """Yield how deep each node is; the operands of a chain are one level below it."""
    waiting: list[tuple[ast.AST, int]] = [(tree, 1)]
    while waiting:
        node, level = waiting.pop()
        yield level
        if isinstance(node, ast.BinOp):
            first, pairs = chain(node)
            waiting += [(operand, level + 1) for operand in (first, *(right for _, right in pairs))]
        else:
            waiting += [(child, level + 1) for child in ast.iter_child_nodes(node)]
