import numpy as np
import pytest

from gpusim.analysis.search.bounded_expression import Budget, built
from isa.reading.syntax_tree import DEEPEST, parsed
from isa.text.expression import evaluate

DEEP = {
    "minus signs": lambda n: "-" * n + "0",
    "parentheses": lambda n: "(1 +" * n + "0" + ")" * n,
    "lists": lambda n: "[" * n + "0" + "]" * n,
    "nots": lambda n: "not " * n + "x",
    "powers": lambda n: "**".join(["1"] * n),
    "chains to the right": lambda n: "1 + (" * n + "0" + ")" * n,
    "attributes": lambda n: "x" + ".a" * n,
    "calls": lambda n: "abs(" * n + "1" + ")" * n,
    "lambdas": lambda n: "lambda: " * n + "0",
    "conditions": lambda n: "0 if 0 else " * n + "0",
}


@pytest.mark.parametrize("number", [300, 3_000, 100_000])
@pytest.mark.parametrize("kind", DEEP)
def test_every_walk_refuses_expressions_nested_too_deep(kind, number):
    """In listings and in search spaces, an expression nested too deep raises ValueError, and never RecursionError."""
    text = DEEP[kind](number)
    for walk in (lambda: evaluate(text, {"x": np.zeros(1)}), lambda: built(text, ["x"], Budget())):
        with pytest.raises(
            ValueError, match=rf"is nested deeper than {DEEPEST} levels|can't be used here|no expression|characters"
        ):
            walk()


@pytest.mark.parametrize("terms", [2, 993, 2_000])
def test_a_chain_may_be_long(terms):
    """A chain of up to 2,000 terms is one level of nesting, evaluated from left to right."""
    text = " + ".join(["1"] * terms)
    assert evaluate(text, {}) == terms
    assert built(text, [], Budget())({}) == terms
    assert evaluate(f"{terms} - " + " - ".join(["1"] * terms), {}) == 0


def test_a_chain_that_is_too_long_is_refused():
    """A chain of 100,000 terms, more than Python's parser takes, is refused: it has over 2,000 operators in a row."""
    with pytest.raises(ValueError, match="over 2,000 operators in a row; write it flatter, or shorter"):
        parsed("+".join(["1"] * 100_000), "fix")


@pytest.mark.parametrize("text", ["", "1 +", "a b", "1\0", "9" * 5_000, "\ud800"])
def test_text_that_is_no_expression_ends_with_the_fix(text):
    """Text that Python can't parse, for whatever reason, is refused with a message that ends with the fix."""
    with pytest.raises(ValueError, match=r"is no expression; fix$"):
        parsed(text, "fix")
