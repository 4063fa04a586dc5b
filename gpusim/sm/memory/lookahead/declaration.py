"""Lookahead: questions of an SM to the chip that may be answered later, and how threads take turns."""

from __future__ import annotations

from gpusim.sm.unit.capacities import CHANNELS
from gpusim.sm.unit.declare import Declaration, Role, field
from gpusim.sm.unit.dimensions import LATE_LINE, QUESTION

NOBODY, SEVERAL = 0, 1  # owner of a word of global memory: has used it; have loaded it
LOADED, STORED = 2, 3  # SM 0 has; two more for each further SM
UNITS = 4  # sectors of a line that is asked for later, at most

UNIT = Declaration(
    "lookahead",
    fields={
        "sm": (field("ahead", "how the SM runs ahead of the others", kind="ahead", role=Role.FREE),),
        "ahead": (
            field("on", "1: it does, and the chip answers its questions later"),
            field("until", "the first cycle in which an answer that is still to come may be felt"),
            field("alert", "1: it may feel that a store has left in the cycle in which a warp comes to its exit"),
            field("asked", "questions so far"),
            field("answered", "those that the chip has answered"),
            field("settled", "those whose answers the SM has taken"),
            field("granted", "1: the block scheduler has its blocks, and may act"),
            field("owners", "where the owners of words lie in the memory array; 0: nobody keeps them"),
            field("questions", "the last ones, by number modulo their room", QUESTION, kind="question"),
            field("postpones", "1: lines that the L1 lacks are asked for later, 0: now"),
            field("stopped", "1: its next act takes its turn among those of all SMs"),
            field("posted", "lines that it asks for later, so far"),
            field("come", "those that have come"),
            field("first", "the first of the access that is served"),
            field("known", "when of that access is there what is known"),
            field("least", "the first cycle in which all of it may be there"),
            field("lines", "the last lines, by number modulo their room", LATE_LINE, kind="late_line"),
        ),
        "question": (
            field("now", "when the access was served"),
            field("warp", "its warp slot"),
            field("pc", "its instruction"),
            field("number", "the access's, as in entry, if it brings results"),
            field("cycles", "the access's, as in entry"),
            field("extra", "the access's, as in entry"),
            field("near", "the access's, as in entry"),
            field("transactions", "the access's, as in entry"),
            field("moves", "the access's, as in entry", CHANNELS),
            field("results", "of those that it brings, how many take writes of register banks"),
            field("felt", "the first cycle in which the SM may feel the answer; NEVER: in none so far"),
            field("gone", "the answer: when the last transaction has left the channel, or the last line has come"),
            field("first", "the first of the lines that it asks for"),
            field("lines", "how many these are"),
            field("known", "when all is there that is known"),
            field("later", "its block's, as in load_store"),
            field("waits", "1: the load/store unit serves it again when its lines have come"),
        ),
        "late_line": (
            field("line", "its number"),
            field("units", "the sectors that it asks the L2 for, a mask"),
            field("way", "the L1's way that waits for it"),
            field("start", "when it is asked for"),
            field("latency", "of a hit in the L2"),
            field("known", "when those of its sectors are there that are known"),
            field("after", "the tickets of sectors that it waits for", UNITS),
            field("joined", "cycles from these to it"),
            field("least", "the first cycle in which it may come"),
            field("done", "the answer: when it comes"),
        ),
        "warp": (field("answer", "its accesses that wait for an answer are not all done before", role=Role.FREE),),
    },
)
