"""Programs whose lanes part and meet as in machine code: nested regions, loops, early ways out, calls, jump tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from dataclasses import replace as changed
from typing import Any

from hypothesis import strategies as st

from isa.generators import hash_fill
from isa.kernel import Buffer, Kernel
from isa.text.assembler import assemble

# R0 thread of the block, R1 its slot in shared memory, R2 its slot in `out`, R4 warp, R8 to R11 data, R12 to R15 loop
# counters, R16 a saved barrier, R20 return address, R22 address to go to, R24 scratch; P0 P1 of data, P2 of loops.

SLOT_BYTES, INPUT_WORDS, DEEPEST = 16, 256, 2
PROLOGUE = """
    S2R R0, TID.X
    S2R R4, WARPID
    S2R R5, CTAID.X
    S2R R6, NTID.X
    IMAD R5, R5, R6, R0
    SHL R2, R5, 4
    IADD R2, R2, c[out]
    SHL R1, R0, 4
    MOV R3, c[in]
    LOP.AND R24, R1, 0x3f0
    IADD R3, R3, R24
    LDG.128 R8, [R3]
"""
STEADY_PROLOGUE = PROLOGUE.replace("LDG.128 R8, [R3]", "IMAD R8, R0, 0x6f1, R5\nIMAD R9, R0, 0x35, R4\nMOV R10, R0")
SIMPLE = (
    "IADD R8, R8, R9",
    "LOP.XOR R9, R9, R10",
    "IMAD R10, R10, R9, R0",
    "SHR R11, R9, 3",
    "@P1 IADD R11, R11, R8",
    "IADD R9, R9, 0x55",
    "STL [RZ+4], R8",
    "LDL R9, [RZ+4]",
    "STG [R2+4], R9",
    "LDG R11, [R2+4]",
    "STS [R1+8], R10",
    "LDS R8, [R1+8]",
    "SHFL.BFLY R10, R8, 1",
    "VOTE.BALLOT R11, P1",
    "YIELD",
    "NANOSLEEP 100",
)


@dataclass
class Parts:
    """A program being drawn: its lines, the functions that come after its end, and labels so far."""

    draw: st.DrawFn
    steady: bool = False  # neither addresses nor branches depend on memory's contents
    lines: list[str] = field(default_factory=list)
    functions: list[list[str]] = field(default_factory=list)
    labels: int = 0

    def emit(self, *lines: str) -> None:
        """Append lines of text."""
        self.lines += lines

    def one(self, values: Any) -> Any:
        """Draw one of the values."""
        return self.draw(st.sampled_from(values))

    def label(self) -> str:
        """Return a new label."""
        self.labels += 1
        return f"at{self.labels}"

    def condition(self, predicate: str) -> None:
        """Set a predicate in some of the lanes, by data or by lane."""
        bits, mask = self.one(["R8", "R9", "R10", "R0", "R0", "R4"]), self.one([1, 2, 3, 5, 7, 30])
        self.emit(f"LOP.AND R24, {bits}, {mask}", f"ISETP.{self.one(['EQ', 'NE', 'LT'])} {predicate}, R24, {mask // 2}")


def body(parts: Parts, depth: int, ways_out: tuple[str, ...] = ()) -> None:
    """Emit a few parts; `ways_out` are the places of regions around at which their lanes meet, the outermost first."""
    nested = [_region, _region, _loop, _call, _table] if depth < DEEPEST else []
    extra = [_leave] if len(ways_out) > 1 else []
    kinds = st.sampled_from([_simple, _simple, _exit, *extra, *nested])
    for kind in parts.draw(st.lists(kinds, min_size=1, max_size=3)):
        kind(parts, depth, ways_out)


def _simple(parts: Parts, _depth: int, _ways_out: tuple[str, ...]) -> None:
    parts.condition(parts.one(["P0", "P1"]))
    some = [line for line in SIMPLE if not (parts.steady and line.startswith("LD"))]
    parts.emit(*parts.draw(st.lists(st.sampled_from(some), min_size=1, max_size=4)))


def _exit(parts: Parts, _depth: int, _ways_out: tuple[str, ...]) -> None:
    """Let a lane or two exit, in a few programs."""
    if parts.one([False, False, True]):
        parts.emit(f"LOP.AND R24, R0, {parts.one([15, 31, 63])}", f"ISETP.EQ P0, R24, {parts.one([0, 3, 7])}")
        parts.emit("@P0 EXIT")


def _leave(parts: Parts, depth: int, ways_out: tuple[str, ...]) -> None:
    """Let some lanes go to where those of a region further out meet: they leave all barriers inside."""
    out = parts.one(range(len(ways_out) - 1))
    parts.condition("P0")
    parts.emit(*(f"@P0 BREAK B{inner}" for inner in range(out + 1, len(ways_out))), f"@P0 BRA {ways_out[out]}")
    _simple(parts, depth, ways_out)


def _region(parts: Parts, depth: int, ways_out: tuple[str, ...]) -> None:
    """Emit one way or two that lanes may go, between BSSY and BSYNC."""
    met, other, barrier = parts.label(), parts.label(), len(ways_out)
    parts.emit(f"BSSY B{barrier}, {met}")
    parts.condition("P0")
    parts.emit(f"{parts.one(['@P0', '@!P0'])} BRA {other}")
    body(parts, depth + 1, (*ways_out, met))
    if parts.one([False, True]):
        parts.emit(parts.one([f"BRA {met}", f"BSYNC B{barrier}\n BRA {met}_after"]), f"{other}:")
        body(parts, depth + 1, (*ways_out, met))
    else:
        parts.emit(f"{other}:")
    parts.emit(f"{met}: BSYNC B{barrier}", f"{met}_after:")


def _loop(parts: Parts, depth: int, ways_out: tuple[str, ...]) -> None:
    """Emit a loop of as many rounds as each lane needs."""
    met, again, counter, barrier = parts.label(), parts.label(), f"R{12 + depth}", len(ways_out)
    bits = parts.one(["R8", "R9", "R0", "R4"])
    parts.emit(f"BSSY B{barrier}, {met}", f"LOP.AND {counter}, {bits}, {parts.one([1, 3])}", f"{again}:")
    body(parts, depth + 1, (*ways_out, met))
    parts.emit(f"IADD {counter}, {counter}, -1", f"ISETP.GE P2, {counter}, 0", f"@P2 BRA {again}")
    parts.emit(f"{met}: BSYNC B{barrier}")


def _call(parts: Parts, _depth: int, _ways_out: tuple[str, ...]) -> None:
    """Emit a call of a function, of its label or of an address, of one or of two."""
    back, barrier = parts.label(), 8
    names = [_function(parts, barrier) for _ in range(parts.one([1, 1, 2]))]
    parts.emit(f"LEPC R20, {back}")
    if len(names) == 1 and parts.one([False, True]):
        parts.emit(f"CALL.REL.NOINC {names[0]}", f"{back}:")
        return
    parts.condition("P0")
    parts.emit(f"LEPC R22, {names[0]}", f"@P0 LEPC R22, {names[-1]}")
    parts.emit(f"CALL.ABS.NOINC R22, [{', '.join(dict.fromkeys(names))}]", f"{back}:")


def _function(parts: Parts, barrier: int) -> str:
    """Draw a function, which parts lanes itself and saves the barrier that it uses; return its name."""
    name, met, kept = parts.label(), parts.label(), parts.lines
    parts.lines = [f"{name}:", f"BMOV.32.CLEAR R16, B{barrier}", f"BSSY B{barrier}, {met}"]
    parts.condition("P0")
    parts.emit(f"@P0 BRA {met}")
    _simple(parts, 0, ())
    parts.emit(f"{met}: BSYNC B{barrier}", f"BMOV.32 B{barrier}, R16")
    _simple(parts, 0, ())
    parts.emit(parts.one(["RET.ABS.NODEC R20", "RET.REL.NODEC R20"]))
    parts.functions.append(parts.lines)
    parts.lines = kept
    return name


def _table(parts: Parts, depth: int, ways_out: tuple[str, ...]) -> None:
    """Emit a branch to one of three places, which each lane chooses."""
    met, barrier = parts.label(), len(ways_out)
    names = [parts.label() for _ in range(3)]
    parts.emit(f"BSSY B{barrier}, {met}", f"LEPC R22, {names[0]}")
    for predicate, name in zip(("P0", "P1"), names[1:], strict=True):
        parts.condition(predicate)
        parts.emit(f"@{predicate} LEPC R22, {name}")
    parts.emit(f"BRX R22, [{', '.join(names)}]")
    for name in names:
        parts.emit(f"{name}:")
        _simple(parts, depth, ways_out)
        parts.emit(f"BRA {met}")
    parts.emit(f"{met}: BSYNC B{barrier}")


def _together(parts: Parts, warps: int) -> None:
    """Emit what all lanes, or all warps, of a block take part in."""
    kinds = ["warp", "collective", "alone", "arrive", "ask", "apart", "either"]
    kind = parts.one([*kinds, *([] if parts.steady else ["count", "exchange"])])
    if kind == "warp":
        parts.condition("P0")
        skip = parts.label()
        parts.emit(f"@P0 BRA {skip}")
        _simple(parts, 0, ())
        parts.emit(f"{skip}:", parts.one(["WARPSYNC.ALL", "WARPSYNC 0xffffffff"]))
    elif kind == "collective":
        after, mask = parts.label(), _mask(parts)
        parts.emit(f"WARPSYNC.COLLECTIVE {mask}, {after}", "SHFL.BFLY R9, R8, 3", "ENDCOLLECTIVE")
        parts.emit(f"{after}: WARPSYNC.ALL")
    elif kind == "alone":
        met = parts.label()
        parts.emit("WARPSYNC.ALL", f"BSSY B0, {met}", f"WARPSYNC.EXCLUSIVE {_mask(parts)}", "REDUX.SUM R9, R8")
        parts.emit(f"{met}: BSYNC B0")
    elif kind == "ask":
        where, guard = parts.label(), parts.one(["", "@P0 "])
        parts.condition("P0")
        parts.emit(f"BSSY B0, {where}", f"{guard}{parts.one(['BRA.DIV', 'BRA.CONV'])} 0xffffffff, {where}")
        parts.emit("IADD R8, R8, 5", f"{where}: BSYNC B0")
    elif kind in ("apart", "either"):
        _come_apart(parts, twice=kind == "either")
    elif kind == "count":
        parts.condition("P0")
        parts.emit(f"BAR.RED.{parts.one(['POPC', 'AND', 'OR'])} 3, {parts.one(['P0', '!P0'])}", "B2R.RESULT R10, P1")
    elif kind == "exchange":
        parts.emit("MOV R25, 2", "BAR.SYNC R25", "STS [R1], R8", "BAR.SYNC 2")
        parts.emit(f"LOP.XOR R24, R0, {parts.one([1, 31])}", "SHL R24, R24, 4", "LDS R9, [R24]", "BAR.SYNC 2")
    elif warps > 1:
        parts.emit(f"ISETP.LT P0, R4, {parts.one([1, warps])}", f"@P0 BAR.ARV 4, {32 * warps}")
        parts.emit(f"@!P0 BAR.SYNC 4, {32 * warps}")


def _come_apart(parts: Parts, *, twice: bool) -> None:
    """Emit a barrier of the block to which lanes come apart, and pass it one after the other; `twice`: one on each way.

    Warps that part wait there twice, for others who do as well, or for ever.
    """
    other, on = parts.label(), parts.label()
    parts.condition("P0")
    parts.emit(f"@P0 BRA {other}")
    _simple(parts, 0, ())
    parts.emit(*(["BAR.SYNC 6", f"BRA {on}"] if twice else []), f"{other}:", "STS [R1], R8", "BAR.SYNC 6")
    parts.emit(f"{on}: WARPSYNC.ALL")


def _mask(parts: Parts) -> str:
    """Return the mask of all lanes, or emit those of groups of 3, 8 and 21, and return the register."""
    if parts.one([False, True]):
        return "0xffffffff"
    parts.emit("MOV R26, 0xfffff800")
    for most, mask in ((11, 0x7F8), (3, 7)):
        parts.emit(f"ISETP.LT P0, R0, {most}", f"@P0 MOV R26, {mask:#x}")
    return "R26"


@st.composite
def kernels(draw: st.DrawFn, most_blocks: int = 2, *, steady: bool = False) -> Kernel:
    """Kernels whose lanes are independent, without races; `steady`: no address or branch depends on memory."""
    size, blocks = draw(st.sampled_from((32, 64, 64, 20, 96))), draw(st.integers(1, most_blocks))
    seed, parts, warps = draw(st.integers(0, 99)), Parts(draw, steady), -(-size // 32)
    parts.emit(STEADY_PROLOGUE if steady else PROLOGUE)
    for _ in range(parts.one([1, 2, 3])):
        body(parts, 0)
        if parts.one([False, True]):
            _together(parts, warps)
    parts.emit("STG.128 [R2], R8", "EXIT")
    for function in parts.functions:
        parts.lines += function
    text = f".shared {SLOT_BYTES * 32 * warps}\n.local 32\n" + "\n".join(parts.lines)
    program = changed(assemble(text), independent=True)
    buffers = (
        Buffer("in", "<u4", INPUT_WORDS, hash_fill(seed, 0, 1 << 29, "<u4")),
        Buffer("out", "<u4", blocks * size * SLOT_BYTES // 4),
    )
    return Kernel("parting", program, (blocks, 1, 1), (size, 1, 1), buffers=buffers)
