"""Small programs drawn part by part, for the strategies of kernels."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import strategies as st

from strategies.drawing import (
    SCALAR_ROWS,
    SCC_ROWS,
    STRIDES,
    VCC_ROWS,
    VECTOR_ROWS,
    Sketch,
    alu,
    compare,
    few,
)
from strategies.memory_parts import (
    burst,
    constant,
    copies,
    fence,
    gather,
    own_atomic,
    own_global,
    own_local,
    own_matrix,
    own_shared,
    texture,
    wait,
    walk,
)


def fragments(sketch: Sketch, depth: int, together: bool, least: int = 1) -> None:
    own = [own_shared, own_atomic, own_global, own_local, own_matrix]
    simple = [alu, alu, alu, compare, *own, gather, texture, constant, burst, wait, _of_gcn, _doubles, fence]
    simple += [copies] * 3 if sketch.copies else []
    if sketch.steady:
        simple = [alu, alu, *own, burst, walk, constant, texture, wait, _of_gcn]
    nested = [_loop, _skip, _region] if depth < 2 else []
    shared = [_exchange, _partial_exchange] * (1 if sketch.barriers else 4) if together else []
    for kind in sketch.draw(st.lists(st.sampled_from([*simple, *nested, *shared]), min_size=least, max_size=least + 5)):
        if kind in nested:
            kind(sketch, depth, together)
        else:
            kind(sketch)


def _of_gcn(sketch: Sketch) -> None:
    """Emit a few of GCN's instructions, which machines without them run too."""
    parts = [_scalar, _scalar_load, _vector_memory]
    sketch.one(parts if sketch.steady else [*parts, _scalar_loop, _branch_of_all, _jump])(sketch)


def _doubles(sketch: Sketch) -> None:
    """Emit double precision, which may have the SM to itself."""
    sketch.emit(*("DADD R8, R8, R12", "DFMA R16, R8, R12, R8", "DADD R20, R12, R12")[: sketch.one([1, 2, 3])])


def _scalar(sketch: Sketch) -> None:
    """Emit GCN's arithmetic: scalar, and of vectors with a scalar operand or not; and a choice by VCC."""
    row = sketch.one(SCALAR_ROWS + VECTOR_ROWS)
    scalar, operands = row.mnemonic.startswith("S_"), []
    for letter in row.form:
        vector = sketch.data(row.words).replace("R", "v") if row.words == 1 else f"v[{sketch.one([8, 11, 14])}:"
        vector += "" if row.words == 1 else f"{int(vector[2:-1]) + 1}]"
        operands.append(f"s{sketch.one([1, 2, 3])}" if scalar else vector)
        if letter == "a" and not scalar and row.words == 1:
            operands[-1] = sketch.one([vector, "s1", "s5", "s12", "3.5" if row.is_float else "17"])
    sketch.emit(f"{row.mnemonic} {', '.join(operands)}")
    if sketch.one([False, False, True]):
        first, second = ("0x1", "v4") if sketch.steady else ("s1", sketch.data().replace("R", "v"))  # s1 may be loaded
        sketch.emit(f"{sketch.one(VCC_ROWS).mnemonic} VCC, {first}, {second}", "V_CNDMASK_B32 v9, v8, v10, VCC")


def _scalar_load(sketch: Sketch) -> None:
    """Emit a load to scalar registers, at times with an instruction that needs it, or that it must wait for."""
    suffix, words = sketch.one([("", 1), ("X2", 2), ("X4", 4), ("X8", 8), ("X16", 16)])
    target = f"s[4:{3 + words}]" if words > 1 else "s4"
    sketch.emit(f"S_LOAD_DWORD{suffix} {target}, s0, {sketch.one([0, 4, 64]):#x}")
    sketch.emit(*sketch.one([[], ["V_ADD_U32 v12, s4, v8"], ["S_ADD_U32 s1, s4, s2"]]))


def _scalar_loop(sketch: Sketch) -> None:
    """Emit a loop that branches on SCC."""
    sketch.labels += 1
    sketch.emit("S_MOV_B32 s20, 0", f"scc{sketch.labels}:")
    _scalar(sketch)
    sketch.emit("S_ADD_U32 s20, s20, 1", f"S_CMP_LT_U32 s20, {sketch.one([1, 3])}")
    sketch.emit(f"S_CBRANCH_SCC1 scc{sketch.labels}")


