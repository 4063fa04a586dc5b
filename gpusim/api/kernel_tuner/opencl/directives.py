"""Lines of the preprocessor in OpenCL C."""

from __future__ import annotations

import re

from gpusim.api.kernel_tuner.opencl.spaces import SPACES
from gpusim.api.kernel_tuner.opencl.tokens import Token, text, tokens
from gpusim.api.kernel_tuner.opencl.words import check, literals, refused, rename

_DEFINE = re.compile(r"(\s*#\s*define\s+)(\w+)(\([^()]*\))?(.*)", re.S)
_UNROLL = re.compile(r"(\s*#\s*pragma\s+unroll)[\s(]+(\w+)\)?\s*", re.S)
_EXTENSION = re.compile(r"\s*#\s*pragma\s+OPENCL\b")
_MEANT = "kernel", "local", "constant"  # what no macro can spell for each of its places


def aliases(found: list[Token]) -> dict[str, str]:
    """Return macros that stand for one word of an address space or for `__kernel`, and empty them."""
    names = dict[str, str]()
    for one in found:
        match = _DEFINE.fullmatch(one.text) if one.kind == "directive" else None
        if match and not match[3] and match[4].strip() in SPACES:
            names[match[2]] = match[4].strip()
            one.text = match[1] + match[2]
    return names


def translate(found: list[Token]) -> None:
    """Translate the bodies of macros, and pragmas; raises UserError for a macro that declares shared memory."""
    values = dict[str, str]()
    for one in found:
        if one.kind != "directive":
            continue
        if match := _DEFINE.fullmatch(one.text):
            values[match[2]] = match[4].strip()
            one.text = match[1] + match[2] + (match[3] or "") + _body(match[4], one)
        elif match := _UNROLL.fullmatch(one.text):
            one.text = _unrolled(match[1], values.get(match[2], match[2]))
        elif _EXTENSION.match(one.text):
            one.text = ""


def _body(written: str, line: Token) -> str:
    found = tokens(written, line.line)
    for one in found:
        if one.kind == "name" and SPACES.get(one.text) in _MEANT:
            raise refused(one, "in a macro among other words; write it where the macro is used")
        one.text = "" if one.kind == "name" and one.text in SPACES else one.text
    check(found)
    literals(found)
    rename(found)
    return text(found)


def _unrolled(pragma: str, times: str) -> str:
    """Return the line, in which nvcc takes no macro; Kernel Tuner's 0 is for none."""
    return "" if times == "0" else f"{pragma} {times}"
