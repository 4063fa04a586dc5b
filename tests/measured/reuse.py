"""Multiply-adds whose operands are kept for reuse, beside other warps: the edited code of reuse.cu, and its times.

`python3 reuse.py reuse.cubin` prints the rows of gpusim/published/h100_reuse.csv; it needs a GPU of sm_90 and its
driver, nothing else. All multiply-adds read the same three even registers (DFMA: pairs) and write RZ. Operands `ab` are
flagged for reuse; every so many multiply-adds one yields, which flags nothing. With `own`, the third of every four is a
load from shared memory to RZ. The chain of the other warps goes through an even or an odd register, or FADD through RZ;
LDS and FADD read it as their first operand, MUFU as its second one. FADD yields, as compiled; `FADD+` flags its
operand and does not yield.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from words import OPERATION, RZ, field, sections

ADDS, LINKS = 240, 64
OPERATIONS = {"FFMA": 0x223, "DFMA": 0x22B, "LDS": 0x984, "MUFU": 0x308, "FADD": 0x221}
CHAINS = "LDS", "MUFU", "FADD"
ADDED = "", "+"  # of FADD
KEPT = {"none": 0, "a": 1, "ab": 3}  # bits 122 to 124
PERIODS = 4, 240
STALLS = 1, 2, 3
LOOPS = 40, 120
ROUNDS = {"LDS": 120, "MUFU": 120, "FADD": 600}
REGISTERS = "even", "odd", "RZ"


def multiply_add(template: int, registers: tuple[int, int, int], kept: int, stall: int, *, yields: bool) -> int:
    """Return a multiply-add of three registers to RZ."""
    word = field(template, 16, 8, RZ)
    for place, register in zip((24, 32, 64), registers, strict=True):
        word = field(word, place, 8, register)
    word = field(field(word, 72, 8, 0), 105, 4, stall)
    return _control(word, 0 if yields else kept, yields=yields)


def _control(word: int, kept: int, *, yields: bool) -> int:
    """Return an instruction without barriers."""
    return field(field(field(field(word, 109, 1, int(not yields)), 110, 6, 0o77), 116, 6, 0), 122, 4, kept)


def edited(code: bytes, kept: str, period: int, stall: int, own: int, register: str, added: str) -> bytes:
    """Return a cubin whose multiply-adds keep these operands, and whose chains go through such a register."""
    found = bytearray(code)
    for _, base, size in sections(code):
        words = {at: int.from_bytes(code[at : at + 16], "little") for at in range(base, base + size, 16)}
        adds = _run(words, ("FFMA", "DFMA"))
        chain = _run(words, CHAINS)
        assert (len(adds), len(chain)) == (ADDS, LINKS), (len(adds), len(chain))
        pairs = sorted({words[at] >> 16 & 255 for at in adds} - {RZ})
        chosen = [register for register in pairs if register % 2 == 0][:3]
        step = stall if words[adds[0]] & OPERATION == OPERATIONS["FFMA"] else max(2, stall)
        for i, at in enumerate(adds):
            yields = i % period == period - 1
            word = multiply_add(words[at], (chosen[0], chosen[1], chosen[2]), KEPT[kept], step, yields=yields)
            if own and i % 4 == 2 and words[chain[0]] & OPERATION == OPERATIONS["LDS"]:
                word = field(_control(field(words[chain[0]], 16, 8, RZ), 0, yields=False), 105, 4, 1)
            found[at : at + 16] = word.to_bytes(16, "little")
        through = chosen[0] + REGISTERS.index(register) if register != "RZ" else RZ  # chains need no multiply-add's
        for at, word in _links(words, chain, through, added):
            found[at : at + 16] = word.to_bytes(16, "little")
    return bytes(found)


def _links(words: dict[int, int], chain: list[int], through: int, added: str) -> Iterator[tuple[int, int]]:
    """Yield the links, which all go through one register, but that the first reads and the last writes their own."""
    kind = words[chain[0]] & OPERATION
    if kind == OPERATIONS["FADD"]:
        for at in chain:
            word = field(field(field(words[at], 16, 8, through), 24, 8, through), 32, 8, RZ)
            yield at, field(field(word, 109, 1, 1), 122, 4, KEPT["a"]) if added else word
        return
    source = 24 if kind == OPERATIONS["LDS"] else 32
    for i, at in enumerate(chain):
        word = words[at] if i == LINKS - 1 or through == RZ else field(words[at], 16, 8, through)
        yield at, word if i == 0 or through == RZ else field(word, source, 8, through)


def _run(words: dict[int, int], names: tuple[str, ...]) -> list[int]:
    """Return where the instructions of these names are that stand as close together as most of them."""
    wanted = {OPERATIONS[name] for name in names}
    places = [at for at, word in words.items() if word & OPERATION in wanted]
    close = [at for at in places if any(0 < abs(at - other) <= 48 for other in places)]
    kinds = {words[at] & OPERATION for at in close}
    most = max(kinds, key=lambda kind: sum(words[at] & OPERATION == kind for at in close))
    return [at for at in places if words[at] & OPERATION == most][: ADDS if "FFMA" in names else LINKS]


class Chip:
    """The GPU by its driver: loads code and times its multiply-adds."""

    def __init__(self) -> None:
        """Take the first GPU."""
        self.driver = ctypes.CDLL("libcuda.so.1")
        context, device = ctypes.c_void_p(), ctypes.c_int()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.buffers = [ctypes.c_uint64() for _ in range(3)]
        for buffer in self.buffers:
            self.call("cuMemAlloc_v2", ctypes.byref(buffer), ctypes.c_size_t(1 << 16))
            self.call("cuMemsetD32_v2", buffer, 0, ctypes.c_size_t(1 << 14))

    def call(self, name: str, *arguments: object) -> None:
        """Call the driver; raises RuntimeError for any error."""
        if error := getattr(self.driver, name)(*arguments):
            raise RuntimeError(f"{name}: error {error}")

    def module(self, code: bytes) -> ctypes.c_void_p:
        """Return loaded code."""
        found = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(found), code)
        return found

    def cycles(self, module: ctypes.c_void_p, add: str, chain: str, warps: int, chains: int, iterations: int) -> int:
        """Return the cycles from the first multiply-add to the last, of so many warps on each scheduler: a median."""
        function, found = ctypes.c_void_p(), []
        self.call("cuModuleGetFunction", ctypes.byref(function), module, f"reuse_{add}_{chain}".encode())
        numbers = [ctypes.c_int(ROUNDS[chain] if chains else 0), ctypes.c_int(iterations), ctypes.c_int(chains)]
        pointers = [ctypes.cast(ctypes.pointer(each), ctypes.c_void_p) for each in (*self.buffers, *numbers)]
        arguments = (ctypes.c_void_p * len(pointers))(*pointers)
        for _ in range(5):
            shape = 1, 1, 1, 128 * (1 + warps), 1, 1, 8192
            self.call("cuLaunchKernel", function, *shape, None, arguments, None)
            records = (ctypes.c_int64 * (2 * 4 * (1 + warps)))()
            self.call("cuMemcpyDtoH_v2", records, self.buffers[0], ctypes.c_size_t(ctypes.sizeof(records)))
            found.append(max(records[9::2]) - min(records[8::2]))
        return sorted(found)[2]


def codes() -> Iterator[tuple[str, int, int, int, str, str]]:
    """Yield what is edited: kept operands, period of yields, stall count, own loads, register of the chain, flag."""
    for kept, period, stall, own, register, added in product(KEPT, PERIODS, STALLS, (0, 1), REGISTERS, ADDED):
        if not own or (register, added) == ("even", ""):
            yield kept, period, stall, own, register, added


def launches(stall: int, own: int, register: str, added: str) -> Iterator[tuple[str, str, int, int]]:
    """Yield the multiply-add, the chain, its warps and those of multiply-adds on each scheduler, for an edited code."""
    for add, chain, chains, warps in product(("FFMA", "DFMA"), CHAINS, (0, 1), (1, 2, 4)):
        unlike = chain != "FADD" and (added or register == "RZ")
        alone = (chain, register, added) == ("LDS", "even", "")
        if not unlike and (add, stall) != ("DFMA", 1) and (alone or chains) and not (own and chains):
            yield add, chain, chains, warps


def main(base: Path) -> None:
    """Print a row for each launch: cycles of a multiply-add on a scheduler."""
    chip, code = Chip(), base.read_bytes()
    print("add,kept,period,stall,own,chain,register,chains,warps,cycles")  # noqa: T201  (a program of its own)
    for edit in codes():
        kept, period, stall, own, register, added = edit
        module = chip.module(edited(code, *edit))
        for add, chain, chains, warps in launches(stall, own, register, added):
            which = f"{chain}{added},{register}" if chains else "none,none"
            some, more = (chip.cycles(module, add, chain, warps, chains, each // warps) for each in LOOPS)
            cost = (more - some) / (ADDS * (LOOPS[1] // warps - LOOPS[0] // warps) * warps)
            row = f"{add},{kept},{period},{stall},{own},{which},{chains},{warps},{cost:.4f}"
            print(row)  # noqa: T201
        chip.call("cuModuleUnload", module)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
