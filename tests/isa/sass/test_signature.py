"""Names as nvcc makes them; each expected text is what c++filt prints."""

import shutil
import subprocess

import numpy as np
import pytest

from isa.sass.signature import Type, misread, parameter_types

NAMES = {
    "_Z5saxpyifPKfPf": ["int", "float", "const float *", "float *"],
    "_Z2k3PfS_S_P3Big": ["float *", "float *", "float *", "Big *"],
    "_ZN2ns2k5EPfS0_PKfy": ["float *", "float *", "const float *", "unsigned long long"],
    "_Z2k13BigPfPKdihsb": ["Big", "float *", "const double *", "int", "unsigned char", "short", "bool"],
    "_Z5pairs4Pairs": ["Pair", "short"],
    "_Z1kPKiS0_PS0_": ["const int *", "const int *", "const int * *"],
    "_Z1kN1a1bEPS0_S1_": ["a::b", "a::b *", "a::b *"],
    "_Z1kP6float4PVKhR5uint2": ["float4 *", "const volatile unsigned char *", "uint2 &"],
    "_Z5emptyv": [],
    "_Z2k4ILi3EfEvPT0_PKS0_": ["float *", "const float *"],
    "_Z8gemm_blkIdLi64ELi16ELb0EEvPKT_S2_PS0_iiP3Rec": [
        "const double *",
        "const double *",
        "double *",
        "int",
        "int",
        "Rec *",
    ],
    "_Z5cmp_kI6float2EvPKT_PKdmPdS6_": ["const float2 *", "const double *", "unsigned long", "double *", "double *"],
    "_Z4polyILin2EEvPKfPf": ["const float *", "float *"],
    "_Z4fillIfEvPT_S0_": ["float *", "float"],
}


@pytest.mark.parametrize("name", NAMES)
def test_types_in_a_name(name):
    """Each parameter has its type, also where the name refers back to an earlier one."""
    assert [one.text for one in parameter_types(name)] == NAMES[name]


@pytest.mark.skipif(shutil.which("c++filt") is None, reason="binutils are not installed")
@pytest.mark.parametrize("name", NAMES)
def test_another_reader_says_the_same(name):
    """The demangler of binutils prints the same parameters, but for blanks and the place of `const`."""
    printed = subprocess.run(["c++filt", name], capture_output=True, text=True, check=True).stdout
    theirs = printed.rstrip().rpartition("(")[2][:-1]
    words = [
        sorted(one.replace("*", " *").replace("&", " &").replace("unsigned int", "unsigned").split())
        for one in theirs.split(",")
        if one
    ]
    assert words == [sorted(one.split()) for one in NAMES[name]]


def test_elements():
    """The element is NumPy's name of the value, or of what the pointer points at; a struct has none."""
    assert parameter_types("_Z1k6float4PK6float4") == (Type("float4"), Type("const float4 *", "float32", pointer=True))
    assert parameter_types("_Z1kifPKdP6float4P6__halfP3BigPPf") == (
        Type("int", "int32"),
        Type("float", "float32"),
        Type("const double *", "float64", pointer=True),
        Type("float4 *", "float32", pointer=True),
        Type("__half *", "float16", pointer=True),
        Type("Big *", pointer=True),
        Type("float * *", pointer=True),
    )


@pytest.mark.parametrize(
    "name",
    [
        "saxpy",
        "_Z1kIJfiEEvDpT_",
        "_Z1kIfEvPT0_",
        "_Z1kILi3EEvPT_",
        "_ZN1a1kIfEEvPT_",
        "_Z1kSt6vectorIfE",
        "_Z1kPFvvE",
        "_Z1kS_",
        "_Z9k",
        "_Z",
        "_ZN",
        "_Z1kK",
    ],
)
def test_names_that_do_not_say_it(name):
    """C names, packs of types, types that are templates, functions as parameters and cut names give None."""
    assert parameter_types(name) is None


@pytest.mark.parametrize("length", range(len("_ZN2ns2k5EPfS0_PKfy")))
def test_a_cut_name_is_no_error(length):
    """Every beginning of a name is read or refused."""
    assert isinstance(parameter_types("_ZN2ns2k5EPfS0_PKfy"[:length]), tuple | None)


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("_Z1kPKd", "f4 f2 c8", "f8 c16 i8 u8 i4 u1"),
        ("_Z1kPf", "f8 f2 c16", "f4 c8 i4 u4 i8 u1"),
        ("_Z1kP6float4", "f8", "f4 c8 u8"),
        ("_Z1kP6__half", "f4", "f2 u2"),
        ("_Z2k4ILi3EdEvPT0_", "f4", "f8"),
        ("_Z1kPi", "", "f4 f8 i8 i4"),
        ("_Z1kPv", "", "f4 f8"),
        ("_Z1kPc", "", "f4 f8"),
        ("_Z1kPPf", "", "f8 u8"),
        ("_Z1kP3Big", "", "f4 f8"),
        ("_Z1kP7__half2", "", "f2 f4 u4"),
        ("_Z1kP13__nv_bfloat16", "", "f2 u2"),
        ("_Z1kf", "", "f8"),
    ],
)
def test_only_what_is_surely_wrong_is_misread(name, wrong, right):
    """Real numbers of another size are misread by pointers to real numbers, complex ones by their parts; no others."""
    (kind,) = parameter_types(name)
    assert [one for one in wrong.split() if not misread(kind, np.dtype(one))] == []
    assert [one for one in right.split() if misread(kind, np.dtype(one))] == []
    assert not misread(None, np.dtype("f4"))
