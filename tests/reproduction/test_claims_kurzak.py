from gpusim.reproduction.claims import select
from gpusim.reproduction.ledger import FINDERS


def test_every_claim_has_a_function():
    """None of Kurzak's claims is left."""
    assert {claim.id for claim in select(["kurzak"])} <= FINDERS.keys()
