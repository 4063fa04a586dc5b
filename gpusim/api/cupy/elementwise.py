"""Element-wise kernels: an operation in CUDA C for each element of arrays that are broadcast together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpusim.api.cupy import bound as binding
from gpusim.api.cupy import layout
from gpusim.api.cupy.bound import Bound
from gpusim.api.cupy.header import beginning
from gpusim.api.cupy.launching import architecture, check_name, launch, module
from gpusim.api.cupy.layout import Shape
from gpusim.api.cupy.parameters import Letters, matched, parsed, type_of, types
from isa.errors import UserError

BLOCK = 128  # threads
MOST_BLOCKS = 2**31 - 1
_INDEX = "_ind"


class ElementwiseKernel:
    """An operation on each element, as `cupy.ElementwiseKernel` has it, on arrays of NumPy.

    In `operation` stand the names of the parameters, `i`, the index of the loop, `n`, its end, and `_ind`.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        *,
        options: Sequence[str] = (),
        loop_prep: str = "",
        after_loop: str = "",
    ) -> None:
        """Read the parameters; the kernel is compiled when it is called. Raises UserError for one that is none."""
        self.in_params, self.out_params = parsed(in_params), parsed(out_params)
        self.params = self.in_params + self.out_params
        self.operation, self.name, self.preamble = operation, check_name(name), preamble
        self.reduce_dims, self.no_return, self.return_tuple = reduce_dims, no_return, return_tuple
        self.options, self.loop_prep, self.after_loop = tuple(options), loop_prep, after_loop

    def __call__(self, *args: Any, size: int | None = None, stream: object = None, block_size: int = BLOCK) -> Any:
        """Run it on the card, and return the outputs, new ones if none are given; streams are all one.

        Raises UserError for arguments that don't fit, and for errors of the compiler.
        """
        threads = binding.whole("block_size", block_size, 1)
        given = matched(self.params, args, self.name, len(self.out_params))
        letters = types(reversed([*zip(self.params, given, strict=True)]))
        shape = self._shape(given, size)
        values = self._with_outputs(given, shape, letters)
        loop, each = self._bound(values, shape, letters)
        count = int(np.prod(loop))
        if count:
            made = module(self._source(each, len(loop), letters), self.options, architecture())
            blocks = min(-(-count // threads), MOST_BLOCKS)
            passed = (*(one.passed for one in each), layout.index(loop))
            names = *(one.name for one in self.params), _INDEX
            launch(made.get_function(self.name), blocks, threads, passed, names=names)
        return self._returned(values[len(self.in_params) :])

    def _shape(self, given: Sequence[Any], size: int | None) -> Shape:
        """Return the shape of the loop; raises UserError where arrays and size don't say one."""
        pairs = zip(self.params, given, strict=True)
        looped = [value for one, value in pairs if isinstance(value, np.ndarray) and not one.raw]
        if looped and size is not None:
            raise UserError(f"{self.name}: size={size} is for arrays that are all raw; leave it out")
        if not looped and size is None:
            raise UserError(f"{self.name}: nothing says how many elements; give size=, or an array that is not raw")
        return binding.broadcast(looped, self.name) if size is None else (binding.whole("size", size, 0),)

    def _with_outputs(self, given: Sequence[Any], shape: Shape, letters: Letters) -> tuple[Any, ...]:
        first = len(self.in_params)
        pairs = zip(self.out_params, given[first:], strict=True)
        return *given[:first], *(binding.output(one, type_of(one, letters), value, shape) for one, value in pairs)

    def _bound(self, values: Sequence[Any], shape: Shape, letters: Letters) -> tuple[Shape, list[Bound]]:
        """Return the shape of the loop with as few axes as possible, and the parameters with arrays along these."""
        pairs = zip(self.params, values, strict=True)
        each = [binding.bound(one, type_of(one, letters), value) for one, value in pairs]
        return binding.along(each, shape, join=self.reduce_dims)

    def _source(self, each: Sequence[Bound], axes: int, letters: Letters) -> str:
        """Return the text of the kernel for arguments of these types."""
        elements = "\n        ".join(
            text
            for number, one in enumerate(each)
            if (text := one.element(_INDEX, output=number >= len(self.in_params)))
        )
        return f"""\
{beginning(letters, (one.dtype for one in each))}
{self.preamble}
extern "C" __global__ void {self.name}({", ".join(one.declared for one in each)}, gpusim::Index<{axes}> {_INDEX}) {{
    const ptrdiff_t n = {_INDEX}.size(), _apart = static_cast<ptrdiff_t>(blockDim.x) * gridDim.x;
    {self.loop_prep};
    for (ptrdiff_t i = static_cast<ptrdiff_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += _apart) {{
        {_INDEX}.set(i);
        {elements}
        {self.operation};
    }}
    {self.after_loop};
}}
"""

    def _returned(self, outputs: Sequence[Any]) -> Any:
        if self.no_return:
            return None
        return outputs[0] if len(outputs) == 1 and not self.return_tuple else tuple(outputs)
