import pickle
from importlib import import_module
from importlib.util import find_spec
from pkgutil import walk_packages

import pytest

import gpusim
import isa
import workloads
from isa.errors import LONGEST, UserError
from isa.reading.source import AssemblyError, Token

EXTRA = "kernel_tuner"  # some modules derive from its classes: they are left out where it is not installed


def kinds():
    """Return UserError and all its subclasses, once every module is imported."""
    for package in (isa, workloads, gpusim):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__") and (find_spec(EXTRA) or f".{EXTRA}." not in module.name):
                import_module(module.name)
    found, waiting = [], [UserError]
    while waiting:
        kind = waiting.pop()
        found.append(kind)
        waiting += kind.__subclasses__()
    return found


def test_every_error_crosses_processes():
    """The message, exit code and fields of every kind of error come back from a pickle, whatever it is made of."""
    for kind in kinds():
        error = kind.__new__(kind)
        UserError.__init__(error, "place: cause; fix")
        error.line = 3
        back = pickle.loads(pickle.dumps(error))
        assert (type(back), str(back), back.exit_code, back.line) == (kind, str(error), error.exit_code, 3)


def test_an_assembly_error_crosses_processes():
    """An AssemblyError, made of a token and a message, comes back from a pickle with its text, line and column."""
    back = pickle.loads(pickle.dumps(AssemblyError(Token("x", "a.asm", 2, 5), "is wrong")))
    assert (str(back), back.line, back.column) == ("a.asm:2:5: is wrong", 2, 5)


def test_further_messages_cross_processes():
    """What else is wrong is a line each, and comes back from a pickle."""
    back = pickle.loads(pickle.dumps(UserError("a: one; mend it", ["b: two\nlines", "c: three"])))
    assert (str(back), back.further) == ("a: one; mend it", ("b: two lines", "c: three"))
    assert UserError("alone").further == ()


@pytest.mark.parametrize("text", ["a\nb", "x" * 10**6, "\r\n\v\u2028"])
def test_a_message_is_one_line(text):
    """A message that quotes line breaks or 10**6 characters is one line with place and fix, at most LONGEST long."""
    message = str(UserError(f"place: {text!s} is wrong; mend it"))
    assert message.startswith("place: ")
    assert message.endswith("; mend it")
    assert len(message.splitlines()) == 1
    assert len(message) <= LONGEST
