import pytest

from gpusim.commands.main import execute
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import facts, load
from gpusim.machine.occupancy import occupancy
from gpusim.sm.pipes.pipe.declaration import lanes
from isa.errors import UserError
from isa.row import Unit
from workloads.catalog import make

PREFETCH_128 = {"lds": "128", "prefetch": "on"}


def test_it_is_the_machine_that_its_drawing_shows():
    """Four schedulers with 16 fp32 lanes each, 64 warps, 65,536 registers, 255 per thread, 96 KB of shared memory."""
    machine = load("wide")
    limits = machine.limits
    assert (machine.schedulers.count, lanes(machine, Unit.FP32)) == (4, 64)
    assert (limits.warps, limits.registers, limits.registers_per_thread) == (64, 65536, 255)
    assert limits.shared_bytes == 96 * 1024


def test_none_of_its_own_numbers_claims_to_be_known():
    """Every number that the file itself states is a guess or derived, and its source says what-if machine."""
    own = {path: fact for path, fact in facts("wide").items() if "wide.toml" in fact.place}
    assert len(own) > 50
    for path, fact in own.items():
        assert fact.method in ("guess", "derived"), path
        assert fact.source.startswith("what-if machine: "), path


def test_it_prints(capsys):
    """`gpusim machines wide` succeeds and calls more than 50 numbers those of a what-if machine."""
    assert execute(("machines", "wide")) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("wide: Wide what-if SM (What-if)")
    assert printed.out.count("what-if machine") > 50
    assert printed.err == ""


def test_it_takes_the_kernel_whose_67_registers_fermi_refuses():
    """The Lai SGEMM with 128-bit loads and prefetch needs 67 registers: three blocks fit `wide`, none a GTX 580."""
    kernel = make("sgemm-lai", PREFETCH_128)
    assert kernel.program.registers == 67
    assert occupancy(kernel, load("wide")).blocks == 3
    with pytest.raises(UserError, match="67 registers"):
        occupancy(kernel, load("gtx580"))


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_more_warps_than_any_chip_has(engine):
    """With room for 96 warps and 4,096 threads an SM holds 84 by their registers; both engines need the same cycles.

    Without more threads these are what is in the way, and the line of occupancy says so.
    """
    kernel = make("stream", {"warps": "4", "length": "2", "blocks": "2772"})
    wide = load("h200", {"limits.warps": 96, "limits.threads": 4096})
    found = occupancy(kernel, wide)
    assert (found.blocks, found.warps, found.limiter) == (21, 84, "registers")
    assert run_sm(kernel, wide, engine=engine).cycles == run_sm(kernel, wide).cycles
    narrow = occupancy(kernel, load("h200", {"limits.warps": 96}))
    assert (narrow.warps, narrow.next_step) == (64, "h200 holds no more than 2,048 threads")
