import pytest

from gpusim.reproduction.bench import Bench, Done, Missing, perform
from gpusim.reproduction.claims import read
from gpusim.reproduction.finding import judge
from gpusim.reproduction.vega import vega_listing as module

pytestmark = pytest.mark.long  # a document's claims, each simulated; make check has them

CLAIM = {claim.id: claim for claim in read()}
COUNTED = sorted(module.CLAIMS.keys() - {"VG42"})


@pytest.mark.parametrize("name", COUNTED)
def test_counts_are_as_published(name):
    """What the readme lists and counts is found in the programs, in double precision too."""
    finding = module.CLAIMS[name](Bench())
    assert finding.kind == "counted"
    assert judge(CLAIM[name], finding).passed is True


@pytest.mark.jit
def test_both_kernels_are_right_on_the_three_cards():
    """On MI25, MI50 and MI60 both kernels compute right values; if one run's are wrong, that card doesn't count."""
    bench = Bench()
    with pytest.raises(Missing) as missing:
        module.CLAIMS["VG42"](bench)
    bench.done.update({job: perform(job) for job in missing.value.jobs})
    assert judge(CLAIM["VG42"], module.CLAIMS["VG42"](bench)).passed is True
    job = missing.value.jobs[-1]
    bench.done[job] = Done(False, None, 0.0)
    assert judge(CLAIM["VG42"], module.CLAIMS["VG42"](bench)).passed is False


def without(monkeypatch, *mnemonics):
    """Take instructions out of the main loops that the claims look at."""
    loop = module.main_loop

    def kept(program):
        return tuple(i for i in loop(program) if i.row.mnemonic not in mnemonics)

    monkeypatch.setattr(module, "main_loop", kept)


def test_additions_are_counted_in_the_program(monkeypatch):
    """Without its scalar additions the loop has none for B's address."""
    without(monkeypatch, "S_ADD_U32")
    assert module.CLAIMS["VG41"](Bench()).ours == (0,)


def test_another_order_has_other_chains(monkeypatch):
    """In the other order no two multiply-adds of a sum follow each other, and the claim fails."""
    kernel = Bench().kernel(module.VLP, order="interleaved")
    monkeypatch.setattr(Bench, "kernel", lambda *_, **__: kernel)
    assert module.CLAIMS["VG45"](Bench()).ours[0] == 1


def test_loads_of_other_lines_and_rows_with_gaps_fail(monkeypatch):
    """A second load one line further adds its 64 lines per wave, and words 8 bytes apart are no neighbours."""
    accesses = module._accesses

    def moved(bench, mnemonic):
        for i, lanes in enumerate(accesses(bench, mnemonic)):
            yield 2 * lanes if "STORE" in mnemonic else lanes + 64 * (i % 2)

    monkeypatch.setattr(module, "_accesses", moved)
    assert module.CLAIMS["VG44"](Bench()).ours[0] > 0
    assert module.CLAIMS["VG46"](Bench()).ours == (1,)


def test_words_of_single_precision_are_not_those_of_double(monkeypatch):
    """Counted in the single-precision kernel the units of 64 bits would be half as many."""
    monkeypatch.setattr(module, "DGEMM", module.VLP)
    assert module.CLAIMS["VG40"](Bench()).ours[0] == 32
