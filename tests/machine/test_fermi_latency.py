import pytest

from gpusim.machine.machine import facts, load

BOARDS = ("c2050", "gtx460", "gtx480", "gtx580", "gtx580-1566")
BEHIND = 240  # ns


@pytest.mark.parametrize("name", BOARDS)
def test_all_boards_of_fermi_have_one_latency_behind_the_l2(name):
    """A load takes the cycles of a hit in the L2, the same on all boards, and 240 ns, whatever the clock."""
    machine = load(name)
    assert machine.cache.l2_latency_32 == 324
    behind = machine.global_memory.latency - machine.cache.l2_latency_32
    assert 1000 * behind / machine.chip.shader_mhz == pytest.approx(BEHIND, abs=0.5)


@pytest.mark.parametrize("name", BOARDS)
def test_the_latency_lies_in_every_published_range_and_is_not_fitted(name):
    """The guide says 400 to 800 cycles, the paper measured 332 to 1000 on a C2050; nothing was fitted."""
    assert 400 <= load(name).global_memory.latency <= 800
    assert facts(name)["global_memory.latency"].method == "derived"


@pytest.mark.parametrize("name", BOARDS)
def test_textures_take_as_long_as_global_memory(name):
    """A hit in the texture cache saves bandwidth, not latency, so all three are the same."""
    machine = load(name)
    assert machine.texture.latency == machine.texture_cache.latency == machine.global_memory.latency


@pytest.mark.parametrize("name", BOARDS)
def test_each_board_has_the_published_range(name):
    """What is known of the latency is a range, so `reproduce --sensitivity` tries its ends on each board and path."""
    for path in ("global_memory.latency", "texture.latency", "texture_cache.latency"):
        least, most = facts(name)[path].plausible
        assert (least, most) == (400, 1000 if name == "c2050" else 800)
