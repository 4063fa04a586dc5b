import subprocess
import sys
from importlib.metadata import version

from gpusim.commands.main import execute


def test_version_is_that_of_the_package(capsys):
    """`gpusim --version` prints name and version of the installed package, and nothing else."""
    assert execute(["--version"]) == 0
    assert capsys.readouterr() == (f"gpusim {version('gpusim')}\n", "")


def test_python_m_gpusim_is_the_command():
    """`python -m gpusim` prints what the command prints and ends with its exit code."""
    ended = subprocess.run([sys.executable, "-m", "gpusim", "--version"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, f"gpusim {version('gpusim')}\n")
    refused = subprocess.run([sys.executable, "-m", "gpusim", "machine"], capture_output=True, text=True, check=False)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("error: gpusim: No such command 'machine'")
