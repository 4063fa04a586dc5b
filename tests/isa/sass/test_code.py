"""Files of every kind, made from data/variables.cu."""

import dataclasses
from pathlib import Path

import pytest

from isa.errors import UserError
from isa.nvidia.compiler import compile, tools
from isa.nvidia.file import cubin
from isa.nvidia.file.code import of_cubin, read

DATA = Path(__file__).with_name("data")


def texts(code):
    """Return the encodings by function."""
    return {name: [(i.low, i.high) for i in section.instructions] for name, section in code.sections.items()}


def test_a_cubin():
    """A cubin gives code, resources and source lines."""
    found = read(DATA / "sm_90.cubin")
    assert (found.architecture, set(found.sections)) == (90, {"flip", "_Z5pairs4Pairs"})
    assert found.cubin.kernels
    lines = {i.source.line for i in found.sections["flip"].instructions if i.text.startswith("LDS")}
    assert lines == {18}  # x[threadIdx.x] = tile[31 - threadIdx.x] + ...


@pytest.mark.parametrize("architecture", [80, 90])
def test_a_fat_binary(architecture):
    """The code in a fat binary is that of the cubin for the architecture."""
    assert texts(read(DATA / "both.fatbin", architecture)) == texts(read(DATA / f"sm_{architecture}.cubin"))


@pytest.fixture
def executable(monkeypatch, tmp_path):
    """A function that returns the path of an executable with these cubins, which cuobjdump takes out."""

    def with_cubins(*held):
        def run(tool, arguments, *, about, folder=None, **_):
            if tool != "cuobjdump":
                return tools_run(tool, arguments, about=about, folder=folder)
            for number, name in enumerate(held):
                (folder / f"app.{number}.sm_90.cubin").write_bytes((DATA / f"{name}.cubin").read_bytes())
            return ""

        tools_run, path = tools.run, tmp_path / "app"
        monkeypatch.setattr(tools, "run", run)
        path.write_bytes((DATA / "both.fatbin").read_bytes())
        return path

    return with_cubins


def test_cubins_without_kernels_do_not_count(executable):
    """Of an executable's two cubins for an architecture the one with kernels is read: nvcc 13 adds an empty one."""
    assert texts(read(executable("empty_90", "sm_90"))) == texts(read(DATA / "sm_90.cubin"))


@pytest.mark.parametrize("name", ["empty_90", "sm_90"])
def test_two_cubins_that_are_alike(executable, name):
    """Two cubins with kernels are refused, and two without."""
    with pytest.raises(UserError, match="app: it holds 2 cubins for sm_90; take one out"):
        read(executable(name, name))


def test_a_dump():
    """A dump gives the code of its cubin, without resources."""
    found = read(DATA / "sm_80.sass")
    assert (found.architecture, found.cubin) == (80, None)
    assert texts(found) == texts(read(DATA / "sm_80.cubin"))


def test_a_text_that_does_not_name_its_architecture(tmp_path):
    """A dump without its head is read for the architecture that is asked for."""
    lines = (DATA / "sm_80.sass").read_text().splitlines(keepends=True)
    path = tmp_path / "headless.sass"
    path.write_text("".join(line for line in lines if "sm_80" not in line and "EF_" not in line))
    assert read(path).architecture == 0
    assert texts(read(path, 80)) == texts(read(DATA / "sm_80.cubin"))


def test_a_text_for_several_architectures(tmp_path):
    """Of a fat binary's text, the code for the architecture that is asked for is read; without one it is refused."""
    path, one = tmp_path / "fat.sass", (DATA / "sm_80.sass").read_text()
    path.write_text(
        one + one.replace("sm_80", "sm_90").replace("EF_CUDA_SM80", "EF_CUDA_SM90").replace("0x00000a00", "0x00000b00")
    )
    assert read(path, 80).architecture == 80
    assert texts(read(path, 80)) == texts(read(DATA / "sm_80.sass"))
    assert read(path, 90).architecture == 90
    assert texts(read(path, 90)) != texts(read(path, 80))
    with pytest.raises(UserError, match="it holds machine code for sm_80, sm_90; choose one"):
        read(path)
    with pytest.raises(UserError, match="it holds machine code for sm_80, sm_90, not for sm_75"):
        read(path, 75)


