"""Rows of cross-lane instructions, atomics and accesses, from the texts that nvdisasm prints."""

import numpy as np
import pytest

from isa.nvidia.lowering.lower import UnknownError, lowered
from isa.operands.operand import FIRST_SCALAR, FIRST_UNIFORM, PT, RZ, Address, Immediate, Predicate, Register
from isa.row import Unit
from isa.values import atomic

UR4 = Register(FIRST_SCALAR + 4)
FALSE = Predicate(PT.index, True)


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("SHFL.UP P0, R5, R4, 0x1, RZ", (Predicate(0), Register(5), Register(4), Immediate(1, "int"), RZ)),
        ("SHFL.IDX PT, R5, R4, R2, 0x1f", (PT, Register(5), Register(4), Register(2), Immediate(31, "int"))),
        ("VOTE.ANY R4, PT, P0", (Register(4), PT, Predicate(0))),
        ("VOTE.ALL P1, !P0", (RZ, Predicate(1), Predicate(0, True))),
        ("VOTEU.ANY UR4, UPT, PT", (UR4, PT, PT)),
        ("VOTEU.ALL UP0, P1", (RZ, Predicate(FIRST_UNIFORM), Predicate(1))),
        ("MATCH.ANY.U64 R3, R2", (Register(3), Register(2))),
        ("MATCH.ALL P0, R9, R8", (Predicate(0), Register(9), Register(8))),
        ("REDUX.MIN.S32 UR4, R2", (UR4, Register(2))),
        ("REDUX UR4, R2", (UR4, Register(2))),
        ("R2UR UR4, R2", (PT, UR4, Register(2), FALSE)),
        ("R2UR P1, URZ, R0", (Predicate(1), RZ, Register(0), FALSE)),
        ("R2UR.OR P0, UR4, R2", (Predicate(0), UR4, Register(2), Predicate(0))),
        ("ELECT P0, UR4, PT", (Predicate(0), UR4, PT)),
    ],
)
def test_cross_lane_texts_have_their_operands(text, operands):
    """A predicate that is left out says nothing, and a register that is left out is RZ."""
    assert lowered(text).operands == operands


def test_registers_of_the_pool_are_granted():
    """A warp that asks for registers goes on at once, with a uniform predicate that is true; giving back does nothing.

    CUTLASS's kernels ask in a loop until the predicate is true.
    """
    asked, given = lowered("USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xe8"), lowered("USETMAXREG.DEALLOC.CTAPOOL 0x28")
    assert asked.operands[0] == Predicate(FIRST_UNIFORM)
    zero, none = np.uint64(0), np.uint32(0)
    assert asked.row.truth(zero, zero, zero, none, np.uint64(0xE8 << 32)) == 1
    assert (given.row.truth, given.row.result, given.row.unit) == (None, None, Unit.CONTROL)


@pytest.mark.parametrize(
    ("text", "update", "width", "tested"),
    [
        ("ATOMG.E.ADD.STRONG.GPU PT, R2, desc[UR4][R2.64], R5", atomic.add, 32, ""),
        ("ATOMG.E.ADD.64.STRONG.GPU PT, R4, [R2.64], R8", atomic.add, 64, ""),
        ("ATOM.E.ADD.F16x2.RN.STRONG.GPU P0, RZ, desc[UR6][R8.64], R0", atomic.add_halves, 32, ""),
        ("ATOM.E.CAS.64.STRONG.GPU P0, R4, [R8], R12, R14", atomic.compare_and_swap, 64, ""),
        ("RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2.64], R5", atomic.add_single, 32, ""),
        ("REDG.E.MAX.S64.STRONG.GPU desc[UR4][R2.64+0x8], R4", atomic.signed_maximum64, 64, ""),
        ("RED.E.INC.STRONG.SYS [R2], R5", atomic.increment, 32, ""),
        ("ATOMS.CAST.SPIN R5, [R12], R4, R5", atomic.compare_and_swap, 32, "dP"),
        ("ATOMS.CAST.SPIN.64 R6, [R19], R4, R6", atomic.compare_and_swap, 64, "dP"),
        ("ATOMS.CAST.SPIN.64 P0, [R3], R12, R14", atomic.compare_and_swap, 64, "dP"),
        ("ATOM.E.CAST.SPIN.64.STRONG.GPU P0, R6, [R8], R4, R6", atomic.compare_and_swap, 64, "d"),
        ("ATOMS.MIN.S32 RZ, [UR4+0x10], R5", atomic.signed_minimum32, 32, ""),
        ("ATOMS.EXCH.64 R4, [R3.X8], R6", atomic.exchange, 64, ""),
        ("ATOMG.E.CAS.128.STRONG.GPU PT, R12, [R4], R8, R12", atomic.compare_and_swap, 128, ""),
        ("ATOM.E.EXCH.128.STRONG.GPU PT, R8, desc[UR4][R4.64], R8", atomic.exchange, 128, ""),
        ("ATOMS.CAS.128 R4, [R17], R8, R12", atomic.compare_and_swap, 128, ""),
    ],
)
def test_atomics_have_the_update_of_their_type(text, update, width, tested):
    """Scopes and orders say nothing; CAST tells whether it has swapped, from sm_100 on by a predicate."""
    row = lowered(text).row
    assert (row.update, row.width, row.tested) == (update, width, tested)


