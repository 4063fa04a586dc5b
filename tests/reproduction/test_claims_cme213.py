from gpusim.reproduction.claims import select
from gpusim.reproduction.cme213 import CLAIMS

LEFT = {claim.id for claim in select(["cme213"])}


def test_what_is_not_built_yet():
    """Every claim has a function but those listed here."""
    assert {claim.id for claim in select(["cme213"])} - CLAIMS.keys() == LEFT
