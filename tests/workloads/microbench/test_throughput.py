from __future__ import annotations

from itertools import pairwise

import pytest

from isa.errors import UserError
from workloads.microbench.throughput import OPS, throughput


@pytest.mark.parametrize("op", OPS)
def test_every_stream_has_the_promised_result(check, op):
    """With 33 instructions over 5 streams, twice, in two blocks, each stream has the promised result."""
    check(throughput(op, warps=3, streams=5, length=33, iterations=2, blocks=2))


@pytest.mark.parametrize("op", OPS)
def test_streams_do_not_need_one_another(op):
    """Any `streams` instructions in a row write different registers, and none reads what another of them wrote."""
    body = [i for i in throughput(op, streams=4, length=16, iterations=1).program.instructions if i.row.mnemonic == op]
    for window in zip(*(body[-16:][s:] for s in range(4)), strict=False):
        written = [set(i.writes()) for i in window]
        assert len(set.union(*written)) == sum(map(len, written))
        assert not any(set(i.reads()) & w for i in window for j, w in zip(window, written, strict=True) if j is not i)


@pytest.mark.parametrize("op", ["FFMA", "FADD", "DFMA"])
def test_kepler_s_chains_and_sources_share_no_bank(check, op):
    """Sources are in the lower four of each eight registers, chains in the upper four, neighbours in other banks."""
    kernel = throughput(op, streams=12, length=36, iterations=2, banks="kepler")
    check(kernel)
    body = [i for i in kernel.program.instructions if i.row.mnemonic == op]
    chains = [set(i.writes()) for i in body]
    assert all(r % 8 >= 4 for written in chains for r in written)
    assert all(r % 8 < 4 for i, written in zip(body, chains, strict=True) for r in set(i.reads()) - written)
    if op != "DFMA":
        assert all(a % 2 != b % 2 for (a,), (b,) in pairwise(chains))


@pytest.mark.parametrize(
    "bad", [{"banks": "fermi"}, {"op": "BRA"}, {"streams": 0}, {"streams": 9, "length": 8}, {"blocks": 0}]
)
def test_bad_parameters_are_refused(bad):
    """Unknown ops, numbers below 1 and fewer instructions than streams raise UserError."""
    with pytest.raises(UserError, match=r"^throughput: "):
        throughput(**bad)


def test_more_streams_than_registers_are_refused():
    """100 streams of LDS.128 need more registers than an instruction can name."""
    with pytest.raises(UserError, match=r"throughput: needs \d+ registers"):
        throughput("LDS.128", streams=100)
