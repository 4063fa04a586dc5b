"""Kernels by name, with the parameters that a command line can set: name -> function, description, parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from isa.errors import UserError
from isa.kernel import Kernel
from isa.register_bank import MAPPINGS
from workloads.gemm.lai import sgemm_lai
from workloads.gemm.lai_program import ORDERS as LAI_ORDERS
from workloads.gemm.matmul_block import matmul_block
from workloads.gemm.matmul_naive import matmul_naive
from workloads.gemm.sg4 import sg4
from workloads.gemm.stencil import LAYOUTS, PRECISIONS, READS, REGISTERS, SKEWS, gemm_stencil
from workloads.gemm.stencil_tuning import TUNING
from workloads.gemm.tan import BARRIERS, RACY, VARIANTS, dgemm_tan
from workloads.gemm.vega_legacy import sgemm_vega_legacy
from workloads.gemm.vega_vlp import ORDERS as VLP_ORDERS
from workloads.gemm.vega_vlp import sgemm_vega_vlp
from workloads.microbench.bank_conflict import bank_conflict
from workloads.microbench.barrier import barrier
from workloads.microbench.cadence import OPS as CADENCE_OPS
from workloads.microbench.cadence import cadence
from workloads.microbench.chain import OPS as CHAIN_OPS
from workloads.microbench.chain import PATTERNS, chain
from workloads.microbench.maxas_loop import maxas_loop
from workloads.microbench.mix import mix
from workloads.microbench.pointer_chase import pointer_chase
from workloads.microbench.register_banks import ORDERS, register_banks
from workloads.microbench.stream import OPS as STREAM_OPS
from workloads.microbench.stream import coalescing, stream
from workloads.microbench.throughput import BANKS, throughput
from workloads.microbench.throughput import OPS as THROUGHPUT_OPS

SWITCH = {"on": True, "off": False, "auto": None}


@dataclass(frozen=True, slots=True)
class Parameter:
    """`parse` turns text into a value or raises ValueError or KeyError; `allowed` says in words what it takes."""

    name: str
    default: object
    parse: Callable[[str], object]
    allowed: str
    doc: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One kernel of the catalog; `function` takes the parameters by name."""

    name: str
    function: Callable[..., Kernel]
    description: str
    parameters: tuple[Parameter, ...]
    machine: str = "gtx580"  # one that holds it, for examples


def make(name: str, texts: Mapping[str, str] | None = None) -> Kernel:
    """Build the named kernel with the parameters given as text, the others at their defaults.

    Raises UserError for an unknown kernel or parameter, a value that does not parse, and what the kernel refuses.
    """
    entry = find(name)
    return entry.function(**arguments(name, entry.parameters, texts or {}))


def arguments(name: str, parameters: Iterable[Parameter], texts: Mapping[str, str]) -> dict[str, object]:
    """Return the values that the texts give to some of the parameters; raises UserError, which begins with `name`."""
    known = {p.name: p for p in parameters}
    for key in [key for key in texts if key not in known]:
        raise UserError(f"{name}: no parameter {key}{nearest(key, known)}; it takes {', '.join(known)}")
    return {key: _parse(name, known[key], text) for key, text in texts.items()}


