from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gpusim.machine.machine import load
from gpusim.machine.occupancy import blocks_by_resource, occupancy, registers_per_block, shared_per_block
from isa.errors import UserError
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.nvidia.lowering.lower import lowered
from isa.operands.operand import Immediate, Register
from isa.program import Program
from isa.table import TABLE
from isa.text.listing import read

GTX580 = load("gtx580")
BYTES = st.integers(0, 12288).map(lambda words: 4 * words)


def kernel(registers: int, threads: int, shared: int = 0) -> Kernel:
    """Make a kernel that needs so many registers per thread, threads per block and bytes of shared memory."""
    highest = (Instruction(TABLE["MOV"], (Register(registers - 1), Immediate(0, "int"))),) if registers else ()
    return Kernel("probe", Program(highest, shared_bytes=shared), (1, 1, 1), (threads, 1, 1))


def test_63_registers_leave_512_threads():
    """RR-7923: with 63 registers per thread a Fermi SM holds 512 threads, two blocks of 256."""
    found = occupancy(kernel(63, 256), GTX580)
    assert (found.blocks, found.warps, found.limiter) == (2, 16, "registers")
    assert found.next_step == "3 blocks take 42 registers per thread or fewer (now 63)"


def test_warps_that_take_registers_share_those_of_their_block():
    """FlashAttention-3: 384 threads with 168 registers fill an H200's SM, though some warps then take 240 each."""
    asked, given = lowered("USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xf0"), lowered("USETMAXREG.DEALLOC.CTAPOOL 0x18")
    used = Instruction(TABLE["MOV"], (Register(239), Immediate(0, "int")))
    taken = tuple(Instruction(one.row, one.operands, one.guard) for one in (asked, given))
    pooled = Kernel("probe", Program((used, *taken), declared_registers=168), (1, 1, 1), (384, 1, 1))
    assert pooled.program.registers == 240
    assert occupancy(pooled, load("h200")).blocks == 1
    assert registers_per_block(pooled, load("h200")) == 168 * 384
    with pytest.raises(UserError, match="needs 92160 registers per block; h200 has 65536"):
        occupancy(replace(pooled, program=Program((used,), declared_registers=168)), load("h200"))


def test_registers_are_allocated_per_warp_in_units_of_64():
    """19 registers x 32 threads = 608 are rounded up to 640 per warp (CUDA C Programming Guide 4.2, section 4.2)."""
    assert registers_per_block(kernel(19, 192), GTX580) == 640 * 6
    assert registers_per_block(kernel(20, 192), GTX580) == 640 * 6


