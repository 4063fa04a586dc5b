"""What `import gpusim` gives to programs and notebooks."""

import ast
import pickle
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import gpusim
from gpusim.commands.catalog.machines import summary
from workloads.catalog import CATALOG, make

SMALL = {"m": 96, "n": 96, "k": 32}


@pytest.mark.jit
def test_a_kernel_by_name_takes_numbers():
    """A kernel by its name, with parameters as numbers, takes the cycles of the one made from texts."""
    named = gpusim.simulate("sgemm-lai", "gtx580", **SMALL, prefetch=True)
    made = gpusim.simulate(make("sgemm-lai", {key: str(value) for key, value in SMALL.items()}), "gtx580")
    assert named.cycles == made.cycles
    assert named.verification.verified
    assert named.kernel.arguments["m"] == 96


@pytest.mark.jit
@pytest.mark.parametrize("path", ["examples/saxpy.asm", Path("examples/saxpy.asm")], ids=["text", "path"])
@pytest.mark.usefixtures("records")
def test_a_kernel_by_path_has_its_lines(path):
    """A listing by its path runs on the machine that is named, with its settings, and its lines have their texts."""
    result = gpusim.simulate(path, "c2050", settings={"unit.fp32.latency": 30})
    assert result.settings == {"unit.fp32.latency": 30}
    assert result.machine.key == "c2050"
    texts = Path("examples/saxpy.asm").read_text().splitlines()
    for line in result.lines:
        assert line["text"].strip() in (texts[line["line"] - 1].strip() if line["line"] else "")


@pytest.mark.jit
def test_without_a_machine_the_default_is_taken():
    """A kernel without a machine runs on the GTX 580."""
    assert gpusim.simulate("chain").machine.key == "gtx580"


@pytest.fixture
def records(monkeypatch):
    """Let no library of data frames be found, so that tables are lists of dictionaries."""
    monkeypatch.setattr("gpusim.analysis.account.answer.LIBRARIES", ())


@pytest.mark.usefixtures("records")
def test_kernels_and_machines_are_listed():
    """The tables have each kernel of the catalog, and each machine with its headline figures."""
    assert [row["kernel"] for row in gpusim.kernels()] == list(CATALOG)
    found = {row["machine"]: row for row in gpusim.machines()}
    assert found["gtx580"]["peak_gflops"] == summary("gtx580").peak_gflops


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kernel": "sgemm-lai", "q": 3}, "sgemm-lai: no parameter q; it takes m, n"),
        ({"kernel": "sgemm-lai", "m": 1.5}, "sgemm-lai: m=1.5 is not allowed; give a whole number"),
        ({"kernel": "chain", "settings": {"unit.fp33.latency": 3}}, "settings['unit.fp33.latency']: unknown machine"),
        ({"kernel": "examples/reduce.asm", "m": 3}, "m: examples/reduce.asm is a listing; change its .param lines"),
        ({"kernel": make("chain", {}), "m": 3}, "m: the kernel is made already; give its parameters to make"),
        ({"kernel": "chain", "machine": "gtx58"}, "gtx58"),
        ({"kernel": "chain", "machine": ""}, "machine='': give the name of a machine"),
        (
            {"kernel": "chain", "polcy": "lrr"},
            "neither an argument nor a parameter of chain; did you mean policy?",
        ),
        ({"kernel": "chain", "lenght": 3}, "chain: no parameter lenght (did you mean length?)"),
        ({"kernel": 3}, "kernel=3: give the name of a kernel (gpusim.kernels()), a path, or a Kernel"),
        ({"kernel": "chain", "settings": "l2.ways=8"}, "settings='l2.ways=8': give a dictionary"),
        ({"kernel": "chain", "settings": {"": 9}}, "settings['']: unknown machine key"),
        ({"kernel": "chain", "policy": 3}, "policy=3: give the name of a policy: lrr, gto"),
        ({"kernel": "chain", "engine": "fast"}, "engine=fast: there is no such engine; give one of compiled"),
        ({"kernel": "chain", "max_cycles": -5}, "max_cycles=-5: give a number of cycles, or None"),
        ({"kernel": "chain", "estimate": 50}, "estimate=50: give 0.01% to 10%, as in estimate=0.5"),
        ({"kernel": "chain", "trace": "chain.npy"}, "trace='chain.npy': give True or False"),
        ({"kernel": "chain", "values": "no"}, "values='no': give True or False"),
        ({"kernel": "chain", "progress": 3}, "progress=3: give a function"),
        ({"kernel": "chain", "sms": True}, "sms=True: give a number of SMs, or all"),
        ({"kernel": "chain", "sms": "2"}, "sms='2': give a number of SMs, or all"),
        ({"kernel": "chain", "estimate": float("nan")}, "estimate=nan: give 0.01% to 10%"),
        ({"kernel": "chain", "force": True}, "force: chain is no machine code"),
    ],
)
def test_errors_speak_of_arguments(arguments, message):
    """Bad input raises gpusim.UserError, in one line, which names arguments of Python and no option."""
    with pytest.raises(gpusim.UserError) as raised:
        gpusim.simulate(**arguments)
    assert str(raised.value).startswith(message) or message in str(raised.value)
    assert "--" not in str(raised.value)
    assert "-p " not in str(raised.value)


