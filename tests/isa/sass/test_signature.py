"""Names as nvcc makes them; each expected text is what c++filt prints."""

import shutil
import subprocess

import pytest

from isa.sass.signature import Type, parameter_types

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
