from gpusim.views.rows import spans
from gpusim.views.timeline.document import NONE, Issued


def test_a_pipe_stays_occupied_after_the_result():
    """The result comes at 4 and the pipe is free at 9: `done` is shown for one cycle, then the pipe again."""
    of = [tuple(span) for span in spans(Issued(0, 0, 0, 0, 0, 0, 1, 9, 4, 32))]
    assert of == [(0, 1, "selected"), (1, 4, "occupies"), (4, 5, "done"), (5, 9, "occupies")]


def test_a_result_that_comes_last_ends_the_row():
    """A result at 8 with a pipe free at 8 or 9 ends the row with `done`; without a result the pipe ends it."""
    for end in (8, 9):
        assert list(spans(Issued(0, 0, 0, 0, 0, 0, 1, end, 8, 32)))[-1] == (8, 9, "done")
    assert list(spans(Issued(0, 0, 0, 0, 0, 0, 1, 9, NONE, 32)))[-1] == (1, 9, "occupies")
