"""PTX: what is one, its lines, what it is compiled for, and the errors of ptxas."""

import re
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import gpusim
from gpusim.commands import main
from isa.errors import UserError
from isa.nvidia.abi.declaration import declared
from isa.nvidia.compiler import tools
from isa.nvidia.compiler.ptx import compile_ptx, is_ptx, own_architecture
from isa.nvidia.compiler.ptx_lines import with_lines
from isa.nvidia.file.code import cubin_of_image, of_cubin, read

MOST_SECONDS = 5  # of the processor, that docs/reliability.md promises
EXAMPLES = Path(__file__).parents[3] / "examples"
needs_ptxas = pytest.mark.skipif(not tools.installed("ptxas"), reason="ptxas (extra cuda) is not installed")
SCALE = """\
// by hand
.version 7.0
.target sm_52
.address_size 64
.global .align 4 .b32 table[4] = {1,
    2, 3, 4};

.visible .entry scale(.param .u64 .ptr .global .align 4 x, .param .f32 a, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<5>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [x]; ld.param.f32 %f1, [a];  // two in a line: {
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r2, %r2,
        %r3, %r4;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f2, [%rd4];
    { .reg .b64 %two; mov.b64 %two, {%r1,
        %r2}; }
    mul.f32 %f3, %f2, %f1;
    st.global.f32 [%rd4], %f3;
DONE: ret;
}
"""


def encodings(cubin):
    """Return the instructions of all kernels."""
    sections = of_cubin(cubin, "k.ptx").sections
    return {name: [(i.text, i.low, i.high) for i in section.instructions] for name, section in sections.items()}


def test_what_is_ptx():
    """A text is PTX if its first word behind comments is a version; other texts, and dumps, are not."""
    assert is_ptx(SCALE)
    assert is_ptx(b"\n/* a\n.b */ .version 9.0\n.target sm_90")
    assert not is_ptx('// .version 7.0\nextern "C" __global__ void k() {}')
    assert not is_ptx('\t.headerflags\t@"EF_CUDA_SM90"\n.version 9.0')


def test_lines_of_its_own():
    """Each instruction is told its line, in blocks and behind labels too, but no directive, list or operand."""
    found = with_lines(SCALE, "/k.ptx").splitlines()
    told = {n: [int(one) for one in re.findall(r"\.loc 1 (\d+) 0 ", line)] for n, line in enumerate(found, 1)}
    assert {n: lines for n, lines in told.items() if lines} == {
        **{n: [n] for n in (15, 16, 17, 18, 19, 21, 22, 23, 24, 25, 26, 28, 29, 30)},
        14: [14, 14],
    }
    assert "@%p1 bra DONE" in found[21]
    assert ".loc 1 22 0 @%p1" in found[21]
    assert found[-1] == '.file 1 "/k.ptx"'


def test_lines_of_a_compiler_stay():
    """A text that names lines of source keeps them, and one whose file has a quote in its name gets none."""
    text = SCALE.replace("    ld.param.u32", "    .loc 1 7 0\n    ld.param.u32")
    assert with_lines(text, "/k.ptx") == text
    assert with_lines(SCALE, '/a"b.ptx') == SCALE


@needs_ptxas
def test_lines_change_no_code():
    """The machine code is the same with lines and without, and its instructions have the lines of the PTX."""
    plain, lined = (compile_ptx(SCALE.encode(), 90, (), "k.ptx", file) for file in ("", "k.ptx"))
    assert encodings(plain) == encodings(lined)
    code = of_cubin(lined, "k.ptx").sections["scale"].instructions
    assert {(Path(i.source.file).name, i.source.line) for i in code if i.text.startswith("FMUL")} == {("k.ptx", 28)}
    assert {i.source.line for i in code if i.text.startswith("STG")} == {29}


@needs_ptxas
@pytest.mark.long
@pytest.mark.parametrize("name", ["cuda/histogram", "cuda/sort_local", "gemm/wgmma", "tensor/flash"])
def test_lines_change_no_code_of_a_compiler(name, tmp_path):
    """So it is for what nvcc makes of examples, without its own lines."""
    if not tools.installed("nvcc"):
        pytest.skip("nvcc is not installed")
    made = tmp_path / "k.ptx"
    subprocess.run([tools.find("nvcc"), "-ptx", "-arch=sm_90a", "-o", made, EXAMPLES / f"{name}.cu"], check=True)
    text = made.read_bytes()
    plain, lined = (compile_ptx(text, 90, (), "k.ptx", file) for file in ("", "k.ptx"))
    assert encodings(plain) == encodings(lined)
    assert any(i.source.line for section in of_cubin(lined, "k").sections.values() for i in section.instructions)


