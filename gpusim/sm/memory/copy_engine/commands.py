"""Commands of the copy engine: what a warp asks for when it issues one, from its uniform registers.

One thread's copy is the warp's: compilers let one lane issue. What a tensor map says is read now.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.account.stopping import stop
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.memory import peers
from gpusim.sm.memory.copy_engine import box, tensor_map, updates
from gpusim.sm.memory.copy_engine.declaration import DIMENSIONS
from gpusim.sm.memory.copy_engine.tensor_map import MAP_ALIGNMENT, MAP_BYTES
from gpusim.sm.records import Copy, Memory, Row, Sm
from gpusim.sm.state.fault import Fault
from gpusim.sm.unit.capacities import COPIES
from isa.nvidia.rows.copies.bulk import DIMENSIONS as RANK
from isa.nvidia.rows.copies.bulk import FETCHES, MULTICAST, OF_PIXELS, TILED
from isa.operands.windows import SHARED_PLACE
from isa.program import WORD_BYTES
from isa.row import Bulk

CLUSTERED, CROWDED, BAD_MAP = int(Fault.CLUSTERED), int(Fault.CROWDED), int(Fault.BAD_MAP)
UNEVEN, MISALIGNED, BAD_BEGIN = int(Fault.UNEVEN), int(Fault.MISALIGNED), int(Fault.BAD_BEGIN)
MISPLACED, OUT_OF_SHARED, OUT_OF_BUFFERS = int(Fault.MISPLACED), int(Fault.OUT_OF_SHARED), int(Fault.OUT_OF_BUFFERS)
LOAD, STORE, REDUCE = int(Bulk.LOAD), int(Bulk.STORE), int(Bulk.REDUCE)
NEARBY, PREFETCH, MAP = int(Bulk.NEARBY), int(Bulk.PREFETCH), int(Bulk.MAP)
UNIT, TILE_ALIGNMENT, BARRIER_BYTES = 16, 128, 8  # bytes
LENGTH = (1 << 16) - 1  # mask of a bulk copy's length, in units


@on_demand
def execute(sm: Sm, memory: Memory, g: int) -> bool:
    """Let warp slot g's instruction ask for its copy; False: `sm.fault` says why not."""
    instruction, engine = sm.program[sm.warps[g].pc], sm.engine
    if instruction.bulk == MAP:
        _of_map(sm, g, instruction)
        return True
    if engine.last - engine.first >= COPIES:
        return stop(sm, CROWDED, g, sm.warps[g].pc)
    copy = sm.copies[engine.last % COPIES]
    _begin(sm, g, instruction, copy)
    tiled, bulk = bool(int(instruction.number) & TILED), instruction.bulk
    if not (_tiled(sm, memory, g, instruction, copy) if tiled else _plain(sm, g, instruction, copy)):
        return False
    if bulk != PREFETCH and not _in_shared(sm, copy, TILE_ALIGNMENT if tiled else UNIT):
        return False
    engine.last += 1
    return True


@rule
def _of_map(sm: Sm, g: int, instruction: Row) -> None:
    """Let the engine fetch a tensor map, or forget all."""
    if instruction.number == FETCHES:
        tensor_map.at_hand(sm, int(np.int64(_pair(sm, g, instruction, 0) - np.uint64(sm.launch.window))), sm.now)
    else:
        tensor_map.forget(sm)


@rule
def _begin(sm: Sm, g: int, instruction: Row, copy: Copy) -> None:
    """Fill in what every copy has."""
    warp = sm.warps[g]
    copy.bulk, copy.code, copy.pc, copy.warp = instruction.bulk, int(instruction.number), warp.pc, g
    copy.number, copy.starts, copy.done = sm.load_store.entered + 1, NEVER, 0
    copy.group = warp.closed[instruction.groups] if instruction.grouping else -1
    copy.block_word = copy.own_word = sm.launch.shared_word + warp.block * sm.launch.shared_words
    copy.blocks = 0
    copy.shared = copy.source = copy.far = copy.asked = copy.landed = copy.swizzle = copy.fills = 0
    copy.interleaved = 0
    copy.barrier = copy.map = -1


@rule
def _word(sm: Sm, g: int, instruction: Row, position: int, offset: int) -> np.uint32:
    """Return a word of an operand in uniform registers; 0 of one that is none."""
    register = instruction.source[position]
    if register < 0:
        return np.uint32(0)
    return np.uint32(sm.lanes[g * sm.machine.groups].registers[register + offset, 0])


