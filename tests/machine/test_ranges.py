"""The schema's range of each key, shown by the reference and the messages, is the range that is accepted."""

from fnmatch import fnmatchcase
from typing import Literal, get_args, get_origin

import pytest

from gpusim.bounds.bounds import bound
from gpusim.engines.simulate import run_sm
from gpusim.launch.launch import launch
from gpusim.machine.facts import allowed
from gpusim.machine.machine import facts, load
from gpusim.machine.schema import leaves
from isa.errors import UserError
from isa.text.listing import read

MACHINES = "gtx580", "gtx980", "h200", "rtx3090", "mi60", "gt200"
EVERY_KIND = """
.warp {lanes}
.block {lanes}
.shared 4096
.local 32
.buffer x u32 4096
S2R R0, LANEID
MOV R3, c[x]
LDS.128 R4, [RZ]
LDG.64 R8, [R3]
LDG.64 R10, [R3]
STL [4], R8
LDL R2, [4]
FFMA R9, R2, R8, R10
STS.64 [RZ], R8
STG [R3], R9
BAR.SYNC 0
EXIT
"""
# Reasons to refuse a value within its range: it does not fit another key of the machine, or the kernel.
RELATIONS = (
    "is under 1/64 byte a cycle for each SM",
    "take a power of two from 32 to 1024 bytes",
    "sectors of",
    "are no whole sets",
    "lines; take a multiple of",
    "don't divide a warp",
    "partitions of",
    "where one takes",
    "nearer than the mean",
    "cycles early of",
    "programs wait for codes or for counts",
    "has no exclusive double precision",
    "less than the notice",
    "caches keep tags of lines up to",
    "set chip.dram_mbs in its place",
)


def numbers(name):
    """Return the paths of a machine's keys that take numbers or one of some words, with their types."""
    kinds = dict(leaves())
    found = [(path, next(kinds[one] for one in kinds if fnmatchcase(path, one))) for path in facts(name)]
    return [(path, kind) for path, kind in found if kind is not str]


def ends(kind):
    """Return the least and the greatest value of a range, or all values of a choice."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    limits = kind.__metadata__[0]
    return limits.ge, limits.le


def beyond(kind):
    """Return the values just outside of a range, or a word outside of a choice."""
    first, *_, last = ends(kind)
    return ["no such word"] if isinstance(first, str) else [first - 1, last + 1]


def kernel_for(machine):
    """Return a small kernel with warps of the machine's size."""
    return read(EVERY_KIND.format(lanes=machine.limits.warp_size))


def test_every_key_is_met():
    """The machines of these tests have every key with a number or a choice, but those that no shipped machine has."""
    met = {path for name in MACHINES for path, _ in numbers(name)}
    none_has = "what_if.", "block_order.", "limits.registers_per_block", "limits.block_warp_unit"
    wanted = [path for path, kind in leaves() if kind is not str and not path.startswith(none_has)]
    assert [path for path in wanted if not any(fnmatchcase(one, path) for one in met)] == []


def refusal(name, path, value):
    """Return why a machine with that value, or a launch on it, is refused; nothing if neither is."""
    try:
        machine = load(name, {path: value})
        launch(kernel_for(machine), machine)
    except UserError as error:
        return str(error)
    return ""


@pytest.mark.long
@pytest.mark.parametrize("name", MACHINES)
def test_a_value_outside_a_range_is_refused_with_the_range(name):
    """One below and one above a range, or a word outside a choice, is refused with the values allowed."""
    for path, kind in numbers(name):
        for value in beyond(kind):
            with pytest.raises(UserError) as caught:
                load(name, {path: value})
            assert str(caught.value) == f"--set {path}={value}: it takes {allowed(kind)}"


@pytest.mark.long
@pytest.mark.parametrize("name", MACHINES)
def test_the_ends_of_a_range_are_taken(name):
    """Both ends of a range and each word of a choice are accepted, or refused because of another number."""
    for path, kind in numbers(name):
        for value in ends(kind):
            found = refusal(name, path, value)
            related = path.startswith("limits.") or any(words in found for words in RELATIONS)
            assert found == "" or (related and "the simulator holds" not in found), (path, value, found)


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("name", ["gtx580", "h200"])
def test_the_greatest_numbers_are_reckoned_with(name):
    """At the upper end of each range a run has exact stall sums, the replay's cycles, and at least its bound's."""
    for path, kind in numbers(name):
        try:
            machine = load(name, {path: ends(kind)[-1]})
            kernel = kernel_for(machine)
            run, trace_driven = (run_sm(kernel, machine, feed=feed) for feed in ("execution-driven", "trace-driven"))
        except UserError:
            continue  # the test above checks this refusal
        assert run.stalls.min() >= 0, path
        assert run.stalls.sum() + run.empty == run.cycles * run.warp_slots, path
        assert bound(kernel, machine).cycles <= run.cycles == trace_driven.cycles, path
