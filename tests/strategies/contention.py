"""Kernels whose path the order of warps decides, and kernels that wait for their register banks."""

from __future__ import annotations

from collections.abc import Sequence

import hypothesis.strategies as st

from isa.generators import hash_fill
from isa.kernel import Buffer, Kernel
from strategies.launches import assembled
from strategies.sketch import INPUT_WORDS, PROLOGUE, SLOT_BYTES, Sketch, fragments

WORD, FOUND, NEW = "R27", "R28", "R29"  # address of a word that several threads share, what it held, what it gets


@st.composite
def contended_kernels(
    draw: st.DrawFn, most_blocks: int = 4, threads: Sequence[int] = (32, 64, 96, 50), warp_sizes: Sequence[int] = (32,)
) -> Kernel:
    """Kernels whose threads try compare-and-swap until it succeeds, or take tickets that decide what they do."""
    lanes, blocks = draw(st.sampled_from(warp_sizes)), draw(st.integers(1, most_blocks))
    size = draw(st.sampled_from(threads)) * lanes // 32
    sketch = Sketch(draw, -(-size // lanes), barriers=True, lanes=lanes)
    sketch.emit(PROLOGUE, "BAR.SYNC 0")
    for contend in draw(st.lists(st.sampled_from([retry, retry, ticket]), min_size=1, max_size=3)):
        contend(sketch)
        if sketch.one([False, True]):
            fragments(sketch, depth=1, together=False)
    sketch.emit("STG [R2], R8", "EXIT")
    return _kernel(draw, sketch, "contended", blocks, size, lanes)


@st.composite
def banked_kernels(draw: st.DrawFn, most_blocks: int = 9, threads: Sequence[int] = (32, 64, 128, 160)) -> Kernel:
    """Kernels of multiply-adds whose sources lie in few banks, some of them constant, scalar or flagged for reuse."""
    blocks, size = draw(st.integers(1, most_blocks)), draw(st.sampled_from(threads))
    sketch = Sketch(draw, -(-size // 32), barriers=True)
    sketch.emit(PROLOGUE, "S_MOV_B32 s1, 3", "MOV R25, 0", "round:")
    stride = sketch.one([1, 2, 4])
    for _ in range(draw(st.integers(4, 24))):
        sources = [f"R{sketch.one(range(8, 24, stride))}" for _ in range(3)]
        mixed = [source + sketch.one(["", "", "", ".reuse"]) for source in sources]
        vector = sources[0].replace("R", "v")
        sketch.emit(
            sketch.one(
                [
                    f"FFMA R{sketch.one(range(8, 24))}, {', '.join(mixed)}",
                    f"FFMA R{sketch.one(range(8, 24))}, {mixed[0]}, 1.5, {mixed[2]}",
                    f"IADD R{sketch.one(range(8, 24))}, {mixed[0]}, c[in]",
                    f"V_ADD_U32 v{sketch.one(range(8, 24))}, s1, {vector}",
                    f"V_ADD_U32 v{sketch.one(range(8, 24))}, s0, {vector}",
                ]
            )
        )
    sketch.emit("IADD R25, R25, 1", f"ISETP.LT P3, R25, {sketch.one([1, 4, 30])}", "@P3 BRA round")
    sketch.emit("STG [R2], R8", "EXIT")
    return _kernel(draw, sketch, "banked", blocks, size, 32)


def retry(sketch: Sketch) -> None:
    """Emit a loop that updates a word of shared or global memory, until no other thread was first."""
    sketch.labels += 1
    label, space = f"retry{sketch.labels}", _word(sketch)
    old, spin = f"LD{space} {FOUND}, [{WORD}]", sketch.one(["", "BSSY B0"])
    update = sketch.one([f"IADD {NEW}, {FOUND}, 1", f"FADD {NEW}, {FOUND}, 1.0", f"IADD {NEW}, {FOUND}, R0"])
    guard = sketch.one(["", "", "@P5 "])
    sketch.emit(f"ISETP.LT P5, R0, {sketch.one([1, 20, 40])}")
    sketch.emit(*([f"{spin}, {label}.met"] if spin else []), f"{label}:", old, update)
    sketch.emit(f"{guard}ATOM{space}.CAS {NEW}, [{WORD}], {FOUND}, {NEW}")
    sketch.emit(f"{guard}ISETP.NE P6, {NEW}, {FOUND}" if not guard else f"ISETP.NE P6, {NEW}, {FOUND}")
    if guard:  # who does not take part, does not try again
        sketch.emit(f"@!P5 BRA {label}.end")
    sketch.emit(f"@P6 BRA {label}", f"{label}.end:", *(["BSYNC B0"] if spin else []), f"{label}.met:")


def ticket(sketch: Sketch) -> None:
    """Emit an atomic whose result decides where a load reads, and whether some instructions are executed."""
    sketch.labels += 1
    label, space = f"ticket{sketch.labels}", _word(sketch)
    sketch.emit(f"ATOM{space}.ADD {FOUND}, [{WORD}], R0", f"LOP.AND R7, {FOUND}, {sketch.one([0x3C, 0x1FC]):#x}")
    sketch.emit("IADD R7, R7, R3", "LDG R9, [R7]", f"ISETP.LT P6, {FOUND}, {sketch.one([1, 9, 200])}")
    sketch.emit(f"@P6 BRA {label}", *["FADD R10, R9, R10", "LDG R11, [R7+4]"] * sketch.one([1, 3]), f"{label}:")


def _word(sketch: Sketch) -> str:
    """Emit the address of one of a few words that threads, warps or blocks share; return the letter of its memory."""
    sketch.emit(f"LOP.AND {WORD}, R0, {sketch.one([0, 0, 1, 7, 31])}", f"SHL {WORD}, {WORD}, 4")
    if sketch.one([True, False]):
        return "S"
    sketch.emit(f"IADD {WORD}, {WORD}, c[out]")
    return "G"


def _kernel(draw: st.DrawFn, sketch: Sketch, name: str, blocks: int, size: int, lanes: int) -> Kernel:
    buffers = (
        Buffer("in", "<u4", INPUT_WORDS, hash_fill(draw(st.integers(0, 1 << 16)), 0, 1 << 29, "<u4")),
        Buffer("out", "<u4", max(32, blocks * size) * SLOT_BYTES // 4),
    )
    return Kernel(name, assembled(sketch), (blocks, 1, 1), (size, 1, 1), buffers=buffers, warp_size=lanes)
