"""Tensor maps that the copy engine has at hand: it fetches one when a copy first needs it, or UTMACCTL.PF asks for it.

It keeps the last MAPS of them until UTMACCTL.IV makes it forget them.
"""

from __future__ import annotations

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import rarely
from gpusim.sm.records import Sm
from gpusim.sm.unit.capacities import MAPS


@rarely
def there(sm: Sm, place: int, now: int) -> int:
    """Return when the map at a place of global memory is at hand, if a copy or the program asks for it now."""
    engine = sm.engine
    for i in range(MAPS):
        if engine.maps[i] == place + 1:
            return int(engine.there[i])
    i = engine.fetched % MAPS
    engine.fetched += 1
    engine.maps[i], engine.there[i] = place + 1, now + sm.machine.engine_map
    return int(engine.there[i])


@on_demand
def forget(sm: Sm) -> None:
    """Let the engine fetch each map again that is needed."""
    for i in range(MAPS):
        sm.engine.maps[i] = 0
