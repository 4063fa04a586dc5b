from collections import Counter, defaultdict

from hypothesis import given
from msgspec.structs import replace
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TracePacket, TrackDescriptor, TrackEvent
from strategies.launches import timelines
from strategies.timeline_documents import by_hand

from gpusim.views.perfetto import perfetto
from gpusim.views.timeline.document import NONE, Resident

GROUPS = ["blocks", "schedulers", "warps", "units"]


def packets_of(document):
    trace = Trace()
    trace.MergeFromString(b"".join(perfetto(document)))
    return trace.packet


def read(document):
    """Return tracks, and slices by group and track (start, end, name, annotations, flows out, flows in); check both."""
    first, *packets = packets_of(document)
    assert first.sequence_flags == TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
    names = {entry.iid: entry.name for entry in first.interned_data.event_names}
    keys = {entry.iid: entry.name for entry in first.interned_data.debug_annotation_names}
    tracks, slices, opened = {}, defaultdict(list), {}
    for packet in packets:
        if packet.HasField("track_descriptor"):
            one = packet.track_descriptor
            assert one.uuid not in tracks
            assert one.parent_uuid in tracks or not one.HasField("parent_uuid")
            tracks[one.uuid], opened[one.uuid] = one, []
            continue
        event, now, stack = packet.track_event, packet.timestamp, opened[packet.track_event.track_uuid]
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            notes = {keys[a.name_iid]: getattr(a, a.WhichOneof("value")) for a in event.debug_annotations}
            stack.append((now, names[event.name_iid], notes, list(event.flow_ids), list(event.terminating_flow_ids)))
        else:
            assert event.type == TrackEvent.TYPE_SLICE_END
            start, name, *rest = stack.pop()
            assert start <= now
            track = tracks[event.track_uuid]
            group = tracks[track.parent_uuid].name if track.HasField("parent_uuid") else ""
            slices[group, track.name].append((start, now, name, *rest))
    assert not any(opened.values()), "every slice ends"
    return tracks, slices


def of_group(slices, group):
    return {track: found for (one, track), found in slices.items() if one == group}


@given(timelines())
def test_groups_come_in_their_order(document):
    """Below the one track on top are the groups, ranked as they are given, and below each its tracks in order."""
    tracks, _ = read(document)
    (top,) = (track for track in tracks.values() if not track.HasField("parent_uuid"))
    groups = below(tracks, top)
    more = {"copy engine": document.copies, "barriers in shared memory": document.phases}
    names = [*GROUPS, *(name for name, some in more.items() if some)]
    assert [group.name for group in groups] == names
    assert [group.sibling_order_rank for group in groups] == list(range(len(names)))
    expected = [f"warp {w}{what}" for w in document.shown for what in ("", " in flight")]
    assert list(dict.fromkeys(track.name for track in below(tracks, groups[2]))) == expected


def below(tracks, parent):
    """Return the tracks below a parent, in the order in which it shows them."""
    assert parent.child_ordering == TrackDescriptor.EXPLICIT
    return sorted((t for t in tracks.values() if t.parent_uuid == parent.uuid), key=lambda t: t.sibling_order_rank)


@given(timelines())
def test_slices_of_one_track_nest(document):
    """On each track time goes forward, and no slice begins before the one begun earlier has ended."""
    last, depth = {}, Counter()
    for packet in packets_of(document)[1:]:
        event = packet.track_event
        if packet.HasField("track_event"):
            assert packet.timestamp >= last.get(event.track_uuid, 0)
            last[event.track_uuid] = packet.timestamp
            depth[event.track_uuid] += 1 if event.type == TrackEvent.TYPE_SLICE_BEGIN else -1
            assert depth[event.track_uuid] in {0, 1}


@given(timelines())
def test_no_more_tracks_than_run_at_once(document):
    """There are as many tracks of a name as slices of it share a cycle, and one at least."""
    tracks, slices = read(document)
    made = Counter((tracks[t.parent_uuid].name, t.name) for t in tracks.values() if t.HasField("parent_uuid"))
    for whose, found in slices.items():
        cycles = Counter(cycle for start, end, *_ in found for cycle in range(start, end))
        assert made.get(whose, 1) == max(cycles.values(), default=1)


@given(timelines())
def test_waits_and_issues_come_back(document):
    """Each warp's track has its waits with reason and blocker, and the cycles in which it issues."""
    _, slices = read(document)
    for warp in document.shown:
        mine = [i for i in document.instructions if i.warp == warp]
        waits = [(w.start, w.end, w.reason, {"blocker": w.blocker}) for i in mine for w in i.waits]
        issues = [(i.issue, i.issue + 1, "issues", {}) for i in mine]
        found = [one[:4] for one in slices["warps", f"warp {warp}"]]
        assert sorted(found, key=str) == sorted(waits + issues, key=str)


