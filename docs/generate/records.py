"""The files of `gpusim/sm/records`: for mypy, a class for each record that the units' declarations make up.

`make records` writes them.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from gpusim.sm.state.every import EVERY
from gpusim.sm.unit.declare import Field

FOLDER = Path(__file__).parent.parent.parent / "gpusim" / "sm" / "records"
FILES = {
    "machine": "machine level unit_class",
    "row": "row",
    "warps": "warp scheduler block barrier pipe lanes stack_entry parted_lanes effect hazard",
    "memory": "load_store queue entry cache buffer beyond outcome scratch ahead question late_line",
    "replay": "event stream script feed trace",
    "sm": "sm launch chip fault",  # and whatever the others do not name
}
ARRAYS = "Columns", "Memory", "Numbers", "Plain", "RecordTable", "Records", "Table", "Tables", "Word"
NAMES = {
    "machine": "MachineNumbers",
    "launch": "LaunchNumbers",
    "unit_class": "UnitNumbers",
}  # other classes have the plain names
NUMBERS = "int", "Numbers", "Table", "Tables"  # by dimensions
RECORDS = "{}", "Records[{}]", "RecordTable[{}]"
ORIGIN = "# `make records` writes this file from the units' declarations: change those.\n"
WIDTH = 120

Declared = Mapping[str, list[Field]]


def records() -> dict[str, str]:
    """Return the text of each file by its name."""
    declared: dict[str, list[Field]] = {}
    for unit in EVERY:
        for record, fields in unit.fields.items():
            declared.setdefault(record, []).extend(fields)
    groups = {name: [one for one in declared if _file(one) == name] for name in FILES}
    modules = {f"{name}.py": _module(name, group, declared) for name, group in groups.items()}
    return {"__init__.py": _package(groups), **modules}


def write(folder: Path = FOLDER) -> None:
    """Write every file."""
    for name, text in records().items():
        (folder / name).write_text(text, encoding="utf-8")


def class_of(record: str) -> str:
    """Return the name of a record's class."""
    return NAMES.get(record) or record.title().replace("_", "")


def _file(record: str) -> str:
    return next((name for name, group in FILES.items() if record in group.split()), "sm")


def _package(groups: Mapping[str, list[str]]) -> str:
    """Return the module that has all classes."""
    found = {"arrays": list(ARRAYS), **{name: [class_of(one) for one in group] for name, group in groups.items()}}
    every = "".join(f'    "{name}",\n' for name in sorted(name for names in found.values() for name in names))
    imports = "".join(_import(name, found[name]) for name in sorted(found))
    about = '"""The records of the state and their arrays, as mypy sees them."""'
    return f"{about}\n\n{ORIGIN}\n{imports}\n__all__ = [\n{every}]\n"


def _import(module: str, names: list[str]) -> str:
    return (
        f"from gpusim.sm.records.{module} import (\n"
        + "".join(f"    {name},\n" for name in sorted(names, key=str.lower))
        + ")\n"
    )


def _module(name: str, group: list[str], declared: Declared) -> str:
    """Return the module of some records."""
    classes = "".join(_class(record, declared) for record in group)
    arrays = ["Record", *(one for one in ARRAYS if re.search(rf": {one}\b", classes))]
    inner = {one.kind for record in group for one in declared[record] if one.kind in declared} - set(group)
    used = {"arrays": arrays}
    for record in inner:
        used.setdefault(_file(record), []).append(class_of(record))
    imports = "".join(_import(module, used[module]) for module in sorted(used) if used[module])
    about = f'"""The records of `{name}`, as mypy sees them."""'
    return f"{about}\n\n{ORIGIN}\nfrom __future__ import annotations\n\n{imports}{classes}"


def _class(record: str, declared: Declared) -> str:
    """Return the class of a record."""
    fields = "".join(line + "\n" for one in declared[record] for line in _field(one, declared))
    return f'\n\nclass {class_of(record)}(Record):\n    """The record `{record}`."""\n\n{fields}'


def _field(one: Field, declared: Declared) -> Iterator[str]:
    """Yield the lines of a field: its meaning stands behind it, or before it if it is long."""
    dimensions = len(one.sizes)
    kind = RECORDS[dimensions].format(class_of(one.kind)) if one.kind in declared else NUMBERS[dimensions]
    line = f"    {one.name}: {kind}"
    if len(whole := f"{line}  # {one.meaning}") <= WIDTH:
        yield whole
    else:
        yield from textwrap.wrap(one.meaning, WIDTH, initial_indent="    # ", subsequent_indent="    # ")
        yield line


if __name__ == "__main__":
    write()
