"""What all tests stand on."""

import signal


def pytest_configure() -> None:
    """Listen to interrupts, which some tests send, even where they run in the background, which ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
