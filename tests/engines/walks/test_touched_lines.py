import numpy as np
from draws import draws
from hypothesis import assume, given, settings
from interpreter.interpret import interpret
from strategies.launches import kernels

from gpusim.engines.walks.touched_lines import lines
from isa.dataflow.memory.address_slice import address_slice
from isa.generators import hash_fill
from isa.kernel import Buffer, Kernel
from isa.memory import LINE_BYTES, bases, image
from isa.row import GLOBAL_UNITS, Unit
from isa.text.assembler import assemble
from isa.text.listing import read


@given(kernels())
@settings(deadline=None, max_examples=draws(40))
def test_the_lines_of_the_blocks_are_those_they_access(kernel):
    """Where no address comes from memory, a line is marked if and only if an active lane accesses it."""
    steering = address_slice(kernel.program)
    assume(not any(i.row.is_load for i, needed in zip(kernel.program.instructions, steering, strict=True) if needed))
    seen = set()

    def observe(pc, _warps, addresses, active):
        row = kernel.program.instructions[pc].row
        if row.unit in GLOBAL_UNITS | {Unit.TEXTURE}:
            for byte in range(row.nbytes):
                seen.update(((addresses[active] + byte) // LINE_BYTES).tolist())

    interpret(kernel, None, observe)
    assert set(np.flatnonzero(lines(kernel, range(kernel.blocks))).tolist()) == seen


def test_scalar_loads_and_constants_touch_lines():
    """A scalar load that crosses into the next line touches both lines, and a constant load touches its one line."""
    text = (
        ".buffer x u32 256\nS_MOV_B32 s0, c[x]\nS_LOAD_DWORDX16 s[4:19], s0, 96\nMOV R1, c[x]\nLDC R2, [R1+512]\nEXIT"
    )
    kernel = read(text)
    first = bases(kernel.buffers)["x"] // LINE_BYTES
    assert np.flatnonzero(lines(kernel, [0])).tolist() == [first, first + 1, first + 4]


def test_blocks_that_fault_have_no_lines():
    """If an access is in no buffer, `lines` gives None, so that its caller fills all of memory."""
    assert lines(Kernel("k", assemble("LDG R0, [RZ]"), (1, 1, 1), (32, 1, 1)), [0]) is None


def test_a_line_filled_alone_holds_what_it_holds_in_the_whole_image():
    """Marked lines have the contents of the whole image, in buffers of any length and type; the others are zero."""
    kinds = [Buffer(t, t, n, hash_fill(3, -4, 4, t)) for t, n in (("f4", 77), ("f8", 1000), ("i4", 3000))]
    kernel = Kernel("k", assemble("EXIT"), (1, 1, 1), (32, 1, 1), {}, tuple(kinds))
    whole = image(kernel)
    marked = np.random.default_rng(1).random(-(-4 * len(whole) // LINE_BYTES)) < 0.5
    marked[bases(kernel.buffers)["f4"] // LINE_BYTES + 2] = True  # the last line, partly filled
    words = np.repeat(marked, LINE_BYTES // 4)[: len(whole)]
    assert np.array_equal(image(kernel, lines=marked), np.where(words, whole, 0))
