"""Launches that host code writes: their sizes, their arguments, and what can't be read of them."""

import pytest

from isa.nvidia.host.blocks import found as found_blocks
from isa.nvidia.host.expression import UnknownError
from isa.nvidia.host.launches import written
from isa.nvidia.host.names import MATCHES, names
from isa.nvidia.host.text import bare, blocks, has_main

SOURCE = r"""
#define N 1000  // not 7
#define CEIL(a, b) (((a) + (b) - 1) / (b))
const int T = 256; /* const int T = 1; k<<<1, 1>>>(); */
template <int B> __global__ void red(float *x, int n);
__global__ void two(float *x, int w, int h, float a) { }
void run(float *d, int n, int m) {
  three<<<CEIL(n, T), T>>>(d, n);
}
int main(int argc, char **argv) {
  int n = 1 << 20;
  if (argc > 1) n = atoi(argv[1]);
  int w = argc > 2 ? atoi(argv[2]) : 640, h = 480;
  printf("two<<<9, 9>>>(x)");
  dim3 block(16, 16), grid((w + block.x - 1) / block.x, (h + block.y - 1) / block.y);
  two<<<grid, block, 2 * T * sizeof(float)>>>(nullptr, w, h, 2.5f);
  red<512><<<(n + 511) / 512, 512>>>(d, n);
  red<T><<<(n + 255) / 256, 256>>>(d, n);
  for (int s = n / 2; s > 0; s >>= 1) red<64><<<s, 64, 0, stream>>>(d, s);
  run(d, 3 * N, 7);
  int size = 5;
  size = 6;
  later<<<size, 32>>>(d);
  { int size = 3; inner<<<size, 32>>>(d); }
  outside::k<<<dim3(3, 2), T / 2>>>(d + 4, -1, 1.5);
  two<<<count(), 4>>>(0, 1, 2, 3);
  read<<<from_file(), 128, bytes>>>();
}
"""


@pytest.mark.parametrize(
    ("name", "grid", "block", "shared", "arguments"),
    [
        ("_Z3twoPfiif", (40, 30), (16, 16), 2048, (0, 640, 480, 2.5)),
        ("_Z3redILi512EEvPfi", (2048,), (512,), 0, (None, 1 << 20)),
        ("_Z3redILi256EEvPfi", (4096,), (256,), 0, (None, 1 << 20)),
        ("_Z3redILi64EEvPfi", (1 << 19,), (64,), 0, (None, 1 << 19)),
        ("_Z5threePfi", (12,), (256,), 0, (None, 3000)),
        ("inner", (3,), (32,), 0, (None,)),
        ("_ZN7outside1kEPfif", (3, 2), (128,), 0, (None, -1, 1.5)),
    ],
)
def test_a_launch_is_read(name, grid, block, shared, arguments):
    """Numbers come from constants, macros, variables of one value so far, a function's first call, and dim3."""
    found = written(SOURCE, name)
    assert (found.grid, found.block, found.shared, found.arguments) == (grid, block, shared, arguments)
    assert found.unread == ()


def test_the_first_of_several_is_taken_and_said():
    """The line and the text are those of the first launch of this kernel; the others are counted."""
    found = written(SOURCE, "_Z3twoPfiif")
    assert (found.line, found.others) == (16, 1)
    assert found.text == "two<<<grid, block, 2 * T * sizeof(float)>>>"


def test_what_can_not_be_read_is_said():
    """A number that a function gives, or a variable of several values, is none; the rest is read all the same."""
    found = written(SOURCE, "later")
    assert (found.grid, found.block) == (None, (32,))
    assert found.unread == ("size, which has several values",)
    found = written(SOURCE, "read")
    assert (found.grid, found.block, found.shared) == (None, (128,), None)
    assert found.unread == ("from_file(...)", "bytes")


