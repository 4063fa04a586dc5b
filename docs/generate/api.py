"""The pages of the Python interface: which modules they show; Sphinx reads the docstrings itself."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from generate.markdown import block, contents, page

ABOUT = """\
From `import gpusim` come `simulate`, `kernels`, `machines`, `load`, `bound`, `ineffective`, `register_policy`,
`RawModule`, `Texture`, `Result` and the errors, `UserError` above all; other modules serve further use.
Names that begin with an underscore, the rules of the timing model ([model](../model.md)) and modules that only serve
the command line are left out."""
TOP = (
    "gpusim.commands.python",
    "gpusim.analysis.account.answer",
    "gpusim.simulation",
    "gpusim.raw_module",
    "gpusim.texture",
    "gpusim.machine.machine",
    "gpusim.machine.file",
    "gpusim.units.policies",
    "gpusim.units.stall",
    "gpusim.timeline.document",
    "gpusim.timeline.file",
    "gpusim.machine.occupancy",
    "gpusim.verify",
    "gpusim.launch.assign_codes",
    "gpusim.launch.latencies",
    "gpusim.engines.simulate",
    "gpusim.engines.sm_run",
    "gpusim.support.document",
    "gpusim.units.energy",
    "gpusim.launch.launch",
    "gpusim.machine.schema",
)
ELSEWHERE = {"gpusim.machine.machine": "Machine"}  # names that a module passes on, and another page has
PACKAGES = "gpusim.bounds", "gpusim.analysis", "gpusim.views", "isa", "workloads"


def modules() -> tuple[str, ...]:
    """Return the names of the modules that have a page, by package."""
    inside = (
        module.name
        for package in PACKAGES
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}.")
        if not module.ispkg and module.name not in TOP
    )
    return (*TOP, *inside)


def api() -> dict[str, str]:
    """Return the pages by their paths: `api`, and one for each module."""
    pages = {f"api/{name}": page(name, block(_automodule(name), "{eval-rst}")) for name in modules()}
    return {"api": page("Python", ABOUT, contents(*pages))} | pages


def _automodule(name: str) -> str:
    """Return the directive that shows a module."""
    left_out = f"\n   :exclude-members: {ELSEWHERE[name]}" if name in ELSEWHERE else ""
    return f".. automodule:: {name}{left_out}"