def _branch_of_all(sketch: Sketch) -> None:
    """Emit a part that a warp jumps over if VCC is true in some of its lanes, or in none."""
    sketch.labels += 1
    kind, low = sketch.one(["VCCZ", "VCCNZ"]), "v4" if sketch.steady else sketch.one(["v0", "v4", "v8"])
    sketch.emit(f"V_CMP_LT_U32 VCC, {low}, {sketch.one([1, 40])}", f"S_CBRANCH_{kind} vcc{sketch.labels}")
    _scalar(sketch)
    sketch.emit(f"vcc{sketch.labels}:")


def _vector_memory(sketch: Sketch) -> None:
    """Emit accesses in GCN's notation."""
    width, registers = sketch.one([("", "v13"), ("X2", "v[9:10]"), ("X4", "v[16:19]")])
    bits = {"": 32, "X2": 64, "X4": 128}[width]
    load = sketch.one([f"GLOBAL_LOAD_DWORD{width} {registers}, v2, off", f"DS_READ_B{bits} {registers}, v1"])
    store = sketch.one([f"GLOBAL_STORE_DWORD{width} v2, {registers}, off", f"DS_WRITE_B{bits} v1, {registers}"])
    sketch.emit(load, store)


def _jump(sketch: Sketch) -> None:
    """Emit a scalar comparison and a jump by it, or an unconditional jump, and instructions that do nothing."""
    sketch.labels += 1
    row, branch = sketch.one(SCC_ROWS), sketch.one(["S_CBRANCH_SCC0", "S_CBRANCH_SCC1", "S_BRANCH"])
    sketch.emit(f"{row.mnemonic} s{sketch.one([1, 2, 3])}, {sketch.one([1, 40])}", f"{branch} jump{sketch.labels}")
    sketch.emit(sketch.one(["NOP", "S_NOP 3", "WARPSYNC 0xffffffff", "MOV R9, R8"]), f"jump{sketch.labels}:")


def without_scalars(lines: Sequence[str]) -> list[str]:
    """The lines that use no scalar register, nor what they leave in a condition code."""
    return [line for line in lines if not re.search(r"\bs\[?\d|S_CBRANCH|V_CNDMASK|V_CMP", line)]


def _exchange(sketch: Sketch) -> None:
    """Let each thread write its slot and, past a barrier of the block, read another's."""
    _exchange_among(sketch, sketch.warps, "", sketch.one(["BAR.SYNC 0", "BAR.SYNC 15", "S_BARRIER"]))


def _partial_exchange(sketch: Sketch) -> None:
    """Do the same among the first warps only, while the others go on."""
    warps = sketch.draw(st.integers(1, sketch.warps))
    sketch.emit(f"ISETP.LT P5, R4, {warps}")
    _exchange_among(
        sketch, warps, "@P5 ", f"@P5 BAR.SYNC {warps}, {sketch.lanes * warps}"
    )  # one barrier for each set of warps


def _exchange_among(sketch: Sketch, warps: int, guard: str, barrier: str) -> None:
    suffix, words = sketch.one([("", 1), (".64", 2), (".128", 4)])
    threads = sketch.lanes * warps
    kept = [not sketch.barriers and sketch.draw(st.booleans()) for _ in range(3)]
    fence = [[] if dropped else [barrier] for dropped in kept]
    sketch.emit(
        *fence[0],
        f"{guard}STS{suffix} [R1], {sketch.data(words)}",
        *fence[1],
        f"IADD R7, R0, {sketch.lanes * sketch.one(range(warps))}",
        f"ISETP.GE P6, R7, {threads}",
        f"@P6 IADD R7, R7, -{threads}",
        f"LOP.XOR R7, R7, {sketch.one([0, 1, 5, 31])}",
        "SHL R7, R7, 4",
        f"{guard}LDS{suffix} {sketch.data(words)}, [R7]",
        *fence[2],
    )


def _loop(sketch: Sketch, depth: int, together: bool) -> None:
    """Emit a loop of one to three rounds, or of one more for each next warp, or of as many as each lane needs."""
    sketch.labels += 1
    label, counter, predicate = f"loop{sketch.labels}", f"R{5 + depth}", f"P{3 + depth}"
    end = sketch.one([1, 2, 3, "R4", "R7"])
    sketch.emit(f"MOV {counter}, 0", f"{label}:")
    fragments(sketch, depth + 1, together and end not in ("R4", "R7"))
    if end == "R7":
        sketch.emit(f"LOP.AND R7, R0, {sketch.one([1, 2, 3, 34])}")
    sketch.emit(f"ISETP.LT {predicate}, {counter}, {end}", f"IADD {counter}, {counter}, 1", f"@{predicate} BRA {label}")


