from gpusim.sm.state.every import EVERY
from gpusim.sm.state.layout import Row, Rows


def test_no_field_is_hidden_by_an_attribute_of_numpy():
    """In plain Python a field is an attribute of NumPy's records, which have some of their own, such as `base`."""
    names = {field.name for unit in EVERY for fields in unit.fields.values() for field in fields}
    assert len(names) > 100
    assert hasattr(Row, "base")
    assert [name for name in names if hasattr(Row, name) or hasattr(Rows, name)] == []
