"""First launch files of the kernels in tests/isa/sass/data."""

from dataclasses import replace
from pathlib import Path

import pytest
from draws import draws
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lowered import stand_in
from msgspec import structs

from gpusim.launch.file import prepare, source
from gpusim.launch.file.draft import guess, template, text
from isa.nvidia.file import code
from isa.nvidia.file.choice import kernels
from isa.nvidia.file.code import Code
from isa.nvidia.file.cubin import Launch, Parameter
from isa.nvidia.file.dump import Encoded, Section

DATA = Path(__file__).parents[2] / "isa" / "sass" / "data"
FILES = "sm_75.cubin", "sm_80.cubin", "sm_90.cubin", "launch_90.cubin", "sm_80.sass"
NAME = "_Z5saxpyifPKfPfbPv"
SAXPY = Code(90, {NAME: Section()}, None)


def written(tmp_path, words):
    """Return what is read from a launch file with this text."""
    path = tmp_path / "k.toml"
    path.write_text(words)
    return source.read(path)


def drafted(found, name, file, source="", *, beside=True):
    """Return the text of a kernel's first draft, which names its code unless it lies `beside` it."""
    draft = template.drafts(found, name, file, source)[0]
    return text.text(found, name, template.without_code(draft) if beside else draft, file)


@pytest.mark.parametrize("file", FILES)
def test_what_is_written_is_read_back(tmp_path, file):
    """The text with its comments says the same as the launch file that it is made of, for each kernel."""
    found = code.read(DATA / file)
    for name in kernels(found):
        words = drafted(found, name, file, beside=False)
        assert written(tmp_path, words).file == template.launch_file(found, name, file)


@pytest.mark.parametrize("file", [file for file in FILES if file.endswith(".cubin")])
def test_the_first_launch_is_one_that_the_code_takes(tmp_path, monkeypatch, file):
    """Sizes, number and bytes of the arguments are those of the kernel's table, so nothing is refused."""
    stand_in(monkeypatch, "EXIT")
    found = code.read(DATA / file)
    for name in kernels(found):
        launch = written(tmp_path, drafted(found, name, file))
        assert prepare.kernel(launch, found, file).threads <= 128


def test_no_name_begins_a_line(tmp_path):
    """Line feeds and controls in a file's name are shown as escapes, in comments and values: no key comes of them."""
    found, file = code.read(DATA / "sm_90.cubin"), "k\nshared = 9\r\x1b#.cubin"
    words = drafted(found, "flip", file, beside=False)
    assert words.startswith(r"# A launch of flip in k\nshared = 9\x0d\x1b#.cubin; gpusim schema")
    assert written(tmp_path, words).file.shared == 0
    assert written(tmp_path, words).file.code == file


def test_guesses_are_said():
    """Without types in the name, 8 bytes are guessed to be a pointer, and 4 a whole number; the text says so."""
    found = code.read(DATA / "sm_90.cubin")
    words = drafted(found, "flip", "k.cubin")
    assert "# parameter 1: 8 bytes at offset 0; guessed: a pointer to float32\n" in words
    assert "# parameter 2: 4 bytes at offset 8; guessed: int32 (or uint32, float32)\n" in words
    assert "threads of a block in x, y, z; at most 128 (__launch_bounds__)\n" in words
    assert "bytes of dynamic shared memory, besides 128 that the code declares\n" in words
    assert "# [constants.table]   # 16 bytes\n" in words


def test_types_in_the_name_are_no_guess(tmp_path):
    """A C++ name says the types, also where a text has no table of parameters."""
    file = written(tmp_path, drafted(SAXPY, NAME, "k.sass")).file
    kinds = [(one.type or one.buffer or one.bytes) for one in file.argument]
    assert kinds == ["int32", "float32", "float32", "float32", "bool", "uint8"]
    assert [bool(one.buffer) for one in file.argument] == [False, False, True, True, False, True]
    assert "guessed" not in drafted(SAXPY, NAME, "k.sass")


