"""Lookahead: questions of an SM to the chip that may be answered later, and how threads take turns."""

from __future__ import annotations

from gpusim.sm.unit.capacities import CHANNELS
from gpusim.sm.unit.declare import Declaration, Role, field
from gpusim.sm.unit.dimensions import QUESTION

NOBODY, SEVERAL = 0, 1  # owner of a word of global memory: has used it; have loaded it
LOADED, STORED = 2, 3  # SM 0 has; two more for each further SM

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
            field("gone", "the answer: when the last transaction has left the channel"),
        ),
        "warp": (field("answer", "its accesses that wait for an answer are not all done before", role=Role.FREE),),
    },
)
