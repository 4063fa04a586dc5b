"""Arrays of numbers and of records, as rules see them: what an index or a slice of one gives.

At run time they are NumPy arrays, or Numba's. A number of a record is an `int` here, whatever its bits: where these
matter, rules convert (`np.uint64(...)`), and a Word is what an element may be set to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

T_co = TypeVar("T_co", covariant=True)
Index: TypeAlias = SupportsIndex
Word: TypeAlias = int | np.integer
Plain = NDArray[Any]  # of numbers, or of records: what NumPy's functions take and return
Columns = np.void  # a record while it is filled in, field by field by name, which is fast from Python


class Record:
    """A record: its fields are attributes, and one whose name is known only later is an item."""

    def __getitem__(self, name: str) -> Numbers:
        """Return that field."""
        raise NotImplementedError


class _Array(Protocol):
    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def size(self) -> int: ...

    def __len__(self) -> int: ...

    def __array__(self) -> Plain: ...


class Numbers(_Array, Protocol):
    """A row of numbers."""

    @overload
    def __getitem__(self, index: Index) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> Numbers: ...

    def __setitem__(self, index: Index | slice, value: Word | Numbers | Plain | Sequence[int]) -> None: ...

    def __iter__(self) -> Iterator[int]: ...

    def view(self, kind: type[np.integer], /) -> Plain:
        """Return the same bytes as numbers of another kind."""


class Memory(Numbers, Protocol):
    """The words of global, shared and local memory, and what caches keep: of 32 bits."""


class Table(_Array, Protocol):
    """Rows of numbers: two dimensions."""

    @overload
    def __getitem__(self, index: tuple[Index, Index]) -> int: ...

    @overload
    def __getitem__(self, index: Index | tuple[Index, slice] | tuple[slice, Index]) -> Numbers: ...

    @overload
    def __getitem__(self, index: slice) -> Table: ...

    def __setitem__(
        self, index: Index | slice | tuple[Index | slice, Index | slice], value: Word | Numbers | Table | Plain
    ) -> None: ...

    def __iter__(self) -> Iterator[Numbers]: ...


class Tables(_Array, Protocol):
    """Tables of numbers: three dimensions."""

    @overload
    def __getitem__(self, index: tuple[Index, Index, Index]) -> int: ...

    @overload
    def __getitem__(self, index: tuple[Index, Index]) -> Numbers: ...

    @overload
    def __getitem__(self, index: Index) -> Table: ...

    def __setitem__(
        self, index: Index | tuple[Index, Index] | tuple[Index, Index, Index], value: Word | Numbers | Table | Plain
    ) -> None: ...


class Records(_Array, Protocol[T_co]):
    """A row of records."""

    @overload
    def __getitem__(self, index: Index) -> T_co: ...

    @overload
    def __getitem__(self, index: slice | Sequence[int]) -> Records[T_co]: ...

    @overload
    def __getitem__(self, index: str) -> Plain: ...

    def __iter__(self) -> Iterator[T_co]: ...


class RecordTable(_Array, Protocol[T_co]):
    """Rows of records: two dimensions."""

    @overload
    def __getitem__(self, index: tuple[Index, Index]) -> T_co: ...

    @overload
    def __getitem__(self, index: Index) -> Records[T_co]: ...

    @overload
    def __getitem__(self, index: str) -> Plain: ...
