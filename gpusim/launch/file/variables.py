"""Initial values of `__constant__` and `__device__` variables in place of those that the code has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gpusim.launch.file import elements
from gpusim.launch.file.document import Initial
from gpusim.launch.file.source import Source
from isa.nvidia.file.cubin import Cubin, Variable
from isa.nvidia.file.names import named
from isa.reading.source import suggest

_TABLE = {True: "constants", False: "globals"}
_WHAT = {True: "__constant__", False: "__device__"}


def with_values(source: Source, cubin: Cubin | None) -> Cubin | None:
    """Return the file's contents with the values that a launch file gives its variables; raises UserError."""
    given = [(constant, _given(source, constant)) for constant in (True, False)]
    if cubin is None:
        for constant, values in given:
            for name in values:
                key = f"{_TABLE[constant]}.{name}"
                raise source.refusal(key, f"{name}: a text has no variables; launch the cubin")
        return None
    banks = {constant: bytearray(cubin.constants if constant else cubin.memory) for constant in (True, False)}
    for constant, values in given:
        for variable, data in _placed(source, cubin, constant, values):
            banks[constant][variable.offset : variable.offset + len(data)] = data
    return replace(cubin, constants=bytes(banks[True]), memory=bytes(banks[False]))


def found(cubin: Cubin, name: str) -> Variable | None:
    """Return the variable of a plain or mangled name; None if there is none, or several."""
    meant = named(name, tuple(cubin.variables))
    return cubin.variables[meant[0]] if len(meant) == 1 else None


def _given(source: Source, constant: bool) -> Mapping[str, Initial]:
    return source.file.constants if constant else source.file.globals


def _placed(
    source: Source, cubin: Cubin, constant: bool, values: Mapping[str, Initial]
) -> Iterator[tuple[Variable, bytes]]:
    """Yield each variable of a table with its bytes."""
    for name, initial in values.items():
        key = f"{_TABLE[constant]}.{name}"
        variable = found(cubin, name)
        if variable is None:
            known = [one for one, v in cubin.variables.items() if v.constant == constant]
            raise source.refusal(key, f"no {_WHAT[constant]} variable {name}; {suggest(name, known)}")
        if variable.constant != constant:
            raise source.refusal(key, f"{name} is {_WHAT[not constant]}; write it under [{_TABLE[not constant]}]")
        data = _data(source, key, initial)
        if len(data) > variable.size:
            raise source.refusal(key, f"{len(data)} bytes for {name}, which has {variable.size}; give fewer values")
        yield variable, data


def _data(source: Source, key: str, initial: Initial) -> bytes:
    if bool(initial.file) == bool(initial.values):
        raise source.refusal(key, "a variable without values; write type and values, or file")
    if initial.file:
        return elements.array(source, f"{key}.file", initial.file).tobytes()
    return elements.listed(source, f"{key}.values", initial.values, initial.type).tobytes()
