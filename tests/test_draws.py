"""The runs of `make test` and `make check` draw and go through a part; every other run has all."""

from types import SimpleNamespace

import draws as module
import pytest
from draws import draws, few, some_cases


@pytest.mark.parametrize(("number", "quick"), [(1, 1), (2, 2), (25, 2), (45, 3), (400, 26)])
def test_the_quick_run_draws_a_fifteenth(number, quick, monkeypatch):
    """The quick run draws a 15th, and at least two if there are two; a run without `GPUSIM_TESTS=quick` draws all."""
    monkeypatch.setattr(module, "RUN", "quick")
    assert draws(number) == quick
    monkeypatch.setattr(module, "RUN", "")
    assert draws(number) == number


@pytest.mark.parametrize(("number", "sixth"), [(1, 1), (2, 2), (5, 2), (25, 4), (400, 66)])
def test_the_check_draws_a_sixth(number, sixth, monkeypatch):
    """With `GPUSIM_TESTS=check` a sixth is drawn, and at least two if there are two."""
    monkeypatch.setattr(module, "RUN", "check")
    assert draws(number) == sixth


@pytest.mark.parametrize(
    ("number", "quick"), [(1, "a"), (2, "ad"), (3, "ace"), (4, "abde"), (6, "abcdef"), (9, "abcdef")]
)
def test_the_quick_run_goes_through_a_few(number, quick, monkeypatch):
    """The quick run takes values at even distances, once and in order; a run without `GPUSIM_TESTS=quick` takes all."""
    monkeypatch.setattr(module, "QUICK", True)
    assert few("abcdef", number) == list(quick)
    monkeypatch.setattr(module, "QUICK", False)
    assert few("abcdef", number) == list("abcdef")


def test_some_cases_of_each_test_are_kept():
    """Of six cases two at even distances stay, of one test as of another, and all of a test that is marked `every`."""
    names = {"a": 6, "b": 1, "c": 3}
    items = [
        SimpleNamespace(nodeid=f"{name}[{i}]", get_closest_marker=lambda _, name=name: name == "c")
        for name, number in names.items()
        for i in range(number)
    ]
    assert [item.nodeid for item in some_cases(items, 2)] == ["a[0]", "a[3]", "b[0]", "c[0]", "c[1]", "c[2]"]
