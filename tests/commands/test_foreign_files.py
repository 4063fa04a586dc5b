"""Files of other tools, given to every command that takes a program: each says what the file is and what to do."""

from inspect import signature

import pytest

from gpusim.commands.frame.command import flat
from gpusim.commands.main import COMMANDS, execute, function_of

SM_61 = (
    '\tcode for sm_61\n\t\tFunction : f\n\t.headerflags    @"EF_CUDA_SM61"\n        /*0018*/  EXIT ; /* 0xe3000000 */\n'
)
FILES = {
    "snippet.traceg": (
        b"-kernel name = vecadd\n-kernel id = 1\n#BEGIN_TB\n0000 ffffffff 1 R1 MOV 0 0\n",
        "a trace of Acc",
    ),
    "space-t1.json": (b'{"General":{},"ConfigurationSpace":{"TuningParameters":[]}}\n', "Kernel Tuner's T1 format"),
    "k.cl": (b"__kernel void f(__global float *x)\n{\n  x[get_global_id(0)] = 1;\n}\n", "OpenCL C, which is not com"),
    "turingas.asm": (b".kernel t\n--:-:0:-:2 S2R R0, TID.X\n01:-:-:-:6 SHL R1, R0, 2\n", "a text for maxas or turin"),
    "sm61.sass": (SM_61.encode(), "SASS of an architecture that is not read"),
    "plain.sass": (b"        /*0040*/                   EXIT ;\n", "has no encoding, so no control code"),
    "k.hsaco": (
        b"\x7fELF\x02\x01\x01\x40" + bytes(10) + b"\xe0\x00" + bytes(100),
        "machine code for an AMD GPU (HSACO)",
    ),
}
MORE = {  # what a command asks for besides
    "view": ["--out", "x.html"],
    "export": ["--format", "csv", "--out", "x"],
    "sweep": ["--set", "unit.fp32.latency=9:18:9"],
    "compare": ["--set", "unit.fp32.latency=9,18"],
    "explain": ["--warp", "0", "--cycle", "0"],
}
OTHERS = {  # commands whose first argument is no file
    "kernels", "machines", "examples", "lessons", "schema", "validate", "reproduce",
}  # fmt: skip
SPACES = {"space", "tune"}  # these take the name of a space, and tell of files that look like something


def test_every_command_that_takes_a_program_is_asked():
    """All other commands take no kernel, file or space first."""
    first = {name: next(iter(signature(flat(function_of(name))).parameters)) for name in COMMANDS}
    programs = {name for name, parameter in first.items() if parameter in ("kernel", "kernels", "file")}
    assert programs == set(COMMANDS) - OTHERS - SPACES


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", sorted(set(COMMANDS) - OTHERS))
def test_each_command_says_what_the_file_is(command, name, tmp_path, monkeypatch, capsys):
    """One line, code 2, nothing written: the file's place, what it looks like, and what to do."""
    content, words = FILES[name]
    if command in {*SPACES, "exec"} and name == "plain.sass":
        words = "SASS as disassemblers print it"
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)
    assert execute([command, name, *MORE.get(command, [])]) == 2
    found = capsys.readouterr()
    (line,) = found.err.splitlines()
    assert line.startswith(f"error: {name}:")
    assert words in line
    assert found.out == ""
    assert [path.name for path in tmp_path.iterdir()] == [name]
