import pickle
from functools import partial

import pytest
from space_files import POINT, SPACE, needs_compiler, written

from gpusim.analysis.account.figures import figures
from gpusim.analysis.search.code.code_points import cubin_at, kernel
from gpusim.analysis.search.code.code_tuning import STEADY, How, Job, Place, checked, ranked, slower, timed, trial
from gpusim.analysis.search.space_file import read
from gpusim.bounds import profiled
from gpusim.engines.walks import profile
from gpusim.machine.machine import read as machine_file
from gpusim.simulation.simulation import simulate

pytestmark = pytest.mark.jit  # with tags of caches, minutes in plain Python

A100 = Place(machine_file("a100"), {})
TWO_WAVES = How(1)
FEW_SMS = Place(machine_file("a100"), {"chip.sms": 2})


def tried(tmp_path, place=FEW_SMS, text=SPACE, how=TWO_WAVES, **values):
    """Return the trial of a point on a machine."""
    space, point = read(written(tmp_path, text)), POINT | values
    return trial(Job("0", cubin_at(space, point, 80), point, "a100"), space, {"a100": place}, how)


@pytest.mark.long
@needs_compiler
def test_a_trial_has_the_figures_of_the_run(tmp_path):
    """Figures are those of the simulator for the kernel; GB/s are the file's bytes over that time."""
    found, space = tried(tmp_path), read(written(tmp_path))
    made = kernel(space, POINT, cubin_at(space, POINT, 80))
    result = simulate(made, FEW_SMS.machine(made), values=False, sample=1, bounded=False, estimate=STEADY)
    assert found.figures == figures(result)
    assert found.gbs == pytest.approx(8 * 16384 / (1e6 * found.figures.milliseconds))
    assert found.occupancy == 100 * result.occupancy.warps / 64
    assert (found.simulated_blocks, found.blocks) == (result.scaling.simulated_blocks, result.scaling.blocks_of_sm)


@pytest.mark.long
@needs_compiler
@pytest.mark.parametrize("name", ["a100", "two SMs"])
def test_a_first_block_is_walked_through_once(name, tmp_path, monkeypatch):
    """A bound walks through it once, with the SMs that the architecture's own card has, or another number."""
    space = read(written(tmp_path))
    made, place = kernel(space, POINT, cubin_at(space, POINT, 80)), A100 if name == "a100" else FEW_SMS
    walks, of_block = [], profile.profile_of
    for module in (profiled, profile):
        monkeypatch.setattr(module, "profile_of", lambda *a: walks.append(a[1]) or of_block(*a))
    assert timed(made, place.machine(made), How()).cycles > 0
    assert walks == []
    assert timed(made, place.machine(made), How(bounded=True)).cycles > 0
    assert walks.count(0) == 1


@pytest.mark.long
@needs_compiler
def test_the_last_uneven_wave_counts(tmp_path):
    """Of 4.03 waves of blocks two, and the last block, are simulated; time is between those of four and of five waves.

    32 blocks of 64 threads are resident, so 129 blocks of an SM are four waves and one block.
    """
    even, uneven, next_wave = (
        tried(tmp_path, text=SPACE.replace("N = 16384", f"N = {128 * blocks * 2}")) for blocks in (128, 129, 160)
    )
    assert (uneven.figures.blocks, uneven.simulated_blocks, uneven.blocks) == (32, 65, 129)
    assert even.figures.cycles < uneven.figures.cycles < next_wave.figures.cycles


@pytest.mark.long
@needs_compiler
def test_all_blocks_and_all_sms_can_be_asked_for(tmp_path):
    """With the sample "all" every block of the SM is simulated, with all SMs every block."""
    assert tried(tmp_path, how=How("all")).simulated_blocks == 64
    found = tried(tmp_path, how=How(sms="all"))
    assert (found.simulated_blocks, found.blocks) == (128, 128)


@pytest.mark.long
@needs_compiler
def test_blocks_that_differ_are_all_simulated(tmp_path):
    """Where a sample can't stand for all, because blocks do different work, every block of the SM is simulated."""
    longer = "for (int i = 0; i < EACH + (blockIdx.x & 7); i++) {"
    space = read(written(tmp_path, SPACE.replace("N = 16384", "N = 65536")))
    text = (tmp_path / "sum.cu").read_text()
    (tmp_path / "sum.cu").write_text(
        text.replace("for (int i = 0; i < EACH; i++) {", longer).replace("x[at]", "x[at % n]")
    )
    made = kernel(space, POINT, cubin_at(space, POINT, 80))
    result = timed(made, FEW_SMS.machine(made), How())
    assert (result.scaling.simulated_blocks, result.scaling.blocks_of_sm) == (256, 256)


@pytest.mark.long
@needs_compiler
def test_a_trial_can_be_sent_to_another_computer(tmp_path):
    """A trial's function and job survive pickling, as a cluster does it, and bring the cubin along."""
    space = read(written(tmp_path))
    job = Job("0", cubin_at(space, POINT, 80), POINT, "a100")
    here = partial(trial, space=space, places={"a100": FEW_SMS}, how=TWO_WAVES)
    function, sent = pickle.loads(pickle.dumps((here, job)))
    (tmp_path / "sum.cu").unlink()
    assert function(sent) == here(job)


@pytest.mark.long
@needs_compiler
def test_a_refusal_is_the_reason(tmp_path):
    """A point that does not fit the machine has the simulator's message."""
    found = tried(tmp_path, Place(machine_file("a100"), {"limits.shared_per_block": 128}))
    assert found.figures is None
    assert found.reason.startswith("sum: needs 256 bytes of shared memory; a100 has 128")


@pytest.mark.long
@needs_compiler
def test_the_values_of_a_point_are_checked(tmp_path):
    """The launch at the check's sizes is verified; where the file expects nothing there is nothing to check."""
    found = checked(read(written(tmp_path)), POINT, A100)
    assert (found.verified, found.values) == (True, 1024)
    wrong = checked(read(written(tmp_path, SPACE.replace("x + 1", "x + 2"))), POINT, A100)
    assert wrong.wrong == 1024
    nothing = SPACE[: SPACE.index("[[launch.expect]]")]
    assert checked(read(written(tmp_path, nothing)), POINT, A100).scope == "none"


@pytest.mark.long
@needs_compiler
def test_trials_are_ranked_by_time(tmp_path):
    """The fastest is first, equals share a rank, and a winner's place on another machine follows from the point."""
    one, two = tried(tmp_path), tried(tmp_path, EACH=1)
    order = ranked([one, two, one])
    times = [each.figures.milliseconds for _, each in order]
    assert times == sorted(times)
    ranks = [rank for rank, _ in order]
    assert ranks == ([1, 1, 3] if order[0][1] == one else [1, 2, 2])
    rank, percent = slower(two.point, order)
    assert rank == {each.point["EACH"]: place for place, each in order}[1]
    assert percent == pytest.approx(100 * (two.figures.milliseconds / min(times) - 1))
    assert slower(two.point, [(1, one)]) is None
