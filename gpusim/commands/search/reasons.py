"""Why points of a search space were not simulated, for people."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from gpusim.support.plural import plural


def in_kinds(reasons: Sequence[str], wheres: Sequence[str] = ()) -> Iterator[str]:
    """Yield a line for each kind of reason, which counts those that differ only in numbers, and shows the first.

    `wheres` says of each reason which point it is of, if the point is to be shown.
    """
    whole = [f"{where}: {reason}" for where, reason in zip(wheres, reasons, strict=True)] if wheres else reasons
    kinds = [re.sub(r"\d+", "0", reason) for reason in reasons]
    texts: dict[str, dict[str, None]] = {}  # in order, each once
    for kind, text in zip(kinds, whole, strict=True):
        texts.setdefault(kind, {})[text] = None
    for kind, count in Counter(kinds).most_common():
        such = "such as " if len(texts[kind]) > 1 else ""
        yield f"not simulated: {plural(count, 'point')}, {such}{next(iter(texts[kind]))}"
