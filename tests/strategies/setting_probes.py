"""Few kernels that together use every mechanism that a number of a machine describes, for tests of settings."""

from __future__ import annotations

from collections.abc import Iterator

from gpusim.machine.machine import Machine
from gpusim.sm.front.fetch.declaration import Fetch
from gpusim.sm.memory.cache.declaration import tagged
from isa.kernel import Kernel
from isa.text import listing
from workloads.catalog import make

ARITHMETIC = {  # by unit class; R4 to R11 are written, R0 is a lane's number
    "fp32": "FFMA {d}, {d}, R0, {d}",
    "fmul": "FMUL {d}, {d}, R0",
    "minmax": "IMNMX {d}, {d}, R0, PT",
    "int": "IADD {d}, {d}, R0",
    "imul": "IMAD {d}, {d}, R0, {d}",
    "wide": "IMUL.HI {d}, {d}, R0",
    "shift": "SHR {d}, {d}, 1",
    "logic": "LOP.AND {d}, {d}, R0",
    "permute": "PRMT {d}, {d}, 0x3210, R0",
    "bits": "POPC {d}, {d}",
    "dot": "IDP.4A {d}, {d}, R0, {d}",
    "convert": "I2F {d}, {d}",
    "fp16": "HFMA2 {d}, {d}, R0, {d}",
    "fp16m": "HFMA2.MMA {d}, {d}, R0, {d}",
    "shuffle": "SHFL.BFLY {d}, {d}, 1",
    "vote": "VOTE.BALLOT {d}, P0",
    "reduce": "REDUX.SUM {d}, {d}",
    "compare": "ISETP.LT P0, {d}, R0",
    "move": "MOV {d}, {d}",
    "uniform": "UIADD3 R20, R20, 1, R20",
    "dp": "DFMA {d}, {d}, {d}, {d}",
    "sfu": "MUFU.RCP {d}, {d}",
    "special": "S2R {d}, LANEID",
}
GCN = {
    "fp32": "V_FMA_F32 {d}, {d}, v0, {d}",
    "fmul": "V_MUL_F32 {d}, {d}, v0",
    "int": "V_ADD_U32 {d}, {d}, v0",
    "imul": "V_MUL_LO_U32 {d}, {d}, v0",
    "wide": "V_MUL_HI_I32 {d}, {d}, v0",
    "shift": "V_LSHLREV_B32 {d}, 1, {d}",
    "logic": "V_AND_B32 {d}, {d}, v0",
    "convert": "V_CVT_F32_I32 {d}, {d}",
    "compare": "V_CMP_LT_I32 VCC, {d}, v0",
    "move": "V_MOV_B32 {d}, {d}",
    "uniform": "S_ADD_U32 s8, s8, 1",
    "dp": "V_FMA_F64 {p}, {p}, {p}, {p}",
    "sfu": "V_RCP_F32 {d}, {d}",
    "special": "S2R {d}, LANEID",
}
START = """S2R R0, TID.X
SHL R1, R0, 2
IADD R2, R1, c[a]
IADD R3, R1, c[b]
MOV R4, R0
MOV R6, R0
MOV R8, R0
MOV R10, R0
"""
GCN_START = """S2R v0, TID.X
V_LSHLREV_B32 v1, 2, v0
V_ADD_U32 v2, v1, c[a]
V_ADD_U32 v3, v1, c[b]
V_MOV_B32 v4, v0
S_MOV_B32 s8, 1
S_MOV_B32 s10, c[w]
"""
CODED = """[B------:R-:W0:-:S02] S2R R0, TID.X
[B0-----:R-:W-:-:S06] SHL R1, R0, 2
[B------:R-:W-:-:S06] IADD R2, R1, c[a]
[B------:R0:W1:-:S01] LDG R4, [R2]
[B------:R-:W-:Y:S04] FFMA R8, R6.reuse, R7.reuse, R12
[B------:R-:W-:-:S01] FFMA R9, R6.reuse, R7, R13
[B------:R-:W-:Y:S02] FFMA R10, R6, R7, R14
[B0-----:R-:W-:-:S05] MOV R2, R1
[B-1----:R-:W-:-:S05] IADD R4, R4, 1
[B------:R-:W-:-:S01] STS [R1], R4
[B------:R-:W-:-:S12] IADD R16, R4, 1
[B------:R-:W-:-:S01] EXIT
"""
LOADS = {  # one through each cache that keeps tags, at the byte R5
    "l1": "IADD R6, R5, c[a]\nLDG R8, [R6]\nIADD R8, R8, 1\n",
    "l2": "IADD R6, R5, c[a]\nLDG R8, [R6]\nIADD R8, R8, 1\n",
    "l2_partition": "IADD R6, R5, c[a]\nLDG R8, [R6]\nIADD R8, R8, 1\n",
    "constant_cache": "IADD R6, R5, c[a]\nLDC R8, [R6]\nIADD R8, R8, 1\n",
    "scalar_cache": "S_ADD_U32 s12, s8, c[a]\nS_LOAD_DWORD s16, s12, 0\nS_WAITCNT lgkmcnt(0)\nS_ADD_U32 s18, s16, 1\n",
}
WIDE = "LDG.64 R8", "LDG.128 R8"
SMALL = ((60, 96, 0), (60, 64, 9000), (30, 320, 1500), (12, 512, 0), (120, 32, 0))  # blocks, threads, shared bytes


