"""Texts that are no listings, and what users are told of them."""

import time

import pytest

from gpusim.launch.file.files import pair
from isa.errors import UserError
from isa.nvidia.file import code
from isa.reading.foreign import looks_like
from isa.text import listing

MOST_SECONDS = 5  # of the processor, that docs/reliability.md promises
PTX = ".version 8.0\n.target sm_90\n.visible .entry k(\n.param .u64 a\n)\n{\nld.param.u64 %rd1, [a];\nret;\n}\n"
DUMPED = "        /*0000*/                   MOV R1, c[0x0][0x28] ;         /* 0x00000a0000017a02 */\n"
BARE = "IMAD.WIDE R2, R3, R4, c[0x0][0x160] ;\nLDG.E.64 R4, [R2.64] ;\n"
CUDA = "#include <cstdio>\n__global__ void k(float *x) { x[0] = 1; }\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (PTX, "no listing: looks like PTX; let its name end in .ptx"),
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


OTHERS = {
    "snippet.traceg": (
        "-kernel name = vecadd\n-kernel id = 1\n#BEGIN_TB\n0000 ffffffff 1 R1 MOV 0 0\n",
        "a trace of Accel-S",
    ),
    "space-t1.json": ('{"General":{},"ConfigurationSpace":{"TuningParameters":[]}}\n', "Tuner's T1 format"),
    "other.json": ('{"a": 1}\n', "JSON, which is no program"),
    "k.cl": ("__kernel void f(__global float *x)\n{\n  x[get_global_id(0)] = 1;\n}\n", "OpenCL C"),
    "turingas.asm": (".kernel t\n--:-:0:-:2 S2R R0, TID.X\n01:-:-:-:6 SHL R1, R0, 2\n", "a text for maxas or turingas"),
    "exec-mask.asm": (".warp 64\nS_AND_SAVEEXEC_B64 s[0:1], vcc\nS_MOV_B64 exec, s[0:1]\n", "the mask of lanes (EXEC)"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_files_of_other_tools_are_named(tmp_path, name):
    """Traces, search spaces, OpenCL, maxas and GCN's masks are named in one line, as a listing and as machine code."""
    text, words = OTHERS[name]
    path = tmp_path / name
    path.write_text(text)
    for read in (listing.load, code.read):
        with pytest.raises(UserError) as caught:
            read(path)
        assert "looks like" in str(caught.value)
        assert words in str(caught.value)
        assert str(caught.value).startswith(f"{path}:")
        assert caught.value.further == ()


SM_61 = """\tcode for sm_61
\t\tFunction : _Z4vaddPf
\t.headerflags    @"EF_CUDA_SM61 EF_CUDA_PTX_SM(EF_CUDA_SM61)"
                                                                        /* 0x083fc400e3e007f6 */
        /*0008*/                   MOV R1, c[0x0][0x20] ;               /* 0x4c98078000870001 */
        /*0018*/                   EXIT ;                               /* 0xe30000000007000f */
"""
PLAIN = "        /*0000*/                   MOV R1, c[0x0][0x28] ;\n        /*0040*/                   EXIT ;\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [(SM_61, "SASS of an architecture that is not read; compile"), (PLAIN, "has no encoding, so no con")],
)
def test_sass_that_is_not_read(tmp_path, text, words):
    """SASS of sm_61, and SASS without encodings, is refused with the reason, also where a launch file is missing."""
    path = tmp_path / "k.sass"
    path.write_text(text)
    for read in (code.read, lambda path: pair(str(path))):
        with pytest.raises(UserError) as caught:
            read(path)
        assert words in str(caught.value)


def test_machine_code_for_amd(tmp_path):
    """An ELF file for an AMD GPU is said to be one, with or without a launch file beside it."""
    path = tmp_path / "k.hsaco"
    path.write_bytes(b"\x7fELF\x02\x01\x01\x40" + bytes(10) + b"\xe0\x00" + bytes(100))
    for read in (code.read, lambda path: pair(str(path))):
        with pytest.raises(UserError, match=r"k\.hsaco: machine code for an AMD GPU \(HSACO\), which is not read"):
            read(path)


@pytest.mark.parametrize(
    ("text", "line", "command"),
    [
        (f"// made by hand\n\n{PTX}", 3, ""),
        (f"\n\n{DUMPED}", 3, "gpusim launch mine.sass"),
        (CUDA, 1, "launch mine.cu"),
    ],
    ids=["ptx", "dumped", "cuda"],
)
def test_the_sign_of_another_language_has_its_place(text, line, command):
    """The message has the line that gives the language away, and the command for the file of that name."""
    with pytest.raises(UserError) as raised:
        listing.read(text, "mine.asm")
    assert str(raised.value).startswith(f"mine.asm:{line}:1: ")
    assert command in str(raised.value)


@pytest.mark.parametrize("text", ["    FFMA R1, R2\n", "    FOO R1\n", ".bogus 3\n    EXIT\n", ""])
def test_a_faulty_listing_stays_one(text):
    """A listing with a mistake looks like nothing else."""
    assert looks_like(text, "k.asm") is None
    with pytest.raises(UserError) as raised:
        listing.read(text)
    assert "looks like" not in str(raised.value)


@pytest.mark.parametrize(
    "text",
    ["\n" * 60_000 + "junk", " \t" * 60_000 + "junk", "s_" + "a" * 60_000, "s_exe" * 20_000, "Function" * 20_000],
    ids=["lines", "blanks", "word", "words", "names"],
)
def test_a_text_of_anybody_is_looked_at_in_seconds(text):
    """A text that repeats what a pattern begins with takes a time in proportion to its length: of 60 KB under 5 s."""
    begin = time.process_time()
    assert looks_like(f"x\n{text}", "k.asm") is None
    assert time.process_time() - begin < MOST_SECONDS


def test_the_faults_of_all_lines_are_told():
    """Each faulty line has its message, in order; beyond ten only their number is told."""
    with pytest.raises(UserError) as raised:
        listing.read("    FFMA R1, R2\n    EXIT\n    FOO R1\n    LDS R1, [R2\n", "k.asm")
    places = [message.split(" ")[0] for message in (str(raised.value), *raised.value.further)]
    assert places == ["k.asm:1:5:", "k.asm:3:5:", "k.asm:4:13:"]
    with pytest.raises(UserError) as raised:
        listing.read("    FOO R1\n" * 30)
    assert len(raised.value.further) == 10
    assert raised.value.further[-1] == "20 more faults"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (".grid 1\n.blok 3\nFADDD R1, R2\nEXIT\n", ["2:1", "3:1"]),
        ("BRA nowhere\nBRA there\nEXIT\n", ["1:5", "2:5"]),
        (".grid 0\n.block 5000000\n.shared x\nEXIT\n", ["1:7", "2:8", "3:9"]),
        (".buffer y q32 5\n.buffer z f32 = iota\n.param 3\nEXIT\n", ["1:11", "2:9", "3:8"]),
        (".buffer y f32 5\n.expect q = y\n.expect y = 3 within x\nEXIT\n", ["2:9", "3:9"]),
        ("a:\nEXIT\na:\nBRA b\nBRA a\n.expect foo = 1\n", ["3:1", "4:5", "6:9"]),
        ("MOV R1, c[n]\nMOV R1, c[m]\nMOV R1, 1 2\nEXIT\n", ["1:11", "2:11", "3:9"]),
        (".parm n = 1\nLDG R1, R2\nEXIT\n", ["1:1", "2:9"]),
    ],
)
def test_faults_of_all_kinds_are_told_together(text, places):
    """Directives, instructions, labels, names and expectations: each fault of a text has a line, in order of place."""
    with pytest.raises(UserError) as raised:
        listing.read(text, "k")
    told = [str(raised.value), *raised.value.further]
    assert [":".join(one.split(":")[1:3]) for one in told] == places


