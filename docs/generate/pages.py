"""All generated pages, and the function that writes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from generate import (
    api,
    commands,
    documents,
    instructions,
    kernels,
    machine_code,
    machine_keys,
    machines,
    project,
    stall_reasons,
)

FOLDER = Path(__file__).parent.parent / "reference"


def pages() -> Mapping[str, str]:
    """Return the text of every generated page by its path in the folder, without `.md`."""
    single = {
        "commands": commands.commands(),
        "kernels": kernels.kernels(),
        "machine-keys": machine_keys.machine_keys(),
        "instructions": instructions.instructions(),
        "machine-code": machine_code.machine_code(),
        "stall-reasons": stall_reasons.stall_reasons(),
    }
    return {**single, **machines.machines(), **documents.documents(), **api.api(), **project.project()}


def write(folder: Path = FOLDER) -> None:
    """Write every page into the folder; leave up-to-date pages untouched, and remove those that no generator makes."""
    made = {folder / f"{name}.md": text for name, text in pages().items()}
    for old in [path for path in folder.rglob("*.md") if path not in made]:
        old.unlink()
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
