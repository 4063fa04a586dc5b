"""Estimates from whole waves, compared with runs of all blocks."""

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis.strategies import integers
from space_files import needs_compiler
from strategies.launches import REPEATABLE, launches, looping_kernels
from twins import differences, run_both

from gpusim.api.raw_module import RawModule
from gpusim.engines.simulate import run_sm
from gpusim.engines.sm_run import END
from gpusim.launch.file.caches import holding
from gpusim.machine.machine import load
from gpusim.machine.occupancy import occupancy
from gpusim.simulation import sampled
from gpusim.simulation.simulation import simulate
from gpusim.simulation.waves import Share, estimate, rate
from gpusim.sm.account.record.declaration import PLACE
from gpusim.sm.memory.account.declaration import DRAM_READ
from isa.errors import UserError
from isa.text.listing import read
from workloads.catalog import make

pytestmark = pytest.mark.jit
ONE_SM = load("gtx580", {"chip.sms": 1})
TWO_SMS = load("gtx580", {"chip.sms": 2})
BORDER = """.grid 9 {rows}
.block 256
.buffer a f32 1048576
S2R R0, CTAID.X
S2R R1, CTAID.Y
S2R R2, TID.X
MOV R4, {most}
ISETP.EQ P0, R0, 8
@P0 MOV R4, {few}
ISETP.EQ P0, R1, {last}
@P0 MOV R4, {few}
IMAD R3, R0, 256, R2
SHL R3, R3, 2
IADD R3, R3, c[a]
MOV R5, 0
again:
LDG R6, [R3]
FFMA R7, R6, R6, R7
FFMA R8, R7, R7, R8
IADD R5, R5, 1
ISETP.LT P0, R5, R4
@P0 BRA again
STG [R3], R8
EXIT
"""


def border(rows=11, most=20, few=10):
    """A grid whose blocks in the right column and in the last row do less."""
    return read(BORDER.format(rows=rows, most=most, few=few, last=rows - 1))


@pytest.mark.parametrize("few", [10, 15, 19])
@pytest.mark.parametrize("rows", [11, 12, 17])
def test_blocks_that_differ_are_scaled_by_their_work(rows, few):
    """From two waves of 50 to 77 blocks the time of all is told within half a block's, their instructions exactly."""
    kernel = border(rows, few=few)
    whole, sampled = simulate(kernel, TWO_SMS, values=False), simulate(kernel, TWO_SMS, values=False, sample=12)
    assert (sampled.scaling.method, whole.scaling.method) == ("work", "complete")
    assert sampled.scaling.simulated_blocks == 12 + whole.run.blocks % 6
    assert sampled.cycles == pytest.approx(whole.cycles, abs=run_sm(kernel, TWO_SMS, blocks=1).cycles / 2)
    assert sampled.warp_instructions == whole.warp_instructions


def test_most_blocks_must_be_alike():
    """Where fewer than half of the SM's blocks are of one class, none stand for all."""
    loop = "again:\nIADD R1, R1, 1\nISETP.LT P0, R1, R0\n@P0 BRA again\nEXIT"
    text = f".grid 64\nS2R R0, CTAID.X\nLOP.AND R0, R0, 30\n{loop}"
    one = load("gtx580", {"chip.sms": 1, "limits.blocks": 2})
    with pytest.raises(UserError, match="its blocks differ"):
        simulate(read(text), one, sample=4)


