"""Shared fixtures of all tests."""

import gc
import os
import signal

from draws import draws
from hypothesis import settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as on the command line: for small products threads only spin

# Examples are the same each time, without a deadline, as other tests run meanwhile; 100 if a test gives no number.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=draws(100))
settings.load_profile("repeatable")


def pytest_configure() -> None:
    """Handle interrupts, which some tests send, also in the background, where they are ignored by default.

    Collect garbage seldom: thousands of tests stay in memory, and each collection goes through all of them.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(100_000)
