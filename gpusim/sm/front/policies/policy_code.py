"""Registered policies as compiled code that the engines call by address, so that no engine is compiled again."""

from __future__ import annotations

from typing import Any

from gpusim.sm.front.policies.declaration import REGISTERED, Policy
from gpusim.sm.jit.entry import FURTHER
from gpusim.sm.jit.rule import COMPILED
from gpusim.sm.records import Sm

CALLED: dict[int, tuple[Policy, Any]] = {}  # by code; keeps the called code in memory


def code_of(name: str) -> int:
    """Return the code by which `call` calls the registered policy of that name: an address, if rules are compiled.

    Raises UserError if Numba cannot compile it.
    """
    function = REGISTERED[name]
    for code, (known, _) in CALLED.items():
        if known is function:
            return code
    code, holder = _compiled(name) if COMPILED else (len(CALLED) + 1, None)
    CALLED[code] = function, holder
    return code


def call(code: int, sm: Sm, k: int, eligible: int) -> int:
    """Ask the registered policy that has this code."""
    return CALLED[int(code)][0](sm, k, eligible)


def _compiled(name: str) -> tuple[int, Any]:
    from gpusim.sm.front.policies import policy_compiled  # noqa: PLC0415  (start-up time)

    return policy_compiled.begin_of(name, REGISTERED[name])


def _compile_call() -> None:
    """Tell Numba how compiled code asks a policy."""
    from gpusim.sm.front.policies import policy_compiled  # noqa: F401, PLC0415  (start-up time)


FURTHER.append(_compile_call)
