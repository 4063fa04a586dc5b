"""The options of nvcc that a file may ask for: they run no program, write no file and read none outside its folder.

nvcc hands its options to a shell, and some name a program to run (`-ccbin`, `-Xcompiler -wrapper`) or a file to write
(`-o`, `-MF`). So what a launch or space file gives is taken only if it is known to be harmless, and is written anew:
each option is one word with its value, so that nvcc can't take a value for an option.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

# What means nothing between the double quotes in which nvcc gives a value to a shell; a comma begins another value.
_TEXT = r"[^\x00-\x1f\"'$`\\,]*"
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_MACRO = re.compile(rf"[A-Za-z_]\w*(={_TEXT})?", re.ASCII)
_FOLDER = re.compile(_TEXT)
_SWITCH = re.compile("true|false")
_PTXAS = re.compile(
    r"-O[0-3]|-v|-warn-spills|-warn-lmem-usage|-disable-optimizer-constants|-[df](l|s)cm=c[agsv]"
    r"|--?(def-load-cache|def-store-cache|force-load-cache|force-store-cache)=c[agsv]|--?(opt-level|O)=[0-3]"
    r"|--?(allow-expensive-optimizations|fmad)=(true|false)|--?(maxrregcount|register-usage-level)=\d{1,3}",
    re.ASCII,
)
_GENCODE = re.compile(r"arch=compute_\d{2,3}[af]?,code=\[?((sm|compute)_\d{2,3}[af]?,?)+\]?", re.ASCII)


class _Kind(NamedTuple):
    """An option as it is given on: how it begins, what its value looks like (None: none), and the sign between."""

    written: str
    value: re.Pattern[str] | None = None
    joins: str = "="


_INCLUDE = _Kind("-I", _FOLDER, "")
_DEFINE, _UNDEFINE = _Kind("-D", _MACRO, ""), _Kind("-U", _NAME, "")
_OPTIMIZE = _Kind("-O", re.compile("[0-3]"), "")
_JOINED = {"-D": _DEFINE, "-U": _UNDEFINE, "-I": _INCLUDE, "-O": _OPTIMIZE}  # the value may follow without a sign
_VALUED = {
    ("D", "define-macro"): _DEFINE,
    ("U", "undefine-macro"): _UNDEFINE,
    ("I", "include-path"): _INCLUDE,
    ("O", "optimize"): _OPTIMIZE,
    ("std",): _Kind("-std", re.compile(r"c\+\+\d\d", re.ASCII)),
    ("arch", "gpu-architecture"): _Kind("-arch", re.compile(r"(sm|compute)_\d{2,3}[af]?", re.ASCII)),
    ("gencode", "generate-code"): _Kind("-gencode", _GENCODE),
    ("maxrregcount",): _Kind("-maxrregcount", re.compile(r"\d{1,3}", re.ASCII)),
    ("Xptxas", "ptxas-options"): _Kind("-Xptxas", _PTXAS),
    ("fmad",): _Kind("-fmad", _SWITCH),
    ("ftz",): _Kind("-ftz", _SWITCH),
    ("prec-div",): _Kind("-prec-div", _SWITCH),
    ("prec-sqrt",): _Kind("-prec-sqrt", _SWITCH),
    ("diag-suppress",): _Kind("-diag-suppress", re.compile(r"\d{1,5}", re.ASCII)),
}
_ALONE = {
    ("use_fast_math",): "-use_fast_math",
    ("G", "device-debug"): "-G",
    ("g", "debug"): "-g",
    ("lineinfo", "generate-line-info"): "-lineinfo",
    ("restrict",): "-restrict",
    ("w", "disable-warnings"): "-w",
    ("m64",): "-m64",
    ("extra-device-vectorization",): "-extra-device-vectorization",
    ("expt-relaxed-constexpr",): "-expt-relaxed-constexpr",
    ("extended-lambda", "expt-extended-lambda"): "-extended-lambda",
    ("Wno-deprecated-gpu-targets",): "-Wno-deprecated-gpu-targets",
}
_KINDS: Mapping[str, _Kind] = {
    f"{dashes}{name}": kind
    for names, kind in (*_VALUED.items(), *((names, _Kind(text)) for names, text in _ALONE.items()))
    for name in names
    for dashes in ("-", "--")
}
_LISTS = frozenset(("-Xptxas", "-diag-suppress"))  # their value may be several, with commas between
TAKES = "-D -U -I -O -std -arch -gencode -use_fast_math -fmad -ftz -maxrregcount -G -lineinfo -Xptxas"  # and a few more


def allowed(options: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Return the options that a file of a folder gives, each with its value in one word; folders of -I are below it.

    Raises ValueError, with cause and fix, for an option that a file may not ask for, and for a value that is none.
    """
    found, left = list[str](), iter(options)
    for word in left:
        name, value = _parted(word)
        kind = _KINDS.get(name)
        if kind is None or (kind.value is None and value is not None):
            known = f"it may ask for {TAKES}"
            raise ValueError(f"{word!r} is no option that a file may ask for; give it on the command line ({known})")
        found += _written(kind, next(left, "") if kind.value and value is None else value or "", folder)
    return tuple(found)


def inert(text: str) -> bool:
    """Tell whether a text can be the value of a macro of -D: nothing in it has a meaning for a shell or for nvcc."""
    return re.fullmatch(_TEXT, text) is not None


def _parted(word: str) -> tuple[str, str | None]:
    """Return the name of an option and the value in the same word, None if it has none."""
    if word in _KINDS:
        return word, None
    name, sign, value = word.partition("=")
    if sign and name in _KINDS:
        return name, value
    return (word[:2], word[2:]) if word[:2] in _JOINED else (word, None)


def _written(kind: _Kind, value: str, folder: Path) -> Iterator[str]:
    if kind.value is None:
        yield kind.written
        return
    for one in value.split(",") if kind.written in _LISTS else (value,):
        if not kind.value.fullmatch(one):
            raise ValueError(f"{kind.written} {one!r}: no value that a file may give; give it on the command line")
        yield f"{kind.written}{kind.joins}{_below(one, folder) if kind is _INCLUDE else one}"


def _below(name: str, folder: Path) -> Path:
    """Return a folder of headers by its name relative to a file's folder; raises ValueError if it is not below that."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"-I {name}: not below {folder}; give it on the command line, or put the headers there")
    if not inert(str(path)):
        raise ValueError(f"-I {path}: a name with a comma, a quote, $, ` or \\; rename the folder")
    return path
