from gpusim.timeline.document import NONE, Issued
from gpusim.views.rows import spans


def test_a_pipe_stays_occupied_behind_the_result():
    """Its result is there at 4, its pipe free at 9: done is shown for a cycle, and then the pipe again."""
    of = [tuple(span) for span in spans(Issued(0, 0, 0, 0, 0, 0, 1, 9, 4, 32))]
    assert of == [(0, 1, "selected"), (1, 4, "occupies"), (4, 5, "done"), (5, 9, "occupies")]


def test_behind_a_result_that_comes_last_there_is_nothing():
    """A pipe that is free with the result, or a cycle later, is not shown after it; nor is one without a result."""
    for end in (8, 9):
        assert list(spans(Issued(0, 0, 0, 0, 0, 0, 1, end, 8, 32)))[-1] == (8, 9, "done")
    assert list(spans(Issued(0, 0, 0, 0, 0, 0, 1, 9, NONE, 32)))[-1] == (1, 9, "occupies")
