"""Drafts of decoded rows: what a blank one holds, that copies are apart, and that columns are what was filled in."""

from __future__ import annotations

import numpy as np
import pytest

from gpusim.launch.rows.drafts import batches, blank, copied, fill
from gpusim.sm.state.row import decoded_t


def test_a_blank_draft_is_zero_but_for_what_is_missing():
    """A draft becomes a row of zeros, with -1 in each place of the named fields."""
    rows = np.zeros(1, decoded_t)
    fill(rows, [blank(["source", "pointer"])])
    assert rows["source"].tolist() == [[-1, -1, -1]]
    assert rows["pointer"].tolist() == [-1]
    assert not any(rows[name].any() for name in decoded_t.names if name not in ("source", "pointer"))


def test_a_copy_changes_by_itself():
    """What is written to one place of a copy's field is not in the draft that it was made of."""
    first = blank([])
    second = copied(first)
    second["constant"][1] = 5
    assert first["constant"] == [0, 0, 0]


@pytest.mark.parametrize(("name", "number"), [("constant", 2**64 - 1), ("offset", -8), ("latency", 2**31 - 1)])
def test_numbers_are_kept_whole(name, number):
    """The largest and negative numbers of a field arrive in its row, and in no other one."""
    drafts = [blank([]), blank([])]
    drafts[1][name] = [0, number, 0] if name == "constant" else number
    rows = np.zeros(2, decoded_t)
    fill(rows, drafts)
    assert rows[name][1].tolist() == drafts[1][name]
    assert not rows[name][0].any()


def test_a_number_beyond_its_field_is_refused():
    """A number that a field has no room for raises OverflowError in place of another number."""
    draft = blank([])
    draft["unit"] = 200
    with pytest.raises(OverflowError):
        fill(np.zeros(1, decoded_t), [draft])


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 600])
def test_batches_have_every_draft_in_its_place(count):
    """Batches of any number of drafts follow each other without a gap."""
    drafts = [{"latency": number} for number in range(count)]
    found = list(batches(drafts))
    assert [one for _, batch in found for one in batch] == drafts
    assert all(batch == drafts[start : start + len(batch)] for start, batch in found)
