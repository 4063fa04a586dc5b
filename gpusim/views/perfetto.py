"""A timeline as a Perfetto trace: native track events, one cycle shown as one nanosecond.

Slices of one track may nest and never overlap otherwise. What may run at the same time (a warp's instructions in
flight, a unit class with several pipes) is spread over tracks of one name, which the viewer draws as one of several
rows.

Facts of the format: protos/perfetto/trace/track_event/track_event.proto of github.com/google/perfetto.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple

import msgspec

from gpusim import extra
from gpusim.timeline import NONE, Line, Timeline
from gpusim.views.dependence import over, producers

SEQUENCE = 1  # the one sequence of packets
Note = int | float | str | bool
FIELDS = {bool: "bool_value", int: "int_value", float: "double_value", str: "string_value"}  # of an annotation


class _Slice(NamedTuple):
    """What a track shows from `start` to `end`; `id` names the instruction at which arrows begin and end."""

    start: int
    end: int
    name: str
    notes: Mapping[str, Note] = {}
    id: int = NONE


Tracks = dict[str, list[_Slice]]


class _Place(NamedTuple):
    """A track's number, its parent's or NONE, what it is called, and where it stands below the parent."""

    uuid: int
    parent: int
    name: str
    rank: int


class _Numbers(NamedTuple):
    """What stands for names of slices and of notes, and for arrows by the instruction that they leave or reach."""

    names: Mapping[str, int]
    notes: Mapping[str, int]
    leaving: Mapping[int, Sequence[int]]
    reaching: Mapping[int, Sequence[int]]


def perfetto(timeline: Timeline) -> Iterator[bytes]:
    """Yield the file in pieces, which the extra `perfetto` is needed for: UserError without.

    Tracks: the run, blocks by slot, issue slots by scheduler, waits and instructions in flight by warp, occupied pipes
    by unit class. Flows lead from an instruction to those that waited for its result, read or arrival.
    """
    protos = extra.module("perfetto.protos.perfetto.trace.perfetto_trace_pb2", "perfetto")
    groups = _groups(timeline)
    numbers = _numbers(timeline, groups)
    yield _interned(protos, numbers)
    uuids = count(1)
    for rank, (group, tracks) in enumerate(groups.items()):
        parent = next(uuids)
        yield _track(protos, _Place(parent, NONE, group, rank), (), numbers)
        for place, (name, track) in enumerate(tracks.items()):
            for lane in _lanes(track):
                yield _track(protos, _Place(next(uuids), parent, name, place), lane, numbers)


def _groups(timeline: Timeline) -> dict[str, Tracks]:
    """The tracks by the name of their group."""
    program = {line.pc: line for line in timeline.program}
    return {
        "run": {"run": [_run(timeline)]},
        "blocks": _blocks(timeline),
        "schedulers": _schedulers(timeline, program),
        "warps": _warps(timeline, program),
        "units": _units(timeline, program),
    }


def _run(timeline: Timeline) -> _Slice:
    """The cycles shown, with what ran and where."""
    notes = msgspec.structs.asdict(timeline)
    told = {key: value for key, value in notes.items() if isinstance(value, Note)}
    told |= {f"parameter {key}": value for key, value in timeline.parameters.items()}
    told |= {f"set {key}": value for key, value in timeline.settings.items()}
    return _Slice(timeline.start, max(timeline.end, timeline.start + 1), timeline.kernel, told)


def _blocks(timeline: Timeline) -> Tracks:
    tracks: Tracks = {}
    for block in timeline.blocks:
        gone = timeline.end if block.retired == NONE else block.retired
        stay = _Slice(block.placed, gone, f"block {block.id}", {"warps": len(block.warps)})
        tracks.setdefault(f"block slot {block.slot}", []).append(stay)
    return tracks


def _schedulers(timeline: Timeline, program: Mapping[int, Line]) -> Tracks:
    """Who has each scheduler's issue slots, and why nobody has."""
    tracks: Tracks = {f"scheduler {k}": [] for k in range(timeline.schedulers)}
    for i in timeline.instructions:
        turn = _Slice(i.issue, i.issue + 1, program[i.pc].text, {"warp": i.warp})
        tracks[f"scheduler {i.scheduler}"].append(turn)
    for lost in timeline.lost:
        notes = {"ended by instruction": lost.ended_by}
        tracks[f"scheduler {lost.scheduler}"].append(_Slice(lost.start, lost.end, lost.reason, notes))
    return tracks


