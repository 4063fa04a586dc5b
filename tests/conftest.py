"""Shared fixtures of all tests."""

import signal

from hypothesis import settings

# Examples are the same each time, and may take as long as they do beside other tests.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_configure() -> None:
    """Listen to interrupts, which some tests send, even where they run in the background, which ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