@rule
def _number(sm: Sm, g: int, instruction: Row, position: int, offset: int) -> np.int64:
    """Return the same as a number."""
    return np.int64(_word(sm, g, instruction, position, offset))


@rule
def _near(sm: Sm, g: int, instruction: Row, position: int, offset: int) -> int:
    """Return an address of the block's shared memory, without the block's rank in its cluster."""
    return int(peers.own(sm, _number(sm, g, instruction, position, offset)))


@rule
def _to(sm: Sm, g: int, instruction: Row, copy: Copy) -> None:
    """Fill in where a copy writes in shared memory, of the own block or of another one of the cluster."""
    address = _number(sm, g, instruction, 0, 0)
    copy.block_word = int(peers.shared_word(sm, int(sm.warps[g].block), peers.rank_of(sm, address)))
    copy.shared = int(peers.byte_of(sm, address))


@rule
def _meant(sm: Sm, g: int, copy: Copy, blocks: np.int64) -> bool:
    """Fill in the blocks of the cluster that get a copy, as a mask, if it is for several; False: there are no such."""
    if copy.code & MULTICAST:
        copy.blocks = int(blocks)
        if blocks == 0 or blocks >> sm.launch.cluster:
            return stop(sm, CLUSTERED, g, copy.pc)
    return True


@rule
def _pair(sm: Sm, g: int, instruction: Row, position: int) -> np.uint64:
    """Return an address of 64 bits."""
    high = np.uint64(_word(sm, g, instruction, position, 1))
    return np.uint64(_word(sm, g, instruction, position, 0)) | high << np.uint64(32)


@rule
def _plain(sm: Sm, g: int, instruction: Row, copy: Copy) -> bool:
    """Fill in a bulk copy: as many bytes on either side; False: a fault."""
    bulk, length = copy.bulk, _number(sm, g, instruction, 1 if copy.bulk == PREFETCH else 2, 0)
    if not _meant(sm, g, copy, length >> 16):
        return False
    copy.total, copy.element, copy.rank, copy.type = int(length & LENGTH) * UNIT, 1, 1, 0
    for k in range(DIMENSIONS):
        copy.sizes[k] = copy.counts[k] = copy.total if k == 0 else 1
        copy.pitches[k], copy.steps[k], copy.begin[k] = 1, 1, 0
    if bulk in (LOAD, NEARBY):
        _to(sm, g, instruction, copy)
        if not _with_barrier(sm, g, copy, _number(sm, g, instruction, 0, 1)):
            return False
    elif bulk != PREFETCH:
        copy.shared = _near(sm, g, instruction, 1, 0)
    if bulk == NEARBY:
        copy.source = _near(sm, g, instruction, 1, 0)
        return _fits(sm, copy, copy.source, copy.total, UNIT)
    address = _pair(sm, g, instruction, 1 if bulk == LOAD else 0)
    return _far(sm, g, copy, address) and _in_buffer(sm, g, copy)


@rule
def _tiled(sm: Sm, memory: Memory, g: int, instruction: Row, copy: Copy) -> bool:
    """Fill in a tensor copy from its map and its coordinates; False: a fault."""
    if copy.code & MULTICAST and not _meant(sm, g, copy, _number(sm, g, instruction, 2, 0) >> 16):
        return False
    if not _mapped(sm, memory, g, instruction, copy):
        return False
    first = 2 if copy.bulk == LOAD else 0 if copy.bulk == PREFETCH else 1
    for k in range(DIMENSIONS):
        given = _number(sm, g, instruction, 0, first + k) if k < copy.rank else np.int64(0)
        copy.begin[k] = given - (given >> 31 << 32)  # signed
        if copy.begin[k] < 0 and copy.bulk in (STORE, REDUCE):
            return stop(sm, BAD_BEGIN, g, copy.pc, -1, int(copy.begin[k]), k)
    if copy.code & OF_PIXELS and not _begins_in_box(sm, copy):
        return False
    if copy.begin[0] * copy.element % UNIT:
        return stop(sm, UNEVEN, g, copy.pc, -1, int(copy.begin[0]), int(copy.element))
    if copy.bulk == LOAD:
        _to(sm, g, instruction, copy)
    elif first:
        copy.shared = _near(sm, g, instruction, 0, 0)
    return copy.bulk != LOAD or _with_barrier(sm, g, copy, _number(sm, g, instruction, 0, 1))


