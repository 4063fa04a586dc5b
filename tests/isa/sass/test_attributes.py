import struct

import pytest

from isa.nvidia.file.attributes import Attribute, attributes, branch_targets, words


def test_formats():
    """Of two bytes in place the value is those bytes; a sized one is as long as it says; order is kept."""
    data = bytes.fromhex("0319 2800 042f 0800 51000000 1a000000 0150 0000")
    expected = [(0x19, "2800"), (0x2F, "510000001a000000"), (0x50, "0000")]
    assert list(attributes(data)) == [Attribute(number, bytes.fromhex(value)) for number, value in expected]
    assert words(bytes.fromhex("510000001a000000")) == (0x51, 0x1A)


@pytest.mark.parametrize("data", ["04", "04170c00 0000", "09170000", "00000000"])
def test_other_bytes_are_refused(data):
    """A cut attribute, and a format that does not exist, raise ValueError."""
    with pytest.raises(ValueError, match="attribute"):
        list(attributes(bytes.fromhex(data)))


def test_words_are_whole():
    """A value that is no row of 32-bit words raises ValueError."""
    with pytest.raises(ValueError, match="3 bytes"):
        words(b"abc")


def test_branch_targets():
    """Each branch has as many targets as its third number says; a row of numbers that ends early is refused."""
    numbers = 0x150, 0, 2, 0x850, 0x2E0, 0x900, 0, 1, 0x9E0
    assert branch_targets(struct.pack("<9I", *numbers)) == {0x150: (0x850, 0x2E0), 0x900: (0x9E0,)}
    assert branch_targets(b"") == {}
    for count in (2, 4, 6):
        with pytest.raises(ValueError, match="end after"):
            branch_targets(struct.pack(f"<{count}I", *numbers[:count]))
