"""The page of `gpusim limits`: its words, and the fewest cycles on the way to the ideal SM."""

import pytest

from gpusim.analysis.account.limit_study import Lifted, LimitStudy
from gpusim.commands.causes.limits_page import limits_page


def study(*in_order):
    """Return a study of 100 cycles whose limits, lifted in order, leave so many."""
    before = (100, *in_order)
    lifted = [
        Lifted(name, {}, {}, 90, 10, now, before[n] - now)
        for n, (name, now) in enumerate(zip(("bank conflicts", "barriers"), in_order, strict=True))
    ]
    return LimitStudy(100, in_order[-1], tuple(lifted), {})


@pytest.mark.parametrize(("in_order", "least"), [((80, 60), 60), ((50, 60), 50), ((120, 110), 100)])
def test_the_fewest_cycles_are_told_where_the_ideal_has_more(in_order, least):
    """Of the SM as it is and each limit lifted the fewest cycles count; the page has them if the last has more."""
    found = study(*in_order)
    assert found.least == least
    assert (f"Fewest on the way: {least}." in limits_page("k", (), found, ())) == (least < in_order[-1])


def test_a_limit_on_the_way_is_called_lifted():
    """No row reads as if the limit were added."""
    text = limits_page("k", (), study(80, 60), ())
    assert all(f"{name} lifted" in text for name in ("bank conflicts", "barriers"))
    assert "and bank conflicts" not in text
