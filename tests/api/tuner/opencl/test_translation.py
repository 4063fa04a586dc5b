"""OpenCL C as CUDA C++."""

import pytest

from gpusim.api.kernel_tuner.opencl import translated
from isa.errors import UserError


def made(source):
    """Return the translation without the header, blanks as one."""
    found = translated(source)
    return " ".join(found[found.index('#line 1 "source.cu"\n') :].split()[3:])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("__kernel void f(__global int *a) { }", 'extern "C" __global__ void f( int *a) { }'),
        ("kernel void f(global const int *a);", 'extern "C" __global__ void f( const int *a);'),
        ("float g(float a) { return a; }", "__device__ float g(float a) { return a; }"),
        ("inline float g(__local float *a);", "__device__ inline float g( float *a);"),
        ("struct s { int a; }; struct s g(void) { }", "struct s { int a; }; __device__ struct s g(void) { }"),
        ("typedef struct { int (*a)(int); } s;", "typedef struct { int (*a)(int); } s;"),
        ("__constant float w[2] = {1, 2};", "__constant__ float w[2] = {1, 2};"),
        ("__kernel void f(__constant float *w) { }", 'extern "C" __global__ void f(const float *w) { }'),
        ("__kernel void f(__constant const float *w) { }", 'extern "C" __global__ void f( const float *w) { }'),
        (
            "__kernel void f() { __local float t[4]; __local float *p = t; }",
            'extern "C" __global__ void f() { __shared__ float t[4]; float *p = t; }',
        ),
        (
            "#define SHARED __local\n__kernel void f() { SHARED int t[4]; g((SHARED int *)t); }",
            '#define SHARED extern "C" __global__ void f() { __shared__ int t[4]; g(( int *)t); }',
        ),
        (
            "__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void f() { }",
            'extern "C" __global__ __launch_bounds__((8) * ( 4) * ( 1)) void f() { }',
        ),
        ("#if A\n__kernel void f() {\n#else\n__kernel void f() {\n#endif\n}\nint g() { }", None),
        ("int g() { return (float4)(a, b, f(c, d), 1) + (float4)(1); }", None),
        ("#define V(a) (float2)(a, 1)", "#define V(a) float2(a, 1)"),
        ("#define n 4\n#pragma unroll n", "#define n 4 #pragma unroll 4"),
        ("#define n 0\n#pragma unroll n", "#define n 0"),
        ("#pragma OPENCL EXTENSION cl_khr_fp64 : enable", ""),
        ("// __local __kernel\n", "// __local __kernel"),
        ('int g() { return f("__local", v.S1); }', '__device__ int g() { return f("__local", v.s1); }'),
    ],
)
def test_words(source, expected):
    """Qualifiers are those of the place where they stand; text, comments and lines stay."""
    if expected is not None:
        assert made(source) == expected
    elif "float4" in source:
        assert "return float4(a, b, f(c, d), 1) + (float4)(1);" in made(source)
    else:
        assert made(source).count("__global__") == 2
        assert made(source).endswith("} __device__ int g() { }")


def test_lines_keep_their_numbers():
    """Each line of the source is a line of the translation."""
    source = "#pragma OPENCL EXTENSION x : enable\n/* a\nb */ __kernel void\nf(__global int *a)\n{\n}\n"
    found = translated(source)
    lines = found[found.index('#line 1 "source.cu"\n') :].split("\n")[1:]
    assert len(lines) == len(source.split("\n"))
    assert lines[3] == "f( int *a)"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("\nvoid f(image2d_t a) { }", "OpenCL, line 2: image2d_t: has no counterpart here"),
        ("#line 1\n\nvoid f() { a.wzyx = 1; }", "OpenCL, line 2: wzyx: of parts of a vector only lo, hi, xy, zw"),
        ("__kernel void f(__local int *a) { }", "OpenCL, line 1: __local: as a parameter of a kernel"),
        ("#define TILE __local float", "OpenCL, line 1: __local: in a macro among other words"),
        ("void f() { async_work_group_copy(a, b, 1, 0); }", "async_work_group_copy: has no counterpart here"),
    ],
)
def test_what_it_refuses(source, message):
    """What has no counterpart is refused by its name and line."""
    with pytest.raises(UserError, match=message):
        translated(source)


def test_members_that_look_like_parts_of_vectors():
    """A name that the source declares is no part of a vector."""
    assert made("struct s { int xx; }; int g(struct s a) { return a.xx; }").endswith("return a.xx; }")
