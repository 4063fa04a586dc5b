"""The microbenchmarks of the catalog, one entry each."""

from __future__ import annotations

from isa.operands.register_bank import MAPPINGS
from workloads.entries.entry import Entry, Parameter, choice, integer, width
from workloads.microbench.barrier import barrier
from workloads.microbench.cadence import OPS as CADENCE_OPS
from workloads.microbench.cadence import cadence
from workloads.microbench.chain import OPS as CHAIN_OPS
from workloads.microbench.chain import PATTERNS, chain
from workloads.microbench.divergence import WAYS, divergence
from workloads.microbench.dual_issue import dual_issue
from workloads.microbench.maxas_loop import maxas_loop
from workloads.microbench.memory.bank_conflict import bank_conflict
from workloads.microbench.memory.offset_copy import offset_copy
from workloads.microbench.memory.pointer_chase import pointer_chase
from workloads.microbench.memory.stream import OPS as STREAM_OPS
from workloads.microbench.memory.stream import coalescing, stream
from workloads.microbench.memory.transpose import partition_camping
from workloads.microbench.mix import mix
from workloads.microbench.register_banks import ORDERS, register_banks
from workloads.microbench.throughput import BANKS, throughput
from workloads.microbench.throughput import OPS as THROUGHPUT_OPS
from workloads.papers.cme213.expression import OPS as EXPRESSION_OPS
from workloads.papers.cme213.expression import expression

_WARPS = integer("warps", 1, "warps of the block")
_LANES = choice("lanes", 32, (32, 64), "lanes of a warp: those of the machine")
_WARPS_16 = integer("warps", 16, "warps of each block")
_ITERATIONS = integer("iterations", 1, "times round the loop; 1 has no loop instructions")

