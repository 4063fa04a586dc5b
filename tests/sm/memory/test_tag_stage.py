"""Tag stage of the L1: a load that hits takes it for a cycle; late lines and stores keep the next access waiting."""

import pytest
from tagged_caches import TAGS
from timing import cycles_of, run_text

# A load takes the stage 20 cycles more for each late pair of lines; a store 5 cycles, 10 for each word besides, and 8
# for each sector if that is longer. Four lines are looked up in a cycle. A warp issues every sixth cycle.
STAGE = {
    "tag_stage.late_parts": 1280,
    "tag_stage.late_lines": 2,
    "tag_stage.late_most": 6,
    "tag_stage.store_parts": 320,
    "tag_stage.store_word_parts": 640,
    "tag_stage.store_sector_parts": 512,
    "l1.lines_per_cycle": 4,
    "shared_memory.banks": 32,
    "global_memory.rule": "sectors",
    "l1.global_stores": "update",
    "l1.bytes": 8192,
    "l1.ways": 4,
    "l1.misses": 64,
}
HEAD = ".shared 128\n.buffer x u32 4096\nS2R R0, LANEID\nIMUL R1, R0, {stride}\nIADD R1, R1, c[x]\nIADD R0, RZ, c[x]\n"


def served(accesses, stride=4, changes=None):
    """Return the cycles at which accesses are served, from the first one on.

    Before them a load brings line 0, and its result is waited for; R1 is lane * stride.
    """
    text = HEAD.format(stride=stride) + "LDG R9, [R0]\nIADD R9, R9, 1\n" + "\n".join(accesses) + "\nEXIT"
    cycles = [cycle for cycle, _, _ in cycles_of(run_text(text, TAGS | STAGE | (changes or {})), "serve")][1:]
    return [cycle - cycles[0] for cycle in cycles]


EACH_CYCLE = {"schedulers.interval": 1, "schedulers.stagger": 0, "schedulers.issue_interval": 1}


def test_loads_that_hit_do_not_wait():
    """Four loads of a line that is there, of a warp that issues every cycle, are served in four cycles."""
    assert served([f"LDG R{i}, [R0]" for i in range(2, 6)], changes=EACH_CYCLE) == [0, 1, 2, 3]


def test_a_wide_load_takes_the_stage_for_its_words():
    """Loads of 128, 64, 32 and 32 bits that hit: all lanes keep the unit for 4, 2 and 1 cycles, and wait for nothing.

    One lane keeps it for a cycle, and the stage for 4, 2 and 1: the second load enters in cycle 4, the third in 6.
    """
    loads = ["LDG.128 R4, [R0]", "LDG.64 R2, [R0]", "LDG R8, [R0]", "LDG R10, [R0]"]
    assert served(loads, changes=EACH_CYCLE) == [0, 4, 6, 7]
    one_lane = ["S2R R12, LANEID", "ISETP.LT P0, R12, 1", *(f"@P0 {load}" for load in loads)]
    assert served(one_lane, changes=EACH_CYCLE) == [0, 1, 5, 7]


@pytest.mark.parametrize(
    ("stride", "byte", "taken"),
    [(4, 512, 21), (4, 576, 21), (8, 512, 21), (16, 512, 41), (132, 512, 8 + 20 * 6)],
)
def test_a_late_load_takes_the_stage_for_each_pair_of_lines(stride, byte, taken):
    """Words from a byte on: of one line, of two that are a pair, twice, of four lines, and 132 bytes apart of 32 lines.

    The load takes a cycle for four lines and 20 for each pair, six at most: 1 + 20, 1 + 40, 8 + 120. The second waits
    in the unit until the stage is free, and the third until the second has gone on, a cycle later.
    """
    begin, _, third = served([f"LDG R2, [R1+{byte}]", "LDG R3, [R0]", "LDG R4, [R0]"], stride)
    assert third - begin == taken + 1


