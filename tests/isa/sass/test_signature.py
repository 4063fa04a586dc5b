"""Names as nvcc makes them; each expected text is what c++filt prints."""

import shutil
import subprocess
import time

import numpy as np
import pytest

from isa.nvidia.file import signature
from isa.nvidia.file.signature import Type, instance, misread, parameter_types

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
    "_ZN1a1kIfEEvPT_PS1_": ["float *", "float *"],
    "_ZN2ns2in4polyIdLi4EEEvPKT_6Params": ["const double *", "Params"],
    "_ZL1kPfj": ["float *", "unsigned"],
    "_ZN2nsL1kEPfS0_": ["float *", "float *"],
    "_Z1kPKPKfPPS0_": ["const float * const *", "const float * * *"],
    "_Z1kPKPfw": ["float * const *", "wchar_t"],
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


INSTANCES = {
    "_Z4polyIdLi4EEvPKT_PS0_6Params": "poly<double, 4>",
    "_Z4polyILin2EEvPKfPf": "poly<-2>",
    "_Z8gemm_blkIdLi64ELi16ELb0EEvPKT_S2_PS0_iiP3Rec": "gemm_blk<double, 64, 16, false>",
    "_Z5cmp_kI6float2EvPKT_PKdmPdS6_": "cmp_k<float2>",
    "_ZN2ns2in4polyIdLi4EEEvPKT_6Params": "ns::in::poly<double, 4>",
    "_Z4polyIfLi4EEvSt6vectorIT_E": "poly<float, 4>",
}


@pytest.mark.parametrize(("name", "words"), INSTANCES.items())
def test_instances_of_templates(name, words):
    """An instance is written with its namespaces and the arguments of its template."""
    assert instance(name) == words


@pytest.mark.skipif(shutil.which("c++filt") is None, reason="binutils are not installed")
@pytest.mark.parametrize(("name", "words"), INSTANCES.items())
def test_another_reader_writes_the_same_instance(name, words):
    """The demangler of binutils prints these words."""
    assert f"void {words}(" in subprocess.run(["c++filt", name], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("_Z1kILj4ELm5ELy6EEvv", "k<4, 5, 6>"),
        ("_Z1kILc65ELsn3ELb1EEvv", "k<65, -3, true>"),
        ("_ZL4polyIjPKfEvT_", "poly<unsigned, const float *>"),
        ("_ZN12_GLOBAL__N_11kIfEEvv", "(anonymous namespace)::k<float>"),
        ("_Z1kI" + "f" * 900 + "E" + "v" * 900, f"k<{', '.join(['float'] * 900)}>"),
    ],
)
def test_arguments_in_words(name, words):
    """A number has no suffix and no cast, a type C's words, a nameless namespace none; what follows has any length."""
    assert instance(name) == words


@pytest.mark.parametrize("name", ["saxpy", "_Z5saxpyPf", "_Z1kIJfiEEvDpT_", "_ZN1aIfE1kEPf", "_Z", "_Z4polyIdLi4"])
def test_other_names_are_no_instances(name):
    """Names without template arguments, with others than types and numbers, and cut ones give nothing."""
    assert instance(name) == ""


def test_a_type_of_an_anonymous_namespace():
    """Its parentheses are none of a list of parameters."""
    assert [one.text for one in parameter_types("_ZN12_GLOBAL__N_11kEPKNS_3BigEi")] == [
        "const (anonymous namespace)::Big *",
        "int",
    ]


@pytest.mark.parametrize(
    ("name", "element", "count"),
    [
        ("_Z1kP7__half2", "float16", 2),
        ("_Z1kP14__nv_bfloat162", "uint16", 2),
        ("_Z1kP13__nv_bfloat16", "uint16", 1),
        ("_Z1kP6float3", "float32", 3),
        ("_Z1kP11double4_16a", "float64", 4),
        ("_Z1kPK6uchar4", "uint8", 4),
        ("_Z1kPi", "int32", 1),
    ],
)
def test_vectors_and_halves_have_their_elements(name, element, count):
    """A pointer to a vector has the type of its elements and their number."""
    (one,) = parameter_types(name)
    assert (one.element, one.count, one.pointer) == (element, count, True)


