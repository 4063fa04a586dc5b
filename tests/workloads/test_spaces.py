from fractions import Fraction

import pytest

from isa.errors import UserError
from workloads.catalog import CATALOG
from workloads.spaces import SPACES, find, make_space, split


@pytest.mark.parametrize("name", SPACES)
def test_every_space_is_complete(name):
    """A space is found by its name, and has constraints and a published winner with a number for each axis."""
    space = make_space(name, {})
    assert space.name == find(name).name == name
    assert space.constraints
    assert tuple(space.winner) == space.axes


def test_numbers_of_constraints_are_taken_as_text():
    """A share given as a fraction, and a whole number of blocks, appear in the rules."""
    space = make_space("zgemm", {"occupancy": "1/2", "blocks": "3"})
    rules = {constraint.name: constraint.rule for constraint in space.constraints}
    assert rules["occupancy"].startswith("resident threads >= 1/2 of")
    assert rules["blocks per SM"].startswith("3 resident blocks")


@pytest.mark.parametrize("text", ["1/0", "0", "-1/3", "x", "1/2/3", "", "1/-2"])
def test_a_bad_share_is_refused(text):
    """Zero, negative numbers and text that is no number are refused in one line."""
    with pytest.raises(UserError, match=r"^zgemm: occupancy=.* is not allowed; give a number above 0$"):
        make_space("zgemm", {"occupancy": text})


def test_decimals_are_exact():
    """A share of 0.25 is exactly 1/4 in the rule."""
    (rule,) = (c.rule for c in make_space("dgemm", {"occupancy": "0.25"}).constraints if c.name == "occupancy")
    assert str(Fraction(1, 4)) in rule


def test_an_unknown_number_or_space_is_refused_with_the_nearest():
    """A misspelt parameter or space is refused, and the nearest known name suggested."""
    with pytest.raises(UserError, match=r"^zgemm: no parameter load \(did you mean loads\?\); it takes occupancy, "):
        make_space("zgemm", {"load": "2"})
    with pytest.raises(UserError, match=r"^no search space zgem \(did you mean zgemm\?\); there are sgemm, "):
        find("zgem")


def test_texts_are_split_between_a_space_and_its_kernel():
    """Numbers of the constraints go to the space, the others to its kernel."""
    assert split("zgemm", {"loads": "3", "read": "plain"}) == ({"loads": "3"}, {"read": "plain"})
    assert make_space("sgemm-lai", {}).kernel in CATALOG
