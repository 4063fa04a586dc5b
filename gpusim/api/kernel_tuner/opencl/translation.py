"""OpenCL C as CUDA C++: words that a header can't define are replaced, functions get the qualifiers of the device.

Lines keep their numbers. What has no counterpart is refused by its name.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from gpusim.api.kernel_tuner.opencl import directives
from gpusim.api.kernel_tuner.opencl.declarations import declare
from gpusim.api.kernel_tuner.opencl.tokens import Token, text, tokens
from gpusim.api.kernel_tuner.opencl.words import check, literals, rename
from gpusim.api.raw_module import SOURCE

TYPES = "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double"
WIDTHS = 2, 3, 4, 8, 16
_LEAST = "uchar", "char", "ushort", "short", "uint", "int"  # integers of fewer bits than a saturated long
_SIZE = re.compile(r"__attribute__\s*\(\(\s*reqd_work_group_size\s*\(([^()]*),([^()]*),([^()]*)\)\s*\)\)")
_HINT = re.compile(
    r"__attribute__\s*\(\(\s*(?:work_group_size_hint|vec_type_hint|opencl_unroll_hint)\s*(?:\([^()]*\))?\s*\)\)"
)


def translated(source: str) -> str:
    """Return a source of OpenCL C as CUDA C++; raises UserError for what has no counterpart, with its line."""
    sized = _SIZE.sub(r"__launch_bounds__((\1) * (\2) * (\3))", source)
    found = tokens(_HINT.sub("", sized))
    aliases = directives.aliases(found)
    for one in found:
        if one.kind == "name":
            one.text = aliases.get(one.text, one.text)
    check(found)
    directives.translate(found)
    declare(found)
    literals(found)
    rename(found)
    half = "#include <cuda_fp16.h>\n" if _has(found, "half") else ""
    return f'{half}{_header()}#line 1 "{SOURCE}"\n{text(found)}'


def _has(found: list[Token], word: str) -> bool:
    return any(one.text == word for one in found)


@cache
def _header() -> str:
    """Return the header, its macros in one line each: a source with lines that go on is taken to include others."""
    written = files(__package__).joinpath("opencl.cuh").read_text(encoding="utf-8")
    return "\n".join((written.replace("\\\n", ""), *_vectors(), *_conversions(), "#define restrict __restrict__\n"))


def _vectors() -> list[str]:
    named = [(f"{kind}{width}", kind, width) for kind in TYPES for width in WIDTHS]
    types = [f"typedef _cl_vec<{kind}, {width}> _cl_{name};" for name, kind, width in named]
    return [*types, *(f"#define {name} _cl_{name}" for name, _, _ in named)]


def _conversions() -> list[str]:
    names = [*TYPES, *(f"{kind}{width}" for kind in TYPES for width in WIDTHS)]
    plain = [f"#define as_{name} _cl_as<{name}>" for name in names]
    converted = [f"#define convert_{name}{how} _cl_convert<{name}>" for name in names for how in ("", "_rtz")]
    return [*plain, *converted, *(f"#define convert_{name}_sat _cl_saturated<{name}>" for name in _LEAST)]