def test_one_that_is_read_is_proposed(tmp_path):
    """Of several architectures that of the compiler is proposed, or the latest that is read; others are refused."""
    path, one = tmp_path / "fat.sass", (DATA / "sm_80.sass").read_text()
    of = {n: one.replace("sm_80", f"sm_{n}").replace("CUDA_SM80", f"CUDA_SM{n}") for n in (86, 88, 90, 101, 120)}
    for more, names, best in ((of[101], "sm_86, sm_101", 86), (of[90] + of[120], "sm_86, sm_90, sm_120", 90)):
        path.write_text(of[86] + one + more)
        with pytest.raises(
            UserError, match=rf"for sm_80, {names}; choose one, as in --arch {best}, or .*: architecture = {best}$"
        ):
            read(path)
    for numbers in ((88, 101), (88,)):
        path.write_text("".join(of[n] for n in numbers))
        names = ", ".join(f"sm_{n}" for n in numbers)
        with pytest.raises(UserError, match=f"machine code for {names}; this reads sm_75, sm_80, .*, sm_121: "):
            read(path)
    with pytest.raises(UserError, match=r"machine code for sm_88; this reads"):
        read(path, 88)


@pytest.mark.parametrize(
    ("file", "architecture", "message"),
    [
        ("both.fatbin", None, "it holds machine code for sm_80, sm_90; choose one, as in --arch 90"),
        ("both.fatbin", 75, "it holds machine code for sm_80, sm_90, not for sm_75"),
        ("sm_80.cubin", 90, "machine code for sm_80, not for sm_90"),
        ("../../test_bulk.py", None, "no instructions; "),
        ("none.cubin", None, "No such file"),
    ],
)
def test_what_is_not_there(file, architecture, message):
    """A file without the code that is asked for is refused in one line, which begins with its name."""
    with pytest.raises(UserError, match=rf"{file}: {message}"):
        read(DATA / file, architecture)


@pytest.mark.long
def test_the_text_of_a_cubin_is_kept(monkeypatch, tmp_path):
    """The second time a cubin's code is not disassembled again, and is the same; another version of the tool is."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    run, ran, versions = tools.run, [], ["release 1", "release 1", "release 2"]
    monkeypatch.setattr(tools, "version", lambda _: versions.pop(0))
    monkeypatch.setattr(tools, "run", lambda name, *rest, **more: ran.append(name) or run(name, *rest, **more))
    found = [texts(read(DATA / "sm_90.cubin")) for _ in range(3)]
    assert found[0] == found[1] == found[2]
    assert ran == ["nvdisasm", "nvdisasm"]


def test_cuda_c(monkeypatch):
    """A `.cu` file is compiled for the architecture and with the flags that are asked for."""
    asked = []
    made = (DATA / "sm_80.cubin").read_bytes()
    monkeypatch.setattr(compile, "compile_file", lambda *given: asked.append(given) or made)
    assert texts(read(DATA / "variables.cu", 80, ("-O3",))) == texts(read(DATA / "sm_80.cubin"))
    assert asked == [(DATA / "variables.cu", 80, ("-O3",))]
    with pytest.raises(UserError, match="machine code for sm_80, not for sm_90"):
        read(DATA / "variables.cu", 90, ("-arch=sm_80",))
    with pytest.raises(
        UserError, match=r"sm_80\.cubin: neither CUDA C nor PTX to compile with -O3; leave these options out"
    ):
        read(DATA / "sm_80.cubin", 80, ("-O3",))


def test_a_source_without_kernels(monkeypatch):
    """A cubin without functions, as a source with templates alone gives, says what is missing."""
    empty = dataclasses.replace(cubin.read((DATA / "sm_80.cubin").read_bytes(), "k"), functions={})
    monkeypatch.setattr(cubin, "read", lambda *_: empty)
    with pytest.raises(UserError, match=r"^k\.cu: it has no kernel; write a __global__ function"):
        of_cubin(b"", "k.cu")


def test_bytes(tmp_path):
    """Bytes that are no text, and a host's program without machine code, are refused."""
    (tmp_path / "noise").write_bytes(bytes(range(128, 256)))
    for path, message in ((tmp_path / "noise", "neither machine code nor text"), (Path("/bin/sh"), "device code")):
        with pytest.raises(UserError, match=rf"^{path}: .*{message}"):
            read(path)


def test_without_the_tool(monkeypatch, tmp_path):
    """A cubin needs nvdisasm; a dump doesn't."""
    monkeypatch.setattr(tools, "packaged", lambda _: [])
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"pip install 'gpusim\[cubin\]'"):
        read(DATA / "sm_90.cubin")
    assert read(DATA / "sm_80.sass").sections


@pytest.mark.slow
def test_a_damaged_cubin_on_which_nvdisasm_does_not_end():
    """Of a cubin with a flipped byte nvdisasm computes for minutes: it is stopped after 5 s, and one line says so."""
    with pytest.raises(UserError) as caught:
        read(DATA / "flipped.cubin")
    name = DATA / "flipped.cubin"
    assert str(caught.value) == f"{name}: nvdisasm computed for 5 s and was stopped; give a file that is not damaged"
