"""When the pieces of a tensor copy land, worked out from the numbers of the machine's file alone."""

import pytest
from draws import few

from benchmarks.tensor import copies
from gpusim.machine.machine import load
from isa.memory import bases

MACHINE = load("h200", copies.WARM)
ROW_LINES = copies.WIDTH * copies.HALF // 128  # from one row of the tensor to the next


def is_far(line):
    """Tell whether a line's slice of the L2 is far: the parity of these bits of its number."""
    return sum(line >> bit & 1 for bit in (0, 1, 3, 6, 10)) % 2


def last_landing(lines, sectors):
    """Return when the last of these lines has landed, in cycles from the first request.

    One is asked for each `ask` cycles; they come by distance; the way takes `load_parts` 64ths of a cycle a sector.
    """
    engine, spread = MACHINE.copy_engine, MACHINE.l2_channel.spread
    come = [(k * engine.ask + engine.latency + (spread if is_far(line) else -spread)) for k, line in enumerate(lines)]
    free = 0
    for when in sorted(come):
        cycle = max(when, free // 64)
        free = max(free, cycle * 64) + sectors * engine.load_parts
    return cycle


@pytest.mark.jit
@pytest.mark.parametrize("wide", few([64, 16], 1))
def test_a_lone_copy_lands_when_its_last_line_does(wide):
    """Copies of boxes with 1 to 256 rows of one line take the same time beyond the landing of their last line."""
    beyond = set()
    for high in (1, 8, 64, 128, 256):
        row = copies.Row("tensor load cycles per copy", f"box={wide}x{high} swz=0 stages=1 blocks=1 L2", 1.0)
        asked = copies.launch(row)
        made = copies.kernel(asked, 1)
        first = bases(made.buffers)["given"] // 128 + high * ROW_LINES  # the second loop's box
        landed = last_landing([first + n * ROW_LINES for n in range(high)], wide * copies.HALF // 32)
        beyond.add(copies.cycles(asked, 1, MACHINE) - landed)
    assert len(beyond) == 1
