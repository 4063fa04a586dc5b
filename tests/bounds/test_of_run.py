"""How far a block is followed for the bound of a launch that ran to its end."""

from types import SimpleNamespace

import pytest

from gpusim.bounds import of_run


@pytest.mark.parametrize(("sms", "expected"), [(1, 528_000_000), (132, 4_000_000), (10**6, of_run.SOME)])
def test_a_block_that_may_take_all_work_is_followed_for_four_times_an_sms_share(monkeypatch, sms, expected):
    """Blocks that take tiles from a counter do everything in program order: the first is not followed to its end."""
    monkeypatch.setattr(of_run, "may_vary", lambda _: True)
    monkeypatch.setattr(of_run, "countable", lambda _: False)
    assert of_run.enough(None, SimpleNamespace(warp_instructions=132_000_000, sms=sms)) == expected


def test_a_block_whose_path_depends_on_no_memory_is_followed_as_far_as_an_sm_ran(monkeypatch):
    """Where the path is known, the order of warps changes nothing about its length, and is not asked for."""
    monkeypatch.setattr(of_run, "countable", lambda _: True)
    monkeypatch.setattr(of_run, "may_vary", lambda _: pytest.fail("the order was asked for"))
    run = SimpleNamespace(warp_instructions=of_run.LIMIT + 1, sms=132)
    assert of_run.enough(None, run) == of_run.LIMIT + 1
