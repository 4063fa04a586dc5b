"""Make a draft of a launch one that runs: larger buffers and shared memory, other blocks, zeros in place of indices."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs

from gpusim.launch.file import prepare
from gpusim.launch.file.document import Argument, Contents, LaunchFile
from gpusim.launch.file.draft.template import Draft
from gpusim.launch.file.source import Source
from gpusim.simulation.draft.accessed import Accessed, Budget, accessed, check
from isa.architecture import nvidia
from isa.errors import ExecutionError, UserError
from isa.kernel import Kernel
from isa.nvidia.file.code import Code
from isa.nvidia.host.text import bare
from isa.nvidia.lowering.lower import LoweringError

ROOMS = 1 << 22, 1 << 26, 1 << 28  # bytes of each buffer that is tried
MOST_ROOM = 3 << 30  # of all buffers: their addresses have 32 bits
SHARED = 1 << 17  # bytes of dynamic shared memory that are tried
MORE, TRIES = 4, 8  # by how much buffers grow, and how often, where nothing says how much is accessed
MOST_TRIED = 24  # launches, with one Budget for all
_OF_PTX = re.compile(r"\.extern\s+\.shared\b")
_SHARED, _BEYOND = "of shared memory; ", "lie in no buffer"  # parts of messages (isa/executing/faults.py)
_SMALL = 32, 1  # what counts are, where larger ones lead nowhere


def fitted(code: Code, name: str, drafts: Sequence[Draft], file: str, source: str = "") -> Draft:
    """Return the first of some drafts of a kernel whose blocks end without a fault, with buffers of a size that suits.

    Where there is none, it is the first, with its fault. `file` is the code's name, `source` its text if it has one.
    """
    left, fault, budget, extern = MOST_TRIED, "", Budget(), _has_extern(source)
    for draft in drafts:
        for given in islice(_variants(draft), left):
            left = 0 if budget.spent else left - 1
            try:
                return _told(_grown(code, name, given, file, budget, extern=extern), fault)
            except LoweringError as error:
                return replace(drafts[0], fault=str(error))
            except UserError as error:
                fault = fault or str(error)
                if _SHARED in str(error):  # which other numbers seldom change, but other blocks do
                    break
    return replace(drafts[0], fault=fault)


def _told(draft: Draft, fault: str) -> Draft:
    """Return a draft that tells with what a likelier one ended, if one did."""
    return replace(draft, said=f"{draft.said} A likelier launch ended with: {fault}".strip()) if fault else draft


def _variants(draft: Draft) -> Iterator[Draft]:
    """Yield a draft, then others of its sizes: with zeros in buffers of whole numbers, with smaller counts, or both."""
    seen = list[LaunchFile]()
    for most in (None, *_SMALL):
        file = draft.file if most is None else _with_counts(draft.file, most)
        for one in (file, _with_zeros(file)):
            if one not in seen:
                seen.append(one)
                yield draft.with_file(one)


def _with_zeros(file: LaunchFile) -> LaunchFile:
    return _changed(file, lambda one: structs.replace(one, fill="zero") if one.fill == "iota" else one)


def _with_counts(file: LaunchFile, most: int) -> LaunchFile:
    return structs.replace(file, argument=[_with_count(one, most) for one in file.argument])


def _with_count(one: Argument, most: int) -> Argument:
    whole = isinstance(one.value, int) and not isinstance(one.value, bool) and one.value > most
    return structs.replace(one, value=most) if whole else one


def _changed(file: LaunchFile, rule: Callable[[Any], Any]) -> LaunchFile:
    """Return a launch file with another description of each buffer."""
    return structs.replace(
        file, argument=[rule(one) for one in file.argument], buffer=[rule(one) for one in file.buffer]
    )


def _has_extern(source: str) -> bool:
    """Tell whether a source declares shared memory whose size is the launch's."""
    text = bare(source)
    statements = (set(re.findall(r"\w+", one)) for one in re.split(r"[;{}]", text))
    return _OF_PTX.search(text) is not None or any({"extern", "__shared__"} <= words for words in statements)


def _grown(code: Code, name: str, draft: Draft, file: str, budget: Budget, *, extern: bool) -> Draft:
    """Return a draft with room for all that its blocks access; raises UserError for another fault of theirs."""
    dynamic = draft.file.shared if draft.said else 0
    may_grow = _declared(code, name) <= 0 or extern
    asked = max(dynamic, SHARED) if may_grow and not dynamic else dynamic
    found = _tried(code, draft.file, file, asked, budget)
    own = _kernel(code, structs.replace(draft.file, shared=0), file).program.shared_bytes
    shared = dynamic or (max(0, -(-(found.shared - own) // 16) * 16) if may_grow else 0)
    sized = _changed(draft.file, lambda one: _sized(one, found))
    launch, grows = structs.replace(sized, shared=shared), may_grow and not dynamic
    return draft.with_file(_confirmed(code, launch, file, budget, grows=grows))


def _declared(code: Code, name: str) -> int:
    """Return the bytes of shared memory that a kernel declares."""
    function = code.cubin.functions[name] if code.cubin else None
    return function.shared_bytes - nvidia(code.architecture).system_before if function else 0


def _tried(code: Code, launch: LaunchFile, file: str, shared: int, budget: Budget) -> Accessed:
    """Return how much blocks access where buffers have much room; raises UserError for a fault all the same."""
    count = sum(map(_grows, [*launch.argument, *launch.buffer]))
    for room in ROOMS:
        roomy = _changed(launch, partial(_with_room, room=room))
        try:
            return accessed(_kernel(code, structs.replace(roomy, shared=shared), file), budget)
        except ExecutionError as error:
            if _BEYOND not in str(error) or room == ROOMS[-1] or room * 16 * count > MOST_ROOM:
                raise
    raise AssertionError


def _confirmed(code: Code, launch: LaunchFile, file: str, budget: Budget, *, grows: bool) -> LaunchFile:
    """Return a launch that runs as it is; buffers and shared memory grow where it does not.

    What the copy engine accesses is not seen beforehand.
    """
    for _ in range(TRIES):
        try:
            check(_kernel(code, launch, file), budget)
        except ExecutionError as error:
            if _SHARED in str(error) and grows:
                launch = structs.replace(launch, shared=max(1024, 2 * launch.shared))
            elif _BEYOND not in str(error):
                raise
            else:
                launch = _changed(launch, lambda one: _with_room(one, MORE * _nbytes(one)))
            fault = error
        else:
            return launch
    raise fault


def _kernel(code: Code, launch: LaunchFile, file: str) -> Kernel:
    """Return the kernel of a launch in which no load may leave its buffer."""
    made = prepare.kernel(Source(Path(file).with_suffix(".toml"), launch, (), {}), code, file)
    return replace(made, page_bytes=0)


def _grows(one: Contents) -> bool:
    """Tell whether a buffer may have more elements."""
    return bool(one.buffer) and not (
        one.file or one.fill.startswith("values") or getattr(one, "texture", None) or getattr(one, "tensor_map", None)
    )


def _itemsize(one: Contents) -> int:
    return 1 if one.buffer == "bool" else np.dtype(one.buffer).itemsize


def _nbytes(one: Contents) -> int:
    return one.elements * _itemsize(one) if _grows(one) else 0


def _with_room(one: Contents, room: int) -> Contents:
    return structs.replace(one, elements=max(one.elements, room // _itemsize(one))) if _grows(one) else one


def _sized(one: Contents, found: Accessed) -> Contents:
    return _with_room(one, -(-found.buffers.get(one.name, 0) // 8) * 8)
