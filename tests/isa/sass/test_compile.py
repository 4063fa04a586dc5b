"""The compiler's driver with a stand-in for nvcc, and with nvcc itself where it is installed."""

import shutil
import stat
import sys
from pathlib import Path

import pytest

from isa.errors import UserError
from isa.nvidia.compiler import compile, nvrtc, tools
from isa.nvidia.compiler.compile import CompileError, compile_file, compile_source
from isa.nvidia.file import code, cubin

DATA = Path(__file__).with_name("data")
ARCHITECTURES = 75, 80, 86, 89, 90
needs_nvcc = pytest.mark.skipif(
    not (tools.installed("nvcc") and shutil.which("g++")), reason="nvcc (extra cuda) or g++ is not installed"
)
STAND_IN = """\
import sys, pathlib
here = pathlib.Path({folder!r})
given = sys.argv[1:]
with (here / "calls").open("a") as calls:
    calls.write(" ".join(given) + "\\n")
if given == ["--version"]:
    print((here / "version").read_text())
elif "-M" in given:
    print(f"x.o : {{given[-1]}} \\\\\\n    {folder}/with\\\\ blank.h")
else:
    text = pathlib.Path(given[-1]).read_text()
    if "wrong" in text:
        sys.exit(sys.stderr.write(f"{{given[-1]}}(1): error: one\\n{{given[-1]}}(2): error: two\\n"))
    pathlib.Path(given[given.index("-o") + 1]).write_text("made of " + text)
"""


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """Return a folder with a stand-in for nvcc, ptxas and g++, nothing else installed, and a cache of its own."""
    monkeypatch.setattr(tools, "packaged", lambda _: [])
    monkeypatch.setattr(nvrtc, "available", lambda: False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    for setting in compile._SETTINGS:
        monkeypatch.delenv(setting, raising=False)
    for name in ("nvcc", "ptxas", "g++"):
        script = tmp_path / name
        script.write_text(f"#!{sys.executable}\n{STAND_IN.format(folder=str(tmp_path))}")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "version").write_text("release 1")
    (tmp_path / "with blank.h").write_text("// 1")
    (tmp_path / "k.cu").write_text("int x;")
    return tmp_path


def compilations(folder):
    """Return the options of each call that made a cubin."""
    return [line.split() for line in (folder / "calls").read_text().splitlines() if "-cubin" in line]


def test_the_same_source_is_compiled_once(folder):
    """The second time the cubin is the first one's."""
    assert [compile_file(folder / "k.cu") for _ in range(2)] == [b"made of int x;"] * 2
    (one,) = compilations(folder)
    assert one[:2] == ["-arch=sm_90", "-lineinfo"]


