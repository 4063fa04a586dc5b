"""What `import gpusim` gives to programs and notebooks."""

import pickle
from pathlib import Path

import pytest

import gpusim
from gpusim.commands.machines import summary
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
    ],
)
def test_errors_speak_of_arguments(arguments, message):
    """Bad input raises gpusim.UserError, in one line, which names arguments of Python and no option."""
    with pytest.raises(gpusim.UserError) as raised:
        gpusim.simulate(**arguments)
    assert str(raised.value).startswith(message) or message in str(raised.value)
    assert "--" not in str(raised.value)
    assert "-p " not in str(raised.value)


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
