"""Which kernels a file of machine code has, and which one a user means."""

from __future__ import annotations

from isa.errors import UserError
from isa.reading.nearest import nearest
from isa.sass.code import Code
from isa.sass.names import named, plain


def kernels(code: Code) -> tuple[str, ...]:
    """Return the mangled names that a launch may name; of a text all functions, as it doesn't say which are kernels."""
    return code.cubin.kernels if code.cubin else tuple(code.sections)


def chosen(code: Code, kernel: str, file: str) -> str:
    """Return the mangled name of a kernel, given plain or mangled; raises UserError for none of that name, or several.

    Messages begin with the file's name.
    """
    every = kernels(code)
    meant = named(kernel, every)
    if len(meant) > 1:
        raise UserError(f"{file}: {kernel} has several instances; name one: {', '.join(meant)}")
    if not meant:
        names = list(dict.fromkeys(map(plain, every)))
        near = nearest(kernel, names)
        advice = f"did you mean {near}?" if near else f"it has {', '.join(names)}"
        raise UserError(f"{file}: no kernel {kernel}; {advice}")
    return meant[0]


def only(code: Code, file: str, where: str) -> str:
    """Return the mangled name of a file's only kernel; raises UserError for several, which asks to name one `where`."""
    every = kernels(code)
    if len(every) != 1:
        names = [plain(one) if len(named(plain(one), every)) == 1 else one for one in every]
        has = f"kernels {', '.join(names)}; name one {where}" if names else "no kernel; compile a __global__ function"
        raise UserError(f"{file}: has {has}")
    return every[0]