CHANGES = {
    "source": lambda folder: (folder / "k.cu").write_text("int y;"),
    "header": lambda folder: (folder / "with blank.h").write_text("// 2"),
    "version": lambda folder: (folder / "version").write_text("release 2"),
    "name": lambda folder: (folder / "k.cu").rename(folder / "l.cu"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_cubin_is_made_of(folder, change):
    """Another source, included file, compiler or place of the source makes another cubin."""
    compile_file(folder / "k.cu")
    CHANGES[change](folder)
    compile_file(next(folder.glob("*.cu")))
    assert len(compilations(folder)) == 2


@pytest.mark.long
def test_options_make_another_cubin(folder, monkeypatch):
    """Architecture, flags and nvcc's own variable of the environment each make another cubin."""
    for architecture, flags in ((90, ()), (80, ()), (90, ("-O3",)), (90, ("-O", "3")), (90, ())):
        compile_file(folder / "k.cu", architecture, flags)
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "-DX")
    compile_file(folder / "k.cu", 90)
    assert [one[0] for one in compilations(folder)] == ["-arch=sm_90", "-arch=sm_80", *["-arch=sm_90"] * 3]


def test_an_architecture_among_the_flags(folder):
    """`-arch=sm_90a` takes the place of our own option."""
    compile_file(folder / "k.cu", 90, ("-arch=sm_90a",))
    assert compilations(folder)[0][:2] == ["-lineinfo", "-arch=sm_90a"]


def test_errors_are_lines(folder):
    """The error is the compiler's first one, the others are further lines, and nothing is kept."""
    (folder / "k.cu").write_text("wrong")
    for _ in range(2):
        with pytest.raises(CompileError, match=rf"^{folder}/k\.cu:1: one$") as caught:
            compile_file(folder / "k.cu")
        assert caught.value.further == (f"{folder}/k.cu:2: two",)
    assert len(compilations(folder)) == 2


def test_a_text_is_compiled_as_a_file_of_its_name(folder, monkeypatch):
    """A text is compiled as a file whose lines count from its own first one; the second time it is the same cubin."""
    monkeypatch.chdir(folder)
    found = {compile_source("int z;", ("-O3",), 80, "mine.cu") for _ in range(2)}
    assert found == {b'made of #line 1 "mine.cu"\nint z;'}
    (one,) = compilations(folder)
    assert one[:3] == ["-arch=sm_80", "-lineinfo", "-O3"]


@pytest.mark.parametrize("name", ['a"b', "a\nb", "a\\b", ""])
def test_a_name_that_no_line_can_have(folder, name):
    """Quotes, backslashes and line breaks in the name are refused."""
    with pytest.raises(CompileError, match="no name of a file"):
        compile_source("int z;", (), 90, name)
    assert not (folder / "calls").exists()


def test_options_in_a_file_are_refused(folder):
    """Options in a file would not count for what is kept."""
    with pytest.raises(CompileError, match=r"^--options-file=x: options in a file are not read; write them out$"):
        compile_file(folder / "k.cu", 90, ("--options-file=x",))


@pytest.mark.parametrize("name", ["-ccbin=x.cu", "k$(touch made).cu", "k`touch made`.cu", 'k".cu', "k\\.cu"])
def test_a_file_whose_name_is_a_command(folder, monkeypatch, name):
    """A name that nvcc would take for an option, or its shell for a command, is refused before anything runs."""
    monkeypatch.chdir(folder)
    Path(name).write_text("int x;")
    with pytest.raises(CompileError, match="nvcc would not take this for a name; rename it"):
        compile_file(name)
    assert not any(name in line for line in (folder / "calls").read_text().splitlines())


@pytest.mark.long
@needs_nvcc
def test_errors_in_files_of_others_are_not_quoted(tmp_path):
    """What the compiler says of an included file beside the source is told; of one elsewhere the place alone."""
    own, other = tmp_path / "own", tmp_path / "other"
    for folder in (own, other):
        folder.mkdir()
        (folder / "words.h").write_text("secret words\n")
    (own / "k.cu").write_text('#include "words.h"\n')
    with pytest.raises(CompileError, match=r'own/words\.h:1:1: identifier "secret" is undefined'):
        compile_file(own / "k.cu")
    (own / "k.cu").write_text(f'#include "{other}/words.h"\n')
    with pytest.raises(CompileError, match=r"other/words\.h:1: an error; the source includes this file") as caught:
        compile_file(own / "k.cu")
    assert "secret" not in "".join((str(caught.value), *caught.value.further))


def test_a_missing_compiler(folder):
    """Without g++ nvcc does not run, and without nvcc there is no compiler: one line says what to install."""
    (folder / "g++").unlink()
    with pytest.raises(CompileError, match=r"k\.cu: nvcc needs g\+\+.*pip install 'gpusim\[cuda\]'$"):
        compile_file(folder / "k.cu")
    (folder / "nvcc").unlink()
    with pytest.raises(CompileError, match=r"k\.cu: CUDA C needs a compiler; run pip install 'gpusim\[cuda\]'$"):
        compile_file(folder / "k.cu")


def test_a_host_compiler_of_another_name(folder):
    """`-ccbin` names a host compiler, so g++ is not needed."""
    (folder / "g++").unlink()
    assert compile_file(folder / "k.cu", 90, ("-ccbin", "clang++")) == b"made of int x;"


def test_the_library_where_no_host_compiler_is(folder, monkeypatch):
    """Without g++ the library compiles, with the folder of the source for includes; what includes nothing is kept."""
    (folder / "g++").unlink()
    made = []
    monkeypatch.setattr(nvrtc, "available", lambda: True)
    monkeypatch.setattr(nvrtc, "version", lambda: "NVRTC 13.0")
    monkeypatch.setattr(nvrtc, "cubin", lambda source, name, flags: made.append((source, name, flags)) or b"cubin")
    for source in ("int x;", "#include <a.h>", "int x;", "#include <a.h>"):
        assert compile_source(source, ("-O3",), 80, "k.cu") == b"cubin"
    assert [one[0] for one in made] == ["int x;", "#include <a.h>", "#include <a.h>"]
    assert made[0][1:] == ("k.cu", ["-arch=sm_80", "-lineinfo", "-O3", f"-I{Path.cwd()}"])


def test_errors_of_the_library(folder, monkeypatch):
    """Below the library's errors a line says that it compiles device code alone."""

    def refuse(*_):
        raise nvrtc.NvrtcError("k.cu(1): error: one\n")

    (folder / "g++").unlink()
    monkeypatch.setattr(nvrtc, "available", lambda: True)
    monkeypatch.setattr(nvrtc, "version", lambda: "NVRTC 13.0")
    monkeypatch.setattr(nvrtc, "cubin", refuse)
    with pytest.raises(CompileError, match=r"^k\.cu:1: one$") as caught:
        compile_source("x", (), 90, "k.cu")
    assert caught.value.further == ("k.cu: compiled with NVRTC 13.0, for device code alone; nvcc needs g++",)


def test_a_file_that_is_not_there():
    """A missing file is refused in one line."""
    with pytest.raises(UserError, match=r"^nowhere\.cu: No such file"):
        compile_file("nowhere.cu")


@needs_nvcc
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_nvcc(architecture):
    """The compiler makes kernels with lines of source, whose parameters begin where the architecture's do."""
    found = code.read(DATA / "variables.cu", architecture)
    flip = found.cubin.functions["flip"].launch
    assert (found.architecture, flip.base) == (architecture, 0x210 if architecture == 90 else 0x160)
    assert {one.source.file for one in found.sections["flip"].instructions} == {str(DATA / "variables.cu")}


@pytest.mark.long
@needs_nvcc
def test_lines_of_a_text(monkeypatch, tmp_path):
    """Lines of a compiled text are those of a file of its name in the working directory."""
    monkeypatch.chdir(tmp_path)
    made = compile_source('extern "C" __global__ void k(int *x)\n{\n    x[0] = 1;\n}\n', (), 90, "mine.cu")
    (section,) = code.of_cubin(made, "mine.cu").sections.values()
    assert {(one.source.file, one.source.line) for one in section.instructions} >= {(f"{tmp_path}/mine.cu", 3)}


@needs_nvcc
def test_columns_of_nvcc():
    """Errors of nvcc have the columns of the source."""
    with pytest.raises(CompileError, match=r'^k\.cu:2:9: identifier "y" is undefined$'):
        compile_source("__global__ void k(int *x) {\n\tx[0] = y; }", (), 90, "k.cu")
    with pytest.raises(CompileError, match=r"^k\.cu:1:10: nowhere\.h: No such file or directory$"):
        compile_source("#include <nowhere.h>", (), 90, "k.cu")


@needs_nvcc
@pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed (extra cuda)")
def test_nvcc_and_the_library_agree(monkeypatch):
    """Both compile the same source to the same code; the library's release must be that of nvcc."""
    if nvrtc.version().split()[1] not in tools.version("nvcc"):
        pytest.skip("nvcc and NVRTC are of different releases")
    source = (DATA / "variables.cu").read_text()
    codes = []
    for host in (True, False):
        monkeypatch.setattr(compile, "_has_host_compiler", lambda _, host=host: host)
        found = cubin.read(compile_source(source, (), 90, "variables.cu"), "variables.cu")
        codes.append({name: one.code for name, one in found.functions.items()})
    assert codes[0] == codes[1]
    assert "flip" in codes[0]


@pytest.mark.long
@needs_nvcc
def test_code_of_a_header_has_the_line_that_calls_it(tmp_path):
    """Of the compiler's code, a product of halves has the line that asks for it, and the header's line beside it."""
    text = """#include <cuda_fp16.h>
__device__ float twice(float x) {
    return x * 2.5f + 1;
}
__global__ void k(__half2 *x, float *y) {
    x[0] = __hfma2(x[0], x[1], x[2]);
    y[0] = twice(y[1]);
}
"""
    (tmp_path / "k.cu").write_text(text)
    (section,) = code.read(tmp_path / "k.cu", 90).sections.values()
    product = next(one.source for one in section.instructions if "HFMA2" in one.text)
    helper = next(one.source for one in section.instructions if "FFMA" in one.text)
    assert (Path(product.file).name, product.line, Path(product.inlined[0]).stem) == ("k.cu", 6, "cuda_fp16")
    assert (Path(helper.file).name, helper.line, helper.inlined) == ("k.cu", 3, ("", 0))
