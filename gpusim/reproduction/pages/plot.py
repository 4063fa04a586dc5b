"""A plot of a document: its own points, where it gives them, and those computed here, on one pair of axes."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import Literal

from gpusim.reproduction.bench import Bench

Scale = Literal["linear", "log"]


@dataclass(frozen=True, slots=True)
class Curve:
    """Points in order of x; `published` says whether they are the document's or computed here.

    Of the document's, those that are `implied` are not printed, but follow from what is. The label does not say whose
    they are: theirs and ours of one label have one colour; the legend tells them apart. `like` is the label of another
    curve of which it takes colour and marker, such as what ours stands for.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    published: bool = False
    line: bool = True  # else separate points
    like: str = ""
    implied: bool = False

    @property
    def group(self) -> str:
        """The label that decides colour and marker."""
        return self.like or self.label

    @property
    def source(self) -> str:
        """Whose points they are, in the word of the legend."""
        if not self.published:
            return "here"
        return "implied" if self.implied else "published"


@dataclass(frozen=True, slots=True)
class Plot:
    """`x` and `y` name the axes, with units; `note` says in a sentence what the plot shows.

    The axis of y begins at `y_from`, or lower where a point does.
    """

    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    note: str = ""
    x_scale: Scale = "linear"
    x_names: tuple[str, ...] = ()  # of x = 0, 1, ..., in place of numbers
    y_from: float = 0.0


Plotter = Callable[[Bench], Plot]


def registrar(into: MutableMapping[str, Plotter]) -> Callable[[str], Callable[[Plotter], Plotter]]:
    """Return the decorator `@plot(name)`; the name, such as `lai-figure-2`, is that of the file without its suffix.

    A plotter requests runs from its bench like the function of a claim.
    """

    def plot(name: str) -> Callable[[Plotter], Plotter]:
        def enter(function: Plotter) -> Plotter:
            into[name] = function
            return function

        return enter

    return plot
