"""Statements of a generated program at random; lanes of a warp go ways of their own, and meet where masks say so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fuzz.cuda.expression import KINDS, Place, expression, variable

Lines = list[str]
Statement = Callable[[Place], Lines]


def block(at: Place, number: int) -> Lines:
    """Return so many statements."""
    return [line for _ in range(number) for line in statement(at)]


def statement(at: Place) -> Lines:
    """Return a statement that may stand in this place."""
    kinds: list[Statement] = [assignment] * 6 + [array, array, own_memory, own_atomic, common_atomic, call]
    if at.depth > 0:
        kinds += [branch, branch, loop, cut_loop, selection]
    if at.mask:
        kinds += [collective] * 3 + [exchange]
    if at.uniform:
        kinds += [shared, shared, shared_atomic, counted_barrier]
    return at.random.choice(kinds)(at)


def _e(at: Place, kind: str, depth: int = 3) -> str:
    return expression(at, kind, depth)


def _inner(at: Place, mask: str, number: int = 3) -> Lines:
    inside = replace(at, mask=mask, whole=False, uniform=False, depth=at.depth - 1)
    return ["  " + line for line in block(inside, at.random.randint(1, number))]


def assignment(at: Place) -> Lines:
    """A variable takes a new value."""
    kind = at.random.choice(KINDS)
    target = variable(at, kind)
    if kind in "uq" and at.random.random() < 0.3:
        return [f"{target} {at.random.choice('+-^|&*')}= {_e(at, kind, 2)};"]
    return [f"{target} = {_e(at, kind)};"]


def array(at: Place) -> Lines:
    """An element of a local array, whose index is known at run time, takes a value."""
    name, most, kind = at.random.choice([("la", 7, "u"), ("qa", 3, "q"), ("ba", 15, "u")])
    cast = "(u8)" if name == "ba" else ""
    return [f"{name}[{_e(at, 'u', 2)} & {most}u] = {cast}{_e(at, kind, 2)};"]


def own_memory(at: Place) -> Lines:
    """A thread's own words of global memory, in every width."""
    row = "priv + 24u * g"
    return [
        at.random.choice(
            [
                f"(({row}))[{_e(at, 'u', 2)} & 7u] = {_e(at, 'u', 2)};",
                f"((u8 *)({row}))[{_e(at, 'u', 2)} & 31u] = (u8){_e(at, 'u', 2)};",
                f"((u16 *)({row} + 8u))[{_e(at, 'u', 2)} & 7u] = (u16){_e(at, 'u', 2)};",
                f"((u64 *)({row} + 12u))[{_e(at, 'u', 2)} & 1u] = {_e(at, 'q', 2)};",
                f"*(uint4 *)({row}) = make_uint4({', '.join(_e(at, 'u', 1) for _ in range(4))});",
                f"{{ uint2 v = *(const uint2 *)({row} + 2u); u0 ^= v.x; u1 += v.y; }}",
                f"{variable(at, 'u')} = ((u8 *)({row}))[{_e(at, 'u', 2)} & 31u];",
                f"{variable(at, 'i')} = ((i8 *)({row}))[{_e(at, 'u', 2)} & 31u];",
                f"{variable(at, 'i')} = ((i16 *)({row} + 8u))[{_e(at, 'u', 2)} & 7u];",
                f"{variable(at, 'u')} = ((u16 *)({row} + 8u))[{_e(at, 'u', 2)} & 7u];",
                f"{variable(at, 'q')} = ((u64 *)({row} + 12u))[{_e(at, 'u', 2)} & 1u];",
            ]
        )
    ]


