"""How far a block is followed for the bound of a launch that ran to its end."""

from types import SimpleNamespace

import pytest

from gpusim.bounds import of_run


@pytest.mark.parametrize(("sms", "expected"), [(1, 528_000_000), (132, 4_000_000), (10**6, of_run.SOME)])
def test_a_block_that_may_take_all_work_is_followed_for_four_times_an_sms_share(monkeypatch, sms, expected):
    """Blocks that take tiles from a counter do everything in program order: the first is not followed to its end."""
    monkeypatch.setattr(of_run, "may_vary", lambda _: True)
    assert of_run.enough(None, SimpleNamespace(warp_instructions=132_000_000, sms=sms)) == expected
