"""A first launch file for a kernel, from what its code, its name and its source say; guesses are said as such."""

from __future__ import annotations

from dataclasses import dataclass, replace

from msgspec import structs

from gpusim.launch.file.document import LaunchFile
from gpusim.launch.file.draft.guess import Guess, guesses
from gpusim.launch.file.draft.shape import Shape, shapes
from isa.nvidia.file.code import Code
from isa.nvidia.file.names import named, plain
from isa.nvidia.host.launches import written


@dataclass(frozen=True)
class Draft:
    """A launch file with what is known of each parameter, where its sizes come from, and with what its launch ends.

    `fault` is empty where it ends well, or was not tried.
    """

    file: LaunchFile
    comments: tuple[str, ...]
    said: str = ""
    fault: str = ""

    def with_file(self, file: LaunchFile) -> Draft:
        """Return the same with other sizes."""
        return replace(self, file=file)


def drafts(code: Code, name: str, file: str = "", source: str = "") -> tuple[Draft, ...]:
    """Return launches of a kernel that its code takes, the likeliest first; `file` is the code's name.

    `source` is the text of the CUDA C that it was compiled from, if there is one.
    """
    launch = written(source, name) if source else None
    given = launch.arguments if launch else ()
    return tuple(
        _draft(code, name, file, shape, guesses(code, name, source, shape.extent, given))
        for shape in shapes(code, name, launch)
    )


def _draft(code: Code, name: str, file: str, shape: Shape, found: tuple[Guess, ...]) -> Draft:
    launch = LaunchFile(
        kernel=_shortest(code, name),
        code=file,
        architecture=code.architecture,
        grid=shape.grid,
        block=shape.block,
        shared=shape.shared,
        argument=[guess.argument for guess in found],
        buffer=[one for guess in found for one in guess.buffers],
    )
    return Draft(launch, tuple(guess.comment for guess in found), shape.said)


def launch_file(code: Code, name: str, file: str = "", source: str = "") -> LaunchFile:
    """Return the first of `drafts` without its comments."""
    return drafts(code, name, file, source)[0].file


def without_code(draft: Draft) -> Draft:
    """Return a draft that does not name its code, as one beside it."""
    return draft.with_file(structs.replace(draft.file, code=""))


def without_architecture(draft: Draft) -> Draft:
    """Return a draft of a source that is compiled for any machine on which it is run."""
    return draft.with_file(structs.replace(draft.file, architecture=0))


def _shortest(code: Code, name: str) -> str:
    every = code.cubin.kernels if code.cubin else tuple(code.sections)
    return plain(name) if len(named(plain(name), every)) == 1 else name