def test_the_example_of_a_result_is_of_a_buffer_that_may_change():
    """Of y = f(const x), the example expects something of y, although x comes last."""
    name = "_Z5saxpyPfPKf"
    given = replace(SAXPY, sections={name: next(iter(SAXPY.sections.values()))})
    assert '# buffer = "a1"\n' in drafted(given, name, "k.sass")


@pytest.mark.parametrize(("shape", "size"), [("1D", [1024]), ("2D", [32, 32]), ("3D", [16, 8, 8])])
def test_a_texture_is_guessed_in_the_dimensions_of_the_fetches(shape, size):
    """A number of 8 bytes where code fetches texels is a texture, of as many dimensions as a fetch has coordinates."""
    fetch = Encoded(0, f"TEX.SCR.B.LL RZ, R4, R2, R4, {shape}, 0x1", 0, 0)
    found = guess.guesses(Code(90, {"_Z5texelyPf": Section([fetch])}, None), "_Z5texelyPf")
    assert found[0].argument.texture.size == size
    assert found[0].argument.elements == 1024
    assert found[1].argument.texture is None


def test_variables_of_libraries_are_left_out():
    """Variables of libcu++, CUB, Thrust, the standard library and the compiler, by mangled names, are not named."""
    own = "table", "_ZN2my5countE", "_ZN5cudas1xE"
    of_libraries = (
        "_ZN30_INTERNAL_c6d22f70_5_k1_cu_bfs4cuda3std3__419piecewise_constructE",
        "_ZN4cuda3std3__45__cpo5beginE",
        "_ZN6thrust23THRUST_300001_SM_900_NS6system6detail10sequential3seqE",
        "_ZN3cub17CUB_300001_SM_9006detail5countE",
        "_ZNSt8ios_base4InitE",
        "__cudart_i2opi_f",
    )
    tables = "_ZTV4Base", "_ZTI4Base", "_ZTS4Base"  # of classes with virtual functions
    assert [name for name in (*own, *of_libraries, *tables) if text._is_own(name)] == list(own)


def test_the_source_says_names_and_types():
    """Of a C name, names and types are those of the source, but types of another size than the parameter's."""
    found = code.read(DATA / "sm_90.cubin")
    sizes = [one.size for one in found.cubin.functions["flip"].launch.parameters]
    assert sizes == [8, 4, 1, 8]
    source = 'extern "C" __global__ void flip(__half2 *in, float scale, Flag on, long n) { }'
    one, two, three, four = template.launch_file(found, "flip", "k.cu", source).argument
    assert (one.name, one.buffer, one.elements) == ("in_", "float16", 2048)
    assert (two.name, two.value, two.type) == ("scale", 1.0, "float32")
    assert (three.name, three.bytes) == ("on", "00")
    assert (four.name, four.type) == ("n", "int64")
    short = 'extern "C" __global__ void flip(float *x, double scale, bool on, int n) { }'
    assert [one.type for one in template.launch_file(found, "flip", "k.cu", short).argument] == [
        "",
        "int32",
        "bool",
        "",
    ]


@pytest.mark.parametrize("source", ["", "__global__ void flip(int n) { }", "__global__ void other(int a, int b) { }"])
def test_a_source_that_does_not_fit_changes_nothing(source):
    """A source without the kernel, or with another number of parameters, leaves the guesses as they are."""
    found = code.read(DATA / "sm_90.cubin")
    assert guess.guesses(found, "flip", source) == guess.guesses(found, "flip")


