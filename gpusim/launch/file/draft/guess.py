"""Arguments of a kernel's first launch, from what its code, its name and its source say; guesses are said as such."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from keyword import iskeyword
from math import prod

from gpusim.launch.file.document import Argument, Contents, Member, TensorMap, Texture
from gpusim.launch.file.elements import converted
from gpusim.support.plural import plural
from isa.nvidia.abi.declaration import Declared, declared, fitting
from isa.nvidia.abi.launch import POINTER_BYTES
from isa.nvidia.file.code import Code
from isa.nvidia.file.cubin import Parameter
from isa.nvidia.file.names import plain
from isa.nvidia.file.signature import Type, built, parameter_types
from isa.nvidia.host import structs
from isa.nvidia.lowering import spelling, syntax

ELEMENTS = 1024  # of each buffer
OF_STRUCT = 64  # bytes that a struct is guessed to have at most
TEXELS = [1024], [32, 32], [16, 8, 8]  # of a texture of one, two or three dimensions: as many in all
HANDLE = "unsigned long long"  # what a cudaTextureObject_t is
MAP, MAP_BYTES = "CUtensorMap", 128
BOX, TENSOR = [16, 8, 4, 2, 1], [64, 32, 8, 4, 2]  # of a tensor map, by dimension
OR_STRUCT = 'or struct = [["int32", 0], ...]'
_GUESSED = {1: "int8", 2: "int16", 4: "int32", POINTER_BYTES: ""}  # types of numbers by bytes
_OTHERS = {1: "bool, uint8", 2: "uint16, float16", 4: "uint32, float32"}
_COPY = re.compile(r"\bUTMA\w+\.(\d)D\b")
_CONSTANT = re.compile(r"c\[0x0\]\[0x([0-9a-f]+)\]")
_WIDE = re.compile(r"^(?:@!?U?P\w+ )?\w+(?:\.\w+)*\.(?:64|WIDE)\b")  # an instruction that reads eight bytes of these


@dataclass(frozen=True)
class Guess:
    """An argument, what is known of its parameter, as a comment, and the further buffers to which it points."""

    argument: Argument
    comment: str
    buffers: tuple[Contents, ...] = ()


@dataclass(frozen=True)
class Known:
    """What is known of a kernel's parameters beside their types.

    `fetches`: dimensions in which the code fetches texels, `copies`: those of its tensor copies; `read`: what it reads
    of constant bank 0, and of how many bytes, by offset from the first parameter's; `extent`: what counts are guessed
    to be; `source`: the text.
    """

    fetches: int
    copies: int
    read: dict[int, int]
    extent: int
    source: str


def guesses(
    code: Code, name: str, source: str = "", extent: int = ELEMENTS, given: Sequence[int | float | None] = ()
) -> tuple[Guess, ...]:
    """Return an argument for each parameter of a kernel, given mangled.

    The mangled name says the types; the text of its `source`, if there is one, says names, and types where the former
    doesn't. Without a table of parameters, as in a text, they are as many as these say, else none. Whole numbers are
    the `extent`, where a launch in the source has `given` no other ones.
    """
    types, written = parameter_types(name), declared(source, plain(name))
    launch = code.cubin.functions[name].launch if code.cubin else None
    table: Sequence[Parameter | None] = launch.parameters if launch else [None] * len(types or written or ())
    kinds = types if types and len(types) == len(table) else [None] * len(table)
    found = (
        written if written and len(written) == len(table) else [Declared(f"a{n + 1}", None) for n in range(len(table))]
    )
    known = Known(
        _fetches(code, name), _copies(code, name), _read(code, name, launch.base if launch else 0), extent, source
    )
    rows = zip(table, kinds, found, strict=True)
    each = [
        _guess(_buffer_name(one.name), parameter, kind or fitting(one.type, parameter), known)
        for parameter, kind, one in rows
    ]
    return tuple(map(_with_value, each, given)) if len(given) == len(each) else tuple(each)


def _buffer_name(name: str) -> str:
    """Return a name that expressions of expected values take: no word of their language."""
    return f"{name}_" if iskeyword(name) else name


def _fetches(code: Code, name: str) -> int:
    """Return the most dimensions in which the code of a kernel fetches from texture objects; 0: it doesn't."""
    fetches = [one.text for one in code.sections[name].instructions if _operation(one.text) in spelling.FETCHES]
    return max((spelling.dimensions(text) for text in fetches), default=0)


def _copies(code: Code, name: str) -> int:
    """Return the most dimensions of the tensor copies of a kernel's code; 0: it has none."""
    found = [match for one in code.sections[name].instructions if (match := _COPY.search(one.text))]
    return max((int(match[1]) for match in found), default=0)