def test_eight_counts_of_registers_are_allocated_in_units_of_128():
    """On compute capability 2.x 21, 22, 29, 30, 37, 38, 45 and 46 registers take as many as the next multiple of 8.

    All others take the next even number (cuda_occupancy.h, CUDA 6.5).
    """
    for registers in range(1, 64):
        unit = 4 if registers in (21, 22, 29, 30, 37, 38, 45, 46) else 2
        assert registers_per_block(kernel(registers, 32), GTX580) == -(-registers // unit) * unit * 32


@pytest.mark.parametrize(
    ("name", "registers", "found"),
    [("c2050", 48, (2, 14)), ("gtx460", 48, (2, 14)), ("k20m", 92, (2, 14)), ("gtx980", 92, (2, 14))],
)
def test_the_files_of_fermi_and_kepler_hold_equally_many_warps(name, registers, found):
    """48 registers leave 10 warps in each half of Fermi's file, 20 of 21 in all: two blocks of seven warps, not three.

    With 92 there are five in each quarter of a Kepler's or a Maxwell's, 20 of 21 as well.
    """
    held = occupancy(kernel(registers, 224), load(name))
    assert (held.blocks, held.warps) == found


@pytest.mark.parametrize("name", ["a100", "rtx3090", "h200"])
def test_the_system_keeps_a_kilobyte_of_each_block(name):
    """From sm_80 on each block takes 1 KB more than it asks for, once where its code counts it already."""
    machine = load(name)
    for own in (0, 4, 1024, 50000):
        assert shared_per_block(kernel(16, 64, own), machine) == -(-(own + 1024) // 128) * 128
        counted = kernel(16, 64, own + 1024)
        counted = replace(counted, program=replace(counted.program, reserved_bytes=1024))
        assert shared_per_block(counted, machine) == shared_per_block(kernel(16, 64, own), machine)


@pytest.mark.parametrize("name", ["gtx580", "gtx680", "gtx980", "v100", "rtx2080ti", "a100", "rtx3090", "h200"])
def test_a_block_has_at_most_64_threads_in_z(name):
    """A block of 1 x 1 x 128 threads is refused, one of 16 x 1 x 64 is not (technical specifications)."""
    deep = replace(kernel(8, 32), block=(1, 1, 128))
    with pytest.raises(UserError, match=f"needs 128 threads of a block in z; {name} has 64; turn the block"):
        occupancy(deep, load(name))
    assert occupancy(replace(deep, block=(16, 1, 64)), load(name)).warps >= 32


@pytest.mark.parametrize("name", ["v100", "rtx2080ti", "rtx3090", "a100", "h200"])
def test_each_scheduler_has_registers_of_its_own(name):
    """cuda_occupancy.h: 64 registers leave 8 warps of each scheduler, 32 in all: five blocks of six warps, not four.

    With 168 registers they are three of each, twelve in all: two blocks of five warps, and one of seven.
    """
    machine = load(name)
    blocks = [blocks_by_resource(kernel(*given), machine)["registers"] for given in ((64, 192), (168, 160), (168, 224))]
    assert blocks == [5, 2, 1]


def test_gt200_allocates_the_registers_of_a_block_together():
    """Seven warps of 10 registers take 8 x 320 = 2560, a multiple of 512; with 11 they take 3072 (PG 4.2, 4.2)."""
    gt200 = load("gt200")
    assert registers_per_block(kernel(10, 224), gt200) == 2560
    assert registers_per_block(kernel(11, 224), gt200) == 3072
    assert blocks_by_resource(kernel(10, 224), gt200)["registers"] == 6


def test_shared_memory_is_allocated_in_units_of_128():
    """4100 bytes take 4224, so that an SM of 48 KB holds 11 such blocks."""
    probe = kernel(1, 32, shared=4100)
    assert shared_per_block(probe, GTX580) == 4224
    assert blocks_by_resource(probe, GTX580)["shared memory"] == 11


@pytest.mark.parametrize(
    ("needs", "blocks", "limiter", "step"),
    [
        ((16, 192, 12288), 4, "shared memory", "5 blocks take 9,728 bytes of shared memory or fewer (now 12,288)"),
        ((16, 544, 0), 2, "warps", "3 blocks take 16 warps per block or fewer (now 17) and 512 threads per block"),
        ((16, 512, 0), 3, "warps", "gtx580 holds no more than 48 warps"),
        ((8, 64, 0), 8, "blocks", "gtx580 holds no more than 8 blocks"),
        ((0, 32, 0), 8, "blocks", "gtx580 holds no more than 8 blocks"),
    ],
)
def test_each_resource_can_be_the_limiter(needs, blocks, limiter, step):
    """The scarcest resource is named, with the change that makes room for one more block."""
    found = occupancy(kernel(*needs), GTX580)
    assert (found.blocks, found.limiter) == (blocks, limiter)
    assert found.next_step.startswith(step)


def test_the_next_step_names_whole_warps():
    """An RTX 3090 has 1,536 threads: with 20 warps a block it holds 40 of 48, in three blocks of 16 warps all."""
    step = occupancy(kernel(16, 640), load("rtx3090")).next_step
    assert step == "3 blocks take 16 warps per block or fewer (now 20) and 512 threads per block or fewer (now 640)"


def test_the_next_step_never_lowers_the_warps():
    """Eight blocks of eight warps fill an H200's SM, nine hold 63: none is advised.

    Ten blocks of six warps hold 60 of 64: eleven of five or twelve of five hold no more, 13 of four neither, 16 do.
    """
    h200 = load("h200")
    assert occupancy(kernel(16, 256), h200).next_step == "h200 holds no more than 64 warps"
    step = occupancy(kernel(16, 192), h200).next_step
    assert step == "16 blocks take 4 warps per block or fewer (now 6) and 128 threads per block or fewer (now 192)"


@pytest.mark.parametrize("name", ["c2050", "rtx3090", "h200"])
@given(st.integers(1, 63), st.integers(1, 1024), BYTES, st.sampled_from(("registers", "bytes", "warps")))
def test_more_of_anything_never_holds_more_blocks(name, registers, threads, shared, more):
    """Occupancy falls with each argument: a block that asks for more of one thing is held at most as often."""
    machine = load(name)
    grown = {"registers": (1, 0, 0), "bytes": (0, 0, 4), "warps": (0, 32, 0)}[more]

    def held(*asks: int) -> int:
        found = blocks_by_resource(kernel(*asks), machine)
        return min(found.values())

    asks = registers, threads, shared
    assert held(*(one + step for one, step in zip(asks, grown, strict=True))) <= held(*asks)


@pytest.mark.parametrize(
    ("registers", "threads", "shared", "message"),
    [
        (67, 256, 0, "probe: needs 67 registers per thread; gtx580 has 63; "),
        (8, 1056, 0, "probe: needs 1056 threads per block; gtx580 has 1024; "),
        (8, 256, 49156, "probe: needs 49156 bytes of shared memory; gtx580 has 49152; "),
        (63, 1024, 0, "probe: needs 65536 registers per block; gtx580 has 32768; take at most 32 per thread"),
    ],
)
def test_a_block_that_does_not_fit_is_refused(registers, threads, shared, message):
    """A block too large for an SM is refused with its need and the machine's limit."""
    with pytest.raises(UserError) as caught:
        occupancy(kernel(registers, threads, shared), GTX580)
    assert str(caught.value).startswith(message)


def test_67_registers_fit_a_machine_with_more():
    """A kernel of 67 registers per thread fits a machine that allows 255."""
    assert occupancy(kernel(67, 256), load("gtx580", {"limits.registers_per_thread": 255})).blocks == 1


def test_a_block_may_have_less_shared_memory_than_the_sm():
    """An SM of a GTX 980 has 96 KB of shared memory, and a block may have 48 of them."""
    gtx980 = load("gtx980")
    assert occupancy(kernel(8, 64, 48 << 10), gtx980).blocks == 2
    with pytest.raises(UserError, match="needs 49156 bytes of shared memory; gtx980 has 49152"):
        occupancy(kernel(8, 64, (48 << 10) + 4), gtx980)


@given(st.integers(1, 63), st.integers(1, 512), BYTES)
def test_the_blocks_fit_and_one_more_does_not(registers, threads, shared):
    """Whatever the kernel, the blocks found stay inside every limit of the SM, and one more breaks one.

    Each half of the registers holds whole warps.
    """
    probe = kernel(registers, threads, shared)
    blocks = occupancy(probe, GTX580).blocks
    of_warp = registers_per_block(probe, GTX580) // probe.warps

    def fits(count: int) -> bool:
        limits = GTX580.limits
        return (
            count * probe.warps <= 2 * (limits.registers // 2 // of_warp)
            and count * shared_per_block(probe, GTX580) <= limits.shared_bytes
            and count * probe.warps <= limits.warps
            and count * probe.threads <= limits.threads
            and count <= limits.blocks
        )

    assert fits(blocks)
    assert not fits(blocks + 1)


@given(st.integers(2, 63), st.integers(1, 512), BYTES)
def test_taking_the_next_step_for_registers_gains_a_block(registers, threads, shared):
    """When registers alone are in the way, the number of registers that the next step names does fit one block more."""
    found = occupancy(kernel(registers, threads, shared), GTX580)
    assume(found.limiter == "registers" and found.blocks < GTX580.limits.blocks and " and " not in found.next_step)
    fewer = int(found.next_step.split()[3])
    assert occupancy(kernel(fewer, threads, shared), GTX580).blocks > found.blocks


@pytest.mark.parametrize(
    ("waves", "registers"),
    [(1, 255), (2, 128), (3, 84), (4, 64), (5, 48), (6, 40), (7, 36), (8, 32), (9, 28), (10, 24)],
)
def test_waves_of_a_simd_by_their_registers(waves, registers):
    """CLRX's table of waves by VGPRs, in each of four SIMDs; with one register more there are fewer."""
    for machine in (load("mi25"), load("mi60")):
        assert occupancy(replace(kernel(registers, 64), warp_size=64), machine).warps == 4 * waves
        if registers < 255:
            assert occupancy(replace(kernel(registers + 1, 64), warp_size=64), machine).warps < 4 * waves


def test_vlp_holds_three_blocks_of_four_waves():
    """AMD's VLP SGEMM: 83 VGPRs allow three waves per SIMD, so three workgroups of 256 per compute unit."""
    found = occupancy(replace(kernel(83, 256), warp_size=64), load("mi60"))
    assert (found.blocks, found.warps, found.limiter) == (3, 12, "registers")
    assert found.next_step == "4 blocks take 64 registers per thread or fewer (now 83)"


def scalar_kernel(scalars: int, extra: str = "") -> Kernel:
    """Make a kernel of one wave that uses so many scalar registers."""
    return read(f".warp 64\nS_MOV_B32 s{scalars - 1}, 0\n{extra}\nS_ENDPGM")


@pytest.mark.parametrize(
    ("waves", "scalars"),
    [(10, 80), (8, 96), (7, 102)],
)
def test_waves_of_a_simd_by_their_scalar_registers(waves, scalars):
    """A SIMD has 800 in units of 16: VLP's 96 allow eight waves (Omniperf, MGPUSim; CLRX's 512 would give 5)."""
    for machine in (load("mi25"), load("mi60")):
        assert occupancy(scalar_kernel(scalars), machine).warps == 4 * waves
        if scalars < 102:
            assert occupancy(scalar_kernel(scalars + 1), machine).warps < 4 * waves


def test_vcc_takes_two_scalar_registers():
    """80 scalar registers and VCC are 82, allocated as 96; the next step counts VCC too."""
    found = occupancy(scalar_kernel(80, "V_CMP_LT_U32 VCC, v0, s0"), load("mi60"))
    assert (found.warps, found.limiter) == (32, "scalar registers")
    assert found.next_step == "33 blocks take 80 scalar registers per warp or fewer (now 82)"


def test_every_number_of_scalar_registers():
    """For 1 to 102 scalar registers a SIMD holds 800 / (their next multiple of 16) waves, and at most ten."""
    mi60 = load("mi60")
    for scalars in range(1, 103):
        waves = min(10, 800 // (-(-scalars // 16) * 16))
        assert occupancy(scalar_kernel(scalars), mi60).warps == 4 * waves
