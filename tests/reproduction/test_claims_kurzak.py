from gpusim.reproduction import kurzak, kurzak_space
from gpusim.reproduction.claims import select

LEFT = {"KZ01", "KZ02", "KZ07", "KZ09", *(f"KZ{number}" for number in range(15, 20))}


def test_what_is_not_built_yet():
    """Every claim has a function but those listed here."""
    assert {claim.id for claim in select(["kurzak"])} - kurzak.CLAIMS.keys() - kurzak_space.CLAIMS.keys() == LEFT
