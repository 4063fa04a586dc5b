"""What outlives a program or is left of it: processes, descriptors, folders and its last words."""

import gc
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpusim.commands.run import passed_output
from gpusim.programs import build, program, spawn
from gpusim.programs.card import arena
from gpusim.programs.card.answers import requests
from isa.errors import UserError
from isa.support import cache_folder


def test_the_memory_of_a_card_is_closed_with_it():
    """The file of device memory has no descriptor any more where nobody has the memory."""
    made = arena.created()
    file = made.file
    os.fstat(file)
    del made
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(file)


def test_a_folder_that_is_not_kept_goes_with_the_process():
    """Without a cache what is built lies in a temporary folder, which is not there after the process."""
    code = "from gpusim.programs.build import kept_folder; print(kept_folder(['a'], lambda folder: None))"
    environment = {**os.environ, cache_folder.SETTING: os.devnull}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert "gpusim-" in done.stdout
    assert not Path(done.stdout.strip()).exists()


def test_serving_ends_at_bye():
    """A program that said bye is not waited for, though others hold its end of the socket."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(requests.channel._REQUEST.pack(b"bye", 0, 0, 0))
        ours.settimeout(10)
        requests.serve(None, ours)
        assert len(theirs.recv(100)) == requests.channel._REPLY.size


def test_a_program_that_is_stopped_is_waited_for(monkeypatch):
    """Where serving breaks off, the program is killed and has ended when the error comes out."""
    started = []

    def start(*arguments):
        process, connection = spawn_started(*arguments)
        started.append(process)
        return process, connection

    def interrupt(*_):
        raise KeyboardInterrupt

    spawn_started = spawn.started
    monkeypatch.setattr(spawn, "started", start)
    monkeypatch.setattr(program, "serve", interrupt)
    runner = SimpleNamespace(arena=arena.created(), machine=SimpleNamespace(host_link=None))
    with pytest.raises(KeyboardInterrupt):
        program.execute(Path(shutil.which("sleep")), ["60"], Path(), runner, print)
    assert started[0].returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("text", "message"), [("exit 1", "--version says nothing"), ("exit 0", "says nothing"), ("sleep 20", "was stopped")]
)
def test_a_compiler_that_does_not_work_is_named(text, message, monkeypatch, tmp_path):
    """One that fails, says nothing or does not end is an error in a line."""
    compiler = tmp_path / "broken"
    compiler.write_text(f"#!/bin/sh\nexec {text}\n" if text.startswith("sleep") else f"#!/bin/sh\n{text}\n")
    compiler.chmod(0o755)
    monkeypatch.setattr(build, "COMPILER", str(compiler))
    monkeypatch.setattr(build, "LONGEST", 1)
    with pytest.raises(UserError, match=message):
        build.compiler_version.__wrapped__()


def test_another_system_is_told_at_once(monkeypatch):
    """Where there is no Linux, the runtime is not built, and a line says why."""
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UserError, match="run on Linux alone"):
        build.runtime()


def test_output_is_passed_on_whole_and_not_waited_for(monkeypatch, capsys):
    """A character in two parts is one, half a one is replaced, and another process that holds the output is left."""
    monkeypatch.setattr(passed_output, "_has_descriptor", lambda: False)
    monkeypatch.setattr(passed_output, "CHUNK", 2)
    with passed_output.passed_output(hidden=False, errors=False) as output:
        held = os.dup(output)
        os.write(output, "aé€".encode() + "€".encode()[:2])
    assert capsys.readouterr().out == "aé€�"
    os.close(held)
