"""What the header gives kernels in OpenCL C, by the values that they compute."""

import numpy as np
import pytest
from space_files import needs_compiler

import gpusim
from gpusim.api.kernel_tuner.opencl import translated
from gpusim.machine.machine import load

pytestmark = [pytest.mark.jit, needs_compiler, pytest.mark.long]
LANES = 32


def computed(body, kind="float", more=""):
    """Run a body that leaves a value in r of each work item i; return them."""
    source = f"{more}\n__kernel void f(__global {kind} *out, __global const float *x) {{"
    source += f" const int i = get_global_id(0); {kind} r; {body} out[i] = r; }}"
    out = np.zeros(LANES, {"float": np.float32, "int": np.int32, "uint": np.uint32}[kind])
    x = np.arange(1, 4 * LANES + 1, dtype=np.float32) / 8
    module = gpusim.RawModule(translated(source), architecture=86)
    module.get_function("f")((2,), (16,), (out, x), machine=load("rtx3090", {"chip.sms": 1}), caches=None)
    return out, x


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("float4 v = V; r = dot(v, (float4)(1, 2, 3, 4));", lambda a, b, c, d: a + 2 * b + 3 * c + 4 * d),
        ("float4 v = ((__global const float4 *)x)[i]; v *= 2; r = v.s3 - v.lo.x;", lambda a, _b, _c, d: 2 * d - 2 * a),
        ("float4 v = V; v.hi = v.xy; r = (v + (float4)(v.s2)).w;", lambda a, b, _c, _d: a + b),
        ("float2 v = V.xy; r = mad(v, 2.0f, v).y + max(v, 1.0f).x;", lambda a, b, _c, _d: 3 * b + np.maximum(a, 1)),
        ("float8 v = (float8)(V, (float4)(0)); r = v.s3 + v.hi.x + v.s7;", lambda _a, _b, _c, d: d),
        ("float4 v = V; int4 m = v > v.x; r = -(m.x + m.y + m.z + m.w);", lambda a, _b, _c, _d: 3 + 0 * a),
        ("float4 v = V; r = select(v, -v, v > 5.0f).w;", lambda _a, _b, _c, d: np.where(d > 5, -d, d)),
        ("r = clamp(A, 2.0f, 3.0f) + mix(A, 2 * A, 0.5f);", lambda a, _b, _c, _d: np.clip(a, 2, 3) + 1.5 * a),
        ("r = native_divide(A, 4.0f) + native_sqrt(4.0f) + half_recip(2.0f);", lambda a, _b, _c, _d: a / 4 + 2.5),
        ("r = distance((float2)(A, 0), (float2)(0, 0)) + sign(-A) + step(1e9f, A);", lambda a, _b, _c, _d: a - 1),
        ("float c; r = sincos(A, &c); r = r * r + c * c;", lambda a, _b, _c, _d: 1 + 0 * a),
        ("r = convert_int_rtz(A) + convert_uchar_sat(300.0f);", lambda a, _b, _c, _d: np.trunc(a) + 255),
        ("r = as_float(as_int(A)) + cross((float3)(A, 0, 0), (float3)(0, 2, 0)).z;", lambda a, _b, _c, _d: 3 * a),
        ("float4 v = V; float t[4]; vstore4(v, 0, t); r = t[2] + any(v < 0.0f);", lambda _a, _b, c, _d: c),
    ],
)
def test_vectors_and_functions(body, expected):
    """Vectors, their parts and operators, and functions of numbers and vectors compute what NumPy does."""
    out, x = computed(body, more="#define V vload4(i, x)\n#define A x[4 * i]")
    assert np.allclose(out, expected(*x.reshape(LANES, 4).T), rtol=1e-5)


def test_whole_numbers():
    """Functions of whole numbers compute what their definitions say."""
    body = "uint u = i + 5; r = mad24(i, 3, 7) + mul24(i, i) + popcount(u) + (int)rotate(u, 4u) + clz(i | 1);"
    out, _ = computed(body + " r += mul_hi(1 << 30, 8) + add_sat(0x7fffffff, i) / 0x7fffffff + abs_diff(-3, i);", "int")
    i = np.arange(LANES)
    bits = np.array([f"{each + 5:b}".count("1") for each in i])
    first = np.array([32 - int(each | 1).bit_length() for each in i])
    assert np.array_equal(out, 3 * i + 7 + i * i + bits + (i + 5) * 16 + first + 2 + 1 + i + 3)


def test_conversions_saturate_whatever_the_signs():
    """Below the least and beyond the most of a type its bounds come out, of numbers with and without a sign."""
    body = "uint u = 1u << i; int s = -i; r = (int)convert_uint_sat(s) + convert_char_sat(u);"
    more = "r += convert_int_sat((ulong)u) / 2 + 1000 * convert_char_sat(100 * s) + convert_short_sat(-40000.0f);"
    out, _ = computed(f"{body} {more}", "int")
    for i, found in enumerate(out.tolist()):
        assert found == min(127, 1 << i) + min(2**31 - 1, 1 << i) // 2 + 1000 * max(-100 * i, -128) - 32768


def test_roots_and_signs_of_what_is_no_positive_number():
    """An odd root of a negative number is negative; NaN has the sign 0, as OpenCL C says."""
    out, x = computed("r = rootn(-x[i], 3) + sign(NAN) + 2 * sign(x[i]);")
    assert np.allclose(out, 2 - np.cbrt(x[:LANES]), rtol=1e-5)


def test_work_items_and_shared_memory():
    """Ids and sizes are those of the launch; a barrier makes a group's stores to local memory visible."""
    body = "__local int t[16]; int l = get_local_id(0); t[l] = i; barrier(CLK_LOCAL_MEM_FENCE); r = t[15 - l];"
    more = " r = r * 1000 + get_group_id(0) * 100 + get_global_size(0) + get_local_size(0) + get_num_groups(0);"
    out, _ = computed(body + more, "int")
    i = np.arange(LANES)
    assert np.array_equal(out, (i // 16 * 16 + 15 - i % 16) * 1000 + i // 16 * 100 + 32 + 16 + 2)


def test_atomic_functions():
    """Of the work items of a group each sees another value of a number to which all add, and the last one their sum."""
    body = "__local uint sum, most; if (get_local_id(0) == 0) sum = most = 0; barrier(CLK_LOCAL_MEM_FENCE);"
    more = "uint seen = atomic_add(&sum, 2); atomic_max(&most, seen); barrier(CLK_LOCAL_MEM_FENCE);"
    out, _ = computed(f"{body} {more} r = seen + 100 * sum + 10000 * atomic_cmpxchg(&most, 1, 0);", "uint")
    for group in np.sort(out.reshape(2, 16)):
        assert np.array_equal(group, 2 * np.arange(16) + 3200 + 300000)