@needs_ptxas
@pytest.mark.parametrize(
    ("asked", "own", "wanted"), [(None, "52", 90), (80, "52", 80), (None, "90a", 90), (None, "120", 120)]
)
def test_what_it_is_compiled_for(asked, own, wanted):
    """PTX goes to the architecture that is asked for, else to 90, or to its own where that is later."""
    text = SCALE.replace("sm_52", f"sm_{own}").replace(".version 7.0", ".version 8.8")
    assert of_cubin(compile_ptx(text.encode(), asked, (), "k.ptx"), "k").architecture == wanted


@needs_ptxas
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sm_52", "sm_90", r"k\.ptx: its \.target is sm_90, for it and later ones, not sm_80; choose --arch 90"),
        ("sm_52", "sm_90a", r"k\.ptx: its \.target is sm_90a, for that one alone, not sm_80"),
        ("add.s64", "addd.s64", r"k\.ptx:24: Not a name of any known instruction: 'addd'"),
        (".version 7.0", ".version 99.0", r"k\.ptx:2: Unsupported \.version 99\.0; current version is"),
        ("%f2, [%rd4]", "%f9, [%rd4]", r"k\.ptx:25: Arguments mismatch for instruction 'ld'"),
        (".target sm_52", "", r"k\.ptx:4: Missing \.target|k\.ptx:4: Target architecture not defined"),
    ],
)
def test_errors(old, new, message):
    """An error of ptxas is a line with file, line and cause, and so is an architecture that is too early."""
    with pytest.raises(UserError, match=message) as caught:
        compile_ptx(SCALE.replace(old, new).encode(), 80, (), "k.ptx", "k.ptx")
    assert "/tmp" not in str(caught.value)


@needs_ptxas
def test_several_errors():
    """They come in the order of the lines, each once."""
    text = SCALE.replace("st.global.f32", "str.global.f32").replace("setp.ge.u32", "setq.ge.u32")
    with pytest.raises(UserError, match=r"k\.ptx:21: .*'setq'") as caught:
        compile_ptx(text.encode(), 90, (), "k.ptx")
    assert [line.partition(": ")[0] for line in caught.value.further] == ["k.ptx:29"]


@needs_ptxas
def test_options(monkeypatch, tmp_path):
    """The assembler gets what nvcc would hand on, and its own options; an executable's text ends at its zero byte."""
    ran, outcome = [], tools.outcome

    def noted(name, arguments, **more):
        ran.append([str(one) for one in arguments])
        return outcome(name, arguments, **more)

    monkeypatch.setattr(tools, "outcome", noted)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    options = ("-Xptxas", "-O1,-v", "--ptxas-options=-warn-spills", "-maxrregcount=32", "-lineinfo", "-arch=sm_89")
    assert of_cubin(compile_ptx(SCALE.encode() + b"\0junk", None, options, "k.ptx"), "k").architecture == 89
    given = next(one for one in ran if "-o" in one)
    assert given[:-3] == ["-lineinfo", "-O1", "-v", "-warn-spills", "-maxrregcount=32", "-arch=sm_89"]
    with pytest.raises(UserError, match=r"k\.ptx: ptxas: Unknown option 'DN'"):
        compile_ptx(SCALE.encode(), None, ("-DN=4",), "k.ptx")


def test_without_ptxas(monkeypatch, tmp_path):
    """Where ptxas is missing the extra that has it is named."""
    monkeypatch.setattr(tools, "packaged", lambda _: [])
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"k\.ptx: PTX needs ptxas; run pip install 'gpusim\[cuda\]'"):
        compile_ptx(SCALE.encode(), 90, (), "k.ptx")


def test_parameters():
    """A kernel's list says names and real numbers; a compiler's names are replaced, and other lists are not read."""
    found = declared(SCALE, "scale")
    assert [(one.name, one.type.text if one.type else "") for one in found] == [
        ("x", ""),
        ("a", "float"),
        ("n", ""),
    ]
    compiled = SCALE.replace("n)", "scale_param_2)").replace(".u32 scale", ".align 8 .b8 scale").replace("2)", "2[24])")
    assert [one.name for one in declared(compiled, "scale")] == ["x", "a", "a3"]
    assert declared(SCALE, "other") is None
    assert declared(SCALE.replace(".param .f32 a", "a"), "scale") is None
    assert declared(".version 9.0\n.target sm_90\n.entry k\n{ ret; }", "k") == ()


@needs_ptxas
def test_a_module_of_a_text():
    """RawModule takes a text of PTX; a Python number for a real parameter is one; results have its lines."""
    x = np.arange(100, dtype=np.float32)
    result = gpusim.RawModule(SCALE).get_function("scale")((2,), (64,), (x, 2, 90))
    assert np.array_equal(x, np.where(np.arange(100) < 90, 2, 1) * np.arange(100))
    assert {line["line"] for line in result.lines if "mul.f32" in line["text"]} == {28}


