"""NVIDIA's compiler as a library, which needs no host compiler: device code only, without the C++ library's headers."""

from __future__ import annotations

import ctypes
import ctypes.util
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from isa.nvidia.compiler import tools

_SUCCESS = 0
_HOST = re.compile(r"-O[0-3]?|--optimize(=.*)?")  # nvcc's options for host code only, of which there is none here
_JOINED = re.compile(r"-[DIU]")  # options whose value follows without a sign between
_VALUED = re.compile(
    r"--?(Xptxas|ptxas-options|std|maxrregcount|arch|gpu-architecture|include|pre-include|include-path|define-macro"
    r"|undefine-macro|diag-suppress|ftz|prec-div|prec-sqrt|fmad)"
)


class NvrtcError(Exception):
    """What the compiler printed about a source that it refused."""


def available() -> bool:
    """Tell whether the library is installed."""
    return _library() is not None


def version() -> str:
    """Return its version, such as `NVRTC 13.0`; for an installed library only."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _library().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return f"NVRTC {major.value}.{minor.value}"


def cubin(source: str, name: str, flags: Sequence[str]) -> bytes:
    """Return the machine code of a source; `name` is its file's. Raises NvrtcError with the compiler's text."""
    library, program = _library(), ctypes.c_void_p()
    arguments = [one.encode() for one in (*options(flags), *_headers())]
    text = source.encode()
    _check(library.nvrtcCreateProgram(ctypes.byref(program), text, name.encode(), 0, None, None))
    try:
        array = (ctypes.c_char_p * len(arguments))(*arguments)
        if library.nvrtcCompileProgram(program, len(arguments), array) != _SUCCESS:
            raise NvrtcError(_answer(program, "ProgramLog").decode(errors="replace").rstrip("\0"))
        return _answer(program, "CUBIN")
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def options(flags: Sequence[str]) -> Iterator[str]:
    """Yield nvcc's flags as this library takes them: none for host code, and an option together with its value."""
    left = iter(flags)
    for flag in left:
        if _JOINED.fullmatch(flag):
            yield flag + next(left, "")
        elif _VALUED.fullmatch(flag):
            yield f"{flag}={next(left, '')}"
        elif not _HOST.fullmatch(flag):
            yield flag


def _headers() -> Iterator[str]:
    """Yield options for the folders of CUDA's own headers, where packages have them."""
    for folder in tools.packaged("include")[:1]:
        yield from (f"-I{one}" for one in (folder, folder / "cccl") if one.is_dir())


def _answer(program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    _check(getattr(_library(), f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    content = ctypes.create_string_buffer(size.value)
    _check(getattr(_library(), f"nvrtcGet{what}")(program, content))
    return content.raw


def _check(code: int) -> None:
    if code != _SUCCESS:
        text = _library().nvrtcGetErrorString
        text.restype = ctypes.c_char_p
        raise NvrtcError(f"nvrtc: error: {text(code).decode()}")


@cache
def _library() -> Any:
    """Return the library of the newest package, else the system's; None if there is none."""
    for folder in tools.packaged("lib"):
        for path in sorted(folder.glob("libnvrtc.so.*")):
            _preload(folder)
            return ctypes.CDLL(str(path))
    found = ctypes.util.find_library("nvrtc")
    return ctypes.CDLL(found) if found else None


def _preload(folder: Path) -> None:
    """Load the second library, which the first one looks for on the system's path only."""
    for path in sorted(folder.glob("libnvrtc-builtins.so.*")):
        ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
