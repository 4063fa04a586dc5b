"""Declarations of OpenCL C: which function is a kernel, which variable is shared."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gpusim.api.kernel_tuner.opencl.spaces import SPACES
from gpusim.api.kernel_tuner.opencl.tokens import Token
from gpusim.api.kernel_tuner.opencl.words import refused

_CONDITION = re.compile(r"\s*#\s*(if|elif|else|endif)")
_ENDS = tuple(";=[,(){")


@dataclass
class _Place:
    """Where in the source: braces and parentheses that are open, and the statement outside of functions."""

    braces: int = 0
    parentheses: int = 0
    statement: list[Token] = field(default_factory=list)
    kernel: bool = False

    def copy(self) -> _Place:
        return _Place(self.braces, self.parentheses, [*self.statement], self.kernel)


def declare(found: list[Token]) -> None:
    """Write the qualifiers of CUDA C++ in the place of OpenCL's; raises UserError for shared memory as an argument."""
    solid, place, outer = [one for one in found if one.kind != "blank"], _Place(), list[_Place]()
    for number, one in enumerate(solid):
        if one.kind == "directive":
            place = _branched(one, place, outer)
        elif one.kind == "name" and one.text in SPACES:
            _qualify(solid, number, place)
        _step(one, place)


def _branched(one: Token, place: _Place, outer: list[_Place]) -> _Place:
    """Return the place behind a line of the preprocessor: each branch begins where the first did."""
    match = _CONDITION.match(one.text)
    if not match:
        return place
    if match[1] == "if":
        outer.append(place.copy())
    elif outer and match[1] == "endif":
        outer.pop()
    elif outer:
        return outer[-1].copy()
    return place


def _step(one: Token, place: _Place) -> None:
    """Go on behind a token; a function that ends its declaration here is one of the device."""
    if one.kind == "directive":
        return
    if not place.braces and not place.parentheses and one.text in ("{", ";"):
        if _is_function(place.statement):
            _mark(place)
            place.statement = []
        if one.text == ";":
            place.statement, place.kernel = [], False
    elif not place.braces:
        place.statement.append(one)
    place.braces += (one.text == "{") - (one.text == "}")
    place.parentheses += (one.text == "(") - (one.text == ")")
    if one.text == "}" and not place.braces and not place.statement:
        place.kernel = False


def _is_function(statement: list[Token]) -> bool:
    words = [one.text for one in statement]
    return bool(words) and words[-1] == ")" and words[0] not in ("typedef", "__attribute__") and "=" not in words


def _mark(place: _Place) -> None:
    first = place.statement[0]
    first.text = f'extern "C" {first.text}' if place.kernel else f"__device__ {first.text}"


def _qualify(solid: list[Token], number: int, place: _Place) -> None:
    """Replace a word of OpenCL by that of its place."""
    one, inside = solid[number], place.braces or place.parentheses
    meaning, pointer = SPACES[one.text], _is_pointer(solid, number)
    if meaning == "kernel":
        one.text, place.kernel = "__global__", True
    elif meaning == "local":
        if place.kernel and place.parentheses and not place.braces:
            raise refused(one, "as a parameter of a kernel: Kernel Tuner gives none; declare the array in the kernel")
        one.text = "" if pointer or place.parentheses else "__shared__"
    elif meaning == "constant":
        one.text = _constant(solid, number) if inside or pointer else "__constant__"
    else:
        one.text = "__device__" if meaning == "global" and not inside and not pointer else ""


def _constant(solid: list[Token], number: int) -> str:
    """Return const, unless it stands beside."""
    return "" if "const" in (solid[number - 1].text, solid[number + 1].text) else "const"


def _is_pointer(solid: list[Token], number: int) -> bool:
    """Tell whether a star stands between this word and the declared name, or a pointer is a function's result."""
    for one in solid[number + 1 :]:
        if one.text == "*":
            return True
        if one.text in _ENDS:
            return False
    return False
