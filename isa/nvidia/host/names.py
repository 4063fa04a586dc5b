"""What a name means at a place of CUDA C: a macro, a constant, or a variable that has had one value so far."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from isa.nvidia.host.expression import DEEPEST, UnknownError, Value, dim, evaluate
from isa.nvidia.host.text import blocks, parts

_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([\w\s,]*\))?[ \t]+([^\n]*)$", re.M)
_HEAD = re.compile(r"([A-Za-z_]\w*)\s*\(")
_CONTROL = {"for", "if", "while", "switch", "catch"}
_NO_TYPE = {"return", "else", "case", "goto", "delete", "new", "throw", "typedef", "using", "do"}
_STEP = re.compile(r"\bfor\s*\([^{};]*;[^{};]*;[^{};]*\Z")  # a loop's first turn is the first launch
_BEFORE = 400  # letters of a statement before a name
MOST = 200  # looks at names while one text is read, and values of one name: a text may come from anybody
_SETS = (
    r"(?<![\w.])(?<!->)(?:(?P<before>\+\+|--)\s*)?{name}\b(?!\s*\[)\s*"
    r"(?:=(?!=)|(?P<later>(?:[-+*/%&|^]|<<|>>)=|\+\+|--)|(?P<made>[({{]))"
)
_DECLARES = re.compile(
    r"\s*(?:for\s*\(\s*)?(?P<first>[A-Za-z_][\w:]*)[\s*&]+(?:[A-Za-z_][\w:]*[\s*&]+)*(?P<more>\w.*,\s*)?", re.S
)


@dataclass(frozen=True)
class Set:
    """A place at which a name gets a value: where, the block around it, and the text of the value (None: changed)."""

    at: int
    block: tuple[int, int]
    text: str | None
    declared: bool


@dataclass
class Names:
    """The names of a text without comments; `looked` counts, so that no text takes for ever."""

    text: str
    looked: int = 0
    macros: dict[str, tuple[tuple[str, ...] | None, str]] = field(default_factory=dict)
    blocks: Sequence[tuple[int, int]] = ()

    def value(self, text: str, at: int, depth: int = 0) -> Value:
        """Return the value that an expression has at a place; raises UnknownError with the part that has none."""
        return evaluate(text, partial(self._known, at), partial(self._called, at), depth)

    def _known(self, at: int, name: str, depth: int) -> Value:
        self._count(depth, name)
        if name in self.macros:
            parameters, body = self.macros[name]
            if parameters is not None:
                raise UnknownError(name)
            return self.value(body, at, depth)
        sets = self._sets(name, at)
        if not sets:
            return self._of_caller(name, at, depth)
        if len(sets) == 1:
            return self._of(sets[0], name, depth)
        found = {self._of(one, name, depth) for one in sets}
        if len(found) > 1:
            raise UnknownError(f"{name}, which has several values")
        return found.pop()

    def _of(self, one: Set, name: str, depth: int) -> Value:
        if one.text is None:
            raise UnknownError(f"{name}, which changes")
        if self._is_dim(one):
            return dim([self.value(each, one.at, depth) for each in parts(one.text, 0)[0]])
        return self.value(one.text, one.at, depth)

    def _is_dim(self, one: Set) -> bool:
        return re.match(r"\s*(?:static\s+|const\s+|constexpr\s+)*dim3\b", self._statement(one.at)) is not None

    def _called(self, at: int, name: str, words: Sequence[str], depth: int) -> Value | None:
        """Return what a macro with arguments gives; None if the name is none."""
        parameters, body = self.macros.get(name, (None, ""))
        if parameters is None:
            return None
        self._count(depth, name)
        if len(parameters) != len(words):
            raise UnknownError(f"{name}(...)")
        given = dict(zip(parameters, words, strict=True))
        return self.value(re.sub(r"\w+", lambda match: given.get(match[0], match[0]), body), at, depth)

    def _count(self, depth: int, name: str) -> None:
        self.looked += 1
        if depth > DEEPEST or self.looked > MOST:
            raise UnknownError(name)

    def _statement(self, at: int) -> str:
        """Return the text of a statement before a place in it."""
        before = self.text[max(0, at - _BEFORE) : at]
        return before[max(before.rfind(sign) for sign in ";{}") + 1 :]

    def around(self, at: int) -> tuple[int, int]:
        """Return the innermost block around a place."""
        return min(
            (one for one in self.blocks if one[0] < at <= one[1]),
            key=lambda b: b[1] - b[0],
            default=(-1, len(self.text)),
        )

    def _sets(self, name: str, at: int) -> list[Set]:
        """Return where a name is declared that means this one at a place, and where it gets a value from there on."""
        found, pattern = list[Set](), re.compile(_SETS.format(name=re.escape(name)))
        for match in islice(pattern.finditer(self.text, 0, at), MOST):
            block = self.around(match.start())
            if block[0] < at <= block[1] and (one := self._set(match, block)):
                found = [one] if one.declared else [*found, one]
        return found

    def _set(self, match: re.Match[str], block: tuple[int, int]) -> Set | None:
        """Return what is set at a match, if anything is, and if it is on the way of a program without arguments."""
        statement = self._statement(match.start())
        form, words = _DECLARES.fullmatch(statement), re.findall(r"\w+", statement)
        declared = form is not None and form["first"] not in _NO_TYPE
        if match["later"] or match["before"]:
            stepped = _STEP.search(self.text, max(0, match.start() - _BEFORE), match.start())
            return None if stepped else Set(match.start(), block, None, declared=False)
        if not declared and (match["made"] or "argc" in words):
            return None
        given = parts(self.text, match.end())[0] if match["made"] else parts(self.text, match.end(), ",;)")[0][:1]
        return Set(match.start(), block, ", ".join(given), declared=declared) if given else None

    def _of_caller(self, name: str, at: int, depth: int) -> Value:
        """Return the value of a function's parameter in the first call of the function that there is."""
        function, begin, parameters = self._function(at)
        which = [index for index, one in enumerate(parameters) if re.search(rf"\b{re.escape(name)}$", one)]
        if not which or not function:
            raise UnknownError(name)
        for match in re.finditer(rf"\b{re.escape(function)}\s*(?:<[\w\s,]*>)?\s*\(", self.text):
            words, end = parts(self.text, match.end())
            inside = self.around(match.start())[0] >= 0
            if inside and match.start() != begin and len(words) > which[0] and self.text[end + 1 :].lstrip()[:1] != "{":
                return self.value(words[which[0]], match.start(), depth + 1)
        raise UnknownError(f"{name}, a parameter of {function}")

    def _function(self, at: int) -> tuple[str, int, list[str]]:
        """Return name, place and parameters of the function around a place; no name if it is in none."""
        for begin, _ in sorted((one for one in self.blocks if one[0] < at <= one[1]), reverse=True):
            head = self.text[max(0, begin - _BEFORE) : begin]
            start = max(head.rfind(sign) for sign in ";}") + 1
            match = _HEAD.search(head, start)
            if match and match[1] not in _CONTROL:
                return match[1], max(0, begin - _BEFORE) + match.start(), parts(head, match.end())[0]
        return "", -1, []


def names(text: str) -> Names:
    """Return the names of a text without comments (isa.nvidia.host.text.bare)."""
    found = Names(text, blocks=tuple(blocks(text)))
    for match in _MACRO.finditer(text):
        parameters = None if match[2] is None else tuple(one.strip() for one in match[2][1:-1].split(","))
        found.macros.setdefault(match[1], (parameters, match[3]))
    return found