def test_each_load_that_waits_for_a_line_looks_it_up_again():
    """Two loads of one line that is not there: 21 cycles each."""
    assert served(["LDG R2, [R1+512]", "LDG R3, [R1+512]", "LDG R4, [R0]", "LDG R5, [R0]"]) == [0, 6, 22, 43]


@pytest.mark.parametrize(
    ("store", "taken"), [("STG [R0+4096], R9", 15), ("STG.64 [R0+4096], R10", 25), ("STG [R1+4096], R9", 32)]
)
def test_a_store_takes_the_stage_for_its_words_or_its_sectors(store, taken):
    """One sector: 5 + 10 for a word, 5 + 20 for two; four sectors of words: 4 times 8."""
    assert served([store, "LDG R3, [R0]", "LDG R4, [R0]"])[2] == taken + 1


def test_shared_memory_is_not_behind_the_stage():
    """Behind a store of 25 cycles a load from shared memory is served as it issues, and one from global memory waits.

    So the next one is served in cycle 26.
    """
    assert served(["STG.64 [R0+4096], R10", "LDS R3, [RZ]", "LDG R4, [R0]", "LDG R5, [R0]"]) == [0, 6, 12, 26]


def test_without_the_section_nothing_waits():
    """On a machine without `[tag_stage]` a load behind a store and a late load is served as it issues."""
    without = {path: value for path, value in STAGE.items() if not path.startswith("tag_stage")}
    text = HEAD.format(stride=4) + "STG [R0+4096], R9\nLDG R2, [R1+512]\nLDG R3, [R1+512]\nEXIT"
    cycles = [cycle for cycle, _, _ in cycles_of(run_text(text, TAGS | without), "serve")]
    assert [cycle - cycles[0] for cycle in cycles] == [0, 6, 12]


def issued(*lines, asks):
    """Return when instructions from the seventh on issue, beside loads of 32 lines 128 bytes apart from the DRAM."""
    changes = {"tag_stage.late_parts": 0, "tag_stage.late_asks": asks}
    head = HEAD.format(stride=128) + "LDG R2, [R1+8192]\nLDG R3, [R1+8192]\n"
    run = run_text(head + "\n".join(lines) + "\nEXIT", TAGS | STAGE | EACH_CYCLE | changes)
    return [cycle for cycle, _, pc in cycles_of(run, "issue") if pc >= 6]


def test_a_late_load_asks_and_goes_on():
    """A load of 32 passes keeps the unit for them if it is served at once; else for the cycles that it asks."""
    loads, changes = ["LDG R2, [R1+8192]", "LDS R3, [RZ]"], EACH_CYCLE | {"tag_stage.late_parts": 0}
    assert served(loads, 128, changes) == [0, 32]
    assert served(loads, 128, changes | {"tag_stage.late_asks": 2}) == [0, 2]
    assert served(loads, 128, changes | {"tag_stage.late_asks": 2, "tag_stage.late_words": 1}) == [0, 2]
    assert served(loads, 128, changes | {"tag_stage.late_asks": 2, "tag_stage.late_words": 2}) == [0, 32]


def test_late_loads_are_served_one_after_the_other_when_their_lines_come():
    """Two loads of the same lines have their results together, as they asked; or the second 32 passes behind."""
    uses = "IADD R4, R2, 1", "IADD R5, R3, 1"
    first, second, _ = issued(*uses, asks=0)
    assert second - first == 2  # the warp's next issue
    first, second, _ = issued(*uses, asks=2)
    assert second - first == 32


def test_late_loads_take_turns_with_the_queues():
    """A load from shared memory, which issues as the first result is there, is served between the two late ones.

    It has two half-warps, hence two passes, and the second result is so much later.
    """
    first, _, second, _ = issued("IADD R4, R2, 1", "LDS R6, [RZ]", "IADD R5, R3, 1", asks=2)
    assert second - first == 32 + 2
