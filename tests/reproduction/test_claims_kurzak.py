from gpusim.reproduction.claims import select
from gpusim.reproduction.kurzak import kurzak_hardware, kurzak_space, kurzak_speed, kurzak_stencil


def test_every_claim_has_a_function():
    """Kurzak's 26 claims are computed in four modules, each in one of them."""
    modules = kurzak_hardware, kurzak_space, kurzak_speed, kurzak_stencil
    names = [name for module in modules for name in module.CLAIMS]
    assert sorted(names) == sorted(claim.id for claim in select(["kurzak"]))
    assert len(names) == 26
