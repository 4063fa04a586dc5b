import numpy as np
import pytest

from gpusim.launch.file import arguments
from gpusim.launch.file.outcome import outcome
from isa.errors import UserError

BUFFERS = """
[[argument]]
name = "x"
buffer = "float32"
elements = 4
fill = "iota"
[[argument]]
name = "n"
buffer = "int32"
elements = 2
"""


def expected(launch, text):
    """Return what is expected."""
    source = launch(BUFFERS + text)
    return outcome(source, arguments.buffers(source))


def test_nothing_may_be_expected(launch):
    """Without [[expect]] there is no outcome."""
    assert expected(launch, "") is None


def test_expressions_and_errors(launch):
    """Every element has its value; the errors that are absolute and relative to it are added."""
    text = '[[expect]]\nbuffer = "x"\nvalue = "2 * x - 1"\nwithin = 0.5\nrelative = 0.125\n'
    (found,) = expected(launch, text)()
    assert (found.buffer, found.index.tolist()) == ("x", [0, 1, 2, 3])
    assert found.value.tolist() == [-1, 1, 3, 5]
    assert found.bound.tolist() == [0.625, 0.625, 0.875, 1.125]


def test_files_and_infinite_values(launch, tmp_path):
    """Values may come from a file; an infinite one must be met exactly, however large the relative error."""
    np.save(tmp_path / "x.npy", np.array([[np.inf, 2], [3, 4]], np.float32))
    (found,) = expected(launch, '[[expect]]\nbuffer = "x"\nfile = "x.npy"\nrelative = 1\n')()
    assert found.value.tolist() == [np.inf, 2, 3, 4]
    assert found.bound.tolist() == [0, 2, 3, 4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('buffer = "y"\nvalue = "1"', "12:1: unknown buffer y; known: x, n"),
        ('buffer = "x"', "11:3: x is expected to hold what? write value or file, one of the two"),
        ('buffer = "x"\nvalue = "1"\nfile = "x.npy"', "11:3: x is expected to hold what? write value or file"),
        ('buffer = "x"\nvalue = "2 * w"', "13:1: unknown buffer w; known: x, n"),
        ('buffer = "x"\nvalue = "x +"', "13:1: 'x +' is no expression; "),
        ('buffer = "x"\nvalue = "x[i]"', "13:1: unknown buffer i; "),
        ('buffer = "x"\nvalue = "n"', "13:1: 2 values for 4 elements of x; give as many"),
        ('buffer = "x"\nvalue = "x + n"', "13:1: 4 and 2 elements can't be combined; use buffers of one length"),
        ('buffer = "x"\nvalue = "1"\nwithin = -1', "14:1: expect.0.within: expected `float` >= 0.0; "),
        ('value = "1"', "11:3: expect.0: object missing required field `buffer`; "),
    ],
)
def test_what_can_not_be_expected_is_refused(launch, tmp_path, text, message):
    """An unknown buffer, another number of values and an expression that is none are refused at their place."""
    with pytest.raises(UserError) as caught:
        expected(launch, f"[[expect]]\n{text}\n")
    assert str(caught.value).startswith(f"{tmp_path}/k.toml:{message}")
