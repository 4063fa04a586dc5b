from pathlib import Path

import pytest

from isa.nvidia.file.cubin import read as read_cubin
from isa.nvidia.file.dump import DumpError, read
from isa.nvidia.file.inlined import NO_SOURCE, SourceLine

DATA = Path(__file__).with_name("data")
NVDISASM = """\
	.target	sm_90
.text.copy:
	//## File "/example/copy.cu", line 3
        /*0000*/                   LDC R1, c[0x0][0x28] ;                 /* 0x00000a00ff017b82 */
                                                                          /* 0x000ff00000000800 */
.L_x_0:
        /*0010*/              @!P0 BRA `(.L_x_0);                         /* 0xfffffffc00fc7947 */
                                                                          /* 0x000fc0000383ffff */
"""
CUOBJDUMP = """\
	code for sm_80
		Function : copy
	.headerflags	@"EF_CUDA_SM80 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM80)"
        /*0000*/                   MOV R1, c[0x0][0x28] ;             /* 0x00000a0000017a02 */
                                                                      /* 0x000fe40000000f00 */
		..........
"""


def test_the_text_of_nvdisasm():
    """Section, labels with their offsets, source line, text without `;`, and both words of the encoding are read."""
    found = read(NVDISASM, "k")
    (section,) = found.sections.values()
    first, second = section.instructions
    assert (found.architecture, list(found.sections), section.labels) == (90, ["copy"], {".L_x_0": 16})
    assert (first.offset, first.text, first.source) == (0, "LDC R1, c[0x0][0x28]", SourceLine("/example/copy.cu", 3))
    assert (second.offset, second.text) == (16, "@!P0 BRA `(.L_x_0)")
    assert (first.low, first.high) == (0x00000A00FF017B82, 0x000FF00000000800)
    assert (second.control.stall, second.control.yields) == (0, True)


def test_the_text_of_cuobjdump():
    """The other tool's text differs in its heads, and has no source lines."""
    found = read(CUOBJDUMP, "k")
    (one,) = found.sections["copy"].instructions
    assert (found.architecture, one.text, one.source) == (80, "MOV R1, c[0x0][0x28]", NO_SOURCE)


def test_targets_of_an_indirect_branch():
    """What nvdisasm prints far to the right of an indirect branch follows it after one blank."""
    padded = NVDISASM.replace("@!P0 BRA `(.L_x_0);", 'BRX R2 -0x160          (*"BRANCH_TARGETS .L_x_0,.L_x_5"*);')
    (section,) = read(padded, "k").sections.values()
    assert section.instructions[1].text == 'BRX R2 -0x160 (*"BRANCH_TARGETS .L_x_0,.L_x_5"*)'


def test_a_dump_has_the_bytes_of_its_cubin():
    """The encodings that cuobjdump prints of a file are its code, instruction by instruction."""
    found = read((DATA / "sm_80.sass").read_text(), "k").sections
    functions = read_cubin((DATA / "sm_80.cubin").read_bytes(), "k").functions
    for name, section in found.items():
        words = b"".join(i.low.to_bytes(8, "little") + i.high.to_bytes(8, "little") for i in section.instructions)
        assert words == functions[name].code
    assert found.keys() == {"flip", "_Z5pairs4Pairs"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "k: no instructions"),
        ("int main() {}", "k: no instructions"),
        (NVDISASM.replace(".text.copy:", ""), "k:4: an instruction of no function"),
        (NVDISASM.replace("/* 0x00000a00ff017b82 */", ""), "k:4: LDC R1, c.* has no encoding"),
        ("\n".join(NVDISASM.splitlines()[:4]), "k:4: LDC R1, c.* has no encoding"),
        (NVDISASM.replace("/*0010*/", "/*0020*/"), "k:7: offset 0x0020 where 0x0010 comes next"),
    ],
)
def test_other_texts_are_refused(text, message):
    """A text without functions, encodings or order is refused at its line, with the command that prints a good one."""
    with pytest.raises(DumpError, match=rf"^{message}.*; print it with cuobjdump -sass, or with nvdisasm -hex -c$"):
        read(text, "k")
