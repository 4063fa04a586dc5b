"""Textures and coordinates at which the fetches of textures.cu are made; the table says what an H200 found there.

`python -m hardware.textures compile FOLDER` in `tests` needs nvcc; `run FOLDER` needs a GPU of compute capability 9.
"""

import argparse
import ctypes
import io
import lzma
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hardware import texture_driver
from hardware.driver import Device

SOURCE = Path(__file__).with_name("textures.cu")
CUBIN, TABLE = "textures.cubin.xz", "textures.npz.xz"
SIZES = {1: (1, 1, 13), 2: (1, 7, 13), 3: (5, 6, 7)}  # z, y, x
KERNELS = {1: "sample1", 2: "sample2", 3: "sample3"}
GATHERS = ("gather_red", "gather_green", "gather_blue", "gather_alpha")
ADDRESSES = ("clamp", "border", "wrap", "mirror")
_EDGES = (
    0.0, -0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, -0.5, -1.0, -1.5, 1e-30, -1e-30, 1e-42, 1 / 512, 3 / 512, 1 / 1024,
    0.49999997, 0.50000006, 0.99999994, 1.0000001, 6.0, 6.5, 6.9999995, 7.0, 7.5, 12.0, 12.5, 12.999999, 13.0, 13.5,
    14.0, 100.25, -100.25, 1e6, -1e6, 1e9, 2147483648.0, -2147483648.0, 4294967296.0, 3e38, -3e38,
    np.inf, -np.inf, np.nan, 0.498046875, 0.501953125, 0.4990234375, 0.5009765625,
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One texture, and the kernel that fetches from it; `memory` is array, linear or pitched."""

    kernel: str
    dimensions: int
    dtype: str = "f4"
    channels: int = 1
    address: tuple[str, str, str] = ("clamp", "clamp", "clamp")
    sampling: str = "point"
    normalized: bool = False
    as_integer: bool = False
    memory: str = "array"
    border: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    texels: str = "random"  # or unit: one texel is 1; or wide: of many magnitudes
    rows: int = 128

    @property
    def whole(self) -> bool:
        """Whether its coordinates are whole numbers."""
        return self.kernel.startswith("fetch")


def random_texels(case: Case, seed: int) -> np.ndarray:
    """Return texels [z, y, x, channel] of a case."""
    draw = np.random.default_rng(seed)
    shape = (*SIZES[case.dimensions], case.channels)
    kind = np.dtype(case.dtype)
    if case.texels == "unit":
        found = np.zeros(shape, kind)
        middle = tuple(size // 2 for size in shape[:3])
        found[middle] = 1 if kind.kind == "f" else np.iinfo(kind).max
        return found
    if case.texels == "wide":
        return (draw.uniform(-2, 2, shape) * 2.0 ** draw.integers(-20, 20, shape)).astype(kind)
    if kind.kind == "f":
        return draw.uniform(-4, 4, shape).astype(kind)
    limits = np.iinfo(kind)
    found = draw.integers(limits.min, limits.max, shape, kind, endpoint=True)
    found[0, 0, :2, 0] = limits.min, limits.max
    return found


def coordinates(case: Case, seed: int) -> np.ndarray:
    """Return x, y, z and the level of each row: edges first, then random ones inside and beyond the texture."""
    draw = np.random.default_rng(seed)
    sizes = np.array([*SIZES[case.dimensions][::-1], 1])
    if case.whole:
        edges = np.array([0, 1, -1, -2, 2**31 - 1, -(2**31), 6, 7, 12, 13, 14, 5, 4, 100])
        found = draw.integers(-2, sizes + 3, (case.rows, 4)).astype(np.int32)
        for axis in range(case.dimensions):
            found[: len(edges), axis] = edges if axis == 0 else draw.permutation(edges)
        return found
    low, high = (-2, 3) if case.normalized else (-0.4, 1.4)
    found = draw.uniform(low, high, (case.rows, 4)) * (1 if case.normalized else sizes)
    inside = draw.uniform(0, 1, (case.rows, 4)) * (1 if case.normalized else sizes)
    found = np.where(draw.random((case.rows, 1)) < 0.5, inside, found).astype(np.float32)
    if case.texels == "random":
        edges = np.array(_EDGES, np.float32)[: case.rows]
        for axis in range(case.dimensions):
            found[: len(edges), axis] = edges if axis == 0 else draw.permutation(edges)
            if case.normalized:
                found[len(edges) : 2 * len(edges), axis] = draw.permutation(edges) / np.float32(sizes[axis])
    return found


def _of_modes() -> Iterator[Case]:
    """Yield each address mode with each filter, coordinates normalized or not."""
    for dimensions, kernel in KERNELS.items():
        for sampling in ("point", "linear"):
            for mode in ADDRESSES:
                for normalized in (False, True):
                    if normalized or mode in ("clamp", "border"):
                        modes = (mode, mode, mode)
                        yield Case(kernel, dimensions, "f4", 1, modes, sampling, normalized, False)
    for sampling in ("point", "linear"):
        yield Case("sample3", 3, "f4", 2, ("mirror", "wrap", "border"), sampling, True)
        yield Case("sample2", 2, "f4", 4, ("border", "clamp", "clamp"), sampling, False, border=(0.25, -1.5, 7, 1e-3))


def _of_formats() -> Iterator[Case]:
    """Yield each type of element and number of channels, read as it is and as a normalized float."""
    for dtype in ("u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4"):
        for channels in (1, 2, 4):
            small = dtype[1] in "12" and dtype[0] in "ui"
            yield Case("sample2", 2, dtype, channels, as_integer=dtype[0] in "ui", rows=64)
            yield Case("fetch1", 1, dtype, channels, as_integer=dtype[0] in "ui", memory="linear", rows=64)
            if small:
                yield Case("sample2", 2, dtype, channels, rows=64)
                yield Case("fetch1", 1, dtype, channels, memory="linear", rows=64)
            if small or dtype == "f2":
                yield Case("sample2", 2, dtype, channels, sampling="linear", rows=256)
        yield Case("sample2", 2, dtype, 2, ("border",) * 3, as_integer=dtype[0] in "ui", rows=64)
    for dtype in ("u1", "i2"):
        given = (0.25, -0.5, 0.75, 1.0)
        yield Case("sample2", 2, dtype, 4, ("border",) * 3, "linear", border=given)
        yield Case("sample2", 2, dtype, 4, ("border",) * 3, as_integer=True, border=given)


def _of_kernels() -> Iterator[Case]:
    """Yield the other forms: fewer channels, whole coordinates, levels, gathers, linear memory in rows."""
    for kernel in ("fetch1_one", "fetch1_pair"):
        yield Case(kernel, 1, "f4", 4, memory="linear", rows=64)
    for kernel in ("sample2_one", "sample2_some"):
        yield Case(kernel, 2, "f4", 4, rows=64)
    for modes in (("clamp",) * 3, ("border",) * 3):
        yield Case("fetch2", 2, "f4", 2, modes)
        yield Case("fetch2", 2, "u1", 4, modes, as_integer=True)
        yield Case("fetch3", 3, "f4", 2, modes)
        for sampling in ("point", "linear"):
            yield Case("sample2", 2, "f4", 1, modes, sampling, memory="pitched")
            yield Case("sample2", 2, "u1", 4, modes, sampling, memory="pitched")
    for sampling in ("point", "linear"):
        yield Case("level2", 2, "f4", 1, sampling=sampling)
        yield Case("level3", 3, "f4", 1, sampling=sampling)
        for kernel in GATHERS:
            yield Case(kernel, 2, "f4", 4, sampling=sampling)
        for mode in ADDRESSES:
            yield Case("gather_red", 2, "f4", 1, (mode,) * 3, sampling, mode in ("wrap", "mirror"))
    for dtype in ("u1", "i2", "u4"):
        yield Case("gather_green", 2, dtype, 2, as_integer=True)
    yield Case("gather_green", 2, "u1", 2)


def _of_filters() -> Iterator[Case]:
    """Yield what shows the arithmetic of the linear filter."""
    for dimensions, kernel in KERNELS.items():
        for texels in ("unit", "wide"):
            yield Case(kernel, dimensions, "f4", 1, sampling="linear", texels=texels, rows=512)
            yield Case(kernel, dimensions, "f4", 1, ("wrap",) * 3, "linear", True, texels=texels, rows=256)
    for dtype in ("u1", "i1", "u2", "i2"):
        yield Case("sample1", 1, dtype, 1, sampling="linear", texels="unit", rows=512)
        yield Case("sample3", 3, dtype, 1, sampling="linear", rows=512)
    yield Case("sample3", 3, "f2", 1, sampling="linear", rows=512)
    yield Case("sample2", 2, "f2", 1, sampling="linear", rows=512)


CASES = (*_of_modes(), *_of_formats(), *_of_kernels(), *_of_filters())


def handle_of(device: Device, case: Case, texels: np.ndarray) -> ctypes.c_uint64:
    """Return the texture object of a case."""
    if case.memory == "array":
        resource = texture_driver.of_array(device, texels, case.dimensions)
    else:
        resource = texture_driver.of_memory(device, texels, pitched=case.memory == "pitched")
    return texture_driver.texture(
        device,
        resource,
        case.address,
        case.sampling,
        normalized=case.normalized,
        as_integer=case.as_integer,
        border=case.border,
    )


def fetched(device: Device, case: Case, texels: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return what the GPU fetches at each place: four words."""
    rows = len(places)
    found = np.full((rows, 4), 0xEEEEEEEE, np.uint32)
    given, into = device.room(places.nbytes), device.room(found.nbytes)
    device.put(given, np.ascontiguousarray(places))
    device.put(into, found)
    arguments = [handle_of(device, case, texels), np.array([rows], np.int32), given, into]
    device.run(case.kernel, -(-rows // 128), 128, arguments)
    return device.take(into, found)


def recorded(folder: Path) -> None:
    """Write the table of all cases, computed by the GPU of this machine."""
    device = Device(lzma.decompress((folder / CUBIN).read_bytes()))
    table: dict[str, np.ndarray] = {"about": np.array([device.name(), time.strftime("%Y-%m-%d")])}
    for number, case in enumerate(CASES):
        texels, places = random_texels(case, number), coordinates(case, number)
        table[f"texels.{number}"], table[f"at.{number}"] = texels, places
        table[f"out.{number}"] = fetched(device, case, texels, places)
    kept = io.BytesIO()
    np.savez(kept, **table)
    (folder / TABLE).write_bytes(lzma.compress(kept.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def compiled(folder: Path) -> None:
    """Write the cubin of all kernels into a folder."""
    made = folder / "textures.cubin"
    subprocess.run(["nvcc", "-arch=sm_90", "-lineinfo", "-cubin", "-o", str(made), str(SOURCE)], check=True)
    (folder / CUBIN).write_bytes(lzma.compress(made.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    made.unlink()


def main() -> None:
    """Do what the command line says."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("step", choices=("compile", "run"))
    options.add_argument("folder", type=Path)
    given = options.parse_args()
    (compiled if given.step == "compile" else recorded)(given.folder)


if __name__ == "__main__":
    main()
