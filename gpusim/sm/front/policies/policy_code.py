"""Registered policies as compiled code that the engines call by address, so that no engine is compiled again."""

from __future__ import annotations

from typing import Any

import numba
from numba import types
from numba.core.errors import NumbaError
from numba.extending import intrinsic, overload

from gpusim.sm.front.policies.declaration import REGISTERED, Policy
from gpusim.sm.jit.kinds import KINDS
from gpusim.sm.jit.on_demand import begin_of, call_at
from gpusim.sm.jit.rule import COMPILED, OPTIONS
from gpusim.sm.records import Sm
from isa.errors import UserError

CALLED: dict[int, tuple[Policy, Any]] = {}  # by code; keeps the called code in memory
KIND = types.int64(KINDS[Sm], types.int64, types.int64)


def code_of(name: str) -> int:
    """Return the code by which `call` calls the registered policy of that name: an address, if rules are compiled.

    Raises UserError if Numba cannot compile it.
    """
    function = REGISTERED[name]
    for code, (known, _) in CALLED.items():
        if known is function:
            return code
    dispatcher = numba.njit(function, **OPTIONS)
    code = _begin_of(name, dispatcher) if COMPILED else len(CALLED) + 1
    CALLED[code] = function, dispatcher
    return code


def call(code: int, sm: Sm, k: int, eligible: int) -> int:
    """Ask the registered policy that has this code."""
    return CALLED[int(code)][0](sm, k, eligible)


def _begin_of(name: str, dispatcher: Any) -> int:
    try:
        return begin_of(dispatcher, KIND)
    except NumbaError as error:
        cause = next(line for line in str(error).splitlines() if line and not line.startswith("Failed in"))
        advice = "it takes and returns numbers, as those in gpusim/sm/front/policies/policies.py do"
        raise UserError(f"policy {name}: Numba cannot compile it: {cause}; {advice}") from None


@intrinsic
def _call(_typing: Any, code: Any, sm: Any, k: Any, eligible: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        begin, *rest = arguments
        return call_at(context, builder, begin, KIND, rest)

    return types.int64(code, sm, k, eligible), generate


# An overload is a function of types that returns the function to compile: here one lambda inside the other.
overload(call)(lambda code, sm, k, eligible: lambda code, sm, k, eligible: _call(code, sm, k, eligible))  # noqa: ARG005, PLW0108
