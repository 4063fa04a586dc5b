"""What NVIDIA's tools made of the same bytes before, kept in a folder of the cache (isa/support/cache_folder.py)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from isa.support import cache_folder

FOLDER = "sass"  # of the cache's directory; it may be deleted at any time


def kept(made_of: Iterable[str | bytes], make: Callable[[], bytes]) -> bytes:
    """Return what was made of these parts before, or make and keep it.

    The parts must be all that the result depends on: inputs, options, and the versions of the tools.
    """
    folder = _folder(os.environ.get(cache_folder.SETTING, ""))
    if folder is None:
        return make()
    path = folder / digest(made_of)
    found = cache_folder.read(path)
    if found is None:
        found = make()
        cache_folder.write(path, found)
    return found


def digest(parts: Iterable[str | bytes]) -> str:
    """Return the SHA-256 of a sequence of parts as hexadecimal digits; where a part ends counts too."""
    found = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        found.update(len(content).to_bytes(8, "little") + content)
    return found.hexdigest()


@cache
def _folder(setting: str) -> Path | None:
    place = cache_folder.directory(setting)
    return place and cache_folder.folder(place, FOLDER)
