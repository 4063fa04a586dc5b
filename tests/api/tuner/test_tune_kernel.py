"""Kernels and scripts of which one line is changed, their import, with the released Kernel Tuner."""

import json
from pathlib import Path

import numpy as np
import pytest
from space_files import needs_compiler

import gpusim.api.kernel_tuner as ours
from isa.errors import UserError

SCRIPTS = Path(__file__).parent / "scripts"
VECTOR_ADD = "from kernel_tuner import tune_kernel", "from gpusim.kernel_tuner import tune_kernel"
FILTERED = "import kernel_tuner\n", "import gpusim.kernel_tuner as kernel_tuner\n"
pytestmark = [pytest.mark.jit, needs_compiler, pytest.mark.usefixtures("card")]
ADD = """
%s void add(%s) {
  int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
"""
PLAIN = ADD % ('extern "C" __global__', "float *c, const float *a, const float *b, int n")
TEMPLATE = ADD % ("template <typename T> __global__", "T *c, const T *a, const T *b, int n")
SIZE = 1000
TIME = "_time"  # ends the names of columns that differ between runs


def script(name, change):
    """Run a script with one line changed; return its results and environment."""
    text = (SCRIPTS / name).read_text()
    assert text.count(change[0]) == 1
    names = {}
    exec(compile(text.replace(*change), name, "exec"), names)
    return names["results"], names["env"]


@pytest.mark.long
def test_a_script_tunes_all_points(card):
    """The sum of vectors is tuned and right at each point; blocks of 2048 threads are none of the space."""
    results, env = script("vector_add.py", VECTOR_ADD)
    assert sorted(each["block_size_x"] for each in results) == [64, 64, 256, 256, 1024, 1024]
    assert env["best_config"] == min(results, key=lambda each: each["time"])
    for each in results:
        assert "bound" not in each
        assert each["GB/s"] == pytest.approx(1.2 / each["time"])
        assert sum(share for name, share in each.items() if name.startswith("stall_")) == pytest.approx(100)
    assert env["device_name"] == card.name


def test_a_bound_is_found_where_it_is_asked_for(card):
    """Without it columns are the same but for the bound and its limiter; with it the time is the same, and no less."""
    (plain,) = tuned()
    ours.use(card, bounded=True)
    (found,) = tuned()
    assert found.keys() - plain.keys() == {"bound", "limiter"}
    assert found["time"] == plain["time"] >= found["bound"] > 0
    assert found["limiter"]


@pytest.mark.long
def test_strategy_restrictions_constants_and_cache(card, tmp_path, monkeypatch):
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
    assert kept["device_name"] == card.name
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


def arguments():
    """A kernel's arrays: its result, and what it adds."""
    a, b = np.arange(SIZE, dtype=np.float32), np.ones(SIZE, np.float32)
    return [np.zeros(SIZE, np.float32), a, b, np.int32(SIZE)]


def tuned(source=PLAIN, name="add", blocks=(64,), **named):
    """Tune the sum of two vectors; return the columns of each point that are the same in each run."""
    given = arguments()
    answer = [given[1] + given[2], None, None, None]
    points = {"block_size_x": list(blocks)}
    results, _ = ours.tune_kernel(name, source, SIZE, given, points, answer=answer, quiet=True, **named)
    return [{key: one for key, one in each.items() if not key.endswith((TIME, "timestamp"))} for each in results]


@pytest.mark.long
def test_languages_of_cuda():
    """A kernel has one time in all languages that are CUDA C++; an instance of a template is the same kernel."""
    (plain,) = tuned()
    assert plain["time"] > 0
    for lang in "cuda", "CUPY", "NVCUDA", "PYCUDA":
        assert tuned(lang=lang) == [plain]
    for lang in None, "CUPY":
        (one,) = tuned(TEMPLATE, "add<float>", lang=lang)
        assert one["time"] == plain["time"]


@pytest.mark.long
def test_blocks_that_a_function_lets_pass_are_skipped():
    """Where a function restricts, a point with too many threads is in the space, and invalid as on a card."""
    small, large = tuned(blocks=(64, 2048), restrictions=lambda point: point["block_size_x"] > 1)
    assert small["time"] > 0
    assert type(large["__error__"]).__name__ == "InvalidConfig"


@pytest.mark.long
def test_opencl_is_the_same_kernel():
    """A kernel in OpenCL C has the machine code, and so the time, of the same kernel in CUDA C."""
    source = """
    __kernel void add(__global float *c, __global const float *a, __global const float *b, int n) {
      int i = get_global_id(0);
      if (i < n) c[i] = a[i] + b[i];
    }
    """
    (plain,) = tuned(PLAIN.replace("block_size_x", "blockDim.x"))
    (one,), (named,) = tuned(source), tuned(source, lang="OpenCL")
    assert one == named == plain


