import pytest

from gpusim.engines.walks.traffic import traffic
from gpusim.reproduction.bench import Bench
from gpusim.reproduction.claims import select
from gpusim.reproduction.ledger import without_runs
from gpusim.reproduction.vega import vega_access
from gpusim.reproduction.vega.vega_access import CLAIMS, PRINTED, TABLE, pair
from workloads.catalog import make

pytestmark = pytest.mark.long  # a document's claims, each simulated; make check has them


@pytest.mark.jit
def test_every_row_of_the_table_is_met():
    """All 19 claims are counted, without a run, and exact."""
    found = without_runs(select(list(CLAIMS)), {})
    assert [row.id for row in found] == [f"VG{number:02}" for number in range(1, 20)]
    assert {(row.kind, row.passed, row.error) for row in found if row.id != "VG18"} == {("counted", True, 0.0)}
    assert all(row.passed for row in found)


def test_the_table_follows_the_formulas_of_its_tile():
    """With m = 64, n = 256 and one k: M K, N K, M N K, and 8 K for each thread that reads shared memory."""
    m, n, threads = 64, 256, {"A": 64, "B": 256}
    for matrix, size in (("A", m), ("B", n)):
        assert pair((f"{matrix} L2",)) == pair((f"{matrix} L1",)) == (size, size)
        assert pair((f"{matrix} LDS written",)) == (size, 0)
        assert pair((f"{matrix} LDS read",)) == (8 * threads[matrix], 0)
        assert pair((f"{matrix} written",)) == (size + 8 * threads[matrix], size)
    assert pair(("A read",)) == (m * n, m)
    assert pair(("B read",)) == (m * n, m * n)
    assert pair(("C",)) == (2 * m * n, 2 * m * n / 8)


def test_both_counts_are_reported_if_the_document_contradicts_itself():
    """The 2304 words of B read from the LDS are 2048 and 256 written; the 3136 in all are 2880 and those 256 again."""
    rows = {row.id: row for row in without_runs(select(["VG11", "VG16"]), {})}
    assert "2048 are read" in rows["VG11"].note
    assert "2880 if it does not" in rows["VG16"].note


@pytest.mark.jit
def test_rows_are_counted_and_not_stored(monkeypatch):
    """With the VLP SGEMM in the order that forwards nothing, accumulators go through the registers each time."""

    def interleaved(kernel, k, *, forwarding):
        more = {"order": "interleaved"} if kernel == vega_access.VLP else {}
        sizes = {"m": "64", "n": vega_access.COLUMNS[kernel], "k": str(k)}
        return traffic(make(kernel, sizes | more), forwarding=forwarding)

    monkeypatch.setattr(vega_access, "_counts", interleaved)
    assert CLAIMS["VG12"](Bench()).ours == (32768, 32768)


@pytest.mark.parametrize("name", PRINTED)
def test_rows_name_entries_of_the_table(name):
    """Each entry that a claim sums is in the table."""
    assert set(PRINTED[name]) <= TABLE.keys()
