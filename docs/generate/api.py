"""The pages of the Python interface: which modules they show; Sphinx reads the docstrings itself."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping, Sequence
from importlib import import_module

from generate.markdown import APART, block, contents, links, page

ABOUT = """\
From `import gpusim` come `simulate`, `kernels`, `machines`, `load`, `bound`, `ineffective`, `register_policy`,
`RawModule`, `Texture`, `Result` and the errors, `UserError` above all. The other modules stand below by what they are
for, and last those that serve these inside. Names that begin with an underscore, the rules of the timing model
([model](../model.md)) and modules that only serve the command line are left out."""
USES: Mapping[str, Sequence[str]] = {
    "Simulate a kernel": (
        "gpusim.api.python",
        "gpusim.analysis.account.answer",
        "gpusim.simulation.simulation",
        "workloads.catalog",
        "isa.text.listing",
        "gpusim.simulation.verify",
        "gpusim.engines.simulate",
        "gpusim.engines.sm_run",
    ),
    "CUDA kernels": (
        "gpusim.api.raw_module",
        "gpusim.api.struct",
        "gpusim.api.tensor_map",
        "gpusim.api.texture",
        "gpusim.launch.file.document",
        "gpusim.launch.file.source",
    ),
    "Bounds": ("gpusim.bounds.bounds", "gpusim.bounds.chain.critical_path"),
    "Where the cycles go": (
        "gpusim.analysis.account.findings.diagnosis",
        "gpusim.analysis.account.findings.finding",
        "gpusim.analysis.account.rates.memory_rates",
        "gpusim.analysis.account.figures",
        "gpusim.analysis.account.breakdown",
        "gpusim.analysis.account.rates.roofline",
        "gpusim.analysis.account.stalls",
        "gpusim.analysis.account.hazards",
        "gpusim.analysis.account.limit_study",
        "gpusim.analysis.account.source_lines",
        "gpusim.analysis.account.rates.energy",
        "gpusim.sm.unit.stall",
    ),
    "Timelines and views": (
        "gpusim.views.timeline.document",
        "gpusim.views.timeline.file",
        "gpusim.views.html",
        "gpusim.views.svg",
        "gpusim.views.perfetto",
        "gpusim.views.kanata",
    ),
    "Machines and policies": (
        "gpusim.machine.machine",
        "gpusim.machine.file",
        "gpusim.machine.schema",
        "gpusim.machine.occupancy",
        "gpusim.sm.front.policies.declaration",
        "gpusim.sm.chip.energy",
        "gpusim.sm.chip.tensor_peak",
        "gpusim.analysis.settings.ineffective",
    ),
    "Sweeps, tuning and schedules": (
        "gpusim.analysis.search.sweep",
        "gpusim.analysis.search.search",
        "gpusim.analysis.search.tuning",
        "gpusim.analysis.search.space_document",
        "gpusim.analysis.search.space_file",
        "gpusim.analysis.search.code.code_tuning",
        "gpusim.analysis.search.schedule_search",
        "isa.schedule.reorder",
        "gpusim.launch.codes.assign_codes",
        "gpusim.analysis.search.latencies",
    ),
    "Programs, values and races": (
        "isa.kernel",
        "isa.program",
        "isa.instruction",
        "isa.text.assembler",
        "gpusim.engines.walks.program_order",
        "gpusim.engines.walks.races",
        "gpusim.engines.walks.traffic",
    ),
    "Documents and errors": ("gpusim.support.document", "isa.errors"),
}
INSIDE = "Inside"  # the title of what serves those
ALSO = ("gpusim.launch.launch",)  # inside, of packages that are else left out
ELSEWHERE = {"gpusim.machine.machine": "Machine"}  # names that a module passes on, and another page has
PACKAGES = "gpusim.bounds", "gpusim.analysis", "gpusim.views", "isa", "workloads"


def modules() -> tuple[str, ...]:
    """Return the names of the modules that have a page: those of a use first, by use."""
    return tuple(name for names in groups().values() for name in names)


def groups() -> Mapping[str, Sequence[str]]:
    """Return the names of the modules that have a page by what they are for."""
    used = {name for names in USES.values() for name in names}
    found = (
        module.name
        for package in PACKAGES
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}.")
        if not module.ispkg
    )
    return {**USES, INSIDE: (*ALSO, *(name for name in found if name not in used))}


def api() -> dict[str, str]:
    """Return the pages by their paths: `api`, and one for each module.

    The many inside stay out of the navigation, which is made anew for each page of the site.
    """
    used = [part for use in USES for part in (f"## {use}", contents(*(f"api/{name}" for name in USES[use])))]
    inside = groups()[INSIDE]
    return {
        "api": page("Python", ABOUT, *used, f"## {INSIDE}", links({name: f"api/{name}.md" for name in inside})),
        **{f"api/{name}": _module(name) for names in USES.values() for name in names},
        **{f"api/{name}": APART + _module(name) for name in inside},
    }


def _module(name: str) -> str:
    return page(name, block(_automodule(name), "{eval-rst}"))


def _automodule(name: str) -> str:
    """Return the directive that shows a module."""
    left_out = f"\n   :exclude-members: {ELSEWHERE[name]}" if name in ELSEWHERE else ""
    return f".. automodule:: {name}{left_out}"
