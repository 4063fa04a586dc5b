import stat
import sys
import time
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from read.fenced import ROOT

from isa.nvidia.compiler import tools


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch, tmp_path):
    """Hide the packages and the paths."""
    monkeypatch.setattr(tools, "find_spec", lambda _: None)
    monkeypatch.setattr(tools.sysconfig, "get_path", lambda _: str(tmp_path / "packages"))
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def script(path, text):
    """Write an executable Python script."""
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_a_missing_tool():
    """Without the tool, one line names the extra to install: the small one for what reads machine code."""
    for name, brings in (("nvdisasm", "cubin"), ("cuobjdump", "cubin"), ("nvcc", "cuda"), ("ptxas", "cuda")):
        with pytest.raises(tools.ToolError) as caught:
            tools.find(name)
        assert str(caught.value) == f"{name} is not installed; run pip install 'gpusim[{brings}]'"


def test_the_extras_bring_the_tools():
    """pyproject.toml has each tool's package in the extra that messages name."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for name in ("nvdisasm", "cuobjdump", "nvcc"):
        assert any(one.startswith(f"nvidia-cuda-{name}") for one in extras[tools.extra_of(name)])


def test_the_newest_package_is_preferred(nothing_installed):
    """A tool of the newest CUDA package is found before an older one, and any of these before the path's."""
    script(nothing_installed / "nvdisasm", "")
    assert tools.find("nvdisasm") == nothing_installed / "nvdisasm"
    for version in ("cu12", "cu13"):
        folder = nothing_installed / "packages" / "nvidia" / version / "bin"
        folder.mkdir(parents=True)
        script(folder / "nvdisasm", "")
    assert "cu13" in str(tools.find("nvdisasm"))


def test_packages_on_pythons_path_are_found(nothing_installed, monkeypatch):
    """After `pip install --target FOLDER` the tools lie there, and a folder on Python's path is all that says so."""
    for place, version in (("target", "cu13"), ("packages", "cu12")):
        folder = nothing_installed / place / "nvidia" / version / "bin"
        folder.mkdir(parents=True)
        script(folder / "nvdisasm", "")
    assert "cu12" in str(tools.find("nvdisasm"))
    monkeypatch.syspath_prepend(nothing_installed / "target")
    monkeypatch.setattr(tools, "find_spec", find_spec)
    assert tools.find("nvdisasm") == nothing_installed / "target" / "nvidia" / "cu13" / "bin" / "nvdisasm"


@pytest.mark.long
def test_a_tool_that_computes_too_long_is_stopped(nothing_installed):
    """A tool that computes beyond its limit is stopped, and so is what it has started; the error is one line."""
    started = nothing_installed / "started"
    script(
        nothing_installed / "spins",
        f"""
import os, subprocess, sys
one = subprocess.Popen([sys.executable, "-c", "while True: pass"])
open({str(started)!r}, "w").write(str(one.pid))
while True: pass
""",
    )
    with pytest.raises(tools.ToolError) as caught:
        tools.run("spins", [], about="k.cubin", seconds=1)
    assert str(caught.value) == "k.cubin: spins computed for 1 s and was stopped; give a file that is not damaged"
    assert ended(int(started.read_text()))


def ended(pid):
    """Tell whether a process ends within 30 s, or is a zombie, whose limit has stopped it."""
    for _ in range(300):
        stat_file = Path(f"/proc/{pid}/stat")
        if not stat_file.exists() or ") Z" in stat_file.read_text():
            return True
        time.sleep(0.1)
    return False


def test_a_tool_that_waits_too_long_is_stopped(nothing_installed, monkeypatch):
    """A tool that does nothing for longer than any may take is stopped, too."""
    monkeypatch.setattr(tools, "LONGEST", 1)
    script(nothing_installed / "waits", "import time; time.sleep(600)")
    with pytest.raises(
        tools.ToolError, match=r"^k: waits ran for 1 s and was stopped; give a file that is not damaged$"
    ):
        tools.run("waits", [], about="k")


def test_larger_files_may_take_longer():
    """A small file has 5 s, each MB more 10."""
    assert [tools.reading_seconds(size) for size in (0, 5816, 1 << 20, 10 << 20)] == [5, 5, 15, 105]


def test_a_tool_that_refuses(nothing_installed):
    """A refusal is one line: the user's file, the tool, and the last line that it wrote."""
    script(
        nothing_installed / "ptxas", "import sys; sys.stderr.write('note\\nptxas fatal: no such file\\n'); sys.exit(1)"
    )
    with pytest.raises(tools.ToolError, match=r"^a\.cu: ptxas: fatal: no such file$"):
        tools.run("ptxas", ["x"], about="a.cu")


def test_what_a_tool_prints(nothing_installed):
    """Arguments reach the tool; its output comes back."""
    script(nothing_installed / "echoes", "import sys; print(sys.argv[1:])")
    assert tools.run("echoes", ["-a", nothing_installed], about="k") == f"['-a', '{nothing_installed}']\n"
