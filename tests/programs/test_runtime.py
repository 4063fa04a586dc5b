"""The stand-in for CUDA's runtime: what small programs print, and what they ask of the simulator."""

import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

import pytest
from programs.stand_in_parent import BASE, Kernel, Parent, run

from gpusim.programs import build, link
from isa.errors import UserError
from isa.nvidia.compiler import tools

SOURCES = Path(__file__).parent / "sources"
pytestmark = pytest.mark.skipif(
    not (tools.installed("nvcc") and shutil.which("g++")), reason="nvcc (extra cuda) or g++ is not installed"
)
ADD = "_Z3addPfifPi"


def ran(name: str, parent: Parent | None = None, *flags: str):
    """Return what a program of the sources does, and its parent."""
    runtime = build.runtime()
    return run(link.executable(SOURCES / f"{name}.cu", 90, flags, runtime), runtime, parent)


def lines(name: str, parent: Parent | None = None, *flags: str) -> list[str]:
    """Return the lines that a program prints; it must end without an error."""
    done, _ = ran(name, parent, *flags)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def adding(parent, numbers, address, count, addend, flag):
    """Write the kernel's parameters into the memory that it is given."""
    parent.write(address, b"".join(n.to_bytes(4, "little") for n in (count, addend, numbers[1], numbers[4])))
    parent.write(flag, (7).to_bytes(4, "little"))


@pytest.mark.parametrize("flags", [(), ("-rdc=true",), ("--default-stream=per-thread",)])
def test_a_launch_has_its_shape_and_parameters(flags):
    """A kernel of <<<>>> gets grid, block, bytes of shared memory and its parameters, and copies bring results back."""
    done, parent = ran("launches/launch", Parent({ADD: Kernel([(0, 8), (8, 4), (12, 4), (16, 8)], adding)}), *flags)
    assert done.stdout.splitlines() == ["5 1069547520 3 32 7", "no error"]
    assert [one.numbers[1:13] for one in parent.of("launch")] == [(3, 2, 1, 32, 4, 1, 128, 0, 0, 0, 0, 0)]
    assert parent.names().count("module") == 1
    assert parent.asked[-1].name == "bye"


def test_the_place_of_a_launch_is_its_line():
    """The return address of a launch is of the line that has the <<<>>>."""
    _, parent = ran("launches/launch", Parent({ADD: Kernel([(0, 8), (8, 4), (12, 4), (16, 8)], adding)}))
    assert line_of(SOURCES / "launches/launch.cu", parent.of("launch")[0].numbers[14]) == "add<<<"


def line_of(source: Path, place: int) -> str:
    """Return the beginning of the line of a source that has the call before an address of its program."""
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415

    with link.executable(source, 90, (), build.runtime()).open("rb") as file:
        for unit in ELFFile(file).get_dwarf_info().iter_CUs():
            program = ELFFile(file).get_dwarf_info().line_program_for_CU(unit)
            rows = [entry.state for entry in program.get_entries() if entry.state]
            for row, after in pairwise(rows):
                if row.address < place <= after.address and not row.end_sequence:
                    return source.read_text().splitlines()[row.line - 1].strip()[: len("add<<<")]
    return ""


def test_an_executable_with_the_runtime_inside_is_refused(tmp_path):
    """One that is linked statically can't be run, and the message says how to link it."""
    made = tmp_path / "static"
    tools.run("nvcc", [SOURCES / "launches/launch.cu", "-o", made], about="test")
    with pytest.raises(UserError, match="nvcc -cudart shared"):
        link.executable(made, 90, (), build.runtime())