@pytest.mark.parametrize(
    ("parameter", "element", "elements"),
    [("P7__half2", "float16", 2048), ("P6float4", "float32", 4096), ("Pv", "uint8", 1024), ("P3Big", "uint8", 65536)],
)
def test_buffers_hold_as_many_values_as_there_are_threads(parameter, element, elements):
    """A buffer has room for 1024 vectors, or structs of a guessed size, which the comment says."""
    name = f"_Z1k{parameter}"
    (one,) = guess.guesses(replace(SAXPY, sections={name: Section()}), name)
    assert (one.argument.buffer, one.argument.elements) == (element, elements)
    assert ("guessed: at most 64 bytes each" in one.comment) == (parameter == "P3Big")


# Letters of types in mangled names with their bytes; "" is a C function's, whose name says no types.
SCALARS = {"b": 1, "c": 1, "h": 1, "s": 2, "t": 2, "i": 4, "j": 4, "f": 4, "l": 8, "m": 8, "x": 8, "y": 8, "d": 8}
POINTERS = dict.fromkeys(("Pv", "PKv", "Pf", "PKd", "PPf", "Ph", "P6float4", "P6__half", "P3Big"), 8)
OTHERS = {"6__half": 2, "13__nv_bfloat16": 2, "13__nv_fp8_e4m3": 1, "6float2": 8, "6float4": 16, "4int3": 12}
SIZES = st.integers(1, 64) | st.sampled_from((1, 2, 4, 8, 16, 1999, 2000, 2001, 2560, 4000, 12000))


@st.composite
def parameter(draw):
    """Letters of a type, its bytes and its alignment: each kind that a kernel's parameter can be."""
    if draw(st.booleans()):
        letters, size = draw(st.sampled_from([*SCALARS.items(), *POINTERS.items(), *OTHERS.items()]))
        return letters, size, min(size & -size, 16)
    size = draw(SIZES)  # a struct
    return "3Big", size, draw(st.sampled_from([each for each in (1, 2, 4, 8, 16) if size % each == 0]))


def with_parameters(found, drawn, named):
    """Return code of one kernel with these parameters, whose name says their types or does not; and its name."""
    table, end = [], 0
    for _, size, alignment in drawn:
        table.append(Parameter(end + -end % alignment, size))
        end = table[-1].offset + size
    name = "_Z1k" + ("".join(letters for letters, _, _ in drawn) or "v") if named else "k"
    function = replace(found.cubin.functions["flip"], name=name, launch=Launch(0x210, end, tuple(table)))
    cubin = replace(found.cubin, functions={name: function}, variables={}, relocations=())
    return Code(90, {name: found.sections["flip"]}, cubin), name


@settings(max_examples=draws(300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.lists(parameter(), max_size=5), named=st.booleans())
def test_each_kind_of_parameter_comes_back(tmp_path, monkeypatch, drawn, named):
    """What is written for a kernel with any parameters is read back the same, and is a launch that its code takes."""
    stand_in(monkeypatch, "EXIT")
    code_, name = with_parameters(code.read(DATA / "sm_90.cubin"), drawn, named)
    launch = written(tmp_path, drafted(code_, name, "k.cubin"))
    assert launch.file == replace_code(template.launch_file(code_, name, "k.cubin"))
    made = prepare.kernel(launch, code_, "k.cubin")
    assert len(made.banks[0]) >= 0x210 + sum(size for _, size, _ in drawn)


def replace_code(file):
    """Return a launch file that does not name its code, as one beside it does."""
    return structs.replace(file, code="")


def test_long_bytes_take_several_lines():
    """Bytes of a struct of 2,560 bytes stand in lines of 64, and those of a short one in one line."""
    code_, name = with_parameters(code.read(DATA / "sm_90.cubin"), [("3Big", 2560, 4), ("3Big", 12, 4)], named=True)
    code_ = replace(code_, sections={name: Section()})  # which reads none of them
    lines = drafted(code_, name, "k.cubin").splitlines()
    at = lines.index('bytes = """\\')
    assert lines[at + 1 : at + 42] == ["00" * 64 + "\\"] * 40 + ['"""']
    assert f'bytes = "{"00" * 12}"' in lines
