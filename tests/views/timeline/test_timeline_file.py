import gzip
import json

import msgspec
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from strategies.launches import kernels, launches, timelines
from strategies.timeline_documents import by_hand

from gpusim.simulation.timeline.build import timeline
from gpusim.views.timeline.document import NONE, Issued, Line, Lost, Resident
from gpusim.views.timeline.file import load, part
from isa.errors import UserError

DOCUMENT = by_hand([Line(0, "EXIT", "exit")], [Issued(0, 0, 0, 0, 0, 3, NONE, NONE, NONE, 32)], 9)

FIRST, LOST = (
    json.loads(msgspec.json.encode(DOCUMENT.instructions[0])),
    json.loads(msgspec.json.encode(Lost(0, "wait", 4, 9))),
)
PACKED = gzip.compress(msgspec.json.encode(DOCUMENT), mtime=0)  # names a test: alike in all processes


def lives(instruction):
    """Return the cycles in which a warp waits for an instruction or the instruction is in flight."""
    first = min([instruction.issue, *(wait.start for wait in instruction.waits)])
    return range(first, max(instruction.issue + 1, instruction.end, instruction.done))


@pytest.mark.parametrize("name", ["run.json", "run.json.gz"])
def test_a_document_is_read_as_it_was_written(tmp_path, name):
    """A document is read back the same, plain or compressed, as its name says."""
    data = msgspec.json.encode(DOCUMENT)
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    assert load(tmp_path / name) == DOCUMENT