@pytest.mark.parametrize("name", ["four", "k", "_Z4mainv"])
def test_a_kernel_without_a_launch_has_none(name):
    """Launches in comments and in strings, and those of other kernels, are no launches."""
    assert written(SOURCE.replace("outside::k<<<", "other<<<"), name) is None


def test_places_stay():
    """A text without comments has each letter where it was, and no line ends elsewhere but in a line that goes on."""
    found = bare(SOURCE)
    assert len(found) == len(SOURCE)
    assert found.count("\n") == SOURCE.count("\n")
    assert "not 7" not in found
    assert bare("#define A \\\n 3") == "#define A    3"


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("int main() { }", True),
        ("// int main()\nvoid domain() { }", False),
        ('auto x = "main()";', False),
        ("int main (int c)", True),
    ],
)
def test_a_whole_program_has_a_main(text, whole):
    """A program is told by its main(), not by one in a comment or a string."""
    assert has_main(text) is whole


@pytest.mark.parametrize(
    "text", ["k<<<", "k<<<1", "k<<<1, 2>>>", "k<<<1,2>>>(", "<<<<<<>>>", "<<<" * 5000, "k<<<" + "(" * 5000]
)
def test_torn_texts_end(text):
    """What is no launch, or not a whole one, is read to its end without an error."""
    found = written(text, "k")
    assert found is None or found.line == 1


@pytest.mark.parametrize("size", ["0", "-1", "(int)1e999", "0b'", "1LL << 40", "dim3(1, 0)"])
def test_what_is_no_size_is_said(size):
    """A grid or a block of no threads, of fewer, or of more than there may be, is none; nor is a number without end."""
    found = written(f"void f() {{ k<<<{size}, {size}>>>({size}); }}", "k")
    assert (found.grid, found.block) == (None, None)
    assert len(found.unread) == 1


LONG = {
    "calls": "void f(int n) { k<<<n, 1>>>(); }\nvoid g() { " + "f(" * 50_000,
    "sets": "void g() { " + "{ n = 3; } " * 50_000 + " k<<<n, n>>>(n, n, n); }",
    "blanks": "void f(int n) { k<<<n, 1>>>(); }\nvoid g() { " + ("f" + " " * 50_000) * 4,
    "blocks": "void f(int n) { " + "{" * 50_000 + " k<<<n, m>>>(); " + "}" * 50_000 + "}",
    "launches": "k<<<" * 50_000,
    "a macro": "#define M(a) " + "a " * 50_000 + "\nvoid g() { k<<<M(1), M(2)>>>(); }",
    "an argument": "#define M(a) " + "a " * 900 + f"\nvoid g() {{ k<<<M({'1' * 1000}), 1>>>(); }}",
}


@pytest.mark.parametrize("text", LONG)
def test_long_texts_end(text):
    """No name, call, block or macro that repeats makes it long; a number that can't be read then is said to be none."""
    found = written(LONG[text], "k")
    assert found.grid is None
    assert found.unread or text == "launches"


def test_the_time_is_in_proportion_to_the_text():
    """Of four times the text, no more places are come by, and no more of it is read behind each."""
    counts = []
    for many in (5_000, 20_000):
        known = names(bare("void f(int n) { k<<<n, 1>>>(); }\nvoid g() { " + "f(" * many))
        with pytest.raises(UnknownError):
            known.value("n", 20)
        counts.append((known.looked, known.matched))
    assert counts[0] == counts[1] == (1, MATCHES + 1)


def test_the_innermost_block_is_found():
    """By bisection, as by a look at all of them; a block that does not end is none."""
    text = "{ a { b } c { { d } } { e } } f { g"
    every, known = list(blocks(text)), found_blocks(text)
    for at in range(len(text) + 1):
        around = sorted((one for one in every if one[0] < at <= one[1]), key=lambda one: one[1] - one[0])
        assert list(known.outwards(at)) == around
        assert known.around(at) == (around or [(-1, len(text))])[0]
