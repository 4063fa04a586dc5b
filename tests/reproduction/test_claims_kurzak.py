from gpusim.reproduction import kurzak_space, kurzak_stencil
from gpusim.reproduction.claims import select


def test_every_claim_has_a_function():
    """Kurzak's 19 claims are computed in two modules, each in one of them."""
    names = [*kurzak_space.CLAIMS, *kurzak_stencil.CLAIMS]
    assert sorted(names) == sorted(claim.id for claim in select(["kurzak"]))
    assert len(names) == 19