def in_order(one):
    """Return the key by which slices are sorted, independent of the order of their annotations."""
    *times_and_name, notes = one
    return (*times_and_name, sorted(notes.items()))


@given(timelines())
def test_instructions_in_flight_come_back(document):
    """From issue until nothing is left of it, with id, pc, lanes, block, conflicts and how late memory is."""
    _, slices = read(document)
    found = [one[:4] for warp in document.shown for one in slices["warps", f"warp {warp} in flight"]]
    expected = [
        (
            i.issue,
            max(i.issue + 1, i.end, i.done),
            document.program[i.pc].text,
            {"instruction": i.id}
            | {"pc": i.pc, "lanes": i.lanes, "block": i.block, "conflicts": i.conflicts, "late": i.late},
        )
        for i in document.instructions
    ]
    assert sorted(found, key=in_order) == sorted(expected, key=in_order)


@given(timelines())
def test_occupied_pipes_and_lost_slots_come_back(document):
    """Each unit class has the times for which its pipes are occupied, each scheduler what it issued and lost."""
    _, slices = read(document)
    occupied = [(program.unit, i.begin, i.end) for i in document.instructions for program in [document.program[i.pc]]]
    found = [(unit, *one[:2]) for unit, track in of_group(slices, "units").items() for one in track]
    assert sorted(found) == sorted(one for one in occupied if one[1] != NONE)
    took, program = document.interval, document.program
    turns = [(f"scheduler {i.scheduler}", i.issue, i.issue + took, program[i.pc].text) for i in document.instructions]
    turns += [(f"scheduler {lost.scheduler}", lost.start, lost.end, lost.reason) for lost in document.lost]
    found = [(k, *one[:3]) for k, track in of_group(slices, "schedulers").items() for one in track]
    assert sorted(found) == sorted(turns)


def test_blocks_come_with_their_stay():
    """A slot shows block 0 from 0 to 30, and block 1 from 30 to 40, where the document ends."""
    gone, there = Resident(0, 0, (0,), 0, 30), Resident(1, 0, (0,), 30, NONE)
    _, slices = read(replace(by_hand([], [], 40), blocks=(gone, there)))
    stays = [(0, 30, "block 0", {"warps": 1}), (30, 40, "block 1", {"warps": 1})]
    assert [one[:4] for one in slices["blocks", "block slot 0"]] == stays


@given(timelines())
def test_every_arrow_has_both_ends(document):
    """It leaves one slice and reaches a later one, and leads to whom the document says waited for the other."""
    _, slices = read(document)
    found = [one for track in slices.values() for one in track]
    leaving = Counter(flow for one in found for flow in one[4])
    reaching = Counter(flow for one in found for flow in one[5])
    assert leaving == reaching
    assert set(leaving.values()) <= {1}
    ends = {flow: one for one in found for flow in one[5]}
    blockers = {i.id: {w.blocker for w in i.waits} for i in document.instructions}
    for start, _, _, notes, flows, _ in found:
        for end in map(ends.get, flows):
            assert start < end[0]
            assert notes["instruction"] in blockers[end[3]["instruction"]]


@given(timelines())
def test_copies_and_phases_have_slices(document):
    """A copy spans the cycles until it has landed, with its bytes; a phase those of the document, by its number."""
    _, slices = read(document)
    copies = {(one[0], one[1], one[3]["bytes"]) for one in found_below(slices, "copy engine", "copies")}
    assert copies == {(copy.start, copy.landed, copy.bytes) for copy in document.copies if copy.start < copy.landed}
    found = [one for (group, _), some in slices.items() if group == "barriers in shared memory" for one in some]
    phases = Counter((one[0], one[1], one[2]) for one in found if one[2] != "awaited")
    ends = [document.end if phase.end == NONE else phase.end for phase in document.phases]
    those = zip(document.phases, ends, strict=True)
    assert phases == Counter((phase.start, end, f"phase {phase.number}") for phase, end in those)


def found_below(slices, group, name):
    return [one for (parent, track), some in slices.items() if (parent, track) == (group, name) for one in some]


@given(timelines())
def test_the_run_says_what_it_is(document):
    """One slice spans the cycles shown; its annotations have kernel, machine, parameters and settings."""
    _, slices = read(document)
    ((start, _, name, notes, _, _),) = slices["", f"{document.kernel} on {document.machine}"]
    assert (start, name) == (document.start, document.kernel)
    assert notes["machine"] == document.machine
    assert notes["parameter layout"] == "nt"
    assert notes["parameter alpha"] == 0.5
    assert notes["parameter prefetch"] is True
    assert {key: notes[f"set {key}"] for key in document.settings} == document.settings
