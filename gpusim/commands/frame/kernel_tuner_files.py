"""The options with which sweeps and tuning exchange files with Kernel Tuner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from gpusim.analysis.search import kernel_tuner
from gpusim.analysis.search.bounded_expression import Value
from gpusim.analysis.search.kernel_tuner import Entry
from gpusim.analysis.search.sweep import Allows, Axis, SweepPoint, SweepRow
from gpusim.analysis.search.sweep_table import cell
from gpusim.commands.frame.arguments import pairs
from gpusim.commands.frame.options import TunerFiles, repeated, written
from gpusim.support import whole_file
from gpusim.support.document import spelled
from isa.errors import UserError

T1File = Annotated[Path | None, written("--t1", "Take values and conditions from a T1 file of Kernel Tuner.")]
Renames = Annotated[Sequence[str], repeated("--rename", "NAME=OURS", "Rename a parameter of the T1 file")]


@dataclass(frozen=True)
class Given:
    """The content of a T1 file: options as for -p and --set, the points that it allows, and its names by ours."""

    settings: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    allows: Allows | None = None
    names: Mapping[str, str] = field(default_factory=dict)


def given_by(path: Path | None, renames: Sequence[str]) -> Given:
    """Return the content of a T1 file under the names used here; raises UserError for any other file."""
    ours = pairs("--rename", "name=ours", renames)
    if path is None:
        if ours:
            raise UserError(f"--rename {next(iter(renames))}: renames parameters of --t1 FILE; give both")
        return Given()
    space = kernel_tuner.read_t1(path)
    for name in [name for name in ours if name not in space.values]:
        raise UserError(f"--rename {name}: {path} has no such parameter; it has {', '.join(space.values)}")
    by_text = {name: {spelled(value): value for value in values} for name, values in space.values.items()}
    options = [f"{ours.get(name, name)}={text}" for name, texts in by_text.items() for text in texts]

    def allows(point: SweepPoint) -> bool:
        return space.allows({name: texts[point.values[ours.get(name, name)]] for name, texts in by_text.items()})

    settings = [option for option in options if "." in option.partition("=")[0]]
    parameters = [option for option in options if option not in settings]
    return Given(settings, parameters, allows, {ours.get(name, name): name for name in space.values})


def check_files(files: TunerFiles, whole: bool = True, inputs: Sequence[Path] = ()) -> None:
    """Raise UserError where a file could not be written in the end, or is another's; or a cache would lack points."""
    if files.cache and not whole:
        raise UserError(f"--kernel-tuner {files.cache}: needs every point; leave --draw and --search out, or take --t4")
    taken = {path.resolve(): f"is read: {path}" for path in inputs}
    for option, path in (("--kernel-tuner", files.cache), ("--t4", files.t4)):
        if path:
            if cause := taken.get(path.resolve()):
                raise UserError(f"{option} {path}: {cause}; give another file")
            taken[path.resolve()] = f"is the file of {option}, too"
            whole_file.check(path)


def write_swept(
    files: TunerFiles,
    names: Mapping[str, str],
    device: str,
    kernel: str,
    axes: Sequence[Axis],
    rows: Sequence[SweepRow],
) -> None:
    """Write the requested files of a sweep: the axes of the T1 file under its names, or else the axes that vary."""
    names = names or {axis.name: axis.name for axis in axes if len(axis.values) > 1}
    by_name = {axis.name: axis for axis in axes}
    tuned = [by_name[name] for name in names]
    fixed = {axis.name: axis.values[0] for axis in axes if len(axis.values) == 1}
    size = [int(fixed[name]) for name in "mnk" if fixed.get(name, "").isdecimal()] or [1]
    values = {names[axis.name]: [cell(text) for text in axis.values] for axis in tuned}
    entries = [
        Entry(
            {names[axis.name]: cell(row.point.values[axis.name]) for axis in tuned},
            row.figures.milliseconds if row.figures else None,
            row.figures.gflops if row.figures else None,
        )
        for row in rows
    ]
    write_files(files, device, kernel, size, values, entries)


def write_files(
    files: TunerFiles,
    device: str,
    kernel: str,
    size: Sequence[int],
    values: Mapping[str, Sequence[Value]],
    entries: Sequence[Entry],
) -> None:
    """Write the requested files."""
    if files.cache:
        kernel_tuner.write_cache(files.cache, device, kernel, size, values, entries)
    if files.t4:
        kernel_tuner.write_t4(files.t4, entries)