def _warps(timeline: Timeline, program: Mapping[int, Line]) -> Tracks:
    """What each warp waits for, and what it has in flight."""
    tracks: Tracks = {f"warp {warp}{what}": [] for warp in timeline.shown for what in ("", " in flight")}
    for i in timeline.instructions:
        waits = (_Slice(w.start, w.end, w.reason, {"blocker": w.blocker}) for w in i.waits)
        tracks[f"warp {i.warp}"] += [*waits, _Slice(i.issue, i.issue + 1, "issues")]
        notes = {"instruction": i.id, "pc": i.pc, "lanes": i.lanes, "block": i.block}
        tracks[f"warp {i.warp} in flight"].append(_Slice(i.issue, over(i), program[i.pc].text, notes, i.id))
    return tracks


def _units(timeline: Timeline, program: Mapping[int, Line]) -> Tracks:
    tracks: Tracks = {}
    for i in (i for i in timeline.instructions if NONE < i.begin < i.end):
        occupied = _Slice(i.begin, i.end, program[i.pc].text, {"warp": i.warp})
        tracks.setdefault(program[i.pc].unit, []).append(occupied)
    return dict(sorted(tracks.items()))


def _numbers(timeline: Timeline, groups: Mapping[str, Tracks]) -> _Numbers:
    """Numbers from 1 for every name, and for each pair of producer and consumer."""
    slices = [one for tracks in groups.values() for track in tracks.values() for one in track]
    names = {name: n for n, name in enumerate(sorted({one.name for one in slices}), 1)}
    notes = {key: n for n, key in enumerate(sorted({key for one in slices for key in one.notes}), 1)}
    by_id = {i.id: i for i in timeline.instructions}
    leaving: dict[int, list[int]] = {}
    reaching: dict[int, list[int]] = {}
    pairs = ((producer, i) for i in timeline.instructions for producer in producers(i, by_id))
    for number, (producer, consumer) in enumerate(pairs, 1):
        leaving.setdefault(producer.id, []).append(number)
        reaching.setdefault(consumer.id, []).append(number)
    return _Numbers(names, notes, leaving, reaching)


def _lanes(slices: Sequence[_Slice]) -> Iterable[list[_Slice]]:
    """The slices on as few tracks as it takes for none to overlap another; one, empty, if there are none."""
    lanes: list[list[_Slice]] = [[]]
    free = [(0, 0)]  # from when on, and which
    for one in sorted(slices, key=lambda one: (one.start, one.end)):
        lane = heappop(free)[1] if free[0][0] <= one.start else len(lanes)
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append(one)
        heappush(free, (one.end, lane))
    return lanes


def _interned(protos: Any, numbers: _Numbers) -> bytes:
    """The packet with the names that the others have by number."""
    packet = protos.TracePacket(trusted_packet_sequence_id=SEQUENCE)
    packet.sequence_flags = protos.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
    for name, iid in numbers.names.items():
        packet.interned_data.event_names.add(iid=iid, name=name)
    for name, iid in numbers.notes.items():
        packet.interned_data.debug_annotation_names.add(iid=iid, name=name)
    return bytes(protos.Trace(packet=[packet]).SerializeToString())


def _track(protos: Any, place: _Place, slices: Iterable[_Slice], numbers: _Numbers) -> bytes:
    """A track and its slices, which do not overlap, in order of time."""
    trace = protos.Trace()
    descriptor = trace.packet.add(trusted_packet_sequence_id=SEQUENCE).track_descriptor
    descriptor.uuid, descriptor.name, descriptor.sibling_order_rank = place.uuid, place.name, place.rank
    descriptor.child_ordering = protos.TrackDescriptor.EXPLICIT
    if place.parent != NONE:
        descriptor.parent_uuid = place.parent
    kinds = protos.TrackEvent
    for one in slices:
        event = _event(trace, one.start, place.uuid, kinds.TYPE_SLICE_BEGIN)
        event.name_iid = numbers.names[one.name]
        event.flow_ids.extend(numbers.leaving.get(one.id, ()))
        event.terminating_flow_ids.extend(numbers.reaching.get(one.id, ()))
        for key, value in one.notes.items():
            event.debug_annotations.add(name_iid=numbers.notes[key], **{FIELDS[type(value)]: value})
        _event(trace, one.end, place.uuid, kinds.TYPE_SLICE_END)
    return bytes(trace.SerializeToString())


def _event(trace: Any, cycle: int, uuid: int, kind: int) -> Any:
    """A new event of a track, at the end of the trace."""
    packet = trace.packet.add()
    packet.timestamp, packet.trusted_packet_sequence_id = cycle, SEQUENCE
    packet.sequence_flags = packet.SEQ_NEEDS_INCREMENTAL_STATE
    event = packet.track_event
    event.track_uuid, event.type = uuid, kind
    return event
