"""Messages that name options of the command line, in the words of Python: `--max-cycles` is `max_cycles` there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from isa.errors import UserError

COMMAND = re.compile(r"(\bgpusim [a-z]+ [^;,`]*)")  # one to type in a shell, which stays as it is
WORDS = (  # how the command line spells what Python gives otherwise
    (re.compile(r"--set ([\w.\-*]*)(?=[:= ]|$)"), r"settings['\1']"),
    (re.compile(r"--arch (\d+)"), r"architecture=\1"),
    (re.compile(r"--estimate ([^%\s]+)%"), r"estimate=\1"),
    (re.compile(r"-p (\w+)"), r"\1"),
    (re.compile(r"--([a-z]+)-([a-z]+)"), r"\1_\2"),
    (re.compile(r"--([a-z]+) (?=[\w./-]+:)"), r"\1="),
    (re.compile(r"--([a-z]+)"), r"\1"),
)


@contextmanager
def in_words_of_python() -> Iterator[None]:
    """Let messages about options of the command line name the arguments of Python instead."""
    try:
        yield
    except UserError as error:
        error.args = (in_python(str(error)),)
        error.further = tuple(map(in_python, error.further))
        for line in error.further:
            error.add_note(line)
        raise


def in_python(message: str) -> str:
    """Return a message of the command line in Python's words: `-p m=3` is `m=3`, `--max-cycles` is `max_cycles`."""
    return "".join(part if part.startswith("gpusim ") else _reworded(part) for part in COMMAND.split(message))


def _reworded(text: str) -> str:
    for pattern, words in WORDS:
        text = pattern.sub(words, text)
    return text
