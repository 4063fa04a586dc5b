"""The matrix products of the catalog, one entry each."""

from __future__ import annotations

from workloads.entries.entry import Entry, Parameter, choice, integer, number, width
from workloads.gemm.matmul_block import matmul_block
from workloads.gemm.matmul_naive import matmul_naive
from workloads.gemm.sg4 import sg4
from workloads.microbench.memory.transpose import transpose
from workloads.papers.kurzak.stencil import LAYOUTS, LEADING, ORDERS, PRECISIONS, READS, REGISTERS, SKEWS, gemm_stencil
from workloads.papers.kurzak.stencil_tuning import TUNING
from workloads.papers.lai.lai import sgemm_lai
from workloads.papers.lai.lai_program import ORDERS as LAI_ORDERS
from workloads.papers.tan.tan import BARRIERS, RACY, VARIANTS, dgemm_tan
from workloads.papers.tan.tan import ORDERS as TAN_ORDERS
from workloads.papers.tan.tan import READS as TAN_READS
from workloads.papers.vega.vega_legacy import sgemm_vega_legacy
from workloads.papers.vega.vega_vlp import ORDERS as VLP_ORDERS
from workloads.papers.vega.vega_vlp import dgemm_vega_vlp, sgemm_vega_vlp

_SWITCH = {"on": True, "off": False, "auto": None}


def _auto(name: str, doc: str) -> Parameter:
    return Parameter(name, None, lambda text: None if text == "auto" else int(text), "a whole number, or auto", doc)


_FACTORS = (
    number("alpha", 1.0, "factor of the product"),
    number("beta", 0.0, "factor of the old C, which is not read when 0"),
)
_VLP = (
    integer("m", 128, "rows of C, a multiple of 64"),
    integer("n", 512, "columns of C, a multiple of threads"),
    integer("k", 64, "inner size, a multiple of 16"),
    choice("threads", 256, (64, 128, 256), "threads of a block, and columns of its tile"),
    choice("order", "forwarding", VLP_ORDERS, "the 8 multiply-adds of a sum in a row, or two rows in turn"),
    integer("pad", 16, "elements after each row of A and C and each column of B, a multiple of 8"),
    number("beta", 1.0, "factor of the old C, which is not read when 0"),
)

