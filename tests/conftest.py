"""Shared fixtures of all tests."""

import gc
import os
import signal

from draws import draws
from hypothesis import settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as of the command line: products are small, threads would but spin

# Examples are the same each time, and may take as long as they do beside other tests; 100, where a test says nothing.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=draws(100))
settings.load_profile("repeatable")


def pytest_configure() -> None:
    """Listen to interrupts, which some tests send, even where they run in the background, which ignores them.

    And look for garbage seldom: thousands of tests stay, and going through them again and again takes long.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(100_000)