def test_a_count_of_lanes_adds_one():
    """ATOMS.POPC.INC.32 has no operand: it adds 1 for each lane."""
    form = lowered("ATOMS.POPC.INC.32 RZ, [UR4]")
    assert form.operands == (RZ, Address(RZ, 0, UR4))
    assert (form.row.update, form.row.implied) == (atomic.add, (("a", Immediate(1, "int")),))


@pytest.mark.parametrize(
    ("text", "nbytes", "signed"),
    [
        ("LDG.E.U8 R2, desc[UR4][R2.64]", 1, False),
        ("LDG.E.S8.STRONG.SYS R2, [R2.64]", 1, True),
        ("LDS.U.U16 R2, [R3.X4]", 2, False),
        ("LDL.S16 R2, [R3]", 2, True),
        ("STG.E.U16 desc[UR4][R2.64], R3", 2, False),
        ("LDC.S8 R2, c[0x3][R4]", 1, True),
        ("LDG.E.LTC128B.128.CONSTANT R4, desc[UR4][R2.64]", 16, False),
        ("LD.E.64.STRONG.GPU R4, [R2]", 8, False),
    ],
)
def test_accesses_have_the_size_of_their_type(text, nbytes, signed):
    """A byte, two, a word or several; caches and scopes say nothing."""
    row = lowered(text).row
    assert (row.nbytes, row.signed, row.update) == (nbytes, signed, None)


@pytest.mark.parametrize(
    ("text", "anew"),
    [
        ("LDG.E.SYS R3, [R2]", False),  # ld.global
        ("LDG.E.CONSTANT.SYS R3, [R2]", False),  # ld.global.nc
        ("LDG.E.64.SYS R4, [R2]", False),
        ("LD.E.SYS R3, [R2]", False),
        ("LDG.E.STRONG.CTA R3, [R2]", False),  # ld.relaxed.cta
        ("LDG.E.STRONG.GPU R3, [R2]", True),  # ld.global.cg, ld.relaxed.gpu
        ("LDG.E.STRONG.SYS R3, [R2]", True),  # ld.volatile
        ("LDG.E R3, [R2.64]", False),
        ("LDG.E.STRONG.SM R3, [R2.64]", False),
        ("LDG.E.STRONG.GPU R3, [R2.64]", True),
        ("LD.E.64.STRONG.SYS R4, [R2.64]", True),
    ],
)
def test_only_strong_loads_beyond_the_sm_pass_its_l1(text, anew):
    """SYS alone is what plain loads of Turing have: code of NVRTC 12.1 for sm_75 (the first seven), sm_80, sm_90."""
    assert lowered(text).row.anew is anew


@pytest.mark.parametrize(
    ("text", "matrices", "transposed", "words"),
    [
        ("LDSM.16.M88 R13, [R12]", 1, False, 1),
        ("LDSM.16.M88.2 R2, [R14+UR5+0x20]", 2, False, 2),
        ("LDSM.16.MT88.4 R8, [UR4]", 4, True, 4),
        ("STSM.16.M88.4 [R15], R4", 4, False, 4),
        ("STSM.16.MT88.2 [R15+0x10], R4", 2, True, 2),
    ],
)
def test_matrices_have_rows_of_16_bytes(text, matrices, transposed, words):
    """As ptxas writes them, sm_75 to sm_120: a register for each matrix, and 16 bytes at each address."""
    row = lowered(text).row
    assert (row.matrices, row.transposed, row.words) == (matrices, transposed, words)
    assert (row.accessed_bytes, row.alignment, row.nbytes, row.path_width) == (16, 16, 4 * words, 32)


@pytest.mark.parametrize(
    "text",
    [
        "ATOMG.E.ADD.F16x2.RN.64 PT, R2, [R2.64], R4",
        "ATOMS.ADD.F32.FTZ.RN R2, [R3], R4",
        "ATOMG.E.ADD.128 PT, R4, [R2.64], R8",
        "ATOMG.E.SAFEADD PT, R2, [R2.64], R4",
        "LDSM.16 R4, [R2]",
        "LDSM.16.M88.3 R4, [R2]",
        "LDSM.U.16.M88 R4, [R2]",
        "MOVM.16 R4, R2",
        "LDGSTS.E.LTC512B [R3], [R4.64], P0",
        "UBLKCP [UR4], [UR6], UR8",
        "MATCH.SOME R2, R3",
        "VOTE.VTG R2, PT, P0",
    ],
)
def test_what_the_table_does_not_have_is_refused(text):
    """Types that no memory adds, other matrices, bulk copies and unknown modes have no row."""
    with pytest.raises(UnknownError):
        lowered(text)