def find(name: str) -> Entry:
    """Entry of the named kernel; raises UserError with the nearest name if there is none."""
    if name not in CATALOG:
        raise UserError(f"no kernel {name}{nearest(name, CATALOG)}; there are {', '.join(CATALOG)}")
    return CATALOG[name]


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the question whether the nearest known name was meant, or nothing."""
    close = get_close_matches(name, known, n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def _parse(kernel: str, parameter: Parameter, text: str) -> object:
    try:
        return parameter.parse(text)
    except (ValueError, KeyError):
        raise UserError(f"{kernel}: {parameter.name}={text} is not allowed; give {parameter.allowed}") from None


def _integer(name: str, default: int, doc: str) -> Parameter:
    return Parameter(name, default, int, "a whole number", doc)


def _number(name: str, default: float, doc: str) -> Parameter:
    return Parameter(name, default, float, "a number", doc)


def _choice(name: str, default: object, choices: Iterable[object], doc: str) -> Parameter:
    by_text = {str(choice): choice for choice in choices}
    return Parameter(name, default, by_text.__getitem__, f"one of {', '.join(by_text)}", doc)


def _width(name: str, default: int, doc: str) -> Parameter:
    return _choice(name, default, (32, 64, 128), doc)


def _auto(name: str, doc: str) -> Parameter:
    return Parameter(name, None, lambda text: None if text == "auto" else int(text), "a whole number, or auto", doc)


_FACTORS = (
    _number("alpha", 1.0, "factor of the product"),
    _number("beta", 0.0, "factor of the old C, which is not read when 0"),
)
_WARPS = _integer("warps", 1, "warps of the block")
_LANES = _choice("lanes", 32, (32, 64), "lanes of a warp: those of the machine")
_WARPS_16 = _integer("warps", 16, "warps of each block")
_ITERATIONS = _integer("iterations", 1, "times round the loop; 1 has no loop instructions")

_ENTRIES = (
    Entry(
        "sgemm-lai",
        sgemm_lai,
        "single-precision C = alpha op(A) op(B) + beta C of Lai and Seznec (RR-7923, 2012), column-major",
        (
            _integer("m", 960, "rows of C, a multiple of 16 blocking"),
            _integer("n", 960, "columns of C, a multiple of 16 blocking"),
            _integer("k", 960, "inner size, a multiple of 16"),
            _choice("layout", "nt", ("nn", "nt", "tn", "tt"), "n: as stored, t: transposed, for A and for B"),
            _width("lds", 64, "bits of the shared-memory loads"),
            _integer("blocking", 6, "rows and columns of C that a thread computes"),
            Parameter(
                "prefetch",
                None,
                SWITCH.__getitem__,
                "one of on, off, auto",
                "load the next tile to registers meanwhile; auto: on, but off with lds=128",
            ),
            _choice("order", "interleaved", LAI_ORDERS, "of section 4.2: what is moved; interleaved: both"),
            *_FACTORS,
        ),
    ),
    Entry(
        "matmul-naive",
        matmul_naive,
        "single-precision C = A B of CME213 (Stanford, 2012), row-major, a thread per element and no blocking",
        (
            _integer("m", 256, "rows of C, a multiple of block_y"),
            _integer("n", 256, "columns of C, a multiple of block_x"),
            _integer("k", 64, "inner size"),
            _integer("block_x", 32, "columns of C, and threads, of a block"),
            _integer("block_y", 8, "rows of C, and of threads, of a block"),
        ),
    ),
    Entry(
        "matmul-block",
        matmul_block,
        "single-precision C = A B of CME213 (Stanford, 2012), row-major, in square blocks through shared memory",
        (
            _integer("m", 320, "rows of C, a multiple of block"),
            _integer("n", 320, "columns of C, a multiple of block"),
            _integer("k", 320, "inner size, a multiple of block"),
            _integer("block", 32, "rows and columns of a tile, and threads of a block along each"),
            _integer("ahead", 4, "steps of k by which shared loads go before their sums, 1 to block"),
        ),
    ),
    Entry(
        "dgemm-tan",
        dgemm_tan,
        "double-precision C = alpha A B^T + beta C of Tan et al. (SC'11), column-major",
        (
            _integer("m", 128, "rows of C, a multiple of 64"),
            _integer("n", 128, "columns of C, a multiple of 64"),
            _integer("k", 128, "inner size, a multiple of 16"),
            _choice("variant", "alg1", VARIANTS, "algorithm, or version of algorithm 3"),
            Parameter(
                "width",
                None,
                {"64": 64, "128": 128, "auto": None}.__getitem__,
                "one of 64, 128, auto",
                "bits of memory accesses; auto: the paper's",
            ),
            _choice("barriers", "strict", BARRIERS, f"strict, or literal: as printed, with races ({', '.join(RACY)})"),
            _integer("spilled", 6, "doubles that alg2 keeps in local memory: 0, 2, 4, 6 or 8"),
            *_FACTORS,
        ),
        machine="c2050",
    ),
    Entry(
        "gemm-stencil",
        gemm_stencil,
        "C = alpha op(A) op(B) + beta C of Kurzak, Tomov and Dongarra (2011), any precision, tuned by nine parameters",
        (
            _integer("m", 192, "rows of C"),
            _integer("n", 192, "columns of C"),
            _integer("k", 96, "inner size"),
            _choice("precision", "s", PRECISIONS, "single or double, or complex of these"),
            _choice("layout", "nn", LAYOUTS[2], "n: as stored, t: transposed, c: conjugate too, for A and for B"),
            _choice("read", "tex1d", READS, "plain loads, or through textures"),
            *_FACTORS,
            _number("alpha_im", 0.0, "imaginary part of alpha"),
            _number("beta_im", 0.0, "imaginary part of beta"),
            _choice("skew", "on", SKEWS, "an element more per row of shared memory"),
            _auto("registers", f"most of a thread, pointers beyond in local memory; auto: {REGISTERS}, or more"),
            *(_auto(x, doc) for x, doc in TUNING.items()),
        ),
        machine="c2050",
    ),
    Entry(
        "sgemm-vega-legacy",
        sgemm_vega_legacy,
        "single-precision C = A B for Vega through the LDS, as AMD's VLP SGEMM readme describes the usual way",
        (
            _integer("m", 128, "rows of C, a multiple of 64"),
            _integer("n", 128, "columns of C, a multiple of 64"),
            _integer("k", 64, "inner size, a multiple of 8"),
        ),
        machine="mi60",
    ),
    Entry(
        "sgemm-vega-vlp",
        sgemm_vega_vlp,
        "single-precision C = A B of AMD's VLP SGEMM for Vega: A by scalar loads, no LDS, no barrier",
        (
            _integer("m", 128, "rows of C, a multiple of 64"),
            _integer("n", 512, "columns of C, a multiple of threads"),
            _integer("k", 64, "inner size, a multiple of 16"),
            _choice("threads", 256, (64, 128, 256), "threads of a block, and columns of its tile"),
            _choice("order", "forwarding", VLP_ORDERS, "the 8 multiply-adds of a sum in a row, or rows in turn"),
        ),
        machine="mi60",
    ),
    Entry(
        "sg4",
        sg4,
        "single-precision C = A B in tiles of 128 by 128 by 8, 8 by 8 per thread, column-major",
        (
            _integer("m", 256, "rows of C, a multiple of 128"),
            _integer("n", 256, "columns of C, a multiple of 128"),
            _integer("k", 1024, "inner size, a multiple of 8"),
        ),
        machine="wide",
    ),
    Entry(
        "chain",
        chain,
        "dependent chain of one instruction: cycles over length is its latency",
        (
            _choice("op", "FFMA", CHAIN_OPS, "instruction; loads chase pointers"),
            _integer("length", 256, "instructions of the chain"),
            _WARPS,
            _ITERATIONS,
            _choice(
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
            _choice("op", "FFMA", THROUGHPUT_OPS, "instruction; loads are unit stride"),
            _WARPS_16,
            _integer("streams", 8, "independent chains of a thread"),
            _integer("length", 256, "instructions of the loop body"),
            _integer("iterations", 16, "times round the loop; 1 has no loop instructions"),
            _integer("blocks", 1, "blocks of the grid"),
            _choice("reuse", "off", ("off", "on"), "whether the sources in common are flagged for the reuse cache"),
            _choice("banks", "any", BANKS, "whether sources and chains have a Kepler's register banks of their own"),
            _LANES,
        ),
    ),
    Entry(
        "cadence",
        cadence,
        "GCN's instructions one after another: cycles over instructions is what one takes its wave",
        (
            _choice("op", "V_MAC_F32", tuple(CADENCE_OPS), "instruction; accesses to global memory are to one place"),
            _integer("length", 64, "instructions of each wave"),
            _integer("warps", 1, "waves of the block"),
        ),
        machine="mi60",
    ),
    Entry(
        "mix",
        mix,
        "FFMA and shared-memory loads in a fixed ratio, as in figure 2 of RR-7923",
        (
            Parameter("ratio", "6:1", str, "FFMAs:loads", "FFMAs to loads; 0:1 is loads only"),
            _width("lds", 64, "bits of the loads"),
            _WARPS_16,
            _integer("groups", 64, "repetitions of the ratio in the loop body"),
            _integer("iterations", 32, "times round the loop; 1 has no loop instructions"),
        ),
    ),
    Entry(
        "bank-conflict",
        bank_conflict,
        "shared-memory loads with a stride between lanes: cycles per load shows the passes",
        (
            _integer("stride", 1, "32-bit words from lane to lane, a multiple of the width; 0 is a broadcast"),
            _width("width", 32, "bits of the loads"),
            _WARPS,
            _integer("length", 256, "loads of the loop body"),
            _ITERATIONS,
        ),
    ),
    Entry(
        "maxas-loop",
        maxas_loop,
        "the inner loop of the SGEMM of maxas, with or without the reuse cache",
        (
            _choice("reuse", "on", ("on", "off"), "whether factors are flagged for the reuse cache"),
            _integer("iterations", 4, "times round the loop, 512 FFMAs each"),
            _integer("blocks", 32, "blocks of the grid; 32 are two for each SM"),
        ),
        machine="gtx980",
    ),
    Entry(
        "register-banks",
        register_banks,
        "FFMAs whose sources lie in given register banks: cycles per FFMA shows the conflicts",
        (
            Parameter("pattern", "3000,3000,2100", str, "counts by bank", "each FFMA's registers of bank 0, 1, 2, 3"),
            _choice("mapping", "modulo", MAPPINGS, "how registers are numbered by bank"),
            _choice("order", "turn", ORDERS, "whether the FFMAs of the pattern come in turn or at random"),
            _integer("flagged", 0, "sources of each FFMA that stay in the reuse cache, 0 to 3"),
            _WARPS_16,
            _integer("targets", 12, "registers written in turn"),
            _integer("length", 252, "FFMAs of the loop body"),
            _ITERATIONS,
        ),
    ),
    Entry(
        "pointer-chase",
        pointer_chase,
        "pointers through global memory: cycles per load, by footprint, show which cache holds them",
        (
            _integer("footprint", 16384, "bytes that the ring of pointers spans"),
            _integer("stride", 128, "bytes from pointer to pointer, a multiple of 4 that divides the footprint"),
            _integer("loads", 1024, "loads, one after the other, a multiple of 256"),
            _LANES,
        ),
    ),
    Entry(
        "stream",
        stream,
        "16 bytes at a time read or copied in order: bytes over cycles is the bandwidth of global memory",
        (
            _choice("op", "read", STREAM_OPS, "whether what is read is stored elsewhere too"),
            _integer("length", 32, "elements of 16 bytes of a thread"),
            _WARPS_16,
            _integer("blocks", 16, "blocks of the grid"),
            _LANES,
        ),
    ),
    Entry(
        "coalescing",
        coalescing,
        "words a stride apart from lane to lane: cycles per load show the transactions",
        (
            _integer("stride", 1, "words from lane to lane; 0 is one word for all"),
            _integer("length", 32, "loads of a thread"),
            _WARPS_16,
            _integer("blocks", 16, "blocks of the grid"),
        ),
    ),
    Entry(
        "barrier",
        barrier,
        "words passed from warp to warp, two barriers a round: cycles per round is what barriers cost",
        (
            _integer("warps", 8, "warps of the block"),
            _integer("rounds", 64, "times that each word moves on by a warp; 1 has no loop instructions"),
            _integer("alone", 0, "barriers that a round is made of, and nothing else; 0: words move"),
        ),
    ),
)

CATALOG: Mapping[str, Entry] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