@rarely
def _begins_in_box(sm: Sm, copy: Copy) -> bool:
    """Tell whether pixels begin before the upper corner of their box, or in it; an H200 refuses others."""
    for k in range(copy.rank - 2):
        at = copy.begin[tensor_map.first_of_image(copy) + k]
        if at > copy.upper[k]:
            return stop(sm, BAD_BEGIN, copy.warp, copy.pc, -1, int(at), tensor_map.first_of_image(copy) + k)
    return True


@rule
def _mapped(sm: Sm, memory: Memory, g: int, instruction: Row, copy: Copy) -> bool:
    """Fill in what the tensor map of a copy says; False: a fault."""
    at = _pair(sm, g, instruction, 1) - np.uint64(sm.launch.window)
    if at % np.uint64(MAP_ALIGNMENT):
        return stop(sm, MISALIGNED, g, copy.pc, -1, int(np.int64(at)) + sm.launch.window, MAP_ALIGNMENT)
    if at >= np.uint64(SHARED_PLACE) or not held(sm, int(np.int64(at)), MAP_BYTES):
        return stop(sm, OUT_OF_BUFFERS, g, copy.pc, -1, int(np.int64(at)) + sm.launch.window, MAP_BYTES)
    copy.map = int(np.int64(at))
    why = tensor_map.read(memory, int(np.int64(at)), copy.code & RANK, copy)
    if why == tensor_map.GOOD and copy.code & OF_PIXELS:
        why = tensor_map.read_pixels(memory, int(np.int64(at)), copy)
        given, bits = _number(sm, g, instruction, 2, 0), tensor_map.bits_of_corner(copy)
        for k in range(copy.rank - 2):
            copy.away[k] = given >> bits * k & (1 << bits) - 1
    if why == tensor_map.GOOD and copy.bulk == REDUCE and not updates.known(copy):
        why = tensor_map.NO_OPERATION
    if why != tensor_map.GOOD:
        return stop(sm, BAD_MAP, g, copy.pc, -1, int(np.int64(at)) + sm.launch.window, why)
    return _far(sm, g, copy, tensor_map.address(memory, int(np.int64(at))))


@rule
def _far(sm: Sm, g: int, copy: Copy, address: np.uint64) -> bool:
    """Fill in where global memory is read or written; False: it is not in the window, or not aligned."""
    place = address - np.uint64(sm.launch.window)
    if address % np.uint64(UNIT):
        return stop(sm, MISALIGNED, g, copy.pc, -1, int(np.int64(address)), UNIT)
    if place >= np.uint64(SHARED_PLACE):
        return stop(sm, OUT_OF_BUFFERS, g, copy.pc, -1, int(np.int64(address)), int(copy.total))
    copy.far = int(np.int64(place))
    return True


@rarely
def held(sm: Sm, place: int, size: int) -> bool:
    """Tell whether so many bytes from a place of global memory on lie in one buffer."""
    for i in range(sm.launch.buffers):
        if sm.buffers[i].start <= place and place + size <= sm.buffers[i].end:
            return True
    return size == 0


@rule
def _in_buffer(sm: Sm, g: int, copy: Copy) -> bool:
    """Tell whether a bulk copy stays in a buffer."""
    if held(sm, copy.far, copy.total):
        return True
    return stop(sm, OUT_OF_BUFFERS, g, copy.pc, -1, copy.far + sm.launch.window, copy.total)


@rule
def _with_barrier(sm: Sm, g: int, copy: Copy, address: np.int64) -> bool:
    """Fill in the barrier that gets the bytes; False: it can't be there."""
    copy.barrier = int(peers.word_at(sm, int(sm.warps[g].block), address))
    return _fits(sm, copy, int(peers.byte_of(sm, address)), BARRIER_BYTES, BARRIER_BYTES)


@rule
def _in_shared(sm: Sm, copy: Copy, alignment: int) -> bool:
    """Tell whether what a copy reads or writes in shared memory can be there."""
    return _fits(sm, copy, copy.shared, box.extent(copy), alignment)


@rarely
def _fits(sm: Sm, copy: Copy, address: int, size: int, alignment: int) -> bool:
    """Tell whether so many bytes can be at an address in shared memory."""
    if address % alignment:
        return stop(sm, MISPLACED, copy.warp, copy.pc, -1, address, alignment)
    if address + size > WORD_BYTES * sm.launch.shared_words:
        return stop(sm, OUT_OF_SHARED, copy.warp, copy.pc, -1, address, size)
    return True
