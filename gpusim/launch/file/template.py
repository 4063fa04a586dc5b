"""A first launch file for a kernel, from what its code and its name say of the parameters; guesses are said as such."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from math import prod

from gpusim.launch.file.document import Argument, LaunchFile, Texture
from gpusim.support.plural import plural
from isa.architecture import nvidia
from isa.nvidia.abi.declaration import Declared, declared, fitting
from isa.nvidia.abi.launch import POINTER_BYTES
from isa.nvidia.file.code import Code
from isa.nvidia.file.cubin import Cubin, Function, Parameter
from isa.nvidia.file.names import named, plain
from isa.nvidia.file.signature import Type, parameter_types
from isa.nvidia.lowering import spelling, syntax
from isa.support.escaped import escaped

ELEMENTS = 1024  # of each buffer, and what a whole number is guessed to be
OF_STRUCT = 64  # bytes that a struct is guessed to have at most
THREADS = 128
DIGITS = 128  # of a line of bytes: 64 of them
TEXELS = [1024], [32, 32], [16, 8, 8]  # of a texture of one, two or three dimensions: as many in all
HANDLE = "unsigned long long"  # what a cudaTextureObject_t is
FILLS = '  # or zero, constant V, values V V ..., hash SEED [LOW HIGH], iota; or file = "x.npy" in place of all three'
_VALUES = '# To change what a variable holds, write its table, and below it type = "float32" and values = [1.0, 2.0].'
_LIBRARIES = re.compile(r"^_ZN\w*?(4cuda(3std|3ptx|\d*_)|6thrust|3cub\d|3std)|^_ZN?K?St")  # namespaces in mangled names
_TABLES = "_ZTV", "_ZTI", "_ZTS", "_ZTT"  # the compiler's own, of classes with virtual functions
_GUESSED = {1: "int8", 2: "int16", 4: "int32", POINTER_BYTES: ""}  # types of numbers by bytes
_OTHERS = {1: "bool, uint8", 2: "uint16, float16", 4: "uint32, float32"}


@dataclass(frozen=True)
class Guess:
    """An argument, and what is known of its parameter, as a comment."""

    argument: Argument
    comment: str


def guesses(code: Code, name: str, source: str = "") -> tuple[Guess, ...]:
    """Return an argument for each parameter of a kernel, given mangled.

    The mangled name says the types; the text of its `source`, if there is one, says names, and types where the former
    doesn't. Without a table of parameters, as in a text, they are as many as these say, else none.
    """
    types, written, fetches = parameter_types(name), declared(source, plain(name)), _fetches(code, name)
    launch = code.cubin.functions[name].launch if code.cubin else None
    table: Sequence[Parameter | None] = launch.parameters if launch else [None] * len(types or written or ())
    kinds = types if types and len(types) == len(table) else [None] * len(table)
    found = (
        written if written and len(written) == len(table) else [Declared(f"a{n + 1}", None) for n in range(len(table))]
    )
    rows = zip(table, kinds, found, strict=True)
    return tuple(
        _guess(_buffer_name(one.name), parameter, kind or fitting(one.type, parameter), fetches=fetches)
        for parameter, kind, one in rows
    )


def _buffer_name(name: str) -> str:
    """Return a name that expressions of expected values take: no word of their language."""
    return f"{name}_" if iskeyword(name) else name


def _fetches(code: Code, name: str) -> int:
    """Return the most dimensions in which the code of a kernel fetches from texture objects; 0: it doesn't."""
    fetches = [one.text for one in code.sections[name].instructions if _operation(one.text) in spelling.FETCHES]
    return max((spelling.dimensions(text) for text in fetches), default=0)


def _operation(text: str) -> str:
    return syntax.head(text).split(".")[0]