def places(run):
    """The places of the blocks that were placed, in their order, among those of the SM."""
    return [int(record.block) // 2 for record in run.trace if record.kind == PLACE]


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_blocks_between_can_be_left_out(engine):
    """A run of 9 of 14 blocks, the last 4 among them, has the first 5 and these."""
    some, every = {"blocks": 9, "last": 4}, {}
    few, whole = (run_sm(border(3), TWO_SMS, engine=engine, trace=True, **given) for given in (some, every))
    assert (places(few), places(whole)) == ([0, 1, 2, 3, 4, 10, 11, 12, 13], list(range(14)))
    assert len(few.ends) == 9


def test_engines_leave_the_same_blocks_out():
    """Both engines agree on a run of blocks of which some are left out, in all that is told of it."""
    assert differences(*run_both(border(3), TWO_SMS, blocks=9, last=4)) == []


def test_nothing_is_estimated_where_blocks_are_left_out():
    """A run that may be estimated is exact if blocks are left out."""
    kernel = make("throughput", {"blocks": "200", "iterations": "1"})
    given = {"feed": "trace-driven", "blocks": 150, "last": 50}
    run, exact = (run_sm(kernel, ONE_SM, tolerance=tolerance, **given) for tolerance in (50_000, 0))
    assert (run.estimated, differences(run, exact)) == (0, [])


@settings(REPEATABLE, max_examples=draws(40))
@given(launches(looping_kernels(), tags=False), integers(1, 4), integers(0, 8))
def test_whole_periods_end_where_blocks_are_left_out(launched, left_out, last):
    """With blocks left out, periods taken at once give the answer of the full simulation, and each block's end."""
    kernel, machine = launched
    blocks = max(1, -(-kernel.blocks // machine.chip.sms) - left_out)
    given = {"feed": "trace-driven", "blocks": blocks, "last": min(blocks - 1, last)}
    one, other = (run_sm(kernel, machine, fast_forward=forward, **given) for forward in (True, False))
    assert differences(one, other) == []


def test_ends_that_are_taken_at_once_are_told():
    """Of 200 blocks, two at a time, of which most are taken at once, all leave when they do in the full simulation."""
    kernel = make("throughput", {"blocks": "200", "iterations": "1"})
    forward, full = (run_sm(kernel, ONE_SM, feed="trace-driven", fast_forward=forward) for forward in (True, False))
    assert forward.skipped > 0.8 * forward.cycles
    assert np.array_equal(forward.ends, full.ends)


def test_an_sm_remembers_the_last_ends():
    """Of 5000 blocks, the last 4096 ends are kept, in order; an estimate takes them for all."""
    some, every = read(".grid 5000\nEXIT"), read(".grid 50000\nEXIT")
    run, whole = (run_sm(one, ONE_SM, feed="trace-driven") for one in (some, every))
    assert (len(run.ends), run.ends[-1].issued) == (4096, 5000)
    assert (np.diff(run.ends.cycle) >= 0).all()
    assert estimate(Share(50_000, occupancy(some, ONE_SM).blocks), run).cycles == pytest.approx(whole.cycles, abs=1)


def test_the_rate_counts_what_other_blocks_have_issued():
    """A wave of two blocks of 80 instructions takes 80 cycles; of blocks that leave late, what others issued counts."""
    ends = np.array([(40, 80), (80, 160), (120, 240), (160, 320)], END)
    uneven = np.array([(80, 140), (80, 140), (120, 230), (165, 310)], END)
    assert (rate(ends, 2), rate(uneven, 2)) == (0.5, 85 / 170)


def test_a_sample_has_whole_waves_and_the_rest():
    """Of 17 blocks, three at a time, two to five waves are simulated, and two blocks more; of eight all are."""
    share = Share(17, 3)
    assert [share.sampled(least) for least in (1, 6, 7, 13, 99)] == [8, 8, 11, 17, 17]
    assert Share(8, 3).sampled(1) == 8
    assert share.simulated(8) == [0, 1, 2, 3, 4, 5, 15, 16]


def test_a_long_wave_is_enough():
    """Of 17 blocks, three at a time, a long wave and two blocks more; the rate is then that from the start."""
    share = Share(17, 3, least=1)
    assert [share.sampled(least) for least in (1, 3, 4)] == [5, 5, 8]
    assert Share(5, 3, least=1).sampled(1) == 5
    kernel = read(PAIRS.format(blocks=300, elements=301 * 32))
    run = run_sm(kernel, CACHED, blocks=share.sampled(1), last=share.rest, feed="trace-driven")
    first = run.ends[share.rest]
    more = run.warp_instructions * (share.growth(run.blocks) - 1)
    assert estimate(share, run).cycles == round(run.cycles + more * first.cycle / first.issued)


PAIRS = """.grid {blocks}
.block 32
.buffer a f32 {elements}
S2R R0, CTAID.X
S2R R1, TID.X
IMAD R0, R0, 32, R1
SHL R0, R0, 2
IADD R2, R0, c[a]
LDG R3, [R2]
LDG R4, [R2+128]
FADD R3, R3, R4
EXIT
"""
CACHED = load("rtx3090", {"chip.sms": 2})


@pytest.mark.parametrize(("spill", "simulated"), [("", 16), (".local 16\nSTL [RZ], R1\n", 32)])
def test_trials_take_one_long_wave_unless_registers_are_spilled(monkeypatch, spill, simulated):
    """Of blocks that are long by themselves one wave is simulated, but two where these use local memory."""
    monkeypatch.setattr(sampled, "LONG", 1)
    kernel = read(spill + PAIRS.format(blocks=192, elements=193 * 32))
    found = simulate(kernel, CACHED, values=False, sample=1, estimate=3.0)
    assert (found.scaling.simulated_blocks, found.scaling.blocks_of_sm) == (simulated, 96)


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_sample_brings_its_part_of_the_buffers(engine):
    """Where every SM asks for all lines, an SM brings half of them for two, and half of its blocks a quarter."""
    kernel = read(PAIRS.format(blocks=200, elements=200 * 32))
    given = {"engine": engine, "feed": "trace-driven"}
    whole, half = (run_sm(kernel, CACHED, blocks=blocks, part=True, **given) for blocks in (None, 50))
    brought = [int(run.account[:, :, DRAM_READ].sum()) for run in (whole, half)]
    assert brought == [pytest.approx(400, abs=4), pytest.approx(200, abs=4)]


def test_work_grows_with_blocks_or_with_what_they_issue():
    """All of four blocks issue 36 instructions, the first two 12: three times as many, or twice as many blocks."""
    assert Share(4, 1).growth(2) == 2
    assert Share(4, 1, np.array([5, 7, 11, 13])).growth(2) == 3


STENCIL = """
extern "C" __global__ void stencil(const float *in, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
  for (int i = 0; i < ROWS; i++, y++) {
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) continue;
    const float *at = in + y * width + x;
    out[y * width + x] = 0.25f * (at[-1] + at[1] + at[-width] + at[width]) - at[0];
  }
}
"""
CONVOLUTION = """
extern "C" __global__ void convolution(const float *in, float *out, int width, int height) {
  __shared__ float tile[ROWS * 8 + 4][36];
  int left = blockIdx.x * 32, top = blockIdx.y * ROWS * 8;
  for (int i = threadIdx.y; i < ROWS * 8 + 4; i += 8)
    for (int j = threadIdx.x; j < 36; j += 32)
      if (top + i < height + 4 && left + j < width + 4) tile[i][j] = in[(top + i) * (width + 4) + left + j];
  __syncthreads();
  for (int i = threadIdx.y; i < ROWS * 8; i += 8) {
    float sum = 0;
    for (int k = 0; k < 25; k++) sum += tile[i + k / 5][threadIdx.x + k % 5] * (k + 1);
    int x = left + threadIdx.x, y = top + i;
    if (x < width && y < height) out[y * width + x] = sum;
  }
}
"""


@needs_compiler
@pytest.mark.long
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(("source", "name"), [(STENCIL, "stencil"), (CONVOLUTION, "convolution")])
def test_kernels_with_borders_are_told_from_some_waves(source, name, rows):
    """Half of the blocks of a stencil and of a convolution, whose borders do less, tell the time within 4 %.

    Eighths of the convolution's blocks differ by twelve percent in cycles for an instruction.
    """
    card, _ = holding(load("rtx3090", {"chip.sms": 2}), "warm")
    width, height = 500, 333
    arrays = np.zeros((height + 4) * (width + 4), np.float32), np.zeros(height * width, np.float32)
    module = RawModule(source, options=(f"-DROWS={rows}",), architecture=86)
    args = *arrays, np.int32(width), np.int32(height)
    kernel = module.get_function(name).launched((16, -(-height // (8 * rows))), (32, 8), args)
    whole = simulate(kernel, card, values=False)
    sampled = simulate(kernel, card, values=False, sample=whole.run.blocks // 2)
    assert sampled.scaling.method == "work"
    assert sampled.cycles == pytest.approx(whole.cycles, rel=0.04)
    assert sampled.warp_instructions == whole.warp_instructions