def _operation(text: str) -> str:
    return syntax.head(text).split(".")[0]


def _read(code: Code, name: str, base: int) -> dict[int, int]:
    """Return how many bytes of its parameters code reads at once, by offset."""
    found = dict[int, int]()
    for one in code.sections[name].instructions:
        for match in _CONSTANT.finditer(one.text):
            at = int(match[1], 16) - base
            found[at] = max(found.get(at, 0), 8 if _WIDE.match(one.text) else 4)
    return found


def _with_value(guess: Guess, value: int | float | None) -> Guess:
    """Return the guess of a number with the value that a launch gives it, if it has one that the type holds."""
    one = guess.argument
    if value is None or one.value is None or not one.type:
        return guess
    whole = value if one.type.startswith("float") else bool(value) if one.type == "bool" else int(value)
    try:
        converted(whole, one.type)
    except ValueError:
        return guess
    return Guess(Argument(name=one.name, value=whole, type=one.type), guess.comment)


def _guess(name: str, parameter: Parameter | None, kind: Type | None, known: Known) -> Guess:
    """Return an argument for a parameter of these bytes, if they are known, and of this type, if the name says it."""
    where = f"{plural(parameter.size, 'byte')} at offset {parameter.offset}" if parameter else ""
    if kind and kind.text == HANDLE and known.fetches:
        texels = Texture(size=TEXELS[known.fetches - 1])
        one = Argument(name=name, buffer="float32", elements=prod(texels.size), fill="hash 1", texture=texels)
        return Guess(one, f"{kind.text}, {where}; guessed: a cudaTextureObject_t, as the code fetches texels")
    words = ", ".join(filter(None, (kind.text if kind else "", where)))
    if _is_map(kind, parameter, known):
        return _tensor_map(name, words, known)
    if kind and kind.pointer and (inner := _pointed(kind)):
        return _addresses(name, inner, words, known)
    if kind and (kind.pointer or kind.element):
        unknown = f"guessed: at most {OF_STRUCT} bytes each" if kind.pointer and not _is_known(kind) else ""
        return Guess(_of_type(name, kind, known), "; ".join(filter(None, (words, unknown))))
    return _by_size(name, parameter, kind, words, known)


def _by_size(name: str, parameter: Parameter | None, kind: Type | None, words: str, known: Known) -> Guess:
    """Return an argument for a parameter of which only the bytes are known, or a struct by value."""
    size = parameter.size if parameter else 0
    aligned = parameter is None or parameter.offset % max(1, size) == 0  # else a struct of narrower members
    if kind is None and size == POINTER_BYTES and aligned:
        return Guess(_pointer(name, "float32"), f"{words}; guessed: a pointer to float32")
    if kind is None and size in _GUESSED and aligned and size < POINTER_BYTES:
        guessed = f"guessed: {_GUESSED[size]} (or {_OTHERS[size]})"
        return Guess(_number(name, _GUESSED[size], known), f"{words}; {guessed}")
    return _struct(name, parameter, kind, words, known)


def _is_map(kind: Type | None, parameter: Parameter | None, known: Known) -> bool:
    """Tell whether a parameter is a tensor map: by its type, or by its bytes where the code has tensor copies."""
    if kind and (kind.pointer or kind.element):
        return False
    whole = parameter is not None and parameter.size == MAP_BYTES and known.copies > 0
    return whole or (kind is not None and MAP in kind.text.split())


def _tensor_map(name: str, words: str, known: Known) -> Guess:
    """Return a tensor map of as many dimensions as the code's copies; its sizes and its box are guessed."""
    axes = known.copies or 2
    given = TensorMap(size=TENSOR[:axes], box=BOX[:axes])
    one = Argument(name=name, buffer="float32", elements=prod(given.size), fill="hash 1", tensor_map=given)
    return Guess(one, f"{words}; guessed: type, size and box of the tensor")


def _of_type(name: str, kind: Type, known: Known) -> Argument:
    if not kind.pointer:
        return _number(name, kind.element, known)
    return _pointer(name, kind.element or "uint8", kind.count if _is_known(kind) else OF_STRUCT, known=_is_known(kind))


def _is_known(pointer: Type) -> bool:
    """Tell whether the size of what a pointer points at is known; that of void is a byte."""
    return bool(pointer.element) or "void" in pointer.text.split()


