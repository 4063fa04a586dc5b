"""Every result of the interpolated functions over whole intervals, as differences from the rounded true value.

`python -m hardware.sweep compile FOLDER`, then `run FOLDER` on a GPU of compute capability 9. A file holds the
differences of consecutive patterns, in units of the last place, as int32.
"""

import argparse
import ctypes
import lzma
import subprocess
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hardware.driver import Device
from hardware.snippet import HEADER

ONE, BINADE = 0x3F800000, 1 << 23
OVER_TURN, UNSCALED = bytes.fromhex("83f9223e"), bytes.fromhex("0000803f")  # 1 / (2 pi), by which sin.approx multiplies
MOST_BYTES = 15 << 20  # of a file
THREADS = 1024


@dataclass(frozen=True)
class Sweep:
    """Patterns `first`, `first + step`, ... of a function; `name` is that of a kernel."""

    name: str
    first: int
    count: int
    step: int = 1

    @property
    def file(self) -> str:
        """Name of its file."""
        return f"{self.name}_{self.first:08x}_{self.count:x}_{self.step:x}"


def turns(function: Callable) -> Callable:
    """Return a function of whole turns."""
    return lambda x: function(2 * np.pi * (x - np.round(x)))


FUNCTIONS = {
    "rcp": ("rcp.approx.ftz.f32", lambda x: 1 / x),
    "rsq": ("rsqrt.approx.ftz.f32", lambda x: 1 / np.sqrt(x)),
    "sqrt": ("sqrt.approx.ftz.f32", np.sqrt),
    "lg2": ("lg2.approx.ftz.f32", np.log2),
    "ex2": ("ex2.approx.ftz.f32", np.exp2),
    "sin": ("sin.approx.ftz.f32", turns(np.sin)),
    "cos": ("cos.approx.ftz.f32", turns(np.cos)),
    "tanh": ("tanh.approx.f32", np.tanh),
}
DOUBLES = {
    "rcp64h": ("rcp.approx.ftz.f64", lambda x: 1 / x),
    "rsq64h": ("rsqrt.approx.ftz.f64", lambda x: 1 / np.sqrt(x)),
}
WHOLE = {"rcp": [0], "rsq": [0, 1], "ex2": [0, -1], "lg2": [0, -1], "sqrt": [0, 1], "sin": [-3, -2], "cos": [-3, -2],
         "tanh": [-1, 0]}  # fmt: skip
FURTHER = {"ex2": [-2, -6, 2], "lg2": [1, 6], "sin": [-4, -1, 0, -8], "cos": [-4, -1, 0, -8],
           "tanh": [-2, -3, 1, 2, -4, -5, -6, -7, -8, 3]}  # fmt: skip


def sweeps() -> list[Sweep]:
    """Return the sweeps, the most wanted first."""
    found = [Sweep(name, 0, 1 << 20, 4096 - 1) for name in FUNCTIONS]
    found += [Sweep(name, 0x3FF00000, 2 << 20) for name in DOUBLES]
    found += [Sweep(name, ONE + k * BINADE, BINADE) for name, places in WHOLE.items() for k in places]
    found.append(Sweep("ex2", ONE + (1 << 31), BINADE))
    found += [Sweep(name, ONE + k * BINADE, BINADE) for name, places in FURTHER.items() for k in places]
    return found


def source() -> str:
    """Return the kernels: out[i] = f(first + i * step)."""
    head = (
        ".visible .entry {name}(.param .u64 out, .param .u32 first, .param .u32 step)\n{{ .reg .b32 i, n, t, x, y;"
        " .reg .b64 o, p, q; mov.u32 i, %tid.x; mov.u32 n, %ctaid.x; mov.u32 t, %ntid.x; mad.lo.u32 i, n, t, i;"
        " ld.param.u64 o, [out]; mad.wide.u32 o, i, 4, o; ld.param.u32 x, [first]; ld.param.u32 t, [step];"
        " mad.lo.u32 x, i, t, x; {body} st.global.b32 [o], y; ret; }}\n"
    )
    wide = "mov.b32 y, 0; mov.b64 p, {{y, x}}; {0} q, p; mov.b64 {{t, y}}, q;"
    text = HEADER + "".join(head.format(name=n, body=f"{f} y, x;") for n, (f, _) in FUNCTIONS.items())
    return text + "".join(head.format(name=n, body=wide.format(f)) for n, (f, _) in DOUBLES.items())


def patterns(one: Sweep) -> np.ndarray:
    """Return the arguments of a sweep."""
    return (np.uint32(one.first) + np.arange(one.count, dtype=np.uint32) * np.uint32(one.step)).astype(np.uint32)


def expected(one: Sweep) -> np.ndarray:
    """Return the patterns of the true values, rounded; of doubles the upper words."""
    with np.errstate(all="ignore"):
        if one.name in DOUBLES:
            x = (patterns(one).astype(np.uint64) << np.uint64(32)).view(np.float64)
            return (DOUBLES[one.name][1](x).view(np.uint64) >> np.uint64(32)).astype(np.uint32)
        x = patterns(one).view(np.float32).astype(np.float64)
        return FUNCTIONS[one.name][1](x).astype(np.float32).view(np.uint32)


def packed(task: tuple[Sweep, np.ndarray]) -> tuple[str, bytes]:
    """Return the name and the compressed differences of a sweep."""
    one, found = task
    return one.file, lzma.compress((found - expected(one)).view(np.int32).tobytes(), preset=1)


def compiled(folder: Path, ptxas: str) -> None:
    """Write the cubin, in which sines and cosines take whole turns."""
    (folder / "sweep.ptx").write_text(source())
    subprocess.run([ptxas, "-arch=sm_90", "-o", str(folder / "sweep.cubin"), str(folder / "sweep.ptx")], check=True)
    code = (folder / "sweep.cubin").read_bytes()
    assert code.count(OVER_TURN) == 2
    (folder / "sweep.cubin").write_bytes(code.replace(OVER_TURN, UNSCALED))


def recorded(folder: Path, out: Path, most_files: int) -> None:
    """Run all sweeps and write what fits into so many files, each a sequence of name, length and bytes."""
    device, tasks = Device((folder / "sweep.cubin").read_bytes()), []
    place = device.room(4 * BINADE)
    for one in sweeps():
        step = ctypes.c_uint32(one.step)
        device.run(one.name, one.count // THREADS, THREADS, [place, ctypes.c_uint32(one.first), step])
        tasks.append((one, device.take(place, np.empty(one.count, np.uint32))))
    files = [bytearray() for _ in range(most_files)]
    with ProcessPoolExecutor() as pool:
        for name, data in pool.map(packed, tasks):
            room = next((file for file in files if len(file) + len(data) + 100 < MOST_BYTES), None)
            print(name, len(data), "kept" if room is not None else "left out", flush=True)  # noqa: T201
            if room is not None:
                room += f"{name} {len(data)}\n".encode() + data
    for number, file in enumerate(files):
        if file:
            (out / f"sweep{number}.bin").write_bytes(file)


def main() -> None:
    """Do what the command line says."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("step", choices=("compile", "run"))
    options.add_argument("folder", type=Path)
    options.add_argument("--ptxas", default="ptxas")
    options.add_argument("--out", type=Path, default=Path())
    options.add_argument("--files", type=int, default=4)
    given = options.parse_args()
    if given.step == "compile":
        compiled(given.folder, given.ptxas)
    else:
        recorded(given.folder, given.out, given.files)


if __name__ == "__main__":
    main()
