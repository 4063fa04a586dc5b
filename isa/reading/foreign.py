"""Texts that are no listings, but that users give as such: what they look like, and what to do with them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from isa.architecture import NVIDIA
from isa.errors import UserError
from isa.reading import input_file

_AMD = b"\xe0\x00"  # EM_AMDGPU, the machine in an ELF file's header
_READ = "|".join(map(str, NVIDIA))  # architectures whose SASS is read
_NAMES = f"{', '.join(map(str, NVIDIA[:-1]))} or {NVIDIA[-1]}"
_AS_SASS = (
    "SASS as disassemblers print it; let its name end in .sass, keep the encodings, "
    "and write a launch file: gpusim launch {stem}.sass"
)
_JSON = "JSON, which is no program; gpusim schema lists the documents"
# In this order: a disassembly may quote its source. None takes a time that grows faster than the text.
_LOOKS = (
    (
        re.compile(r"^-kernel name =|^-accelsim tracer version|^#BEGIN_TB", re.M),
        "a trace of Accel-Sim, which has neither values nor control codes; take the cubin that it was traced from, "
        "or its CUDA C (k.cu)",
    ),
    (
        re.compile(r'\A\s*\{.*"ConfigurationSpace"', re.S),
        "a search space in Kernel Tuner's T1 format, which is no program; give it to a search: "
        "gpusim sweep KERNEL --t1 {name}",
    ),
    (re.compile(r'\A\s*\{\s*"'), _JSON),
    (
        re.compile(r"\b__kernel\b|\bget_(global|local|group)_id\s*\("),
        "OpenCL C, which is not compiled here; write the kernel in CUDA C (k.cu)",
    ),
    (
        re.compile(rf"\bcode for sm_(?!({_READ})\b)(?P<number>\d+)|\bEF_CUDA_SM(?!({_READ})\b)(?P<other>\d+)"),
        f"SASS of an architecture that is not read; compile the CUDA C for sm_{_NAMES}: nvcc -arch=sm_75 -cubin",
    ),
    (
        re.compile(r"^[ \t]*(--|[0-9a-f]{2}):[-0-7]:[-0-7]:[-yY]:[-0-9a-f]\s", re.M),
        "a text for maxas or turingas; assemble it there and take the cubin, or write its control codes as gpusim has "
        "them: [B0-----:R-:W-:-:S06] (docs/listing.md)",
    ),
    (
        re.compile(r"^[ \t]*[sv]_\w++.*\bexec(_lo|_hi)?\b|_SAVEEXEC_", re.M | re.I),
        "GCN code that sets the mask of lanes (EXEC), which listings don't have; guard instructions with VCC, as in "
        "@VCC V_MOV_B32 v1, v2, or branch (docs/listing.md)",
    ),
    (
        re.compile(r"^[ \t]*\.(version|address_size|visible|entry)\b|\b(ld|st)\.(param|global|shared)\.\w", re.M),
        "PTX; let its name end in .ptx and write a launch file: gpusim launch {stem}.ptx",
    ),
    (
        re.compile(
            r"/\*[0-9a-f]{4,}\*/|/\* 0x[0-9a-f]{16} \*/|\.headerflags|^[ \t]*Function :|c\[0x[0-9a-f]+\]\[", re.M
        ),
        _AS_SASS,
    ),
    (
        re.compile(r"\b__global__\b|#include\s*[<\"]"),
        "CUDA C; let its name end in .cu and write a launch file: gpusim launch {stem}.cu",
    ),
)


class Foreign(NamedTuple):
    """The line of a text that gives it away, from 1, what it looks like, and what to do."""

    line: int
    words: str


def looks_like(text: str, name: str, *, sass: bool = False, json: bool = False) -> Foreign | None:
    """Return what a text of that name, which is no listing, looks like; None if that is unknown.

    With `sass` it is no SASS that is read, either, with `json` no JSON document.
    """
    known = {words for words, reads in ((_AS_SASS, sass), (_JSON, json)) if reads}
    for pattern, words in _LOOKS:
        if (found := pattern.search(text)) and words not in known:
            line = text.count("\n", 0, found.end()) + 1
            return Foreign(line, words.replace("{stem}", Path(name).stem).replace("{name}", name))
    return None


def of_file(name: str) -> str:
    """Return what a file looks like, and what to do; empty if there is no such file, or that is unknown."""
    if not name or not Path(name).is_file():
        return ""
    try:
        data = input_file.read(name, "")
    except UserError:
        return ""
    found = looks_like(data.decode(errors="replace"), name)
    return binary(data) or (found.words if found else "")


def binary(head: bytes) -> str:
    """Return what the first bytes of a file say that it is, and what to do, if that is nothing that is read here."""
    if head[:4] == b"\x7fELF" and head[18:20] == _AMD:
        return "machine code for an AMD GPU (HSACO), which is not read; write a listing of its GCN instructions"
    return ""