def _pointer(name: str, element: str, count: int = 1, *, known: bool = True) -> Argument:
    """Return a buffer for ELEMENTS values of so many elements each; what isn't `known` may hold addresses: zeros."""
    fill = "hash 1" if element.startswith("float") else "iota" if known else "zero"
    return Argument(name=name, buffer=element, elements=count * ELEMENTS, fill=fill)


def _pointed(kind: Type) -> Type | None:
    """Return the type of the pointers at which a pointer points; None where it points at other things."""
    words = kind.text.split()
    if words.count("*") != 2:
        return None
    base = " ".join(word for word in words if word not in {"const", "volatile", "*"})
    return built(base, (), ["*"])


def _addresses(name: str, inner: Type, words: str, known: Known) -> Guess:
    """Return addresses of equal parts of one further buffer."""
    element, behind = inner.element or "uint8", f"{name}_each"
    step = known.extent * inner.count * max(1, int(re.sub(r"\D", "", element) or 8) // 8)
    further = _pointer(behind, element, inner.count)
    one = Argument(name=name, buffer="uint64", elements=ELEMENTS, fill=f"addresses {behind} {step}")
    fields = {field: getattr(further, field) for field in ("name", "buffer", "elements", "fill")}
    return Guess(one, f"{words}; addresses of parts of {behind}, {step} bytes from each other", (Contents(**fields),))


def _number(name: str, element: str, known: Known) -> Argument:
    if element == "bool":
        return Argument(name=name, value=True, type=element)
    if element.startswith("float"):
        return Argument(name=name, value=1.0, type=element)
    return Argument(name=name, value=_count(element, known), type=element)


def _count(element: str, known: Known) -> int:
    """Return what a whole number is guessed to be, of a type that holds it."""
    return 1 if element.endswith("int8") else min(known.extent, 32767) if element.endswith("t16") else known.extent


def _struct(name: str, parameter: Parameter | None, kind: Type | None, words: str, known: Known) -> Guess:
    """Return a struct by value: as its source declares it, else by what the code reads of it, else zeros."""
    size = parameter.size if parameter else 0
    found = structs.members(known.source, kind.text.rpartition("::")[2]) if kind and known.source else None
    if found and structs.size(found) == size:
        rows, buffers = _declared(name, found, known)
        return Guess(Argument(name=name, struct=rows), words, buffers)
    if parameter and any(parameter.offset <= at < parameter.offset + size for at in known.read) and size % 4 == 0:
        rows, buffers = _slots(name, parameter, known)
        return Guess(Argument(name=name, struct=rows), f"{words}; guessed by what the code reads of it", buffers)
    return Guess(Argument(name=name, bytes="00" * max(1, size)), f"{words}; {OR_STRUCT}")


def _declared(name: str, found: Sequence[structs.Member], known: Known) -> tuple[list[Member], tuple[Contents, ...]]:
    """Return the members of a struct that its source declares, and the buffers to which they point."""
    rows, buffers = list[Member](), list[Contents]()
    for one in found:
        if one.element:
            value = _number("", one.element, known).value or 0
            rows.append((one.element, value if one.count == 1 else [value] * one.count))
            continue
        for number in range(one.count):
            behind = f"{name}_{one.name}" + (f"_{number}" if one.count > 1 else "")
            made = _of_type(behind, one.type, known)
            buffers.append(Contents(name=behind, buffer=made.buffer, elements=made.elements, fill=made.fill))
            rows.append(("pointer", behind))
    return rows, tuple(buffers)


def _slots(name: str, parameter: Parameter, known: Known) -> tuple[list[Member], tuple[Contents, ...]]:
    """Return eight bytes that code reads at once as an address, four as a count, and zeros for what it doesn't read."""
    rows, buffers, at, unread = list[Member](), list[Contents](), parameter.offset, 0
    whole = parameter.offset % POINTER_BYTES == 0 and parameter.size % POINTER_BYTES == 0
    end = parameter.offset + parameter.size
    while at < end:
        pair = known.read.get(at) == POINTER_BYTES or (at in known.read and at + 4 in known.read)
        address = pair and whole and at % POINTER_BYTES == 0 and at + POINTER_BYTES <= end
        if unread and at in known.read:
            rows.append(("bytes", "00" * unread))
            unread = 0
        if address:
            made = _pointer(f"{name}_{at - parameter.offset}", "float32")
            buffers.append(Contents(name=made.name, buffer=made.buffer, elements=made.elements, fill=made.fill))
            rows.append(("pointer", made.name))
        elif at in known.read:
            rows.append(("int32", known.extent))
        else:
            unread += 4
        at += POINTER_BYTES if address else 4
    return ([*rows, ("bytes", "00" * unread)] if unread else rows), tuple(buffers)
