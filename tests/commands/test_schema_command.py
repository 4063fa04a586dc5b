"""`gpusim schema`, and the schemas that are published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from read.schemas import check_document, faults

from gpusim.commands import main
from gpusim.commands.catalog.schema import DOCUMENTS, kind_of, text, version_of

PUBLISHED = Path(__file__).parent.parent.parent / "docs" / "schema"


def names_of(document):
    """Return the name of the file of a document's schema."""
    return f"{document}-{version_of(kind_of(document))}.json"


@pytest.mark.every
@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_published_schema_is_that_of_the_code(document):
    """docs/schema has each document's schema as the code makes it, in a file named by its version."""
    assert (PUBLISHED / names_of(document)).read_text() == text(document)


@pytest.mark.parametrize("document", ["run", "report"])
def test_a_bound_may_be_missing_from_version_3_on(document):
    """Version 2 of a run and of a report, which is published as it was, always has a bound; in version 3 it is null."""
    schemas = {n: json.loads((PUBLISHED / f"{document}-{n}.json").read_text())["$defs"] for n in (2, 3)}
    name = kind_of(document).__name__
    bounds = {n: json.dumps(kinds[name]["properties"]["bound"]) for n, kinds in schemas.items()}
    assert "null" not in bounds[2]
    assert "null" in bounds[3]


def test_every_command_has_a_document():
    """Each command has a document of its name; that of `gpusim schema` is called schemas."""
    assert {"schemas" if name == "schema" else name for name in main.COMMANDS} <= set(DOCUMENTS)


@pytest.mark.every
@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_begins_with_its_version(document):
    """The version is the first field, required, and has one value; all other fields follow in order."""
    kind, schema = kind_of(document), json.loads(text(document))
    own = schema["$defs"][kind.__name__]
    (version, *others), tag = own["properties"], kind.__struct_config__.tag_field
    assert (version, others) == (tag, list(kind.__struct_fields__))
    assert own["properties"][tag]["enum"] == [version_of(kind)]
    assert own["required"][0] == tag
    assert schema["$id"] == names_of(document)


@pytest.mark.every
@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_type_is_described_and_knows_its_fields(document):
    """Each type of a document has a written description, and forbids fields that it does not name."""
    for name, kind in json.loads(text(document))["$defs"].items():
        assert kind["description"].strip(), name
        assert not kind["description"].startswith(f"{name}("), name  # Python's own description of an undocumented type
        assert "  " not in kind["description"].replace("\n", ""), name
        assert kind.get("additionalProperties") is False or "enum" in kind, name


@pytest.mark.every
@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_field_of_a_document_is_described(document):
    """Each field has a description of its own, or a type that has one."""
    schema = json.loads(text(document))
    for name, field in schema["$defs"][kind_of(document).__name__]["properties"].items():
        types = [one["$ref"].rpartition("/")[2] for one in field.get("anyOf", [field]) if "$ref" in one]
        assert field.get("description") or all(schema["$defs"][one]["description"] for one in types), name
        assert field.get("description") or types, name


def test_an_extra_field_or_a_wrong_type_is_a_fault(capsys):
    """An extra field or one of a wrong type is reported with its place, in the document and in its parts."""
    assert main.execute(["asm", "examples/saxpy.asm", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    check_document(found, "asm")
    found["more"], found["instructions"][2]["more"], found["registers"] = 1, 1, "2"
    assert sorted(fault.split(":")[0] for fault in faults(found, "asm")) == ["$", "$.instructions[2]", "$.registers"]


def test_the_command_prints_lists_and_writes(capsys, tmp_path):
    """Without a name the documents are listed; a name prints or writes its schema; a wrong name is refused."""
    assert main.execute(["schema"]) == 0
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines() if line[0] != " "][1:] == [
        [name, str(version_of(kind_of(name)))] for name in DOCUMENTS
    ]
    assert main.execute(["schema", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["documents"]["timeline"] == 1
    assert main.execute(["schema", "timeline", "--out", str(tmp_path / "t.json")]) == 0
    assert main.execute(["schema", "timeline"]) == 0
    assert capsys.readouterr().out == (tmp_path / "t.json").read_text() == text("timeline")
    assert main.execute(["schema", "timelin"]) == 2
    assert capsys.readouterr().err == "error: timelin: no document with a schema; did you mean timeline?\n"


def test_all_schemas_are_written_at_once(capsys, tmp_path):
    """Without a name, --out takes an existing directory and writes every schema to it."""
    assert main.execute(["schema", "--out", str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(map(names_of, DOCUMENTS))
    assert main.execute(["schema", "--out", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err.startswith("error: ")
