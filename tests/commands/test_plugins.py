import json

import pytest

import gpusim
from gpusim.commands.main import execute
from gpusim.sm.front.policies.declaration import REGISTERED

POLICY = '''
from gpusim.sm.jit.rule import lowest_bit


def lowest_slot(sm, k, eligible):
    """The eligible warp in the lowest slot."""
    return lowest_bit(eligible)


def helper(x):
    return x
'''


@pytest.fixture(autouse=True)
def _forgotten():
    """Forget the policies of these files: a process has them for as long as it lives."""
    yield
    REGISTERED.pop("lowest_slot", None)


@pytest.fixture
def policy(tmp_path):
    """Return the path of a file with a policy and a function that is none."""
    path = tmp_path / "policy.py"
    path.write_text(POLICY)
    return str(path)


def test_a_policy_may_be_in_a_file_of_the_user(policy, capsys):
    """`--plugin` makes the function a policy by its name for `run` and `compare`, as `register_policy` does."""
    assert execute(["run", "mix", "-p", "iterations=2", "--plugin", policy, "--policy", "lowest_slot"]) == 0
    assert "lowest_slot, compiled engine" in capsys.readouterr().out
    varied = ["--policy", "lrr,lowest_slot"]
    assert execute(["compare", "mix", "-p", "iterations=2", "--plugin", policy, *varied]) == 0
    assert "lowest_slot" in capsys.readouterr().out


def test_bound_and_view_take_a_plugin(policy, tmp_path, capsys):
    """A bound, of any policy, and a page of two policies know the file's; a finished timeline refuses it."""
    assert execute(["bound", "mix", "-p", "iterations=2", "--plugin", policy, "--policy", "lowest_slot"]) == 0
    page = str(tmp_path / "page.html")
    given = ["-p", "iterations=2", "--plugin", policy, "--policy", "lrr,lowest_slot", "-o", page, "--json"]
    capsys.readouterr()
    assert execute(["view", "mix", *given]) == 0
    assert [run["policy"] for run in json.loads(capsys.readouterr().out)["runs"]] == ["lrr", "lowest_slot"]
    assert execute(["view", "t.json", "--plugin", policy, "-o", page]) == 2
    assert "leave out kernel and machine options" in " ".join(capsys.readouterr().err.split())
    assert execute(["bound", "--gemm", "f16", "--plugin", policy]) == 2
    assert "--plugin" in capsys.readouterr().err


def test_two_files_with_one_policy_are_refused(policy, tmp_path, capsys):
    """The same name in two files, be they of one name, is told with both; one file twice is one."""
    again = ["run", "mix", "-p", "iterations=2", "--plugin", policy, "--plugin"]
    other = tmp_path / "other" / "policy.py"
    other.parent.mkdir()
    other.write_text(POLICY)
    assert execute([*again, str(other)]) == 2
    told = capsys.readouterr().err.replace("\n", "")
    assert f"policy lowest_slot is in {policy} too; rename one of the functions" in " ".join(told.split())
    assert execute([*again, policy]) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise SystemExit(3)", "its code failed with SystemExit: 3; mend the file"),
        ("def f(:", "its code failed with SyntaxError: "),
        ("x = 1 / 0", "its code failed with ZeroDivisionError: division by zero; mend the file"),
        ("def f(x):\n    return x", "has no scheduling policy; write def mine(sm, k, eligible)"),
        ("def gto(sm, k, eligible):\n    return -1", "policy gto comes with the simulator; rename the function"),
        (None, "no such file of Python; give the path of a .py file"),
    ],
)
def test_a_file_without_a_policy_is_refused_in_one_line(text, message, tmp_path, capsys):
    """Code that fails, no policy, a name that is taken, and a file that is not there: one line, exit code 2."""
    path = tmp_path / "policy.py"
    if text is not None:
        path.write_text(text)
    assert execute(["run", "mix", "--plugin", str(path)]) == 2
    told = capsys.readouterr().err
    assert message in " ".join(told.split())
    assert "Traceback" not in told


def test_ineffective_takes_names_as_simulate_does():
    """A kernel's name and parameters, and a machine's name, give the report; a loaded machine is refused."""
    (found,) = gpusim.ineffective("stream", "h200", {"pipe.xu.lanes": 8, "global_memory.latency": 900}, blocks=4)
    assert found.setting == "pipe.xu.lanes"
    with pytest.raises(gpusim.UserError, match="give its name"):
        gpusim.ineffective("stream", gpusim.load("h200"), {"pipe.xu.lanes": 8})
    with pytest.raises(gpusim.UserError, match="nonsense"):
        gpusim.ineffective("stream", "h200", {"pipe.xu.lanes": 8}, nonsense=4)
