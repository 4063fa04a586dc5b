"""CPU seconds by stage: each second counts once."""

from time import thread_time

import pytest

from gpusim.support.stages import OTHER, counted, stage


def burn(seconds):
    """Use CPU time."""
    end = thread_time() + seconds
    while thread_time() < end:
        pass


def test_inner_stages_count_by_themselves():
    """Of 20 ms outside, 10 in a stage, and 30 in one within it, each has its own; together they are all that passed."""
    start = thread_time()
    with counted() as seconds:
        burn(0.02)
        with stage("outer"):
            burn(0.01)
            stage("inner")(burn)(0.03)
    whole = thread_time() - start
    assert list(seconds) == ["inner", "outer", OTHER]
    assert (seconds[OTHER] >= 0.02, seconds["outer"] >= 0.01, seconds["inner"] >= 0.03) == (True, True, True)
    assert sum(seconds.values()) <= whole


def test_a_stage_that_fails_is_counted():
    """A stage that ends by an error has its seconds, and the error goes on."""
    with pytest.raises(ZeroDivisionError), counted() as seconds:
        stage("work")(lambda: burn(0.01) or 1 // 0)()
    assert seconds["work"] >= 0.01


def test_nobody_counts_unasked():
    """Without `counted` a stage is just its block, also after one that was counted."""
    with counted() as seconds:
        pass
    with stage("work"):
        burn(0.001)
    assert set(seconds) == {OTHER}
