import stat
import sys
import tomllib

import pytest
from read.fenced import ROOT

from isa.sass import tools


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch, tmp_path):
    """Hide the packages and the path."""
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
