"""Simulated time as `torch.cuda` tells it: what Triton's `do_bench` and the autotuner measure with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from gpusim.api.card.card import Card


class Event:
    """A moment of a card's simulated time."""

    def __init__(self, card: Card) -> None:
        """Begin with the present moment."""
        self.card, self.at = card, card.milliseconds

    def record(self, _stream: object = None) -> None:
        """Note the present moment."""
        self.at = self.card.milliseconds

    def elapsed_time(self, other: Event) -> float:
        """Return the milliseconds from this moment to the other one."""
        return other.at - self.at

    def synchronize(self) -> None:
        """Do nothing: launches are done when their call returns."""

    wait = query = synchronize


def device_interface(card: Card, device: int) -> SimpleNamespace:
    """Return what `torch.cuda` is to a benchmark, for one card with one stream."""

    def event(**_options: Any) -> Event:
        return Event(card)

    return SimpleNamespace(
        Event=event,
        synchronize=lambda *_: None,
        current_device=lambda: device,
        set_device=lambda _device: None,
        current_stream=lambda *_: None,
        default_stream=lambda *_: None,
        stream=_stream,
    )


@contextmanager
def _stream(_stream: object) -> Iterator[None]:
    yield
