"""Scripts for Kernel Tuner of which one line is changed, its import, with the released package."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from space_files import needs_compiler

import gpusim.api.kernel_tuner as ours
from gpusim.machine.machine import load
from isa.errors import UserError

SCRIPTS = Path(__file__).parent / "scripts"
VECTOR_ADD = "from kernel_tuner import tune_kernel", "from gpusim.api.kernel_tuner import tune_kernel"
FILTERED = "import kernel_tuner\n", "import gpusim.api.kernel_tuner as kernel_tuner\n"
pytestmark = [pytest.mark.jit, needs_compiler]


@pytest.fixture(autouse=True)
def _card():
    """A small card, whose launches are quick, and Kernel Tuner."""
    pytest.importorskip("kernel_tuner")
    ours.use(load("rtx3090", {"chip.sms": 4}))
    yield
    ours.use(ours.DEFAULT)


def script(name, change):
    """Run a script with one line changed; return its results and environment."""
    text = (SCRIPTS / name).read_text()
    assert text.count(change[0]) == 1
    names = {}
    exec(compile(text.replace(*change), name, "exec"), names)
    return names["results"], names["env"]


@pytest.mark.long
def test_a_script_tunes_all_points():
    """The sum of vectors is tuned and right at each point; a block of 2048 threads can't be launched."""
    results, env = script("vector_add.py", VECTOR_ADD)
    assert len(results) == 8
    invalid = [each for each in results if "__error__" in each]
    assert {each["block_size_x"] for each in invalid} == {2048}
    timed = [each for each in results if "__error__" not in each]
    assert env["best_config"] == min(timed, key=lambda each: each["time"])
    for each in timed:
        assert each["time"] >= each["bound"] > 0
        assert each["GB/s"] == pytest.approx(1.2 / each["time"])
        assert sum(share for name, share in each.items() if name.startswith("stall_")) == pytest.approx(100)
    assert env["device_name"] == load("rtx3090").name


@pytest.mark.long
def test_strategy_restrictions_constants_and_cache(tmp_path, monkeypatch):
    """Seven random points of a filter are right; those with too much shared memory are skipped; the cache has all.

    A second run takes those that it draws again from the cache.
    """
    monkeypatch.chdir(tmp_path)
    cache = tmp_path / "filtered.json"
    results, _ = script("filtered.py", FILTERED)
    assert len(results) == 7
    for each in results:
        assert each["block_size_x"] * each["tile_size_x"] <= 256
        shared = 4 * each["depth"] * (each["block_size_x"] * each["tile_size_x"] + 16)
        assert ("__error__" in each) == (shared > 48 << 10)
    kept = json.loads(cache.read_text())
    assert {key: one["time"] for key, one in kept["cache"].items() if "__error__" not in one} == {
        f"{one['block_size_x']},{one['tile_size_x']},{one['depth']}": one["time"]
        for one in results
        if "__error__" not in one
    }
    assert kept["device_name"] == load("rtx3090").name
    again, _ = script("filtered.py", FILTERED)
    for each in again:
        key = f"{each['block_size_x']},{each['tile_size_x']},{each['depth']}"
        assert each.get("time") == kept["cache"].get(key, each).get("time")
    assert set(kept["cache"]) <= set(json.loads(cache.read_text())["cache"])


@pytest.mark.long
def test_wrong_values_are_told(tmp_path, monkeypatch):
    """A wrong answer ends the script as on a card; Kernel Tuner leaves the source in the working directory."""
    monkeypatch.chdir(tmp_path)
    wrong = "answer=[a + b, None", "answer=[a - b, None"
    text = (SCRIPTS / "vector_add.py").read_text().replace(*VECTOR_ADD).replace(*wrong)
    with pytest.raises(RuntimeError, match="result verification failed"):
        exec(compile(text, "vector_add.py", "exec"), {})


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"parallel": 2}, "parallel: the simulated card runs one kernel at a time"),
        ({"strategy": "guess"}, "strategy='guess': unknown; take one of"),
        ({"lang": "OpenCL"}, "lang=OPENCL: the simulated card runs CUDA"),
    ],
)
def test_what_it_refuses(named, message):
    """What a simulated card can't do is refused in one line."""
    given = ("k", "__kernel void k() {}", 32, [np.int32(1)], {"block_size_x": [32]})
    with pytest.raises(UserError, match=message):
        ours.tune_kernel(*given, quiet=True, **named)


def test_cards_without_machine_code_are_refused():
    """A Fermi executes no machine code, so nothing compiled can be tuned for it."""
    with pytest.raises(UserError, match="gtx580: executes no machine code; take "):
        ours.use("gtx580")


def test_without_the_extra(monkeypatch):
    """Without Kernel Tuner the message says what to install."""
    monkeypatch.setattr(ours, "find_spec", lambda _: None)
    monkeypatch.delitem(sys.modules, "kernel_tuner", raising=False)
    with pytest.raises(UserError, match=r"pip install gpusim\[tuner\]"):
        ours.tune_kernel()