def test_an_executable_with_the_shared_runtime_is_taken_as_it_is(tmp_path):
    """One that is linked to NVIDIA's libcudart.so runs with the stand-in, without a word from the loader."""
    made = tmp_path / "shared"
    tools.run("nvcc", ["-cudart", "shared", "-arch=sm_90", SOURCES / "launches/launch.cu", "-o", made], about="test")
    runtime = build.runtime()
    assert link.executable(made, 90, (), runtime) == made
    done, _ = run(made, runtime, Parent({ADD: Kernel([(0, 8), (8, 4), (12, 4), (16, 8)], adding)}))
    assert (done.stdout.splitlines()[-1], done.stderr) == ("no error", "")


def test_properties_are_the_machines():
    """Properties and attributes have the numbers that the simulator gives, and constants of CUDA for the rest."""
    assert lines("properties") == [
        "Stand-in 9.0 132 SMs, 49152 + 232448 bytes of shared memory, 50 MB of L2",
        "1024 threads of 1024 1024 64, grids of 2147483647 65535 65535, warps of 32, clusters 1",
        "texture 131072 65536 16384, managed 1, unified 1, 13000 13000, 1 device",
        "attributes 132 1785000 233472; 1",
    ]


def test_events_have_the_simulators_time():
    """The time between two events is that of the kernels between them."""
    kernels = {"_Z4waitv": Kernel([])}
    assert lines("launches/events", Parent(kernels)) == ["3.0 ms", "400 invalid resource handle"]


def test_errors_are_those_of_cuda():
    """A bad configuration is an error at once, a fault comes with the next synchronising call and stays."""
    kernels = {"_Z4goodv": Kernel([]), "_Z3badv": Kernel([], error=700)}
    assert lines("launches/errors", Parent(kernels)) == [
        "launch: cudaErrorInvalidConfiguration, invalid configuration argument",
        "again: no error",
        "fault: no error",
        "synchronize: an illegal memory access was encountered",
        "malloc: an illegal memory access was encountered",
        "reset: no error",
    ]


def test_what_kernels_print_comes_with_the_next_wait():
    """Lines of a kernel stand where the program waits for it, between those of the program itself."""
    kernels = {"_Z5speakv": Kernel([], printed="kernel\n")}
    assert lines("process/prints", Parent(kernels)) == ["before", "launched", "kernel", "waited", "end", "kernel"]


def test_managed_and_host_memory_are_the_programs_too():
    """A program reads and writes managed memory, host memory and managed variables by their addresses."""
    parent = Parent({"_Z5touchPiS_": Kernel([(0, 8), (8, 8)], _touch)}, {"shared_number": (BASE + 4096, 4)})
    assert lines("memory/managed", parent) == ["42 43 5", "3 1 2 0"]


def _touch(parent, _numbers, first, second):
    parent.write(first, (int.from_bytes(parent.read(first, 4), "little") + 1).to_bytes(4, "little"))
    parent.write(second, (int.from_bytes(parent.read(second, 4), "little") + 1).to_bytes(4, "little"))


def test_a_pointer_of_the_device_faults_on_the_host():
    """A program that reads through a pointer of cudaMalloc ends with a segmentation fault, as with a card."""
    done, _ = ran("memory/dereference")
    assert done.returncode == -11
    assert done.stderr.startswith("gpusim: the program itself reads or writes memory of cudaMalloc")


def test_copies_of_rows_and_variables():
    """Copies of rows with pitches, of variables of the device, and memsets move the bytes that they name."""
    parent = Parent({}, {"table": (BASE + 4096, 16)})
    assert lines("memory/copies", parent) == ["512", "1 2 | 3 4 | 9 9", "30 40", "1 invalid argument"]


def test_a_function_that_is_not_there_is_refused_by_name():
    """A call of what the stand-in doesn't have ends the program with its name and place."""
    done, parent = ran("process/refused")
    assert done.stdout == "first\n"
    assert done.returncode == 2
    request = parent.of("refused")[0]
    assert (request.data, request.numbers[0] > 0) == (b"cudaGraphicsMapResources", True)


