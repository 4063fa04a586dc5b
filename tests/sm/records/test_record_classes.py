"""The classes that mypy reads in place of records."""

import pytest
from generate import records as generator

from gpusim.sm import records
from gpusim.sm.state.every import EVERY

WRONG = """
from gpusim.sm.records import Row, Sm, Warp

def misspelt(sm: Sm, g: int) -> None:
    sm.warps[g].isued_at = 0

def wrong(sm: Sm, instruction: Row) -> None:
    right(sm, instruction)

def right(sm: Sm, warp: Warp) -> int:
    return sm.program[warp.pc].read[0] + sm.pipes[0, 1].free + sm.warps[0].returned[0, 1] + warp.release_at[1]
"""


@pytest.mark.parametrize("name", sorted(generator.records()))
def test_files_are_what_the_declarations_say(name):
    """Each file has what `make records` writes: the fields that the units declare now."""
    assert (generator.FOLDER / name).read_text(encoding="utf-8") == generator.records()[name]


def test_each_record_has_a_class_with_its_fields():
    """Every field of every unit is an attribute of the class of its record."""
    declared = [(record, one.name) for unit in EVERY for record, fields in unit.fields.items() for one in fields]
    assert len(declared) > 600
    assert {(r, n) for r, n in declared if n not in getattr(records, generator.class_of(r)).__annotations__} == set()


@pytest.mark.long
def test_mypy_finds_a_misspelt_field_and_a_wrong_record(tmp_path):
    """A rule that names a field that no unit declares, or hands on another record, is an error; others are none."""
    api = pytest.importorskip("mypy.api")
    (tmp_path / "wrong.py").write_text(WRONG)
    said, _, status = api.run(["--strict", "--cache-dir", str(tmp_path), str(tmp_path / "wrong.py")])
    assert status == 1
    assert '"Warp" has no attribute "isued_at"' in said
    assert 'incompatible type "Row"; expected "Warp"' in said
    assert "Found 2 errors" in said
