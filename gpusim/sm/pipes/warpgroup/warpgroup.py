"""Matrix instructions of a warpgroup: queued when they issue, done by the tensor cores in the order of issue.

Each of four neighbouring warps of a block issues the instruction; when the last has, the product waits for its turn.
It begins when shared memory's port is free, which then reads its operands: 64 rows of A, if they lie there, and all
columns of B, once for the four warps; a column has twice as many bytes if A is sparse. Other accesses to shared memory
wait meanwhile, as products wait for them; commands to barriers and to the copy engine only pass addresses, and do not.
The tensor cores begin a little later, and compute so many columns in a cycle; the operands of the next product are read
meanwhile, but not those of one more. So products follow each other at the pace of the slower of the two.

A product keeps its place in a queue until the tensor cores begin with it; while the queue is full the first of four
warps issues none, and warpgroups take turns. The other three run ahead.

Meanwhile they read and write their sums in the register file: those of eight columns at once, so that other
instructions have half of the cycles left, or three of four if the sums have 16 bits.

D is there some cycles behind the end. Then the product is done: of the group that it is in (sm/effects/groups.py), and
its effect lands (sm/lanes/values/product.py). Products share the agent of the effects, and have times of their own.
"""

from __future__ import annotations

from gpusim.sm.account.record import record
from gpusim.sm.account.stall_accounting import stall_accounting
from gpusim.sm.account.stopping import stop
from gpusim.sm.effects import groups
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER, rule
from gpusim.sm.pipes.load_store import load_store
from gpusim.sm.pipes.pipe import pipe
from gpusim.sm.pipes.warpgroup.declaration import WARPS
from gpusim.sm.records import Row, Sm
from gpusim.sm.state.fault import Fault
from gpusim.sm.unit.capacities import PRODUCTS
from gpusim.sm.unit.sm import FIRST_SCHEDULER
from isa.row import Groups
from isa.values.matrix.warpgroup import rows_read

MATRIX = int(Groups.MATRIX)
CROWDED = int(Fault.CROWDED)


@rule
def first_of(sm: Sm, g: int) -> int:
    """Return the first slot of warp slot g's warpgroup: each four of a block, in whatever order its warps lie there."""
    return int(g - _place(sm, g) % WARPS)


@rule
def _place(sm: Sm, g: int) -> int:
    """Return which of its block's slots warp slot g is."""
    return int(g - sm.warps[g].block * sm.launch.warps)


@on_demand
def earliest(sm: Sm, k: int, now: int) -> int:
    """Return `now` if the queue takes a product of scheduler k, else when to look again; NEVER: when one is committed.

    Only the first of four warps waits for a place. The first scheduler has it, as warpgroups are four schedulers wide.
    """
    if k != 0:
        return now
    products, depth = sm.products, sm.machine.product_queue
    places = products.count + products.ahead
    if places >= depth:
        return max(int(products.next), now) + 1 if products.count else NEVER
    before = products.queue[(products.head + places - depth) % PRODUCTS]
    return max(int(before.starts), now)


@on_demand
def commit(sm: Sm, g: int, pc: int, now: int) -> None:
    """Warp slot g issues a product, at `pc`: the last of the four lets it wait for its turn."""
    warp, products = sm.warps[g], sm.products
    warp.pending += 1
    warp.products += 1
    first = first_of(sm, g)
    products.ahead += g == first
    if _place(sm, first) + WARPS > sm.launch.warps:  # the block's last warps are not four: they wait for ever
        return
    for other in range(first, first + WARPS):
        if sm.warps[other].products < warp.products:
            return
    if products.count == PRODUCTS:
        stop(sm, CROWDED, g, pc)
        return
    entry = products.queue[(products.head + products.count) % PRODUCTS]
    entry.warp, entry.pc, entry.ready, entry.starts = first, pc, now + sm.machine.product_begins, NEVER
    products.count += 1
    products.ahead -= 1
    _wake(sm, int(sm.warps[first].scheduler), now)
    _look_at_head(sm)