def long_loop(sketch: Sketch, counter: str, rounds: Sequence[int]) -> None:
    """Emit a loop of many rounds, with a pointer that moves, now and then with a short loop inside."""
    sketch.labels += 1
    label = f"long{sketch.labels}"
    sketch.emit(f"MOV {counter}, 0", f"{label}:")
    fragments(sketch, depth=sketch.one([1, 2, 2]), together=True)
    sketch.emit(f"IADD R24, R24, {sketch.one(STRIDES)}", f"IADD {counter}, {counter}, 1")
    sketch.emit(f"ISETP.LT P2, {counter}, {sketch.one(rounds)}", f"@P2 BRA {label}")


def _skip(sketch: Sketch, depth: int, _together: bool) -> None:
    """Emit a part that the first warps or threads jump over, or for which the others go another way."""
    sketch.labels += 1
    label = f"past{sketch.labels}"
    met = f"met{sketch.labels}" if sketch.one([False, True]) else ""
    if met:
        sketch.emit(f"BSSY B{depth}, {met}")
    warps = f"ISETP.LT P5, R4, {sketch.draw(st.integers(0, sketch.warps))}"
    threads = f"ISETP.LT P5, R0, {sketch.draw(st.integers(0, 32 * sketch.warps))}"
    sketch.emit(sketch.one([warps, threads]), f"@P5 BRA {label}")
    fragments(sketch, depth + 1, together=False)
    if sketch.one([False, False, True]):
        sketch.emit(f"BRA {label}end", f"{label}:")
        label = f"{label}end"
        fragments(sketch, depth + 1, together=False)
    sketch.emit(f"{label}:")
    if met:
        fragments(sketch, depth + 1, together=False)
        sketch.emit(f"BSYNC B{depth}", f"{met}:")


def parting_regions(sketch: Sketch) -> None:
    """Emit one to three regions between BSSY and BSYNC in which lanes diverge, some of them in a loop."""
    for _ in range(sketch.one([1, 2, 3])):
        _region(sketch, 0, False)


def _region(sketch: Sketch, depth: int, together: bool) -> None:
    """Emit a region between BSSY and BSYNC."""
    sketch.one([_ways, _leave])(sketch, depth, together)


def _ways(sketch: Sketch, depth: int, _together: bool) -> None:
    """Emit a region where lanes go two to five ways, each of which passes instructions before and after its end."""
    sketch.labels += 1
    label, ways, test = f"way{sketch.labels}", range(sketch.one([1, 2, 3, 4])), sketch.one(["EQ", "LE"])
    sketch.emit(f"BSSY B{depth}, {label}.met", f"LOP.AND R7, R0, {sketch.one([1, 3, 7, 32])}")
    for way in ways:
        sketch.emit(f"ISETP.{test} P5, R7, {way}", f"@P5 BRA {label}.{way}")
    few(sketch)
    for way in ways:
        sketch.emit(f"BRA {label}", f"{label}.{way}:")
        few(sketch)
    sketch.emit(f"{label}:")
    fragments(sketch, depth + 1, together=False)
    sketch.emit(f"BSYNC B{depth}", f"{label}.met:")
    few(sketch)


def _leave(sketch: Sketch, depth: int, _together: bool) -> None:
    """Emit a loop in a region, which some lanes leave earlier than others; they meet after the region."""
    sketch.labels += 1
    label, counter, predicate = f"leave{sketch.labels}", f"R{5 + depth}", f"P{3 + depth}"
    sketch.emit(f"BSSY B{depth}, {label}.met", f"MOV {counter}, 0", f"{label}:")
    fragments(sketch, depth + 1, together=False)
    sketch.emit(f"LOP.AND R7, R0, {sketch.one([1, 3, 16])}", f"ISETP.LT P5, R7, {counter}", f"@P5 BRA {label}.out")
    few(sketch)
    sketch.emit(f"IADD {counter}, {counter}, 1", f"ISETP.LT {predicate}, {counter}, {sketch.one([2, 3])}")
    sketch.emit(f"@{predicate} BRA {label}", f"{label}.out:")
    few(sketch)
    sketch.emit(f"BSYNC B{depth}", f"{label}.met:")
    few(sketch)
