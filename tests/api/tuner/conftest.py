"""A small card for scripts of Kernel Tuner, whose names find what they found before at the end of a test."""

import pytest

import gpusim.api.kernel_tuner as ours
from gpusim.machine.machine import load


@pytest.fixture
def card(tmp_path, monkeypatch):
    """A card whose launches are quick; `kernel_tuner` is ours for the time of a test."""
    pytest.importorskip("kernel_tuner")
    from gpusim.api.kernel_tuner import stand_in  # noqa: PLC0415  (an extra)

    found = load("rtx3090", {"chip.sms": 4})
    monkeypatch.chdir(tmp_path)  # where Kernel Tuner leaves the sources of what fails
    ours.use(found)
    yield found
    stand_in.remove()
    ours._CARD.machine, ours._CARD.bounded = None, False
