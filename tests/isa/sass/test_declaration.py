"""Parameters of kernels as sources of CUDA C declare them."""

import time

import pytest

from isa.nvidia.abi import ptx_declaration
from isa.nvidia.abi.declaration import Declared, declared, known_types
from isa.nvidia.file.cubin import Parameter
from isa.nvidia.file.signature import Type

MOST_SECONDS = 5  # of the processor, that docs/reliability.md promises
SOURCE = """
// __global__ void ext(int wrong);
/* __global__ void ext(int worse); */
#define N 4
template <typename T, int N>
__global__ void poly(const T *x, T *y, Params p) { y[0] = x[0]; }
extern "C" __global__ void __launch_bounds__(128, 2)
ext(const float *__restrict__ in, float* out, int n, float a, unsigned char flag,
    const unsigned short *idx /* indices, sorted */, std::size_t m, half2 *h, float4 v, float w[16])
{ }
extern "C" __global__ void none() { }
extern "C" __global__ void nothing(void) { }
__global__ void prototype(float *);
__global__ void prototype(float *later);
__global__ void two(float *x) { }
__global__ void two(int *x) { }
__global__ void odd(void (*f)(int), int n) { }
__global__ void unnamed(unsigned int) { }
__global__ void boxes(Box<int, 3> *b, cudaTextureObject_t t) { }
extern "C" __global__ void cut(int a, int
"""
EXT = {
    "in": Type("const float *", "float32", pointer=True),
    "out": Type("float *", "float32", pointer=True),
    "n": Type("int", "int32"),
    "a": Type("float", "float32"),
    "flag": Type("unsigned char", "uint8"),
    "idx": Type("const unsigned short *", "uint16", pointer=True),
    "m": Type("unsigned long", "uint64"),
    "h": Type("__half2 *", "float16", pointer=True, count=2),
    "v": Type("float4"),
    "w": Type("float *", "float32", pointer=True),
}


def test_parameters_have_names_and_types():
    """Names and types are those of the declaration, whatever comments, qualifiers and attributes stand around them."""
    assert declared(SOURCE, "ext") == tuple(Declared(*pair) for pair in EXT.items())


def test_parameters_of_a_template_have_names_alone():
    """The types of a template are those of an instance, which its mangled name says."""
    assert declared(SOURCE, "poly") == (Declared("x", None), Declared("y", None), Declared("p", None))


@pytest.mark.parametrize("name", ["none", "nothing"])
def test_a_kernel_without_parameters(name):
    """`()` and `(void)` are no parameters."""
    assert declared(SOURCE, name) == ()


def test_a_prototype_without_names_is_passed_over():
    """Of a declaration without names and one with names, the latter counts."""
    assert declared(SOURCE, "prototype") == (Declared("later", Type("float *", "float32", pointer=True)),)


def test_templates_and_textures_as_types():
    """A type that is a template stays as it is written; a texture object is a number of 8 bytes."""
    box, texture = declared(SOURCE, "boxes")
    assert (box.type.text, box.type.pointer, box.type.element) == ("Box<int, 3> *", True, "")
    assert texture == Declared("t", Type("unsigned long long", "uint64"))


@pytest.mark.parametrize("name", ["two", "odd", "unnamed", "absent", "wrong", "cut", "ex", ""])
def test_what_is_no_plain_list_is_not_read(name):
    """Overloads, pointers to functions, parameters without names, cut text and other names give None."""
    assert declared(SOURCE, name) is None


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("long unsigned", "unsigned long"),
        ("unsigned int long", "unsigned long"),
        ("int short unsigned", "unsigned short"),
    ],
)
def test_words_of_a_type_may_stand_in_any_order(words, text):
    """C takes the words of a whole number's type in any order."""
    (found,) = declared(f'extern "C" __global__ void k({words} n) {{}}', "k")
    assert found.type.text == text


def test_a_list_with_conditions_is_not_read():
    """Which parameters the compiler takes is not known."""
    assert declared('extern "C" __global__ void k(int a,\n#ifdef X\nint b,\n#endif\nint c) {}', "k") is None


def test_types_are_those_of_the_name_or_else_of_the_source():
    """A mangled name says all types; of a C name the source says them, but for names that may stand for any type."""
    assert [kind.text for kind in known_types("_Z3extPd", SOURCE)] == ["double *"]
    assert known_types("ext", SOURCE) == tuple(kind if kind.element else None for kind in EXT.values())
    assert known_types("ext") is None
    assert known_types("odd", SOURCE) is None


def test_types_of_the_source_fit_the_parameters_of_the_code():
    """A type of another size than the parameter is not known, and of another number of parameters none is."""
    source = 'extern "C" __global__ void k(const float *x, real n, int m) {}'
    sizes = Parameter(0, 8), Parameter(8, 8), Parameter(16, 8)
    known = Type("const float *", "float32", pointer=True)
    assert known_types("k", source) == (known, None, Type("int", "int32"))
    assert known_types("k", source, sizes) == (known, None, None)
    assert known_types("k", source, sizes[:2]) is None


@pytest.mark.parametrize(
    "text",
    ["template<" * 60_000, "/*" * 60_000, "__global__ " * 60_000, "__global__ void k(" * 20_000, "> " * 60_000,
     "k " * 60_000, "__global__ void k(" + "int a, " * 60_000, "template<" + "a>" * 60_000],
    ids=["templates", "comments", "globals", "heads", "ends", "names", "parameters", "arguments"],
)  # fmt: skip
def test_a_source_of_anybody_is_read_in_seconds(text):
    """A source that repeats what a declaration has takes a time in proportion to its length: under 5 s."""
    begin = time.process_time()
    declared(f"{text} __global__ void k(float *a) {{ }}", "k")
    assert time.process_time() - begin < MOST_SECONDS


def test_a_template_is_the_declarations_own():
    """A template before another declaration, or one whose list does not end, says nothing of a kernel's types."""
    kernel = "__global__ void k(float *a) { }"
    own = (Declared("a", None),)
    assert declared(f"template <typename T> static {kernel}", "k") == own
    assert declared(f"template <typename T, class U = A<T>> {kernel}", "k") == own
    for before in ("template <typename T> void f();", "template <typename T> struct A { };", "template < ", "A<int> "):
        (found,) = declared(before + kernel, "k") or ()
        assert found.type == EXT["out"]


def test_a_kernel_declared_too_often_is_not_read():
    """Of a kernel with more than 64 declarations nothing is said."""
    once = "__global__ void k(float *a);\n"
    assert declared(once * 64, "k") is not None
    assert declared(once * 65, "k") is None


@pytest.mark.parametrize("blanks", [" " * 300_000, " .global" * 60_000, " 4" * 60_000])
def test_a_parameter_of_ptx_is_read_in_seconds(blanks):
    """A pointer's attributes, and what stands between them, take a time in proportion to their length: under 5 s."""
    begin = time.process_time()
    text = ".entry k(.param .u64 .ptr{}{}, .param .f32 a) {{ }}"
    assert ptx_declaration.parameters(text.format(blanks, " x"), "k") == (("x", None), ("a", Type("float", "float32")))
    assert ptx_declaration.parameters(text.format(blanks, " +"), "k") is None
    assert time.process_time() - begin < MOST_SECONDS
