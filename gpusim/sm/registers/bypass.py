"""Bypasses: operands that are read later, and results that are there sooner, than latencies say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gpusim.sm.records import Columns, MachineNumbers
from gpusim.sm.unit.declare import Condition, Declaration, Machine, field
from gpusim.sm.unit.ranges import Count
from isa.instruction import Instruction
from isa.operands.operand import Register
from isa.row import Unit as UnitClass

if TYPE_CHECKING:
    from isa.kernel import Kernel


class Bypass(msgspec.Struct, frozen=True):
    """Bypasses that control codes rely on; without the section there are none.

    If an instruction reads one operand late, all count as read then; all words of a result count as there with the
    first.
    """

    product_result: Count  # cycles from the issue of a multiply-add of 64 bits with factors of 32 to its lower word
    addend_read: Count  # cycles from the issue of such a multiply-add to its reads
    wide_result: Count  # cycles from the issue of another of unit class wide to its result; its latency is a chain's
    multiply_result: Count  # cycles from the issue of unit class imul to its result
    double_result: Count  # cycles from the issue of unit class dp to its result
    half_result: Count  # cycles from the issue of unit class fp16 to its result
    half_mma_result: Count  # cycles from the issue of unit class fp16m to its result


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """Whether there are any."""
    packed.bypasses = machine.bypass is not None


def decode(row: Columns, instruction: Instruction, machine: Machine, _: Kernel) -> None:
    """By how many cycles its operands are read later, and its result is there sooner."""
    keys = machine.bypass
    if keys is None:
        return
    form = instruction.row
    of_classes = {
        UnitClass.WIDE: keys.wide_result,
        UnitClass.IMUL: keys.multiply_result,
        UnitClass.DP: keys.double_result,
        UnitClass.FP16: keys.half_result,
        UnitClass.FP16M: keys.half_mma_result,
    }
    product = {"c", "d"} <= {*form.form} and [form.words_of(letter) for letter in "dac"] == [2, 1, 2]
    sums = product and any(letter == "c" and isinstance(o, Register) for letter, o in instruction.slots())
    row["reads_later"] = keys.addend_read * sums
    there = keys.product_result if product else of_classes.get(instruction.row.unit)
    if there is not None:
        row["sooner"] = max(0, int(row["latency"]) - there)


UNIT = Declaration(
    "bypass",
    fields={
        "machine": (field("bypasses", "1: some operands are read later, or results there sooner"),),
        "row": (
            field("reads_later", "cycles from its issue to the reads of its operands", kind="i1"),
            field("sooner", "cycles by which its result is there before its latency is over", kind="i1"),
        ),
    },
    pack=pack,
    decode=decode,
    conditions=(
        Condition(
            "bypass.*",
            "rows.reads_later rows.sooner",
            lambda given: bool((given.rows["reads_later"] > 0).any() or (given.rows["sooner"] > 0).any()),
            "{kernel} has no such instruction",
        ),
    ),
)