def own_atomic(at: Place) -> Lines:
    """An atomic on a word that no other thread touches; its result is used."""
    name = at.random.choice(["Add", "Sub", "Min", "Max", "And", "Or", "Xor", "Exch", "Inc", "Dec", "CAS"])
    near = f"spriv + 2u * t + ({_e(at, 'u', 1)} & 1u)"
    word = f"priv + 24u * g + ({_e(at, 'u', 1)} & 7u)" if at.random.random() < 0.6 else near
    compared = f"{_e(at, 'u', 1)}, " if name == "CAS" else ""
    wide = at.random.choice(["Add", "Min", "Max", "And", "Or", "Xor", "Exch", "CAS"])
    other = f"{_e(at, 'q', 1)}, " if wide == "CAS" else ""
    extreme = at.random.choice(["Min", "Max"])
    small, signed = f"({_e(at, 'u', 1)} & 15u)", at.random.choice(["Min", "Max", "Add", "Exch"])
    choices = [
        f"{variable(at, 'u')} = atomic{name}({word}, {compared}{_e(at, 'u', 2)});",
        f"{variable(at, 'u')} = atomic{name}({word}, {compared}{_e(at, 'u', 2)});",
        f"{variable(at, 'i')} = atomic{signed}((i32 *)({word}), {_e(at, 'i', 2)});",
        f"{variable(at, 'q')} = atomic{wide}((u64 *)(priv + 24u * g + 12u), {other}{_e(at, 'q', 2)});",
        f"{variable(at, 'l')} = atomic{extreme}((i64 *)(priv + 24u * g + 14u), {_e(at, 'l', 2)});",
        f"{variable(at, 'f')} = atomicAdd((float *)(priv + 24u * g + 16u), (float){small});",
        f"{variable(at, 'd')} = atomicAdd((double *)(priv + 24u * g + 18u), (double){small});",
    ]
    return [at.random.choice(choices)]


def common_atomic(at: Place) -> Lines:
    """An atomic on words of all threads, whose order makes no difference."""
    random = at.random
    names = ["Add", "Min", "Max", "And", "Or", "Xor"]
    at_word = f"({_e(at, 'u', 1)} & {random.choice([0, 3, 15])}u)"
    n = random.randrange(8)
    if n < 6:
        return [f"atomic{names[n]}(gat + {16 * n}u + {at_word}, {_e(at, 'u', 2)});"]
    if n == 6:
        return [f"atomicMin((i32 *)gat + 96u + {at_word}, {_e(at, 'i', 2)});"]
    k = random.randrange(2)
    return [f"atomic{names[k * 2]}(gat64 + {8 * k}u + ({at_word} & 7u), {_e(at, 'q', 2)});"]


def call(at: Place) -> Lines:
    """A call of a function: a plain one, one of two through a pointer, one that calls itself, one with collectives."""
    f, random = at.functions, at.random
    if not f:
        return assignment(at)
    a, b = _e(at, "u", 2), _e(at, "u", 2)
    choices = [
        f"{variable(at, 'u')} = {f}_plain({a}, {b});",
        f"{variable(at, 'u')} ^= {f}_other({a}, {b});",
        f"{variable(at, 'u')} = (({_e(at, 'u', 1)} & 1u) ? {f}_plain : {f}_other)({a}, {b});",
        f"{variable(at, 'u')} = {f}_again({a} & 3u, {b});",
        f"{{ P v = {f}_struct({a}, {_e(at, 'i', 2)}); u1 += v.a; q0 ^= v.b; f1 = v.c; }}",
        f"{f}_through(&{random.choice(['u1', 'la[u0 & 7u]', 'spriv[2u * t]', '*(priv + 24u * g)'])}, {a});",
    ]
    if at.mask:
        choices += [f"{variable(at, 'u')} = {f}_meets({at.mask}, {a}, {b}, in, s);"] * 2
    return [random.choice(choices)]


def branch(at: Place) -> Lines:
    """Lanes part, and meet again; within, they know each other if a ballot was taken."""
    n = next(at.fresh)
    lines = [f"bool c{n} = {_condition(at)};"]
    yes = no = ""
    if at.mask and at.random.random() < 0.7:
        yes, no = f"m{n}", f"w{n}"
        lines += [f"u32 m{n} = __ballot_sync({at.mask}, c{n}), w{n} = {at.mask} & ~m{n};"]
    lines += [f"if (c{n}) {{", *_inner(at, yes)]
    if at.random.random() < 0.6:
        lines += ["} else {", *_inner(at, no)]
    return [*lines, "}"]


