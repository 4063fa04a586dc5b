"""Messages of the command line in the words of Python."""

import pytest

from gpusim.api.python_words import in_python


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("--set a.b=3: no", "settings['a.b']=3: no"),
        ("-p m=3: no", "m=3: no"),
        ("raise --max-cycles", "raise max_cycles"),
        ("--policy x: give lrr", "policy=x: give lrr"),
        ("leave --json out", "leave json out"),
    ],
)
def test_options_become_arguments(message, words):
    """Each way in which a message names an option becomes the argument of Python."""
    assert in_python(message) == words
