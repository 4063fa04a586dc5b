"""A timeline as a Perfetto trace: native track events, one cycle shown as one nanosecond.

Slices of one track may nest and never overlap otherwise. Slices that may overlap (a warp's instructions in flight, a
unit class with several pipes) are spread over tracks of one name, which the viewer draws as one track of several
rows.

Facts of the format: protos/perfetto/trace/track_event/track_event.proto of github.com/google/perfetto.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple

import msgspec

from gpusim.views.timeline.dependence import over, producers
from gpusim.views.timeline.document import NONE, Line, Timeline
from gpusim.views.timeline.units import barrier_name
from isa.reading import extra

SEQUENCE = 1  # the only sequence of packets
Note = int | float | str | bool
FIELDS = {bool: "bool_value", int: "int_value", float: "double_value", str: "string_value"}  # of an annotation
NOTES = "pc", "lanes", "block", "conflicts", "late"  # of an instruction in flight


class _Slice(NamedTuple):
    """A slice of a track from `start` to `end`; `id` names the instruction at which arrows begin and end."""

    start: int
    end: int
    name: str
    notes: Mapping[str, Note] = {}
    id: int = NONE


Slices = dict[str, list[_Slice]]  # by the name of their track


class _Track(NamedTuple):
    """A track's number, its parent's or NONE, its name, its place below the parent, and its slices.

    The slices are in order of time, and none overlaps another.
    """

    uuid: int
    parent: int
    name: str
    rank: int
    slices: Sequence[_Slice]


class _Numbers(NamedTuple):
    """Numbers for the names of slices and notes, and for arrows, by the instruction at which they begin or end."""

    names: Mapping[str, int]
    notes: Mapping[str, int]
    leaving: Mapping[int, Sequence[int]]
    reaching: Mapping[int, Sequence[int]]


def perfetto(timeline: Timeline) -> Iterator[bytes]:
    """Yield the file in pieces; raises UserError without the extra `perfetto`.

    Below the track of the run: blocks by slot, issue slots by scheduler, waits and instructions in flight by warp,
    occupied pipes by unit class, copies and barriers in shared memory, if there are any. Flows lead from an instruction
    to those that waited for its result, read or arrival.
    """
    protos = extra.module("perfetto.protos.perfetto.trace.perfetto_trace_pb2", "perfetto")
    tracks = list(_tracks(timeline))
    numbers = _numbers(timeline, [one for track in tracks for one in track.slices])
    yield _interned(protos, numbers)
    yield from (_encoded(protos, track, numbers) for track in tracks)


def _tracks(timeline: Timeline) -> Iterator[_Track]:
    """The run's track, below it one for each group, and below these those with the slices."""
    uuids = count(1)
    root = next(uuids)
    yield _Track(root, NONE, f"{timeline.kernel} on {timeline.machine}", 0, [_run(timeline)])
    for rank, (group, slices) in enumerate(_groups(timeline).items()):
        parent = next(uuids)
        yield _Track(parent, root, group, rank, ())
        for place, (name, mixed) in enumerate(slices.items()):
            yield from (_Track(next(uuids), parent, name, place, lane) for lane in _lanes(mixed))


def _groups(timeline: Timeline) -> dict[str, Slices]:
    """The slices, by group and track."""
    program = {line.pc: line for line in timeline.program}
    return {
        "blocks": _blocks(timeline),
        "schedulers": _schedulers(timeline, program),
        "warps": _warps(timeline, program),
        "units": _units(timeline, program),
        **({"copy engine": _copies(timeline, program)} if timeline.copies else {}),
        **({"barriers in shared memory": _phases(timeline)} if timeline.phases else {}),
    }


def _run(timeline: Timeline) -> _Slice:
    """The cycles shown, with what ran and where."""
    notes = msgspec.structs.asdict(timeline)
    arguments = {key: value for key, value in notes.items() if isinstance(value, Note)}
    arguments |= {f"parameter {key}": value for key, value in timeline.parameters.items()}
    arguments |= {f"set {key}": value for key, value in timeline.settings.items()}
    return _Slice(timeline.start, max(timeline.end, timeline.start + 1), timeline.kernel, arguments)


def _blocks(timeline: Timeline) -> Slices:
    slices: Slices = {}
    for block in timeline.blocks:
        gone = timeline.end if block.retired == NONE else block.retired
        stay = _Slice(block.placed, gone, f"block {block.id}", {"warps": len(block.warps)})
        slices.setdefault(f"block slot {block.slot}", []).append(stay)
    return slices


def _schedulers(timeline: Timeline, program: Mapping[int, Line]) -> Slices:
    """The instructions that use each scheduler's issue slots, and the reasons for lost slots."""
    slices: Slices = {f"scheduler {k}": [] for k in range(timeline.schedulers)}
    for i in timeline.instructions:
        turn = _Slice(i.issue, i.issue + timeline.interval, program[i.pc].text, {"warp": i.warp})
        slices[f"scheduler {i.scheduler}"].append(turn)
    for lost in timeline.lost:
        notes = {"ended by instruction": lost.ended_by}
        slices[f"scheduler {lost.scheduler}"].append(_Slice(lost.start, lost.end, lost.reason, notes))
    return slices


