"""Several channels of the DRAM, where all SMs are simulated: who takes which, and what camping on one costs."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from strategies.launches import REPEATABLE, kernels
from timing import plain_machine
from twins import differences

from gpusim.engines.simulate import ENGINES, run_chip, run_sm
from gpusim.launch.feed import FEEDS, recordable
from gpusim.machine.machine import load
from gpusim.sm.account.record.declaration import ISSUE, SERVE
from gpusim.sm.jit.rule import COMPILED
from isa.errors import DeadlockError, ExecutionError, UserError
from isa.row import Unit
from isa.text.listing import read

# Two SMs of 8 bytes per cycle each: of eight channels one moves 2 bytes per cycle, a line of 128 in 64 cycles.
CHIP = {
    "chip.sms": 2,
    "chip.dram_mbs": 16000,
    "chip.shader_mhz": 1000,
    "global_memory.latency": 100,
    "texture.latency": 100,
    "memory_channels.count": 8,
    "memory_channels.bytes": 256,
}


# --- an account of the channels: from the records of a run, and addresses in program order ----------------------------


def accesses(kernel):
    """By block, warp and pc, the byte of each lane (None: inactive) of each access, in program order."""
    found = defaultdict(list)
    for block in range(kernel.blocks):

        def observe(pc, warps, addresses, active, block=block):
            for warp, where, on in zip(warps.tolist(), addresses, active, strict=True):
                if on.any():
                    lanes = [int(a) if live else None for a, live in zip(where, on, strict=True)]
                    found[block, warp, pc].append(lanes)

        interpret(kernel, [block], observe)
    return found


def moved(machine, row, where):
    """The first byte of each line or sector that an access moves, one by one."""
    line, rule = machine.global_memory.line_bytes, machine.global_memory.rule
    if row.unit is Unit.TEXTURE:
        groups = [where[i : i + 32] for i in range(0, len(where), 32)]
        return [32 * s for group in groups for s in {a // 32 for a in group if a is not None}]
    size = 16 if rule == "gt200" else 32 // row.words
    found = []
    for group in (where[i : i + size] for i in range(0, len(where), size)):
        bytes_ = [b for a in group if a is not None for b in range(a, a + row.nbytes)]
        if rule == "fermi":
            found += [line * n for n in {b // line for b in bytes_}]
        elif rule == "sectors":
            found += [32 * n for n in {b // 32 for b in bytes_}]
        else:
            for segment in {b // line for b in bytes_}:
                places = [b % line for b in bytes_ if b // line == segment]
                low, high = min(places), max(places)
                size_of = next(s for s in (32, 64, 128) if low // s == high // s)
                found += [line * segment + low // size_of * size_of + 32 * i for i in range(size_of // 32)]
    return found


def account(kernel, machine, run):
    """When each load and fetch of a run on all SMs should be done, and when it was."""
    channels, chip = machine.memory_channels, machine.chip
    cost = round(64 * 32 * chip.sms * chip.shader_mhz / chip.dram_mbs)
    line_cost = round(64 * machine.global_memory.line_bytes * chip.sms * chip.shader_mhz / chip.dram_mbs)
    parts, free, asked = 64 * chip.sms, defaultdict(int), accesses(kernel)
    events = [(int(r.cycle), s, i, r) for s, each in enumerate(run.each) for i, r in enumerate(each.trace)]
    expected, happened = [], []
    for now, _, _, record in sorted(events, key=lambda event: event[:3]):
        row = kernel.program.instructions[record.pc].row if 0 <= record.pc < len(kernel.program) else None
        fetches = record.kind == ISSUE and record.lanes > 0 and row is not None and row.unit is Unit.TEXTURE
        if not fetches and (record.kind != SERVE or row is None or row.unit is not Unit.GLOBAL):
            continue
        where = asked[int(record.block), int(record.warp) % kernel.warps, int(record.pc)].pop(0)
        gone, lines = now * parts, machine.global_memory.rule == "fermi" and not fetches
        each = line_cost if lines else cost
        if not fetches and not row.is_load and machine.memory:
            each = round(each * machine.memory.written / 1000)
        for byte in moved(machine, row, where):
            c = byte // channels.bytes % channels.count
            free[c] = max(free[c], now * parts) + each * channels.count
            gone = max(gone, free[c])
        latency = machine.texture.latency if fetches else machine.global_memory.latency
        if row.is_load:
            expected.append((now, int(record.pc), -(-gone // parts) + latency))
            happened.append((now, int(record.pc), int(record.done)))
    return expected, happened


MACHINES = st.fixed_dictionaries(
    {
        "chip.sms": st.sampled_from([1, 2, 3]),
        "chip.dram_mbs": st.sampled_from([3000, 12000, 60000]),
        "global_memory.rule": st.sampled_from(["fermi", "sectors", "gt200"]),
        "memory_channels.count": st.sampled_from([2, 3, 8]),
        "memory_channels.bytes": st.sampled_from([128, 256, 1024]),
        "memory.efficiency": st.just(1000),
        "memory.ecc": st.just(0),
        "memory.ecc_cost": st.just(1),
        "memory.written": st.sampled_from([1000, 1700]),
        "schedulers.count": st.sampled_from([1, 2]),
        "limits.blocks": st.sampled_from([1, 8]),
    }
)


@settings(REPEATABLE, max_examples=draws(60 if COMPILED else 5))
@given(kernels(most_blocks=4, warp_sizes=(32,)).filter(recordable), MACHINES)
def test_the_channels_account_for_every_load(kernel, changes):
    """Each load and fetch is done when the channels of its addresses have moved it, by an account of its own."""
    machine = plain_machine(changes)
    try:
        run = run_chip(kernel, machine, feed="address-only", trace=True)
    except (UserError, DeadlockError, ExecutionError):
        return
    expected, happened = account(kernel, machine, run)
    assert happened == expected


@settings(REPEATABLE, max_examples=draws(30 if COMPILED else 3))
@given(kernels(most_blocks=3), MACHINES)
def test_engines_and_feeds_agree(kernel, changes):
    """Both engines take the same cycles on several channels, and so do all feeds."""
    machine = plain_machine(changes)
    try:
        runs = [run_chip(kernel, machine, feed=feed) for feed in FEEDS]
    except (UserError, DeadlockError, ExecutionError):
        return
    runs.append(run_chip(kernel, machine, engine="reference"))
    assert {run.cycles for run in runs} == {runs[0].cycles}
    assert all((run.stalls == runs[0].stalls).all() for run in runs)


# --- by hand ----------------------------------------------------------------------------------------------------------

STRIDED = """
.grid 2
.buffer x u32 65536
    S2R R0, LANEID
    S2R R2, CTAID.X
    IMUL R0, R0, {stride}
    IMAD R0, R2, {step}, R0
    IADD R0, R0, c[x]
    LDG R4, [R0]
    IADD R5, R4, R4
    EXIT
