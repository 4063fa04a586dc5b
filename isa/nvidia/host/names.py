"""What a name means at a place of CUDA C: a macro, a constant, or a variable that has had one value so far."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from isa.nvidia.host import blocks
from isa.nvidia.host.blocks import Blocks
from isa.nvidia.host.expression import DEEPEST, LONGEST, UnknownError, Value, dim, evaluate
from isa.nvidia.host.text import parts

_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([\w\s,]*\))?[ \t]+([^\n]*)$", re.M)
_HEAD = re.compile(r"([A-Za-z_]\w*)\s*\(")
_CONTROL = {"for", "if", "while", "switch", "catch"}
_NO_TYPE = {"return", "else", "case", "goto", "delete", "new", "throw", "typedef", "using", "do"}
_STEP = re.compile(r"\bfor\s*\([^{};]*;[^{};]*;[^{};]*\Z")  # a loop's first turn is the first launch
_BEFORE = 400  # letters of a statement before a name
MOST = 200  # looks at names while one text is read: it may come from anybody
MATCHES = 2000  # places with a name or a call that all of these looks come by
_BODY = re.compile(r"\s*\{")  # of a function: what stands before it is no call
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
    """The names of a text without comments; `looked` and `matched` count, so that no text takes for ever."""

    text: str
    blocks: Blocks
    looked: int = 0
    matched: int = 0
    macros: dict[str, tuple[tuple[str, ...] | None, str]] = field(default_factory=dict)

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
        if len(body) > LONGEST:
            raise UnknownError(f"{name}(...), which is long")
        given = dict(zip(parameters, words, strict=True))
        pieces = [given.get(one, one) for one in re.split(r"(\w+)", body)]
        if sum(map(len, pieces)) > LONGEST:
            raise UnknownError(f"{name}(...), which is long")
        return self.value("".join(pieces), at, depth)

    def _count(self, depth: int, name: str) -> None:
        self.looked += 1
        if depth > DEEPEST or self.looked > MOST:
            raise UnknownError(name)

    def _statement(self, at: int) -> str:
        """Return the text of a statement before a place in it."""
        before = self.text[max(0, at - _BEFORE) : at]
        return before[max(before.rfind(sign) for sign in ";{}") + 1 :]

    def _matches(self, pattern: re.Pattern[str], name: str, end: int) -> Iterator[re.Match[str]]:
        """Yield the matches of a pattern up to a place; raises UnknownError where all so far are too many."""
        for match in pattern.finditer(self.text, 0, end):
            self.matched += 1
            if self.matched > MATCHES:
                raise UnknownError(name)
            yield match

    def _sets(self, name: str, at: int) -> list[Set]:
        """Return where a name is declared that means this one at a place, and where it gets a value from there on."""
        found, pattern = list[Set](), re.compile(_SETS.format(name=re.escape(name)))
        for match in self._matches(pattern, name, at):
            block = self.blocks.around(match.start())
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
        pattern = re.compile(rf"\b{re.escape(function)}\s*(?:<[\w\s,]*>\s*)?\(")
        for match in self._matches(pattern, name, len(self.text)):
            if match.start() == begin or self.blocks.around(match.start()) == self.blocks.whole:
                continue
            words, end = parts(self.text, match.end())
            if len(words) > which[0] and not _BODY.match(self.text, end + 1):
                return self.value(words[which[0]], match.start(), depth + 1)
        raise UnknownError(f"{name}, a parameter of {function}")

    def _function(self, at: int) -> tuple[str, int, list[str]]:
        """Return name, place and parameters of the function around a place; no name if it is in none."""
        for begin, _ in islice(self.blocks.outwards(at), DEEPEST):
            head = self.text[max(0, begin - _BEFORE) : begin]
            start = max(head.rfind(sign) for sign in ";}") + 1
            match = _HEAD.search(head, start)
            if match and match[1] not in _CONTROL:
                return match[1], max(0, begin - _BEFORE) + match.start(), parts(head, match.end())[0]
        return "", -1, []


def names(text: str) -> Names:
    """Return the names of a text without comments (isa.nvidia.host.text.bare)."""
    found = Names(text, blocks.found(text))
    for match in _MACRO.finditer(text):
        parameters = None if match[2] is None else tuple(one.strip() for one in match[2][1:-1].split(","))
        found.macros.setdefault(match[1], (parameters, match[3]))
    return found
