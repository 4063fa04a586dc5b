"""All hardware units.

Their order is that of the fields in records, of packing and decoding, and of conditions: the first that fails gives
the reason why a setting does nothing.
"""

from __future__ import annotations

from gpusim.sm.account.record import declaration as record
from gpusim.sm.account.stall_accounting import declaration as stall_accounting
from gpusim.sm.chip import energy, host_link, tensor_peak
from gpusim.sm.chip.chip import declaration as chip
from gpusim.sm.effects import declaration as effects
from gpusim.sm.front.barrier import declaration as barrier
from gpusim.sm.front.block_scheduler import declaration as block_scheduler
from gpusim.sm.front.cluster import declaration as cluster
from gpusim.sm.front.dispatch import declaration as dispatch
from gpusim.sm.front.fence import declaration as fence
from gpusim.sm.front.fetch import declaration as fetch
from gpusim.sm.front.policies import declaration as policies
from gpusim.sm.front.selection import declaration as selection
from gpusim.sm.front.wakeup import declaration as wakeup
from gpusim.sm.front.warp_scheduler import declaration as warp_scheduler
from gpusim.sm.lanes.convergence import declaration as convergence
from gpusim.sm.lanes.simt_stack import declaration as simt_stack
from gpusim.sm.lanes.values import declaration as values
from gpusim.sm.memory import local_memory, mbarrier, what_if
from gpusim.sm.memory.account import declaration as account
from gpusim.sm.memory.async_copy import declaration as async_copy
from gpusim.sm.memory.cache import declaration as cache
from gpusim.sm.memory.cache.declaration import untagged
from gpusim.sm.memory.constant_operand import declaration as constant_operand
from gpusim.sm.memory.copy_engine import declaration as copy_engine
from gpusim.sm.memory.dram import declaration as dram
from gpusim.sm.memory.global_memory import declaration as global_memory
from gpusim.sm.memory.l2_atomic import declaration as l2_atomic
from gpusim.sm.memory.l2_channel import declaration as l2_channel
from gpusim.sm.memory.l2_share import declaration as l2_share
from gpusim.sm.memory.lookahead import declaration as lookahead
from gpusim.sm.memory.matrix_access import declaration as matrix_access
from gpusim.sm.memory.memory_access import declaration as memory_access
from gpusim.sm.memory.shared_memory import declaration as shared_memory
from gpusim.sm.memory.tag_stage import declaration as tag_stage
from gpusim.sm.memory.texture import declaration as texture
from gpusim.sm.pipes import constant_path, match
from gpusim.sm.pipes.double_precision import declaration as double_precision
from gpusim.sm.pipes.instruction_replay import declaration as instruction_replay
from gpusim.sm.pipes.load_store import declaration as load_store
from gpusim.sm.pipes.pipe import declaration as pipe
from gpusim.sm.pipes.warpgroup import declaration as warpgroup
from gpusim.sm.registers import bypass, scalar_registers
from gpusim.sm.registers.control_code import declaration as control_code
from gpusim.sm.registers.in_flight import declaration as in_flight
from gpusim.sm.registers.matrix_registers import declaration as matrix_registers
from gpusim.sm.registers.register_file import declaration as register_file
from gpusim.sm.registers.scoreboard import declaration as scoreboard
from gpusim.sm.registers.wait_count import declaration as wait_count
from gpusim.sm.registers.write_back import declaration as write_back
from gpusim.sm.replay.fast_forward import declaration as fast_forward
from gpusim.sm.replay.stream import declaration as stream
from gpusim.sm.unit import instruction, sm
from gpusim.sm.unit.declare import Declaration, Machine
from gpusim.sm.walk.branch import declaration as branch

EVERY: tuple[Declaration, ...] = tuple(
    module.UNIT
    for module in (
        sm,
        chip,
        instruction,
        block_scheduler,
        fetch,
        warp_scheduler,
        wakeup,
        policies,
        stall_accounting,
        selection,
        dispatch,
        constant_operand,
        scoreboard,
        control_code,
        wait_count,
        register_file,
        write_back,
        matrix_registers,
        bypass,
        pipe,
        double_precision,
        branch,
        simt_stack,
        convergence,
        barrier,
        cluster,
        fence,
        load_store,
        warpgroup,
        constant_path,
        match,
        instruction_replay,
        what_if,
        shared_memory,
        global_memory,
        local_memory,
        cache,
        account,
        tag_stage,
        l2_channel,
        l2_atomic,
        l2_share,
        dram,
        texture,
        scalar_registers,
        energy,
        host_link,
        tensor_peak,
        values,
        memory_access,
        matrix_access,
        async_copy,
        mbarrier,
        copy_engine,
        effects,
        in_flight,
        lookahead,
        stream,
        fast_forward,
        record,
    )
)


def comparable(machine: Machine, *, but_for_tags: bool = False) -> bool:
    """Tell whether fast-forward compares all state that changes on a machine, `but_for_tags` and what waits for them.

    A loop can be taken at its mean cost without: what caches keep then stays, and its times move.
    """
    return all(unit.compared(machine) or (but_for_tags and unit.compared is untagged) for unit in EVERY)
