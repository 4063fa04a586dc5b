"""Which files belong together: machine code, PTX or CUDA C++, and the launch file beside it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from gpusim.launch.file.source import Source
from isa.errors import UserError
from isa.nvidia.compiler import compile, ptx
from isa.nvidia.file import code
from isa.nvidia.host.text import has_main
from isa.reading import input_file

LAUNCH = ".toml"
CODE = (
    ".cubin",
    compile.ENDING,
    ".fatbin",
    ".sass",
    ptx.ENDING,
)  # of files with code, in the order in which they are looked for
_MAGIC = b"\x7fELF", b"\x50\xed\x55\xba"


class Pair(NamedTuple):
    """A launch file, and the file with the code if its name is known."""

    launch: Path
    code: Path | None


def is_launch(name: str) -> bool:
    """Tell whether a name is that of a launch file or of a file with code: by its ending, or how its bytes begin."""
    return name.endswith((LAUNCH, *CODE)) or _is_binary(Path(name))


def pair(name: str, launch_file: Path | None = None) -> Pair:
    """Return the files that a user means by one of them; `launch_file` is that of code. Raises UserError.

    The launch file of k.cubin is k.toml where none is given.
    """
    if name.endswith(LAUNCH):
        if launch_file:
            raise UserError(f"{name}: is a launch file by itself; leave out {launch_file}, or name the code")
        return Pair(Path(name), None)
    path = Path(name)
    if not input_file.present(path):
        raise UserError(f"{name}: No such file or directory; {code.FIX}")
    launch = launch_file or path.with_suffix(LAUNCH)
    if not input_file.present(launch):
        code.check_kind(path)
        raise UserError(f"{name}: {_without_launch(name, path, launch)}")
    return Pair(launch, path)


def code_of(launch: Source) -> Path:
    """Return the file with the code that a launch file names, or of its own name; raises UserError if there is none."""
    if launch.file.code:
        return launch.named("code", launch.file.code)
    for ending in CODE:
        if input_file.present(found := launch.path.with_suffix(ending)):
            return found
    names = ", ".join(launch.path.with_suffix(ending).name for ending in CODE)
    raise launch.refusal("code", f'no code beside it: no {names}; write code = "..."')


def _without_launch(name: str, path: Path, launch: Path) -> str:
    """Return what is missing of code without a launch file; a whole program needs none."""
    draft = f"gpusim launch {name} --out {launch}"
    if code.is_source(path) and has_main(input_file.read(path, code.FIX).decode(errors="replace")):
        return f"a program with a main(); gpusim exec {name} runs it, or {draft} writes a launch file of one kernel"
    return f"no launch file {launch}; {draft} writes a first one"


def _is_binary(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC[0])) in _MAGIC
    except (OSError, ValueError):
        return False
