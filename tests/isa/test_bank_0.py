"""The row of each architecture has the places from which ptxas lets code read them."""

import subprocess
from dataclasses import astuple

import pytest

from isa.architecture import NVIDIA, ROWS, Target, nvidia
from isa.nvidia.abi.load import reads
from isa.nvidia.compiler import tools
from isa.nvidia.file import code
from isa.nvidia.lowering.opening import OPENING

HEAD = ".version 9.0\n.target sm_{architecture}\n.address_size 64\n.const .b32 table[16];\n"
KERNEL = """
.visible .entry {name}(.param .u64 first, .param .u64 second) {{
    .reg .b64 out, x; .reg .b32 y; .reg .pred p;
    ld.param.u64 out, [first]; ld.param.u64 x, [second];
    {body}
}}
"""
ASKED = {  # what a row names: the PTX that reads it, and how many bytes behind the row's place
    "block": [(f"%ntid.{x}", 4 * i) for i, x in enumerate("xyz")],
    "grid": [(f"%nctaid.{x}", 4 * i) for i, x in enumerate("xyz")],
    "dynamic_shared": [("%dynamic_smem_size", 0)],
    "sms": [("%nsmid", 0)],
    "meeting": [("%envreg1", 0)],
    "groups": [("%reserved_smem_offset_end", 0), ("%reserved_smem_offset_1", 4)],
    "windows": [("cvta.local.u64 x, x;", 8)],
    "constants": [("mov.u64 x, table; cvta.const.u64 x, x;", 0)],
}
NEWER = "%reserved_smem"  # special registers that ptxas has from sm_80 on
needs_ptxas = pytest.mark.skipif(not tools.installed("ptxas"), reason="ptxas (extra cuda) is not installed")


def questions(architecture):
    """Yield each thing that is asked: a kernel's name, its PTX, and the place in bank 0 that its code must read."""
    row = nvidia(architecture)
    for name, asked in ASKED.items():
        for number, (what, behind) in enumerate(asked):
            place = getattr(row, name)
            if place is None or (what.startswith(NEWER) and architecture < 80):
                continue
            register = f"mov.u32 y, {what}; st.global.u32 [out], y; ret;"
            body = f"{what} st.global.u64 [out], x; ret;" if what.endswith(";") else register
            yield f"{name}{number}", KERNEL.format(name=f"{name}{number}", body=body), place + behind


def compiled(architecture, folder):
    """Return the machine code of all questions."""
    file, made = folder / "asked.ptx", folder / "asked.cubin"
    file.write_text(HEAD.format(architecture=architecture) + "".join(text for _, text, _ in questions(architecture)))
    command = [tools.find("ptxas"), f"-arch=sm_{architecture}", "-o", made, file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return code.of_cubin(made.read_bytes(), made.name)


@needs_ptxas
@pytest.mark.parametrize("architecture", NVIDIA)
def test_code_reads_what_a_row_names_at_its_place(architecture, tmp_path):
    """Ptxas reads sizes, windows, the address of constants and what a launch asks for where the row has them."""
    found = compiled(architecture, tmp_path)
    for name, _, place in questions(architecture):
        texts = [one.text.replace("[RZ]", "[0x0]") for one in found.sections[name].instructions]
        assert any(reads(text, place) for text in texts), (name, hex(place))


@needs_ptxas
@pytest.mark.parametrize("architecture", NVIDIA)
def test_parameters_and_the_stack_are_where_the_row_says(architecture, tmp_path):
    """The file's own table has the parameters' place, and the first instruction reads the top of the stack."""
    found, row = compiled(architecture, tmp_path), nvidia(architecture)
    assert {function.launch.base for function in found.cubin.functions.values()} == {row.parameters}
    opened = len(OPENING) + 3 if architecture == 87 else 0  # with a test, a branch and a UMOV
    first = {section.instructions[opened].text for section in found.sections.values()}
    assert all(" R1, " in text and reads(text, row.stack) for text in first)


@needs_ptxas
@pytest.mark.parametrize("architecture", NVIDIA)
def test_an_sm_holds_the_warps_of_the_row(architecture, tmp_path):
    """The assembler takes a promise of as many blocks of 512 threads as the row's warps make, and refuses one more."""
    fitting = nvidia(architecture).warps // (512 // 32)
    for blocks in (fitting, fitting + 1):
        file = tmp_path / "held.ptx"
        promise = f".visible .entry held() .maxntid 512 .minnctapersm {blocks} {{ ret; }}\n"
        file.write_text(HEAD.format(architecture=architecture) + promise)
        command = [tools.find("ptxas"), f"-arch=sm_{architecture}", "-o", tmp_path / "held.cubin", file]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        assert ("threads per SM" in told) == (blocks > fitting)


@pytest.mark.parametrize("target", ROWS)
def test_no_two_places_overlap(target):
    """Each word before the parameters has one meaning."""
    row = ROWS[target]
    sizes = {"block": 3, "grid": 3, "windows": 4, "stack": 1, "dynamic_shared": 1, "sms": 1, "system_bytes": 1}
    sizes |= {"groups": 2, "constants": 2, "meeting": 2}
    begins = {name: getattr(row, name) for name in sizes if getattr(row, name) is not None}
    words = [begin + 4 * i for name, begin in begins.items() for i in range(sizes[name])]
    assert len(set(words)) == len(words)
    assert max(words) < row.parameters


def test_a_target_is_named_as_its_vendor_does():
    """sm_90 is NVIDIA's, gfx906 AMD's; a text that does not say its architecture counts as sm_90."""
    assert (str(Target("nvidia", 90)), str(Target("amd", 906))) == ("sm_90", "gfx906")
    assert astuple(nvidia(0)) == astuple(nvidia(90))
