"""Launch files of the cubins of tests/isa/sass/data, whose code is replaced by a program that doubles x."""

import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from interpreter.interpret import interpret
from lowered import stand_in

from gpusim.launch.file.prepare import prepared
from gpusim.simulation.verify import compare
from isa import memory
from isa.architecture import Target
from isa.errors import UserError

DATA = Path(__file__).parents[2] / "isa" / "sass" / "data"
LAUNCH = """\
kernel = "flip"
grid = [2]
block = [32]
[[argument]]
name = "x"
buffer = "float32"
elements = 64
fill = "hash 1"
[[argument]]
value = 7
type = "int32"
[[argument]]
value = 1
type = "int8"
[[argument]]
value = 2.5
type = "float64"
"""


@pytest.fixture(autouse=True)
def _double(monkeypatch):
    stand_in(monkeypatch)


@pytest.fixture
def beside(tmp_path):
    """Return a function that writes a launch file beside a cubin, and returns the cubin's path."""

    def write(text=LAUNCH, architecture=90):
        path = tmp_path / "k.cubin"
        shutil.copy(DATA / f"sm_{architecture}.cubin", path)
        path.with_suffix(".toml").write_text(text)
        return path

    return write


def refusal(path):
    """Return the message with which a launch is refused, without its folder."""
    with pytest.raises(UserError) as caught:
        prepared(str(path))
    return str(caught.value).replace(f"{path.parent}/", "")


def test_a_launch_file_beside_the_code(beside):
    """The kernel has the sizes and buffers that the file says, and its arguments where the kernel looks for them."""
    path = beside(f'{LAUNCH}[[expect]]\nbuffer = "x"\nvalue = "2 * x"\n')
    kernel = prepared(str(path))
    assert (kernel.name, kernel.grid, kernel.block, str(kernel.target)) == ("flip", (2, 1, 1), (32, 1, 1), "sm_90")
    address = kernel.window + memory.bases(kernel.buffers)["x"]
    assert struct.unpack_from("<Qibxxxd", kernel.banks[0], 0x210) == (address, 7, 1, 2.5)
    (expectation,) = kernel.outcome()
    assert compare(kernel, interpret(kernel).memory, expectation).right.all()


def test_the_launch_file_is_a_name_of_its_own(beside, tmp_path):
    """A launch file is taken in place of its code, finds it beside itself or under `code`, and may have any name."""
    path = beside()
    by_itself = prepared(str(path.with_suffix(".toml")))
    other = tmp_path / "folder" / "other.toml"
    other.parent.mkdir()
    other.write_text(f'code = "../k.cubin"\n{LAUNCH}')
    given = prepared(str(path), other)
    assert by_itself.banks == prepared(str(other)).banks == given.banks == prepared(str(path)).banks


def test_flags_of_a_launch_file_are_for_its_source(beside):
    """`nvcc_flags` say how the source is compiled: a cubin takes the same launch file, but no flags of the command."""
    path = beside(f'nvcc_flags = ["-O3"]\n{LAUNCH}')
    assert prepared(str(path)).banks == prepared(str(beside())).banks
    with pytest.raises(UserError, match="neither CUDA C nor PTX to compile with -G; leave these options out"):
        prepared(str(path), nvcc_flags=("-G",))


def test_flags_that_would_run_a_program(tmp_path):
    """An option that a file may not ask for is refused with the place of the key, before a compiler is looked for."""
    path = tmp_path / "k.toml"
    path.with_suffix(".cu").write_text("")
    for flags in ('["-ccbin", "./x"]', '["-O3", "--run"]', '["-Xcompiler", "-wrapper,./x"]', '["-DA=$(touch x)"]'):
        path.write_text(f"\nnvcc_flags = {flags}\n{LAUNCH}")
        assert refusal(path).startswith("k.toml:2:1: ")


@pytest.mark.parametrize("key", ["code", "file"])
def test_a_device_is_no_file_of_a_launch(beside, key):
    """A launch file that names a pipe or a device, which may have no end, is refused."""
    named = 'code = "/dev/zero"\n' if key == "code" else ""
    path = beside(named + LAUNCH.replace('buffer = "float32"\nelements = 64\nfill = "hash 1"', 'file = "/dev/zero"'))
    path = path.with_suffix(".toml") if key == "code" else path
    if key == "code":
        path.write_text(named + LAUNCH)
    assert refusal(path).endswith("/dev/zero: no regular file; name another")


def test_what_if_and_caches(beside):
    """`any_machine` and `force` lift the check of the architecture; `caches` is a setting of the machine."""
    assert not prepared(str(beside())).any_machine
    assert prepared(str(beside()), force=True).any_machine
    assert prepared(str(beside(f"any_machine = true\n{LAUNCH}"))).any_machine
    warm, cold = prepared(str(beside())), prepared(str(beside(f'caches = "cold"\n{LAUNCH}')))
    assert (dict(warm.settings), dict(cold.settings)) == (
        {"cache.hits": "tags", "l2.filled": "1"},
        {"cache.hits": "tags"},
    )


