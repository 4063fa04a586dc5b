"""What kernels print, allocate and call: values and text are those of an H200 (2026-11-30, driver 580.159)."""

import lzma
import struct
from pathlib import Path

import numpy as np
import pytest
from interpreter.interpret import interpret

import gpusim
from gpusim.engines.walks.program_order import walk
from isa.errors import ExecutionError
from isa.kernel import Buffer
from isa.memory import bases
from isa.nvidia.abi import load
from isa.nvidia.abi.launch import WINDOW, LaunchState, Value, pointer
from isa.nvidia.system import memory
from isa.nvidia.system import printed as system_printed
from isa.nvidia.system.printed import cleared, printed, printed_in

DATA = Path(__file__).with_name("data")
MACHINES = {75: "rtx2080ti", 80: "a100", 90: "h200", 100: "h200", 120: "h200"}
FORMATS = """none
1
1 2 abc
abc|
null (null)|
%|   42|42   |00042|+42| 42|0x2a|052|2A
1.500000|1.500000e+00|1.5|0x1.8p+0|     3.142|1E-10
-1|18446744073709551615|-2|-3|9|0x1234|x
%k 7
ends %
   ab|ab   |ab|    y|
(nil) inf -inf -nan -0.000000
shared s and abc
1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 %d
"""
RETURNED = [0, 1, 3, 1, 1, 8, 6, 7, 0, 1, 0, 4, 5, 2, 32, -1]


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """A module of printing.cu by architecture."""
    folder, made = tmp_path_factory.mktemp("printing"), {}

    def module(architecture=90):
        if architecture not in made:
            path = folder / f"printing_{architecture}.cubin"
            path.write_bytes(lzma.decompress((DATA / f"{path.name}.xz").read_bytes()))
            made[architecture] = gpusim.RawModule(path=path)
        return made[architecture]

    return module


def called(modules, name, grid, block, args, architecture=90, **options):
    """Call a kernel on a machine that executes its code, or may."""
    options = {"machine": MACHINES[architecture], "force": architecture > 90, **options}
    return modules(architecture).get_function(name)((grid,), (block,), args, **options)


def launched(modules, name, grid, block, args, architecture=90):
    """The kernel of a launch."""
    return modules(architecture).get_function(name).launched((grid,), (block,), args)


@pytest.mark.jit
@pytest.mark.parametrize("architecture", MACHINES)
def test_formats_print_and_return_what_they_do_on_an_h200(modules, architecture, capsys):
    """Also of strings in local and shared memory, and NULL; %hhd and stars, of which it makes nonsense, are out."""
    o = np.full(16, -9, np.int32)
    result = called(modules, "formats", 1, 1, (o, 0.0), architecture)
    assert result.printed == capsys.readouterr().out == FORMATS
    assert o.tolist() == RETURNED


@pytest.mark.jit
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_engines_print_the_same(modules, engine):
    """Lanes that part and come together again print in the order of their groups, in every engine and memory."""
    o = np.zeros(80, np.int32)
    result = called(modules, "lanes", 1, 80, (o, np.int32(5)), engine=engine, complete=False)
    lines = result.printed.splitlines()
    assert sorted(lines, key=lambda line: int(line.split(":")[0].split(",")[0])) == sorted(
        [f"{i}: {'odd' if i & 1 else 'even'}" for i in range(0, 80, 5)] + [f"{i}, {i / 4:g}" for i in range(1, 80, 5)],
        key=lambda line: int(line.split(":")[0].split(",")[0]),
    )
    assert o.tolist() == [2 if i % 5 < 2 else 0 for i in range(80)]


@pytest.mark.jit
def test_both_engines_and_the_oracle_agree_to_the_bit(modules):
    """Of text and heap: memory is the same in both engines, and in program order that of the interpreter."""
    for name, args in (
        ("lanes", (np.zeros(80, np.int32), np.int32(3))),
        ("heap", (np.zeros(80, np.int32), np.int32(2))),
    ):
        kernel = launched(modules, name, 2, 40, args)
        runs = [gpusim.simulate(kernel, "h200", engine=engine) for engine in ("compiled", "reference")]
        assert runs[0].cycles == runs[1].cycles
        assert np.array_equal(runs[0].run.memory, runs[1].run.memory)
        assert np.array_equal(walk(kernel).memory, interpret(kernel).memory)


