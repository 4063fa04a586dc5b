import subprocess
import tomllib
from importlib.metadata import PackagePath
from pathlib import Path

import pytest

from gpusim.support import shipped
from isa.errors import UserError

ROOT = Path(__file__).parents[2]


def test_a_checkout_has_its_own_folders():
    """In a checkout the folders are those at its top."""
    assert shipped.folder("examples") == ROOT / "examples"
    assert shipped.folder("notebooks") == ROOT / "notebooks"


def test_an_installation_has_those_of_its_wheel(tmp_path, monkeypatch):
    """Without a checkout the folder is where the wheel put its files, wherever that is."""
    home = tmp_path / "lib" / "site-packages"
    there = tmp_path / "share" / "gpusim" / "examples" / "cuda"
    there.mkdir(parents=True)
    home.mkdir(parents=True)
    file = PackagePath("../../share/gpusim/examples/cuda/one.cu")
    file.dist = type("Dist", (), {"locate_file": staticmethod(lambda path: home / path)})
    monkeypatch.setattr(shipped, "ROOT", tmp_path)
    monkeypatch.setattr(shipped, "files", lambda _: [PackagePath("gpusim/__init__.py"), file])
    assert shipped.folder("examples") == there.parent
    with pytest.raises(UserError, match="notebooks: this installation has none"):
        shipped.folder("notebooks")


def test_a_copy_is_whole_and_replaces_nothing(tmp_path):
    """A copy has each file of the folder but what Python leaves there; a folder that exists is refused."""
    found = shipped.copied("examples", tmp_path / "mine")
    names = {path.relative_to(found) for path in found.rglob("*") if path.is_file()}
    tracked = subprocess.run(["git", "ls-files", "examples"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert {Path(line).relative_to("examples") for line in tracked.stdout.splitlines()} <= names
    assert Path("cuda/matmul.toml") in names
    with pytest.raises(UserError, match="mine: exists; give the name of a new folder"):
        shipped.copied("examples", tmp_path / "mine")


def test_a_copy_that_fails_leaves_nothing(tmp_path):
    """Where nothing can be written, one line says so."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="file/below: Not a directory; give another folder"):
        shipped.copied("examples", tmp_path / "file" / "below")


def test_the_wheel_has_every_file_of_the_folders():
    """The patterns of pyproject.toml name each example and lesson, and no folder that Python makes between them."""
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["data-files"]
    packed = {path for globs in patterns.values() for glob in globs for path in ROOT.glob(glob)}
    for name in ("examples", "notebooks"):
        files = {p for p in (ROOT / name).rglob("*") if p.is_file() and "__" not in str(p.relative_to(ROOT))}
        assert files <= packed
    for target, globs in patterns.items():
        assert all(f"share/gpusim/{Path(glob).parent}" == target for glob in globs)
        assert [glob for glob in globs if (Path(glob).parent / "__pycache__").match(glob)] == []