def test_a_comment_of_another_language_hides_no_fault():
    """A listing whose lines are read, but for a name given twice, is none in CUDA C because a comment quotes some."""
    with pytest.raises(UserError, match=r"^k:3:8: n defined twice"):
        listing.read("// after __global__ void k()\n.param n = 1\n.param n = 2\nEXIT\n", "k")


def test_what_follows_from_a_fault_is_not_told():
    """A buffer with a fault is not missing where it is used, nor a label on a line that has one."""
    for text in (
        ".buffer x q32 5\nMOV R1, c[x]\n.expect x = 1\nEXIT\n",
        ".param n = z\nMOV R1, c[n]\nEXIT\n",
        "a: FOO\nBRA a\nEXIT\n",
        ".bufer x f32 32 = hash 1\n.buffer y f32 32\n.expect y = x\nMOV R1, c[x]\nEXIT\n",
        ".parm n = 1\nMOV R1, c[n]\nEXIT\n",
    ):
        with pytest.raises(UserError) as raised:
            listing.read(text, "k")
        assert raised.value.further == ()


def test_unknown_directives_are_told_together():
    """Two unknown directives have a message each."""
    with pytest.raises(UserError) as raised:
        listing.read(".bogus 3\n.grod 2\n    EXIT\n", "k.asm")
    assert "unknown directive .bogus" in str(raised.value)
    (other,) = raised.value.further
    assert other.startswith("k.asm:2:1: unknown directive .grod; did you mean .grid?")