def probes(machine: Machine) -> Iterator[Kernel]:
    """Yield the kernels that a machine runs; those named long use the instruction caches only."""
    if machine.limits.warp_size == 64:
        yield from _gcn(machine)
        return
    units = [unit for unit in ARITHMETIC if unit in machine.unit]
    for threads in (32, 384):
        yield _listed(f"units-{threads}", START + _streams(ARITHMETIC, units), threads)
        yield _listed(f"memory-{threads}", START + _memory() + _others(machine), threads)
        yield _listed(f"loop-{threads}", START + _loop(), threads)
    yield _listed("strides", START + "".join(map(_strided, (1, 2, 3, 8, 17, 33))), 256)
    yield _listed("stores", START + "STG [R3], R0\nSTS [R1], R0\nSTL [RZ], R0\n", 64)
    yield _listed(
        "wide-strides", START + "".join(_wide_strided(n, width) for n in (4, 8, 33) for width in (64, 128)), 256
    )
    yield _listed("mixed", START + _among_others(units), 384)
    yield _listed("pairs", START + _pairs(), 256)
    yield _listed("crowd", START + _crowd(), 384)
    yield _listed("first", START + _first(), 512)
    if machine.match:
        yield from (_listed(f"matches-{threads}", START + _matches(), threads) for threads in (32, 384))
    if machine.constant_operand:
        yield _constants()
    if machine.write_back:
        yield _listed("write-back", START + _written_back(), 384)
    for section, load in LOADS.items():
        if tagged(machine) and getattr(machine, section) and section != "scalar_cache":
            yield from (_one_set(machine, section, load.replace("LDG R8", wide)) for wide in WIDE if "LDG" in load)
            yield _one_set(machine, section, load)
    if tagged(machine) and machine.texture_cache and machine.l2:
        yield _texels(machine)
    if tagged(machine) and machine.l1 and machine.l1.hashed:
        yield _beyond(machine.l1.bytes, machine.global_memory.line_bytes)
    yield _listed("coded", CODED, 256)
    for blocks, threads, shared in SMALL:
        text = "LDG R5, [R2]\nIADD R5, R5, 1\nBAR.SYNC 0\n" + ("LDS R6, [R1]\n" if shared else "MOV R60, R5\n")
        yield _listed(f"blocks-{threads}", START + text, threads, blocks, shared=shared)
    yield make("pointer-chase", {"footprint": "8192", "loads": "256"})
    yield make("register-banks", {"length": "60", "warps": "4"})
    yield make("register-banks", {"length": "60", "mapping": "kepler", "flagged": "2", "warps": "4"})
    yield make("throughput", {"op": "FFMA", "reuse": "on", "length": "32", "iterations": "2", "warps": "4"})
    if machine.fetch:
        yield from _long(machine.fetch)


def _one_set(machine: Machine, section: str, load: str, *, gcn: bool = False) -> Kernel:
    """Lines of one set of a cache, half as many again as it holds: twice, and in between their second sectors."""
    cache, line = getattr(machine, section), machine.global_memory.line_bytes
    stride, lines = cache.bytes // cache.ways, 3 * cache.ways // 2 + 1
    text = ("" if "{}" in load else "S_MOV_B32 s8, {}\n" if gcn else "MOV R5, {}\n") + load
    text = "".join(text.format(stride * i + sector) for sector in (0, 32, 0) for i in range(lines))
    make_one = _wave if gcn else _listed
    return make_one(
        f"{section}-set", ("" if gcn else START) + text, machine.limits.warp_size, words=stride * lines // 4 + line
    )


