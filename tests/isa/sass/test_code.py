"""Files of every kind, made from data/variables.cu."""

from pathlib import Path

import pytest

from isa.errors import UserError
from isa.sass import tools
from isa.sass.code import read

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


def test_a_dump():
    """A dump gives the code of its cubin, without resources."""
    found = read(DATA / "sm_80.sass")
    assert (found.architecture, found.cubin) == (80, None)
    assert texts(found) == texts(read(DATA / "sm_80.cubin"))


def test_a_text_that_does_not_name_its_architecture(tmp_path):
    """A dump without its head is read for any architecture that is asked for."""
    lines = (DATA / "sm_80.sass").read_text().splitlines(keepends=True)
    path = tmp_path / "headless.sass"
    path.write_text("".join(line for line in lines if "sm_80" not in line and "EF_" not in line))
    assert read(path).architecture == 0
    assert texts(read(path, 80)) == texts(read(DATA / "sm_80.cubin"))


@pytest.mark.parametrize(
    ("file", "architecture", "message"),
    [
        ("both.fatbin", None, "it holds machine code for sm_80, sm_90; choose one of these"),
        ("both.fatbin", 75, "it holds machine code for sm_80, sm_90, not for sm_75"),
        ("sm_80.cubin", 90, "machine code for sm_80, not for sm_90"),
        ("variables.cu", None, "no instructions; "),
        ("none.cubin", None, "No such file"),
    ],
)
def test_what_is_not_there(file, architecture, message):
    """A file without the code that is asked for is refused in one line, which begins with its name."""
    with pytest.raises(UserError, match=rf"{file}: {message}"):
        read(DATA / file, architecture)


def test_bytes(tmp_path):
    """Bytes that are no text, and a host's program without machine code, are refused."""
    (tmp_path / "noise").write_bytes(bytes(range(128, 256)))
    for path, message in ((tmp_path / "noise", "neither machine code nor text"), (Path("/bin/sh"), "device code")):
        with pytest.raises(UserError, match=rf"^{path}: .*{message}"):
            read(path)


def test_without_the_tool(monkeypatch, tmp_path):
    """A cubin needs nvdisasm; a dump doesn't."""
    monkeypatch.setattr(tools.sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"pip install 'gpusim\[cuda\]'"):
        read(DATA / "sm_90.cubin")
    assert read(DATA / "sm_80.sass").sections
