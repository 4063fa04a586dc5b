import pytest

from gpusim.reproduction.claims import SEEDS, Claim, Figure, Limit, read, select
from isa.errors import UserError


def claim(published, tolerance="exact"):
    """Return a made-up claim."""
    return Claim("XX01", "lai", "", published, tolerance)


def test_all_178_claims_are_listed_in_order():
    """Each document's claims are numbered from 1 under its own prefix: 62, 19, 17, 38 and 42 of them."""
    claims = read()
    counts = {seed: sum(c.seed == seed for c in claims) for seed in SEEDS}
    assert counts == {"lai": 62, "kurzak": 19, "cme213": 25, "vega": 38, "tan": 42}
    prefixes = dict(zip(SEEDS, ("LS", "KZ", "CM", "VG", "TN"), strict=True))
    assert [c.id for c in claims] == [f"{prefixes[s]}{i:02}" for s in SEEDS for i in range(1, counts[s] + 1)]


@pytest.mark.parametrize(
    ("published", "figures"),
    [
        ("602 / 1296 / 141.7", ((602, 0), (1296, 0), (141.7, 1))),
        ("? / 16 / 32?", ((None, 0), (16, 0), (32, 0))),
        ("69.5 %", ((69.5, 1),)),
        ("-8", ((-8, 0),)),
        ("NT > NN", ()),
        ("100 B / (B + 2 / words)", ()),
        ("4 of 5 numbers", ()),
    ],
)
def test_figures_are_read_with_their_decimals(published, figures):
    """Numbers between slashes are figures, with a unit or the document's question mark; anything else is words."""
    assert claim(published).figures == tuple(Figure(*figure) for figure in figures)


@pytest.mark.parametrize(
    ("tolerance", "limit"),
    [
        ("2 %", Limit(0.02, relative=True)),
        ("0.5 points", Limit(0.5, relative=False)),
        ("2 registers", Limit(2, relative=False)),
        ("exact", None),
        ("10 % from 4096 up, 20 % below", None),
    ],
)
def test_tolerances_are_percent_or_absolute(tolerance, limit):
    """A percentage is relative to the figure, points and registers are differences, and other words give no limit."""
    assert claim("1", tolerance).limit == limit


def test_claims_are_selected_by_id_document_or_all():
    """Claims of several names are united, each once and in the ledger's order."""
    assert [c.id for c in select(["TN01", "LS37", "LS37"])] == ["LS37", "TN01"]
    assert {c.seed for c in select(["vega", "VG01"])} == {"vega"}
    assert select(["all", "LS01"]) == read()


@pytest.mark.parametrize(("name", "first"), [("ls49", "LS49"), ("LAI", "LS01"), ("Tan", "TN01"), ("ALL", "LS01")])
def test_names_are_taken_in_any_case(name, first):
    """Ids and documents select the same claims in small letters and in capitals."""
    assert select([name])[0].id == first


def test_an_unknown_name_is_refused_with_the_nearest():
    """A name that is neither claim nor document ends in one line with the nearest name."""
    with pytest.raises(UserError, match="reproduce lia: there is no such claim or document; did you mean lai"):
        select(["lia"])
