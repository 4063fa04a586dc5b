import numpy as np
from draws import draws
from hypothesis import given, settings
from interpreter.interpret import interpret
from strategies.launches import kernels

from isa.dataflow.memory.address_slice import address_slice, path_slice
from isa.text.assembler import assemble


def included(text):
    return np.flatnonzero(address_slice(assemble(text))).tolist()


def test_address_arithmetic_is_in_and_results_are_out():
    """The chain that leads to an address is in the slice; the loaded value's arithmetic is not."""
    assert included("S2R R0, TID.X\nSHL R1, R0, 2\nLDG R2, [R1]\nFADD R3, R2, R2\nSTG [R1], R3\nEXIT") == [0, 1]


def test_cross_lane_sources_and_their_guard_are_in():
    """An address from a shuffle or ballot needs its sources, and the guard that says which lanes take part."""
    text = "S2R R0, LANEID\nISETP.LT P0, R0, 4\nMOV R1, 8\n@P0 SHFL.IDX R2, R1, R0\nLDS R3, [R2]"
    assert included(text) == [0, 1, 2, 3]
    assert included("S2R R0, LANEID\nISETP.LT P0, R0, 4\nVOTE.BALLOT R2, P0\nLDS R3, [R2]") == [0, 1, 2]


def test_guards_and_their_comparisons_are_in():
    """A guard predicate pulls in its comparison and that comparison's operands, even under a plain instruction."""
    assert included("MOV R0, 1\nMOV R1, 2\nISETP.LT P0, R0, R1\n@P0 MOV R2, 3\nEXIT") == [0, 1, 2]


def test_the_path_leaves_out_guards_of_arithmetic():
    """Whether a lane moves, by what it loaded, is not in the path; whether it stores or leaves is, with all before."""
    load = "S2R R0, TID.X\nLDS R1, [R0]\nFSETP.LT P0, R1, R1\n"
    moved = assemble(load + "@P0 MOV R2, R1\nSTS [R0], R2\nEXIT")
    assert np.flatnonzero(path_slice(moved)).tolist() == [0]
    assert np.flatnonzero(address_slice(moved)).tolist() == [0, 1, 2, 3, 4]
    for steered in ("@P0 STS [R0], R0\nEXIT", "@P0 EXIT\nEXIT", "@P0 MOV R3, R0\nSTS [R3], R0\nEXIT"):
        program = assemble(load + steered)
        assert np.array_equal(path_slice(program), address_slice(program)), steered


def test_loop_counters_are_in_through_the_back_edge():
    """A loop's increment is in the slice, since the comparison of the next round reads it."""
    assert included("MOV R0, 0\nMOV R9, 1\nl:\nISETP.LT P0, R0, 4\nFADD R9, R9, R9\nIADD R0, R0, 1\n@P0 BRA l") == [
        0,
        2,
        4,
    ]


def test_a_reused_register_does_not_pull_in_its_earlier_life():
    """An accumulator whose register later holds an address stays outside: only reaching definitions count."""
    text = "MOV R0, 0\nFFMA R0, R0, R0, R0\nSTG [RZ], R0\nS2R R0, TID.X\nSTG [R0], R1\nEXIT"
    assert included(text) == [3]


def test_a_guarded_write_does_not_hide_the_earlier_one():
    """The unguarded definition and the later guarded one may both give the address."""
    assert included("MOV R0, 0\nISETP.LT P0, R1, 4\n@P0 MOV R0, 8\nLDS R2, [R0]") == [0, 1, 2]


def test_a_guarded_write_hides_the_earlier_one_from_the_same_guard():
    """What is written under a guard is all that is read under it; not once the guard is written anew, or negated.

    Nor where other lanes are read, in which the guard may not hold.
    """
    text = "LDG R0, [RZ]\nISETP.LT P0, R9, 4\n@P0 MOV R0, 8\n{}@{}P0 {}".format
    assert included(text("", "", "LDS R2, [R0]")) == [1, 2]
    assert included(text("", "!", "LDS R2, [R0]")) == [0, 1, 2]
    assert included(text("ISETP.GT P0, R9, 2\n", "", "LDS R2, [R0]")) == [0, 1, 2, 3]
    assert included(text("", "", "SHFL.IDX R2, R0, RZ\nLDS R3, [R2]")) == [0, 1, 2, 3]
    assert included("LDG R0, [RZ]\nISETP.LT P0, R9, 4\n@P0 MOV R0, 8\n@P0 BRA l\nMOV R0, 4\nl:\n@P0 LDS R2, [R0]") == [
        1,
        2,
        4,
    ]


def test_a_load_that_gives_an_address_pulls_in_stores_of_its_space():
    """A pointer chased through shared memory needs the shared stores and their data, not the global ones."""
    text = "MOV R0, 4\nSTS [RZ], R0\nSTG [0x1000], R0\nLDS R1, [RZ]\nLDS R2, [R1]"
    assert included(text) == [0, 1, 3]


def test_an_atomic_is_a_load_and_a_store():
    """An address from an atomic needs its operands and the stores; one loaded where atomics write needs the atomics."""
    text = "MOV R0, 4\nMOV R9, 5\nSTS [RZ], R0\nATOMS.ADD R1, [RZ], R9\nLDS R2, [R1]"
    assert included(text) == [0, 1, 2, 3]
    assert included("MOV R0, 4\nATOMS.ADD R5, [RZ], R0\nLDS R1, [RZ]\nLDS R2, [R1]") == [0, 1, 2]


def test_texture_indices_are_addresses_and_textures_read_global_stores():
    """TEX needs its index; a TEX whose result is an address needs the global stores."""
    text = "MOV R0, 4\nMOV R1, 5\nSTG [0x1000], R1\nTEX R2, tex[a], R0\nLDS R3, [R2]"
    assert included(text) == [0, 1, 2, 3]


def test_scalar_loads_read_global_stores():
    """An address from a scalar load needs the global stores that it may read."""
    text = "MOV R0, 4\nSTG [0x1000], R0\nS_MOV_B32 s0, 0x1000\nS_LOAD_DWORD s1, s0, 0\nV_MOV_B32 v3, s1\nLDG R4, [R3]"
    assert included(text) == [0, 1, 2, 3, 4]


def test_every_word_of_a_wide_definition_reaches():
    """An address in the second register of a 64-bit load needs that load."""
    assert included("LDS.64 R2, [RZ]\nLDS R4, [R3]") == [0]


def _trace(kernel, evaluate=None):
    events = []

    def observe(pc, warps, addresses, active):
        events.append((pc, warps.tolist(), np.where(active, addresses, 0).tolist(), active.tolist()))

    run = interpret(kernel, observe=observe, evaluate=evaluate)
    return events, run.counts.tolist(), run.active.tolist()


@given(kernels())
@settings(deadline=None, max_examples=draws(100))
def test_the_slice_alone_makes_the_same_addresses_and_counts(kernel):
    """Evaluating only the slice gives the address trace, counts and active lanes of the whole program."""
    assert _trace(kernel, address_slice(kernel.program)) == _trace(kernel)


def test_what_a_barrier_counts_is_in_the_slice_if_an_address_depends_on_it():
    """The comparison whose truths BAR.RED counts is computed where the count becomes an address, else it is not."""
    head = "S2R R1, TID.X\nISETP.LT P0, R1, 40\nBAR.RED.POPC 1, P0\nB2R.RESULT R2\n"
    counted = address_slice(assemble(f"{head}STG [R2], R1\nEXIT"))
    assert counted[:4].tolist() == [True, True, False, True]
    assert not address_slice(assemble(f"{head}STG [0x1000], R2\nEXIT")).any()