def test_all_faults_of_a_listing_are_told(tmp_path):
    """The error's message is the first fault; a traceback shows the others below it, as notes."""
    (tmp_path / "k.asm").write_text("FFMA R1\nFOO\nEXIT R3\n")
    with pytest.raises(gpusim.UserError, match=r"k\.asm:1:1: FFMA takes 4 operands") as raised:
        gpusim.simulate(tmp_path / "k.asm")
    assert [note.split(": ")[0].rpartition("k.asm")[2] for note in raised.value.__notes__] == [":2:1", ":3:1"]


@pytest.mark.jit
def test_machine_code_can_be_forced():
    """Code for another machine is refused, and runs with `force`, what if."""
    with pytest.raises(gpusim.UserError, match="gtx580 executes no machine code; take h100, h100-pcie, h200, or "):
        gpusim.simulate("examples/saxpy.sass", "gtx580")
    assert gpusim.simulate("examples/saxpy.sass", "rtx3090", force=True).machine.key == "rtx3090"


def test_a_bound_is_found_by_name():
    """`bound` takes kernels and machines as `simulate` does, and finds what the command does."""
    named = gpusim.bound("chain", "c2050", length=20, settings={"unit.fp32.latency": 30})
    assert named == gpusim.bound(make("chain", {"length": "20"}), gpusim.load("c2050", {"unit.fp32.latency": 30}))
    assert gpusim.bound("chain", sms="all").cycles == gpusim.bound("chain", sms=np.int64(16)).cycles


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sms": 0}, "sms=0: give a number of SMs, or all"),
        ({"sms": 3}, "sms=3: give 1, all, or a divisor of the 16 SMs"),
        ({"limit": "x"}, "limit='x': give a number of warp instructions"),
        ({"limt": 3}, "limt: neither an argument nor a parameter of chain; did you mean limit?"),
        ({"values": False}, "chain: no parameter values"),
    ],
)
def test_a_bounds_arguments_are_checked(arguments, message):
    """What `bound` doesn't take is told in its own words, not in those of `simulate`."""
    with pytest.raises(gpusim.UserError) as raised:
        gpusim.bound("chain", **arguments)
    assert str(raised.value).startswith(message)


def test_a_policy_is_a_function():
    """What can't be called is no policy; machines are loaded by a name or a path."""
    with pytest.raises(gpusim.UserError, match=r"^function=3: give a function of the state"):
        gpusim.register_policy("mine", 3)
    with pytest.raises(gpusim.UserError, match=r"^None: give the name of a machine"):
        gpusim.load(None)
    assert gpusim.load(Path("gtx580")) == gpusim.load("gtx580")


