"""Search spaces by name, with the numbers of their constraints that a command line can set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import MappingProxyType

from isa.errors import UserError
from isa.reading import foreign
from workloads.catalog import arguments, nearest
from workloads.entries.entry import Parameter
from workloads.papers.kurzak.stencil_space import SIDE, WORDS, stencil_space
from workloads.papers.lai.lai_space import lai_space
from workloads.space import Space

CUDA = ".cu"


@dataclass(frozen=True, slots=True)
class Entry:
    """One search space; `function` takes the parameters by name, `machine` is an example of a machine to tune for."""

    name: str
    function: Callable[..., Space]
    description: str
    parameters: tuple[Parameter, ...]
    machine: str


def find(name: str) -> Entry:
    """Return the entry of the named space; raises UserError with the nearest name if there is none."""
    if name not in SPACES:
        if name.endswith(CUDA):
            raise UserError(f"{name}: CUDA C; give a space file that names it as source (gpusim schema space-file)")
        if what := foreign.of_file(name):
            raise UserError(f"{name}: no search space of gpusim: looks like {what}")
        raise UserError(f"no search space {name}{nearest(name, SPACES)}; there are {', '.join(SPACES)}")
    return SPACES[name]


def make_space(name: str, texts: Mapping[str, str]) -> Space:
    """Build the named space with the numbers given as text, the others at their defaults.

    Raises UserError for an unknown space or number, and a value that is not allowed.
    """
    entry = find(name)
    return entry.function(**arguments(name, entry.parameters, texts))


def split(name: str, texts: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Separate the texts of the named space's numbers from the others; raises UserError for an unknown space."""
    own = {parameter.name for parameter in find(name).parameters}
    mine = {key: text for key, text in texts.items() if key in own}
    return mine, {key: text for key, text in texts.items() if key not in own}


def _fraction(text: str) -> Fraction:
    """Return a fraction or a decimal; raises ValueError unless it is above 0."""
    try:
        value = Fraction(text)
    except ZeroDivisionError:
        value = Fraction(0)
    if value <= 0:
        raise ValueError(text)
    return value


_OCCUPANCY = Parameter(
    "occupancy", Fraction(1, 3), _fraction, "a number above 0", "least share of the threads that an SM holds"
)
_STENCIL = (
    _OCCUPANCY,
    Parameter("loads", Fraction(2), _fraction, "a number above 0", "most real numbers loaded per FMA of elements"),
    Parameter("blocks", 2, int, "a whole number", "fewest resident blocks of an SM"),
    Parameter("side", SIDE, int, "a whole number", "largest value of each of the nine numbers"),
    Parameter(
        "layout", "nn", str, "n, t or c twice", "n: as stored, t: transposed, c: conjugated too, for A and for B"
    ),
)
_NAMES = {"s": "single", "d": "double", "c": "complex single", "z": "complex double"}
_ENTRIES = (
    *(
        Entry(
            f"{precision}gemm",
            partial(stencil_space, precision),
            f"the nine numbers of the GEMM stencil in {_NAMES[precision]} precision (Kurzak et al., PPAM 2011)",
            _STENCIL,
            "c2050",
        )
        for precision in WORDS
    ),
    Entry(
        "sgemm-lai",
        lai_space,
        "register blocking, width of shared loads, prefetch and order of Lai and Seznec's SGEMM (RR-7923, 2012)",
        (_OCCUPANCY,),
        "gtx580-1566",
    ),
)

SPACES: Mapping[str, Entry] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