@rule
def _wake(sm: Sm, k: int, now: int) -> None:
    """Let scheduler k look again whether the queue takes a product: its last one waits for the tensor cores now."""
    agent = FIRST_SCHEDULER + k
    sm.agenda[agent] = min(sm.agenda[agent], stall_accounting.slot_from(sm.machine, k, now + 1))


@rule
def _look_at_head(sm: Sm) -> None:
    """Set when the first product that waits may begin."""
    products = sm.products
    products.next = NEVER
    if products.count:
        products.next = max(products.queue[products.head].ready, products.reads)
    look(sm)


@rule
def look(sm: Sm) -> None:
    """Let the agent that the products share look when the next one begins or is there."""
    due = min(sm.products.next, sm.products.lands)
    sm.agenda[sm.effects_agent] = min(sm.agenda[sm.effects_agent], due)


@on_demand
def begin(sm: Sm, now: int) -> int:
    """Let the first product begin if it is due and the port is free; return the slot of its first warp, or -1."""
    products = sm.products
    if products.next > now:
        look(sm)
        return -1
    if sm.load_store.free[0] > now:
        products.reads = sm.load_store.free[0]
        _look_at_head(sm)
        return -1
    entry = products.queue[products.head]
    first = int(entry.warp)
    done = _serve(sm, first, int(entry.pc), now)
    products.head = (products.head + 1) % PRODUCTS
    products.count -= 1
    _look_at_head(sm)
    for g in range(first, first + WARPS):
        _done(sm, g, done)
    return first


@rule
def _serve(sm: Sm, first: int, pc: int, now: int) -> int:
    """Take the port now, and the tensor cores when they are free; return when the result is there."""
    products, machine, instruction = sm.products, sm.machine, sm.program[pc]
    read = now + -(-rows_read(instruction.product, instruction.columns) // machine.port_rows)
    products.port = read
    sm.agenda[sm.load_store_agent] = load_store.next_service(sm, now)
    fills = machine.register_fills if instruction.from_registers else machine.product_fills
    start = max(now + fills, products.ends)
    for number in range(WARPS if machine.tensor_pipe >= 0 else 0):
        taken = pipe.instance(sm, sm.warps[first + number].scheduler, machine.tensor_pipe)
        start = max(start, taken.free)
    cycles = -(-instruction.columns // machine.product_columns)
    for number in range(WARPS if machine.tensor_pipe >= 0 else 0):
        taken = pipe.instance(sm, sm.warps[first + number].scheduler, machine.tensor_pipe)
        taken.free = start + cycles
        taken.busy += cycles
    products.queue[products.head].starts = start
    if start > products.ends:
        products.since = start
    products.ends, products.sums = start + cycles, instruction.sums
    least = machine.least_registers if instruction.from_registers else 0
    products.reads = max(read, start - fills, now + least)
    done = int(products.ends + machine.product_drains)
    if sm.tracing:
        record.product(sm, first, pc, int(start), int(products.ends), done, now)
    return done


@rule
def held(sm: Sm, instruction: Row) -> int:
    """Return for how long an instruction whose result finds a free cycle keeps its pipe, beside products."""
    needs = sm.machine.units[instruction.unit]
    return int(pipe.interval(sm, int(needs.choice[0])) * instruction.intervals + sm.products.sums)


@rule
def _done(sm: Sm, g: int, when: int) -> None:
    """Warp slot g's part of the oldest product that has not begun will be there at `when`."""
    warp = sm.warps[g]
    warp.pending -= 1
    warp.drained = max(warp.drained, when)
    groups.done(warp, MATRIX, when)
    oldest, order = -1, NEVER
    for i in range(warp.effects):
        effect = sm.effects[g, i]
        if effect.groups == MATRIX and effect.lands == NEVER and effect.order < order:
            oldest, order = i, effect.order
    if oldest >= 0:
        sm.effects[g, oldest].lands = when
        sm.products.lands = min(sm.products.lands, when)
