"""`gpusim launch`: a first launch file for a kernel of machine code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from gpusim.commands.frame.arguments import flags_of
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.options import Architecture, CodeFile, NvccFlags, out
from gpusim.launch.file import files
from gpusim.launch.file.draft import template
from gpusim.launch.file.draft.text import text
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
    is given, and so do the sizes of its first <<<grid, block, shared>>>. What neither says is guessed: 8 bytes are a
    pointer. Blocks of the launch run, and buffers become as large as what they access. That of CUDA C or PTX names an
    architecture only with --arch or --nvcc-flags. --json prints the same as a document.

    Example: gpusim launch examples/saxpy.sass saxpy
    """
    found = code.read(file, architecture, flags_of(nvcc_flags))
    name = chosen(found, kernel, file) if kernel else only(found, file, f"behind it: gpusim launch {file} KERNEL")
    source = input_file.read(file, code.FIX).decode(errors="replace") if code.is_compiled(file) else ""
    shown = os.path.relpath(file, out.parent) if out else file
    draft = _draft(found, name, shown, source)
    if out is None or out == Path(file).with_suffix(files.LAUNCH):
        draft = template.without_code(draft)
    if code.is_compiled(file) and not (architecture or nvcc_flags):
        draft = template.without_architecture(draft)
    written = text(found, name, draft, shown)
    if out:
        if out.exists() and not replace:
            raise UserError(f"{out}: exists, and may have been edited; give --replace, or another name")
        whole_file.write(out, written)
    return Answer(lambda: draft.file, "" if out else written)


def _draft(found: code.Code, name: str, file: str, source: str) -> template.Draft:
    """Return a draft whose blocks have run, if its code can run."""
    from gpusim.simulation.draft.fit import fitted  # noqa: PLC0415  (--help waits for no compiler)

    drafts = template.drafts(found, name, file, source)
    return fitted(found, name, drafts, file, source) if found.architecture else drafts[0]