"""


def latest(stride, step, changes=None, engine="compiled"):
    """Cycles from the service of the load to the use of its result, in the SM where it takes longer."""
    text = STRIDED.format(stride=stride, step=step)
    run = run_chip(read(text), plain_machine({**CHIP, **(changes or {})}), engine=engine, trace=True)
    served = [{int(r.pc): r for r in each.trace if r.kind == SERVE}[5] for each in run.each]
    return max(int(r.done - r.cycle) for r in served)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("stride", "step", "cycles"),
    [
        (4, 256, 64),  # one line for each SM, on two channels
        (4, 128, 128),  # on the same channel: the second waits for the first
        (4, 2048, 128),  # and eight channels on
        (128, 4096, 512),  # 32 lines for each SM, eight for each channel
        (256, 8192, 512),  # the same, a line of each 256 bytes
        (2048, 256, 2048),  # all 32 lines of an SM on one channel, another one for each SM
        (2048, 0, 4096),  # all on the same
    ],
)
def test_lines_take_the_channels_of_their_addresses(stride, step, cycles, engine):
    """By hand, 64 cycles for each line of a channel."""
    assert latest(stride, step, engine=engine) == cycles + 100


def test_one_channel_is_as_before():
    """A count of 1 changes nothing, and neither do several where only one SM is simulated."""
    kernel = read(STRIDED.format(stride=2048, step=0))
    without = {path: value for path, value in CHIP.items() if not path.startswith("memory_channels")}
    one = run_chip(kernel, plain_machine(CHIP | {"memory_channels.count": 1}))
    assert differences(one, run_chip(kernel, plain_machine(without))) == []
    alone = [run_sm(kernel, plain_machine(changes)) for changes in (CHIP, without)]
    assert differences(*alone) == []


def test_textures_take_channels_too():
    """32 sectors on one channel take 16 cycles each, spread over eight 64 cycles in all."""
    text = ".buffer x u32 65536\nS2R R0, LANEID\nIMUL R0, R0, {}\nTEX R4, tex[x], R0\nIADD R5, R4, R4\nEXIT"
    found = []
    for step in (512, 64):
        (run,) = run_chip(read(text.format(step)), plain_machine(CHIP | {"chip.sms": 1}), trace=True).each
        (fetch,) = [r for r in run.trace if r.kind == ISSUE and r.pc == 2]
        found.append(int(fetch.done - fetch.cycle) - 100)
    assert found == [512, 64]


@pytest.mark.parametrize(("stride", "cycles"), [(2048, 1 + 512), (256, 8 + 64)])
def test_what_tags_miss_takes_channels_too(stride, cycles):
    """By hand: 32 sectors leave the L2's port one a cycle, and take 16 cycles each on one channel, or on eight."""
    tags = {f"cache.{level}_latency_{width}": 9 for level in ("l1", "l2") for width in (32, 64, 128)}
    tags |= {"cache.hits": "tags", "cache.l1_late": 0, "cache.l2_late": 0, "cache.l2_sector_parts": 64}
    machine = plain_machine(CHIP | tags | {"chip.sms": 1, "l1.global_loads": 0, "l2.sector_bytes": 32})
    run = run_chip(read(STRIDED.format(stride=stride, step=0).replace(".grid 2", "")), machine, trace=True).each[0]
    (load,) = [r for r in run.trace if r.kind == SERVE and r.pc == 5]
    assert load.done - load.cycle == cycles + 100


COPY = """
.grid 16 16
.block 32 8
.buffer x f32 {words}
.buffer y f32 {words}
    S2R R0, TID.X
    S2R R1, TID.Y
    S2R R2, CTAID.X
    S2R R3, CTAID.Y
    IMAD R0, R{a}, 32, R0
    IMAD R1, R{b}, 8, R1
    IMAD R0, R1, {pitch}, R0
    SHL R0, R0, 2
    IADD R4, R0, c[x]
    LDG R5, [R4]
    IADD R6, R0, c[y]
    STG [R6], R5
    EXIT
"""


@pytest.mark.jit
def test_camping_on_a_partition():
    """On GT200's eight partitions rows of 2 KB lie on one channel each: down a column takes much longer than along."""
    machine = load("gt200", {"chip.sms": 10, "chip.dram_mbs": 47000})

    def cycles(pitch, a, b):
        return run_chip(read(COPY.format(words=128 * pitch, pitch=pitch, a=a, b=b)), machine).cycles

    camping, padded = cycles(512, 3, 2), cycles(512 + 64, 3, 2)
    assert camping > 1.3 * padded
    assert np.isclose(cycles(512, 2, 3), padded, rtol=0.2)
