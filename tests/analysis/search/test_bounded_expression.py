import pytest

from gpusim.analysis.search.bounded_expression import MOST_STEPS, Budget, built

POINT = {"A": 8, "B": 3, "W": "nt"}


@pytest.mark.every
@pytest.mark.parametrize(
    "text",
    [
        "A + B - 1", "A * B // 2", "A / B", "A % B == 2", "A << 2 | 1", "A >> 1 & 3 ^ 7", "~A", "-A + +B", "not A",
        "1 < B < A", "B < A < 3", "A in (8, 16) and W != 'tn'", "B not in [1, 2] or A / 0", "0 and A / 0",
        "min(A, B) + max([A, B]) + abs(-A)", "list(range(1, A, 2))", "[A, B] + [1] * 3", "W * 2 + 'x'", "W is W",
        "A or B", "A and B", "max(range(A)) == 7", "(A, B) == (8, 3)", "5 in range(A)", "1.5 * A", "True",
    ],
)  # fmt: skip
def test_an_expression_has_pythons_value(text):
    """Each expression has Python's value and type, but tuples are lists; parts that Python skips are not computed."""
    expected = eval(text, dict(POINT))
    found = built(text, list(POINT), Budget())(POINT)
    assert found == (list(expected) if isinstance(expected, tuple) else expected)
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    "text",
    [
        "range(10**12)", "range(1000000000000)", "list(range(1000000000000))", "[1 << 40000000000]", "1 << 257",
        "[0] * 1000000000", "1000000000 * [0]", "'a' * 1000000000", "[0] * 1000000 + [0]", "'%1000000000d' % 1",
        "[[0] * 1000] * 1000", "'a' * 1001", "'a' * 600 + 'b' * 600",
        "['" + "a" * 1001 + "'] * 2", "max(range(1 << 255))", "0x" + "f" * 1000, "range(1 << 64) == range(1 << 64)",
        "range(0, -(1 << 70), -1)", "(1 << 200) * (1 << 200)", "9 ** 9 ** 9", "range(*[1])", "max(0, key=abs)",
        "print(1)", "[x for x in range(9)]", "f'{1:1000000000}'", "W.zfill(1000000000)", "1j", "...", "b'a'", "None",
        "__import__('os')", "(lambda: 0)()", "A @ B", "W[0]", "A / 0", "W + 1", "range(0, 1, 0)", "C",
    ],
)  # fmt: skip
def test_nothing_large_is_made(text):
    """Lists, words and numbers that are too large, and other Python code, are refused before they are computed."""
    with pytest.raises((ValueError, TypeError, ArithmeticError)):
        built(text, list(POINT), Budget())(POINT)


@pytest.mark.parametrize(
    "text",
    [
        "max(list(range(99999))) > A", "min([A] * 99999)", "'a' in ['b' * 1000] * 99999", "1.5 in range(99999)",
        "[A] * 99999 + [B] == 1", "A in [8] * 99999",
    ],
)  # fmt: skip
def test_many_evaluations_share_a_budget(text):
    """An expression over long lists, quick at one point, is refused after so many steps at all points."""
    budget = Budget()
    ask = built(text, list(POINT), budget)
    ask(POINT)
    taken = MOST_STEPS - budget.left
    assert 99_999 <= taken < 1_000_000
    budget.left = taken - 1
    with pytest.raises(ValueError, match="takes over 100,000,000 steps at all points; write shorter expressions"):
        ask(POINT)


def test_an_expression_of_numbers_takes_a_step_for_each_part():
    """Each name, number and operator takes a step: at a million points there is room for a hundred."""
    budget = Budget()
    built("A * B <= 3072 and (A % 8 == 0 or not A > 96)", list(POINT), budget)(POINT)
    assert MOST_STEPS - budget.left == 8 + 8  # names and numbers, operators


def test_a_long_word_among_the_values_is_refused():
    """A parameter's value may have a thousand letters, so that to compare two of a list takes about a step."""
    ask = built("W in ['nt'] * 1000", ["W"], Budget())
    assert ask({"W": "a" * 1000}) is False
    with pytest.raises(ValueError, match="a word of 1001 letters; write 1000 at most"):
        ask({"W": "a" * 1001})
