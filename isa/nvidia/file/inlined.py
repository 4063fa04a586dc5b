"""The line of source to which an instruction counts, of those through which its code was inlined.

Code of a header that comes with the compiler or the system counts to the line of the user's own file that calls it. A
function of the user's own files has its own lines, wherever it is inlined.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from isa.reading.origin import NOWHERE, PlaceInSource

_FOREIGN = re.compile(
    r"/(usr/include|usr/lib\w*|usr/local/cuda[^/]*|opt/cuda[^/]*|hpc_sdk|nvidia gpu computing toolkit)/"
    r"|/cuda-\d+(\.\d+)*/(targets/[^/]+/|bin/\.\./)?include/"
    r"|/site-packages/nvidia/|/targets/[^/]+/include/|/cuda/v?\d[^/]*/include/"
)


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a source file, 0 for none, and the place of a header whose code was inlined there."""

    file: str
    line: int
    inlined: PlaceInSource = NOWHERE


NO_SOURCE = SourceLine("", 0)


def attributed(chain: Sequence[PlaceInSource]) -> SourceLine:
    """Return the line to which code counts: `chain` is its own place, then the call that inlined it, and so on.

    It is the first in a file of the user's own, else the last of all.
    """
    place = next((one for one in chain if not is_foreign(one[0])), chain[-1])
    return SourceLine(*place, NOWHERE if place == chain[0] else chain[0])


def is_foreign(file: str) -> bool:
    """Tell whether a file comes with the compiler or the system, by its path."""
    return bool(_FOREIGN.search(file.replace("\\", "/").lower()))
