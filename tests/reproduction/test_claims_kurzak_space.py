from dataclasses import replace

import pytest

from gpusim.reproduction.bench import Bench, Missing, perform
from gpusim.reproduction.claims import select
from gpusim.reproduction.finding import judge
from gpusim.reproduction.kurzak.kurzak_space import CLAIMS

pytestmark = pytest.mark.long  # a document's claims, each simulated; make check has them


def verdicts(names, settings=None):
    """Return the verdicts of claims by name, once their jobs are done."""
    bench = Bench(settings or {})
    found = {}
    for claim in select(names):
        while claim.id not in found:
            try:
                found[claim.id] = judge(claim, CLAIMS[claim.id](bench))
            except Missing as missing:
                bench.done.update({job: perform(job) for job in missing.jobs})
    return found


def test_only_claims_without_full_definitions_fail():
    """KZ04 to KZ06, whose definitions the slides leave open, fail; KZ12 has no verdict; all other claims pass."""
    found = verdicts(list(CLAIMS))
    assert {name for name, verdict in found.items() if verdict.passed is False} == {"KZ04", "KZ05", "KZ06"}
    assert {name for name, verdict in found.items() if verdict.passed is None} == {"KZ12"}


def test_the_counts_miss_by_as_much_as_the_rule_says():
    """103,828, 435 and 60 points are 4.3 % more, 11.6 % and 71.6 % fewer than on the slides."""
    found = verdicts(["KZ04", "KZ05", "KZ06"])
    assert [verdict.ours for verdict in found.values()] == ["103828", "435", "60"]
    assert [verdict.error for verdict in found.values()] == pytest.approx([0.0433, -0.1159, -0.7156], abs=1e-4)


def test_numbers_of_the_document_alone_are_arithmetic():
    """KZ03, KZ13 and KZ14 need neither program nor machine, and say so."""
    bench = Bench()
    assert {name for name in ("KZ03", "KZ13", "KZ14", "KZ11") if CLAIMS[name](bench).kind == "arithmetic"} == {
        "KZ03",
        "KZ13",
        "KZ14",
    }


def test_the_table_has_the_shape_of_blocks():
    """KZ08 fails if the largest x or y of a block is another one."""
    (claim,) = select(["KZ08"])
    finding = CLAIMS["KZ08"](Bench())
    assert judge(claim, finding).passed
    assert not judge(claim, replace(finding, ours=finding.ours.replace("x, y 512/1024", "x, y 512"))).passed


@pytest.mark.long
@pytest.mark.parametrize(
    ("setting", "moved"),
    [
        ({"c2050": {"limits.registers": "16384"}}, {"KZ04", "KZ05", "KZ06", "KZ08"}),
        ({"c2050": {"limits.threads": "1024"}}, {"KZ05", "KZ06", "KZ08", "KZ11"}),
        ({"gt200": {"limits.warps": "24"}}, {"KZ08"}),
    ],
)
def test_rows_move_with_the_machine(setting, moved):
    """A changed limit of a machine moves the rows that follow from it, and no others."""
    names = list(CLAIMS)
    before, after = verdicts(names), verdicts(names, setting)
    assert {name for name in names if before[name].ours != after[name].ours} == moved
