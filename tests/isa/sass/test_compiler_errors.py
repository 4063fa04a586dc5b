import pytest

from isa.nvidia.compiler.compiler_errors import read

SOURCE = """\
__global__ void k(float *x) {
\tfloat\ty = zz;
    x[0] = f(1); __shared__ float t[2];
}
"""
FRONT_END = """\
k.cu(2): error: identifier "zz" is undefined
   float y = zz;
             ^

k.cu(2): warning #177-D: variable "y" was declared but never referenced
k.cu(3): error: no instance of overloaded function "f" matches the argument list
            argument types are: (int)
      x[0] = f(1); __attribute__((shared)) float t[2];
             ^
          detected during instantiation of "void g<N>()" at line 9

k.cu(9): error #20-D: no such line
        elsewhere
        ^

3 errors detected in the compilation of "k.cu".
"""
CASES = {
    'k.cu(2): error: identifier "zz" is undefined\n  \tfloat\ty = zz;\n  \t     \t    ^\n': (
        'k.cu:2:12: identifier "zz" is undefined',
    ),
    "k.cu(1): catastrophic error: cannot open source file": ("k.cu:1: cannot open source file",),
    "In file included from k.cu:1:\nother.h:3:10: fatal error: no.h: No such file or directory\n    3 | #include": (
        "other.h:3:10: no.h: No such file or directory",
    ),
    "ptxas /tmp/a.ptx, line 23; error   : Unknown symbol '%0'\nptxas fatal   : Ptx assembly aborted due to errors": (
        "k.cu: ptxas: Unknown symbol '%0' (line 23 of the PTX code)",
    ),
    "ptxas error   : Entry function 'k' uses too much shared data": (
        "k.cu: ptxas: Entry function 'k' uses too much shared data",
    ),
    "nvcc fatal   : Unknown option '-foo'": ("k.cu: nvcc: Unknown option '-foo'",),
    "nvrtc: error: unrecognized option -foo found": ("k.cu: nvrtc: unrecognized option -foo found",),
    "cc1plus: fatal error: k.cu: No such file or directory\ncompilation terminated.": (
        "k.cu: cc1plus: k.cu: No such file or directory",
    ),
    "note\nsomething else\n": ("k.cu: something else",),
    "": ("k.cu: the compiler failed",),
}


def source(name):
    """Return the text of the only file."""
    return SOURCE if name == "k.cu" else ""


def test_errors_of_the_front_end():
    """Each error is a line with the column in the source, though macros are expanded; warnings are none."""
    assert read(FRONT_END, "k.cu", source) == (
        'k.cu:2:12: identifier "zz" is undefined',
        'k.cu:3:12: no instance of overloaded function "f" matches the argument list argument types are: (int)',
        "k.cu:9: no such line",
    )


@pytest.mark.parametrize(("text", "lines"), CASES.items())
def test_errors_of_each_tool(text, lines):
    """Preprocessor, assembler, drivers and library have forms of their own; an unknown one gives its last line."""
    assert read(text, "k.cu", source) == lines


def test_the_same_error_is_told_once():
    """A line that two instances of a template print is told once."""
    assert read("k.cu(4): error: twice\n" * 2, "k.cu", source) == ("k.cu:4: twice",)
