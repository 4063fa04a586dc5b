from __future__ import annotations

import signal
import threading

import pytest

from gpusim.support.interruption import held_back


def test_an_interruption_waits_for_the_end():
    """Held back, Ctrl-C pressed twice lets the work end, and is then raised once."""
    done = []

    def work():
        with held_back():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            done.append("all")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all"]
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_is_not_hidden_by_an_interruption():
    """An error in held-back work is raised, and Ctrl-C works again."""
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ZeroDivisionError), held_back():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is before


def test_a_thread_may_hold_back_too():
    """Only the main thread may change signal handlers: in another, holding back does nothing and raises no error."""
    done = []

    def work():
        with held_back():
            done.append("all")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["all"]