@pytest.mark.long
def test_a_parameter_unrolls():
    """A parameter says how often a loop is unrolled, as NVRTC lets it: the code of two is not that of one."""
    loop = "#pragma unroll times\n  for (int k = 0; k < 64; k++) c[i] += b[k * n];"
    source = PLAIN.replace("a[i] + b[i];", f"a[i];\n{loop}")
    points = {"block_size_x": [32], "times": [1, 8]}
    given = [np.zeros(32, np.float32), np.zeros(32, np.float32), np.zeros(32 * 64, np.float32), np.int32(32)]
    one, eight = ours.tune_kernel("add", source, 32, given, points, quiet=True)[0]
    assert one["time"] > eight["time"]


@pytest.mark.long
def test_processes_find_what_one_does():
    """Three processes return the points in order, each with what one process finds; a wrong answer ends them all."""
    blocks = 32, 64, 96, 2048, 128, 160
    assert tuned(blocks=blocks, parallel=3) == tuned(blocks=blocks)
    with pytest.raises(RuntimeError, match="result verification failed"):
        tuned(PLAIN.replace("a[i] + b[i]", "a[i] - b[i]"), blocks=blocks, parallel=2)


@pytest.mark.long
def test_processes_keep_to_a_budget_and_a_cache(tmp_path):
    """With a strategy that hands on one list of points, processes work on those that the cache lacks."""
    cache = str(tmp_path / "kept.json")
    options = {"strategy": "random_sample", "strategy_options": {"max_fevals": 3}}
    first = tuned(blocks=(32, 64, 96, 128), parallel=2, cache=cache, **options)
    assert len(first) == 3
    assert len(json.loads(Path(cache).read_text())["cache"]) == 3
    whole = tuned(blocks=(32, 64, 96, 128), parallel=2, cache=cache)
    assert [one["block_size_x"] for one in whole] == [32, 64, 96, 128]
    known = {one["block_size_x"]: one["time"] for one in first}
    assert all(one["time"] == known.get(one["block_size_x"], one["time"]) for one in whole)


def test_a_strategy_may_ask_for_nothing():
    """A strategy that hands on no points gets no results, by several processes, too."""

    class Idle:
        @staticmethod
        def tune(_space, runner, options):
            return runner.run([], options)

    assert tuned(blocks=(32, 64), parallel=2, strategy=Idle()) == []


@pytest.mark.long
def test_verify_without_an_answer():
    """A function that checks results gets all arrays after the launch, and None for the answer."""
    seen, given = [], arguments()

    def verify(answer, results, atol):
        seen.append((answer, atol, results))
        return True

    ours.tune_kernel("add", PLAIN, SIZE, given, {"block_size_x": [64]}, verify=verify, atol=0.5, quiet=True)
    ((answer, atol, results),) = seen
    assert answer is None
    assert atol == 0.5
    assert np.array_equal(results[0], given[1] + given[2])
    assert results[3] is None


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"parallel": -1}, "parallel=-1: give a number of processes"),
        ({"strategy": "guess"}, "strategy='guess': unknown; take one of"),
        ({"lang": "HIP"}, "lang=HIP: the simulated card runs CUDA, CUPY, NVCUDA, PYCUDA and OPENCL"),
        ({"texmem_args": {"image": np.zeros(1)}}, "texmem_args: image: CUDA 12 has no texture references"),
        ({"tune_params": {"nvml_gr_clock": [1000]}}, "nvml_gr_clock: the simulated card has one clock"),
    ],
)
def test_what_it_refuses(named, message):
    """What a simulated card can't do is refused in one line."""
    given = {"tune_params": {"block_size_x": [32]}, "quiet": True} | named
    with pytest.raises(UserError, match=message):
        ours.tune_kernel("add", PLAIN, SIZE, arguments(), **given)


@pytest.mark.long
def test_kernels_in_c_are_the_hosts():
    """A function in C is timed by Kernel Tuner itself, on the host; a replayed cache is not simulated either."""
    source = "float f(float *a) { a[0] = 3; return 1; }"
    (one,), env = ours.tune_kernel("f", source, 1, [np.zeros(1, np.float32)], {"x": [1]}, lang="C", quiet=True)
    assert "bound" not in one
    assert "simulation" not in env


def test_cards_without_machine_code_are_refused():
    """A Fermi executes no machine code, so nothing compiled can be tuned for it."""
    with pytest.raises(UserError, match="gtx580: executes no machine code; take "):
        ours.use("gtx580")


def test_without_the_extra(monkeypatch):
    """Without Kernel Tuner the message says what to install."""
    monkeypatch.setattr(ours, "find_spec", lambda _: None)
    with pytest.raises(UserError, match=r"pip install gpusim\[tuner\]"):
        ours.tune_kernel()
    with pytest.raises(UserError, match=r"pip install gpusim\[tuner\]"):
        ours.use("a100")
