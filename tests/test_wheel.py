import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PARTS = "gpusim", "isa", "workloads", "examples", "notebooks"
COMES_WITH = {  # by extra, a module that it brings; compilers are programs
    "cubin": "elftools", "cuda": "elftools", "browser": "playwright", "docs": "sphinx", "lessons": "marimo",
    "parquet": "pyarrow", "perfetto": "perfetto", "test": "pytest", "check": "importlinter", "dask": "distributed",
    "optuna": "optuna", "tuner": "kernel_tuner", "numba": "numba_cuda", "triton": "triton",
    "plot": "matplotlib", "all": "marimo",
}  # fmt: skip


def done(*command, **how):
    """Run a command away from the checkout, and return what it prints."""
    elsewhere = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=elsewhere, **how)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from a copy of the sources."""
    source = tmp_path_factory.mktemp("source")
    for name in PARTS:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "__marimo__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    out = tmp_path_factory.mktemp("wheel")
    done(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(out), str(source), cwd=out)
    return next(out.glob("*.whl"))


def installed(wheel, folder, extra=""):
    """Install the wheel into a new environment, and return the folder of its programs."""
    done(sys.executable, "-m", "venv", str(folder))
    what = f"{wheel}[{extra}]" if extra else str(wheel)
    done(str(folder / "bin" / "python"), "-m", "pip", "install", "-q", what, cwd=folder)
    return folder / "bin"


def test_an_installed_wheel_has_all_that_it_needs(wheel, tmp_path):
    """Without a checkout a kernel runs, and examples and lessons are there, to list and to copy."""
    programs = installed(wheel, tmp_path / "venv")
    run = json.loads(done(str(programs / "gpusim"), "run", "chain", "--json", cwd=tmp_path))
    assert run["verified"] is True
    examples = json.loads(done(str(programs / "gpusim"), "examples", "--copy", "mine", "--json", cwd=tmp_path))
    assert len(examples["examples"]) == len([*(ROOT / "examples").rglob("*.cu"), *(ROOT / "examples").rglob("*.asm")])
    done(str(programs / "gpusim"), "run", "mine/saxpy.asm", cwd=tmp_path)
    lessons = json.loads(done(str(programs / "gpusim"), "lessons", "--json", cwd=tmp_path))
    assert Path(lessons["folder"]).is_relative_to(tmp_path)
    typed = "import gpusim, pathlib; assert (pathlib.Path(gpusim.__file__).parent / 'published').is_dir()"
    done(str(programs / "python"), "-c", typed, cwd=tmp_path)


def test_every_extra_has_its_module():
    """Each extra of pyproject.toml is installed by a test below."""
    assert set(COMES_WITH) == set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize("extra", COMES_WITH)
def test_an_extra_installs_with_the_wheel(wheel, extra, tmp_path):
    """The wheel with an extra brings what the extra is for, and the command line works."""
    programs = installed(wheel, tmp_path / "venv", extra)
    done(str(programs / "python"), "-c", f"import {COMES_WITH[extra]}", cwd=tmp_path)
    assert done(str(programs / "gpusim"), "--version", cwd=tmp_path) == f"gpusim {PROJECT['version']}\n"
