"""The parameters of a kernel as its PTX has them: their names, and which are real numbers.

Whether others are pointers, or have a sign, PTX need not say, nor what pointers point at.
"""

from __future__ import annotations

import re

from isa.nvidia.file.signature import Type

_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.S)
_PARAMETER = re.compile(
    r"\.param(?:\s+\.align\s+\d+)?\s+\.(?P<type>[a-z]\w+)(?:\s+\.ptr\b(?:\s*\.\w+|\s+\d+)*+)?\s+(?P<name>[\w$%]+)"
    r"\s*(?:\[[^\]]*\])?"
)
_REALS = {"f32": Type("float", "float32"), "f64": Type("double", "float64")}


def parameters(text: str, kernel: str) -> tuple[tuple[str, Type | None], ...] | None:
    """Return name and type of each parameter of a kernel in a text of PTX; the type is None where it doesn't say it.

    None where there is no such kernel, or where its list is none that can be read. A name that a compiler has made of
    the kernel's is `a1` of the first one, and so on.
    """
    found = re.search(rf"\.entry\s+{re.escape(kernel)}\s*(?:\(([^()]*)\))?", _COMMENT.sub(" ", text))
    if found is None:
        return None
    matches = [_PARAMETER.fullmatch(part.strip()) for part in (found[1] or "").split(",") if part.strip()]
    if any(match is None for match in matches):
        return None
    return tuple(_known(match, number, kernel) for number, match in enumerate(matches, 1) if match)


def _known(match: re.Match[str], number: int, kernel: str) -> tuple[str, Type | None]:
    name = f"a{number}" if match["name"].startswith(f"{kernel}_param_") else match["name"]
    return name, _REALS.get(match["type"])