def with_change(**change):
    return json.dumps(json.loads(msgspec.json.encode(DOCUMENT)) | change).encode()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no timeline: Input data was truncated"),
        (b"{}", "no timeline: Object missing required field `version`"),
        (b"\xff\xfe", "no timeline: "),
        (with_change(version=2), "a timeline of version 2, where 1 is read; write it anew"),
        (with_change(cycles="many"), "Expected `int`, got `str` - at `$.cycles`; write one with"),
        (with_change(color="red"), "unknown field `color`"),
        (with_change(program=[]), "instruction 0 has pc 0, warp 0, scheduler 0, one of which the document lacks"),
        (with_change(shown=[1]), "one of which the document lacks"),
        (with_change(schedulers=0), "one of which the document lacks"),
        (with_change(program=[{"pc": 1, "text": "EXIT", "unit": "exit"}]), "the pcs of the program do not count up"),
        (with_change(shown=[], instructions=[]), "the timeline has no warps; write it anew"),
        (with_change(end=0), "the timeline has no cycles: 0:0"),
        (with_change(letters=[]), "no letter is named 'no_warp'"),
        (with_change(instructions=[FIRST | {"waits": [{"reason": "sleep", "start": 0, "end": 3}]}]), "named 'sleep'"),
        (with_change(instructions=[FIRST | {"issue": -5}]), "Expected `int` >= 0 - at `$.instructions[0].issue`"),
        (with_change(lost=[LOST | {"reason": "sleep"}]), "no letter is named 'sleep'"),
        (with_change(lost=[LOST | {"scheduler": 99}]), "lost slots 4:9 are of scheduler 99, which the document lacks"),
    ],
)
def test_a_file_that_is_no_timeline_is_reported_in_one_line(tmp_path, data, message):
    """A wrong file is reported in one line with its path and the fault."""
    path = tmp_path / "run.json"
    path.write_bytes(data)
    with pytest.raises(UserError) as raised:
        load(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("data", [b"{}", PACKED[:-20], PACKED[:12] + b"\xff" + PACKED[13:]])
def test_a_file_not_compressed_as_its_name_says_is_reported(tmp_path, data):
    """Plain text, a cut file and a damaged one are each refused under the name of a compressed file."""
    (tmp_path / "run.json.gz").write_bytes(data)
    with pytest.raises(UserError, match=r"can't be unpacked: .*; write one with "):
        load(tmp_path / "run.json.gz")


@given(timelines(), st.data())
def test_a_part_has_what_lives_in_its_cycles(document, data):
    """Instructions, blocks and lost slots that share a cycle with it, of the warps chosen; the rest is gone."""
    start = data.draw(st.integers(document.start, document.end - 1))
    end = data.draw(st.integers(start + 1, document.end))
    warps = data.draw(st.sets(st.sampled_from(document.shown), min_size=1))
    cut, cycles = part(document, start, end, warps), set(range(start, end))
    inside = [i for i in document.instructions if i.warp in warps and cycles & set(lives(i))]
    assert list(cut.instructions) == inside
    assert list(cut.lost) == [one for one in document.lost if cycles & set(range(one.start, one.end))]
    stays = [(one, document.end + 1 if one.retired == NONE else one.retired) for one in document.blocks]
    inside = [(one, retired) for one, retired in stays if cycles & set(range(one.placed, retired))]
    assert list(cut.blocks) == [replace(one, retired=NONE if retired > end else retired) for one, retired in inside]
    assert (cut.start, cut.end, cut.shown) == (start, end, tuple(sorted(warps)))


@pytest.mark.parametrize(("retired", "reported"), [(NONE, NONE), (8, NONE), (7, 7), (5, 5), (4, None)])
def test_the_end_of_a_block_is_in_a_part_if_its_cycle_is(retired, reported):
    """In cycles 4 to 7 a block that leaves at 8 or never has no end; one that left at 4 is not in them."""
    cut = part(replace(DOCUMENT, blocks=(Resident(0, 0, (0,), 0, retired),)), 4, 7, None)
    assert [block.retired for block in cut.blocks] == ([] if reported is None else [reported])


@given(timelines())
def test_the_whole_is_a_part(document):
    """All cycles and warps of a document give the document itself, and cycles after its last change nothing."""
    assert part(document, document.start, None, None) == document
    assert part(document, document.start, document.end + 5, document.shown) == document


@pytest.mark.jit
@settings(max_examples=draws(15))
@given(launches(kernels()), st.data())
def test_a_part_of_a_run_is_what_a_run_of_the_part_gives(launch, data):
    """Simulating some cycles and warps, and taking them from the whole, give the same."""
    whole = timeline(*launch)
    start = data.draw(st.integers(0, whole.cycles - 1))
    end = data.draw(st.integers(start + 1, whole.cycles))
    warps = data.draw(st.sets(st.sampled_from(whole.shown), min_size=1))
    cut, alone = part(whole, start, end, warps), timeline(*launch, warps=sorted(warps), start=start, end=end)
    assert (alone.instructions, alone.shown, alone.start, alone.end) == (cut.instructions, cut.shown, start, end)
    assert alone.blocks == cut.blocks
    assert alone.lost == cut.lost


@pytest.mark.parametrize(
    ("span", "warps", "message"),
    [
        ((9, 10), None, "cycles 9:10: the timeline has 0:9; choose among these"),
        ((9, None), None, "cycles 9:: the timeline has 0:9; choose among these"),
        ((5, 5), None, "cycles 5:5: the timeline has 0:9; choose among these"),
        ((0, None), [0, 1], r"--warps 1: the timeline has \[0\]; choose among these"),
    ],
)
def test_a_part_outside_of_the_document_is_refused(span, warps, message):
    """Cycles after the end, no cycles, and a warp that the document leaves out are each refused."""
    with pytest.raises(UserError, match=message):
        part(DOCUMENT, *span, warps)


def test_a_file_that_unpacks_without_end_is_refused(tmp_path):
    """A file that unpacks to more than 16 MiB and a hundred times its size is refused."""
    (tmp_path / "run.json.gz").write_bytes(gzip.compress(b" " * ((1 << 24) + 1)))
    with pytest.raises(UserError, match="unpacks to more than 16 MiB; write one with"):
        load(tmp_path / "run.json.gz")


@pytest.mark.parametrize("opened", ["[", '{"a":', '{"version":1,"kernel":['])
def test_a_deeply_nested_document_is_refused(opened, tmp_path):
    """100,000 nested brackets are refused as no timeline."""
    (tmp_path / "run.json").write_text(opened * 100_000)
    with pytest.raises(UserError, match="no timeline: "):
        load(tmp_path / "run.json")
