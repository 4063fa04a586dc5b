"""All SMs of a chip with every mechanism of an H200: the engines are twins, and a chip of one SM is that SM."""

import pytest
from chip_runs import unlike
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.launches import REPEATABLE, kernels
from strategies.machine_files import launches_on
from twins import differences

from gpusim.engines.simulate import ENGINES, run_chip, run_sm
from gpusim.launch.feed import FEEDS
from gpusim.launch.launch import several_channels
from gpusim.sm.jit.rule import COMPILED

SMALL = kernels(most_blocks=6, least=3)


def assert_agreement(examples: int) -> None:
    """Assert that the engines agree on so many pairs, and one SM's run with them where the chip has one."""

    @settings(REPEATABLE, max_examples=draws(examples))
    @given(launches_on(SMALL, ["h200"], (1, 1, 2, 3)), st.sampled_from(FEEDS))
    def agree(launched, feed):
        kernel, machine = launched
        compiled, reference = (run_chip(kernel, machine, engine=engine, feed=feed) for engine in ENGINES)
        assert unlike(compiled, reference) == []
        if machine.chip.sms == 1 and not several_channels(machine):
            (only,) = compiled.each
            assert differences(only, run_sm(kernel, machine, feed=feed)) == []

    agree()


@pytest.mark.long
def test_the_engines_and_a_run_of_one_sm_agree():
    """Neither has a trace, so SMs run ahead or act alone where they may; all warp-cycles have a reason."""
    assert_agreement(90 if COMPILED else 2)


@pytest.mark.slow
@pytest.mark.jit
def test_the_engines_and_a_run_of_one_sm_agree_on_two_thousand_pairs():
    """The same for 2,000 pairs."""
    assert_agreement(2000)
