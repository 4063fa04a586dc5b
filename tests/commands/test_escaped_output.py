"""A symbol of machine code may have escape codes, which no output gives to a terminal."""

from pathlib import Path

import pytest

from gpusim.commands.main import execute
from isa.nvidia.compiler import tools

DATA = Path(__file__).parents[1] / "isa" / "sass" / "data"
CODE = b"\x1b[1m"  # as long as the name that it replaces
needs_nvdisasm = pytest.mark.skipif(not tools.installed("nvdisasm"), reason="nvdisasm is not installed (extra cubin)")


@pytest.fixture
def cubin(tmp_path, monkeypatch):
    """Make a folder with a cubin whose kernel's name is an escape code the current one."""
    data = (DATA / "sm_90.cubin").read_bytes()
    assert data.count(b"flip\0")
    (tmp_path / "k.cubin").write_bytes(data.replace(b"flip\0", CODE + b"\0"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@needs_nvdisasm
@pytest.mark.parametrize(
    "command",
    [["sass", "k.cubin"], ["sass", "k.cubin", "\x1b[1m"], ["sass", "k.cubin", "--json"], ["sass", "k.cubin", "\x1b[2m"],
     ["launch", "k.cubin", "\x1b[1m"], ["launch", "k.cubin", "\x1b[1m", "--out", "k.toml"], ["run", "\x1b[1m.asm"],
     ["run", "chain", "--set", "\x1b[1m"], ["\x1b[1m"]],
)  # fmt: skip
def test_no_command_prints_an_escape_code(cubin, command, capsys):
    """Lists, code, documents, files and errors show the name's escape code and have no control character."""
    execute(command)
    told = capsys.readouterr()
    written = [path.read_text() for path in cubin.glob("*.toml")]
    shown = "".join((told.out, told.err, *written))
    assert "\x1b" not in shown
    assert "\\x1b[" in shown or "\\u001b[" in shown


@pytest.mark.jit
def test_no_view_has_an_escape_code(tmp_path, monkeypatch):
    """Timelines in every format show a listing's name and its text with escapes: no control character is left."""
    monkeypatch.chdir(tmp_path)
    name = "\x1b[1m.asm"
    Path(name).write_text("MOV R0, 1  // \x1b[31m red \u202e\nEXIT\n")
    for form in ("kanata", "csv", "svg", "html", "json"):
        out = f"x.{form}"
        command = ["view", name] if form == "html" else ["export", name, "--format", form]
        assert execute([*command, "--out", out]) == 0
        text = Path(out).read_text()
        assert not any(ord(one) < 0x20 and one not in "\n\t" for one in text)
        assert "\u202e" not in text
        assert form in ("csv", "kanata") or "\\x1b[1m" in text.replace("\\\\", "\\")
