"""The rooms of the house: folders, their size, and who imports whom between them."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HOUSE = ("gpusim", "isa", "workloads", "notebooks", "benchmarks")
FILES = {path.relative_to(ROOT).as_posix(): path for top in HOUSE for path in (ROOT / top).rglob("*.py")}
DOZEN = 12


def imported(path: Path) -> Iterator[str]:
    """Yield the modules that a file may import, anywhere in it, and names that may be modules."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            yield node.module


def file_of(module: str) -> str | None:
    """Return the file of a module of the house, or None."""
    path = module.replace(".", "/")
    return next((name for name in (f"{path}.py", f"{path}/__init__.py", f"notebooks/{path}.py") if name in FILES), None)


def files_of(path: Path) -> set[str]:
    """Return the files of the house that a file imports; a package counts where none of its modules is named."""
    found = set()
    for module in imported(path):
        if file := file_of(module):
            found.add(file)
    return {file for file in found if not (file.endswith("__init__.py") and file != "gpusim/__init__.py")}


def room(file: str) -> str:
    """Return the room of a file: a folder of gpusim, or all of another top folder."""
    top, *inner = file.split("/")
    return f"{top}/{inner[0]}" if top == "gpusim" else top


@cache
def arrows() -> frozenset[tuple[str, str]]:
    """Return which room imports which other one; the lazy names of `gpusim/__init__.py` are no imports."""
    pairs = {(room(a), room(b)) for a, path in FILES.items() for b in files_of(path)}
    return frozenset((a, b) for a, b in pairs if a not in {b, "gpusim/__init__.py"})


def order(pairs: frozenset[tuple[str, str]]) -> list[str]:
    """Return the rooms, each after those that it imports; raises CycleError where rooms import each other."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for one, other in pairs:
        sorter.add(one, other)
    return list(sorter.static_order())


def test_fewer_than_a_hundred_and_ten_arrows_between_rooms():
    """A room that imports another is an arrow: there are under a hundred and ten, eight of them those of programs."""
    assert 50 < len(arrows()) < 110


def test_no_circle_of_rooms():
    """Rooms can be put in an order in which each imports only earlier ones: isa is first, and commands are late."""
    rooms = order(arrows())
    assert (
        rooms.index("isa") < rooms.index("gpusim/sm") < rooms.index("gpusim/engines") < rooms.index("gpusim/commands")
    )


def test_a_circle_is_found():
    """Two rooms that import each other are refused."""
    with pytest.raises(ValueError, match="cycle"):
        order(frozenset({("a", "b"), ("b", "c"), ("c", "a")}))


def crowded() -> set[str]:
    """Return the folders of the packages that hold more than a dozen modules."""
    held: dict[str, int] = {}
    for file in FILES:
        folder, _, name = file.rpartition("/")
        if name != "__init__.py" and not folder.startswith("notebooks"):
            held[folder] = held.get(folder, 0) + 1
    return {folder for folder, count in held.items() if count > DOZEN}


def test_no_folder_holds_more_than_a_dozen_modules():
    """A folder of the packages holds at most a dozen modules."""
    assert len(FILES) > 500
    assert crowded() == set()


def test_a_unit_has_its_declaration_beside_its_rules():
    """Each folder of a unit, below an area of the SM, has a declaration and at most seven modules in all."""
    units = {path.parent for path in (ROOT / "gpusim/sm").glob("*/*/*.py") if path.parts[-3] != "jit"}  # no area
    assert len(units) > 20
    assert {unit.name for unit in units if not (unit / "declaration.py").is_file()} == set()
    assert {unit.name for unit in units if len(list(unit.glob("[!_]*.py"))) > 7} == set()