def test_elements():
    """The element is NumPy's name of the value, or of what the pointer points at; a struct has none."""
    assert parameter_types("_Z1k6float4PK6float4") == (
        Type("float4"),
        Type("const float4 *", "float32", pointer=True, count=4),
    )
    assert parameter_types("_Z1kifPKdP6float4P6__halfP3BigPPf") == (
        Type("int", "int32"),
        Type("float", "float32"),
        Type("const double *", "float64", pointer=True),
        Type("float4 *", "float32", pointer=True, count=4),
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
        "_ZN1aIfE1kEPf",
        "_Z1kSt6vectorIfE",
        "_Z1kPFvvE",
        "_Z3foo",
        "_Z1\u00e9Pf",
        "_Z1k\0Pf",
        "_Z" + "9" * 5000,
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


DOUBLED = "".join(f"S_IS{digit}_S{digit}_E" for digit in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
LONG = [
    "_Z1kP1pIffE" + DOUBLED,
    "_Z1k" + "P" * 500 + "f" + "S8_" * 170,
    "_Z1k" + "P" * 60_000 + "f",
    "_ZN" + "1a" * 60_000,
]


@pytest.mark.parametrize("name", LONG, ids=["doubled", "pointers", "long", "deep"])
def test_a_name_of_anybody_is_read_soon(name):
    """Names whose text would double 36 times, and those of many letters, are read or refused in 0.1 s."""
    begin = time.process_time()
    assert len(parameter_types(name) or ()) in (0, 171)
    assert instance(name) == ""
    assert time.process_time() - begin < 0.1


def test_without_a_runtime(monkeypatch):
    """Where no C++ runtime is installed, a name says nothing, and it is no error."""
    monkeypatch.setattr(signature, "_RUNTIMES", ("libnothing.so",))
    monkeypatch.setattr(signature, "_runtime", signature._runtime.__wrapped__)
    assert parameter_types("_Z1kPf") is None
    assert instance("_Z1kIfEvv") == ""


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("_Z1kPKd", "f4 f2 c8", "f8 c16 i8 u8 i4 u1"),
        ("_Z1kPf", "f8 f2 c16 i8 u8", "f4 c8 i4 u4 i2 u1"),
        ("_Z1kP6float4", "f8", "f4 c8 u8"),
        ("_Z1kP6__half", "f4 i4 i8", "f2 u2"),
        ("_Z2k4ILi3EdEvPT0_", "f4", "f8"),
        ("_Z1kPi", "f8 i8 u8 c16", "f4 i4 u4 c8 i2 u1"),
        ("_Z1kPs", "f4 i4 i8", "f2 u2 i1"),
        ("_Z1kPy", "", "f8 i8 u8 f4 i4 u1"),
        ("_Z1kP5uint2", "", "c16 f8 u8 f4 i4 f2"),
        ("_Z1kPv", "", "f4 f8"),
        ("_Z1kPc", "", "f4 f8"),
        ("_Z1kPPf", "", "f8 u8"),
        ("_Z1kP3Big", "", "f4 f8"),
        ("_Z1kP7__half2", "f4 i8", "f2 u2 u4"),
        ("_Z1kP13__nv_bfloat16", "f4 i4", "f2 u2"),
        ("_Z1kf", "", "f8"),
    ],
)
def test_only_what_is_surely_wrong_is_misread(name, wrong, right):
    """Pointers to real numbers misread real ones of another size, complex ones by their parts.

    All but pointers to bytes, to structs and to nothing misread what is wider than what they point at; nothing else.
    """
    (kind,) = parameter_types(name)
    assert [one for one in wrong.split() if not misread(kind, np.dtype(one))] == []
    assert [one for one in right.split() if misread(kind, np.dtype(one))] == []
    assert not misread(None, np.dtype("f4"))
