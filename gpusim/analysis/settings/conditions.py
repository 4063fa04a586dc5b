"""When a number of a machine is read at all: what of the machine's record a launch does not look at, and why not.

Each condition names keys of machine files, what these are packed to (fields of `machine_record.machine_t`, or columns
of decoded rows), and says in words why nobody reads them where it does not hold. Fields are left out when two machines
are compared for a launch (`gpusim/analysis/settings/ineffective.py`); conditions without fields are words alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gpusim.analysis.settings.given import WIDTHS, Given
from gpusim.launch.assign_codes import has_codes
from gpusim.launch.decode import BARRIER, BRANCH, LOAD, STORE, UNIT_CODE
from gpusim.machine.machine import tagged
from gpusim.state.machine import BANKS, CONSTANTS, FAR, FERMI, KEPLER, L1, NEAR, ONE_PASS, PARTITION, SCALARS, TEXTURES
from isa.table import Unit

SCOREBOARD = "the scoreboard says when instructions may go (dependence.rule)"


@dataclass(frozen=True)
class Condition:
    """Keys by pattern, what they are packed to, whether a launch reads that, and what to say where it does not."""

    keys: str
    fields: str
    reads: Callable[[Given], bool]
    why: str


def _accesses(unit: Unit) -> Callable[[Given], bool]:
    return lambda given: unit in given.units


def _asks(which: int) -> Callable[[Given], bool]:
    return lambda given: bool((given.rows["cached"] == 1 + which).any())


def _looks(which: int) -> Callable[[Given], bool]:
    """A cache behind those that accesses ask first: it is there, and something asks."""
    return lambda given: given.cached and given.levels["sets"][which] > 0


def _near(given: Given) -> bool:
    """The L1 is asked by loads, and looked at by stores."""
    stores = given.does(STORE, unit=Unit.GLOBAL) or given.does(STORE, unit=Unit.LOCAL)
    return (
        bool(given.levels["sets"][NEAR]) and given.cached and (stores or bool((given.rows["cached"] == 1 + NEAR).any()))
    )


def _moves(given: Given) -> bool:
    """Transactions reach the channel behind the SM."""
    if given.cached:
        return True
    return given.does(STORE, unit=Unit.GLOBAL) if given.record.hits == L1 else Unit.GLOBAL in given.units


def _free_passes(width: int) -> Callable[[Given], bool]:
    def reads(given: Given) -> bool:
        actions = (LOAD, STORE) if given.record.pass_slots or _updates(given) else (LOAD,)
        return given.does(*actions, unit=Unit.SHARED, width=width)

    return reads


def _wide(width: int) -> Callable[[Given], bool]:
    return lambda given: given.does(LOAD, STORE, unit=Unit.SHARED, width=width)


def _updates(given: Given) -> bool:
    return bool((given.rows["update"] >= 0).any())


def _chooses(given: Given) -> bool:
    """Whether the policy ever has a choice; `two_level` with one warp lets it go, as the others do."""
    return not given.alone


def _meet(given: Given) -> bool:
    """Some two schedulers have slots in the same cycle."""
    schedulers = given.machine.schedulers
    return len({k * schedulers.stagger % schedulers.interval for k in range(schedulers.count)}) < schedulers.count


def _never(_: Given) -> bool:
    return False


def _order(given: Given) -> bool:
    """Whether who came, or yielded, first matters to the policy."""
    return given.policy != "lrr" and not given.alone


NO_SHARED = "{kernel} does not access shared memory"
NO_GLOBAL = "{kernel} does not access global memory"
NO_QUEUE = "{kernel} has no instruction that goes through the load/store queue"
NO_TAGS = "no cache keeps tags (cache.hits is not tags)"
NO_ASKER = "no access of {kernel} asks it"
ON_TIME = "operands are never late (register_file.mapping is none)"

CONDITIONS = (
    # What the kernel has none of.
    Condition(
        "barrier.* what_if.barriers",
        "barrier per_warp barriers_pass",
        lambda g: g.does(BARRIER),
        "{kernel} has no barrier",
    ),
    Condition(
        "barrier.*",
        "barrier per_warp",
        lambda g: not g.record.barriers_pass,
        "nobody waits at barriers (what_if.barriers)",
    ),
    Condition("branch.*", "branch", lambda g: g.does(BRANCH), "{kernel} has no branch"),
    Condition("double.*", "exclusive", lambda g: Unit.DP in g.units, "{kernel} has no instruction of unit class dp"),
    Condition("local_memory.*", "local_request", _accesses(Unit.LOCAL), "{kernel} does not access local memory"),
    Condition("texture.*", "", _accesses(Unit.TEXTURE), "{kernel} fetches no texture"),
    Condition("constant_cache.*", "", _accesses(Unit.CONSTANT), "{kernel} has no constant load"),
    Condition("shared_atomic.*", "", _updates, "{kernel} has no atomic"),
    # Starts of blocks.
    Condition(
        "launch.block_latency", "block_latency", lambda g: g.share > g.resident, "all blocks of an SM start at once"
    ),
    Condition("launch.warp_skew", "warp_skew", lambda g: g.kernel.warps > 1, "a block of {kernel} is one warp"),
    Condition("launch.block_skew", "block_skew", lambda g: g.resident > 1, "an SM has one block of {kernel} at a time"),
    # Schedulers.
    Condition("schedulers.stagger", "stagger", lambda g: g.machine.schedulers.count > 1, "there is one scheduler"),
    Condition("issue.rotate", "rotate", _meet, "no two schedulers have a slot in the same cycle"),
    Condition("issue.rotate", "rotate", lambda g: g.machine.schedulers.count > 1, "there is one scheduler"),
    Condition(
        "schedulers.active", "active", lambda g: g.policy == "two_level", "the policy {policy} has no active warps"
    ),
    Condition(
        "schedulers.policy schedulers.active",
        "policy active",
        _chooses,
        "no scheduler has more than one warp of {kernel}",
    ),
    Condition("issue.pairing", "same_warp", lambda g: g.record.ports > 1, "a turn has one dispatch port"),
    Condition("pairing.* category.*", "", lambda g: g.record.ports > 1, "a turn has one dispatch port"),
    Condition("pairing.* category.*", "", lambda g: g.pairs, "no scheduler has more than one warp of {kernel}"),
    Condition(
        "category.*",
        "",
        lambda g: g.machine.issue.pairing == "different-category",
        "issue.pairing is not different-category",
    ),
    Condition(
        "pairing.*",
        "",
        lambda g: g.machine.issue.pairing != "different-category",
        "categories say what goes together (issue.pairing)",
    ),
    Condition("issue.refused_*", "wastes_slot moves_pointer retry", lambda g: g.queued, NO_QUEUE),
    Condition(
        "issue.refused_moves_pointer issue.refused_retry",
        "moves_pointer retry",
        lambda g: bool(g.record.wastes_slot),
        "a full queue refuses nobody (issue.refused_wastes_slot = 0)",
    ),
    Condition(
        "issue.refused_moves_pointer",
        "moves_pointer",
        lambda g: g.policy != "oldest" and not g.alone,
        "the policy {policy} has no pointer to move",
    ),
    # Queues and shared memory.
    Condition("load_store.* memory_port.* memory_paths.*", "queue queues sharing held", lambda g: g.queued, NO_QUEUE),
    Condition(
        "shared_memory.bank_bytes",
        "bank_words",
        lambda g: g.record.shared_rule == KEPLER,
        "the bank rule {rule} has banks of 4 bytes",
    ),
    Condition(
        "shared_memory.* what_if.shared_memory",
        "pass_cycles late_cycles merge_halves shared_rule banks bank_words shared_ideal free_passes early",
        _accesses(Unit.SHARED),
        NO_SHARED,
    ),
    Condition(
        "shared_memory.merge_halves",
        "merge_halves",
        lambda g: g.record.shared_rule == FERMI,
        "the bank rule {rule} merges no half-warps",
    ),
    Condition(
        "shared_memory.merge_halves",
        "merge_halves",
        lambda g: bool(((g.rows["unit"] == UNIT_CODE[Unit.SHARED]) & (g.rows["words"] > 2)).any()),
        "{kernel} has no 128-bit access to shared memory",
    ),
    Condition(
        "shared_memory.banks shared_memory.bank_bytes",
        "banks bank_words",
        lambda g: g.record.shared_ideal == BANKS,
        "banks never conflict (what_if.shared_memory)",
    ),
    Condition(
        "shared_memory.rule shared_memory.merge_halves",
        "shared_rule merge_halves",
        lambda g: g.record.shared_ideal != ONE_PASS,
        "each access is one pass (what_if.shared_memory)",
    ),
    *(
        Condition(
            f"shared_memory.free_passes_{width}",
            f"free_passes.{index}",
            _free_passes(width),
            f"{{kernel}} has no {width}-bit load from shared memory",
        )
        for index, width in enumerate(WIDTHS)
    ),
    *(
        Condition(
            f"memory_port.early_{width}",
            f"early.{index}",
            _free_passes(width),
            f"{{kernel}} has no {width}-bit load from shared memory",
        )
        for index, width in enumerate(WIDTHS)
    ),
    Condition(
        "memory_port.late_cycles",
        "late_cycles",
        lambda g: g.does(LOAD, unit=Unit.SHARED) or _updates(g),
        "{kernel} loads nothing from shared memory",
    ),
    *(
        Condition(
            f"shared_memory.*_{width}", "", _wide(width), f"{{kernel}} has no {width}-bit access to shared memory"
        )
        for width in WIDTHS
    ),
    Condition("memory_paths.shared_*", "", _accesses(Unit.SHARED), NO_SHARED),
    # Global memory and caches.
    Condition("global_memory.*", "global_request", _accesses(Unit.GLOBAL), NO_GLOBAL),
    Condition("global_memory.rule", "global_rule hits", lambda g: Unit.GLOBAL in g.units or g.cached, NO_GLOBAL),
    Condition("global_memory.line_bytes", "line_bytes", lambda g: Unit.GLOBAL in g.units or g.cached, NO_GLOBAL),
    Condition(
        "memory_clock.* memory.* chip.dram_mbs cache.l2_sector_parts",
        "line_cost channel_parts",
        _moves,
        "no transaction of {kernel} goes through the channel",
    ),
    Condition(
        "cache.*_late",
        "hit_late",
        lambda g: g.does(LOAD, unit=Unit.GLOBAL),
        "{kernel} loads nothing from global memory",
    ),
    Condition(
        "l1.* l2.* l2_partition.* texture_cache.* scalar_cache.* constant_cache.*bytes constant_cache.ways",
        "",
        lambda g: tagged(g.machine),
        NO_TAGS,
    ),
    Condition(
        "l1.* l2.* l2_partition.*",
        "port_cost port_parts far_latency far_late partition_late memory_latency",
        lambda g: g.cached,
        NO_ASKER,
    ),
    Condition("l1.*", f"caches.{NEAR} misses drops_stored keeps_stores", _near, NO_ASKER),
    Condition("l1.misses", "misses", _asks(NEAR), "no load of {kernel} asks the L1"),
    Condition(
        "l1.global_stores",
        "drops_stored",
        lambda g: g.does(STORE, unit=Unit.GLOBAL),
        "{kernel} stores nothing to global memory",
    ),
    Condition(
        "l1.local_stores",
        "keeps_stores",
        lambda g: g.does(STORE, unit=Unit.LOCAL),
        "{kernel} stores nothing to local memory",
    ),
    Condition("l2.*", f"caches.{FAR} port_cost port_parts far_latency far_late", _looks(FAR), "nothing asks the L2"),
    Condition(
        "l2_partition.*",
        f"caches.{PARTITION} partition_late",
        lambda g: _looks(FAR)(g) and _looks(PARTITION)(g),
        "nothing asks the L2",
    ),
    *(
        Condition(f"{section}.*", f"caches.{which} read_latency.{which} read_far.{which}", _asks(which), NO_ASKER)
        for section, which in (("texture_cache", TEXTURES), ("scalar_cache", SCALARS), ("constant_cache", CONSTANTS))
    ),
    Condition(
        "cache.l1_*",
        "",
        lambda g: g.machine.cache is None or g.machine.cache.hits in ("l1", "tags"),
        "no load hits the L1 (cache.hits)",
    ),
    Condition(
        "cache.l2_*",
        "",
        lambda g: g.machine.cache is None or g.machine.cache.hits in ("l2", "tags"),
        "no load hits the L2 (cache.hits)",
    ),
    Condition("cache.*", "", lambda g: g.does(LOAD, unit=Unit.GLOBAL), "{kernel} loads nothing from global memory"),
    Condition(
        "memory.ecc_cost",
        "",
        lambda g: g.machine.memory is None or bool(g.machine.memory.ecc),
        "memory is not protected (memory.ecc = 0)",
    ),
    # Replays and counts.
    Condition("instruction_replay.pass_slots", "pass_slots", _accesses(Unit.SHARED), NO_SHARED),
    Condition("instruction_replay.request_slots", "request_slots", _accesses(Unit.GLOBAL), NO_GLOBAL),
    Condition("outstanding.*", "", lambda g: g.machine.wait_counters is None, "[wait_counters] count in its place"),
    Condition(
        "wait_counters.* outstanding.*",
        "counts",
        lambda g: bool((g.rows["counter"] >= 0).any() or (g.rows["most"] >= 0).any()),
        "{kernel} has no access that is counted",
    ),
    # Control codes, selection, operands, instructions.
    Condition("dependence.yield_stall dependence.variable", "yield_stall", lambda g: bool(g.record.codes), SCOREBOARD),
    Condition(
        "dependence.yield_stall", "yield_stall", lambda g: bool(g.rows["yields"].any()), "{kernel} yields nowhere"
    ),
    Condition(
        "dependence.variable", "", lambda g: not has_codes(g.kernel.program), "{kernel} has control codes of its own"
    ),
    Condition("selection.freezes selection.turns", "", lambda g: bool(g.record.codes), SCOREBOARD),
    Condition("selection.freezes", "freezes", lambda g: g.record.register_banks > 0, ON_TIME),
    Condition("selection.turns", "turns", _order, "the policy {policy} asks nobody how long a warp pauses"),
    Condition(
        "register_file.*",
        "bank_of carried collecting window reuse rows.bank_reads rows.bank_returns",
        lambda g: g.record.register_banks > 0,
        ON_TIME,
    ),
    Condition(
        "register_file.reuse", "", lambda g: bool(g.rows["reuse"].any()), "{kernel} keeps nothing in the reuse cache"
    ),
    Condition("register_file.mapping", "bank_of", lambda g: bool(g.record.reuse or g.record.carried), ""),
    Condition("register_file.returned", "", lambda g: g.queued, NO_QUEUE),
    Condition(
        "fetch.*",
        "ahead levels lines rows.line",
        lambda g: bool(g.record.fetches),
        "all of {kernel} fits into the schedulers' own caches",
    ),
    Condition("fetch.*", "", _never, "a nearer cache holds all of {kernel}"),
    # What is not packed at all.
    Condition("chip.core_mhz", "", _never, "all cycles are of the shader clock"),
    Condition(
        "limits.registers_per_thread limits.threads_per_block limits.barriers",
        "",
        _never,
        "it refuses kernels that ask for more, and {kernel} asks for less",
    ),
    Condition(
        "limits.* scalar_file.*",
        "",
        _never,
        "an SM holds {blocks} of {kernel}, limited by {limiter}, either way",
    ),
)
