"""Effects with times: what an instruction does later than it issues, in one queue.

A unit posts an effect when its instruction issues. The effect lands at its time, NEVER until some unit learns it; those
that are due land in the order (time, order of posting). An effect writes one of

* registers and predicates, which only its warp sees: they land when the warp next looks (sm/registers/in_flight);
* words of memory, which all see: they land at their time. The effects are an agent of the SM, which acts after the
  block scheduler and before the warp schedulers: what issues in that cycle sees the new words.

With its words it may bring arrivals and bytes to a barrier in shared memory (`mbarrier.py`).

In program order nothing has a time. There an effect on memory lands at the instruction that waits for its group
(`groups.py`), or at its warp's exit: as late as the program allows.

Where only time is simulated, an effect is posted only if an address depends on it. The trace-driven feed refuses such
programs: so recorded streams and fast-forward meet no effect.

Two mechanisms keep times of their own. Write-back (sm/registers/write_back) is the queue of a bank's port: when a
result gets its turn depends on what issues meanwhile, so its place is worked out on demand; it then says when the
access is done (sm/registers/completion.py), and the effect lands by that. Questions (sm/registers/questions.py) are
least times, not times: they say how far an SM may run ahead of the chip's answers, and end when the answer is there.
"""

from __future__ import annotations

from gpusim.sm.account.stopping import stop
from gpusim.sm.effects import groups, mbarrier, waiting
from gpusim.sm.jit import lane_words
from gpusim.sm.jit.lane_functions import update_pair, update_word
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.records import Effect, Memory, Row, Sm, Warp
from gpusim.sm.state.fault import Fault
from gpusim.sm.unit.capacities import EFFECTS, GROUPS, LANES
from isa.nvidia.rows.copies.mbarrier import NATIVE
from isa.program import WORD_BYTES
from isa.row import CLOSES, DRAINS, JOINS, WAITS, Groups, Signal

CROWDED = int(Fault.CROWDED)
COPIES = int(Groups.COPIES)
FOLLOW = int(Signal.FOLLOW)
MATRIX = int(Groups.MATRIX)  # whose work is no effect on memory or registers alone (sm/lanes/values/product.py)
SPARE = 32  # places of a warp's effects that those on memory leave to results in flight


@rule
def has_room(sm: Sm, g: int, pc: int) -> bool:
    """Tell whether warp slot g may post an effect; if not, that is the fault of the instruction at `pc`."""
    if sm.warps[g].effects < EFFECTS:
        return True
    return stop(sm, CROWDED, g, pc)


@rarely
def make_room(sm: Sm, memory: Memory, g: int) -> None:
    """Let warp slot g's oldest effects on memory land early if it has as many as are kept: more never end a run.

    So who has more than EFFECTS - SPARE copies under way and reads a place before its wait may find it written.
    """
    while sm.warps[g].effects >= EFFECTS - SPARE:
        first, order = -1, NEVER
        for i in range(sm.warps[g].effects):
            effect = sm.effects[g, i]
            if to_memory(effect) and effect.order < order:
                first, order = i, effect.order
        if first < 0:
            return
        _land(sm, memory, g, first)
        _find_landing(sm, g)


@rule
def _find_landing(sm: Sm, g: int) -> None:
    """Set when warp slot g's next effect on memory lands."""
    place = first_due(sm, g, NEVER - 1, True)
    sm.landing[g] = sm.effects[g, place].lands if place >= 0 else NEVER


@rule
def post(sm: Sm, g: int, pc: int) -> Effect:
    """Return a new effect of warp slot g's instruction at `pc`, which issues now; its poster knows that there is room.

    Its values are what this place of the queue held before.
    """
    warp = sm.warps[g]
    effect = sm.effects[g, warp.effects]
    warp.effects += 1
    sm.posted += 1
    effect.pc, effect.order, effect.groups = pc, sm.posted, -1
    if sm.program[pc].grouping & JOINS:
        effect.groups = sm.program[pc].groups
        effect.group = warp.closed[effect.groups]
    effect.access = sm.load_store.entered + 1 if sm.program[pc].queued else 0  # the queue counts it next
    effect.lands, effect.read, effect.landed, effect.stale = NEVER, NEVER, 0, 0
    effect.words, effect.barrier, effect.leaving = 0, -1, 0
    for half in range(GROUPS):
        effect.mask[half] = sm.outcome.active[half]
    return effect


@rule
def to_memory(effect: Effect) -> bool:
    """Tell whether the effect is on memory."""
    return bool(effect.words > 0 or effect.barrier >= 0)


