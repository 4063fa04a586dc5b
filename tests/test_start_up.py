"""What a start does not import: each of these takes longer than a small simulation, or nearly."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHAIN = "import io, sys; from contextlib import redirect_stdout; from gpusim.commands.main import execute\n" + (
    "with redirect_stdout(io.StringIO()):\n    assert execute(['run', 'chain']) == 0\nprint(*sys.modules)"
)


def loaded(script):
    """Return the modules that a process names when it ends."""
    command = [sys.executable, "-c", script]
    return {*subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.split()}


def below(modules, packages):
    """Return those modules that belong to these packages."""
    return {name for name in modules if any(f"{name}.".startswith(f"{package}.") for package in packages)}


def test_the_package_alone_imports_no_other():
    """`import gpusim` loads neither NumPy nor a compiler, a command-line library or a module of our own."""
    modules = loaded("import sys, gpusim; print(*sys.modules)")
    others = ("numpy", "numba", "llvmlite", "msgspec", "typer", "rich", "pydantic", "isa", "workloads")
    assert "gpusim" in modules
    assert not below(modules, others)
    assert below(modules, ["gpusim"]) == {"gpusim"}


@pytest.mark.jit
@pytest.mark.long
def test_a_run_from_the_cache_imports_no_compiler():
    """`gpusim run chain`, whose code is kept by a run before, loads neither Numba nor what only machine code needs."""
    loaded(CHAIN)
    modules = loaded(CHAIN)
    assert "llvmlite.binding" in modules
    needless = ("numba", "networkx", "simpy", "jinja2", "gpusim.sm.jit.compiler", "gpusim.programs", "gpusim.api")
    assert not below(modules, needless)
    assert not below(modules, ("isa.nvidia.file", "isa.nvidia.lowering", "isa.nvidia.compiler", "multiprocessing"))
