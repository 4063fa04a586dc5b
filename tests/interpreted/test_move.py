"""Loads, stores and atomics of all sizes, against a plain array of bytes."""

import numpy as np
from draws import draws
from hypothesis import given, settings
from interpreter.interpret import interpret
from strategies import moves
from strategies.launches import REPEATABLE

from isa import memory
from isa.operands.operand import PT, RZ, Address, Immediate, Predicate
from isa.row import Unit

LANES = range(32)
WINDOWS = {0x7D00: Unit.SHARED, 0x7E00: Unit.LOCAL, 0x7F00: Unit.GLOBAL}  # by the upper word of a generic address


def updated(row, a, b, found):
    """Return what an atomic stores; of 128 bits, which no array holds, by what its name says."""
    if row.width > 64:
        swaps = "CAS" not in row.mnemonic or found == a
        return (b if "CAS" in row.mnemonic else a) if swaps else found
    kind = np.uint64 if row.width == 64 else np.uint32
    with np.errstate(all="ignore"):
        return int(row.update(*(np.array([x], kind) for x in (a, b, found)))[0])


class Warp:
    """A warp that executes lane by lane: registers, predicates, and memories as bytes."""

    def __init__(self, kernel, start):
        self.registers = start.registers[:, 0].astype(object)
        self.predicates = start.predicates[:, 0].copy()
        base = memory.bases(kernel.buffers)["y"]
        self.memory = {Unit.GLOBAL: bytearray(base + moves.SIZE), Unit.SHARED: bytearray(moves.SIZE)}
        self.local = [bytearray(moves.SIZE) for _ in LANES]

    def source(self, operand, lane, words):
        """Return a register, or several, as one number."""
        if isinstance(operand, Immediate):
            return operand.bits
        if operand == RZ:
            return 0
        return sum(int(self.registers[operand.index + k, lane]) << 32 * k for k in range(words))

    def put(self, operand, lane, value, words):
        """Write a number to a register, or several."""
        for k in range(words if operand != RZ else 0):
            self.registers[operand.index + k, lane] = value >> 32 * k & 0xFFFFFFFF

    def execute(self, instruction):
        """Execute a load, store or atomic in each lane whose guard holds, one after the other."""
        active = [bool(self.predicates[instruction.guard.index, i]) != instruction.guard.negated for i in LANES]
        if instruction.row.matrices:
            self.exchange(instruction, [lane for lane in LANES if active[lane]])
            return
        for lane in LANES:
            if active[lane]:
                self.access(instruction, lane)

    def exchange(self, instruction, active):
        """Execute a load or store of matrices: element (r, c) of a matrix is half c % 2 of lane 4 r + c / 2.

        Row r is at the address of lane r of the matrix's eight, if it is active. The first of equal rows stays.
        """
        row, held, shared = instruction.row, dict(instruction.slots()), self.memory[Unit.SHARED]
        place = {i: int(self.registers[held["m"].base.index, i]) + held["m"].offset for i in active}
        loaded = {(lane, matrix): 0 for lane in active for matrix in range(row.matrices)}
        given = {lane: self.source(held.get("a", RZ), lane, row.words) for lane in active}
        for matrix in range(row.matrices):
            for r, c in sorted(((r, c) for r in range(8) for c in range(8)), reverse=True):
                i, j = (c, r) if row.transposed else (r, c)
                lane, half = 4 * i + j // 2, j % 2
                if lane in active and (named := 8 * matrix + r) in place:
                    at = place[named] + 2 * c
                    loaded[lane, matrix] |= int.from_bytes(shared[at : at + 2], "little") << 16 * half
                    if row.is_store:
                        word = given[lane] >> 32 * matrix + 16 * half & 0xFFFF
                        shared[at : at + 2] = word.to_bytes(2, "little")
        if row.is_load:
            for lane in active:
                self.put(held["d"], lane, sum(loaded[lane, m] << 32 * m for m in range(row.matrices)), row.words)

    def refuse(self, held, lane):
        """Tell that the memory of an atomic's address does not do it."""
        if isinstance(held.get("P"), Predicate):
            self.predicates[held["P"].index, lane] = held["P"] == PT

    def access(self, instruction, lane):
        """Execute it in one lane."""
        row, held = instruction.row, dict(instruction.slots())
        address = held["m"]
        assert isinstance(address, Address)
        place = int(self.registers[address.base.index, lane]) + address.offset
        unit = WINDOWS[self.registers[address.base.index + 1, lane]] if row.generic else row.unit
        if unit not in (row.unit, *row.near):
            self.refuse(held, lane)
            return
        bytes_ = self.local[lane] if unit is Unit.LOCAL else self.memory[unit]
        found = int.from_bytes(bytes_[place : place + row.nbytes], "little", signed=row.signed)
        a, b = (self.source(held.get(letter, RZ), lane, row.words) for letter in "ab")
        if row.update is not None:
            stored = updated(row, a, b, found)
            bytes_[place : place + row.nbytes] = stored.to_bytes(row.nbytes, "little")
            if "d" in held:
                self.put(held["d"], lane, int(found == a) if row.tested else found, row.words)
            if isinstance(held.get("P"), Predicate):
                self.predicates[held["P"].index, lane] = found == a or "P" not in row.tested
        elif row.is_load:
            self.put(held["d"], lane, found % (1 << 32 * row.words), row.words)
        else:
            stored = a % (1 << 8 * row.nbytes)
            bytes_[place : place + row.nbytes] = stored.to_bytes(row.nbytes, "little")


@settings(REPEATABLE, max_examples=draws(100))
@given(moves.kernels())
def test_accesses_move_what_they_move_lane_by_lane(kernel):
    """Registers, predicates and global memory end as where each lane accesses bytes, one lane after the other."""
    code = kernel.program.instructions
    first = next(pc for pc, i in enumerate(code) if i.row.is_load or i.row.is_store)
    warp = Warp(kernel, moves.up_to(kernel, first))
    for instruction in code[first:-1]:
        warp.execute(instruction)
    found = interpret(kernel)
    base = memory.bases(kernel.buffers)["y"]
    assert found.memory.view(np.uint8)[base : base + moves.SIZE].tobytes() == bytes(warp.memory[Unit.GLOBAL][base:])
    assert (found.registers[:, 0] == warp.registers).all()
    assert (found.predicates[:, 0] == warp.predicates).all()
