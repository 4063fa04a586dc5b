"""Reduction kernels: an expression for each element, another that joins two of its values, over some axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from gpusim.api.cupy import bound as binding
from gpusim.api.cupy import layout
from gpusim.api.cupy.bound import Bound
from gpusim.api.cupy.header import beginning
from gpusim.api.cupy.launching import architecture, check_name, launch, module
from gpusim.api.cupy.layout import Laid, Shape
from gpusim.api.cupy.parameters import C_TYPES, Letters, c_type, matched, parsed, type_of, types
from isa.errors import UserError

BLOCK = 512  # threads
SIDE = 32  # results that lie side by side in memory, of which a warp's threads take one each
MOST = 1 << 62  # steps
Axis = int | Sequence[int] | None


class ReductionKernel:
    """A reduction, as `cupy.ReductionKernel` has it, on arrays of NumPy: a block or a part of one for each result.

    In `map_expr` stand the names of the inputs, in `reduce_expr` `a` and `b`, in `post_map_expr` `a` and the outputs.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: object = None,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: Sequence[str] = (),
    ) -> None:
        """Read the parameters; the kernel is compiled when it is called. Raises UserError for one that is none."""
        self.in_params, self.out_params = parsed(in_params), parsed(out_params)
        self.params = self.in_params + self.out_params
        self.map_expr, self.reduce_expr, self.post_map_expr = map_expr, reduce_expr, post_map_expr
        self.identity = "" if identity is None else str(identity)
        self.name, self.preamble, self.options = check_name(name), preamble, tuple(options)
        self.reduce_type, self.reduce_dims = reduce_type, reduce_dims

    def __call__(
        self, *args: Any, out: Any = None, axis: Axis = None, keepdims: bool = False, stream: object = None
    ) -> Any:
        """Run it on the card over these axes, all by default, and return the result; streams are all one.

        Raises UserError for arguments that don't fit, and for errors of the compiler.
        """
        first = len(self.in_params)
        given = matched(self.params, args if out is None else (*args, out), self.name, len(self.out_params))
        letters = types(reversed([*zip(self.params, given, strict=True)]))
        shape = self._shape(given[:first])
        over = _axes(axis, len(shape), self.name)
        if not self.identity and not all(shape[one] for one in over):
            raise UserError(f"{self.name}: nothing to reduce, and no identity; give identity=")
        left = tuple(1 if one in over else extent for one, extent in enumerate(shape) if keepdims or one not in over)
        pairs = zip(self.out_params, given[first:], strict=True)
        results = [binding.output(one, type_of(one, letters), value, left) for one, value in pairs]
        if all(left):
            plain = [np.squeeze(one, over) if keepdims else one for one in results]
            values = zip(self.params, (*given[:first], *plain), strict=True)
            each = [binding.bound(one, type_of(one, letters), value) for one, value in values]
            self._launch(each[:first], each[first:], shape, over, letters)
        return results[0] if len(results) == 1 else tuple(results)

    def _shape(self, inputs: Sequence[Any]) -> Shape:
        pairs = zip(self.in_params, inputs, strict=True)
        looped = [value for one, value in pairs if isinstance(value, np.ndarray) and not one.raw]
        if not looped:
            raise UserError(f"{self.name}: nothing says how many elements; give an array that is not raw")
        return binding.broadcast(looped, self.name)

    def _launch(
        self, inputs: Sequence[Bound], outputs: Sequence[Bound], shape: Shape, over: Sequence[int], letters: Letters
    ) -> None:
        kept = [axis for axis in range(len(shape)) if axis not in over]
        terms = prod(shape[axis] for axis in over)
        side = _side(next(one.along(shape, (*kept, *over)) for one in inputs if one.looped), len(kept), terms)
        loop, inner = binding.along(inputs, shape, (*kept, *over), join=self.reduce_dims)
        count, outer = binding.along(outputs, tuple(shape[axis] for axis in kept), join=self.reduce_dims)
        each = *inner, *outer
        made = module(self._source(inner, outer, (len(loop), len(count)), letters), self.options, architecture())
        passed = (*(one.passed for one in each), layout.index(loop), layout.index(count), np.int32(side))
        names = *(one.parameter.name for one in each), "_in_ind", "_out_ind", "_side"
        launch(made.get_function(self.name), -(-prod(count) // side), BLOCK, passed, names=names)

    def _source(self, inner: Sequence[Bound], outer: Sequence[Bound], axes: tuple[int, int], letters: Letters) -> str:
        """Return the text of the kernel for arguments of these types, over so many axes in, and out."""
        each = *inner, *outer
        joined = "_joined(_sum, _new)"
        return f"""\
{beginning(letters, (one.dtype for one in each))}
typedef {self._reduced(outer[0], letters)} _type_reduce;
{self.preamble}
__device__ _type_reduce _joined(const _type_reduce a, const _type_reduce b) {{ return {self.reduce_expr}; }}
extern "C" __global__ void {self.name}({", ".join(one.declared for one in each)},
        gpusim::Index<{axes[0]}> _in_ind, gpusim::Index<{axes[1]}> _out_ind, int _side) {{
    __shared__ __align__(16) char _bytes[{BLOCK} * sizeof(_type_reduce)];
    _type_reduce *const _held = reinterpret_cast<_type_reduce *>(_bytes);
    const int _lanes = {BLOCK} / _side, _lane = threadIdx.x / _side;
    const ptrdiff_t i = static_cast<ptrdiff_t>(blockIdx.x) * _side + threadIdx.x % _side;
    const ptrdiff_t n = _out_ind.size(), _terms = _in_ind.size() / n;
    _type_reduce _sum{f" = _type_reduce({self.identity})" if self.identity else ""};
    for (ptrdiff_t _j = _lane; i < n && _j < _terms; _j += _lanes) {{
        _in_ind.set(i * _terms + _j);
        {_elements(inner, "_in_ind", output=False)}
        const _type_reduce _new = static_cast<_type_reduce>({self.map_expr});
        _sum = {joined if self.identity else f"_j == _lane ? _new : {joined}"};
    }}
    _held[threadIdx.x] = _sum;
    for (int _half = _lanes / 2; _half; _half /= 2) {{
        __syncthreads();
        if (_lane < _half && _lane + _half < _terms)
            _held[threadIdx.x] = _joined(_held[threadIdx.x], _held[threadIdx.x + _half * _side]);
    }}
    if (i < n && _lane == 0) {{
        _out_ind.set(i);
        {_elements(outer, "_out_ind", output=True)}
        const _type_reduce a = _held[threadIdx.x];
        {self.post_map_expr};
    }}
}}
"""

    def _reduced(self, first: Bound, letters: Letters) -> str:
        """Return the type of what is reduced, in CUDA C: that of the first output, if none is given."""
        if self.reduce_type is None:
            return c_type(first.dtype)
        return self.reduce_type if self.reduce_type in letters else C_TYPES.get(self.reduce_type, self.reduce_type)


def _elements(each: Sequence[Bound], index: str, *, output: bool) -> str:
    return "\n        ".join(filter(None, (one.element(index, output=output) for one in each)))


def _axes(axis: Axis, count: int, name: str) -> tuple[int, ...]:
    """Return the axes to reduce, of so many; raises UserError for one that there isn't, and for one named twice."""
    given = range(count) if axis is None else axis if isinstance(axis, Sequence) else [axis]
    if not all(isinstance(one, int | np.integer) for one in given):
        raise UserError(f"{name}: axis={axis!r}; give whole numbers")
    found = tuple(sorted(one % count if -count <= one < count else count for one in given))
    if count in found[-1:] or len(set(found)) < len(found):
        raise UserError(f"{name}: axis={axis}; give axes of {count}, each once")
    return found


def _side(first: Laid, kept: int, terms: int) -> int:
    """Return how many results a block computes side by side, a power of two.

    As many as keep its threads busy, and neighbours in memory, so that a warp reads whole sectors.
    """
    wide = [axis for axis, extent in enumerate(first.shape) if extent > 1]
    nearest = min(wide, key=lambda axis: abs(first.strides[axis]) or MOST, default=-1)
    near = min(SIDE, first.shape[nearest]) if nearest == kept - 1 >= 0 else 1
    return min(BLOCK, max(1 << (near.bit_length() - 1), BLOCK >> max(0, terms - 1).bit_length(), 1))