def launch_file(code: Code, name: str, file: str = "", source: str = "") -> LaunchFile:
    """Return a launch of a kernel that the code takes, with buffers of ELEMENTS elements; `file` is the code's name.

    `source` is the text of the CUDA C that it was compiled from, if there is one.
    """
    threads = _threads(code, name)
    return LaunchFile(
        kernel=_shortest(code, name),
        code=file,
        architecture=code.architecture,
        grid=[max(1, ELEMENTS // threads)],
        block=[threads],
        argument=[guess.argument for guess in guesses(code, name, source)],
    )


def text(code: Code, name: str, file: str, *, found: bool = True, source: str = "") -> str:
    """Return `launch_file` as TOML with comments; `file` is the code's name, `source` the text of its CUDA C.

    It is left out where the code is `found` by the launch file's own name.
    """
    return "".join(f"{_one_line(line)}\n" for line in _lines(code, name, file, found=found, source=source))


def _one_line(line: str) -> str:
    """Return a line in which no name, of a file or of its code, begins another one."""
    return escaped(line).replace("\n", "\\n")


def _lines(code: Code, name: str, file: str, *, found: bool, source: str) -> Iterator[str]:
    first, known = launch_file(code, name, file, source), guesses(code, name, source)
    function = code.cubin.functions[name] if code.cubin else None
    yield f"# A launch of {first.kernel} in {file}; gpusim schema launch lists all keys."
    yield f"kernel = {_quoted(first.kernel)}"
    if not found:
        yield f"code = {_quoted(file)}"
    if code.architecture:
        yield f"architecture = {code.architecture}"
    for setting, comment in (
        (f"grid = {first.grid}", "blocks in x, y, z"),
        (f"block = {first.block}", f"threads of a block in x, y, z{_most(function)}"),
        ("shared = 0", f"bytes of dynamic shared memory{_declared(code, function)}"),
        ('caches = "warm"', 'the L2 holds the buffers when the launch begins; "cold": it holds nothing'),
    ):
        yield f"{setting:<20}# {comment}"
    for number, guess in enumerate(known):
        yield from _argument(number, guess)
    if function is None:
        yield from ("", "# A text has no table of parameters: write an [[argument]] for each, in order.")
    yield from _expected(known)
    if code.cubin:
        yield from _variables(code.cubin)


def _guess(name: str, parameter: Parameter | None, kind: Type | None, *, fetches: int) -> Guess:
    """Return an argument for a parameter of these bytes, if they are known, and of this type, if the name says it.

    The code fetches from textures of so many dimensions.
    """
    where = f"{plural(parameter.size, 'byte')} at offset {parameter.offset}" if parameter else ""
    if kind and kind.text == HANDLE and fetches:
        texels = Texture(size=TEXELS[fetches - 1])
        one = Argument(name=name, buffer="float32", elements=prod(texels.size), fill="hash 1", texture=texels)
        return Guess(one, f"{kind.text}, {where}; guessed: a cudaTextureObject_t, as the code fetches texels")
    if kind and (kind.pointer or kind.element):
        unknown = f"guessed: at most {OF_STRUCT} bytes each" if kind.pointer and not _is_known(kind) else ""
        words = ", ".join(filter(None, (kind.text, where)))
        return Guess(_of_type(name, kind), "; ".join(filter(None, (words, unknown))))
    size = parameter.size if parameter else 0
    aligned = parameter is None or parameter.offset % max(1, size) == 0  # else a struct of narrower members
    if kind is None and size == POINTER_BYTES and aligned:
        return Guess(_pointer(name, "float32"), f"{where}; guessed: a pointer to float32")
    if kind is None and size in _GUESSED and aligned and size < POINTER_BYTES:
        guessed = f"guessed: {_GUESSED[size]} (or {_OTHERS[size]})"
        return Guess(_number(name, _GUESSED[size]), f"{where}; {guessed}")
    what = ", ".join(filter(None, (kind.text if kind else "", where)))
    return Guess(Argument(name=name, bytes="00" * max(1, size)), f'{what}; or struct = [["int32", 0], ...]')


def _of_type(name: str, kind: Type) -> Argument:
    if not kind.pointer:
        return _number(name, kind.element)
    return _pointer(name, kind.element or "uint8", kind.count if _is_known(kind) else OF_STRUCT)


def _is_known(pointer: Type) -> bool:
    """Tell whether the size of what a pointer points at is known; that of void is a byte."""
    return bool(pointer.element) or "void" in pointer.text.split()


def _pointer(name: str, element: str, count: int = 1) -> Argument:
    """Return a buffer for ELEMENTS values of so many elements each."""
    fill = "hash 1" if element.startswith("float") else "iota"
    return Argument(name=name, buffer=element, elements=count * ELEMENTS, fill=fill)


def _number(name: str, element: str) -> Argument:
    if element == "bool":
        return Argument(name=name, value=True, type=element)
    if element.startswith("float"):
        return Argument(name=name, value=1.0, type=element)
    return Argument(name=name, value=1 if element.endswith("int8") else ELEMENTS, type=element)


def _argument(number: int, guess: Guess) -> Iterator[str]:
    one = guess.argument
    yield from ("", f"# parameter {number + 1}: {guess.comment}", "[[argument]]", f"name = {_quoted(one.name)}")
    if one.texture:
        size, more = (
            one.texture.size,
            'filter = "linear", address = "border", normalized = true, channels, read, border',
        )
        yield f"texture = {{ size = {size} }}  # x, y, z; also {more}"
    if one.buffer:
        yield f"buffer = {_quoted(one.buffer)}"
        yield f"elements = {one.elements}"
        yield f"fill = {_quoted(one.fill)}{FILLS if number == 0 else ''}"
    elif one.bytes:
        yield from _bytes(one.bytes)
    else:
        yield f"value = {json.dumps(one.value)}"
        yield f"type = {_quoted(one.type)}"


def _bytes(digits: str) -> Iterator[str]:
    """Yield the bytes of an argument, in several lines where one would be too long to read."""
    if len(digits) <= DIGITS:
        yield f"bytes = {_quoted(digits)}"
    else:
        yield 'bytes = """\\'  # the end of a line does not count
        yield from (f"{digits[at : at + DIGITS]}\\" for at in range(0, len(digits), DIGITS))
        yield '"""'


def _expected(known: Sequence[Guess]) -> Iterator[str]:
    """Yield an example of an expected result, as a comment: of the last buffer that the kernel may write."""
    buffers = [one.argument.name for one in known if one.argument.buffer]
    if buffers:
        written = [one.argument.name for one in known if one.argument.buffer and not one.comment.startswith("const ")]
        result = (written or buffers)[-1]
        yield from (
            "",
            "# What a buffer holds at the end; names stand for what buffers hold before the launch.",
            "# [[expect]]",
            f"# buffer = {_quoted(result)}",
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


def _threads(code: Code, name: str) -> int:
    launch = code.cubin.functions[name].launch if code.cubin else None
    if launch is None:
        return THREADS
    return launch.exact_threads or min(THREADS, launch.most_threads or THREADS)


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


def _shortest(code: Code, name: str) -> str:
    every = code.cubin.kernels if code.cubin else tuple(code.sections)
    return plain(name) if len(named(plain(name), every)) == 1 else name


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