def test_without_a_simulator_a_program_says_how_to_run_it():
    """A program that is started by itself says that gpusim exec runs it."""
    runtime = build.runtime()
    made = link.executable(SOURCES / "properties.cu", 90, (), runtime)
    done = subprocess.run([made], env={"LD_LIBRARY_PATH": str(runtime)}, capture_output=True, text=True, check=False)
    assert (done.returncode, "gpusim exec" in done.stderr) == (2, True)


def stepping(parent, _numbers, address, amount):
    """Double a word of memory and add an amount."""
    value = int.from_bytes(parent.read(address, 4), "little")
    parent.write(address, (value * 2 + amount).to_bytes(4, "little"))


def test_graphs_are_replayed_in_the_order_of_their_edges():
    """A captured graph and one that is built do their work at launch; parameters change; misuse has CUDA's errors."""
    parent = Parent({"_Z4stepPii": Kernel([(0, 8), (8, 4)], stepping)})
    assert lines("launches/graphs", parent) == [
        "5 nodes, 5 edges, capturing 1, result -1",
        "host: side",
        "host: side",
        "captured: 12",
        "built: 217",
        "changed: 219",
        "asked: 5 1",
        "update: 0",
        "updated: 217",
        "cycle: cudaErrorInvalidValue",
        "default stream: cudaErrorStreamCaptureUnsupported",
        "synchronize: cudaErrorStreamCaptureUnsupported",
        "end: cudaErrorStreamCaptureInvalidated",
        "end again: cudaErrorIllegalState",
    ]
    assert {one.numbers[13] for one in parent.of("launch")} == {1}


def test_pools_arrays_textures_and_the_rest_of_memory():
    """Memory in the order of streams, arrays and textures of them, registered memory and limits work as CUDA's."""
    done, parent = ran("memory/pools")
    assert done.stdout.splitlines() == [
        "1 2 3, 12",
        "5 6 9 10, 32 bits, 4 x 3",
        "2 4 6 8",
        "texture 0",
        "free 0 0",
        "register 0 712 0",
        "managed 0 0",
        "priorities 0 -5, pitch 512, driver 1 0",
    ]
    one = 0x3F800000
    assert parent.of("texture")[0].numbers[1:] == (512, 4, 3, 0, 0, 4, 1, 2, 1, 1, 0, 1, 0, 1, one, 0, 0, 0)


def test_the_driver_loads_modules_and_launches():
    """Functions of the driver, linked or found by name, share device, memory and streams with the runtime."""
    parent = Parent({"step": Kernel([(0, 8), (8, 4)], stepping)}, {"number": (BASE + 4096, 4)})
    done, parent = ran("launches/driver", parent, "-lcuda")
    assert done.stdout.splitlines() == [
        "Stand-in 9.0, 1 device, driver 13000",
        "module 0, wrong 500 CUDA_ERROR_NOT_FOUND named symbol not found",
        "launched: 11 27",
        "memset: 7 7 7 9, 2 rows 5",
        "pointer: 2 1 16",
        "by name: 1 1 500",
        "attributes: 1024 threads, 32 registers, 100000 dynamic",
        "occupancy: 2, best 1024 of 264",
        "map: 0 77",
        "array: 3 6, 4 x 2, 1 2, texture 0 0",
        "graph: 1 1, 10",
        "contexts: 1 1 201",
        "global: 4",
    ]
    assert parent.of("tensormap")[0].numbers[:2] == (7, 2)
    assert parent.of("tensormap")[0].numbers[3:] == (64, 32, 256, 16, 8, 1, 1, 0, 3, 2, 0)
    assert parent.of("module")[0].data.startswith(b".version")
    assert parent.of("texture")[0].numbers[2:9] == (4, 2, 0, 0, 1, 2, 1)
    assert parent.of("texture")[0].numbers[12:15] == (1, 1, 1)


def test_structures_have_cudas_layout():
    """Sizes and offsets of the stand-in's structures are those of the installed headers of CUDA 13."""
    if "release 13." not in tools.version("nvcc"):
        pytest.skip("the layouts are those of CUDA 13")
    source = SOURCES / "layouts.cc"
    assert tools.run("nvcc", ["-std=c++17", "-I", build.SOURCES, "-c", source, "-o", "/dev/null"], about="test") == ""


