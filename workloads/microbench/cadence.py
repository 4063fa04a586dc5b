"""GCN instructions in a row from each wave: cycles per instruction show how long one occupies its wave."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import MappingProxyType

import numpy as np

from isa.kernel import Buffer, Expectation, Kernel
from isa.text.assembler import assemble
from workloads.check import counts, fits, one_of

LANES = 64
WIDEST = 16  # bytes of a thread in each buffer

# By instruction: the text of the i-th. v1 is the byte offset of the thread's 16 bytes, v2 and v3 their addresses in `x`
# and `sink`, s0 the address of `x`. Loaded values go to four places in turn, and nothing reads them.
OPS: MappingProxyType[str, Callable[[int], str]] = MappingProxyType({
    "V_MAC_F32": lambda _: "V_MAC_F32 v4, v5, v6",
    "V_FMA_F32": lambda i: f"V_FMA_F32 v{8 + i % 8}, v4, v5, v6",
    "V_ADD_U32": lambda _: "V_ADD_U32 v4, v4, s0",
    "V_MUL_LO_U32": lambda i: f"V_MUL_LO_U32 v{8 + i % 8}, v4, v5",
    "V_RCP_F32": lambda i: f"V_RCP_F32 v{8 + i % 8}, v4",
    "V_FMA_F64": lambda i: f"V_FMA_F64 v[{8 + i % 4 * 2}:{9 + i % 4 * 2}], v[4:5], v[4:5], v[6:7]",
    "S_ADD_U32": lambda _: "S_ADD_U32 s4, s4, s0",
    "S_LOAD_DWORD": lambda i: f"S_LOAD_DWORD s{4 + i % 4}, s0, 0",
    "S_LOAD_DWORDX8": lambda i: f"S_LOAD_DWORDX8 s[{8 + i % 4 * 8}:{15 + i % 4 * 8}], s0, 0",
    "S_LOAD_DWORDX16": lambda i: f"S_LOAD_DWORDX16 s[{16 + i % 4 * 16}:{31 + i % 4 * 16}], s0, 0",
    "DS_READ_B32": lambda i: f"DS_READ_B32 v{8 + i % 4}, v7",
    "DS_READ_B64": lambda i: f"DS_READ_B64 v[{8 + i % 4 * 2}:{9 + i % 4 * 2}], v17",
    "DS_READ_B128": lambda i: f"DS_READ_B128 v[{20 + i % 4 * 4}:{23 + i % 4 * 4}], v1",
    "DS_WRITE_B32": lambda _: "DS_WRITE_B32 v7, v4",
    "DS_WRITE_B64": lambda _: "DS_WRITE_B64 v17, v[4:5]",
    "DS_WRITE_B128": lambda _: "DS_WRITE_B128 v1, v[20:23]",
    "GLOBAL_LOAD_DWORD": lambda i: f"GLOBAL_LOAD_DWORD v{8 + i % 4}, v18, off",
    "GLOBAL_LOAD_DWORDX4": lambda i: f"GLOBAL_LOAD_DWORDX4 v[{20 + i % 4 * 4}:{23 + i % 4 * 4}], v18, off",
    "GLOBAL_STORE_DWORD": lambda _: "GLOBAL_STORE_DWORD v19, v4, off",
})  # fmt: skip
PROLOGUE = """
    S2R v0, TID.X
    V_LSHLREV_B32 v1, 4, v0
    V_LSHLREV_B32 v7, 2, v0
    V_LSHLREV_B32 v17, 3, v0
    V_MOV_B32 v18, c[x]
    V_MOV_B32 v19, c[sink]
    S_MOV_B32 s0, c[x]
    V_MOV_B32 v5, 0
    V_MOV_B32 v6, 0
    S_BARRIER
""".removeprefix("\n")
EPILOGUE = """
    S_WAITCNT vmcnt(0) lgkmcnt(0)
    V_ADD_U32 v7, v7, c[out]
    GLOBAL_STORE_DWORD v7, v0, off
    S_ENDPGM
"""


def cadence(op: str = "V_MAC_F32", *, length: int = 64, warps: int = 1) -> Kernel:
    """Build a kernel of `length` instructions in a row from each of `warps` waves; each thread then stores its number.

    V_MAC_F32, V_ADD_U32 and S_ADD_U32 depend on the previous one, the others on none. All accesses to global memory go
    to one place. Raises UserError for an unknown op and numbers too small or large.
    """
    one_of("cadence", "op", op, tuple(OPS))
    counts("cadence", 1, length=length, warps=warps)
    fits("cadence", length + 16, length=length)
    threads = warps * LANES
    text = f".shared {threads * WIDEST}\n{PROLOGUE}" + "\n".join(OPS[op](i) for i in range(length)) + EPILOGUE
    place = np.arange(threads, dtype=np.int64)
    done = Expectation("out", place, place.astype(np.float64), np.zeros(threads))
    return Kernel(
        name="cadence",
        program=assemble(text),
        grid=(1, 1, 1),
        block=(threads, 1, 1),
        buffers=(Buffer("x", "<u4", LANES), Buffer("sink", "<u4", LANES), Buffer("out", "<u4", threads)),
        expected=partial(_always, done),
        warp_size=LANES,
        arguments={"op": op, "length": length, "warps": warps},
    )


def _always(done: Expectation, _: int) -> Expectation:
    return done