def _condition(at: Place) -> str:
    random = at.random
    return random.choice(
        [
            f"({_e(at, 'u', 2)} & {random.choice([1, 2, 3, 4])}u) != 0u",
            f"{_e(at, 'u', 1)} < {_e(at, 'u', 1)}",
            f"{_e(at, 'f', 1)} > {_e(at, 'f', 1)}",
            f"{_e(at, 'i', 1)} <= {_e(at, 'i', 1)} && lane > {random.randrange(32)}u",
            f"lane < {random.randrange(1, 32)}u",
            f"(lane >> {random.randrange(4)}) & 1u",
            f"{_e(at, 'd', 1)} == {_e(at, 'd', 1)} || {_e(at, 'u', 1)} & 1u",
        ]
    )


def loop(at: Place) -> Lines:
    """A loop that lanes leave at different rounds; with a mask, those that stay know each other."""
    n = next(at.fresh)
    most = at.random.choice([1, 3, 7])
    bound = f"({_e(at, 'u', 2)} & {most}u)" if at.random.random() < 0.7 else f"{most}u"
    if at.mask and at.random.random() < 0.7:
        head = [f"u32 n{n} = {bound}, m{n} = {at.mask};", f"for (u32 k{n} = 0;; ++k{n}) {{"]
        head += [f"  m{n} = __ballot_sync(m{n}, k{n} < n{n}); if (k{n} >= n{n}) break;"]
        return [*head, *_inner(at, f"m{n}", 2), "}"]
    unrolled = at.random.choice(["", "#pragma unroll 1", "#pragma unroll"])
    lines = [unrolled] if unrolled else []
    return [*lines, f"for (u32 k{n} = 0; k{n} < {bound}; ++k{n}) {{", *_inner(at, "", 2), "}"]


def cut_loop(at: Place) -> Lines:
    """A loop with `continue` and `break` in some lanes, or one that asks at its end."""
    n = next(at.fresh)
    if at.random.random() < 0.4:
        return [
            f"u32 n{n} = {_e(at, 'u', 2)} & 31u;",
            "do {",
            *_inner(at, "", 2),
            f"  n{n} >>= 1u;",
            f"}} while (n{n});",
        ]
    lines = [f"for (u32 k{n} = 0; k{n} < {at.random.randint(1, 6)}u; ++k{n}) {{"]
    lines += [f"  if ({_condition(at)}) continue;"] if at.random.random() < 0.7 else []
    lines += [*_inner(at, "", 2), f"  if ({_condition(at)}) break;", *_inner(at, "", 1), "}"]
    return lines


def selection(at: Place) -> Lines:
    """A switch: some cases go on into the next, or lanes of the same case know each other."""
    n, random = next(at.fresh), at.random
    number = random.choice([2, 3, 4, 7, 9])
    lines, mask = [f"u32 s{n} = {_e(at, 'u', 2)} % {number + random.randrange(3)}u;"], ""
    if at.mask and random.random() < 0.5:
        mask = f"m{n}"
        lines += [f"u32 m{n} = __match_any_sync({at.mask}, s{n});"]
    lines += [f"switch (s{n}) {{"]
    for k in range(number):
        lines += [f"case {k if random.random() < 0.8 else k + 100}: {{", *_inner(at, mask, 2), "}"]
        lines += ["  break;"] if mask or random.random() < 0.7 else []
    return [*lines, "default: {", *_inner(at, mask, 2), "}", "}"]