def _warps(timeline: Timeline, program: Mapping[int, Line]) -> Slices:
    """The waits of each warp, and its instructions in flight."""
    slices: Slices = {f"warp {warp}{what}": [] for warp in timeline.shown for what in ("", " in flight")}
    for i in timeline.instructions:
        waits = (_Slice(w.start, w.end, w.reason, {"blocker": w.blocker}) for w in i.waits)
        slices[f"warp {i.warp}"] += [*waits, _Slice(i.issue, i.issue + 1, "issues")]
        notes = {name: getattr(i, name) for name in NOTES} | {"instruction": i.id}
        slices[f"warp {i.warp} in flight"].append(_Slice(i.issue, over(i), program[i.pc].text, notes, i.id))
    return slices


def _units(timeline: Timeline, program: Mapping[int, Line]) -> Slices:
    slices: Slices = {}
    for i in (i for i in timeline.instructions if NONE < i.begin < i.end):
        occupied = _Slice(i.begin, i.end, program[i.pc].text, {"warp": i.warp})
        slices.setdefault(program[i.pc].unit, []).append(occupied)
    return dict(sorted(slices.items()))


def _copies(timeline: Timeline, program: Mapping[int, Line]) -> Slices:
    """What the engine asks for, and copies from then until they have landed."""
    slices: Slices = {"asks": [], "copies": []}
    for copy in timeline.copies:
        notes = {name: getattr(copy, name) for name in ("bytes", "warp", "block", "barrier", "instruction")}
        text = program[copy.pc].text if copy.pc in program else "copy"
        slices["asks"].append(_Slice(copy.start, copy.end, text, notes))
        slices["copies"].append(_Slice(copy.start, copy.landed, text, notes))
    return slices


def _phases(timeline: Timeline) -> Slices:
    """The phases of each barrier, and while warps wait for their ends."""
    slices: Slices = {}
    for phase, name in zip(timeline.phases, map(barrier_name(timeline), timeline.phases), strict=True):
        end = timeline.end if phase.end == NONE else phase.end
        notes = {key: getattr(phase, key) for key in ("block", "arrivals", "bytes", "ended_by")}
        slices.setdefault(name, []).append(_Slice(phase.start, end, f"phase {phase.number}", notes))
        if phase.waiting:
            warps = " ".join(str(one.warp) for one in phase.waiting)
            awaited = _Slice(min(one.since for one in phase.waiting), end, "awaited", {"warps": warps})
            slices.setdefault(f"{name} awaited", []).append(awaited)
    return slices


def _numbers(timeline: Timeline, slices: Sequence[_Slice]) -> _Numbers:
    """Numbers from 1 for every name, and for each pair of producer and consumer."""
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


def _lanes(slices: Sequence[_Slice]) -> list[list[_Slice]]:
    """The slices on as few tracks as they need without overlap; one empty track if there are none."""
    lanes: list[list[_Slice]] = [[]]
    free = [(0, 0)]  # from which cycle on a track is free, and its index
    for one in sorted(slices, key=lambda one: (one.start, one.end)):
        lane = heappop(free)[1] if free[0][0] <= one.start else len(lanes)
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append(one)
        heappush(free, (one.end, lane))
    return lanes


def _interned(protos: Any, numbers: _Numbers) -> bytes:
    """The packet with the names to which the others refer by number."""
    packet = protos.TracePacket(trusted_packet_sequence_id=SEQUENCE)
    packet.sequence_flags = protos.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
    for name, iid in numbers.names.items():
        packet.interned_data.event_names.add(iid=iid, name=name)
    for name, iid in numbers.notes.items():
        packet.interned_data.debug_annotation_names.add(iid=iid, name=name)
    return bytes(protos.Trace(packet=[packet]).SerializeToString())


def _encoded(protos: Any, track: _Track, numbers: _Numbers) -> bytes:
    """The packets of a track: its description, then the begin and end of each slice."""
    trace = protos.Trace()
    descriptor = trace.packet.add(trusted_packet_sequence_id=SEQUENCE).track_descriptor
    descriptor.uuid, descriptor.name, descriptor.sibling_order_rank = track.uuid, track.name, track.rank
    descriptor.child_ordering = descriptor.EXPLICIT
    if track.parent != NONE:
        descriptor.parent_uuid = track.parent
    for one in track.slices:
        event = _event(trace, one.start, track.uuid, protos.TrackEvent.TYPE_SLICE_BEGIN)
        event.name_iid = numbers.names[one.name]
        event.flow_ids.extend(numbers.leaving.get(one.id, ()))
        event.terminating_flow_ids.extend(numbers.reaching.get(one.id, ()))
        for key, value in one.notes.items():
            event.debug_annotations.add(name_iid=numbers.notes[key], **{FIELDS[type(value)]: value})
        _event(trace, one.end, track.uuid, protos.TrackEvent.TYPE_SLICE_END)
    return bytes(trace.SerializeToString())


def _event(trace: Any, cycle: int, uuid: int, kind: int) -> Any:
    """A new event of a track, at the end of the trace."""
    packet = trace.packet.add()
    packet.timestamp, packet.trusted_packet_sequence_id = cycle, SEQUENCE
    packet.sequence_flags = packet.SEQ_NEEDS_INCREMENTAL_STATE
    event = packet.track_event
    event.track_uuid, event.type = uuid, kind
    return event
