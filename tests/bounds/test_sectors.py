from collections import Counter

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from interpreter.interpret import interpret
from strategies.launches import REPEATABLE, kernels, launches

from gpusim.bounds.bounds import works
from gpusim.bounds.sectors import sectors
from gpusim.engines.busiest_sm import busiest_sm
from gpusim.machine.machine import load
from gpusim.machine.simulated_sms import blocks_of
from isa.memory import SECTOR_BYTES
from isa.row import Unit
from isa.text.listing import read

HEAD = ".buffer x f32 8192\nS2R R0, TID.X\nS2R R1, CTAID.X\n"


def of_sm(kernel, machine):
    """Return the blocks of the SM with most work."""
    return blocks_of(kernel, machine, 1, busiest_sm(kernel, machine))


def found(kernel, machine):
    """Return sectors and bytes by pc, of the blocks of the SM with most work."""
    each = sectors(works(kernel, machine)[0], of_sm(kernel, machine))
    return {pc: (one.sectors, one.bytes) for pc, one in each.items() if one.bytes}


def counted(kernel, blocks):
    """Return the same by executing each block, and looking at each warp instruction's addresses."""
    touched, nbytes = Counter(), Counter()

    def observe(pc, _, addresses, active):
        row = kernel.program.instructions[pc].row
        if row.unit is Unit.GLOBAL:
            for of_warp, lanes in zip(addresses, active, strict=True):
                each = of_warp[lanes].astype(np.int64)[:, None] + np.arange(row.nbytes)
                touched[pc] += len(np.unique(each // SECTOR_BYTES))
                nbytes[pc] += each.size

    interpret(kernel, blocks, observe)
    return {pc: (touched[pc], count) for pc, count in nbytes.items() if count}


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("SHL R2, R0, 2", (2 * 4, 256)),  # 32 words side by side: 4 sectors for each warp
        ("SHL R2, R0, 5", (2 * 32, 256)),  # one word of each sector
        ("MOV R2, 0", (2, 256)),  # all lanes at one word
        ("SHL R2, R0, 2\nIADD R2, R2, 16", (2 * 5, 256)),  # side by side from the middle of a sector on
    ],
)
def test_a_stride_takes_more_sectors(address, expected):
    """Two warps of 32 lanes load 256 bytes; how many sectors they touch depends on how their lanes lie."""
    kernel = read(f".block 64\n{HEAD}{address}\nIADD R2, R2, c[x]\nLDG R3, [R2]\nEXIT")
    assert found(kernel, load("h200")) == {len(kernel.program) - 2: expected}


def test_guarded_lanes_ask_for_nothing():
    """Of a guarded load only the active lanes count, and a load whose guard holds nowhere touches nothing."""
    code = (
        "ISETP.LT P0, R0, 8\nISETP.LT P1, R0, 0\nSHL R2, R0, 2\nIADD R2, R2, c[x]\n@P0 LDG R3, [R2]\n@P1 LDG R4, [R2]"
    )
    assert found(read(f".block 32\n{HEAD}{code}\nEXIT"), load("h200")) == {6: (1, 32)}


@pytest.mark.parametrize("step", [4, 12, 32, 128])
def test_each_block_lies_where_its_index_moves_it(step):
    """Blocks whose accesses begin at different places of a sector are counted each by its own place."""
    code = f"SHL R2, R0, 2\nIADD R2, R2, c[x]\nIMAD R2, R1, {step}, R2\nLDG R4, [R2]\nEXIT"
    kernel, machine = read(f".grid 9\n.block 48\n{HEAD}{code}"), load("h200", {"chip.sms": 2})
    assert found(kernel, machine) == counted(kernel, range(0, 9, 2))


@settings(REPEATABLE, max_examples=draws(60))
@given(launches(kernels(most_blocks=3)))
def test_sectors_are_those_of_the_addresses(launched):
    """Sectors and bytes of random programs of up to three blocks are those of every address of every block."""
    kernel, machine = launched
    assert found(kernel, machine) == counted(kernel, of_sm(kernel, machine))
