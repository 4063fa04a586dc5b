"""Find the known name that the user probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

LONGEST = 100  # characters of a name that is compared: a longer one is not a typing error


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like this one, its own family first; None if none is similar.

    Names of a family begin with the same letters, such as h100 and h200, or are in the same section of a machine.
    """
    names = list(known)
    close = get_close_matches(name, names, n=max(1, len(names))) if len(name) <= LONGEST else []
    return next(iter([each for each in close if _letters(each) == _letters(name)] or close), None)


def _letters(name: str) -> str:
    return re.split(r"[^A-Za-z_]", name, maxsplit=1)[0].lower()
