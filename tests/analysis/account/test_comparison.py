import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from some_figures import FOUND

from gpusim.analysis.account.comparison import USED, change, explanation, parts
from gpusim.sm.unit.stall import Stall, label

REASONS = [label(reason) for reason in Stall]
SLOTS = st.dictionaries(st.sampled_from(REASONS), st.integers(1, 1000))
FIGURES = st.builds(
    lambda used, lost: msgspec.structs.replace(
        FOUND, cycles=used + sum(lost.values()), used=float(used), lost={name: float(n) for name, n in lost.items()}
    ),
    st.integers(1, 1000),
    SLOTS,
)


@given(FIGURES, FIGURES)
def test_the_parts_are_the_whole_difference(one, other):
    """Cycles of the parts add up to the difference and their shares to 1; the largest share comes first."""
    found, total = parts(one, other), other.cycles - one.cycles
    assert sum(part.cycles for part in found) == pytest.approx(total)
    assert len({part.cause for part in found}) == len(found) == 1 + len({**one.lost, **other.lost})
    if total:
        assert sum(part.share for part in found) == pytest.approx(1)
        assert found[0].share == max(part.cycles / total for part in found) > 0


@given(FIGURES, FIGURES)
def test_the_line_names_the_largest_part(one, other):
    """It says how many cycles more or fewer, relative to the first, and the part with the largest share."""
    line = explanation(one, other, "A", "B")
    if one.cycles == other.cycles:
        assert line == "B takes as many cycles as A."
        return
    word = "more" if other.cycles > one.cycles else "fewer"
    message = change(one.cycles, other.cycles)
    assert line.startswith(f"B takes {abs(other.cycles - one.cycles):,} cycles {word} than A ({message}); ")
    first = parts(one, other)[0]
    assert f" {100 * first.share:.0f} % of that: " in line
    assert ("slots used" if first.cause == USED else f"slots lost to {first.cause} (") in line


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [(100, 160, "+60.0 %"), (8, 6, "-25.0 %"), (100, 999, "+899.0 %"), (2, 20, "x10"), (3, 6_000, "x2,000")],
)
def test_a_change_is_a_percentage_or_from_ten_on_a_factor(one, other, message):
    """Up to just under ten times a change is a signed percentage; ten times and 2,000 times are factors."""
    assert change(one, other) == message


def test_one_difference_by_hand():
    """A difference of 60 cycles is 80 cycles more lost to a full queue and 20 fewer at a barrier."""
    one = msgspec.structs.replace(FOUND, cycles=100, used=70.0, lost={"barrier": 30.0})
    other = msgspec.structs.replace(FOUND, cycles=160, used=70.0, lost={"barrier": 10.0, "mio_throttle": 80.0})
    assert [(part.cause, part.cycles, round(part.share, 3)) for part in parts(one, other)] == [
        ("mio_throttle", 80.0, 1.333),
        (USED, 0.0, 0.0),
        ("barrier", -20.0, -0.333),
    ]
    assert explanation(one, other, "old", "new").startswith(
        "new takes 60 cycles more than old (+60.0 %); 133 % of that: slots lost to mio_throttle (the load/store "
    )


def test_the_unit_of_the_largest_part_is_reported():
    """If the largest part belongs to a limit of the bound, the line says how busy that unit is in both runs."""
    one = msgspec.structs.replace(FOUND, cycles=100, used=100.0, lost={}, limits={"load/store unit": 20.0})
    other = msgspec.structs.replace(one, cycles=150, lost={"mio_throttle": 50.0}, limits={"load/store unit": 90.4})
    message = "load/store unit busy 20 % of the cycles before, 90 % now."
    assert explanation(one, other, "old", "new").endswith(message)
    barrier = msgspec.structs.replace(other, lost={"barrier": 50.0})
    assert "busy" not in explanation(one, barrier, "old", "new")
