"""Generated programs: several kernels in one text, with their launches and inputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from random import Random

import numpy as np
from numpy.typing import NDArray

from fuzz.cuda.expression import Place, expression
from fuzz.cuda.statements import block, statement

OUT, COMMON, WIDE, OWN = 40, 112, 16, 24  # words a thread; words, words of 64 bits; words a thread
PARAMETERS = np.dtype(
    [
        ("a", "u4"),
        ("b", "i4"),
        ("d", "f8"),
        ("f", "f4"),
        ("c", "u1", (5,)),
        ("h", "u2"),
        ("q", "u8"),
        ("w", "u4", (4,)),
    ],
    align=True,
)
SHAPES = (32, 1), (64, 1), (16, 4), (96, 1), (33, 1), (40, 1), (8, 6), (1, 1), (128, 1)
SPECIAL = (
    0, 1, 2, 3, 31, 32, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x3F800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x00000007,
    0x00800000, 0x3C003C00, 0x7C00FC00, 0x80000001, 0x7BFF0400, 0x3F803F80, 0x4B000000, 0xBF000000,
)  # fmt: skip


PARAMETERS_IN_C = "const u32 *__restrict__ in, u32 *out, u32 *gat, u64 *gat64, u32 *priv, S s"
FUNCTIONS = """\
FN u32 @_plain(u32 a, u32 b) {
  u32 x = %u;
  if (%u & 4u) x = x / 3u + b;
  for (u32 k = 0; k < (b & 3u); ++k) x = x * 5u + %u;
  return x;
}
FN u32 @_other(u32 a, u32 b) {
  if (a > b) return %u;
  u64 q = %q;
  return (u32)(q >> 16);
}
FN u32 @_again(u32 n, u32 a) {
  u32 b = a * 3u + n;
  if (n == 0u) return %u;
  u32 x = @_again(n - 1u, %u);
  if (x & 1u) x ^= @_again((n - 1u) >> 1, b);
  return x + %u;
}
FN P @_struct(u32 a, i32 c) {
  u32 b = (u32)c, part[4];
  P p; p.a = a + b; p.b = %q; p.c = (float)c;
  for (u32 k = 0; k < 4u; ++k) part[k] = a >> (k * 8u);
  p.a += part[b & 3u];
  return p;
}
FN void @_through(u32 *p, u32 a) {
  u32 b = *p;
  *p = %u;
  if (b & 1u) *p += a;
}
FN u32 @_meets(u32 m, u32 u0, u32 u1, const u32 *in, const S &s) {
  const u32 t = threadIdx.y * blockDim.x + threadIdx.x, lane = t & 31u;
  u32 u2 = u0 ^ u1, u3 = s.a;
  VARIABLES"""


# A thread's memory of the heap, and a line that it prints, between values that live across the calls.
SYSTEM = """\
{ u32 many = 1u + (u1 & 7u), *own = (u32 *)malloc(4u * many);
    for (u32 k = 0; k < many; ++k) own[k] = u0 * k + u2;
    u3 += SAID("%u %d %llx|%-9s|%g\\n", u0, (i32)u1, (unsigned long long)q0, u2 & 1u ? "lane" : "of", (double)f1);
    if (u0 & 4u) u3 += SAID("%5.2f\\n", d0);
    u3 ^= own[u2 % many]; free(own); }"""


@dataclass(frozen=True)
class Program:
    """A kernel's text with that of its functions, its launch, and the seed of its input."""

    name: str
    text: str
    grid: int
    block: tuple[int, int]
    seed: int

    @property
    def threads(self) -> int:
        """All threads of the launch."""
        return self.grid * self.block[0] * self.block[1]


@dataclass(frozen=True)
class Memory:
    """What a kernel reads, what it writes, and its parameter by value."""

    given: NDArray[np.uint32]
    common: NDArray[np.uint32]
    wide: NDArray[np.uint64]
    own: NDArray[np.uint32]
    parameter: np.void
    out: NDArray[np.uint32]


def memory(program: Program) -> Memory:
    """Return the input of a program: numbers of every size and kind, specials too."""
    random = np.random.default_rng(program.seed)

    def words(number: int) -> NDArray[np.uint32]:
        drawn = random.integers(0, 1 << 32, number, dtype=np.uint32)
        small = drawn >> random.integers(0, 32, number, dtype=np.uint32)
        reals = random.normal(0, 100, number).astype(np.float32).view(np.uint32)
        kinds = random.integers(0, 4, number)
        return np.choose(kinds, [drawn, small, reals, random.choice(SPECIAL, number).astype(np.uint32)])

    one = np.zeros((), PARAMETERS)
    one["a"], one["b"], one["h"], one["w"] = words(1)[0], words(1).view(np.int32)[0], words(1)[0] & 0xFFFF, words(4)
    one["d"], one["f"], one["q"] = random.normal(0, 1e3), random.normal(0, 10), words(2).view(np.uint64)[0]
    one["c"] = random.integers(0, 256, 5)
    own = words(OWN * program.threads)
    own.reshape(-1, OWN)[:, 16:20] = 0  # sums of reals, exact
    common, wide = words(COMMON), words(2 * WIDE).view(np.uint64)
    return Memory(words(1024), common, wide, own, one[()], np.zeros(OUT * program.threads, np.uint32))


def program(seed: int, since: int) -> Program:
    """Return the program of a seed, for architectures from `since` on."""
    random = Random(seed)
    x, y = random.choice(SHAPES)
    name = f"k{seed}"
    at = Place(random, since, count(), functions=name, whole=x * y % 32 == 0, uniform=True)
    lines = [*_functions(replace(at, functions="", whole=False, uniform=False, depth=1), name)]
    lines += [*head(name, x * y), *("  " + line for line in _body(at)), "}"]
    return Program(name, "\n".join(lines) + "\n", random.choice([1, 1, 2, 3]), (x, y), seed)


def head(name: str, threads: int) -> tuple[str, ...]:
    """Return the lines with which a kernel begins, for blocks of so many threads."""
    return f'extern "C" __global__ void {name}(', f"    {PARAMETERS_IN_C}) {{", f"  HEAD({threads})"


def _body(at: Place) -> Iterator[str]:
    random = at.random
    yield from block(at, random.randint(3, 9))
    if random.random() < 0.3:
        n = next(at.fresh)
        yield f"for (u32 k{n} = 0; k{n} < 1u + (s.a & 1u); ++k{n}) {{"
        yield from block(replace(at, depth=1), 3)
        yield "}"
    if random.random() < 0.35:
        n = next(at.fresh)
        yield f"bool c{n} = ({expression(at, 'u', 2)} & 3u) == 0u; u32 m{n} = __ballot_sync(m, !c{n});"
        yield f"if (c{n}) {{ SAVE(); return; }}"
        yield f"m = m{n};"
        yield from block(replace(at, whole=False, uniform=False), random.randint(1, 4))
    if Random(f"{at.functions} calls the system").random() < 0.2:  # with numbers of its own: other draws stay
        yield SYSTEM
    yield "SAVE();"


def _functions(at: Place, name: str) -> Iterator[str]:
    """Yield functions that are not inlined: plain, recursive, with a pointer, with a struct, with collectives."""
    yield re.sub(r"%(\w)", lambda kind: _of_arguments(at, kind[1]), FUNCTIONS.replace("@", name))
    inside = replace(at, mask="m")
    yield from ("  " + line for line in _without_memory(inside, 3))
    yield f"  return {expression(inside, 'u')};"
    yield "}"


def _without_memory(at: Place, number: int) -> list[str]:
    """Return statements that name no memory of the kernel's."""
    names = "priv", "wsh", "gat"
    found: list[str] = []
    while number:
        lines = statement(at)
        if not any(name in line for line in lines for name in names):
            found += lines
            number -= 1
    return found


def _of_arguments(at: Place, kind: str) -> str:
    """Return an expression of a type, of `a` and `b` only."""
    while True:
        text = expression(at, kind, 3)
        if not _MEMORY.search(text):
            return _WORD.sub(lambda word: _ARGUMENTS.get(word[0], word[0]), text)


_MEMORY = re.compile(r"\b(in|la|qa|ba)\[|\bs\.")
_WORD = re.compile(r"\w+")
_ARGUMENTS = {
    "u0": "a", "u1": "b", "u2": "(a*3u)", "u3": "(b^a)", "t": "(a^5u)", "lane": "(a&31u)", "i0": "((i32)a)",
    "i1": "((i32)b)", "i2": "((i32)(a+b))", "q0": "((u64)a*b)", "q1": "((u64)b)", "l0": "((i64)(i32)a)",
    "l1": "((i64)b)", "f0": "((float)a)", "f1": "((float)(i32)b)", "f2": "(bf(a))", "d0": "((double)a)",
    "d1": "((double)(i32)b)", "h0": "(bh(a))", "h1": "(bh(b))", "b0": "(bB(a))", "b1": "(bB(b))", "p0": "(bp(a))",
    "p1": "(bp(b))", "r0": "(br(a))", "r1": "(br(b))",
}  # fmt: skip


def source(programs: Sequence[Program]) -> str:
    """Return one text with all programs, which g++ makes an executable of."""
    cases = ", ".join(f"{{run_{one.name}, {one.grid}u, {one.block[0]}u, {one.block[1]}u}}" for one in programs)
    lines = ['#include "common.h"', *(one.text for one in programs), "#ifndef __CUDACC__", '#include "host_main.h"']
    lines += [*(f"CASE({one.name})" for one in programs), f"static const Case all[] = {{{cases}}};"]
    lines += [f"int main(int, char **files) {{ return run_all(all, {len(programs)}, files); }}", "#endif"]
    return "\n".join(lines) + "\n"
