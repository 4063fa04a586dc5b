"""Launches that are written as they were, and read back."""

import struct
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from read.fenced import ROOT

from gpusim.engines.walks.program_order import walk
from gpusim.launch.file import arguments, prepare, source
from gpusim.launch.file.document import Initial, LaunchFile
from gpusim.launch.file.draft.capture import capture
from gpusim.launch.file.draft.capture import text as written
from isa.errors import UserError
from isa.generators import ArrayFill
from isa.kernel import Buffer
from isa.memory import bases
from isa.nvidia.abi import load
from isa.nvidia.abi.launch import WINDOW, LaunchState
from isa.nvidia.file import code
from isa.texture import TextureObject

FOLDER = ROOT / "examples" / "cuda"
PLACES = 1 << 20, 3 << 20, 2 << 20


def memory(name, values, place):
    """Return device memory as a program has it: bytes at a place."""
    data = np.ascontiguousarray(values).view(np.uint8).reshape(-1)
    return Buffer(name, "u1", len(data), ArrayFill(data), place)


def matmul(n=32):
    """Return the code of a matrix product, its source, and a launch of it with memory that nothing leads to."""
    found = code.read(FOLDER / "matmul.cubin")
    a, b = np.random.default_rng(1).random((2, n, n), np.float32)
    each = zip(
        ("allocation 1", "allocation 7", "allocation 3"), (a, b, np.zeros((n, n), np.float32)), PLACES, strict=True
    )
    (name,) = found.cubin.kernels
    state = LaunchState(
        kernel=name,
        grid=(n // 16, n // 16, 1),
        block=(16, 16, 1),
        arguments=struct.pack("<QQQi", *(WINDOW + place for place in PLACES), n),
        buffers=(*sorted((memory(*one) for one in each), key=lambda one: one.place), memory("spare", a, 5 << 20)),
        sms=132,
    )
    return found, (FOLDER / "matmul.cu").read_text(), state


def test_a_launch_comes_back(tmp_path):
    """The launch that is read has the same sizes, the same parameter block, and the same memory at the same places."""
    found, text, state = matmul()
    path = tmp_path / "k.toml"
    capture(path, found, state, image=(FOLDER / "matmul.cubin").read_bytes(), source=text)
    made, as_it_was = prepare.prepared(str(path)), load.kernel(found, state)
    assert (made.name, made.grid, made.block) == (as_it_was.name, as_it_was.grid, as_it_was.block)
    assert made.banks[0] == as_it_was.banks[0]
    ours, theirs = bases(made.buffers), bases(as_it_was.buffers)
    assert [one.place for one in made.buffers if one.place] == sorted(PLACES)
    for one in (each for each in made.buffers if each.place):
        other = next(each for each in as_it_was.buffers if theirs[each.name] == ours[one.name])
        index = np.arange(one.elements)
        before = np.zeros(one.elements, one.dtype) if one.fill is None else one.fill(index).astype(one.dtype)
        assert before.tobytes() == other.fill(np.arange(other.elements)).tobytes()


def test_names_are_the_sources_and_the_spare_is_left_out(tmp_path):
    """Buffers have the names of the parameters that point to them; memory to which nothing leads is not written."""
    found, text, state = matmul()
    made = capture(tmp_path / "k.toml", found, state, source=text)
    assert [one.name for one in made.buffer] == ["a", "c", "b"]
    assert [(one.name, one.same, one.value) for one in made.argument][-1] == ("n", "", 32)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["k.a.npy", "k.b.npy", "k.toml"]
    assert np.load(tmp_path / "k.a.npy").dtype == np.float32


@pytest.mark.jit
def test_what_memory_held_after_it_is_expected(tmp_path):
    """A launch with its results beside it runs and leaves the same."""
    found, text, state = matmul()
    left = walk(load.kernel(found, state)).memory.view(np.uint8)
    after = {"allocation 3": left[PLACES[2] : PLACES[2] + 4096]}
    path = tmp_path / "k.toml"
    capture(path, found, state, image=(FOLDER / "matmul.cubin").read_bytes(), source=text, after=after)
    made = prepare.prepared(str(path))
    (expected,) = made.outcome()
    assert expected.buffer == "c"
    again = walk(made).memory.view(np.uint8)[PLACES[2] : PLACES[2] + 4096].view(np.float32)
    assert np.array_equal(again, expected.value)
    assert again.any()


def test_memory_to_which_memory_leads_is_kept(tmp_path):
    """Addresses in memory lead to further buffers, of which each keeps its place, so that these addresses stay true."""
    found, _, state = matmul()
    rows = memory("rows", np.array([WINDOW + PLACES[1], 7], np.uint64), PLACES[0])
    others = [one for one in state.buffers if one.place != PLACES[0]]
    data = struct.pack("<QQQi", WINDOW + PLACES[0] + 8, 0, 0, 3)
    given = LaunchState(state.kernel, (1, 1, 1), (16, 16, 1), 64, data, (rows, *others[:2]), sms=132)
    made = capture(tmp_path / "k.toml", found, given)
    assert [one.place for one in made.buffer] == [PLACES[0], PLACES[1]]
    assert (made.argument[0].offset, made.argument[1].bytes, made.shared) == (8, "00" * 8, 64)
    read = source.read(tmp_path / "k.toml")
    assert read.file == made
    assert [one.place for one in arguments.buffers(read)] == [PLACES[0], PLACES[1]]


def test_variables_have_their_values(tmp_path):
    """A constant that the program has written is written as a table; one that is as in the code is left out."""
    found = code.read(FOLDER / "palette.cubin")
    (name,), bank = found.cubin.kernels, bytearray(found.cubin.constants)
    (variable,) = [one for one in found.cubin.variables.values() if one.constant]
    launch = found.cubin.functions[name].launch
    for value, tables in ((bank[variable.offset], []), (bank[variable.offset] ^ 1, ["constants"])):
        bank[variable.offset] = value
        constants = memory(load.bank_name(load.CONSTANTS), np.frombuffer(bytes(bank), np.uint8), 1 << 20)
        given = LaunchState(name, (1, 1, 1), (32, 1, 1), 0, bytes(launch.size), (constants,), sms=132)
        made = capture(tmp_path / "k.toml", found, given)
        assert [table for table in ("constants", "globals") if getattr(made, table)] == tables
    assert source.read(tmp_path / "k.toml").file == made


def test_a_cooperative_launch_stays_one(tmp_path):
    """A launch whose blocks may meet is read back as such, and any other as one whose blocks may not."""
    found, text, state = matmul()
    for cooperative in (True, False):
        capture(tmp_path / "k.toml", found, replace(state, cooperative=cooperative), source=text)
        assert source.read(tmp_path / "k.toml").file.cooperative is cooperative


@pytest.mark.parametrize(
    ("name", "key"), [("a$b", '"a$b"'), ("a.b", '"a.b"'), ("a-b_1", "a-b_1"), ("", '""'), ('a"b', '"a\\"b"')]
)
def test_keys_are_quoted_unless_bare(name, key):
    """A variable whose name is no bare key of TOML, such as a$b, is written in quotes and read back."""
    made = LaunchFile(kernel="k", globals={name: Initial(type="int32", values=[3])})
    assert msgspec.toml.decode(written(made), type=LaunchFile) == made
    assert f"\n[globals.{key}]\n" in written(made)


def test_what_is_not_captured_is_refused(tmp_path):
    """Textures, whose handles a launch file counts in its own way, and a text, which has no table, are refused."""
    found, _, state = matmul()
    texture = TextureObject("allocation 1", (4, 1, 1), "f4", 1, 16)
    for given, of, message in (
        (found, {"textures": (texture,)}, "matmul: a launch with textures can't be captured; take one without"),
        (
            code.Code(90, found.sections, None),
            {},
            "matmul: a text has no table of parameters; capture launches of a cubin",
        ),
    ):
        with pytest.raises(UserError, match=message):
            capture(tmp_path / "k.toml", given, LaunchState(**{**vars(state), **of}))


@pytest.mark.parametrize(
    ("places", "cause"),
    [
        ((4096, 8192), "b can't begin at 8192: it takes a multiple of 4096, 4096 or more behind 4100"),
        ((100, 0), "a can't begin at 100"),
    ],
)
def test_buffers_do_not_overlap(tmp_path, places, cause):
    """Places are pages with one between buffers, as those that buffers get; others are refused with the key's place."""
    tables = zip("ab", places, strict=True)
    text = "\n".join(f'[[argument]]\nname = "{n}"\nbuffer = "float32"\nelements = 1\nplace = {at}' for n, at in tables)
    path = tmp_path / "k.toml"
    path.write_text(text)
    with pytest.raises(UserError, match=rf"k.toml:\d+:1: {cause}"):
        arguments.buffers(source.read(path))
