"""Streams of memory accesses in patterns, of barriers, and of bursts between two clock reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from isa.instruction import Instruction
from isa.operands.operand import RZ, Register
from workloads.builder import at, instruction
from workloads.measured.codes import coded, plain
from workloads.measured.loop import BRANCH, COUNT, PLACE, Stream, load, looped, test
from workloads.measured.order import ordered
from workloads.measured.patterns import offsets

LOADS = {"LDS32": ("LDS", 1), "LDS64": ("LDS.64", 2), "LDS128": ("LDS.128", 4)}
STORES = {"STS32": ("STS", 1), "STS64": ("STS.64", 2), "STS128": ("STS.128", 4)}
GLOBAL = {"LDG32": ("LDG", 1), "LDG64": ("LDG.64", 2), "LDG128": ("LDG.128", 4)}
GLOBAL_BARRIERS = 3  # the others are for loads before and after the loop
SHARED_LOADS, GLOBAL_LOADS, SINGLE_STEPS, BARRIERS = 96, 48, 48, 16
SHARED_BYTES = 32768
FIRST = 8  # registers of the chains
SUM = Register(FIRST - 1)
X, COPY = Register(FIRST), Register(FIRST + 4)
MOST = 1024  # instructions of a burst
Make = Callable[[int], Sequence[Instruction]]
BURSTS = {
    **{op: (load(mnemonic, RZ), 4 * words) for op, (mnemonic, words) in LOADS.items()},
    "LDG32": (load("LDG", RZ), 4),
    "STS32": (instruction("STS", at(PLACE), PLACE), 4),
    "SHFL_BFLY": (instruction("SHFL.BFLY", RZ, PLACE, 1), 4),
}


def shared_loads(op: str, pattern: str, chains: int, iterations: int) -> Stream | None:
    """Return 96 loads from shared memory in chains, each from the address that the previous one loaded."""
    if op not in LOADS or not 1 <= chains <= 16:
        return None
    mnemonic, words = LOADS[op]
    steps = [load(mnemonic, Register(FIRST + words * (i % chains))) for i in range(SHARED_LOADS)]
    return _shared(coded(looped(steps, iterations, 1, 2 if chains == 1 else 3)), offsets(pattern, 4 * words))


def shared_stores(op: str, pattern: str, iterations: int) -> Stream | None:
    """Return 96 stores to shared memory without waits."""
    if op not in STORES:
        return None
    mnemonic, words = STORES[op]
    steps = [instruction(mnemonic, at(PLACE), X)] * SHARED_LOADS
    return _shared(coded(looped(steps, iterations)), offsets(pattern, 4 * words))


def shared_chain(op: str, pattern: str, iterations: int) -> Stream | None:
    """Return 48 steps of stores and loads of the same word, of byte loads or of atomics."""
    if op not in SINGLE:
        return None
    step, unit = SINGLE[op]
    steps = [made for turn in range(SINGLE_STEPS) for made in step(turn)]
    places = (1024,) * 32 if op == "LDS_U8" else offsets(pattern, unit)
    return _shared(coded(looped(steps, iterations)), places)


def _store_and_load(suffix: str, copies: int) -> Make:
    """Return steps that copy the word to others stored with it, and load it back."""
    stored = COPY if copies else X

    def step(turn: int) -> Sequence[Instruction]:
        moves = [_copied(Register(COPY.index + i), turn + i) for i in range(copies)]
        return *moves, instruction(f"STS{suffix}", at(PLACE), stored), load(f"LDS{suffix}", X)

    return step


def _single(made: Instruction) -> Make:
    return lambda _: [made]


def _swapped(turn: int) -> Sequence[Instruction]:
    return _copied(COPY, turn), instruction("ATOMS.CAS", X, at(PLACE), X, COPY)


def _copied(to: Register, turn: int) -> Instruction:
    """Return a copy of the word, on the integer multiplier every other time."""
    return instruction("MOV", to, X) if turn % 2 else instruction("IMAD", to, RZ, RZ, X)


SINGLE: dict[str, tuple[Make, int]] = {  # by operation: the instructions of a step, and the bytes of an access
    "STS32_LDS32": (_store_and_load("", 0), 4),
    "STS64_LDS64": (_store_and_load(".64", 2), 8),
    "STS128_LDS128": (_store_and_load(".128", 3), 16),
    "LDS_U8": (_single(load("LDS.U8", X)), 4),
    "ATOMS_ADD_ret": (_single(instruction("ATOMS.ADD", X, at(PLACE), X)), 4),
    "ATOMS_ADD_noret": (_single(instruction("ATOMS.ADD", RZ, at(PLACE), X)), 4),
    "ATOMS_INC_noret": (_single(instruction("ATOMS.ADD", RZ, at(PLACE), 1)), 4),
    "ATOMS_CAS": (_swapped, 4),
}


def global_loads(op: str, param: str, chains: int, iterations: int) -> Stream | None:
    """Return 48 loads from global memory in chains; `param` gives the cache and the distances of lanes and warps."""
    match = re.fullmatch(r"c[ag] stride(\d{1,6})B( perwarp-lines)?", param)
    if op not in GLOBAL or not match or not 1 <= chains <= 16:
        return None
    mnemonic, words = GLOBAL[op]
    stride, own = int(match[1]), match[2] is not None
    if stride % (4 * words):
        return None
    row = 128 * words if own else 0
    steps = _chains(mnemonic, words, chains, row)
    places = tuple(stride * lane for lane in range(32))
    size = 32 * row * chains + places[-1] + 4 * words
    body = coded(looped(steps, iterations, GLOBAL_LOADS, GLOBAL_LOADS + 1), GLOBAL_BARRIERS)
    return Stream(body, places, row * chains, data_bytes=max(size, 4096) + 4096)


def _chains(mnemonic: str, words: int, chains: int, stride: int) -> list[Instruction]:
    """Return the loads, with `apart` bytes between chains; last words of quadruples are summed up in pairs."""
    registers = [Register(FIRST + words * (i % chains)) for i in range(GLOBAL_LOADS)]
    loads = [instruction(mnemonic, x, at(PLACE, stride * (i % chains))) for i, x in enumerate(registers)]
    if words < 4 or chains == 1:
        return loads
    last = [Register(x.index + 3) for x in registers]
    sums = [instruction("IADD3", SUM, SUM, *pair) for pair in zip(last[::2], last[1::2], strict=True)]
    return ordered(
        [
            made
            for first, second, added in zip(loads[::2], loads[1::2], sums, strict=True)
            for made in (first, second, added)
        ]
    )


def barriers(op: str, iterations: int) -> Stream | None:
    """Return 16 barriers of the block, or of the warp; the latter do nothing."""
    if op == "WARPSYNC":
        steps = [plain(instruction("WARPSYNC", 0xFFFFFFFF))] * BARRIERS
        body = plain(COUNT), *steps[:3], plain(test(iterations)), *steps[3:], plain(BRANCH, stall=5)
        return Stream(body)
    if op != "BAR.SYNC":
        return None
    wait = instruction("BAR.SYNC", 0)
    counting = plain(wait), plain(COUNT, stall=7, yields=True)
    rest = [plain(wait, stall=8)] * (BARRIERS - 2)
    return Stream(
        (*counting, *rest, plain(wait), plain(test(iterations), stall=13, yields=True), plain(BRANCH, stall=5))
    )


def burst(op: str, number: int) -> Stream | None:
    """Return so many independent instructions, without waits, between two clock reads."""
    if op == "MUFU_EX2":  # the compiler moved them out: two clock reads, which the ALU does, follow each other
        return Stream((plain(instruction("MOV", COPY, 0)),), marked=True)
    if op not in BURSTS or not 1 <= number <= MOST:
        return None
    made, unit = BURSTS[op]
    barrier = None if made.row.mnemonic == "STS" else 0
    run = *[plain(made, stall=4, write_barrier=barrier)] * (number - 1), plain(made, write_barrier=barrier)
    places = tuple(unit * lane for lane in range(32))
    if op == "LDG32":
        return Stream(run, places, data_bytes=4096, marked=True)
    return Stream(run, places, shared_bytes=8192, marked=True)


def chase(param: str, loads: int) -> Stream | None:
    """Return so many loads of one thread, each from the address that the previous one loaded."""
    match = re.search(r"spacing\d+B .*wid(4|8|16)B", param)
    if not match:
        return None
    mnemonic = {"4": "LDG", "8": "LDG.64", "16": "LDG.128"}[match[1]]
    body = coded([instruction(mnemonic, X, at(PLACE, 4096 * i)) for i in range(loads)])
    return Stream(body, tuple(16 * lane for lane in range(32)), data_bytes=4096 * loads)


def _shared(body: tuple[Instruction, ...], places: tuple[int, ...] | None) -> Stream | None:
    if places is None:
        return None
    return Stream(body, places, shared_bytes=max(SHARED_BYTES, -(-(max(places) + 16) // 4) * 4))
