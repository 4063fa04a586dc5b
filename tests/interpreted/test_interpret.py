import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from strategies.launches import kernels

from gpusim.engines.walks.program_order import walk
from isa import memory
from isa.errors import DeadlockError, ExecutionError, LimitError
from isa.kernel import Buffer, Kernel
from isa.text.assembler import assemble


def kernel(text, block=(32, 1, 1), grid=(1, 1, 1), buffers=(), **parameters):
    return Kernel("k", assemble(text), grid, block, parameters, tuple(buffers))


def words(name, count, fill=None):
    return Buffer(name, "<u4", count, fill)


def contents(k, run, name):
    buffer = next(b for b in k.buffers if b.name == name)
    return memory.view(run.memory, buffer, memory.bases(k.buffers)[name]).tolist()


def register(run, index, warp=0):
    return run.registers[index, warp].tolist()


def test_thread_ids_run_x_first_and_blocks_follow_the_grid():
    """TID, CTAID, NTID and NCTAID follow t = x + y NTID.X + z NTID.X NTID.Y, and the same over the grid."""
    names = ["TID.X", "TID.Y", "TID.Z", "CTAID.X", "CTAID.Y", "CTAID.Z", "NTID.Y", "NCTAID.X", "LANEID", "WARPID"]
    text = "\n".join(f"S2R R{i}, {name}" for i, name in enumerate(names))
    run = interpret(kernel(text, block=(4, 3, 6), grid=(2, 3, 2)), blocks=[9])
    t = np.arange(32, 64)
    expected = [t % 4, t // 4 % 3, t // 12, 1, 1, 1, 3, 2, t - 32, 1]
    for index, value in enumerate(expected):
        assert register(run, index, warp=1) == np.broadcast_to(value, 32).tolist(), names[index]


def test_lanes_beyond_the_block_do_nothing():
    """A block of 40 threads leaves lanes 8 to 31 of its second warp at zero and counts 8 active lanes there."""
    run = interpret(kernel("MOV R0, 7", block=(40, 1, 1)))
    assert register(run, 0, warp=1) == [7] * 8 + [0] * 24
    assert (run.counts.tolist(), run.active.tolist()) == ([2], [40])


def test_a_false_guard_counts_the_warp_but_changes_nothing():
    """A lane whose guard is false keeps its register and is not counted; the warp instruction is."""
    run = interpret(kernel("S2R R0, LANEID\nMOV R1, 5\nISETP.LT P0, R0, 3\n@!P0 MOV R1, 9\n@!PT MOV R1, 1"))
    assert register(run, 1) == [5] * 3 + [9] * 29
    assert run.counts.tolist() == [1] * 5
    assert run.active.tolist() == [32, 32, 32, 29, 0]


def test_negation_flips_the_sign_bit_of_floats_and_negates_integers():
    """-R on FADD, DADD flips the top bit; on IADD it is two's complement."""
    run = interpret(
        kernel("MOV R0, 0x3f800000\nFADD R1, -R0, RZ\nIADD R2, -R0, RZ\nMOV R5, 0x3ff00000\nDADD R6, -R4, RZ")
    )
    assert register(run, 1)[0] == 0xBF800000
    assert register(run, 2)[0] == 2**32 - 0x3F800000
    assert (register(run, 6)[0], register(run, 7)[0]) == (0, 0xBFF00000)


def test_wide_operands_are_little_endian_words():
    """A double is in R (low word) and R+1 (high word): 1/3 x 2 + 0.25, with bits in both words."""
    text = "MOV R2, 0x55555555\nMOV R3, 0x3fd55555\nMOV R5, 0x40000000\nMOV R7, 0x3fd00000\nDFMA R8, R2, R4, R6"
    run = interpret(kernel(text))
    assert register(run, 9)[5] << 32 | register(run, 8)[5] == np.float64(1 / 3 * 2 + 0.25).view(np.uint64)


def test_predicate_operand_selects_min_max_and_sel():
    """Q true picks the minimum (FMNMX, IMNMX) or operand a (SEL), lane by lane."""
    text = "S2R R0, LANEID\nISETP.EQ P0, R0, 0\nMOV R1, 3\nMOV R2, 8\nIMNMX R3, R1, R2, P0\nSEL R4, R1, R2, !P0"
    run = interpret(kernel(text))
    assert register(run, 3)[:2] == [3, 8]
    assert register(run, 4)[:2] == [8, 3]


@pytest.mark.parametrize(("suffix", "count"), [("", 1), (".64", 2), (".128", 4)])
def test_every_width_moves_its_words_through_every_space(suffix, count):
    """Loads and stores of 32, 64 and 128 bits through shared, local and global memory carry the words in order."""
    size = 4 * count
    text = f"""
        .shared {32 * size}
        .local 32
        S2R R0, LANEID
        IMUL R1, R0, {size}
        IADD R2, R1, c[in]
        IADD R3, R1, c[out]
        LDG{suffix} R4, [R2]
        STS{suffix} [R1], R4
        LDS{suffix} R8, [R1]
        STL{suffix} [0x10], R8
        LDL{suffix} R12, [0x10]
        STG{suffix} [R3], R12
    """
    k = kernel(
        text, buffers=[words("in", 32 * count, lambda i: (i * 3 + 1).astype(np.uint32)), words("out", 32 * count)]
    )
    assert contents(k, interpret(k), "out") == [3 * i + 1 for i in range(32 * count)]


def test_local_memory_belongs_to_a_thread():
    """Each thread reads back what it stored at the same local address, across warps."""
    run = interpret(kernel(".local 8\nS2R R0, TID.X\nSTL [4], R0\nLDL R1, [4]", block=(64, 1, 1)))
    assert register(run, 1, warp=1) == list(range(32, 64))


def test_texture_reads_by_element_and_clamps():
    """TEX reads element index of the buffer; below 0 it reads the first, beyond the end the last."""
    text = "S2R R0, LANEID\nIADD R0, R0, -2\nTEX R1, tex[t], R0"
    run = interpret(kernel(text, buffers=[words("t", 5, lambda i: (i + 100).astype(np.uint32))]))
    assert register(run, 1)[:10] == [100, 100, 100, 101, 102, 103, 104, 104, 104, 104]


@pytest.mark.parametrize("words_each", [1, 2, 4])
def test_a_texture_of_two_dimensions_clamps_column_and_row(words_each):
    """In four rows of 3 elements of 32, 64 or 128 bits, column and row are each clamped by themselves."""
    suffix, base = {1: "", 2: ".64", 4: ".128"}[words_each], 100
    text = f"S2R R0, LANEID\nSHR R1, R0, 2\nLOP.AND R0, R0, 3\nIADD R0, R0, -1\nTEX.2D{suffix} R4, tex[t], R0, R1, 3"
    buffers = [words("t", 12 * words_each, lambda i: (i + base).astype(np.uint32))]
    run = interpret(kernel(text, buffers=buffers))
    elements = [min(lane // 4, 3) * 3 + max(0, lane % 4 - 1) for lane in range(32)]
    for word in range(words_each):
        assert register(run, 4 + word) == [base + words_each * element + word for element in elements]


def test_a_texture_may_be_fetched_over_its_own_index():
    """A fetch into the register of its index gives all words of that element, also after the index has changed."""
    text = "MOV R4, 1\nTEX.128 R4, tex[t], R4\nMOV R0, R4\nMOV R4, 0\nTEX.128 R4, tex[t], R4"
    run = interpret(kernel(text, buffers=[words("t", 8, lambda i: i.astype(np.uint32))]))
    assert [register(run, r)[0] for r in (0, 4, 5, 6, 7)] == [4, 0, 1, 2, 3]


def test_a_guarded_store_leaves_other_lanes_memory():
    """Lanes whose guard is false neither store nor have their address checked."""
    text = "S2R R0, LANEID\nISETP.LT P0, R0, 2\nSHL R1, R0, 2\nIADD R1, R1, c[out]\n@P0 STG [R1], R0\n@P0 LDG R2, [R1]"
    k = kernel(text, buffers=[words("out", 2)])
    run = interpret(k)
    assert contents(k, run, "out") == [0, 1]
    assert register(run, 2) == [0, 1] + [0] * 30


def test_a_loop_runs_its_rounds_and_counts_them():
    """Warp w leaves a loop after w + 1 rounds; counts sum the rounds of all warps."""
    text = "S2R R0, WARPID\nloop:\nISETP.LT P0, R1, R0\nIADD R1, R1, 1\n@P0 BRA loop\nEXIT"
    run = interpret(kernel(text, block=(96, 1, 1)))
    assert [register(run, 1, warp)[0] for warp in range(3)] == [1, 2, 3]
    assert run.counts.tolist() == [3, 6, 6, 6, 3]
    assert run.active.tolist() == [96, 192, 192, 96, 96]


def test_running_off_the_end_exits():
    """A branch to the label at the end of the program ends the warp like EXIT."""
    run = interpret(kernel("BRA end\nMOV R0, 1\nend:"))
    assert run.counts.tolist() == [1, 0]


def test_a_barrier_orders_a_store_before_a_load_of_another_warp():
    """After BAR.SYNC warp 0 loads the word that warp 1, delayed by extra rounds, stored before it."""
    text = """
        .shared 4
        S2R R0, WARPID
    loop:
        ISETP.LT P0, R1, R0
        IADD R1, R1, 1
        @P0 BRA loop
        ISETP.EQ P1, R0, 1
        MOV R2, 42
        @P1 STS [0], R2
        BAR.SYNC 0
        LDS R3, [0]
    """
    run = interpret(kernel(text, block=(64, 1, 1)))
    assert register(run, 3, warp=0) == [42] * 32


def test_a_partial_barrier_releases_at_its_count():
    """Warps 1 and 2 meet at barrier 1 of 64 threads and are released, though warp 0 has exited."""
    text = "S2R R0, WARPID\nISETP.EQ P0, R0, 0\n@P0 EXIT\nBAR.SYNC 1, 64\nMOV R1, 1"
    freed = []
    run = interpret(kernel(text, block=(96, 1, 1)), released=lambda warps: freed.append(warps.tolist()))
    assert freed == [[1, 2]]
    assert run.counts.tolist() == [3, 3, 3, 2, 2]


def test_a_deadlock_names_the_waiting_warps_and_the_barrier():
    """If a warp exits before a barrier, the error names the waiting warps, the barrier, the pc and how many arrived."""
    text = "S2R R0, WARPID\nISETP.EQ P0, R0, 1\n@P0 EXIT\nBAR.SYNC 2"
    with pytest.raises(DeadlockError, match=r"block 0 .*barrier 2 has 2 of 3 warps: warps 0 2 at pc 3 \(line 4\)") as e:
        interpret(kernel(text, block=(96, 1, 1)))
    assert e.value.exit_code == 3


def test_warps_that_disagree_about_a_barrier_are_refused():
    """Two warps that wait at one barrier for different thread counts are an error, not a guess."""
    text = "S2R R0, WARPID\nISETP.EQ P0, R0, 1\n@!P0 BAR.SYNC 0, 96\n@P0 BAR.SYNC 0, 64"
    with pytest.raises(ExecutionError, match="warp 1: waits for 2 warps at a barrier where others wait for 3"):
        interpret(kernel(text, block=(96, 1, 1)))


def test_the_lanes_of_a_branch_are_fixed_when_it_executes():
    """The first way may overwrite the branch's predicate: the other way still has the four lanes for which it held."""
    text = "S2R R0, LANEID\nISETP.LT P0, R0, 4\n@P0 BRA low\nISETP.LT P0, R0, 8\nBRA both\nlow:\nIADD R1, R1, 1\nboth:"
    assert interpret(kernel(text)).registers[1, 0].tolist() == [1] * 4 + [0] * 28


def test_lanes_that_diverge_go_one_way_after_the_other():
    """By hand: 3 of warp 1's lanes jump; the other 29 execute the part alone, and after it all lanes go on."""
    text = "S2R R0, TID.X\nISETP.LT P0, R0, 35\n@P0 BRA end\nMOV R1, 7\nend:\nIADD R1, R1, 1"
    run = interpret(kernel(text, block=(64, 1, 1)))
    assert run.counts.tolist() == [2, 2, 2, 1, 2]
    assert run.active.tolist() == [64, 64, 35, 29, 64]
    assert run.registers[1].tolist() == [[1] * 32, [1] * 3 + [8] * 29]


def test_lanes_leave_a_loop_when_they_are_done():
    """By hand: lane i goes i + 1 rounds, round r has 32 - r lanes, and the warp goes all rounds of its last lane."""
    text = "S2R R0, LANEID\ntop:\nIADD R1, R1, 1\nISETP.LE P0, R1, R0\n@P0 BRA top\nIADD R2, R1, 0"
    run = interpret(kernel(text, block=(32, 1, 1)))
    assert run.counts.tolist() == [1, 32, 32, 32, 1]
    assert run.active.tolist() == [32, 528, 528, 496, 32]
    assert run.registers[2, 0].tolist() == list(range(1, 33))


def test_no_lane_waits_for_lanes_that_have_exited():
    """By hand: the 7 lanes of one way exit, and the 25 of the other go on alone to the end."""
    text = "S2R R0, LANEID\nISETP.LT P0, R0, 7\n@P0 BRA out\nMOV R1, 1\nBRA on\nout:\nEXIT\non:\nMOV R2, 2"
    run = interpret(kernel(text, block=(32, 1, 1)))
    assert run.active.tolist() == [32, 32, 7, 25, 25, 7, 25]
    assert run.registers[2, 0].tolist() == [0] * 7 + [2] * 25


def test_a_branch_is_uniform_over_live_lanes():
    """In a warp of 8 threads a branch that all 8 take does not diverge, whatever the other 24 lanes hold."""
    run = interpret(kernel("S2R R0, TID.X\nISETP.LT P0, R0, 8\n@P0 BRA end\nMOV R1, 1\nend:", block=(8, 1, 1)))
    assert run.counts.tolist() == [1, 1, 1, 0]


OUT_OF_BOUNDS = [
    ("SHL R0, R0, 2\nIADD R0, R0, c[a]\nLDG R1, [R0+4]", r"lane 31: 4 bytes at 0x1080 .*a at 0x1000 to 0x1080"),
    (
        "LDG.128 R4, [R0+0x2ff0]",
        r"lane 1: address 0x2ff1 is misaligned for 16 bytes|lane 0: 16 bytes at 0x2ff0 lie in no",
    ),
    ("LDG R4, [0x10]", r"the nearest is a at 0x1000 to 0x1080"),
    ("STS.64 [R0-0], R2", r"lane 1: address 0x1 is misaligned for 8 bytes; use a multiple of 8"),
    ("LDS R1, [64]", r"lane 0: 4 bytes at 0x40 lie outside the 64 bytes of shared memory; .*\.shared"),
    ("STL.64 [16], R2", r"8 bytes at 0x10 lie outside the 16 bytes of local memory"),
    ("MOV R1, c[nobody]", r"c\[nobody\] is no parameter or buffer; define it, or use one of: a"),
    ("TEX R1, tex[nobody], R0", r"tex\[nobody\] is no buffer; define it, or use one of: a"),
]


@pytest.mark.parametrize("run", [interpret, walk])
@pytest.mark.parametrize(("text", "message"), OUT_OF_BOUNDS)
def test_bad_addresses_and_names_are_reported_in_one_line(text, message, run):
    """Each bad access or name is refused in one line with its cause and fix, and exit code 2, in either way.

    Of several the interpreter names a misaligned one first, and a walk that of the first lane.
    """
    with pytest.raises(ExecutionError, match=message) as e:
        run(kernel(f".shared 64\n.local 16\nS2R R0, LANEID\n{text}", buffers=[words("a", 32)]))
    assert "\n" not in str(e.value)
    assert e.value.exit_code == 2


def test_no_access_crosses_into_the_next_buffer():
    """An access that starts in the last word of a buffer and ends after it is refused even where more is mapped."""
    with pytest.raises(ExecutionError, match="8 bytes at 0x1008 lie in no buffer"):
        interpret(kernel("MOV R0, c[a]\nLDG.64 R2, [R0+8]", buffers=[words("a", 3), words("b", 3)]))


def test_an_endless_loop_ends_at_the_limit():
    """A loop without end stops after `limit` warp instructions with exit code 3."""
    with pytest.raises(LimitError, match="more than 1000 warp instructions") as e:
        interpret(kernel("loop:\nIADD R0, R0, 1\nBRA loop"), limit=1000)
    assert e.value.exit_code == 3


def test_observe_is_reported_addresses_and_active_lanes():
    """Each memory instruction reports its pc, warps, byte addresses and the lanes whose guard holds."""
    seen = []
    text = ".shared 128\nS2R R0, LANEID\nISETP.LT P0, R0, 4\nSHL R1, R0, 2\n@P0 STS [R1+8], R0"
    interpret(kernel(text, block=(64, 1, 1)), observe=lambda *event: seen.append(event))
    ((pc, warps, addresses, active),) = seen
    assert (pc, warps.tolist()) == (3, [0, 1])
    assert active.sum(axis=1).tolist() == [4, 4]
    assert addresses[0, :4].tolist() == [8, 12, 16, 20]


def test_a_moving_base_register_moves_the_address():
    """A load in a loop follows its base register, and one with an unwritten base keeps its address."""
    text = "MOV R0, c[a]\nMOV R3, c[a]\nl:\nLDG R1, [R0]\nLDG R4, [R3]\nIADD R2, R2, R1\n"
    text += "IADD R0, R0, 4\nISETP.LT P0, R1, 5\n@P0 BRA l"
    seen = {2: [], 3: []}
    k = kernel(text, buffers=[words("a", 8, lambda i: i.astype(np.uint32))])
    run = interpret(k, observe=lambda pc, _w, addresses, _on: seen[pc].append(int(addresses[0, 0])), limit=1000)
    assert register(run, 2)[0] == 0 + 1 + 2 + 3 + 4 + 5
    assert seen == {2: [0x1000 + 4 * i for i in range(6)], 3: [0x1000] * 6}


def test_a_warp_that_jumped_ahead_waits_for_the_other():
    """Warp 0 skips a part and waits at its end, and both warps execute the next load together."""
    seen = []
    text = ".shared 4\nS2R R0, WARPID\nISETP.EQ P0, R0, 0\n@P0 BRA past\nLDS R1, [0]\npast:\nLDS R2, [0]"
    interpret(kernel(text, block=(64, 1, 1)), observe=lambda pc, warps, _a, _on: seen.append((pc, warps.tolist())))
    assert seen == [(3, [1]), (4, [0, 1])]


def test_instructions_not_evaluated_are_still_counted():
    """With all three instructions masked out no register changes, and each is still counted once."""
    k = kernel("MOV R0, 7\nFADD R1, R0, R0\nEXIT")
    run = interpret(k, evaluate=np.zeros(3, np.bool_))
    assert run.counts.tolist() == [1, 1, 1]
    assert not run.registers.any()


@given(kernels())
@settings(deadline=None, max_examples=draws(60))
def test_blocks_alone_leave_what_they_leave_together(k):
    """Race-free blocks that write their own slots give the same memory one by one as in one run."""
    together = interpret(k)
    alone = [interpret(k, blocks=[block]) for block in range(k.blocks)]
    start = memory.image(k)
    merged = start.copy()
    for run in alone:
        changed = run.memory != start
        merged[changed] = run.memory[changed]
    assert np.array_equal(merged, together.memory)
    assert np.array_equal(sum(run.counts for run in alone), together.counts)


@given(kernels(), st.data())
@settings(deadline=None, max_examples=draws(40))
def test_active_never_exceeds_the_threads_of_the_warps_counted(k, data):
    """Active thread instructions are at most a warp's lanes, and exactly the threads where nothing guards."""
    run = interpret(k, blocks=[data.draw(st.integers(0, k.blocks - 1))])
    assert (run.active <= k.warp_size * run.counts).all()
    assert run.active[0] == k.threads
