"""The four products of examples/gemm: each computes what NumPy gives."""

import numpy as np
import pytest
from read.fenced import ROOT

from examples.gemm import expected
from gpusim.commands.main import execute

FOLDER = ROOT / "examples" / "gemm"
NAMES = [path.stem for path in sorted(FOLDER.glob("*.toml"))]


def test_the_file_holds_what_numpy_gives():
    """The file beside the launches is that of the script, to the bit."""
    np.testing.assert_array_equal(np.load(FOLDER / "c.npy"), expected.product())


@pytest.mark.jit
@pytest.mark.parametrize("name", NAMES)
def test_each_way_gives_the_same_product(name, capsys):
    """By plain loads, LDGSTS, a warpgroup and tensor copies every value is exact; both blocks are checked."""
    assert len(NAMES) == 4
    assert execute(["run", str(FOLDER / f"{name}.toml"), "--machine", "h200"]) == 0
    screen = " ".join(capsys.readouterr().out.split())
    assert "right: 32,768 of 32,768 values in 2 of 2 blocks, 1 of them untimed; exact" in screen
