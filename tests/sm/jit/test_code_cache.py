from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from draws import few
from llvmlite import binding

from gpusim.sm.jit import code_cache
from isa.support.cache_folder import DIGEST

ROOT = Path(__file__).parents[3]
LEND = """
import numpy as np
from gpusim.sm.chip.chip.chip import lend
from gpusim.sm.state.room import made, sizes
sms, chips = (made(kind, 1, sizes({})) for kind in ("sm", "chip"))
chips["next"] = 7
lend(sms, 0, chips, 1)
print(sms[0].launch.next)
"""
FULL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))" + LEND  # bytes per file
HELPED = """
from gpusim.sm.jit.rule import entry
from gpusim.sm.helper import helped

@entry
def through(x):
    return helped(x)
"""
HELPER = """
from gpusim.sm.jit.rule import rule

@rule
def helped(x):
    return x + 1
"""
MIX = """
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from workloads.catalog import make
print(run_sm(make("barrier"), load("gtx580")).cycles)
"""


def output(script, root=ROOT, **environment):
    """Return the last line of a process's stdout, and the lines of its stderr."""
    clean = {name: value for name, value in os.environ.items() if name not in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR")}
    clean |= {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"} | environment
    done = subprocess.run(
        [sys.executable, "-c", script], env=clean, capture_output=True, text=True, cwd=root, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1], done.stderr.splitlines()


def files(place, pattern="*"):
    """Return the files below a directory, in order."""
    return sorted(path for path in place.rglob(pattern) if path.is_file())


@pytest.mark.long
@pytest.mark.jit
def test_a_file_of_the_cache_is_ours_alone(tmp_path):
    """Files of the cache have mode 600, whatever the umask, and the next process reads them."""
    script = (
        f"import os; os.umask(0){LEND}from gpusim.sm.chip.chip import chip\n"
        "print(sum(code.cached for *_, code in chip.lend.codes.values()))"
    )
    assert [output(script, NUMBA_CACHE_DIR=str(tmp_path / "cache")) for _ in range(2)] == [("0", []), ("1", [])]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files(tmp_path / "cache")} == {0o600}


@pytest.mark.long
@pytest.mark.jit
def test_loading_leaves_out_what_compiling_needs(tmp_path):
    """A process that compiles has Numba and dispatchers of rules; one that loads the same code has neither."""
    counted = (
        f"{LEND}import gc, sys; from gpusim.sm.jit.entry import Rule\n"
        "rules = [vars(one) for one in gc.get_objects() if isinstance(one, Rule)]\n"
        "made = sum('dispatcher' in rule for rule in rules)\n"
        "print(bool(rules), made > 0, 'numba' in sys.modules)"
    )
    said = [output(counted, NUMBA_CACHE_DIR=str(tmp_path / "cache"))[0] for _ in range(2)]
    assert said == ["True True True", "True False False"]


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("where", ["XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "HOME"])
@pytest.mark.parametrize("place", ["file", "/proc/nowhere"])
def test_without_a_place_to_write_everything_works(where, place, tmp_path):
    """If the cache's place can't be written, the result is right, and stderr has one warning."""
    (tmp_path / "file").touch()
    result, reported = output(LEND, **{where: str(tmp_path / place)})
    assert result == "7"
    assert len(reported) == 1
    assert reported[0].startswith("warning: compiled code is not kept, so each run compiles it anew: ")
    assert files(tmp_path) == [tmp_path / "file"]


@pytest.mark.long
@pytest.mark.jit
def test_a_full_disk_stops_nothing(tmp_path):
    """If files cannot grow, the result is right, stderr has one warning, and no part of code is left."""
    result, reported = output(FULL, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert result == "7"
    assert len(reported) == 1
    assert "compiled code is not kept" in reported[0]
    assert [path.name for path in files(tmp_path)] in ([], ["sources.json"])  # which is smaller


def idle(content):
    """Return a file's content with the same symbol at code that does nothing."""
    head = content[DIGEST:].partition(b"\n")[0]
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    code = f'define i32 @"{json.loads(head)["symbol"]}"(i8* %a, i8* %b, i8* %c) {{ ret i32 0 }}'
    machine = binding.Target.from_default_triple().create_target_machine(jit=True)
    made = head + b"\n" + machine.emit_object(binding.parse_assembly(code))
    return sha256(made).digest() + made


@pytest.mark.long
@pytest.mark.jit
def test_code_that_others_may_have_put_there_is_not_run(tmp_path):
    """Code that does nothing (so 0, not 7) runs from a file that is ours, and not if others could have written it.

    Others could by the file's mode or by the folder's.
    """
    place = tmp_path / "cache"
    assert output(LEND, NUMBA_CACHE_DIR=str(place)) == ("7", [])
    (kept,) = files(place, "*.nbc")
    content = idle(kept.read_bytes())
    kept.write_bytes(content)
    assert output(LEND, NUMBA_CACHE_DIR=str(place)) == ("0", [])
    kept.chmod(0o666)
    assert output(LEND, NUMBA_CACHE_DIR=str(place)) == ("7", [])
    kept.write_bytes(content)
    kept.chmod(0o600)
    kept.parent.chmod(0o777)
    result, reported = output(LEND, NUMBA_CACHE_DIR=str(place))
    assert (result, len(reported)) == ("7", 1)


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("length", [0, 20, 40, 5000])
def test_a_file_cut_short_is_compiled_anew(tmp_path, length):
    """A file cut to 0, 20, 40 or 5000 bytes is replaced by a whole one, and the result is right."""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path)}
    output(LEND, **environment)
    (kept,) = files(tmp_path, "*.nbc")
    whole = kept.stat().st_size
    os.truncate(kept, length)
    assert output(LEND, **environment) == ("7", [])
    assert kept.stat().st_size > whole // 2


@pytest.mark.long
@pytest.mark.jit
def test_settings_of_numba_have_code_of_their_own(tmp_path):
    """Another NUMBA_OPT has a file of its own; moving the cache makes no new file."""
    output(LEND, NUMBA_CACHE_DIR=str(tmp_path))
    output(LEND, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_OPT="1")
    assert len(files(tmp_path, "*.nbc")) == 2
    shutil.move(tmp_path / "gpusim", tmp_path / "moved/gpusim")
    output(LEND, NUMBA_CACHE_DIR=str(tmp_path / "moved"))
    assert len(files(tmp_path, "*.nbc")) == 2


def closing_over(text, number, function):
    """Return a function that closes over three values; all calls share its code."""

    def inner():
        return text, number, function

    inner.__module__ = "gpusim.sm.chip.chip.chip"  # a module of ours
    return inner


def test_closures_of_one_function_are_distinguished():
    """Closures over another text, number or function differ; one over a plain object is not kept."""
    given = [("a", 1, files), ("b", 1, files), ("a", 2, files), ("a", 1, output)]
    names = {code_cache.identity(closing_over(*values)) for values in given}
    assert len(names) == len(given)
    assert code_cache.place(closing_over("a", object(), files)) is None


@pytest.fixture
def tree(tmp_path):
    """Return a copy of our packages."""
    for package in ("gpusim", "isa", "workloads"):
        shutil.copytree(ROOT / package, tmp_path / "tree" / package, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "tree"


@pytest.mark.jit
@pytest.mark.parametrize("where", few(["cache", "file"], 1))
def test_an_edit_of_another_file_reaches_the_code(tree, tmp_path, where):
    """An entry follows an edit of a rule in another file, with a cache and without one."""
    (tmp_path / "file").touch()
    rules, script = tree / "gpusim/sm", "from gpusim.sm.helped import through; print(through(1))"
    (rules / "helped.py").write_text(HELPED)
    (rules / "helper.py").write_text(HELPER)
    environment = {"XDG_CACHE_HOME": str(tmp_path / where), "HOME": str(tmp_path / "file")}
    assert output(script, tree, **environment)[0] == "2"
    (rules / "helper.py").write_text(HELPER.replace("x + 1", "x + 2"))
    assert output(script, tree, **environment)[0] == "3"


@pytest.mark.slow
@pytest.mark.jit
def test_an_edit_of_the_barrier_changes_the_cycles(tree, tmp_path):
    """If a barrier takes 100 cycles more, the kernel takes more than 100 cycles longer, even without a cache."""
    (tmp_path / "file").touch()
    environment = {"XDG_CACHE_HOME": str(tmp_path / "file")}
    before = int(output(MIX, tree, **environment)[0])
    barrier = tree / "gpusim/sm/front/barrier/barrier.py"
    barrier.write_text(barrier.read_text().replace("max(1, sm.machine.barrier)", "max(1, sm.machine.barrier) + 100"))
    assert int(output(MIX, tree, **environment)[0]) > before + 100
