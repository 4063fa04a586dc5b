"""Every number of a listing, however large."""

import re
from itertools import product

import pytest
from draws import few

from isa.errors import UserError
from isa.memory import bases
from isa.text import listing

TEXTS = (
    """.kernel all
.grid 2 3 4
.block 32 2 1
.shared 1024
.local 16
.param n = 100
.param f = 2.5
.buffer x f32 128 = hash 1 -2 2
.buffer y i32 4 = values 1 2 3 4
.buffer z u32 4 = constant 7
.expect y = 2 * [1, 2, 3, 4] within 1e-6
.flops 256
loop: [B0-----:R1:W2:Y:S04] @P0 MOV R1, 5
[B------:R-:W-:-:S01] LDS.64 R2, [R4+0x10]
[B------:R-:W-:-:S01] LDG R2, [8]
[B------:R-:W-:-:S01] BAR.SYNC 0, 64
[B------:R-:W-:-:S01] FADD R3, R1, 1.5
[B------:R-:W-:-:S01] LOP3 R3, R1, R2, R3, 0x96
[B------:R-:W-:-:S01] @!P1 BRA loop
[B------:R-:W-:-:S01] EXIT
""",
    """.warp 64
V_ADD_U32 v4, v4, s0
S_LOAD_DWORDX8 s[8:15], s0, 16
GLOBAL_LOAD_DWORD v8, v18, off offset:16
S_WAITCNT vmcnt(1) lgkmcnt(0)
S_ENDPGM
""",
)
EXTREME = ("2147483648", str(2**63 - 1), str(2**63), "9" * 20, "9" * 30, "9" * 5_000, "0x" + "f" * 5_000, "1e999999999")
PLACES = [
    (text, found.span()) for text in TEXTS for found in re.finditer(r"(?<![\w.])-?\d[\w.\-]*|(?<=[RPBWSvs])\d+", text)
]


def read(text):
    """Return the kernel of a listing and no message, or no kernel and the message that refuses it."""
    try:
        return listing.read(text, "a.asm"), ""
    except UserError as error:
        return None, str(error)


def test_the_texts_are_listings():
    """Both listings are valid before any number is replaced, and have over 40 numbers together."""
    assert all(listing.read(text).program.instructions for text in TEXTS)
    assert len(PLACES) > 40


@pytest.mark.parametrize(
    ("place", "number"), few(product(PLACES, EXTREME), 165), ids=lambda x: x[:25] if isinstance(x, str) else str(x[1])
)
def test_any_number_may_be_any(place, number):
    """With any one number replaced, a listing is a kernel within the limits of sizes, or is refused in one line."""
    text, span = place
    kernel, error = read(text[: span[0]] + number + text[span[1] :])
    if kernel is None:
        assert len(error.splitlines()) == 1
        assert error.startswith("a.asm:")
        return
    assert kernel.blocks < 2**31
    assert kernel.threads <= listing.MOST_THREADS
    assert kernel.flops <= listing.MOST_FLOPS
    assert (kernel.program.shared_bytes, kernel.program.local_bytes) <= (1 << 24, 1 << 19)
    assert all(
        -(2**32) <= o.bits < 2**64 for i in kernel.program.instructions for o in i.operands if hasattr(o, "bits")
    )
    assert max(bases(kernel.buffers).values(), default=0) < 2**32
    assert "\n" not in repr(kernel)


@pytest.mark.parametrize(
    "text",
    ["1" * 60_000 + "x", "a:" * 30_000, " " * 60_000 + "offset", "R1 " * 20_000, "[" * 60_000, "c[" + " " * 60_000],
)
def test_a_long_line_is_one_error(text):
    """A very long parameter, operand, instruction or control code is refused in one error with its place."""
    for line in (f".param n = {text}", f"MOV R0, {text}", text, f"GLOBAL_LOAD_DWORD v8, v18, {text}", f"[{text}] EXIT"):
        with pytest.raises(UserError, match=r"^a.asm:1:\d+: "):
            listing.read(f"{line}\nEXIT\n", "a.asm")
