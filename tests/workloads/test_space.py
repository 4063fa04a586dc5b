from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.errors import UserError
from workloads.papers.lai.lai_space import lai_space
from workloads.space import arguments_at, as_points, blocks_per_sm, product, prune, whole_tiles

POINT = {"blocking": 6, "lds": 64, "prefetch": 1, "order": 0}


@dataclass(frozen=True)
class Held:
    """The limits of an SM on resident blocks."""

    warp_size: int
    blocks: int
    warps: int
    registers: int
    shared_bytes: int


HELD = st.builds(
    Held,
    warp_size=st.sampled_from((4, 32, 64)),
    blocks=st.integers(1, 32),
    warps=st.integers(1, 64),
    registers=st.integers(1, 1 << 16),
    shared_bytes=st.integers(1, 1 << 17),
)


@given(HELD, st.lists(st.tuples(st.integers(1, 512), st.integers(1, 1 << 14), st.integers(1, 1 << 15)), min_size=1))
def test_one_block_more_would_not_fit(held, blocks):
    """So many blocks fit in registers, shared memory, warps and block slots; in one of them one more does not."""
    threads, registers, shared = (np.array(column) for column in zip(*blocks, strict=True))
    found = blocks_per_sm(held, threads, registers, shared)

    def fit(count):
        warps = np.ceil(threads / held.warp_size)
        fits = count * registers <= held.registers, count * shared <= held.shared_bytes, count * warps <= held.warps
        return np.logical_and.reduce(fits) & (count <= held.blocks)

    assert fit(found).all()
    assert not fit(found + 1).any()


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 5000))
def test_sizes_grow_to_whole_tiles(m, n, k):
    """Each size becomes the next multiple of the tile's, and is left alone where it is one."""
    for size, whole, tile in zip((m, n, k), whole_tiles(lai_space(), POINT, (m, n, k)), (96, 96, 16), strict=True):
        assert whole % tile == 0
        assert 0 <= whole - size < tile


def test_a_point_becomes_the_kernels_parameters():
    """The sizes grown to whole tiles, the point's numbers and the other parameters are all given as text."""
    texts = arguments_at(lai_space(), POINT, (96, 100, 33), {"layout": "tn"})
    assert texts == {"m": "96", "n": "192", "k": "48", "layout": "tn"} | {
        "blocking": "6",
        "lds": "64",
        "prefetch": "on",
        "order": "base",
    }


@pytest.mark.parametrize("name", ["m", "blocking"])
def test_a_parameter_that_the_space_sets_is_not_given_twice(name):
    """A size or a number of the point among the other parameters is refused, by name."""
    with pytest.raises(UserError, match=rf"^{name}=8: the space sgemm-lai sets it; leave it out$"):
        arguments_at(lai_space(), POINT, (96, 96, 16), {name: "8"})


def test_a_product_has_every_combination_once():
    """Rows run through all combinations, each of weight one."""
    columns = product({"a": (1, 2), "b": (3, 5, 7)})
    assert sorted(zip(columns["a"].tolist(), columns["b"].tolist(), strict=True)) == [
        (a, b) for a in (1, 2) for b in (3, 5, 7)
    ]
    assert columns["weight"].tolist() == [1] * 6


def test_points_come_in_ascending_order_by_name():
    """The points left after pruning are sorted, and have the names of the axes."""
    held = type("Limits", (), {"registers_per_thread": 63, "threads": 1536, **vars(Held(32, 8, 48, 32768, 49152))})
    pruned = prune(lai_space(), held)
    assert pruned.points.tolist() == sorted(pruned.points.tolist())
    assert next(as_points(lai_space(), pruned.points)) == {"blocking": 1, "lds": 32, "prefetch": 0, "order": 0}


def test_an_unknown_stage_is_refused_with_those_there_are():
    """A stage's name that the space lacks is refused with the names that it has."""
    with pytest.raises(
        UserError, match=r"^sgemm-lai: x is no stage to stop after; choose one of points, registers, one block, "
    ):
        prune(lai_space(), None, "x")
