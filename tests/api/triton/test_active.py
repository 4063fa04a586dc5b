"""Triton's own launches, benchmarks and autotuner on a simulated card; programs stand as their users write them."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from draws import few

import gpusim
from isa.errors import UserError
from isa.nvidia.compiler import tools

pytest.importorskip("triton.language")  # folders of tests have the name triton too
triton = pytest.importorskip("triton")
pytestmark = [
    pytest.mark.jit,
    pytest.mark.skipif(not tools.installed("nvdisasm"), reason="nvdisasm is not installed"),
]
PROGRAMS = Path(__file__).parent / "programs"
SIZE = 4096


def vectors():
    """Return two vectors and room for their sum."""
    return [gpusim.triton.array(np.arange(SIZE, dtype=np.float32) * factor) for factor in (1, 2, 0)]


def add(arrays, block=1024):
    """Add two vectors."""
    from triton_kernels import add as kernel  # noqa: PLC0415  (needs Triton)

    return kernel[(SIZE // block,)](*arrays, SIZE, BLOCK=block)


@pytest.mark.parametrize("name", few(["vector_add", "softmax", "matmul", "layer_norm", "attention"], 1))
def test_a_program_runs_as_it_is(name, capsys):
    """The program compares its own results with PyTorch's, with a card active and no line changed."""
    pytest.importorskip("torch")
    with gpusim.triton.active("h200") as card:
        runpy.run_path(str(PROGRAMS / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out
    assert card.milliseconds >= sum(one.milliseconds for one in card.launches) > 0


def test_arrays_of_numpy_hold_the_results():
    """A view that has an address is an argument; the sum is in its memory, and the launch is on record."""
    arrays = vectors()
    with gpusim.triton.active("h200") as card:
        add(arrays)
    assert np.array_equal(arrays[2], arrays[0] + arrays[1])
    (launch,) = card.launches
    assert (launch.kernel, launch.grid, launch.threads) == ("add", (4, 1, 1), 128)
    assert launch.milliseconds == card.milliseconds
    assert card.results[0].cycles == launch.figures.cycles > 0


def test_each_card_compiles_for_itself():
    """A card inside another one has its own architecture; after it the first one is active again."""
    with gpusim.triton.active("h200") as first:
        add(vectors())
        with gpusim.triton.active("a100") as second:
            add(vectors())
        add(vectors())
    assert [result.machine.key for result in (*first.results, *second.results)] == ["h200", "h200", "a100"]


def test_a_benchmark_has_simulated_time():
    """`do_bench` times launches from a cold L2 as the card has them, and memory stays as the first call left it."""
    arrays = vectors()
    with gpusim.triton.active("h200") as card:
        found = triton.testing.do_bench(lambda: add(arrays), warmup=1, rep=1, return_mode="all")
        warm, cold = card.launches[0].milliseconds, card.launches[1].milliseconds
        assert cold > warm
        assert found == pytest.approx([cold] * len(found))
        assert len(card.launches) == 3  # once as it is, once from a cold L2, once more from a warm one


def test_the_autotuner_takes_the_fastest():
    """Each configuration is timed once; the best one is launched with values."""
    arrays = vectors()
    with gpusim.triton.active("h200") as card:
        from triton_kernels import add as kernel  # noqa: PLC0415  (needs Triton)

        configs = [triton.Config({"BLOCK": block}, num_warps=1) for block in (128, 4096)]
        tuned = triton.autotune(configs, key=["n"])(kernel)
        tuned[lambda meta: (SIZE // meta["BLOCK"],)](*arrays, SIZE)
    times = {one.kwargs["BLOCK"]: time[0] for one, time in tuned.configs_timings.items()}
    assert times == pytest.approx({128: card.launches[0].milliseconds, 4096: card.launches[1].milliseconds})
    assert tuned.best_config.kwargs["BLOCK"] == min(times, key=times.__getitem__)
    assert np.array_equal(arrays[2], arrays[0] + arrays[1])


def test_tensors_for_a_gpu_lie_in_the_hosts_memory():
    """device="cuda", `.cuda()`, `.to("cuda:0")` and `is_cuda` mean the CPU while a card is active, and no longer."""
    torch = pytest.importorskip("torch")
    with gpusim.triton.active("h200"):
        made = torch.zeros(3, device="cuda"), torch.zeros(3).cuda(), torch.zeros(3).to("cuda:0")
        assert [one.device.type for one in made] == ["cpu"] * 3
        assert all(one.is_cuda for one in made)
    assert not made[0].is_cuda


def test_what_goes_to_the_card_and_back_is_a_copy():
    """A tensor of the host keeps its values while the one made from it changes, in both directions."""
    torch = pytest.importorskip("torch")
    with gpusim.triton.active("h200"):
        host = torch.zeros(3)
        there, too = host.cuda(), host.to("cuda")
        back = there.cpu()
        there += 1
        assert [float(one.sum()) for one in (host, there, too, back)] == [0, 3, 0, 0]


def test_an_empty_grid_is_no_launch():
    """Without programs nothing runs and no time passes, as with Triton's own launcher."""
    from triton_kernels import add as kernel  # noqa: PLC0415  (needs Triton)

    with gpusim.triton.active("h200") as card:
        kernel[(0,)](*vectors(), SIZE, BLOCK=1024)
    assert (card.launches, card.milliseconds) == ([], 0)


def test_an_autotuner_inside_a_benchmark_does_not_end_it():
    """What follows the configurations' times is still only timed: memory stays as it was."""
    arrays = vectors()
    with gpusim.triton.active("h200") as card:
        held, driver = card.card.benchmark(), triton.runtime.driver.active
        driver.get_benchmarker()(lambda: add(arrays), quantiles=(0.5,))
        add(arrays)
        del held
    assert not arrays[2].any()
    assert len(card.launches) == 2


def test_triton_reckons_the_cards_bandwidth():
    """What Triton makes of the memory's clock and width is the machine's, to a thousandth."""
    with gpusim.triton.active("h200") as card:
        properties = triton.runtime.driver.active.utils.get_device_properties(0)
    gbs = properties["mem_clock_rate"] * 2 * properties["mem_bus_width"] / 8 / 1e6
    assert gbs == pytest.approx(card.card.machine.chip.dram_mbs / 1000, rel=1e-3)


def test_a_machine_without_machine_code_is_refused():
    """A card that executes no cubin gives one line, and no driver is left behind."""
    with pytest.raises(UserError, match="gtx580"):
        gpusim.triton.active("gtx580")
    assert not gpusim.api.triton.active.__globals__["_ACTIVE"]


def test_memory_of_another_kind_is_refused():
    """What has an address and no memory that can be read is no argument."""
    stand_in = SimpleNamespace(dtype="float32", data_ptr=lambda: 4096)
    with gpusim.triton.active("h200"), pytest.raises(UserError, match=r"gpusim\.triton\.array"):
        add([stand_in, *vectors()[1:]])