@on_demand
def last(sm: Sm, g: int, read: int, lands: int) -> None:
    """Set when the effect posted last has read its sources, and when it lands."""
    effect = sm.effects[g, sm.warps[g].effects - 1]
    effect.read, effect.lands = read, lands


@rule
def of_access(sm: Sm, g: int, number: int) -> int:
    """Return the place of the effect of warp slot g's access of that number; -1: it has none."""
    for i in range(sm.warps[g].effects):
        if sm.effects[g, i].access == number:
            return i
    return -1


@on_demand
def read(sm: Sm, g: int, number: int, when: int) -> None:
    """Set when the access of that number has read its sources."""
    for i in range(sm.warps[g].effects):
        if sm.effects[g, i].access == number:
            sm.effects[g, i].read = when


@on_demand
def done(sm: Sm, g: int, number: int, when: int) -> None:
    """The access of that number is done at `when`: then its effects land, one for each barrier that it signals."""
    for i in range(sm.warps[g].effects):
        effect = sm.effects[g, i]
        if effect.access == number:
            effect.lands = when
            if to_memory(effect):
                sm.landing[g] = min(sm.landing[g], when)
                sm.agenda[sm.effects_agent] = min(sm.agenda[sm.effects_agent], when)


@rule
def first_due(sm: Sm, g: int, now: int, memory: bool) -> int:
    """Return which of warp slot g's effects, on memory or on registers, lands next, -1 if none is due by now."""
    first, best, order = -1, now + 1, 0
    for i in range(sm.warps[g].effects):
        effect = sm.effects[g, i]
        sooner = effect.lands < best or (effect.lands == best and effect.order < order)
        if effect.landed == 0 and sooner and to_memory(effect) == memory and effect.groups != MATRIX:
            first, best, order = i, effect.lands, effect.order
    return first


@rule
def drop(sm: Sm, g: int, place: int) -> None:
    """Forget an effect: the last one takes its place."""
    sm.warps[g].effects -= 1
    to, of = sm.effects[g, place], sm.effects[g, sm.warps[g].effects]
    to.pc, to.order, to.lands, to.read = of.pc, of.order, of.lands, of.read
    to.groups, to.group = of.groups, of.group
    to.landed, to.stale, to.access, to.words = of.landed, of.stale, of.access, of.words
    to.barrier, to.arrivals, to.tx_bytes, to.leaving = of.barrier, of.arrivals, of.tx_bytes, of.leaving
    for half in range(GROUPS):
        to.mask[half], to.truth[half], to.second_truth[half] = of.mask[half], of.truth[half], of.second_truth[half]
        for i in range(4):
            lane_words.copy(to.values[half, i], of.values[half], i)
        if of.words:
            for lane in range(LANES):
                to.places[half, lane] = of.places[half, lane]


@on_demand
def land(sm: Sm, memory: Memory, now: int) -> None:
    """Let the effects on memory land that are due by now, and say when the next one is."""
    g = _first_warp(sm, now)
    while g >= 0:
        _land(sm, memory, g, first_due(sm, g, now, True))
        _find_landing(sm, g)
        g = _first_warp(sm, now)
    sm.agenda[sm.effects_agent] = NEVER
    for other in range(sm.warp_slots):
        sm.agenda[sm.effects_agent] = min(sm.agenda[sm.effects_agent], sm.landing[other])


@rule
def _first_warp(sm: Sm, now: int) -> int:
    """Return the warp slot of the next effect on memory to land, -1 if none is due by now."""
    first, best, order = -1, now + 1, 0
    for g in range(sm.warp_slots):
        if sm.landing[g] <= min(best, now):
            effect = sm.effects[g, first_due(sm, g, now, True)]
            if effect.lands < best or effect.order < order:
                first, best, order = g, effect.lands, effect.order
    return first


@rarely
def _land(sm: Sm, memory: Memory, g: int, place: int) -> None:
    """Let an effect on memory land."""
    effect = sm.effects[g, place]
    for half in range(sm.machine.groups):
        for lane in range(LANES):
            if (effect.mask[half] >> lane) & 1:
                if sm.program[effect.pc].update >= 0:
                    _update(sm, memory, effect, half, lane)
                else:
                    for word in range(effect.words):
                        memory[effect.places[half, lane] + word] = effect.values[half, word, lane]
    if effect.barrier >= 0:
        _signal(sm, memory, g, effect)
    drop(sm, g, place)


