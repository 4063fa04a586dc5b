import numpy as np
import pytest

from workloads.measured.whole.numbers import KeyFill, UnitFill, mixed, xorshift

WORD = (1 << 64) - 1


def hashed(index, seed):
    """SplitMix64's output for one index, in Python's integers."""
    z = (index + (seed + 1) * 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & WORD
    return z ^ z >> 31


def states(seed, number):
    """The states of the xorshift generator, one step after the other."""
    found = []
    for _ in range(number):
        seed ^= seed << 13 & WORD
        seed ^= seed >> 7
        seed ^= seed << 17 & WORD
        found.append(seed)
    return found


def test_hash_is_that_of_splitmix64():
    """The first output of SplitMix64 with seed 0, known from its reference code, is that of index 0; others follow."""
    assert hashed(0, 0) == 0xE220A8397B1DCDAF
    index = np.array([0, 1, 77, 1 << 25, (1 << 31) + 5], np.uint64)
    for seed in (0, 1, 3):
        assert mixed(index, seed).tolist() == [hashed(int(i), seed) for i in index]


@pytest.mark.parametrize(("dtype", "bits"), [("f4", 24), ("f8", 53)])
def test_numbers_are_the_upper_bits_of_the_hash(dtype, bits):
    """Each number is exactly the hash's upper 24 or 53 bits as a fraction, doubled, less 1; `first` shifts indices."""
    found = UnitFill(2, 1000, dtype)(np.arange(500))
    assert found.dtype == dtype
    fractions = [hashed(1000 + i, 2) >> (64 - bits) for i in range(500)]
    assert found.astype(np.float64).tolist() == [f / 2.0 ** (bits - 1) - 1 for f in fractions]
    assert found.min() < -0.9
    assert found.max() > 0.9


@pytest.mark.parametrize("number", [1, 2, 3, 64, 1000])
def test_xorshift_goes_step_by_step(number):
    """However many states are made at once, they are those of single steps."""
    assert xorshift(88172645463325252, number).tolist() == states(88172645463325252, number)


def test_keys_are_bits_of_the_states():
    """A key is 32 bits of a state from the shift on, in any order of indices."""
    index = np.array([9, 0, 4])
    known = states(1234567, 10)
    assert KeyFill(1234567, 16, 10)(index).tolist() == [known[i] >> 16 & 0xFFFFFFFF for i in index]
