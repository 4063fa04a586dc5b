"""Pairs of program and machine, drawn by the strategies of the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import hypothesis.strategies as st
from strategies import launches as strategies
from strategies.contention import banked_kernels, contended_kernels
from strategies.machine_files import few, fitting, grafted
from strategies.sketch import without_scalars
from strategies.waits import waited

from fuzz.pair import Pair, machine_of
from gpusim.machine import machine
from isa.kernel import Kernel
from isa.text import listing

KERNELS, MACHINES = 3, 3  # of a batch, in all combinations
ROUNDS = (60, 100, 160, 250, 400)
WHAT_IF = {
    "what_if.shared_memory": ("banks", "conflict-free", "one-pass"),
    "what_if.barriers": ("wait", "wait", "pass"),
    "what_if.lanes": ("apart", "apart", "side-by-side"),
    "what_if.l1": ("tags", "tags", "holds"),
    "what_if.l2": ("tags", "tags", "holds"),
    "what_if.atomics": ("in-turn", "in-turn", "at-once"),
}
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
    short = strategies.kernels(most_blocks=4, least=3, warp_sizes=(lanes,), copies=True)
    racing = strategies.kernels(barriers=False, most_blocks=3, least=4, warp_sizes=(lanes,), copies=True)
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
    name = draw(st.sampled_from(("gtx580", *["h200"] * 4, *machine.names())))
    tags = draw(st.sampled_from((False, False, False, True, False)))
    settings, lacking = draw(strategies.sketched_machines(lanes, tags=tags))
    if name == "gtx580":
        settings |= draw(_chosen(WHAT_IF)) if draw(_seldom(8)) else {}
    else:
        settings, lacking = draw(grafted(name, settings) | few(name, settings)), frozenset()
    sms = draw(st.sampled_from(SMS))
    settings |= {"chip.sms": sms, "chip.dram_mbs": sms * int(settings.get("chip.dram_mbs", 190000))}
    settings = fitting(name, settings)
    waits = machine_of(Pair("", name, settings)).wait_counters is not None
    return waits, name, settings, tuple(sorted(lacking)) if "cache.hits" in settings else ()


def _chosen(choices: Mapping[str, Sequence[int | str]]) -> st.SearchStrategy[dict[str, int | str]]:
    return st.fixed_dictionaries({path: st.sampled_from(values) for path, values in choices.items()})
