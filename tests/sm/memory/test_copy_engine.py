"""The copy engine: what bulk and tensor copies bring, and when; by definition, and as an H200 took it."""

import numpy as np
import pytest
from bulk_programs import H200, box, everywhere, kernel, swizzled
from draws import draws
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gpusim.engines.simulate import run_sm
from gpusim.engines.walks.footprint import footprint
from gpusim.engines.walks.program_order import walk
from gpusim.machine.machine import load
from isa.errors import ExecutionError
from isa.memory import SECTOR_BYTES, bases
from isa.nvidia.tensor_map import ELEMENTS, SWIZZLES, TensorMap
from isa.row import Bulk

OF_NUMPY = {
    "uint8": "u1", "uint16": "u2", "uint32": "u4", "int32": "i4", "uint64": "u8", "int64": "i8", "float16": "f2",
    "float32": "f4", "float32_ftz": "f4", "float64": "f8", "bfloat16": "u2", "tfloat32": "f4", "tfloat32_ftz": "f4",
}  # fmt: skip
MOST_BYTES = 8192  # of a box in these tests


def patterns(size, seed=0):
    """Return bytes that differ."""
    return np.random.default_rng(seed).integers(0, 256, size, np.uint8)


@st.composite
def maps(draw, kinds=tuple(ELEMENTS), rank=None):
    """Return a map, the tensor in its memory with padding, and coordinates near it."""
    kind = draw(st.sampled_from(kinds))
    nbytes = ELEMENTS[kind][0]
    rank = rank or draw(st.integers(1, 5))
    swizzle = draw(st.sampled_from(list(SWIZZLES)))
    span = 16 << SWIZZLES[swizzle] if swizzle != "none" else 128
    inner = draw(st.integers(1, span // 16)) * 16 // nbytes
    counts = [inner, *(draw(st.integers(1, 6)) for _ in range(rank - 1))]
    steps = [1, *(draw(st.integers(1, 3)) for _ in range(rank - 1))]
    counts = [n * s for n, s in zip(counts, steps, strict=True)]
    sizes = [draw(st.integers(1, 2 * n + 1)) for n in counts]
    strides, size = [], sizes[0] * nbytes
    for one in sizes[1:]:
        size = -(-size // 16) * 16 + 16 * draw(st.integers(0, 2))
        strides.append(size)
        size *= one
    begin = [draw(st.integers(-n, s)) for n, s in zip(counts, sizes, strict=True)]
    begin[0] = begin[0] * nbytes // 16 * 16 // nbytes
    fill = draw(st.sampled_from(["zeros", "nan"])) if "float" in kind else "zeros"
    made = TensorMap(kind, tuple(sizes), tuple(strides), tuple(counts), tuple(steps), swizzle=swizzle, fill=fill)
    assume(made.box_bytes <= MOST_BYTES)
    held = patterns(-(-made.nbytes // 16) * 16, draw(st.integers(0, 99)))
    return made, held, (*begin, 0, 0, 0, 0)[:5]


def tensor_in(held, made):
    """Return the tensor of a map as a view of its memory."""
    kind = OF_NUMPY[made.dtype]
    shape, strides = made.sizes[::-1], (*made.strides[::-1], made.element_bytes)
    padded = held[: held.size // made.element_bytes * made.element_bytes].view(f"u{made.element_bytes}")
    return np.lib.stride_tricks.as_strided(padded, shape, strides), kind


def nan_of(made):
    """Return the pattern of what stands for elements beyond a tensor: of a NaN it repeats 0x7ff7."""
    return 0x7FF77FF77FF77FF7 >> 64 - 8 * made.element_bytes if made.fill == "nan" else 0


def to_tfloat32(words):
    """Return singles as loads of tensors of tfloat32 bring them: to nearest with ten bits, NaNs one of these."""
    wide = words.astype(np.uint64)
    nearest = (wide + 0xFFF + (wide >> 13 & 1) & 0xFFFFE000).astype(np.uint32)
    return np.where(words << 1 > 0xFF000000, np.uint32(0x7FFFE000), nearest)


@settings(max_examples=draws(40), deadline=None)
@given(maps())
def test_a_load_brings_the_box_by_definition(drawn):
    """Each element comes from its coordinates, or is filled; its place is dense, then changed by the swizzle."""
    made, held, begin = drawn
    values, _ = tensor_in(held, made)
    values = to_tfloat32(values) if "tfloat32" in made.dtype else values
    wanted = box(values, made, begin[: made.rank], nan_of(made))
    expected = swizzled(wanted.reshape(-1, wanted.shape[-1]).view(np.uint8), made.swizzle)
    seen = expected.size
    out = np.full(seen, 0xEE, np.uint8)
    launched = kernel(f"load{made.rank}", (made, held), out, made.box_bytes, 0, seen, *begin)
    for found in (left[1] for left in everywhere(launched, engines=("compiled",))):
        assert found.tolist() == expected.tolist()


@settings(max_examples=draws(30), deadline=None)
@given(maps())
def test_a_load_touches_the_sectors_of_its_box_by_definition(drawn):
    """A footprint counts the sectors of the elements inside the tensor, and all bytes of the box in shared memory."""
    made, held, begin = drawn
    steps, axes = (1, *made.steps[1:]), list(range(made.rank))
    counts = [-(-n // s) for n, s in zip(made.box, steps, strict=True)]
    at = np.indices(counts).reshape(made.rank, -1)
    at = np.array([begin[k] + at[k] * steps[k] for k in axes])
    inside = np.all((at >= 0) & (at < np.array(made.sizes)[:, None]), axis=0)
    pitches = np.array((made.element_bytes, *made.strides))
    first = (at[:, inside] * pitches[:, None]).sum(axis=0)
    launched = kernel(f"load{made.rank}", (made, held), np.zeros(16, np.uint8), made.box_bytes, 0, 16, *begin)
    base = bases(launched.buffers)["a0"]
    sectors = np.unique((base + np.concatenate((first, first + made.element_bytes - 1))) // SECTOR_BYTES)
    found = footprint(launched)
    assert found.of_blocks.get(("a0", False), 0) == found.of_launch.get(("a0", False), 0) == len(sectors)
    rows = [one.row.bulk for one in launched.program.instructions]
    assert sum(found.copied.get(pc, 0) for pc, bulk in enumerate(rows) if bulk is Bulk.LOAD) == made.box_bytes


@settings(max_examples=draws(30), deadline=None)
@given(maps())
def test_a_store_writes_what_is_inside_the_tensor(drawn):
    """Elements of the box go to their coordinates; others stay, but the last 16 bytes of a row are written whole.

    A store that begins below 0 is refused, as on the chip.
    """
    made, held, below = drawn
    begin = tuple(max(one, 0) for one in below)
    dense = patterns(made.box_bytes, 7)
    wanted = held.copy()
    values, _ = tensor_in(wanted, made)
    source = dense.view(f"u{made.element_bytes}").reshape(box(values, made, begin[: made.rank]).shape)
    steps = made.steps[::-1]
    widened = np.lib.stride_tricks.as_strided(values, (*values.shape[:-1], values.shape[-1] + 16), values.strides)
    for index in np.ndindex(*source.shape):
        at = [b + i * s for b, i, s in zip(begin[: made.rank][::-1], index, (*steps[:-1], 1), strict=True)]
        wide = (*values.shape[:-1], -(-values.shape[-1] * made.element_bytes // 16) * 16 // made.element_bytes)
        if all(0 <= a < n for a, n in zip(at, wide, strict=True)):
            widened[tuple(at)] = source[index]
    there = swizzled(dense.reshape(-1, made.box[0] * made.element_bytes), made.swizzle)
    launched = kernel(f"store{made.rank}", (made, held), there, made.box_bytes, 0, there.size, *begin)
    for left in everywhere(launched, engines=("compiled",)):
        assert left[0].tolist() == wanted.tolist()
    if min(below[: made.rank]) < 0:
        with pytest.raises(ExecutionError, match=f"begins at coordinate {next(x for x in below if x < 0)} of"):
            walk(kernel(f"store{made.rank}", (made, held), there, made.box_bytes, 0, there.size, *below))


OPERATIONS = {
    "add": lambda a, b: a + b, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor, "inc": lambda a, b: np.where(a >= b, 0, a + 1),
    "dec": lambda a, b: np.where((a == 0) | (a > b), b, a - 1),
}  # fmt: skip


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("kind", ["uint32", "int32"])
def test_a_tile_is_reduced_element_by_element(operation, kind):
    """Each element becomes the operation of it and that of the box; elements beyond the tensor are left out."""
    numpy = np.dtype(OF_NUMPY[kind])
    values = patterns(4 * 12 * 7).view(numpy).reshape(7, 12).copy()
    values[4, 8:] = [0, 1, 2, 3]
    tile = patterns(4 * 8 * 4, 3).view(numpy).reshape(4, 8).copy()
    tile[0, :4] = [0, 3, 7, 9]
    made = TensorMap(kind, (12, 7), (48,), (8, 4))
    wanted = values.copy()
    with np.errstate(over="ignore"):
        if operation in ("inc", "dec"):
            u = OPERATIONS[operation](values[4:, 8:].view("u4"), tile[:3, :4].view("u4"))
            wanted[4:, 8:] = u.astype("u4").view(numpy)
        else:
            wanted[4:, 8:] = OPERATIONS[operation](values[4:, 8:], tile[:3, :4])
    launched = kernel(f"tile_{operation}", (made, values), tile, 128, 8, 4)
    for left in everywhere(launched, engines=("compiled",)):
        assert left[0].tolist() == wanted.ravel().tolist()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("add_u32", "u4"), ("min_s32", "i4"), ("max_u64", "u8"), ("add_u64", "u8"), ("add_f32", "f4"),
        ("add_f64", "f8"), ("add_f16", "f2"), ("xor_b64", "u8"),
    ],
)  # fmt: skip
def test_a_line_is_reduced_element_by_element(name, kind):
    """So it is with bulk reductions; halves and reals that are no denormals are added to nearest."""
    count = 256 // np.dtype(kind).itemsize
    random = np.random.default_rng(1)
    if kind[0] == "f":
        a, b = (random.normal(0, 9, count).astype(kind) for _ in range(2))
    else:
        a, b = (patterns(256, seed).view(kind) for seed in (1, 2))
    with np.errstate(over="ignore"):
        wanted = OPERATIONS[name.split("_")[0]](a, b)
    for left in everywhere(kernel(f"line_{name}", a, b, 256), engines=("compiled",)):
        assert left[0].tolist() == wanted.tolist()


@pytest.mark.parametrize("nbytes", [16, 48, 1024, 4080])
def test_bytes_go_to_shared_memory_and_back(nbytes):
    """Bytes are the same after three copies: from global to shared memory, within it, and back; others stay."""
    source, target = patterns(nbytes + 32), patterns(nbytes + 32, 1)
    for left in everywhere(kernel("lines", target, source, nbytes)):
        assert left[0].tolist() == [*source[:nbytes].tolist(), *target[nbytes:].tolist()]


def test_the_traffic_of_copies_is_that_of_their_sectors():
    """A copy of 1 KB and its store move 32 sectors each way, and a prefetch before the copy as many again."""
    source, target = patterns(1024), patterns(1024, 1)
    run = run_sm(kernel("lines", target, source, 1024), H200)
    assert run.sectors["loaded"] == 2 * 32
    assert run.sectors["stored"] == 32


def test_copies_take_their_share_of_the_l2():
    """A prefetch and a bulk copy of 4 KB take the L2 for 256 sectors, by `load_bytes`; nobody else asks for them.

    The first of them take less: the SM has not asked for all of its share since its first request.
    """
    source, target = patterns(4096), patterns(4096, 1)
    copied = kernel("lines", target, source, 4096)

    def cycles(loads):
        rates = {"l2_channel.load_bytes": loads}
        return run_sm(copied, load("h200", rates | {"l2.filled": 1, "cache.hits": "tags"})).cycles

    four, eight = cycles(8), cycles(4)  # cycles for a sector of 32 bytes
    assert 250 * (8 - 4) <= eight - four <= 256 * (8 - 4)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rank": 3}, "is of other dimensions than the copy"),
        ({"interleave": 1}, "has an interleaved layout"),
        ({"type": 11}, "names a type of elements that there is not"),
        ({"inner": 3}, "has a box whose rows are no multiple of 16 bytes"),
        ({"swizzle": 1}, "has a box whose rows are wider than its swizzle"),
        ({"address": 8}, "has a tensor at an address that is no multiple of 16"),
    ],
)
def test_a_map_that_is_none_is_told(change, words):
    """What the engine can't do by a map is said in one line, with the place of the copy."""
    held = patterns(4096)

    class Broken(TensorMap):
        def encode(self, address):
            words = np.frombuffer(super().encode(address), np.uint32).copy()
            words[0] += change.get("address", 0)
            if "rank" in change:
                words[2] = words[2] & ~np.uint32(0x70) | (change["rank"] - 1) << 4
            if "type" in change:
                words[2] = words[2] & ~np.uint32(0x780) | change["type"] << 7
            words[2] |= change.get("interleave", 0) << 11 | change.get("swizzle", 0) << 13
            if "inner" in change:
                words[13] = words[13] & np.uint32(0xFFFFFF) | (change["inner"] - 1) << 24
            return words.tobytes()

    made = Broken("uint8", (64, 64), (64,), (64, 4))
    launched = kernel("load2", (made, held), np.zeros(256, np.uint8), 256, 0, 256, 0, 0, 0, 0, 0)
    for execute in (walk, lambda one: run_sm(one, H200)):
        with pytest.raises(ExecutionError, match=words):
            execute(launched)


def test_a_copy_beyond_its_buffer_is_told():
    """Bulk bytes that lie in no buffer end the run, with their number and address."""
    with pytest.raises(ExecutionError, match=r"2048 bytes at 0x7f.* lie in no buffer"):
        walk(kernel("lines", patterns(4096), patterns(1024), 2048))
