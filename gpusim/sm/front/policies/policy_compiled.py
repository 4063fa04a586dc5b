"""What Numba makes of registered policies, and of the call by which engines ask them: imported to compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba import types
from numba.core.errors import NumbaError
from numba.extending import intrinsic, overload

from gpusim.sm.front.policies.policy_code import call
from gpusim.sm.jit.compiler import primitives  # noqa: F401  (forms that policies call)
from gpusim.sm.jit.compiler.demanded import call_at, register
from gpusim.sm.jit.compiler.kinds import KINDS
from gpusim.sm.jit.compiler.linking import OPTIONS
from gpusim.sm.records import Sm
from isa.errors import UserError

KIND = types.int64(KINDS[Sm], types.int64, types.int64)


def begin_of(name: str, function: Callable[..., Any]) -> tuple[int, Any]:
    """Return the address of a policy's code, and what keeps that; raises UserError if Numba can't compile it."""
    register()
    dispatcher = numba.njit(function, **OPTIONS)
    try:
        dispatcher.compile(KIND)
    except NumbaError as error:
        cause = next(line for line in str(error).splitlines() if line and not line.startswith("Failed in"))
        advice = "it takes and returns numbers, as those in gpusim/sm/front/policies/policies.py do"
        raise UserError(f"policy {name}: Numba cannot compile it: {cause}; {advice}") from None
    code = dispatcher.overloads[KIND.args]
    return int(code.library.get_pointer_to_function(code.fndesc.llvm_func_name)), dispatcher


@intrinsic
def _call(_typing: Any, code: Any, sm: Any, k: Any, eligible: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        begin, *rest = arguments
        return call_at(context, builder, begin, KIND, rest)

    return types.int64(code, sm, k, eligible), generate


# An overload is a function of types that returns the function to compile: here one lambda inside the other.
overload(call)(lambda code, sm, k, eligible: lambda code, sm, k, eligible: _call(code, sm, k, eligible))  # noqa: ARG005, PLW0108