@rarely
def _update(sm: Sm, memory: Memory, effect: Effect, half: int, lane: int) -> None:
    """Let a lane's words update those at its place."""
    scratch, place = sm.scratch, effect.places[half, lane]
    scratch.lane = 0
    for word in range(effect.words):
        scratch.a[word, 0], scratch.c[word, 0] = effect.values[half, word, lane], memory[place + word]
    if effect.words == 1:
        update_word(sm.program[effect.pc].update, sm)
    else:
        update_pair(sm.program[effect.pc].update, sm)
    for word in range(effect.words):
        memory[place + word] = scratch.d[word, 0]


@rule
def _signal(sm: Sm, memory: Memory, g: int, effect: Effect) -> None:
    """Tell the barrier of an effect what comes; `sm.fault` tells if that is too much."""
    if sm.program[effect.pc].signal == FOLLOW and int(sm.program[effect.pc].number) & NATIVE == 0:
        mbarrier.count(memory, effect.barrier, effect.arrivals)
        return
    found = mbarrier.signal(memory, effect.barrier, effect.arrivals, effect.tx_bytes, effect.leaving)
    if found == mbarrier.ENDS:
        waiting.ended(sm, memory, g, effect.pc, effect.barrier)
    elif found > mbarrier.ENDS:
        first = sm.launch.shared_word + sm.warps[g].block * sm.launch.shared_words
        stop(sm, mbarrier.refusal(found), g, effect.pc, 0, (effect.barrier - first) * WORD_BYTES)


@on_demand
def at_once(sm: Sm, memory: Memory, g: int) -> None:
    """Without time, land the effect that warp slot g has posted last."""
    _land(sm, memory, g, sm.warps[g].effects - 1)


@on_demand
def all_at_once(sm: Sm, memory: Memory, g: int) -> None:
    """Without time, land all that warp slot g has posted."""
    while sm.warps[g].effects:
        _land(sm, memory, g, 0)


@on_demand
def in_program_order(sm: Sm, memory: Memory, g: int, pc: int) -> None:
    """Without time, the instruction of warp slot g at `pc` closes a group, or lands all of a warp that exits."""
    warp, instruction = sm.warps[g], sm.program[pc]
    if instruction.grouping & CLOSES and sm.outcome.threads > 0:
        warp.closed[instruction.groups] += 1
    if warp.live == 0:
        _land_groups(sm, memory, g, instruction)


@on_demand
def awaited_in_program_order(sm: Sm, memory: Memory, g: int, pc: int) -> None:
    """Without time, land what the instruction of warp slot g at `pc` waits for, whatever its guard."""
    _land_groups(sm, memory, g, sm.program[pc])


@rule
def covers(warp: Warp, instruction: Row, effect: Effect) -> bool:
    """Tell whether the instruction, a wait or an exit, waits for the effect."""
    if warp.live == 0:
        return True
    if effect.groups < 0:
        return False
    kind, behind = groups.counted_with(effect.groups), warp.closed[effect.groups] - effect.group
    if instruction.grouping & DRAINS and kind == COPIES and behind > 0:
        return True
    waits = instruction.grouping & WAITS and kind == groups.counted_with(instruction.groups)
    return bool(waits and behind > instruction.open_groups)


@rule
def _land_groups(sm: Sm, memory: Memory, g: int, instruction: Row) -> None:
    """Land warp slot g's effects on memory for which the instruction waits, in the order of posting."""
    first = 0
    while first >= 0:
        first, order = -1, NEVER
        for i in range(sm.warps[g].effects):
            effect = sm.effects[g, i]
            if to_memory(effect) and covers(sm.warps[g], instruction, effect) and effect.order < order:
                first, order = i, effect.order
        if first >= 0:
            _land(sm, memory, g, first)


@on_demand
def for_barrier(sm: Sm, memory: Memory, place: int) -> None:
    """Without time, land what signals the barrier at `place`, and before it what the same warps have posted before."""
    for g in range(sm.warp_slots):
        last = _last_for(sm, g, place)
        first = 0
        while first >= 0 and last >= 0:
            first = -1
            for i in range(sm.warps[g].effects):
                effect = sm.effects[g, i]
                if (
                    to_memory(effect)
                    and effect.order <= last
                    and (first < 0 or effect.order < sm.effects[g, first].order)
                ):
                    first = i
            if first >= 0:
                _land(sm, memory, g, first)


@rule
def _last_for(sm: Sm, g: int, place: int) -> int:
    """Return the order of the last effect of warp slot g that signals the barrier at `place`; -1: none does."""
    last = -1
    for i in range(sm.warps[g].effects):
        if sm.effects[g, i].barrier == place:
            last = max(last, int(sm.effects[g, i].order))
    return last
