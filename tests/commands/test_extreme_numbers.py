"""Every option that takes a whole number takes or refuses extreme ones."""

from itertools import product

import pytest
from command_options import options
from draws import few

from gpusim.commands.main import execute

EXTREME = (2**31, 2**63 - 1, 2**63, -(2**63), 10**30, "9" * 5_000)
ARGUMENTS = {
    "exec": ["a.asm"],
    "run": ["a.asm"],
    "explain": ["a.asm", "--warp", "0", "--cycle", "0"],
    "bound": ["a.asm"],
    "timeline": ["a.asm"],
    "report": ["a.asm"],
    "limits": ["a.asm", "--jobs", "1"],
    "compare": ["a.asm", "--machine", "gtx580", "--machine", "c2050"],
    "schedule": ["a.asm"],
    "codes": ["a.asm", "--machine", "v100"],
    "hazards": ["a.asm", "--machine", "v100"],
    "export": ["a.asm", "--format", "csv", "--out", "a.csv"],
    "view": ["a.asm", "--out", "a.html"],
    "traffic": ["a.asm"],
    "sweep": ["a.asm", "--jobs", "1"],
    "tune": ["sgemm-lai", "--stage", "none"],
    "races": ["a.asm"],
    "sass": ["a.asm"],
    "launch": ["a.asm"],
}
COUNTS = {  # numbers within a text, by the option that takes it
    "run --sample": "{}",
    "timeline --cycles": "0:{}",
    "timeline --warps": "{}",
    "report --lines": "1:{}",
    "tune --size": "{},96,96",
    "sweep --set": "schedulers.count=1:{}",
    "sweep -p": "m=1:{}",
    "run --set": "schedulers.count={}",
    "run -p": "m={}",
    "compare -p": "m={}",
    "space -p": "regs={}",
    "space --capability": "{}.0",
    "machines --set": "chip.sms={}",
}


OPTIONS = list(options(int))


def test_the_options_are_found():
    """Five options known to take whole numbers are found, and each command found has arguments here."""
    names = {f"{name} {option}" for name, option, _ in OPTIONS}
    assert {"run --max-cycles", "explain --depth", "limits --jobs", "sweep --draw", "tune --jobs"} <= names
    assert {name for name, _, _ in OPTIONS} <= set(ARGUMENTS)


@pytest.mark.parametrize("info", [pytest.param(info, id=f"{name} {option}") for name, option, info in OPTIONS])
def test_every_option_has_a_least_and_a_most(info):
    """Every whole-number option has a minimum, and a maximum that fits 64 bits."""
    assert info.min is not None
    assert info.max <= 2**63 - 1


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Make a folder with a short listing the current one."""
    (tmp_path / "a.asm").write_text("MOV R0, 1\nEXIT\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(code, captured, folder):
    """Check that a command ends with code 0, or with one line, code 2 or 3, and no new file."""
    assert code in (0, 2, 3)
    assert "Traceback" not in captured.err
    if code:
        assert captured.err.count("\n") == 1
        assert captured.err.startswith("error: ")
        assert len(captured.err) < 2500
        assert sorted(path.name for path in folder.iterdir()) == ["a.asm"]


@pytest.mark.jit
@pytest.mark.parametrize(
    ("name", "option", "number"),
    few([(name, option, number) for name, option, _ in OPTIONS for number in EXTREME], 41),
    ids=lambda each: str(each)[:20],
)
def test_any_whole_number_works_or_is_one_line(name, option, number, here, capsys):
    """Each option of each command works with each extreme number, or reports it in one line."""
    code = execute([name, *ARGUMENTS[name], option, str(number)])
    check(code, capsys.readouterr(), here)


@pytest.mark.jit
@pytest.mark.parametrize(("where", "number"), few(product(COUNTS, EXTREME[1:]), 20), ids=lambda each: str(each)[:20])
def test_any_number_within_a_text_works_or_is_one_line(where, number, here, capsys):
    """Ranges, sizes and parameters with an extreme number work, or are reported in one line."""
    name, option = where.split()
    kernel = {"machines": ["gtx580"], "space": ["zgemm"]}.get(name, ARGUMENTS.get(name, []))
    kernel = ["matmul-naive", *kernel[1:]] if option == "-p" and name != "space" else kernel
    code = execute([name, *kernel, option, COUNTS[where].format(number)])
    check(code, capsys.readouterr(), here)