ENTRIES = (
    Entry(
        "chain",
        chain,
        "dependent chain of one instruction: cycles over length is its latency",
        (
            choice("op", "FFMA", CHAIN_OPS, "instruction; loads chase pointers"),
            integer("length", 256, "instructions of the chain"),
            _WARPS,
            _ITERATIONS,
            choice(
                "pattern",
                "broadcast",
                PATTERNS,
                "where the lanes of a load start: all at one element, or each at its own",
            ),
            _LANES,
        ),
    ),
    Entry(
        "throughput",
        throughput,
        "independent streams of one instruction from many warps: instructions over cycles is its throughput",
        (
            choice("op", "FFMA", THROUGHPUT_OPS, "instruction; loads are unit stride"),
            _WARPS_16,
            integer("streams", 8, "independent chains of a thread"),
            integer("length", 256, "instructions of the loop body"),
            integer("iterations", 16, "times round the loop; 1 has no loop instructions"),
            integer("blocks", 1, "blocks of the grid"),
            choice("reuse", "off", ("off", "on"), "whether the sources in common are flagged for the reuse cache"),
            choice("banks", "any", BANKS, "whether sources and chains have a Kepler's register banks of their own"),
            _LANES,
        ),
    ),
    Entry(
        "expression",
        expression,
        "an expression of C as a compiler's instructions, from many warps: results over cycles are its throughput",
        (
            choice(
                "op", "rsqrtf", EXPRESSION_OPS, "expression, in pairs of what guides advise and what programs write"
            ),
            integer("warps", 32, "warps of the block"),
            integer("length", 32, "repetitions in the loop body"),
            integer("iterations", 4, "times round the loop; 1 has no loop instructions"),
            integer("divisor", 8, "what integers are divided by, from 3 on; a power of two for shift and mask"),
        ),
    ),
    Entry(
        "cadence",
        cadence,
        "GCN's instructions one after another: cycles over instructions is what one takes its wave",
        (
            choice("op", "V_MAC_F32", tuple(CADENCE_OPS), "instruction; accesses to global memory are to one place"),
            integer("length", 64, "instructions of each wave"),
            integer("warps", 1, "waves of the block"),
        ),
        machine="mi60",
    ),
    Entry(
        "mix",
        mix,
        "FFMA and shared-memory loads in a fixed ratio, as in figure 2 of RR-7923",
        (
            Parameter("ratio", "6:1", str, "FFMAs:loads", "FFMAs to loads; 0:1 is loads only"),
            width("lds", 64, "bits of the loads"),
            _WARPS_16,
            integer("groups", 64, "repetitions of the ratio in the loop body"),
            integer("iterations", 32, "times round the loop; 1 has no loop instructions"),
        ),
    ),
    Entry(
        "dual-issue",
        dual_issue,
        "FFMA and FMUL in a fixed ratio: what the multipliers of the SFUs add on GT200",
        (
            Parameter("ratio", "1:1", str, "FFMAs:FMULs", "FFMAs to FMULs"),
            _WARPS_16,
            integer("groups", 64, "repetitions of the ratio in the loop body"),
            integer("iterations", 32, "times round the loop; 1 has no loop instructions"),
        ),
        machine="gt200",
    ),
    Entry(
        "bank-conflict",
        bank_conflict,
        "shared-memory loads with a stride between lanes: cycles per load shows the passes",
        (
            integer("stride", 1, "32-bit words from lane to lane, a multiple of the width; 0 is a broadcast"),
            width("width", 32, "bits of the loads"),
            _WARPS,
            integer("length", 256, "loads of the loop body"),
            _ITERATIONS,
        ),
    ),
    Entry(
        "maxas-loop",
        maxas_loop,
        "the inner loop of the SGEMM of maxas, with or without the reuse cache",
        (
            choice("reuse", "on", ("on", "off"), "whether factors are flagged for the reuse cache"),
            integer("iterations", 4, "times round the loop, 512 FFMAs each"),
            integer("blocks", 32, "blocks of the grid; 32 are two for each SM"),
        ),
        machine="gtx980",
    ),
    Entry(
        "register-banks",
        register_banks,
        "FFMAs whose sources lie in given register banks: cycles per FFMA shows the conflicts",
        (
            Parameter("pattern", "3000,3000,2100", str, "counts by bank", "each FFMA's registers of bank 0, 1, 2, 3"),
            choice("mapping", "modulo", MAPPINGS, "how registers are numbered by bank"),
            choice("order", "turn", ORDERS, "whether the FFMAs of the pattern come in turn or at random"),
            integer("flagged", 0, "sources of each FFMA that stay in the reuse cache, 0 to 3"),
            _WARPS_16,
            integer("targets", 12, "registers written in turn"),
            integer("length", 252, "FFMAs of the loop body"),
            _ITERATIONS,
        ),
    ),
    Entry(
        "pointer-chase",
        pointer_chase,
        "pointers through global memory: cycles per load, by footprint, show which cache holds them",
        (
            integer("footprint", 16384, "bytes that the ring of pointers spans"),
            integer("stride", 128, "bytes from pointer to pointer, a multiple of 4 that divides the footprint"),
            integer("loads", 1024, "loads, one after the other, a multiple of 256"),
            _LANES,
        ),
    ),
    Entry(
        "stream",
        stream,
        "16 bytes at a time read or copied in order: bytes over cycles is the bandwidth of global memory",
        (
            choice("op", "read", STREAM_OPS, "whether what is read is stored elsewhere too"),
            integer("length", 32, "elements of 16 bytes of a thread"),
            _WARPS_16,
            integer("blocks", 16, "blocks of the grid"),
            _LANES,
        ),
    ),
    Entry(
        "offset-copy",
        offset_copy,
        "an element per thread copied from memory to memory at an offset, as in figure 2 of Tan et al. (SC'11)",
        (
            width("width", 64, "bits of an element"),
            integer("offset", 0, "elements from the start of a line to the first"),
            integer("warps", 32, "warps of each block"),
            integer("blocks", 16, "blocks of the grid"),
        ),
        machine="c2050",
    ),
    Entry(
        "coalescing",
        coalescing,
        "words a stride apart from lane to lane: cycles per load show the transactions",
        (
            integer("stride", 1, "words from lane to lane; 0 is one word for all"),
            integer("length", 32, "loads of a thread"),
            _WARPS_16,
            integer("blocks", 16, "blocks of the grid"),
        ),
    ),
    Entry(
        "divergence",
        divergence,
        "branches that lanes of a warp take apart: cycles show that the warp goes every way",
        (
            choice("ways", 2, WAYS, "branches that the lanes of a warp take"),
            integer("length", 64, "additions of a branch"),
            _WARPS_16,
        ),
    ),
    Entry(
        "partition-camping",
        partition_camping,
        "a matrix transpose whose stores go to one channel of the DRAM, with a pad to all; seen with --sms all",
        (
            integer("rows", 512, "rows of the matrix that is read, a multiple of 32"),
            integer("columns", 512, "its columns, a multiple of 32"),
            integer("pad", 0, "unused words after each row"),
        ),
        machine="gt200",
        channels=True,
    ),
    Entry(
        "barrier",
        barrier,
        "words passed from warp to warp, two barriers a round: cycles per round is what barriers cost",
        (
            integer("warps", 8, "warps of the block"),
            integer("rounds", 64, "times that each word moves on by a warp; 1 has no loop instructions"),
            integer("alone", 0, "barriers that a round is made of, and nothing else; 0: words move"),
        ),
    ),
)
