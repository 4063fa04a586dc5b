"""A launch file as text that is read back as the same, with what is known of it as comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpusim.launch.file.document import Contents
from gpusim.launch.file.draft.template import Draft
from gpusim.launch.file.draft.toml_text import keys, quoted
from gpusim.support.plural import plural
from isa.architecture import nvidia
from isa.nvidia.file.code import Code
from isa.nvidia.file.cubin import Cubin, Function
from isa.nvidia.file.names import named, plain
from isa.support.escaped import escaped

FILLS = '  # or zero, constant V, values V V ..., hash SEED [LOW HIGH], iota; or file = "x.npy" in place of all three'
MORE = '  # x, y, z; also filter = "linear", address = "border", normalized = true, channels, read, border'
_VALUES = '# To change what a variable holds, write its table, and below it type = "float32" and values = [1.0, 2.0].'
_LIBRARIES = re.compile(r"^_ZN\w*?(4cuda(3std|3ptx|\d*_)|6thrust|3cub\d|3std)|^_ZN?K?St")  # namespaces in mangled names
_TABLES = "_ZTV", "_ZTI", "_ZTS", "_ZTT"  # the compiler's own, of classes with virtual functions


def text(code: Code, name: str, draft: Draft, file: str) -> str:
    """Return a draft as TOML with comments; `file` is the code's name, which the draft may leave out."""
    return "".join(f"{_one_line(line)}\n" for line in _lines(code, name, draft, file))


def _one_line(line: str) -> str:
    """Return a line in which no name, of a file or of its code, begins another one."""
    return escaped(line).replace("\n", "\\n")


def _lines(code: Code, name: str, draft: Draft, file: str) -> Iterator[str]:
    first = draft.file
    function = code.cubin.functions[name] if code.cubin else None
    yield f"# A launch of {first.kernel} in {file}; gpusim schema launch lists all keys."
    if draft.said:
        yield f"# {draft.said}"
    if draft.fault:
        yield f"# This launch does not end well: {draft.fault}"
    yield f"kernel = {quoted(first.kernel)}"
    if first.code:
        yield f"code = {quoted(first.code)}"
    if first.architecture:
        yield f"architecture = {first.architecture}"
    for setting, comment in (
        (f"grid = {first.grid}", "blocks in x, y, z"),
        (f"block = {first.block}", f"threads of a block in x, y, z{_most(function)}"),
        (f"shared = {first.shared}", f"bytes of dynamic shared memory{_declared(code, function)}"),
        ('caches = "warm"', 'the L2 holds the buffers when the launch begins; "cold": it holds nothing'),
    ):
        yield f"{setting:<20}# {comment}"
    for number, (one, comment) in enumerate(zip(first.argument, draft.comments, strict=True)):
        yield from ("", f"# parameter {number + 1}: {comment}", "[[argument]]")
        yield from (_with_hint(line, number == 0) for line in keys(one))
    yield from _buffers(first.buffer)
    if function is None:
        yield from ("", "# A text has no table of parameters: write an [[argument]] for each, in order.")
    yield from _expected(draft)
    if code.cubin:
        yield from _variables(code.cubin)


def _with_hint(line: str, first: bool) -> str:
    """Return the line of a key with what else it may say, of the first argument's fill and of a texture."""
    return line + (FILLS if first and line.startswith("fill =") else MORE if line.startswith("texture =") else "")


def _buffers(further: Sequence[Contents]) -> Iterator[str]:
    for number, one in enumerate(further):
        yield from ("", *(["# Further buffers, to which arguments point."] if number == 0 else []), "[[buffer]]")
        yield from keys(one)


def _expected(draft: Draft) -> Iterator[str]:
    """Yield an example of an expected result, as a comment: of the last buffer that the kernel may write."""
    known = [
        (one.name, comment) for one, comment in zip(draft.file.argument, draft.comments, strict=True) if one.buffer
    ]
    buffers = [name for name, _ in known]
    if buffers:
        written = [name for name, comment in known if not comment.startswith("const ")]
        result = (written or buffers)[-1]
        yield from (
            "",
            "# What a buffer holds at the end; names stand for what buffers hold before the launch.",
            "# [[expect]]",
            f"# buffer = {quoted(result)}",
            f'# value = "2 * {buffers[0]} + 1"  # or file = "{result}.npy"',
            "# relative = 1e-6",
        )


def _variables(cubin: Cubin) -> Iterator[str]:
    """Yield the variables to which a launch may give values, as comments."""
    every = tuple(cubin.variables)
    named_ones = [one for name, one in cubin.variables.items() if _is_own(name)]
    if not named_ones:
        return
    yield from ("", _VALUES)
    for one in named_ones:
        short = plain(one.name) if len(named(plain(one.name), every)) == 1 else one.name
        table = f"[{'constants' if one.constant else 'globals'}.{short}]"
        yield f"# {table:<20}# {plural(one.size, 'byte')}"


def _is_own(name: str) -> bool:
    """Tell whether a variable, given mangled, is none of the compiler's, nor of libcu++ and the libraries over it."""
    return name.isidentifier() and not name.startswith(("__", *_TABLES)) and not _LIBRARIES.search(name)


def _most(function: Function | None) -> str:
    launch = function.launch if function else None
    if launch and launch.exact_threads:
        return f"; just {launch.exact_threads} in all"
    return f"; at most {launch.most_threads} (__launch_bounds__)" if launch and launch.most_threads else ""


def _declared(code: Code, function: Function | None) -> str:
    if function is None:
        return ", and of all other: a text doesn't say"
    own = function.shared_bytes - nvidia(code.architecture).system_before
    return f", besides {own} that the code declares" if own > 0 else ""
