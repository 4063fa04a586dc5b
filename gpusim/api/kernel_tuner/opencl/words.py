"""Words of OpenCL C: what is refused, vectors written as literals, and parts of vectors."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpusim.api.kernel_tuner.opencl.tokens import Token
from isa.errors import UserError

_REFUSED = re.compile(
    r"image[123]d\w*_t|sampler_t|(?:read|write)_image\w+|async_work_group\w*|wait_group_events|enqueue_kernel"
    r"|(?:get_)?sub_group_\w+|work_group_(?!barrier)\w+|v(?:load|store)a?_half\w*|get_work_dim|half(?:2|3|4|8|16)"
    r"|atomic_\w+_explicit|ndrange_t|queue_t"
)
_PART = re.compile(r"[xyzw]{2,4}|[sS][0-9a-fA-F]{2,16}|even|odd")
_THERE = "xy", "zw"
_ELEMENT = re.compile(r"S[0-9a-fA-F]|s[A-F]")
_OPENING, _CLOSING = "([{", ")]}"


def refused(one: Token, cause: str) -> UserError:
    """Return the error for a token."""
    return UserError(f"OpenCL, line {one.line}: {one.text}: {cause}")


def check(found: list[Token]) -> None:
    """Raise UserError for a word that has no counterpart."""
    plain = {one.text for before, one in _pairs(found) if one.kind == "name" and before != "."}
    for before, one in _pairs(found):
        if one.kind == "name" and _REFUSED.fullmatch(one.text):
            raise refused(one, "has no counterpart here; write the kernel without it")
        if before == "." and _PART.fullmatch(one.text) and one.text not in (*_THERE, *plain):
            raise refused(one, "of parts of a vector only lo, hi, xy, zw and single elements are there; write them out")


def _pairs(found: list[Token]) -> Iterator[tuple[str, Token]]:
    """Yield each token that is no blank with the text of the one before."""
    before = ""
    for one in found:
        if one.kind != "blank":
            yield before, one
            before = one.text


def rename(found: list[Token]) -> None:
    """Write elements of vectors as the header does."""
    for before, one in _pairs(found):
        if before == "." and _ELEMENT.fullmatch(one.text):
            one.text = one.text.lower()


def literals(found: list[Token]) -> None:
    """Write (float4)(a, b, c, d) as float4(a, b, c, d): to C++ the former is a cast of d."""
    solid = [one for one in found if one.kind != "blank"]
    for place in range(len(solid) - 3):
        opening, name, closing, values = solid[place : place + 4]
        if (opening.text, name.kind, closing.text, values.text) == ("(", "name", ")", "(") and _lists(solid, place + 3):
            opening.text = closing.text = ""


def _lists(solid: list[Token], opening: int) -> bool:
    """Tell whether several values stand between this parenthesis and its other one."""
    depth = 0
    for one in solid[opening:]:
        if one.kind == "sign" and one.text:
            depth += (one.text in _OPENING) - (one.text in _CLOSING)
            if depth == 1 and one.text == ",":
                return True
        if not depth:
            return False
    return False
