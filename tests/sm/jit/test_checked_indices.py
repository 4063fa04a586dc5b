"""Rules under NUMBA_BOUNDSCHECK=1, where Numba checks every index."""

import json
import os
import subprocess
import sys

import pytest

from gpusim.commands.main import execute

ELEMENT = """
import numpy as np
from gpusim.sm.jit.rule import entry, rule

@rule
def element(numbers, i):
    return numbers[i]

@entry
def outer(numbers, i):
    return element(numbers, i)

for i in 2, -1, 3:
    try:
        print(outer(np.arange(3), i))
    except IndexError as error:
        print(error)
"""
RUNS = {  # what has mechanisms and arrays of its own
    "Fermi": "run chain --machine gtx580",
    "GCN": "run cadence --machine mi60",
    "tags, machine code": "run examples/cuda/reverse.toml",
    "bulk copies without tags": "run examples/tensor/bulk.toml --set cache.hits=none",
    "all SMs": "run stream --machine gtx980 --sms all",
}


def _checked(folder, *command):
    """What a command prints where every index is checked."""
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(folder)}
    return subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.jit
def test_an_index_of_minus_one_is_an_error(tmp_path):
    """Where indices are checked, a computed -1 in a rule ends with IndexError, as an index behind the array does."""
    assert _checked(tmp_path, "-c", ELEMENT).splitlines() == ["2", "index is out of bounds", "index is out of bounds"]


@pytest.mark.jit
@pytest.mark.slow
@pytest.mark.parametrize("command", RUNS.values(), ids=RUNS)
def test_no_rule_indexes_outside_an_array(command, capsys, tmp_path_factory):
    """With every index checked, launches end as they do without: no rule indexes before or behind an array."""
    given = [*command.split(), "--json"]
    checked = _checked(tmp_path_factory.getbasetemp(), "-m", "gpusim", *given)
    assert execute(given) == 0
    assert json.loads(checked) == json.loads(capsys.readouterr().out)
