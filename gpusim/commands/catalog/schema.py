"""`gpusim schema`: the JSON Schema of the documents."""

from __future__ import annotations

from inspect import cleandoc
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any

import msgspec
from typer import Argument

from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import new_table, right, write
from gpusim.commands.frame.options import among, out
from gpusim.support import whole_file
from gpusim.support.document import Document, doc
from isa.errors import UserError
from isa.reading.nearest import nearest

# The module of each document's type, imported on demand because many need a compiler.
DOCUMENTS = {
    "asm": "gpusim.commands.code.asm:AsmDocument",
    "bound": "gpusim.analysis.account.run_document:BoundDocument",
    "codes": "gpusim.commands.code.codes:CodesDocument",
    "compare": "gpusim.commands.causes.compare:CompareDocument",
    "exec": "gpusim.commands.run.exec_screen:ExecDocument",
    "examples": "gpusim.commands.catalog.examples:ExamplesDocument",
    "explain": "gpusim.commands.run.explain:ExplainDocument",
    "export": "gpusim.commands.run.export:ExportDocument",
    "gemm-bound": "gpusim.commands.causes.gemm_bound:GemmBoundDocument",
    "hazards": "gpusim.analysis.account.hazards:HazardsDocument",
    "kernel": "gpusim.commands.catalog.kernels:KernelDocument",
    "kernels": "gpusim.commands.catalog.kernels:KernelsDocument",
    "launch": "gpusim.launch.file.document:LaunchFile",
    "lessons": "gpusim.commands.catalog.lessons:LessonsDocument",
    "limits": "gpusim.commands.causes.limits:LimitsDocument",
    "machine": "gpusim.commands.catalog.machines:MachineDocument",
    "machine-file": "gpusim.commands.catalog.machine_files:MachineFileDocument",
    "machines": "gpusim.commands.catalog.machines:MachinesDocument",
    "races": "gpusim.commands.causes.races:RacesDocument",
    "report": "gpusim.commands.causes.report:ReportDocument",
    "report-lines": "gpusim.commands.causes.report_lines:ReportLinesDocument",
    "reproduce": "gpusim.commands.trust.reproduce:ReproduceDocument",
    "run": "gpusim.analysis.account.run_document:RunDocument",
    "sass": "gpusim.commands.code.sass:SassDocument",
    "schedule": "gpusim.analysis.search.scheduling:ScheduleDocument",
    "schemas": "gpusim.commands.catalog.schema:SchemasDocument",
    "space": "gpusim.commands.search.space:SpaceDocument",
    "space-code": "gpusim.commands.search.space_code:SpaceCodeDocument",
    "space-file": "gpusim.analysis.search.space_document:SpaceFile",
    "spaces": "gpusim.commands.search.space:SpacesDocument",
    "sweep": "gpusim.commands.search.sweep_screen:SweepDocument",
    "timeline": "gpusim.views.timeline.document:Timeline",
    "traffic": "gpusim.commands.causes.traffic:TrafficDocument",
    "tune": "gpusim.commands.search.tune:TuneDocument",
    "tune-code": "gpusim.commands.search.tune_code_screen:TuneCodeDocument",
    "two-machines": "gpusim.commands.catalog.machines:TwoMachinesDocument",
    "validate": "gpusim.commands.trust.validate:ValidateDocument",
    "validate-kernels": "gpusim.commands.trust.validate_kernels:ValidateKernelsDocument",
    "validate-measured": "gpusim.commands.trust.validate:ValidateMeasuredDocument",
    "view": "gpusim.commands.run.view:ViewDocument",
}
VERSION = "It grows when a field changes its meaning or is removed."
DIALECT = "https://json-schema.org/draft/2020-12/schema"


class SchemasDocument(Document, frozen=True):
    """The documents that have a schema."""

    documents: Annotated[dict[str, int], doc("Their versions by name.")]


def schema(
    document: Annotated[
        str | None, Argument(help="A document's name; without one, all are listed.", autocompletion=among(DOCUMENTS))
    ] = None,
    *,
    out: Annotated[
        Path | None, out("Write it to a file; without a name, write all into a directory.", "FILE|DIR")
    ] = None,
) -> Answer | None:
    """Print the JSON Schema of a document, with which other programs can read and check it.

    --json prints documents; most have the name of their command.

    Example: gpusim schema timeline
    """
    if document is not None:
        whole_file.write(out, text(document)) if out else write(text(document))
        return None
    kinds = {name: kind_of(name) for name in DOCUMENTS}
    versions = {name: version_of(kind) for name, kind in kinds.items()}
    if out:
        for name, version in versions.items():
            whole_file.write(out / f"{name}-{version}.json", text(name))
    rows = [(name, versions[name], cleandoc(kind.__doc__ or "").split("\n")[0]) for name, kind in kinds.items()]
    return Answer(SchemasDocument(versions), [new_table("document", *right("version"), "what it is", rows=rows)])


def kind_of(document: str) -> type[msgspec.Struct]:
    """Return the type of a document; raises UserError if there is no such document."""
    if document not in DOCUMENTS:
        near = nearest(document, DOCUMENTS)
        advice = f"did you mean {near}?" if near else f"there are {', '.join(DOCUMENTS)}"
        raise UserError(f"{document}: no document with a schema; {advice}")
    kind: type[msgspec.Struct] = resolve_name(DOCUMENTS[document])
    return kind


def version_of(kind: type[msgspec.Struct]) -> int:
    """Return the version with which a document begins."""
    return int(kind.__struct_config__.tag or 0)


def text(document: str) -> str:
    """Return the JSON Schema of a document, which allows no unknown fields; raises UserError if there is none."""
    kind = kind_of(document)
    made: dict[str, Any] = {
        "$schema": DIALECT,
        "$id": f"{document}-{version_of(kind)}.json",
        **msgspec.json.schema(kind),
    }
    for one in made["$defs"].values():
        one["description"] = cleandoc(one["description"])
        if "properties" in one:
            one["additionalProperties"] = False
            one["properties"].get(kind.__struct_config__.tag_field, {})["description"] = VERSION
    return msgspec.json.format(msgspec.json.encode(made), indent=2).decode() + "\n"
