import numpy as np
import pytest

from isa.text.expression import evaluate

BUFFERS = {"x": np.array([1.0, 2.0]), "y": np.array([10.0, 20.0]), "long": np.zeros(3)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 * x + y", [12, 24]),
        ("-(x - y) * 0.5", [4.5, 9]),
        ("[1, -2.5]", [1, -2.5]),
        ("[1, 2*3] + x", [2, 8]),
        ("3", 3),
        ("inf", np.inf),
        ("product([1, 2, 3, 4], [5, 6, 7, 8, 9, 10], 2)", [17, 23, 29, 39, 53, 67]),
        ("2 * product(x, y, 2)", [100]),
    ],
)
def test_arithmetic_is_elementwise_in_double(text, expected):
    """+ - * and lists work element by element, and a number applies to every element."""
    assert evaluate(text, BUFFERS).tolist() == expected
    assert evaluate(text, BUFFERS).dtype == np.float64


@pytest.mark.parametrize(
    "text",
    ["x / y", "x ** 2", "z", "x.sum()", "__import__('os')", "x[0]", "x +", "True", "'a'", "[x]", "[[1]]", "x + long",
     "1" * 400, "lambda: 1", "x < y", "product(x, y)", "product(x, y, 3)", "product(x, 1, 1)", "sum(x, y, 1)"],
)  # fmt: skip
def test_anything_else_is_refused(text):
    """Other operators, calls, unknown names, unequal lengths and no expression at all raise ValueError with a fix."""
    with pytest.raises(ValueError, match=r"; (write|use|a list)"):
        evaluate(text, BUFFERS)
