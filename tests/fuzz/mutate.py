"""Texts changed at random: bytes, words, numbers, lines, depth and length."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

NUMBERS = (
    b"0", b"-1", b"1", b"7", b"64", b"255", b"256", b"4096", b"65536", b"2147483647", b"2147483648", b"4294967295",
    b"4294967296", b"9223372036854775807", b"9223372036854775808", b"18446744073709551616", b"1" + b"0" * 23,
    b"1" * 400, b"1e400", b"-1e-400", b"nan", b"inf", b"0x" + b"f" * 40, b"0.5", b"1_000", b"1<<40000000000", b"",
)  # fmt: skip
WORDS = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", "é".encode(), "\u202e".encode(), "\u2028".encode(), "😀".encode(), b"\r\n",
    b"\n", b"\t", b"'", b'"', b"'''", b"[", b"]", b"{", b"}", b"(", b")", b",", b":", b"=", b"#", b"//", b"--", b"%s",
    b"../", b"~", b"None", b"null", b"true", b"[]", b"{}", b"RZ", b"PT", b"R255", b"c[x]", b".grid 0", b"BRA x", b"a.",
)  # fmt: skip
DEEP = (
    b"(", b"-", b"[", b"{", b"a.", b"1+", b"x ", b"\n", b",", b"!", b"@P0 ", b'{"a":', b"= ", b"\\", b"/*", b"s_a",
    b"template<", b"__global__ ",
)  # fmt: skip
TIMES = (2, 50, 1000, 5000, 60_000)
NUMBER = re.compile(rb"-?\d+(\.\d+)?")
WORD = re.compile(rb"[\w.]+")

Mutation = Callable[[bytes, Random], bytes]


def mutated(text: bytes, others: Sequence[bytes], random: Random, mutations: Sequence[Mutation] = ()) -> bytes:
    """Return the text with one to four changes of these kinds; some take a part of another text of its kind."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        if random.random() < 0.1:
            text = spliced(text, random.choice(others), random)
        else:
            text = random.choice(mutations or MUTATIONS)(text, random)
    return text


def _place(text: bytes, random: Random) -> int:
    return random.randint(0, len(text))


def _stretch(text: bytes, random: Random) -> tuple[int, int]:
    start = _place(text, random)
    return start, min(len(text), start + random.choice((1, 1, 4, 20, 200)))


def spliced(text: bytes, other: bytes, random: Random) -> bytes:
    """Go on from some place with the end of another text."""
    return text[: _place(text, random)] + other[_place(other, random) :]


def number(text: bytes, random: Random) -> bytes:
    """Put an extreme number in the place of one."""
    return _replaced(NUMBER, text, random, random.choice(NUMBERS))


def word(text: bytes, random: Random) -> bytes:
    """Put another word, or one of the text's own, in the place of one."""
    own = WORD.findall(text)
    return _replaced(WORD, text, random, random.choice(WORDS if not own or random.random() < 0.5 else own))


def _replaced(pattern: re.Pattern[bytes], text: bytes, random: Random, by: bytes) -> bytes:
    places = list(pattern.finditer(text))
    if not places:
        return text + by
    found = random.choice(places)
    return text[: found.start()] + by + text[found.end() :]


def inserted(text: bytes, random: Random) -> bytes:
    """Put a word somewhere."""
    at = _place(text, random)
    return text[:at] + random.choice(WORDS + NUMBERS) + text[at:]


def deep(text: bytes, random: Random) -> bytes:
    """Put something somewhere many times over."""
    at = _place(text, random)
    return text[:at] + random.choice(DEEP) * random.choice(TIMES) + text[at:]


def deleted(text: bytes, random: Random) -> bytes:
    """Leave out a stretch."""
    start, end = _stretch(text, random)
    return text[:start] + text[end:]


def cut(text: bytes, random: Random) -> bytes:
    """Leave out the end."""
    return text[: _place(text, random)]


def doubled(text: bytes, random: Random) -> bytes:
    """Repeat a stretch."""
    start, end = _stretch(text, random)
    return text[:end] + text[start:end] * random.choice((1, 1, 3, 100)) + text[end:]


def scrambled(text: bytes, random: Random) -> bytes:
    """Put another byte in the place of one."""
    at = _place(text, random)
    return text[:at] + bytes([random.randrange(256)]) + text[at + 1 :]


def lines_moved(text: bytes, random: Random) -> bytes:
    """Put a line elsewhere, once more or instead of where it was."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    line = random.choice(lines)
    if random.random() < 0.5:
        lines.remove(line)
    lines.insert(random.randint(0, len(lines)), line)
    return b"".join(lines)


MUTATIONS: tuple[Mutation, ...] = (
    number, number, number, word, word, inserted, deep, deleted, cut, doubled, scrambled, lines_moved,
)  # fmt: skip
