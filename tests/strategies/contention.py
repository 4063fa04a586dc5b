"""Kernels whose path the order of warps decides, and kernels that wait for their register banks."""

from __future__ import annotations

from collections.abc import Sequence

import hypothesis.strategies as st

from gpusim.machine.machine import Machine, load
from gpusim.machine.schema import PIPE_UNITS
from isa.generators import hash_fill
from isa.kernel import Buffer, Kernel
from strategies.drawing import INPUT_WORDS, PROLOGUE, SLOT_BYTES, Sketch
from strategies.launches import assembled
from strategies.sketch import fragments

BANKED = {
    "register_file.banks": (1, 2, 2, 4),
    "limits.blocks": (1, 2, 8),
    "schedulers.policy": ("lrr", "gto", "lrr"),
    "launch.block_latency": (0, 33),
}
MANY = 8  # warps of a block
WORD, FOUND, NEW = "R27", "R28", "R29"  # address of a word that several threads share, what it held, what it gets


@st.composite
def contended_kernels(
    draw: st.DrawFn,
    most_blocks: int = 4,
    threads: Sequence[int] = (32, 64, 96, 50),
    warp_sizes: Sequence[int] = (32,),
) -> Kernel:
    """Kernels whose threads try compare-and-swap until it succeeds, or take tickets that decide what they do.

    Blocks of many warps do nothing else, so that what their retries take limits them.
    """
    lanes, blocks = draw(st.sampled_from(warp_sizes)), draw(st.integers(1, most_blocks))
    size = draw(st.sampled_from(threads)) * lanes // 32
    sketch = Sketch(draw, -(-size // lanes), barriers=True, lanes=lanes)
    sketch.emit(PROLOGUE, "BAR.SYNC 0")
    for contend in draw(st.lists(st.sampled_from([retry, retry, ticket]), min_size=1, max_size=3)):
        contend(sketch)
        if sketch.one([False, True]) and sketch.warps < MANY:
            fragments(sketch, depth=1, together=False)
    sketch.emit("STG [R2], R8", "EXIT")
    return _kernel(draw, sketch, "contended", blocks, size, lanes)


@st.composite
def banked_kernels(draw: st.DrawFn, most_blocks: int = 9, threads: Sequence[int] = (64, 128, 160, 256)) -> Kernel:
    """Kernels of multiply-adds alike, whose sources lie in few banks, are constant, scalar, or flagged for reuse."""
    blocks, size = draw(st.integers(1, most_blocks)), draw(st.sampled_from(threads))
    sketch = Sketch(draw, -(-size // 32), barriers=True)
    sketch.emit(PROLOGUE, "MOV R25, 0", *(f"S_MOV_B32 s{i}, 3" for i in range(1, 5)), "round:")
    last, kind = draw(st.sampled_from([1, 1, 2])), sketch.one([_with_scalars, _with_scalars, _with_constants])
    for _ in range(draw(st.integers(8, 24))):
        sketch.emit(kind(sketch, range(8 + sketch.one([0, last - 1]), 24, 2)))
    sketch.emit("IADD R25, R25, 1", f"ISETP.LT P3, R25, {sketch.one([4, 30])}", "@P3 BRA round")
    sketch.emit("STG [R2], R8", "EXIT")
    return _kernel(draw, sketch, "banked", blocks, size, 32)


@st.composite
def named_machines(draw: st.DrawFn) -> Machine:
    """Machines of files, whose register banks are scarcer than their issue slots and pipes, with few changes."""
    name, sms = draw(st.sampled_from(("gtx980", "h200"))), draw(st.integers(1, 3))
    base = load(name)
    lacks = [unit for unit in PIPE_UNITS if unit not in base.unit]
    chosen = {f"unit.{unit}.pipe": next(iter(base.pipe)) for unit in lacks}
    chosen |= {f"unit.{unit}.latency": 4 for unit in lacks} | {"chip.sms": sms, "limits.warp_size": 32}
    chosen |= {"scalar_file.registers": 4000, "scalar_file.unit": 16, "scalar_file.per_warp": 102}
    for path, values in BANKED.items():
        chosen[path] = draw(st.sampled_from(values))
    return load(name, chosen)


def _with_scalars(sketch: Sketch, registers: range) -> str:
    """A vector instruction with a scalar register among its sources, whose number has any parity."""
    target, a, b = (f"v{sketch.one(registers)}" for _ in range(3))
    scalar = f"s{sketch.one([1, 2, 3, 4])}"
    return sketch.one([f"V_MUL_F32 {target}, {scalar}, {a}", *[f"V_FMA_F32 {target}, {scalar}, {a}, {b}"] * 2])


def _with_constants(sketch: Sketch, registers: range) -> str:
    """A multiply-add of registers, some of them kept for reuse, and at times of a constant."""
    a, b, c = (f"R{sketch.one(registers)}" + sketch.one(["", "", "", ".reuse"]) for _ in range(3))
    target = f"R{sketch.one(range(8, 24))}"
    return f"FFMA {target}, {a}, {sketch.one([b, b, '1.5', 'c[in]'])}, {c}"


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
