"""Languages of kernels: which of them the simulated card runs, and what their compilers' options are to nvcc."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from isa.errors import UserError

OPENCL = "OPENCL"
CARD = "CUDA", "CUPY", "NVCUDA", "PYCUDA", OPENCL  # CUDA C++ but for the last
HOST = "C", "FORTRAN", "HYPERTUNER"  # what these time is no kernel of a card
_OF_CARD = re.compile(r"--?(arch|gpu-architecture|gencode|generate-code)(=.*)?")  # the card says it
_OF_NVRTC = re.compile(r"--?(default-device|device-as-default-execution-space|dlink-time-opt|dlto)(=.*)?")
_FAST = "-cl-fast-relaxed-math"
_EXACT = "-cl-fp32-correctly-rounded-divide-sqrt"
_FROM_OPENCL = {
    _FAST: ("-use_fast_math",),
    "-cl-unsafe-math-optimizations": (),
    "-cl-finite-math-only": (),
    "-cl-no-signed-zeros": (),
    "-cl-mad-enable": (),  # nvcc fuses by itself
    "-cl-denorms-are-zero": ("-ftz=true",),
    "-cl-opt-disable": ("-Xptxas", "-O0"),
    "-cl-kernel-arg-info": (),
    "-cl-nv-verbose": (),
    _EXACT: (),
    "-w": ("-w",),
    "-Werror": (),
}
_REGISTERS = "-cl-nv-maxrregcount"
_INEXACT = "-prec-div=false", "-prec-sqrt=false"  # OpenCL 1.2, section 7.4: 2.5 and 3 ULP are enough


def on_host(lang: str) -> bool:
    """Tell whether a language is that of code for the host; raises UserError for one of neither host nor card."""
    if lang.upper() not in (*CARD, *HOST):
        raise UserError(f"lang={lang}: the simulated card runs {', '.join(CARD[:-1])} and {CARD[-1]}")
    return lang.upper() in HOST


def options(lang: str, given: Iterable[str]) -> list[str]:
    """Return a compiler's options as nvcc's, without the architecture; raises UserError for unknown ones of OpenCL."""
    words = [str(one) for one in given]
    if lang.upper() == OPENCL:
        return list(_opencl(words))
    return list(_cuda(words))


def _cuda(words: Iterable[str]) -> Iterator[str]:
    rest = iter(words)
    for word in rest:
        if match := _OF_CARD.fullmatch(word):
            if not match[2]:
                next(rest, None)  # its value
        elif not _OF_NVRTC.fullmatch(word):
            yield word


def _opencl(words: list[str]) -> Iterator[str]:
    words = [part for word in words for part in word.split()]
    if _FAST not in words and _EXACT not in words:
        yield from _INEXACT
    rest = iter(words)
    for word in rest:
        name, _, value = word.partition("=")
        if name == _REGISTERS:
            yield f"-maxrregcount={value}"
        elif word in ("-D", "-I"):
            yield word + next(rest, "")
        elif word in _FROM_OPENCL:
            yield from _FROM_OPENCL[word]
        elif word.startswith(("-D", "-I")):
            yield word
        elif name != "-cl-std":
            raise UserError(f"compiler_options: {word}: an option of OpenCL that has no counterpart; leave it out")
