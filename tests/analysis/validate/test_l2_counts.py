import csv
from pathlib import Path

import pytest

import gpusim
from gpusim.analysis.validate.l2_counts import cold, counted, partitions_reading
from gpusim.machine.machine import load

ROWS = Path(gpusim.__file__).parent / "published" / "h100_l2_counts.csv"
H200 = load("h200")


def rows(*families):
    """Return what ncu counted in launches of these families on all SMs: a few chosen ones may share a partition."""
    with ROWS.open(encoding="utf-8", newline="") as file:
        found = csv.DictReader(line for line in file if not line.startswith("#"))
        return [
            row
            for row in found
            if row["launch"].split()[0] in families and ("sms=" not in row["launch"] or "sms=132" in row["launch"])
        ]


@pytest.mark.parametrize("family", ["own", "own-one-block", "same", "panels"])
def test_sectors_read_are_those_that_ncu_counted(family):
    """Streams, words that all SMs read and panels of products: within 3 % of what ncu counted on an H100.

    `loaded` are the sectors that the coalescer asks for, whose readers are those that the SMs got.
    """
    for row in rows(family):
        brought = float(row["dram_read_bytes"]) / 32
        readers = partitions_reading(float(row["coalescer_in_sectors"]), brought)
        read = float(row["coalescer_out_sectors"]) + 0.5 * brought * readers
        assert read == pytest.approx(float(row["l2_read_sectors"]), rel=0.03), row["launch"]


def test_full_sectors_stored_are_those_that_ncu_counted():
    """Stores of whole sectors of 1 to 128 MB: within 1 % of what ncu counted on an H100."""
    whole = [row for row in rows("stores") if "apart=4 words=1" in row["launch"] or "apart=16 words=4" in row["launch"]]
    assert len(whole) > 10
    for row in whole:
        megabytes = int(row["launch"].split("mb=")[1].split()[0])
        _, written = counted(H200, {"loaded": 0, "asked": 0, "read": 0, "stored": megabytes * 2**20 / 32})
        assert written == pytest.approx(float(row["l2_written_sectors"]), rel=0.01), row["launch"]


def test_a_stream_counts_half_a_sector_more_and_shared_words_one_once():
    """100 sectors that one SM reads count 150; read by very many, each counts one more than it was asked for."""
    assert counted(H200, {"loaded": 100, "asked": 100, "read": 100, "stored": 0}) == (150, 0)
    assert counted(H200, {"loaded": 100_000, "asked": 100_000, "read": 100, "stored": 0})[0] == pytest.approx(100_100)
    assert counted(H200, {"loaded": 0, "asked": 0, "read": 0, "stored": 10}) == (0, 15)


def test_an_l2_without_partitions_counts_what_sms_moved():
    """On a V100 sectors count once."""
    assert counted(load("v100"), {"loaded": 100, "asked": 100, "read": 100, "stored": 10}) == (100, 10)


def test_a_cold_l2_begins_empty():
    """The machine of the counters has an L2 that was not filled, and else the same numbers."""
    warm = load("h200", {"cache.hits": "tags", "l2.filled": "1"})
    assert cold(warm) == load("h200", {"cache.hits": "tags"})
    assert cold(load("gtx580")) == load("gtx580")