def _beyond(size: int, line: int) -> Kernel:
    """Two passes over half as much again as a cache has, a line for each lane: lines of all its sets make room."""
    turns = 3 * size // (2 * 32 * line)
    loads = "".join(f"LDG R{8 + i % 32}, [R5+{32 * line * (i % turns)}]\n" for i in range(2 * turns))
    text = f"S2R R5, LANEID\nIMUL R5, R5, {line}\nIADD R5, R5, c[a]\n{loads}"
    return _listed("beyond", text, 32, shared=0, words=3 * size // 8)


def _texels(machine: Machine) -> Kernel:
    """Texels of one set of the texture cache, one more than it holds, fetched again after the L2 has lost them."""
    cache, far, text = machine.texture_cache, machine.l2, START
    stride, behind = cache.bytes // cache.ways, far.bytes // far.ways
    places = [stride * i for i in range(cache.ways + 1)]
    fetches = "".join(f"MOV R6, {place // 4}\nTEX R8, tex[a], R6\nIADD R8, R8, 1\n" for place in places)
    for place in places:
        for n in range(1, 2 * far.ways + 1):
            text += f"MOV R5, c[a]\nIADD R5, R5, {place + n * behind}\nLDG R8, [R5]\n"
    text = START + fetches + text.removeprefix(START) + "IADD R8, R8, 1\n" + fetches
    return _listed("texels", text, 32, words=(places[-1] + (2 * far.ways + 1) * behind) // 4)


def _listed(
    name: str, text: str, threads: int, blocks: int = 1, *, warp: int = 32, shared: int = 16384, words: int = 16384
) -> Kernel:
    lines = [
        *(f".kernel {name}", f".grid {blocks}", f".block {threads}", f".warp {warp}", f".shared {shared}", ".local 64"),
        *(f".buffer a f32 {words} = iota", ".buffer b f32 16384", ".buffer w u32 64 = iota"),
    ]
    return listing.read("\n".join([*lines, text]))


def _streams(rows: dict[str, str], units: list[str], register: str = "R{}") -> str:
    """Instructions of each unit class, some that wait for each other and some that don't."""
    places = (4, 6, 8, 10, 4, 4, 6)
    texts = (rows[unit].format(d=register.format(d), p=f"v[{d}:{d + 1}]") for unit in units for d in places)
    return "".join(f"{text}\n" for text in texts)


def _memory() -> str:
    """Loads and stores of each width and memory; later ones wait for a full queue or for sources."""
    text = ""
    for kind, base in (("S", None), ("G", "c[a]"), ("L", None)):
        for step, dot in ((1, ""), (2, ".64"), (4, ".128")):
            text += f"SHL R5, R0, {step.bit_length() + 1}\n" + (f"IADD R5, R5, {base}\n" if base else "")
            text += "MOV R5, 0\n" if kind == "L" else ""
            text += "".join(f"ST{kind}{dot} [R5], R{8 + 4 * i}\nMOV R{8 + 4 * i}, 1\n" for i in range(4))
            text += "".join(f"LD{kind}{dot} R{8 + 4 * i}, [R5]\n" for i in range(4)) + "FADD R8, R8, R12\n"
            text += f"LD{kind}{dot} R8, [R5]\nFADD R8, R8, R12\nBAR.SYNC 0\n"
    return text


def _others(machine: Machine) -> str:
    """Atomics, half-warps with the same addresses, textures, constants."""
    text = "LOP.AND R5, R1, 0xfc\n"
    for access in ("ATOMS.ADD R8, [R5], R6", "ATOMS.CAS R8, [R5], R6, R4", "ATOMS.ADD RZ, [R5], 1"):
        text += f"{access}\nMOV R6, 1\n{access}\nIADD R8, R8, 1\n"
    text += "LOP.AND R5, R0, 15\nSHL R5, R5, 4\nLDS.128 R8, [R5]\nLDS.128 R12, [R5]\nIADD R8, R8, R12\n"
    text += "SHL R5, R0, 5\nTEX R8, tex[a], R5\nIADD R8, R8, 1\nTEX R9, tex[a], R5\n"
    text += "TEX.64 R10, tex[a], R4\nIADD R8, R9, 1\n"
    text += "LOP.AND R5, R1, 0xfc\nIADD R5, R5, c[b]\nATOMG.ADD R8, [R5], R6\nIADD R8, R8, 1\n"
    text += "RED.ADD [R5], R6\nRED.ADD [R5], R6\nMOV R6, 1\nATOMG.CAS R8, [R5], R6, R4\nMOV R6, 1\nIADD R8, R8, 1\n"
    if machine.constant_cache:
        text += "MOV R5, c[w]\nLDC R8, [R5]\nIADD R8, R8, 1\nLOP.AND R6, R1, 0xfc\nIADD R5, R5, R6\nLDC R9, [R5]\n"
        text += "IADD R8, R8, R9\nLDC R9, [R2]\nLDC R9, [R2+8192]\nIADD R8, R8, R9\nLDC R9, [R2]\nIADD R8, R8, R9\n"
    return text


def _loop() -> str:
    return "again:\nIADD R4, R4, 1\nISETP.LT P1, R4, 600\n@P1 BRA again\nBAR.SYNC 0\nBAR.SYNC 0\n"


def _constants() -> Kernel:
    """Constants some lines apart, each asked for when the one before it has come: near ones and far ones."""
    words = range(0, 160, 8)
    parameters = "".join(f".param p{n} = {n}\n" for n in range(160))
    return _listed("constants", parameters + "".join(f"IADD R4, R4, c[p{n}]\n" for n in words), 32)


def _strided(stride: int) -> str:
    """Lanes so many words apart, in shared and in global memory."""
    text = f"MOV R5, {4 * stride}\nIMUL R5, R5, R0\nLOP.AND R5, R5, 0xffc\n"
    text += "".join(f"LDS R{8 + i}, [R5+{4 * i}]\n" for i in range(4)) + "IADD R8, R8, R9\nIADD R5, R5, c[a]\n"
    return text + "".join(f"LDG R{8 + i}, [R5+{4 * i}]\n" for i in range(4)) + "IADD R8, R8, R9\nSTG [R5], R8\n"


def _wide_strided(stride: int, width: int) -> str:
    """Loads of so many bits from shared memory, at a stride of so many words of that width."""
    text = f"MOV R5, {stride * width // 8}\nIMUL R5, R5, R0\nLOP.AND R5, R5, {0x1000 - width // 8}\n"
    return text + f"LDS.{width} R8, [R5]\nIADD R8, R8, 1\nLDS.{width} R12, [R5]\nIADD R12, R12, R8\n"


def _among_others(units: list[str]) -> str:
    """Each unit class before and after others that are independent of it."""
    texts = (ARITHMETIC[unit].format(d="R6") for unit in units)
    return "".join(
        f"FFMA R8, R0, R0, R0\n{text}\nMOV R12, R0\nFFMA R14, R0, R0, R0\n{text}\nIADD R16, R0, 1\n" for text in texts
    )


def _first() -> str:
    """Warps add to one word after loops of different lengths: their results show their order."""
    text = "S2R R9, WARPID\n"
    for n in range(1, 40):
        text += f"IMUL R10, R9, {n}\nLOP.AND R10, R10, 7\non{n}:\nIADD R10, R10, -1\n" + "NOP\n" * (n % 6)
        text += f"ISETP.GE P0, R10, 0\n@P0 BRA on{n}\nATOMS.ADD R7, [RZ], 1\nIMAD R20, R20, 3, R7\n"
    return text


def _crowd() -> str:
    """More accesses than a queue holds, loads that all lanes share, and atomics whose results show their order."""
    text = "MOV R5, 0\nATOMS.ADD R7, [R5], 1\nSTG [R3], R7\nLDS.64 R8, [R5]\nIADD R8, R8, 1\n"
    text += "LDS.128 R12, [R5]\nIADD R12, R12, 1\nSHL R5, R0, 4\nLOP.AND R5, R5, 0x7ff\n" + "".join(
        f"LDS.128 R{8 + 4 * (i % 12)}, [R5]\n" for i in range(40)
    )
    return text + "FADD R8, R8, R12\n"


def _written_back() -> str:
    """Loads that come back while all that issues writes their bank."""
    adds = "".join(f"FFMA R{40 + 2 * i}, R1, R1, R1\n" for i in range(24))
    loads = ("LDS.64 R8, [RZ]\n", "LDS R8, [R1]\n" * 4, "".join(f"LDS.128 R{8 + 4 * i}, [R5]\n" for i in range(4)))
    return "SHL R5, R0, 4\nLOP.AND R5, R5, 0x7ff\n" + "".join(2 * (load + adds) for load in loads)


def _matches() -> str:
    """Comparisons of all lanes: of one value in a row, and of 32, each behind the last."""
    return "MATCH.ANY R8, RZ\nMATCH.ANY R10, RZ\n" * 3 + "IADD R8, R8, R10\n" + "MATCH.ANY R8, R0\nIADD R8, R8, 1\n" * 2


def _pairs() -> str:
    """Instructions that may issue in one turn, and share sources."""
    text = "LDG R20, [R2]\nFFMA R4, R4, R0, R4\nIADD R6, R6, R0\nLDS R9, [R1]\nFFMA R5, R4, R8, R12\n"
    text += (
        "FFMA R13, R4, R8, R16\nMUFU.RCP R10, R0\nFFMA R17, R4, R8, R20\nSTS [R1], R8\nIADD R6, R6, R9\nMOV R30, R20\n"
    )
    return text * 3


def _long(fetch: Fetch) -> Iterator[Kernel]:
    """Yield programs somewhat longer than each cache of instructions, of two rounds."""
    for lines in (fetch.l0_lines, fetch.l1_lines, fetch.l15_lines):
        body = "".join(
            f"FFMA R{8 + i % 32}, R0, R1, R{8 + i % 32}\n" for i in range(min((lines + 2) * fetch.line, 8000))
        )
        turn = "IADD R5, R5, 1\nISETP.LT P0, R5, 2\n@P0 BRA again\n"
        yield _listed("long", START + "MOV R5, 0\nagain:\n" + body + turn, 256)


def _gcn(machine: Machine) -> Iterator[Kernel]:
    units = [unit for unit in GCN if unit in machine.unit]
    for threads in (64, 512):
        yield _wave(f"units-{threads}", _streams(GCN, units, "v{}"), threads)
        yield _wave(f"memory-{threads}", "".join(map(_gcn_memory, (1, 2, 4))), threads)
        yield _wave(f"scalars-{threads}", _scalars(), threads)
    for threads in (64, 512):
        yield _listed(f"halves-{threads}", START + _halves(), threads, warp=64)
    yield _wave("mixed", _mixed(units) * 2 + "S_WAITCNT lgkmcnt(0)\n", 1024)
    for section in ("l1", "l2", "l2_partition") if tagged(machine) else ():
        if getattr(machine, section):
            far = "V_MOV_B32 v5, {}\nV_ADD_U32 v5, v5, c[a]\nGLOBAL_LOAD_DWORD v8, v5, off\nS_WAITCNT vmcnt(0)\n"
            for wide in ("DWORD v8", "DWORDX2 v[8:9]", "DWORDX4 v[8:11]"):
                yield _one_set(machine, section, far.replace("DWORD v8", wide), gcn=True)
    if tagged(machine) and machine.scalar_cache:
        yield _one_set(machine, "scalar_cache", LOADS["scalar_cache"], gcn=True)
    yield _wave("strides", "".join(map(_gcn_strided, (1, 2, 3, 16, 32))), 256)
    yield _wave("stores", "DS_WRITE_B32 v1, v0\nGLOBAL_STORE_DWORD v3, v0, off\n", 64)
    for blocks, threads, shared in ((60, 192, 0), (60, 64, 9000), (20, 1024, 0), (120, 64, 0)):
        text = "GLOBAL_LOAD_DWORD v5, v2, off\nS_WAITCNT vmcnt(0)\nS_BARRIER\n" + (
            "DS_READ_B32 v6, v1\n" if shared else ""
        )
        yield _wave(f"blocks-{threads}-{shared}", text + "S_WAITCNT lgkmcnt(0)\n", threads, blocks, shared=shared)
    yield _wave("registers", "V_MOV_B32 v130, 1\n", 64, 30, shared=0)
    yield _wave("scalar-registers", "S_MOV_B32 s98, 1\n", 64, 120, shared=0)
    yield make("pointer-chase", {"footprint": "8192", "loads": "256", "lanes": "64"})


def _wave(name: str, text: str, threads: int, blocks: int = 1, *, shared: int = 16384, words: int = 16384) -> Kernel:
    return _listed(name, GCN_START + text + "S_ENDPGM\n", threads, blocks, warp=64, shared=shared, words=words)


def _halves() -> str:
    """One half of some lines of local memory is stored, then the other half is loaded."""
    text = "LOP.AND R5, R0, 8\nISETP.EQ P0, R5, 0\nMOV R5, 0\n@P0 STL [R5], R0\n@P0 STL [R5+4], R0\n"
    return (
        text
        + "@!P0 LDL R8, [R5]\nIADD R8, R8, 1\n@P0 LDL R9, [R5]\n@!P0 LDL R9, [R5+4]\nIADD R9, R9, 1\nS_WAITCNT 0, 0\n"
    )


def _mixed(units: list[str]) -> str:
    """Each unit class in turn with the scalar one and others, so that waves drift apart."""
    texts = (GCN[unit].format(d="v6", p="v[6:7]") for unit in units)
    return "".join(
        f"{text}\nS_ADD_U32 s8, s8, 1\nV_FMA_F32 v8, v0, v0, v0\n{text}\nDS_READ_B32 v10, v1\n" for text in texts
    )


def _gcn_memory(words: int) -> str:
    """Accesses of so many words per lane to shared and to global memory, more than a counter counts."""
    bits, tail = 32 * words, {1: "", 2: "X2", 4: "X4"}[words]
    data = [f"v{8 + 4 * i}" if words == 1 else f"v[{8 + 4 * i}:{7 + 4 * i + words}]" for i in range(4)]
    text = f"V_LSHLREV_B32 v5, {words.bit_length() + 1}, v0\nV_AND_B32 v5, v5, 0xff0\n"
    text += "".join(f"DS_WRITE_B{bits} v5, {d}\nV_MOV_B32 v{8 + 4 * i}, 1\n" for i, d in enumerate(data))
    text += "".join(f"DS_READ_B{bits} {d}, v5\n" for d in data * 5) + "S_WAITCNT lgkmcnt(1)\nV_ADD_F32 v8, v8, v12\n"
    text += "S_WAITCNT lgkmcnt(0)\nV_ADD_U32 v5, v5, c[a]\n"
    text += "".join(f"GLOBAL_STORE_DWORD{tail} v5, {d}, off\nV_MOV_B32 v{8 + 4 * i}, 1\n" for i, d in enumerate(data))
    text += "".join(f"GLOBAL_LOAD_DWORD{tail} {d}, v5, off\n" for d in data * 17) + "S_WAITCNT vmcnt(1)\n"
    return text + "V_ADD_F32 v8, v8, v12\nS_WAITCNT vmcnt(0)\nS_BARRIER\n"


def _scalars() -> str:
    """Scalar loads near and far, a loop, and instructions that may issue in one turn."""
    text = "".join(f"S_LOAD_DWORDX4 s[{16 + 4 * i}:{19 + 4 * i}], s10, {16 * i}\n" for i in range(8))
    text += "S_WAITCNT lgkmcnt(0)\nS_ADD_U32 s8, s16, s20\nS_MOV_B32 s10, c[a]\n"
    for offset in (0, 64, 4096, 16384, 0, 32, 4096):
        text += f"S_LOAD_DWORD s12, s10, {offset}\nS_WAITCNT lgkmcnt(0)\nS_ADD_U32 s8, s8, s12\n"
    others = (
        "V_FMA_F32 v4, v4, v0, v4\nS_ADD_U32 s8, s8, 1\nGLOBAL_LOAD_DWORD v9, v2, off\nDS_READ_B32 v10, v1\nS_NOP 0\n"
    )
    loop = "S_MOV_B32 s8, 1\nagain:\nS_ADD_U32 s8, s8, 1\nS_CMP_LT_I32 s8, 20\nS_CBRANCH_SCC1 again\n"
    return text + others * 3 + loop + "S_WAITCNT vmcnt(0) lgkmcnt(0)\n"


def _gcn_strided(stride: int) -> str:
    text = f"V_MUL_LO_U32 v5, v0, {4 * stride}\nV_AND_B32 v5, v5, 0xffc\n"
    text += "".join(f"DS_READ_B32 v{8 + i}, v5 offset:{4 * i}\n" for i in range(4))
    text += "V_ADD_U32 v5, v5, c[a]\n" + "".join(
        f"GLOBAL_LOAD_DWORD v{12 + i}, v5, off offset:{4 * i}\n" for i in range(4)
    )
    return text + "S_WAITCNT vmcnt(0) lgkmcnt(0)\nGLOBAL_STORE_DWORD v5, v8, off\n"
