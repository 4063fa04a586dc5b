"""Parts of small programs (`sketch.py`) that access memory, or wait for it."""

from __future__ import annotations

from strategies.drawing import DATA, INPUT_WORDS, SLOT_BYTES, Sketch, alu, few


def _transfer(sketch: Sketch, space: str, place: str) -> None:
    suffix, words = sketch.one([("", 1), (".64", 2), (".128", 4)])
    offset = sketch.one(range(0, SLOT_BYTES, 4 * words))
    where = f"[{place}+{offset:#x}]"
    load, store = f"LD{space}{suffix} {sketch.data(words)}, {where}", f"ST{space}{suffix} {where}, {sketch.data(words)}"
    sketch.emit(sketch.guard() + sketch.one([load, store]))


def own_shared(sketch: Sketch) -> None:
    _transfer(sketch, "S", "R1")


def own_atomic(sketch: Sketch) -> None:
    """Emit an atomic on a word of the thread's slot, or a load of a byte of it."""
    shared = ["ATOMS.ADD {}, [R1+4], {}", "ATOMS.CAS {}, [R1+4], {}, {}", "LDS.U8 {}, [R1+6]"]
    atomic = sketch.one([*shared, "ATOMG.ADD {}, [R2+4], {}", "ATOMG.CAS {}, [R2+8], {}, {}", "RED.ADD [R2+4], {}"])
    sketch.emit(sketch.guard() + atomic.format(sketch.data(), sketch.data(), sketch.data()))


def own_matrix(sketch: Sketch) -> None:
    """Emit a load or store of matrices whose rows are the slots of the warp's active lanes."""
    suffix, words = sketch.one([("", 1), (".2", 2), (".4", 4)])
    name = f"SM.16.{sketch.one(['M88', 'MT88'])}{suffix}"
    load, store = f"LD{name} {sketch.data(words)}, [R1]", f"ST{name} [R1], {sketch.data(words)}"
    sketch.emit(sketch.guard() + sketch.one([load, store]))


def own_global(sketch: Sketch) -> None:
    _transfer(sketch, "G", "R2")


def own_local(sketch: Sketch) -> None:
    _transfer(sketch, "L", "RZ")


def gather(sketch: Sketch) -> None:
    suffix, words = sketch.one([("", 1), (".64", 2), (".128", 4), (".STRONG.GPU", 1)])
    mask = INPUT_WORDS * 4 - 4 * words
    sketch.emit(f"LOP.AND R7, {sketch.data()}, {mask:#x}", "IADD R7, R7, R3")
    sketch.emit(f"{sketch.guard()}LDG{suffix} {sketch.data(words)}, [R7]")


def walk(sketch: Sketch) -> None:
    """Load from the pointer, which a round of a loop may move."""
    suffix, words = sketch.one([("", 1), (".64", 2), (".128", 4)])
    sketch.emit(f"{sketch.guard()}LDG{suffix} {sketch.data(words)}, [R24]")


def constant(sketch: Sketch) -> None:
    """Emit a load of constants: of one word, or of one for each lane or for some of them."""
    place = sketch.one(["R3+0x44", "R7", "R7"])
    if place == "R7":
        sketch.emit(f"LOP.AND R7, R1, {sketch.one([0x10, 0x70, 0x1F0]):#x}", "IADD R7, R7, R3")
    sketch.emit(f"{sketch.guard()}LDC {sketch.data()}, [{place}]")


def texture(sketch: Sketch) -> None:
    for _ in range(sketch.one(range(1, 4))):
        index = sketch.one(["R0", "R5", "R25"] if sketch.steady else ["R0", "R4", sketch.data()])
        suffix, words = sketch.one([("", 1), ("", 1), (".64", 2), (".128", 4)])
        row = sketch.one(["R0", "R25", "RZ"] if sketch.steady else ["R0", "R4", "RZ"])  # R25 counts rounds
        mnemonic, rows = sketch.one([("TEX", ""), ("TEX.2D", f", {row}, 8")])
        sketch.emit(f"{sketch.guard()}{mnemonic}{suffix} {sketch.data(words)}, tex[in], {index}{rows}")


def copies(sketch: Sketch) -> None:
    """Emit asynchronous copies into the thread's slot, each a group, and waits for all but some and for all of them."""
    suffix, places = sketch.one([("", (0, 4, 12)), (".64", (0, 8)), (".128", (0,)), ("", (8,))])
    for place in places:
        sketch.emit(f"LOP.AND R7, {sketch.data()}, {INPUT_WORDS * 4 - 16:#x}", "IADD R7, R7, R3")
        zeros = sketch.one(["", "", ", P1", ", !P0"])
        sketch.emit(f"{sketch.guard()}LDGSTS{suffix} [R1+{place}], [R7]{zeros}", *sketch.one([["LDGDEPBAR"], []]))
    sketch.emit("LDGDEPBAR")
    for most in (sketch.one([0, 1, 2]), 0):
        few(sketch)
        if sketch.barriers or sketch.one([True, True, False]):
            sketch.emit(f"DEPBAR.LE SB0, {most}")


def burst(sketch: Sketch) -> None:
    """Emit instructions for one unit that do not wait for each other, so that its pipe or queue fills."""
    arithmetic = ("DADD {}, {}, {}", "DFMA {}, {}, {}, {}", "MUFU.EX2 {}, {}", "IMUL {}, {}, {}")
    loads = ("TEX {}, tex[in], R0", "LDS.128 {}, [R1]", "STS.128 [R1], {}", "LDG.128 {}, [R3]")
    text = sketch.one((*arithmetic[:2], *arithmetic, *loads))  # often double precision, which may exclude others
    for register in range(DATA[0], DATA[0] + 4 * sketch.one([2, 3, 4]), 4):
        sketch.emit(text.replace("{}", f"R{register}"))


def wait(sketch: Sketch) -> None:
    """Emit a wait for counts of accesses, which has an effect on machines with the counters."""
    sketch.emit(f"S_WAITCNT {sketch.one([0, 1, 2, 63])}, {sketch.one([0, 1, 63])}")


def fence(sketch: Sketch) -> None:
    """Emit a fence, now and then right behind a store or load."""
    sketch.one([own_global, own_local, alu])(sketch)
    sketch.emit(f"{sketch.guard()}MEMBAR.{sketch.one(['SC.GPU', 'ALL.GPU', 'SC.SYS', 'SC.CTA'])}")