def collective(at: Place) -> Lines:
    """A function of all lanes of the mask."""
    m, random = at.mask, at.random
    kind = random.choice("uuiqlfdhpb")
    value = f"__shfl_sync({m}, {_e(at, kind, 2)}, (int)pick({m}, {_e(at, 'u', 1)}))"
    if at.whole and random.random() < 0.6:
        width = random.choice([32, 32, 32, 16, 8, 4, 2])
        way = random.choice(["_up", "_down", "_xor", ""])
        lanes = f"(int)({_e(at, 'u', 1)} & 31u)" if not way else f"({random.choice(['1', '2', '16', '5', 'u1 & 31u'])})"
        value = f"__shfl{way}_sync({m}, {_e(at, kind, 2)}, {lanes}, {width})"
    if kind == "b" and random.random() < 0.5:
        kind, value = "u", f"(u32)__popc(__match_any_sync({m}, {_e(at, 'q', 1)} & 3ull))"
    u = variable(at, "u")
    choices = [
        f"{u} = __ballot_sync({m}, {_condition(at)});",
        f"{u} += (u32)__any_sync({m}, {_condition(at)}) + 2u * (u32)__all_sync({m}, {_condition(at)});",
        f"{u} = __match_any_sync({m}, {_e(at, 'u', 2)} & 3u);",
        f"{{ int all; {u} ^= __match_all_sync({m}, {_e(at, 'u', 2)} & 1u, &all); u0 += (u32)all; }}",
        f"{u} = {random.choice(['RADD', 'RMIN', 'RMAX', 'RAND', 'ROR', 'RXOR'])}({m}, {_e(at, 'u', 2)});",
        f"{variable(at, 'i')} = {random.choice(['RADD', 'RMIN', 'RMAX'])}({m}, {_e(at, 'i', 2)});",
    ]
    return [random.choice(choices + [f"{variable(at, kind)} = {value};"] * 5)]


def exchange(at: Place) -> Lines:
    """Lanes give each other words by shared memory, in order by `__syncwarp`."""
    m, n = at.mask, next(at.fresh)
    return [
        f"wsh[t] = {_e(at, 'u', 2)}; __syncwarp({m});",
        f"u32 x{n} = wsh[(t & ~31u) + pick({m}, {_e(at, 'u', 1)})]; __syncwarp({m});",
        f"{variable(at, 'u')} ^= x{n};",
    ]


_SHARED = (
    ("sh", "u", ""), ("sh", "u", ""), ("sq", "q", ""), ("sb", "u", "(u8)"), ("ss", "u", "(u16)"), ("sf", "f", ""),
    ("sd", "d", ""),
)  # fmt: skip


def shared(at: Place) -> Lines:
    """Threads of the block give each other elements of every width by shared memory, between barriers."""
    random, n = at.random, next(at.fresh)
    name, kind, cast = random.choice(_SHARED)
    other = random.choice([f"{_e(at, 'u', 2)} % T", "(t * 7u + 3u) % T", "T - 1u - t", "(t + 1u) % T"])
    lines = [f"{name}[t] = {cast}{_e(at, kind, 2)}; __syncthreads();", f"auto x{n} = {name}[{other}];"]
    if random.random() < 0.3:
        lines = [f"sv[t] = make_uint4({', '.join(_e(at, 'u', 1) for _ in range(4))}); __syncthreads();"]
        lines += [f"uint4 y{n} = sv[{other}]; u32 x{n} = y{n}.x + (y{n}.y ^ y{n}.z) * 3u + y{n}.w;"]
        kind = "u"
    target = variable(at, kind)
    return [*lines, f"__syncthreads(); {target} = {f'x{n}' if kind in 'fd' else f'{target} ^ x{n}'};"]


def shared_atomic(at: Place) -> Lines:
    """Atomics on words of shared memory whose order makes no difference."""
    name = at.random.choice(["Add", "Min", "Max", "And", "Or", "Xor"])
    return [
        f"for (u32 z = t; z < 8u; z += T) sat[z] = {_e(at, 'u', 2)}; __syncthreads();",
        f"atomic{name}(&sat[{_e(at, 'u', 1)} & 7u], {_e(at, 'u', 2)}); __syncthreads();",
        f"{variable(at, 'u')} = sat[{_e(at, 'u', 1)} & 7u]; __syncthreads();",
    ]


def counted_barrier(at: Place) -> Lines:
    """A barrier that counts the threads for which something holds."""
    name = at.random.choice(["_or", "_count"])
    return [f"{variable(at, 'u')} += (u32)__syncthreads{name}({_condition(at)});"]
