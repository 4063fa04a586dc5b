import pytest

from gpusim.machine.machine import names
from isa.reading.nearest import nearest


@pytest.mark.parametrize(
    ("name", "meant"),
    [("h20", "h200"), ("gtx58", "gtx580"), ("a1000", "a100"), ("v10", "v100"), ("k20", "k20m")],
)
def test_a_machine_of_the_same_family_comes_first(name, meant):
    """Among equally similar names the one with the same letters is suggested: h200 for h20, and not k20m."""
    assert nearest(name, names()) == meant


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("schedulers.cuont", ["pipe.mio.count", "schedulers.count"], "schedulers.count"),
        ("blokcing", ["blocking", "width"], "blocking"),
        ("nothing like it", ["blocking", "width"], None),
        ("a." * 60_000, ["a.b"], None),
        ("a", [], None),
    ],
)
def test_other_names_are_found_by_likeness(name, known, meant):
    """The name nearest by letters is suggested; none is if none is near, or if the text is longer than any name."""
    assert nearest(name, known) == meant