def test_a_program_of_cuda_12_has_its_own_layouts():
    """An executable of CUDA 12 finds the functions and the structure of properties of its version."""
    runtime = build.runtime()
    with TemporaryDirectory() as folder:
        made = Path(folder) / "of_12"
        library = runtime / "link" / "12"
        command = [
            "g++",
            SOURCES / "process/of_12.cc",
            f"-L{library}",
            "-lcudart",
            f"-Wl,-rpath-link={runtime}",
            "-o",
            made,
        ]
        subprocess.run(command, check=True)
        assert link.executable(made, 90, (), runtime) == made
        done, parent = run(made, runtime)
    assert done.stdout.splitlines() == ["Stand-in 132 1785000 9.0 1", "12000"]
    assert parent.of("hello")[0].numbers == (1, 12000)


def test_exit_codes_and_last_words():
    """Objects that are destroyed at exit still free memory, and the simulator hears the program's exit code."""
    done, parent = ran("process/exits")
    assert (done.returncode, done.stdout) == (7, "main ends\nfreed: no error\n")
    assert parent.asked[-1].numbers == (7,)


def test_a_forked_process_has_no_device():
    """A process that a program forks is told that the device is not its own; its parent goes on."""
    done, parent = ran("process/forks")
    assert done.stdout == "forked ended with 2\n"
    assert "gpusim: the device belongs to the process that used it first" in done.stderr
    assert parent.names().count("bye") == 1


def test_a_program_that_it_started_does_not_hold_the_simulator():
    """A process that a program starts before its first call has no socket: the program's end is seen at once."""
    runtime = build.runtime()
    made = link.executable(SOURCES / "process/helpers.cu", 90, (), runtime)
    begun = monotonic()
    done, parent = run(made, runtime)
    assert (done.returncode, done.stdout) == (4, "no error\n")
    assert parent.asked[-1].name == "bye"
    assert monotonic() - begun < 20  # the other one lives for 30 s


def test_a_program_ends_while_another_thread_launches():
    """The last request waits for the reply to a launch, so that each reply goes to who asked for it."""
    slow = Kernel([], lambda *_: sleep(1), printed="x" * (1 << 20))
    done, parent = ran("process/thread", Parent({"_Z4slowv": slow}))
    assert (done.returncode, len(done.stdout)) == (6, 1 << 20)
    assert parent.asked[-1].name == "bye"


def test_a_library_that_is_built_anew_is_linked_anew(tmp_path):
    """With -L and -l in its flags a program has what the library is now; a source among them is compiled too."""
    (tmp_path / "main.cu").write_text(
        "int of_library(), of_source(); int main() { return of_library() + of_source(); }"
    )
    (tmp_path / "other.cu").write_text("int of_source() { return 40; }")
    flags = ("-L", str(tmp_path), "-lmine", str(tmp_path / "other.cu"))
    for value in (1, 2):
        (tmp_path / "mine.cc").write_text(f"int of_library() {{ return {value}; }}")
        subprocess.run(["g++", "-c", tmp_path / "mine.cc", "-o", tmp_path / "mine.o"], check=True)
        subprocess.run(["ar", "rcs", tmp_path / "libmine.a", tmp_path / "mine.o"], check=True)
        made = link.executable(tmp_path / "main.cu", 90, flags, build.runtime())
        done, _ = run(made, build.runtime())
        assert done.returncode == 40 + value


def test_without_pyelftools_an_executable_is_refused_in_a_line(monkeypatch):
    """Where the extra is not installed, the message says how to install it."""
    monkeypatch.setitem(sys.modules, "elftools.elf.elffile", None)
    with pytest.raises(UserError, match="pip install"):
        link.executable(Path(sys.executable), 90, (), Path())
