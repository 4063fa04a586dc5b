from __future__ import annotations

import pytest
from interpreter.interpret import interpret

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from isa.errors import UserError
from workloads.microbench.memory.pointer_chase import pointer_chase

SMALL = {"cache.hits": "tags", "l1.bytes": 4096, "l2.bytes": 16384, "chip.sms": 1, "l1.ways": 4, "l2.ways": 4}


@pytest.mark.parametrize(
    ("footprint", "stride", "loads", "lanes"), [(4, 4, 256, 32), (640, 128, 512, 32), (65536, 512, 256, 64)]
)
def test_each_lane_ends_as_many_strides_on_as_it_loads(check, footprint, stride, loads, lanes):
    """A lane that loads n pointers ends n strides after its first element, around the ring."""
    check(pointer_chase(footprint, stride=stride, loads=loads, lanes=lanes))


def test_every_element_of_the_footprint_is_visited():
    """Once around the ring, the addresses are all those a stride apart in the footprint, in order."""
    kernel, seen = pointer_chase(256 * 64, stride=64, loads=256), []
    loads = {pc for pc, i in enumerate(kernel.program.instructions) if i.row.mnemonic == "LDG"}
    interpret(kernel, observe=lambda pc, _, addresses, __: seen.append(int(addresses[0, 0])) if pc in loads else None)
    assert seen == [seen[0] + 64 * i for i in range(256)]


@pytest.mark.jit
@pytest.mark.parametrize(
    ("footprint", "cycles"), [(2048, 28), (4096, 28), (8192, 213), (16384, 213), (32768, 431)], ids=str
)
def test_the_footprint_chooses_the_level_that_answers(footprint, cycles):
    """On a V100 with caches of 4 and 16 KB a load takes 28 cycles up to 4 KB, 213 up to 16 KB and 431 beyond."""
    machine = load("v100", SMALL)
    short, long = (run_sm(pointer_chase(footprint, loads=loads), machine).cycles for loads in (512, 1024))
    assert (long - short) / 512 == pytest.approx(cycles, abs=1)


@pytest.mark.parametrize(
    "bad", [{"stride": 6}, {"footprint": 100}, {"loads": 100}, {"lanes": 16}, {"stride": 0}, {"footprint": 1 << 31}]
)
def test_bad_parameters_are_refused(bad):
    """Strides of no whole words, footprints of no whole strides, loads of no whole bodies raise UserError."""
    with pytest.raises(UserError, match=r"^pointer-chase: "):
        pointer_chase(**bad)
