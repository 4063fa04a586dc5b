"""The line to which inlined code counts, on chains as nvdisasm -gi prints them."""

import pytest

from isa.nvidia.file.dump import read
from isa.nvidia.file.inlined import SourceLine, attributed, is_foreign

INCLUDE = "/usr/local/cuda-13.0/bin/../targets/x86_64-linux/include"
HALF, SHUFFLE = (f"{INCLUDE}/cuda_fp16.hpp", 2604), (f"{INCLUDE}/sm_30_intrinsics.hpp", 409)
CALLER, OWN, OTHER = ("/a/k.cu", 22), ("/a/k.cu", 3), ("/a/tile.cuh", 7)
DUMP = f"""\
\t.target\tsm_90
.text.k:
\t//## File "/a/k.cu", line 21
        /*0000*/                   MOV R1, R2 ;                           /* 0x00000a00ff017b82 */
                                                                          /* 0x000ff00000000800 */
\t//## File "{HALF[0]}", line 2604 inlined at "{INCLUDE}/cuda_fp16.hpp", line 9
\t//## File "{INCLUDE}/cuda_fp16.hpp", line 9 inlined at "/a/k.cu", line 22
\t//## File "/a/k.cu", line 22
.L_x_0:
        /*0010*/                   HFMA2 R13, R6, R6, 0.5, 0.5 ;          /* 0xfffffffc00fc7947 */
                                                                          /* 0x000fc0000383ffff */
        /*0020*/                   NOP ;                                  /* 0xfffffffc00fc7947 */
                                                                          /* 0x000fc0000383ffff */
\t//## File "/a/k.cu", line 23
        /*0030*/                   EXIT ;                                 /* 0xfffffffc00fc7947 */
                                                                          /* 0x000fc0000383ffff */
"""


@pytest.mark.parametrize(
    ("chain", "source"),
    [
        ([CALLER], SourceLine(*CALLER)),
        ([HALF, CALLER], SourceLine(*CALLER, HALF)),
        ([SHUFFLE, (SHUFFLE[0], 414), CALLER], SourceLine(*CALLER, SHUFFLE)),
        ([OWN, CALLER], SourceLine(*OWN)),
        ([OTHER, CALLER], SourceLine(*OTHER)),
        ([HALF, OWN, CALLER], SourceLine(*OWN, HALF)),
        ([HALF], SourceLine(*HALF)),
        ([HALF, SHUFFLE], SourceLine(*SHUFFLE, HALF)),
    ],
)
def test_inlined_code_counts_to_the_users_own_line(chain, source):
    """Code of a header counts to the own line that calls it, a helper to its own, and code of headers alone to a call.

    The place of the code itself is kept where it is another.
    """
    assert attributed(chain) == source


@pytest.mark.parametrize("file", ["/home/me/cuda-2d-stencil/k.cu", "/cuda-12/k.cu", "/src/cuda-13.0/src/k.cu"])
def test_a_folder_whose_name_begins_like_the_toolkits_is_the_users(file):
    """Only the include folders of a toolkit of that name hold its headers."""
    assert not is_foreign(file)


@pytest.mark.parametrize("folder", ["include", "targets/x86_64-linux/include"])
def test_a_toolkit_anywhere_has_headers(folder):
    """The include folder of `cuda-13.0` is the toolkit's wherever that lies."""
    assert is_foreign(f"/home/me/cuda-13.0/{folder}/cuda_fp16.hpp")


def test_a_dump_has_the_chain_before_an_instruction():
    """Lines with `inlined at` go on in the next line; the line holds for all instructions up to the next one."""
    (section,) = read(DUMP, "k").sections.values()
    there = SourceLine(*CALLER, HALF)
    assert [one.source for one in section.instructions] == [
        SourceLine("/a/k.cu", 21),
        there,
        there,
        SourceLine("/a/k.cu", 23),
    ]
    assert section.labels == {".L_x_0": 16}


@pytest.mark.parametrize(
    "file",
    [
        HALF[0],
        "/usr/include/c++/13/cmath",
        "/usr/local/cuda/include/mma.hpp",
        "/env/targets/x86_64-linux/include/cuda_fp16.hpp",
        "/env/lib/python3.12/site-packages/nvidia/cu13/include/cuda_fp16.hpp",
        "/opt/nvidia/hpc_sdk/Linux_x86_64/24.5/cuda/12.4/include/mma.h",
        r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v12.4\include\cuda_fp16.hpp",
    ],
)
def test_headers_of_compiler_and_system_are_foreign(file):
    """Files of a toolkit, wherever it is installed, and of the system are none of the user's own."""
    assert is_foreign(file)


@pytest.mark.parametrize("file", ["k.cu", "/home/a/cuda/k.cu", "/home/a/cuda/include/tile.cuh", "/build/include/k.h"])
def test_other_files_are_the_users_own(file):
    """A folder that is called cuda or include makes no file a header of the toolkit."""
    assert not is_foreign(file)
