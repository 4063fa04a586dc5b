"""A launch that is stopped when its state has come back, for tests of fast-forward's comparison."""

from __future__ import annotations

import pytest
from timing import plain_machine

from gpusim.engines import compiled
from gpusim.launch.launch import launch
from gpusim.sm.jit.rule import NEVER
from gpusim.sm.replay.fast_forward import fast_forward, same_state
from gpusim.sm.state import recurrence
from isa.text.listing import read

# Two warps of a steady loop that keeps loads, a pipe and the queue busy, while a third waits at a barrier.
STEADY = """
.block 96
.shared 4096
.buffer x u32 1024
    S2R R0, LANEID
    SHL R1, R0, 3
    S2R R2, WARPID
    SHL R3, R0, 2
    IADD R3, R3, c[x]
    ISETP.EQ P0, R2, 2
    @P0 BRA meet
    MOV R4, 0
again:
    LDS.64 R6, [R1]
    DADD R8, R8, R6
    DADD R10, R10, R6
    LDG R5, [R3]
    STS [R1], R4
    FADD R12, R12, R5
    IADD R4, R4, 1
    ISETP.LT P1, R4, 60
    @P1 BRA again
meet:
    BAR.SYNC 0
    EXIT
"""
CHANGES = {"schedulers.count": 2, "load_store.queue": 2, "limits.blocks": 1, "double.exclusive": "issue"}


class Recurring:
    """A launch that is stopped when its state has come back."""

    def __init__(self, monkeypatch):
        self.started = launch(read(STEADY), plain_machine(CHANGES), feed="trace-driven", fast_forward=True)
        self.sm, used = self.started.sm, self.started.sizes
        self.places = {word.path: word.places for word in recurrence.words("sm", used)}
        self.roles = recurrence.recurrence(self.started.sms, self.started.sizes)
        monkeypatch.setattr(fast_forward, "_move", self.stop)
        with pytest.raises(StopIteration):
            compiled.run(self.started.sms, self.started.memory, self.roles, NEVER, NEVER)
        self.now = int(self.roles.notes[self.here, same_state.WHEN])

    def stop(self, _sm, _roles, before, here, *_):
        """Instead of taking periods, note the states before and after one, and stop."""
        self.before, self.here = before, here
        raise StopIteration

    def column(self, name, i=0):
        """The column of the i-th word of a name."""
        return self.roles.columns[name] + i

    def agrees(self):
        """Whether the comparison finds the state equal to the earlier one."""
        self.roles.kept[self.here] = self.roles.words[self.roles.places]
        return same_state.agree(self.sm, self.roles, self.before, self.here)

    def unnoticed(self, path, change):
        """Indices of those words of a path that may be changed, one at a time, without being noticed."""
        missed, words = [], self.roles.words
        for place in self.places[path]:
            before = words[place]
            words[place] = change(before)
            if words[place] != before and self.agrees():
                missed.append(int(place))
            words[place] = before
        return missed
