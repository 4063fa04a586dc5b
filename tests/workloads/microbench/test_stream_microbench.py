from __future__ import annotations

import numpy as np
import pytest
from interpreter.interpret import interpret

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.sm.memory.global_memory.declaration import arriving_mbs
from isa.errors import UserError
from isa.memory import bases, view
from workloads.microbench.memory.stream import coalescing, stream


@pytest.mark.parametrize("op", ["read", "copy"])
@pytest.mark.parametrize(("length", "warps", "blocks", "lanes"), [(1, 1, 1, 32), (7, 2, 3, 32), (4, 1, 2, 64)])
def test_every_element_is_read_once(check, op, length, warps, blocks, lanes):
    """Each thread's total is that of the indices of its elements, which are all different."""
    check(stream(op, length=length, warps=warps, blocks=blocks, lanes=lanes))


def test_a_copy_is_equal():
    """The buffer written equals the buffer read, to the last element."""
    kernel = stream("copy", length=5, warps=2, blocks=2)
    where, memory = bases(kernel.buffers), interpret(kernel).memory
    data, copy = (view(memory, b, where[b.name]) for b in kernel.buffers[:2])
    assert np.array_equal(data, copy)
    assert data.max() == 5 * 128 - 1


@pytest.mark.parametrize("stride", [0, 1, 3, 32])
def test_lanes_load_words_a_stride_apart(check, stride):
    """Each word holds its index, and each thread's total is that of the words at its stride."""
    check(coalescing(stride, length=6, warps=2, blocks=2))


@pytest.mark.jit
@pytest.mark.parametrize("op", ["read", "copy"])
def test_a_stream_gets_the_sms_share_of_the_bandwidth(op):
    """Neighbouring accesses of 16 bytes a thread move at an SM's share of the DRAM's arriving bandwidth, within 1 %."""
    machine = load("v100")
    runs = [run_sm(stream(op, length=length, blocks=160), machine, feed="trace-driven") for length in (16, 64)]
    moved = 48 * 16 * 2 * 512 * (2 if op == "copy" else 1)
    rate = moved / (runs[1].cycles - runs[0].cycles)
    assert rate == pytest.approx(float(arriving_mbs(machine)) / 80 / 1380, rel=0.01)


@pytest.mark.jit
@pytest.mark.parametrize(("stride", "sectors"), [(0, 1), (1, 4), (2, 8), (8, 32), (64, 32)])
def test_a_stride_costs_its_sectors(stride, sectors):
    """On a V100 without caches 32 words take as long as their 32-byte sectors at the SM's share, within 2 %."""
    machine = load("v100", {"cache.hits": "none"})
    short, long = (
        run_sm(coalescing(stride, length=n, blocks=160), machine, feed="trace-driven").cycles for n in (16, 48)
    )
    loads = 32 * 2 * 16
    share = float(arriving_mbs(machine)) / 80 / 1380
    assert (long - short) / loads == pytest.approx(32 * sectors / share, rel=0.02)


@pytest.mark.parametrize("bad", [{"op": "write"}, {"length": 0}, {"lanes": 16}, {"length": 33000}])
def test_bad_parameters_are_refused(bad):
    """Unknown directions, and numbers too small or large, raise UserError."""
    with pytest.raises(UserError, match=r"^stream: "):
        stream(**bad)


def test_a_negative_stride_is_refused():
    """A stride of -1 is refused: no lane may load a word before the first lane's."""
    with pytest.raises(UserError, match=r"^coalescing: stride=-1"):
        coalescing(-1)