def test_a_text_without_an_architecture(tmp_path):
    """A dump that doesn't say its architecture needs one in the launch file, and one that is read."""
    lines = (DATA / "sm_80.sass").read_text().splitlines(keepends=True)
    path = tmp_path / "k.sass"
    path.write_text("".join(line for line in lines if "sm_80" not in line and "EF_" not in line))
    launch = tmp_path / "k.toml"
    launch.write_text('kernel = "pairs"\n')
    assert refusal(path) == "k.toml:1:1: k.sass: a text that doesn't say its architecture; write architecture = 90"
    launch.write_text('kernel = "pairs"\narchitecture = 80\n')
    assert prepared(str(path)).target == Target("nvidia", 80)
    unread = f"{path}: machine code for sm_{{}}; this reads sm_75, .*: compile for one of these"
    with pytest.raises(UserError, match=unread.format(103)):
        prepared(str(path), architecture=103)
    launch.write_text('kernel = "pairs"\narchitecture = 70\n')
    with pytest.raises(UserError, match=unread.format(70)):
        prepared(str(path))


VARIABLES = """
[constants.table]
type = "float32"
values = [5, 6.5]
[globals.start]
file = "start.npy"
"""


def test_variables_get_values(beside, tmp_path):
    """The first elements of `table` and all of `start` are those of the launch file, the others the code's own."""
    np.save(tmp_path / "start.npy", np.array([1, 2, 3], np.float32))
    kernel = prepared(str(beside(LAUNCH + VARIABLES)))
    assert struct.unpack("<4f", kernel.banks[3]) == (5, 6.5, 3, 4)
    (start,) = struct.unpack_from("<Q", kernel.banks[4], 8)
    image = memory.image(kernel).view(np.uint8)
    assert image[start - kernel.window :][:12].view("f4").tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"flip"', '"flop"', "k.toml:1:1: k.cubin: no kernel flop; did you mean flip?"),
        ('kernel = "flip"', "", 'k.cubin: has kernels pairs, flip; name one in k.toml: kernel = "..."'),
        ("[32]", "[256]", "k.toml:3:1: blocks of 256 threads; flip takes 128 at most (its __launch_bounds__)"),
        ("grid = [2]", "grid = [1, 65536]", "k.toml:2:1: 65536 blocks in y; a grid has 1 to 65535"),
        ('"int8"', '"int16"', "k.toml:12:3: parameter 3 of flip has 1 bytes; 2 are given"),
        (
            '[[argument]]\nvalue = 7\ntype = "int32"\n',
            "",
            "k.toml:1:1: flip has 4 parameters, of 8, 4, 1, 8 bytes; 3 arguments are given",
        ),
        ("grid = [2]", "grid = [0]", "k.toml:2:1: grid.0: expected `int` >= 1; gpusim schema launch lists the keys"),
        ("grid = [2]", "grids = [2]", "k.toml:2:1: unknown key grids; did you mean grid?"),
        ("fill =", "fil =", "k.toml:8:1: unknown key fil; did you mean fill?"),
        ("elements = 64", 'elements = "x"', "k.toml:7:1: argument.0.elements: expected `int`, got `str`; gpusim"),
        ("grid = [2]", "grid = [2", "k.toml:3:1: not TOML: "),
        (
            "[[argument]]\nval",
            "[constants.x]\nvalues = [1]\n[[argument]]\nval",
            "k.toml:9:2: no __constant__ variable x",
        ),
        (
            "[[argument]]\nval",
            "[globals.table]\nvalues = [1]\n[[argument]]\nval",
            "k.toml:9:2: table is __constant__; write it under [constants]",
        ),
        (
            "[[argument]]\nval",
            '[constants.table]\ntype = "int8"\nvalues = [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]\n[[argument]]\nval',
            "k.toml:9:2: 17 bytes for table, which has 16; give fewer values",
        ),
    ],
)
def test_what_is_wrong_is_said_at_its_place(beside, old, new, message):
    """A launch that the file or the code doesn't take is refused in one line with file, line, column and a fix."""
    assert old in LAUNCH
    found = refusal(beside(LAUNCH.replace(old, new, 1)))
    assert found.startswith(message), found


def test_missing_files(beside, tmp_path):
    """Code without a launch file, a launch file without code, and no file at all are refused with what to do."""
    path = beside()
    launch = path.with_suffix(".toml")
    text = launch.read_text()
    launch.unlink()
    assert refusal(path) == "k.cubin: no launch file k.toml; gpusim launch k.cubin --out k.toml writes a first one"
    path.unlink()
    assert refusal(path).startswith("k.cubin: No such file or directory; give a cubin")
    launch.write_text(text)
    message = 'k.toml:1:1: no code beside it: no k.cubin, k.cu, k.fatbin, k.sass, k.ptx; write code = "..."'
    assert refusal(launch) == message
    with pytest.raises(UserError, match="is a launch file by itself; leave out"):
        prepared(str(launch), tmp_path / "other.toml")