@needs_ptxas
def test_a_file_of_it(tmp_path, capsys):
    """`launch` drafts with its names, `run` runs it for the machine, `sass` lists it; a text without the ending too."""
    file = tmp_path / "scale.ptx"
    file.write_text(SCALE)
    assert main.execute(["launch", str(file), "--out", str(file.with_suffix(".toml"))]) == 0
    draft = file.with_suffix(".toml")
    assert 'name = "x"' in draft.read_text()
    draft.write_text(draft.read_text().replace("architecture = 90\n", ""))
    assert main.execute(["run", str(file), "--machine", "rtx3090"]) == 0
    assert "scale on rtx3090" in capsys.readouterr().out
    other = file.rename(tmp_path / "scale.txt")
    assert main.execute(["sass", str(other), "--nvcc-flags", "-arch=sm_80"]) == 0
    assert "sm_80, 1 kernel" in " ".join(capsys.readouterr().out.split())


@pytest.fixture
def holding(monkeypatch, tmp_path):
    """A function that returns the path of a fat binary with texts of PTX, and no machine code unless some is given."""

    def with_texts(texts, cubins=()):
        def run(tool, arguments, *, about, folder=None, **more):
            if tool != "cuobjdump" or folder is None:
                return tools_run(tool, arguments, about=about, folder=folder, **more)
            held = cubins if arguments[0] == "-xelf" else texts
            for number, (name, data) in enumerate(held):
                (folder / f"app.{number}.{name}").write_bytes(data)
            return ""

        tools_run, path = tools.run, tmp_path / "app"
        monkeypatch.setattr(tools, "run", run)
        path.write_bytes(b"\x50\xed\x55\xba" + bytes(64))
        return path

    return with_texts


def of(own):
    """Return a name in a fat binary, and the PTX of this target."""
    return f"sm_{own}.ptx", SCALE.replace("sm_52", f"sm_{own}").encode()


@needs_ptxas
def test_ptx_alone(holding):
    """A fat binary with PTX alone is compiled from the latest that fits; one that is too late is refused."""
    assert read(holding([of(75), of(80)]), 86).architecture == 86
    assert read(holding([of(80)])).architecture == 90
    with pytest.raises(UserError, match=r"app: its PTX: its \.target is sm_90, for it and later ones, not sm_80"):
        read(holding([of(90)]), 80)
    with pytest.raises(UserError, match="app: it holds 2 texts of PTX for sm_80; take one out: cuobjdump -xptx all"):
        read(holding([of(80), of(80)]))
    with pytest.raises(UserError, match="app: it holds neither machine code nor PTX"):
        read(holding([]))


@needs_ptxas
def test_ptx_beside_machine_code(holding):
    """Machine code of the architecture comes first; PTX stands in for another one, where it is not too late."""
    cubin = compile_ptx(SCALE.encode(), 80, (), "k.ptx")
    app = holding([of(75)], [("sm_80.cubin", cubin)])
    assert read(app).architecture == 80
    assert read(app, 89).architecture == 89
    for image in (app.read_bytes(), SCALE.encode()):
        assert of_cubin(cubin_of_image(image, "image", 86), "image").architecture == 86
    app = holding([of(90)], [("sm_80.cubin", cubin)])
    with pytest.raises(UserError, match="app: it holds machine code for sm_80, not for sm_86"):
        read(app, 86)


@pytest.mark.parametrize("text", ["{" * 300_000, "{} " * 150_000, "\n" * 300_000, ".global .b8 x[1] = {1}\n" * 30_000])
def test_lines_are_put_in_at_once(text):
    """Texts whose braces or blank lines go on cost no more than their length: within what reliability.md promises."""
    begin = time.process_time()
    assert with_lines(f".version 8.0\n{text}", "/k.ptx")
    assert own_architecture(text) == 0
    assert time.process_time() - begin < MOST_SECONDS


def test_a_target_of_many_digits_is_none():
    """A number that no architecture has is left to the assembler."""
    assert own_architecture(f".version 8.0\n.target sm_{'9' * 5000}\n") == 0
    assert own_architecture(" \t.target sm_120a, debug") == 120


@needs_ptxas
def test_a_file_whose_name_is_no_text_has_no_lines(tmp_path):
    """A byte of its path that is no UTF-8, which Linux allows: its code is compiled, and lines are left out."""
    name = str(tmp_path / "k\udcff.ptx")
    assert with_lines(SCALE, name) == SCALE
    found = of_cubin(compile_ptx(SCALE.encode(), 90, (), name, name), "k.ptx")
    assert not any(one.source.line for one in found.sections["scale"].instructions)
