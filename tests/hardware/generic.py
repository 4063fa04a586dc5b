"""Snippets of loads, stores and atomics by addresses of which the code does not say the space."""

from collections.abc import Iterator

from hardware.memory import ATOMICS
from hardware.snippet import PAIR, WORD, Snippet, written


def snippets() -> Iterator[Snippet]:
    """Yield all of these."""
    yield from atomics()
    yield from accesses()


def atomics() -> Iterator[Snippet]:
    """Each operation, with what it returns and without."""
    for inputs, names in ATOMICS.items():
        bits = PAIR if inputs in ("b64", "f64") else WORD
        for name in names:
            left = f"ld.volatile.b{bits} d1, [C];"
            yield written(
                "atomic", inputs, f"atom generic {name}", f"atom.{name} d0, [C], a; {left}", (bits,) * 3, (bits,) * 2
            )
            if not name.startswith("exch"):
                body = f"red.{name} [C], a; mov.b{bits} d0, a; {left}"
                yield written("atomic", inputs, f"red generic {name}", body, (bits,) * 3, (bits,) * 2)
    for bits, inputs in ((WORD, "b32"), (PAIR, "b64")):
        body = f"atom.cas.b{bits} d0, [C], c, a; ld.volatile.b{bits} d1, [C];"
        yield written("atomic", inputs, f"atom generic cas.b{bits}", body, (bits,) * 3, (bits,) * 2)


def accesses() -> Iterator[Snippet]:
    """Loads and stores of each size."""
    body = "ld.b32 d0, [A]; st.b32 [A], b; ld.volatile.b32 d1, [A];"
    yield written("access", "b32", "generic", body, (WORD,) * 2, (WORD,) * 2)
    body = "ld.b64 d0, [A]; st.b64 [A], b; ld.volatile.b64 d1, [A];"
    yield written("access", "b64", "generic b64", body, (PAIR,) * 2, (PAIR,) * 2)
    for kind in ("u8", "s8", "u16", "s16"):
        body = f"ld.{kind} h0, [A]; cvt.{kind[0]}32.{kind[0]}16 d0, h0; cvt.u16.u32 h1, b; st.b{kind[1:]} [A], h1;"
        body += " ld.volatile.b32 d1, [A];"
        yield written("access", "b32", f"generic {kind}", body, (WORD,) * 2, (WORD,) * 2)
