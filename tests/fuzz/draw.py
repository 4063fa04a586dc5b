"""Pairs of program and machine, drawn by the strategies of the tests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import hypothesis.strategies as st
from strategies import launches as strategies
from strategies.cache_choices import CACHES
from strategies.contention import banked_kernels, contended_kernels
from strategies.sketch import without_scalars
from strategies.waits import waited

from fuzz.pair import Pair, machine_of
from gpusim.machine import machine
from gpusim.machine.schema import EXTRAS, PIPE_UNITS
from gpusim.units.control_code import by_codes
from isa.errors import UserError
from isa.kernel import Kernel
from isa.text import listing

NAMED = re.compile(r"\b(\w+)[.\]]")
KERNELS, MACHINES = 3, 3  # of a batch, in all combinations
ROUNDS = (60, 100, 160, 250, 400)
WHAT_IF = {
    "what_if.shared_memory": ("banks", "conflict-free", "one-pass"),
    "what_if.barriers": ("wait", "wait", "pass"),
}
SCALARS = {"scalar_file.registers": 4000, "scalar_file.unit": 16, "scalar_file.per_warp": 102}
CONSTANTS = {key: values[0] for key, values in CACHES.items() if key.startswith("constant_cache")}
SMS = (1, 1, 1, 2, 3)
POISON = (  # accesses out of bounds and misaligned, a barrier of another count, one at which not all warps arrive
    "LDG R8, [RZ]",
    "STG [RZ+0x40], R8",
    "LDS.64 R8, [R1+4]",
    "LDG.128 R8, [R2+8]",
    "STS [R1+0x100000], R8",
    "LDL R8, [RZ+0x40]",
    "BAR.SYNC 0, 1024",
    "@P1 EXIT",
    "@P0 BAR.SYNC 2",
)


@st.composite
def batches(draw: st.DrawFn) -> list[Pair]:
    """Some programs, each on some machines; all of one warp size."""
    lanes = draw(st.sampled_from((32, 32, 32, 64)))
    texts = [draw(_texts(lanes)) for _ in range(KERNELS)]
    machines = [draw(sketched(lanes)) for _ in range(MACHINES)]
    return [Pair(text[waits], *made) for text in texts for waits, *made in machines]


@st.composite
def _texts(draw: st.DrawFn, lanes: int) -> tuple[str, str]:
    """A listing, without and with the waits that wait counters need; some with wrong codes or faults."""
    long, steady = strategies.looping_kernels(ROUNDS, (lanes,)), strategies.looping_kernels((3, 30), (lanes,))
    short = strategies.kernels(most_blocks=4, least=3, warp_sizes=(lanes,))
    racing = strategies.kernels(barriers=False, most_blocks=3, least=4, warp_sizes=(lanes,))
    single_warp = strategies.kernels(most_blocks=1, least=4, threads=(32, 20), warp_sizes=(lanes,))
    kinds = [*[long] * 8, steady, short, racing, single_warp, contended_kernels(warp_sizes=(lanes,))]
    kinds += [strategies.parting_kernels(), banked_kernels()] * (lanes == 32)
    kernel = draw(st.sampled_from(kinds).flatmap(lambda kind: kind))
    if draw(_seldom(16)):
        kernel = draw(_any_codes(kernel))
    texts = tuple(listing.write(k) for k in (kernel, replace(kernel, program=waited(kernel.program))))
    return draw(_poisoned(texts)) if draw(_seldom(25)) else texts


def _seldom(often: int) -> st.SearchStrategy[bool]:
    """True once in so many draws; the ends of the list are drawn more often."""
    return st.sampled_from([*[False] * (often - 2), True, False])


def _any_codes(kernel: Kernel) -> st.SearchStrategy[Kernel]:
    """The kernel with control codes that are right or wrong."""
    instructions = kernel.program.instructions
    codes = st.lists(strategies.controls(), min_size=len(instructions), max_size=len(instructions))
    return codes.map(
        lambda drawn: replace(
            kernel,
            program=replace(
                kernel.program,
                instructions=tuple(replace(i, control=c) for i, c in zip(instructions, drawn, strict=True)),
            ),
        )
    )


@st.composite
def _poisoned(draw: st.DrawFn, texts: Sequence[str]) -> tuple[str, ...]:
    """Listings with an additional instruction that may end the run."""
    line, share = draw(st.sampled_from(POISON)), draw(st.integers(30, 99))
    made = []
    for text in texts:
        lines = text.splitlines(keepends=True)
        if "EXIT" in line:  # it may make lanes diverge, which share scalar registers
            lines = without_scalars(lines)
        code = "[B------:R-:W-:-:S15] " if any(each.lstrip().startswith("[B") for each in lines) else ""
        lines.insert(len(lines) * share // 100, f"    {code}{line}\n")
        made.append("".join(lines))
    return tuple(made)


@st.composite
def sketched(draw: st.DrawFn, lanes: int) -> tuple[bool, str, Mapping[str, int | str], tuple[str, ...]]:
    """A machine: whether its programs wait for counts, its file, settings and the sections that it lacks."""
    name = draw(st.sampled_from(("gtx580", *machine.names())))
    tags = draw(st.sampled_from((False, False, False, True, False)))
    settings, lacking = draw(strategies.sketched_machines(lanes, tags=tags))
    if name == "gtx580":
        settings |= draw(_chosen(WHAT_IF)) if draw(_seldom(8)) else {}
    else:
        settings, lacking = draw(_grafted(name, settings)), frozenset()
    sms = draw(st.sampled_from(SMS))
    settings |= {"chip.sms": sms, "chip.dram_mbs": sms * int(settings.get("chip.dram_mbs", 190000))}
    settings = _fitting(name, settings)
    waits = machine_of(Pair("", name, settings)).wait_counters is not None
    return waits, name, settings, tuple(sorted(lacking)) if "cache.hits" in settings else ()


def _chosen(choices: Mapping[str, Sequence[int | str]]) -> st.SearchStrategy[dict[str, int | str]]:
    return st.fixed_dictionaries({path: st.sampled_from(values) for path, values in choices.items()})


@st.composite
def _grafted(draw: st.DrawFn, name: str, settings: Mapping[str, int | str]) -> dict[str, int | str]:
    """Some sections of a drawn machine on another file, whose pipes keep their names."""
    base = _base(name)
    pipes = [f"pipe.{pipe}.{key}" for pipe in base.pipe for key in ("lanes", "schedulers")]
    sections = sorted({path.partition(".")[0] for path in settings} - {"chip", "limits", "pipe", "joint", "blocked"})
    taken = {section for section in sections if draw(st.booleans())}
    found = {p: v for p, v in settings.items() if p.partition(".")[0] in taken and p in _paths(name)}
    found = {p: v for p, v in found.items() if not p.endswith(".pipe")}
    found = _lacked(name) | found | {"limits.warp_size": settings["limits.warp_size"]}
    found |= {"limits.blocks": settings["limits.blocks"]} if draw(st.booleans()) else {}
    for path in pipes if draw(st.booleans()) else ():
        found[path] = draw(st.sampled_from((4, 8, 16, 32) if path.endswith("lanes") else (1, 2, 4)))
    codes = by_codes(base) and found.get("dependence.rule", "codes") == "codes"
    return {path: value for path, value in found.items() if not (codes and path.startswith("wait_counters."))}


def _fitting(name: str, settings: Mapping[str, int | str]) -> dict[str, int | str]:
    """The settings without the sections that conflict with others of them, or of the file."""
    kept = {path: settings[path] for path in ("chip.sms", "chip.dram_mbs", "limits.warp_size")} | _lacked(name)
    left = kept | settings
    while True:
        try:
            machine_of(Pair("", name, left))
        except UserError as error:
            if left == kept:
                raise
            sections = {path.partition(".")[0] for path in left if path not in kept}
            wrong = next((word for word in NAMED.findall(str(error)) if word in sections), None)
            left = {path: value for path, value in left.items() if path.partition(".")[0] != wrong} if wrong else {}
            left |= kept
        else:
            return left


@cache
def _lacked(name: str) -> dict[str, int | str]:
    """Settings that instructions of the table need and the file lacks."""
    base = _base(name)
    units = [unit for unit in PIPE_UNITS if unit not in base.unit]
    pipe = {f"unit.{unit}.pipe": next(iter(base.pipe)) for unit in units}
    sections = {} if base.scalar_file else SCALARS
    sections |= {} if base.constant_cache else CONSTANTS
    return pipe | {f"unit.{unit}.latency": 18 for unit in units} | sections | {"limits.barriers": 16}


@cache
def _base(name: str) -> machine.Machine:
    return machine.load(name)


@cache
def _paths(name: str) -> frozenset[str]:
    return frozenset(machine.facts(name)) | frozenset(EXTRAS)
