"""Work that is done during other work."""

from threading import Event

import pytest

from gpusim.simulation.meanwhile import begun


def test_a_result_is_waited_for():
    """The result of a call that takes its time is returned once it is there."""
    gate = Event()
    result = begun(lambda: gate.wait(10) and 7)
    gate.set()
    assert result() == 7


def test_an_error_is_raised_to_who_asks():
    """An error is raised when the result is asked for, and nowhere before."""
    result = begun(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        result()
