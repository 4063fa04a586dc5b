"""Texts that are no listings, and what users are told of them."""

import pytest

from isa.errors import UserError
from isa.text import listing
from isa.text.foreign import looks_like

PTX = ".version 8.0\n.target sm_90\n.visible .entry k(\n.param .u64 a\n)\n{\nld.param.u64 %rd1, [a];\nret;\n}\n"
DUMPED = "        /*0000*/                   MOV R1, c[0x0][0x28] ;         /* 0x00000a0000017a02 */\n"
BARE = "IMAD.WIDE R2, R3, R4, c[0x0][0x160] ;\nLDG.E.64 R4, [R2.64] ;\n"
CUDA = "#include <cstdio>\n__global__ void k(float *x) { x[0] = 1; }\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (PTX, "no listing: looks like PTX, which the GPU does not execute"),
        (DUMPED, "no listing: looks like SASS as disassemblers print it"),
        ('\tFunction : _Z3foo\n\t.headerflags    @"EF_CUDA_SM90"\n' + DUMPED, "looks like SASS"),
        (BARE, "looks like SASS"),
        (CUDA, "looks like CUDA C; let its name end in .cu"),
    ],
    ids=["ptx", "dumped", "whole", "bare", "cuda"],
)
def test_another_language_is_named(text, words):
    """A text in PTX, SASS or CUDA C is refused in one line, which names the language and what to do."""
    with pytest.raises(UserError) as raised:
        listing.read(text, "k.asm")
    assert words in str(raised.value)
    assert str(raised.value).startswith("k.asm:")
    assert raised.value.further == ()


@pytest.mark.parametrize("text", ["    FFMA R1, R2\n", "    FOO R1\n", ".bogus 3\n    EXIT\n", ""])
def test_a_faulty_listing_stays_one(text):
    """A listing with a mistake looks like nothing else."""
    assert looks_like(text) == ""
    with pytest.raises(UserError) as raised:
        listing.read(text)
    assert "looks like" not in str(raised.value)


def test_the_faults_of_all_lines_are_told():
    """Each faulty line has its message, in order; beyond ten only their number is told."""
    with pytest.raises(UserError) as raised:
        listing.read("    FFMA R1, R2\n    EXIT\n    FOO R1\n    LDS R1, [R2\n", "k.asm")
    places = [message.split(" ")[0] for message in (str(raised.value), *raised.value.further)]
    assert places == ["k.asm:1:5:", "k.asm:3:5:", "k.asm:4:13:"]
    with pytest.raises(UserError) as raised:
        listing.read("    FOO R1\n" * 30)
    assert len(raised.value.further) == 10
    assert raised.value.further[-1] == "20 more lines have faults"


def test_unknown_directives_are_told_together():
    """Two unknown directives have a message each."""
    with pytest.raises(UserError) as raised:
        listing.read(".bogus 3\n.grod 2\n    EXIT\n", "k.asm")
    assert "unknown directive .bogus" in str(raised.value)
    (other,) = raised.value.further
    assert other.startswith("k.asm:2:1: unknown directive .grod; did you mean .grid?")
