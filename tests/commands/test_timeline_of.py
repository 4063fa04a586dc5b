import msgspec
import pytest
from msgspec.structs import replace
from strategies.timeline_documents import by_hand

from gpusim.commands.frame.options import AS_IT_IS, LaunchOrTimeline, Part
from gpusim.commands.run.timelines import timeline_of
from gpusim.views.timeline.document import NONE, Issued, Line
from isa.errors import UserError

ISSUED = [Issued(warp, warp, 0, 0, 0, 10 * warp, NONE, NONE, NONE, 32) for warp in range(10)]
DOCUMENT = replace(by_hand([Line(0, "EXIT", "exit")], ISSUED, 100), warp_slots=10, shown=tuple(range(10)))


@pytest.fixture
def ask(tmp_path):
    """Ask for a part of a document of ten warps, each of which issues once, ten cycles after the one before."""
    path = tmp_path / "run.json"
    path.write_bytes(msgspec.json.encode(DOCUMENT))

    def asked(max_cycles=None, warps=None, cycles=None, **given):
        return timeline_of(LaunchOrTimeline(str(path), **given), AS_IT_IS, Part(warps, cycles), max_cycles)

    return asked


@pytest.mark.parametrize(
    ("text", "warps"),
    [(None, range(10)), ("3", [3]), ("0-2", [0, 1, 2]), ("7,0-1,1", [0, 1, 7]), ("9-9", [9])],
)
def test_warps_are_numbers_and_ranges(ask, text, warps):
    """Each warp named comes once, in order; without --warps all do."""
    assert ask(warps=text).shown == tuple(warps)


@pytest.mark.parametrize("text", ["", "a", "1-", "-1", "1,,2", "1;2", "2-1", "0-99999"])
def test_wrong_warps_are_refused(ask, text):
    """Text that is no list of warps, or a range that ends before it begins, is refused in one line."""
    with pytest.raises(UserError, match=f"--warps {text}: no warp slots; give numbers and ranges, such as 0-3,8"):
        ask(warps=text)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [(None, 0, 9), (":", 0, 9), ("0:100", 0, 9), ("20:", 2, 9), (":21", 0, 2), ("20:21", 2, 2), ("11:31", 2, 3)],
)
def test_cycles_are_a_first_and_the_one_after_the_last(ask, text, first, last):
    """The part has every instruction that issues in one of the named cycles."""
    assert [i.id for i in ask(cycles=text).instructions] == list(range(first, last + 1))


@pytest.mark.parametrize("text", ["", "5", "a:b", "1-2", "-1:2", "1:2:3"])
def test_wrong_cycles_are_refused(ask, text):
    """Text that is no range of cycles is refused in one line with the form to give."""
    with pytest.raises(UserError, match=f"--cycles {text}: no cycles; give the first and the one after the last"):
        ask(cycles=text)


@pytest.mark.parametrize(
    "given", [{"machine": "h200"}, {"policy": "gto"}, {"parameter": ("n=1",)}, {"setting": ("a=1",)}, {"max_cycles": 9}]
)
def test_a_document_takes_no_options_of_a_run(ask, given):
    """For a document, options of kernel and machine are refused, not ignored."""
    with pytest.raises(UserError, match="a timeline is of a finished run; leave out kernel and machine options"):
        ask(**given)