ENTRIES = (
    Entry(
        "sgemm-lai",
        sgemm_lai,
        "single-precision C = alpha op(A) op(B) + beta C of Lai and Seznec (RR-7923, 2012), column-major",
        (
            integer("m", 960, "rows of C, a multiple of 16 blocking"),
            integer("n", 960, "columns of C, a multiple of 16 blocking"),
            integer("k", 960, "inner size, a multiple of 16"),
            choice("layout", "nt", ("nn", "nt", "tn", "tt"), "n: as stored, t: transposed, for A and for B"),
            width("lds", 64, "bits of the shared-memory loads"),
            integer("blocking", 6, "rows and columns of C that a thread computes"),
            Parameter(
                "prefetch",
                None,
                _SWITCH.__getitem__,
                "one of on, off, auto",
                "load the next tile to registers meanwhile; auto: on, but off with lds=128",
            ),
            choice("order", "interleaved", LAI_ORDERS, "of section 4.2: what is moved; interleaved: both"),
            *_FACTORS,
        ),
    ),
    Entry(
        "matmul-naive",
        matmul_naive,
        "single-precision C = A B of CME213 (Stanford, 2012), row-major, a thread per element and no blocking",
        (
            integer("m", 256, "rows of C, a multiple of block_y"),
            integer("n", 256, "columns of C, a multiple of block_x"),
            integer("k", 64, "inner size"),
            integer("block_x", 32, "columns of C, and threads, of a block"),
            integer("block_y", 8, "rows of C, and of threads, of a block"),
        ),
    ),
    Entry(
        "matmul-block",
        matmul_block,
        "single-precision C = A B of CME213 (Stanford, 2012), row-major, in square blocks through shared memory",
        (
            integer("m", 320, "rows of C, a multiple of block"),
            integer("n", 320, "columns of C, a multiple of block"),
            integer("k", 320, "inner size, a multiple of block"),
            integer("block", 32, "rows and columns of a tile, and threads of a block along each"),
            integer("ahead", 4, "steps of k by which shared loads go before their sums, 1 to block"),
        ),
    ),
    Entry(
        "dgemm-tan",
        dgemm_tan,
        "double-precision C = alpha A B^T + beta C of Tan et al. (SC'11), column-major",
        (
            integer("m", 128, "rows of C, a multiple of 64"),
            integer("n", 128, "columns of C, a multiple of 64"),
            integer("k", 128, "inner size, a multiple of 16"),
            choice("variant", "alg1", VARIANTS, "algorithm, or version of algorithm 3"),
            Parameter(
                "width",
                None,
                {"64": 64, "128": 128, "auto": None}.__getitem__,
                "one of 64, 128, auto",
                "bits of memory accesses; auto: the paper's",
            ),
            choice("barriers", "strict", BARRIERS, f"strict, or literal: as printed, with races ({', '.join(RACY)})"),
            integer("spilled", 6, "doubles that alg2 keeps in local memory: 0, 2, 4, 6 or 8"),
            Parameter(
                "read",
                None,
                {**dict(zip(TAN_READS, TAN_READS, strict=True)), "auto": None}.__getitem__,
                f"one of {', '.join(TAN_READS)}, auto",
                "plain loads, or through textures; auto: the paper's, textures but for alg1 and alg2",
            ),
            integer("blocking", 4, "rows and columns of C of a thread: 4; for alg1 also 2, 8; for alg3, v2 also 8"),
            choice("order", "figure9", TAN_ORDERS, "of the shared loads of v3 and v4: the paper's, or searched"),
            *_FACTORS,
        ),
        machine="c2050",
    ),
    Entry(
        "transpose",
        transpose,
        "double-precision T = A^T in tiles of 32 by 32 through shared memory, column-major",
        (
            integer("rows", 256, "rows of A, a multiple of 32"),
            integer("columns", 256, "columns of A, a multiple of 32"),
        ),
        machine="c2050",
    ),
    Entry(
        "gemm-stencil",
        gemm_stencil,
        "C = alpha op(A) op(B) + beta C of Kurzak, Tomov and Dongarra (2011), any precision, tuned by nine parameters",
        (
            integer("m", 192, "rows of C"),
            integer("n", 192, "columns of C"),
            integer("k", 96, "inner size"),
            choice("precision", "s", PRECISIONS, "single or double, or complex of these"),
            choice("layout", "nn", LAYOUTS[2], "n: as stored, t: transposed, c: conjugate too, for A and for B"),
            choice("read", "tex1d", READS, "plain loads, or through textures"),
            *_FACTORS,
            number("alpha_im", 0.0, "imaginary part of alpha"),
            number("beta_im", 0.0, "imaginary part of beta"),
            choice("order", "column", ORDERS, "column- or row-major matrices"),
            *(_auto(x, f"elements from a stored column of {x[2].upper()}, or row, to the next") for x in LEADING),
            choice("skew", "on", SKEWS, "an element more per row of shared memory"),
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
            integer("m", 128, "rows of C, a multiple of 64"),
            integer("n", 128, "columns of C, a multiple of 64"),
            integer("k", 64, "inner size, a multiple of 8"),
        ),
        machine="mi60",
    ),
    Entry(
        "sgemm-vega-vlp",
        sgemm_vega_vlp,
        "single-precision C = A B + beta C of AMD's VLP SGEMM for Vega: A by scalar loads, no LDS, no barrier",
        _VLP,
        machine="mi60",
    ),
    Entry(
        "dgemm-vega-vlp",
        dgemm_vega_vlp,
        "double-precision C = A B + beta C like AMD's VLP SGEMM, of which its readme has the counts",
        _VLP,
        machine="mi60",
    ),
    Entry(
        "sg4",
        sg4,
        "single-precision C = A B in tiles of 128 by 128 by 8, 8 by 8 per thread, column-major",
        (
            integer("m", 256, "rows of C, a multiple of 128"),
            integer("n", 256, "columns of C, a multiple of 128"),
            integer("k", 1024, "inner size, a multiple of 8"),
        ),
        machine="wide",
    ),
)
