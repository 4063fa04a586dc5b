"""The state that SMs share is lent to the SM that acts, and taken back with its changes."""

from gpusim.sm.chip.chip.chip import lend, take_back
from gpusim.sm.state.room import made, sizes


def shared():
    """Two SMs with outdated values, and the state that they share.

    Block 7 of 9 is next, the channel is free at 500, and the L2 at 300 for loads, at 400 for stores, and at 350
    for answers that several get.
    """
    sms, chips = made("sm", 2, sizes({})), made("chip", 1, sizes({}))
    sms["launch"]["next"], sms["launch"]["end"], sms["launch"]["stride"] = 1, 4, 2
    sms["launch"]["sms"], sms["launch"]["apart"] = 2, 1
    chips["next"], chips["end"], chips["channel"], chips["shared"] = 7, 9, 500, (300, 400, 350)
    return sms, chips


def test_an_sm_gets_the_shared_state():
    """After cycle 0 an SM gets the next block, the grid's end, the channel and the L2; the other SM is left alone."""
    sms, chips = shared()
    lend(sms, 1, chips, 12)
    assert [
        tuple(int(n) for n in (sm["launch"]["next"], sm["launch"]["end"], sm["launch"]["stride"])) for sm in sms
    ] == [
        (1, 4, 2),
        (7, 9, 1),
    ]
    assert sms["load_store"]["channel"].tolist() == [0, 500]
    assert sms["load_store"]["shared"].tolist() == [[0, 0, 0], [300, 400, 350]]


def test_the_first_wave_has_been_dealt_out():
    """In cycle 0 each SM places blocks of its own, and does not change which block is next for all."""
    sms, chips = shared()
    lend(sms, 1, chips, 0)
    assert sms["launch"]["next"].tolist() == [1, 1]
    sms["launch"]["next"] = 3
    take_back(sms, 1, chips, 0)
    assert int(chips["next"][0]) == 7


def test_the_changes_of_an_sm_are_taken_back():
    """The chip takes back the block after the one that the SM placed, and when the channel and the L2 are free."""
    sms, chips = shared()
    lend(sms, 1, chips, 12)
    sms[1]["launch"]["next"] += 1
    sms[1]["load_store"]["channel"] += 66
    sms[1]["load_store"]["shared"] += (7, 11, 13)
    take_back(sms, 1, chips, 12)
    assert chips["shared"].tolist() == [[307, 411, 363]]
    assert (int(chips["next"][0]), int(chips["channel"][0])) == (8, 566)


def test_when_the_next_block_is_handed_out_is_shared():
    """An SM learns until when the chip hands out the block before, and the chip learns of its own."""
    sms, chips = shared()
    chips["handed_until"], chips["handed_parts"] = 40, 9
    lend(sms, 1, chips, 12)
    assert (int(sms[1]["launch"]["handed_until"]), int(sms[1]["launch"]["handed_parts"])) == (40, 9)
    sms[1]["launch"]["handed_until"], sms[1]["launch"]["handed_parts"] = 41, 18
    take_back(sms, 1, chips, 12)
    assert (int(chips["handed_until"][0]), int(chips["handed_parts"][0])) == (41, 18)
