"""`gpusim launch`: a first launch file for a kernel of machine code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from gpusim.commands.frame.arguments import flags_of
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.options import Architecture, CodeFile, NvccFlags, out
from gpusim.launch.file import files, template
from gpusim.support import whole_file
from isa.errors import UserError
from isa.nvidia.file import code
from isa.nvidia.file.choice import chosen, only
from isa.reading import input_file


def launch(
    file: CodeFile,
    kernel: Annotated[str | None, Argument(help="A kernel, plain or mangled, if there are several.")] = None,
    *,
    architecture: Architecture = None,
    nvcc_flags: NvccFlags = "",
    out: Annotated[Path | None, out("Write it to this file; k.toml goes with k.cubin.")] = None,
    replace: Annotated[bool, Option("--replace", help="Replace a file that exists.")] = False,
) -> Answer:
    """Print a launch file for a kernel, to edit: its sizes, arguments and buffers, with the guesses said as such.

    Parameters come from the table in a cubin, their types from the kernel's C++ name, their names from the source if it
    is given. Types that neither says are guessed: 8 bytes are a pointer. --json prints the same as a document.

    Example: gpusim launch examples/saxpy.sass saxpy
    """
    found = code.read(file, architecture, flags_of(nvcc_flags))
    name = chosen(found, kernel, file) if kernel else only(found, file, f"behind it: gpusim launch {file} KERNEL")
    source = input_file.read(file, code.FIX).decode(errors="replace") if code.is_compiled(file) else ""
    own = out is None or out == Path(file).with_suffix(files.LAUNCH)
    text = template.text(found, name, os.path.relpath(file, out.parent) if out else file, found=own, source=source)
    if out:
        if out.exists() and not replace:
            raise UserError(f"{out}: exists, and may have been edited; give --replace, or another name")
        whole_file.write(out, text)
    return Answer(lambda: template.launch_file(found, name, file, source), "" if out else text)
