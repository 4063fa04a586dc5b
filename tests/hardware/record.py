"""Make the table: `python -m hardware.record compile`, then `run` where a GPU of compute capability 9 is.

`compile FOLDER` needs ptxas; it writes the cubin of all snippets. `run FOLDER` runs it on new inputs and writes the
table.
"""

import argparse
import io
import lzma
import re
import subprocess
import time
from pathlib import Path

import numpy as np

from hardware.catalog import SNIPPETS, source
from hardware.driver import Device, DriverError
from hardware.inputs import SEED, SETS
from hardware.snippet import Snippet, stored_bits
from hardware.table import CUBIN, KEPT, TABLE, launch


def compiled(folder: Path, ptxas: str) -> None:
    """Write the cubin of all snippets into a folder."""
    text, made = folder / "snippets.ptx", folder / "snippets.cubin"
    text.write_text(source(SNIPPETS.values()))
    subprocess.run([ptxas, "-arch=sm_90", "-o", str(made), str(text)], check=True)
    (folder / CUBIN).write_bytes(lzma.compress(made.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    text.unlink()
    made.unlink()


def results(device: Device, one: Snippet, columns: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """Return the columns that a snippet computes on a GPU."""
    given = list(columns)[: len(one.sources)]
    rows = SETS[one.inputs].rows
    sizes = [rows * stored_bits(bits) // 8 for bits in one.results]
    found = np.full(sum(sizes), 0xEE, np.uint8)
    place = device.room(found.nbytes)
    device.put(place, found)
    if one.uniform:
        arguments = [*given, place]
    else:
        arguments = [device.room(column.nbytes) for column in columns]
        for address, column in zip(arguments, columns, strict=True):
            device.put(address, column)
        arguments.append(place)
    device.run(one.name, *launch(one), arguments)
    device.take(place, found)
    for address in (place, *(x for x in arguments if not isinstance(x, np.ndarray) and x is not place)):
        device.call("cuMemFree_v2", address)
    parts = np.split(found, np.cumsum(sizes)[:-1])
    return [part.view(f"u{stored_bits(b) // 8}") for part, b in zip(parts, one.results, strict=True)]


def driver() -> str:
    """Return the version of NVIDIA's driver, where the kernel says it."""
    place = Path("/proc/driver/nvidia/version")
    found = re.search(r"\d+\.\d+(\.\d+)?", place.read_text()) if place.exists() else None
    return found[0] if found else "unknown"


def recorded(folder: Path) -> None:
    """Write the table of the snippets whose cubin is in a folder, computed by the GPU of this machine."""
    device = Device(lzma.decompress((folder / CUBIN).read_bytes()))
    columns = {name: one.columns(SEED + number) for number, (name, one) in enumerate(SETS.items())}
    table: dict[str, np.ndarray] = {
        f"in.{name}.{letter}": column
        for name, given in columns.items()
        for letter, column in zip("abc", given, strict=True)
    }
    where = [device.name(), f"driver {driver()}", f"CUDA {device.version()}", time.strftime("%Y-%m-%d")]
    table["about"] = np.array(where)
    try:
        for one in SNIPPETS.values():
            for number, column in enumerate(results(device, one, columns[one.inputs])):
                bits = one.results[number]
                table[f"out.{one.name}.{number}"] = column.astype(KEPT.get(bits, column.dtype.str))
    except DriverError as error:
        print(f"stopped: {error}")  # noqa: T201  (what was computed before is kept)
    kept = io.BytesIO()
    np.savez(kept, **table)
    (folder / TABLE).write_bytes(lzma.compress(kept.getvalue(), preset=9 | lzma.PRESET_EXTREME))
    print(*where, len(table), sep="\n")  # noqa: T201


def main() -> None:
    """Do what the command line says."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("step", choices=("compile", "run"))
    options.add_argument("folder", type=Path)
    options.add_argument("--ptxas", default="ptxas")
    given = options.parse_args()
    if given.step == "compile":
        compiled(given.folder, given.ptxas)
    else:
        recorded(given.folder)


if __name__ == "__main__":
    main()
