"""Which kernels a file of machine code has, and which one a user means."""

from __future__ import annotations

import re

from isa.errors import UserError
from isa.nvidia.file.code import Code
from isa.nvidia.file.names import named, plain
from isa.nvidia.file.signature import instance
from isa.reading.nearest import nearest

_RESULT = re.compile(r"^\s*void\s+|\s+|(?<=\d)[uUlL]+\b")  # and what else differs between tools


def kernels(code: Code) -> tuple[str, ...]:
    """Return the mangled names that a launch may name; of a text all functions, as it doesn't say which are kernels."""
    return code.cubin.kernels if code.cubin else tuple(code.sections)


def chosen(code: Code, kernel: str, file: str) -> str:
    """Return the mangled name of a kernel, given plain, mangled, or as an instance: `poly<double, 4>`.

    Raises UserError for none of that name, or several; messages begin with the file's name.
    """
    every = kernels(code)
    meant = named(kernel, every) or tuple(one for one in every if _is_instance(one, kernel))
    if len(meant) > 1:
        words = [instance(one) for one in meant]
        names = words if all(words) and len(set(words)) == len(words) else meant
        raise UserError(f"{file}: {kernel} has several instances; name one: {', '.join(names)}")
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


def _is_instance(mangled: str, words: str) -> bool:
    """Tell whether a template's instance is written in these words, with its namespaces or without any."""
    found, wanted = _bare(instance(mangled)), _bare(words)
    own = found[found.rfind("::", 0, found.find("<")) + 2 :] if "::" in found.partition("<")[0] else found
    return bool(found) and wanted in (found, own)


def _bare(words: str) -> str:
    """Return an instance's name in one spelling: no blanks, no result, no parameters, no suffixes of numbers."""
    name, arguments, _ = words.rpartition(">")
    return _RESULT.sub("", f"{name}{arguments}").replace("unsignedint", "unsigned")
