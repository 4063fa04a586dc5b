"""Languages of kernels, and the options of their compilers."""

import pytest

from gpusim.api.kernel_tuner.language import on_host, options
from isa.errors import UserError


@pytest.mark.parametrize(
    ("lang", "given", "expected"),
    [
        ("CUDA", ["-arch=sm_52", "-O3", "-gencode", "arch=compute_80,code=sm_80", "-lineinfo"], ["-O3", "-lineinfo"]),
        ("CUPY", ["--gpu-architecture=compute_80", "-default-device", "-DX=1"], ["-DX=1"]),
        ("OPENCL", [], ["-prec-div=false", "-prec-sqrt=false"]),
        ("opencl", ["-cl-fast-relaxed-math -DX=2"], ["-use_fast_math", "-DX=2"]),
        ("OPENCL", ["-cl-fp32-correctly-rounded-divide-sqrt", "-cl-std=CL1.2", "-D", "Y"], ["-DY"]),
        (
            "OPENCL",
            ["-cl-nv-maxrregcount=64", "-cl-mad-enable"],
            ["-prec-div=false", "-prec-sqrt=false", "-maxrregcount=64"],
        ),
    ],
)
def test_options_of_nvcc(lang, given, expected):
    """The card names the architecture; OpenCL's options become nvcc's, with its default precision of quotients."""
    assert options(lang, given) == expected


def test_languages():
    """The card runs CUDA C++ and OpenCL C, the host C and Fortran; others, and unknown options, are refused by name."""
    assert [on_host(lang) for lang in ("CUDA", "cupy", "NVCUDA", "OpenCL", "C", "Fortran")] == [False] * 4 + [True] * 2
    with pytest.raises(UserError, match="lang=HIP: the simulated card runs"):
        on_host("HIP")
    with pytest.raises(UserError, match="-cl-single-precision-constant: an option of OpenCL that has no counterpart"):
        options("OPENCL", ["-cl-single-precision-constant"])
