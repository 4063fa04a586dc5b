import pytest

from gpusim.reproduction.bench import Bench
from gpusim.reproduction.claims import read
from gpusim.reproduction.finding import judge
from gpusim.reproduction.main_loop import main_loop
from gpusim.reproduction.vega import vega_kernel as module

pytestmark = pytest.mark.long  # a document's claims, each simulated; make check has them

CLAIM = {claim.id: claim for claim in read()}


@pytest.mark.parametrize("name", module.CLAIMS)
def test_counts_and_inputs_are_as_published(name):
    """Registers, instructions, tiles and clocks are exactly the document's."""
    verdict = judge(CLAIM[name], module.CLAIMS[name](Bench()))
    assert verdict.passed is True
    assert verdict.error == pytest.approx(0, abs=5e-4)


def test_resident_warps_move_with_the_register_file():
    """With half of the vector registers one warp of 83 fits a SIMD, and one block of four warps an SM."""
    bench = Bench({"mi60": {"limits.registers": "32768"}})
    assert module.CLAIMS["VG21"](bench).ours == (1, 1)


def test_loads_are_counted_in_the_program(monkeypatch):
    """Without its loads of A the program counts no loads of A."""
    kernel = Bench().kernel(module.VLP)
    kept = tuple(i for i in main_loop(kernel.program) if i.row.mnemonic != "S_LOAD_DWORDX8")
    monkeypatch.setattr(module, "main_loop", lambda _: kept)
    assert module.CLAIMS["VG22"](Bench()).ours == (0,)
    assert module.CLAIMS["VG23"](Bench()).ours == (0, 0, 8)