PROGRAM = """
import gpusim

result = gpusim.simulate("chain", "gtx580", length=8)
reveal_type(result.cycles)
gpusim.simulat("chain")
print(result.cyclez, gpusim.__version__)
"""


@pytest.mark.long
def test_type_checkers_see_the_interface(tmp_path):
    """Mypy knows what `simulate` returns, and finds a name that is not there, in a program that imports gpusim."""
    api = pytest.importorskip("mypy.api")
    (tmp_path / "mine.py").write_text(PROGRAM)
    found, _, _ = api.run(["--strict", "--cache-dir", str(tmp_path / "kept"), str(tmp_path / "mine.py")])
    lines = [line.partition("mine.py:")[2] for line in found.splitlines() if "mine.py:" in line]
    assert [line.split(": ")[0] for line in lines] == ["5", "6", "7"]
    assert "int" in lines[0]
    assert "simulat" in lines[1]
    assert "cyclez" in lines[2]


def test_the_stub_has_the_interface():
    """What type checkers are told of is what the package promises."""
    stub = ast.parse(Path(gpusim.__file__).with_suffix(".pyi").read_text())
    (told,) = [one.value for one in stub.body if isinstance(one, ast.Assign)]
    assert ast.literal_eval(told) == gpusim.__all__
    imported = {name.name for one in stub.body if isinstance(one, ast.ImportFrom) for name in one.names}
    assert imported == {*gpusim.__all__, "cupy", "numba", "triton"}


def test_the_version_is_the_packages():
    """`gpusim.__version__` is the installed version, and `dir` lists the interface alone."""
    assert gpusim.__version__ == metadata.version("gpusim")
    assert dir(gpusim) == sorted([*gpusim.__all__, "__version__"])


@pytest.mark.jit
@pytest.mark.usefixtures("records")
def test_a_kernel_without_source_has_no_lines():
    """The table of lines is empty where no instruction has one."""
    assert gpusim.simulate("chain", length=8).lines == []


def test_a_limit_is_named_as_an_argument():
    """A run that is too long says which argument to raise; a machine that is loaded already takes no settings."""
    with pytest.raises(gpusim.LimitError, match=r"raise max_cycles$"):
        gpusim.simulate("chain", max_cycles=10, engine="reference")
    with pytest.raises(gpusim.UserError, match=r"^settings: the machine is loaded already"):
        gpusim.simulate("chain", gpusim.load("gtx580"), settings={"unit.fp32.latency": 3})
    with pytest.raises(gpusim.UserError, match=r"^settings\['issue.pairing'\]=9: it takes one of"):
        gpusim.load("gtx580", {"issue.pairing": 9})


@pytest.mark.parametrize("name", gpusim.__all__)
def test_every_name_is_there(name):
    """Each name that the package promises can be imported and is documented."""
    assert getattr(gpusim, name).__doc__


@pytest.mark.jit
def test_results_can_be_kept():
    """A result that was pickled has the same figures and tables."""
    result = gpusim.simulate("chain", "gtx580", length=8)
    kept = pickle.loads(pickle.dumps(result))
    assert kept.to_dict() == result.to_dict()


@pytest.mark.jit
def test_all_sms_take_threads():
    """`threads` is an argument of the simulation, not a parameter of the kernel, and the result is the same."""
    one, two = (gpusim.simulate("chain", "gtx580", length=8, sms="all", threads=threads) for threads in (1, 2))
    assert (one.cycles, one.run.threads, one.run.sms) == (two.cycles, 1, 16)


@pytest.mark.jit
def test_a_machine_is_a_name_a_path_or_an_object():
    """A path of a machine's file is as good as its name; what is none of these is refused in one line."""
    path = Path(gpusim.__file__).parent / "machines" / "gtx580.toml"
    assert gpusim.simulate("chain", path, length=8).machine == gpusim.load("gtx580")
    with pytest.raises(gpusim.UserError, match=r"^machine=3: give the name of a machine"):
        gpusim.simulate("chain", 3)
