import pytest

from isa.dataflow.memory.order_dependence import asks_blocks, may_vary, varying
from isa.dataflow.memory.pointers import pointed
from isa.text.listing import read

HEAD = ".block 64\n.shared 512\n.buffer a u32 64\n.buffer b u32 64\n"


def of(text: str, *sources: int):
    """What varies in a listing if the results of these instructions do."""
    return varying(read(HEAD + text), frozenset(sources))


def test_what_is_computed_varies_up_to_guards_and_addresses():
    """A loaded value that varies moves the address and guard made from it, and nothing else."""
    text = "LDS R0, [RZ]\nIADD R1, R0, 4\nMOV R2, 8\nLDS R3, [R1]\nLDS R4, [R2]\nISETP.LT P0, R0, 5\n"
    found = of(text + "@P0 FADD R5, R5, R5\nEXIT", 0)
    assert (found.addresses, found.guards, found.counts) == ({3}, {6}, set())


def test_a_branch_varies_up_to_where_its_ways_meet():
    """Between a branch that varies and its post-dominator counts vary; behind it lanes may come apart."""
    found = of("LDS R0, [RZ]\nISETP.LT P0, R0, 5\n@P0 BRA past\nFADD R5, R5, R5\npast:\nFADD R6, R6, R6\nEXIT", 0)
    assert (found.branches, found.counts, found.apart) == ({2}, {3}, {3, 4, 5})


def test_behind_an_exit_all_counts_vary():
    """If lanes may leave at an exit whose guard varies, all that follows is executed as often as the order says."""
    assert of("LDS R0, [RZ]\nISETP.LT P0, R0, 5\n@P0 EXIT\nFADD R5, R5, R5\nEXIT", 0).counts == {3, 4}


@pytest.mark.parametrize(("body", "moved"), [("IADD R1, R1, 4", True), ("MOV R1, 4", False), ("MOV R2, 4", False)])
def test_what_a_varying_loop_writes_varies_behind_it(body, moved):
    """A register that counts rounds varies as an address; one that every round sets to the same does not."""
    text = f"MOV R1, 0\nagain:\nLDS R0, [RZ]\n{body}\nISETP.LT P0, R0, 5\n@P0 BRA again\nLDS R3, [R1]\nEXIT"
    assert (5 in of(text, 1).addresses) == moved


def test_what_is_stored_varies_for_loads_that_may_read_it():
    """A store of what varies moves loads of its buffer, not of another one."""
    text = "MOV R8, c[a]\nMOV R9, c[b]\nLDG R0, [R8]\nISETP.LT P0, R0, 5\n@P0 STG [R8], R0\n"
    text += "LDG R1, [R{}]\nLDG R2, [R1]\nEXIT"
    assert 6 in of(text.format(8), 2).addresses
    assert 6 not in of(text.format(9), 2).addresses


def test_a_barrier_under_a_varying_guard_orders_nothing():
    """Loads of shared memory behind it vary."""
    text = "LDS R0, [RZ]\nSTS [RZ+8], R0\nISETP.LT P0, R0, 5\n@P0 BRA past\nBAR.SYNC 0\npast:\n"
    text += "LDS R1, [RZ+4]\nLDS R2, [R1]\nEXIT"
    assert {5, 6} <= of(text, 0).results


def test_what_is_never_stored_does_not_vary():
    """Of what addresses come from only loads vary into whose buffer some store points."""
    text = "MOV R8, c[a]\nMOV R9, c[b]\nLDG R2, [R8]\nLDG R3, [R2]\nSTG [{}], R8\nEXIT"
    assert may_vary(read(HEAD + text.format("R9"))) == frozenset()
    assert may_vary(read(HEAD + text.format("R8"))) == {2}


def test_pointers_lead_to_their_buffers():
    """An address computed from a base and a loaded index points into the base's buffer; a loaded one to any."""
    text = "MOV R8, c[a]\nLDG R0, [R8]\nSHL R0, R0, 2\nIADD R0, R0, c[b]\nLDG R1, [R0]\nLDG R2, [R1]\nEXIT"
    kernel = read(HEAD + text)
    assert [pointed(kernel, pc) for pc in (1, 4, 5)] == [{"a"}, {"b"}, frozenset()]


def test_blocks_ask_each_other_by_atomics_and_by_loads_of_what_is_stored():
    """A branch by an atomic's result, and an address by a word that the launch stores; not by a word that it keeps."""
    text = ".grid 2\n" + HEAD + "MOV R8, c[a]\nMOV R9, c[b]\nATOMG.ADD R0, [R8], 1\nISETP.LT P0, R0, 5\n@P0 EXIT\n"
    text += "LDG R1, [R8]\nLDG R2, [R1]\nLDG R3, [R9]\nLDG R4, [R3]\nEXIT"
    assert asks_blocks(read(text)) == [2, 5]
    assert asks_blocks(read(text.removeprefix(".grid 2\n"))) == []
