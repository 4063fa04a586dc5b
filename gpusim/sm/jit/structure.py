"""An SM of a machine since Volta: compiled rules that get it take some of its machine's numbers as constants."""

from __future__ import annotations

from gpusim.sm.records import Sm


def since_volta(sm: Sm) -> Sm:
    """Return the same SM, whose machine's structure is known to compiled code: the numbers of `SINCE_VOLTA`."""
    return sm
