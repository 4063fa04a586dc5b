"""`gpusim schema`, and the schemas that are published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpusim import timeline
from gpusim.commands import main
from gpusim.commands.schema import DOCUMENTS, text

PUBLISHED = Path(__file__).parent.parent.parent / "docs" / "schema"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_published_schema_is_that_of_the_code(document):
    """docs/schema has what the command prints, under its version: a field that changes must come with it."""
    _, version = DOCUMENTS[document]
    assert (PUBLISHED / f"{document}-{version}.json").read_text() == text(document)


def test_the_schema_names_every_field_of_a_timeline():
    """Each field is there with its type, none beyond, and the version has its value."""
    schema = json.loads(text("timeline"))
    for kind in (timeline.Timeline, timeline.Issued, timeline.Wait, timeline.Lost, timeline.Resident, timeline.Line):
        described = schema["$defs"][kind.__name__]
        assert list(described["properties"]) == list(kind.__struct_fields__)
        assert described["additionalProperties"] is False
        assert "  " not in described["description"].replace("\n", "")
    assert schema["$defs"]["Timeline"]["properties"]["version"]["default"] == timeline.VERSION
    assert schema["$id"] == f"timeline-{timeline.VERSION}.json"


def test_the_command_prints_lists_and_writes(capsys, tmp_path):
    """Without a name the documents are listed, with one its schema is printed or written; another name is refused."""
    assert main.execute(["schema"]) == 0
    assert capsys.readouterr().out.startswith("timeline-1: A run of one SM")
    assert main.execute(["schema", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["documents"] == {"timeline": 1}
    assert main.execute(["schema", "timeline", "--out", str(tmp_path / "t.json")]) == 0
    assert main.execute(["schema", "timeline"]) == 0
    assert capsys.readouterr().out == (tmp_path / "t.json").read_text() == text("timeline")
    assert main.execute(["schema", "timelin"]) == 2
    assert capsys.readouterr().err == "error: timelin: no document with a schema; there are timeline\n"