@pytest.mark.jit
def test_all_blocks_print_in_their_order(modules):
    """In program order block after block, each once; a run of all SMs prints the same lines."""
    args = np.zeros(240, np.int32), np.int32(7)
    kernel = launched(modules, "lanes", 6, 40, args)
    text = printed(kernel, walk(kernel).memory)
    first = [int(line.split(":")[0].split(",")[0]) // 40 for line in text.splitlines()]
    assert first == sorted(first)
    chip = gpusim.simulate(kernel, "h200", sms="all")
    assert sorted(chip.printed.splitlines()) == sorted(text.splitlines())
    assert len(text.splitlines()) == sum(i % 7 < 2 for i in range(240))


@pytest.mark.jit
@pytest.mark.parametrize("architecture", MACHINES)
def test_objects_of_the_heap_are_made_and_deleted(modules, architecture):
    """Virtual functions of tables in global memory, with arrays of their own."""
    o = np.zeros(96, np.int32)
    called(modules, "heap", 3, 32, (o, np.int32(3)), architecture)
    strip = [sum(range(i % 7 + 1)) for i in range(96)]
    assert o.tolist() == [i * i + 2 * strip[i] for i in range(96)]


@pytest.mark.jit
def test_the_heap_gives_what_it_has(modules):
    """Of 8 MiB: something for 0 bytes, not 9 MiB, 6 and 1, not one more; what is freed serves again."""
    o = np.zeros(32, np.int64)
    called(modules, "allocate", 1, 1, (o, np.int32(0)))
    assert o[:6].tolist() == [1, 0, 1, 1, 0, 0]
    for what, count in ((1, 7), (2, 100)):
        o[:] = 0
        called(modules, "allocate", 1, 1, (o, np.int32(what)))
        assert o[0] == count


@pytest.mark.jit
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_blocks_of_the_heap_do_not_overlap(modules, engine):
    """Each thread finds in its own what it wrote, and a multiple of 16 as its address."""
    o = np.full(96, 9, np.int64)
    called(modules, "allocate", 1, 96, (o, np.int32(4)), engine=engine)
    assert not o.any()


@pytest.mark.jit
def test_what_is_freed_twice_ends_the_run(modules):
    """As on an H200, where it is a launch failure."""
    with pytest.raises(ExecutionError, match="the kernel traps") as raised:
        called(modules, "allocate", 1, 1, (np.zeros(4, np.int64), np.int32(3)))
    assert raised.value.cuda_error == 719


@pytest.mark.jit
@pytest.mark.parametrize("architecture", MACHINES)
def test_functions_by_pointer_recursion_and_alloca(modules, architecture):
    """A table of functions in global memory, one of which calls itself, and arrays of a size that a thread computes."""
    o, n = np.zeros(32, np.int32), 9
    called(modules, "calls", 1, 32, (o, np.int32(n)), architecture)
    each = [lambda k: 2 * k, lambda k: k * k, lambda k: k * (k + 1) // 2]
    assert o.tolist() == [sum(each[(k + i) % 3](k) for k in range(n + i % 4)) for i in range(32)]


@pytest.mark.jit
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_clocks_go_on(modules, engine):
    """clock64 counts cycles of the SM, of which clock has the lower half, globaltimer nanoseconds."""
    o = np.zeros(4, np.int64)
    result = called(modules, "clocks", 1, 1, (o,), engine=engine)
    assert 0 < o[0] < result.cycles
    assert o[1] == 1
    assert 0 <= o[2] <= result.cycles


@pytest.mark.jit
def test_a_ring_keeps_the_last_lines(modules):
    """More text than its bytes: the oldest lines are gone, and no line is torn."""
    buffers = Buffer("o", "i4", 4), memory.buffer(memory.PRINTED, 400)
    code = modules(90).contents
    arguments = load.arguments(code, "flood", [pointer(buffers, "o"), Value(np.int32(50).tobytes(), 4)])
    kernel = load.kernel(code, LaunchState("flood", (1, 1, 1), (1, 1, 1), arguments=arguments, buffers=buffers))
    text = printed(kernel, walk(kernel).memory)
    assert text == "".join(f"{k} and some\n" for k in range(50 - 400 // 40, 50))


@pytest.mark.jit
@pytest.mark.parametrize(("what", "number", "text"), [(0, 719, ""), (1, 700, ""), (2, 716, ""), (3, 700, "before\n")])
@pytest.mark.parametrize("engine", ["compiled", "reference", "walk"])
def test_faults_have_the_numbers_of_cuda(modules, what, number, text, engine):
    """A trap, an address outside, one misaligned: as on an H200; and what was printed before is there."""
    args = np.zeros(4, np.int32), np.int32(what)
    kernel = launched(modules, "fails", 1, 1, args)
    with pytest.raises(ExecutionError) as raised:
        walk(kernel) if engine == "walk" else gpusim.simulate(kernel, "h200", engine=engine)
    assert (raised.value.cuda_error, raised.value.printed) == (number, text)


@pytest.mark.jit
def test_memory_of_the_system_outlives_launches(modules):
    """A launch that brings it begins with what is there: text is added, and may be cleared."""
    kernel = launched(modules, "flood", 1, 1, (np.zeros(4, np.int32), np.int32(2)))
    place = bases(kernel.buffers)[memory.PRINTED]
    first = walk(kernel).memory
    second = walk(kernel, left=first).memory
    assert printed_in(second, place) == "0 and some\n1 and some\n" * 2
    cleared(second, place)
    assert printed_in(second, place) == ""


def test_the_text_of_a_launch_has_an_end(monkeypatch):
    """Records that ask for more than MOST_BYTES give so many, and a line that says so; what fits is all there."""
    record = struct.pack("<IQiI", 20, WINDOW + 64, 7, 20)
    words = np.zeros(100, np.uint32)
    held = words.view(np.uint8)
    held[64 : 64 + 6] = list(b"%900d\0")
    held[128:136] = np.array([200, 3 * len(record)], np.uint32).view(np.uint8)
    held[144 : 144 + 3 * len(record)] = list(3 * record)
    whole = 3 * (b" " * 899 + b"7")
    monkeypatch.setattr(system_printed, "MOST_BYTES", 2700)
    assert system_printed.raw_in(words, 128) == whole
    monkeypatch.setattr(system_printed, "MOST_BYTES", 1000)
    assert system_printed.raw_in(words, 128) == whole[:1000] + system_printed.LEFT_OUT
