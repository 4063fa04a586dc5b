"""What a launch file expects of its buffers at the end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gpusim.launch.file import elements
from gpusim.launch.file.document import Expect
from gpusim.launch.file.source import Source
from isa.kernel import Buffer, Expectation
from isa.reading.source import suggest
from isa.text.buffer_text import contents
from isa.text.expression import evaluate

_NAME = re.compile(r"\b[A-Za-z_]\w*")
_NUMBERS = {"inf", "nan"}


@dataclass(frozen=True)
class Outcome:
    """The expected results; a call gives them, as `Kernel.outcome` does."""

    expectations: tuple[Expectation, ...]

    def __call__(self) -> tuple[Expectation, ...]:
        """Return what is expected of every element of each buffer that is named."""
        return self.expectations


def outcome(source: Source, buffers: Sequence[Buffer]) -> Outcome | None:
    """Return what a launch file expects of its buffers, None if nothing; raises UserError."""
    by_name = {buffer.name: buffer for buffer in buffers}
    one = partial(_expectation, source, by_name)
    found = tuple(one(f"expect.{n}", expect) for n, expect in enumerate(source.file.expect))
    return Outcome(found) if found else None


def _expectation(source: Source, buffers: dict[str, Buffer], key: str, expect: Expect) -> Expectation:
    if expect.buffer not in buffers:
        cause = f"unknown buffer {expect.buffer}; {suggest(expect.buffer, buffers)}"
        raise source.refusal(f"{key}.buffer", cause)
    if bool(expect.value) == bool(expect.file):
        raise source.refusal(key, f"{expect.buffer} is expected to hold what? write value or file, one of the two")
    size = buffers[expect.buffer].elements
    if expect.file:
        form, value = "file", elements.array(source, f"{key}.file", expect.file).astype(np.float64)
    else:
        form, value = "value", _value(source, f"{key}.value", expect.value, buffers)
    if value.ndim and len(value) != size:
        cause = f"{len(value)} values for {size} elements of {expect.buffer}; give as many"
        raise source.refusal(f"{key}.{form}", cause)
    value = np.broadcast_to(value, (size,))
    bound = expect.within + expect.relative * np.where(np.isfinite(value), np.abs(value), 0)
    return Expectation(expect.buffer, np.arange(size, dtype=np.int64), value, bound)


def _value(source: Source, key: str, text: str, buffers: dict[str, Buffer]) -> NDArray[np.float64]:
    """Return the number or array of an expression; only the buffers that it names are filled."""
    named = dict.fromkeys(name for name in _NAME.findall(text) if name not in _NUMBERS)
    for name in named:
        if name not in buffers:
            raise source.refusal(key, f"unknown buffer {name}; {suggest(name, buffers)}")
    try:
        return evaluate(text, {name: contents(buffers[name]) for name in named})
    except ValueError as error:
        raise source.refusal(key, str(error)) from None
