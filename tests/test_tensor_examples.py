"""The examples of tensor cores and asynchronous copies: each is of its kind, and computes what NumPy gives.

Code is that of the cubins beside the sources, so that no compiler is needed.
"""

import json
import re
import shutil

import numpy as np
import pytest
from compiled_alike import alike
from read.fenced import ROOT

from examples.tensor import expected
from gpusim.commands.main import execute
from isa.nvidia.compiler import tools
from isa.nvidia.file import code

FOLDER = ROOT / "examples" / "tensor"
PATHS = sorted(FOLDER.glob("*.cu"))
NAMES = [path.stem for path in PATHS]
KIND = {  # instructions without which a kernel would not be of its kind, as nvdisasm has them
    "bulk": "UBLKCP.S.G, UBLKCP.G.S, SYNCS.PHASECHK.TRANS64.TRYWAIT",  # bulk copies, a barrier of bytes
    "cluster": "UCGABAR_ARV, UCGABAR_WAIT, LD.E",  # barrier and shared memory of a cluster
    "cp_async": "LDGSTS.E.BYPASS.128, LDGDEPBAR, DEPBAR.LE, HMMA.16816.F32",  # groups of copies
    "flash": "HMMA.16816.F32, LDSM.16.M88.4, LDSM.16.MT88.4, MUFU.EX2, LDGSTS.E.BYPASS.128",  # attention
    "fp64": "DMMA.16x8x16",  # double precision
    "int8": "IMMA.16832.S8.S8",  # bytes
    "mma_sync": "HMMA.16816.F32, LDSM.16.M88.4, LDSM.16.MT88.2",  # PTX's mma.sync
    "pipeline": "SYNCS.ARRIVE.TRANS64.A1T0, ARRIVES.LDGSTSBAR.64.TRANSCNT, LDGSTS",  # cuda::pipeline
    "tma": "UTMALDG.2D, UTMASTG.2D, UTMACMDFLUSH",  # tensor copies
    "wgmma": "HGMMA.64x64x16.F32, WARPGROUP.ARRIVE, WARPGROUP.DEPBAR.LE, FENCE.VIEW.ASYNC.S",  # warpgroups
    "wmma": "HMMA.16816.F32, LDSM.16.M88.4, LDSM.16.MT88.4",  # nvcuda::wmma
}
RUN = "bulk", "cluster", "cp_async", "flash", "fp64", "int8", "mma_sync", "pipeline", "tma", "wgmma", "wmma"
needs_nvcc = pytest.mark.skipif(
    not (tools.installed("nvcc") and shutil.which("g++")), reason="nvcc (extra cuda) or g++ is not installed"
)


def cubin(name):
    """Return the path of an example's machine code, as a text."""
    return str(FOLDER / f"{name}.cubin")


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_of_its_kind(name):
    """Each kernel's machine code has the instructions for which it is here."""
    (section,) = code.read(cubin(name)).sections.values()
    text = "\n".join(one.text for one in section.instructions)
    assert [one for one in KIND[name].split(", ") if not re.search(rf"(^|\s){re.escape(one)}", text, re.M)] == []


@pytest.mark.parametrize("name", expected.RESULTS)
def test_the_files_hold_what_numpy_computes(name):
    """Each .npy file has what `python examples/tensor/expected.py` writes now."""
    path, values = expected.file(name)
    found = np.load(path)
    assert found.dtype == values.dtype
    assert np.array_equal(found, values)


@needs_nvcc
@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_the_cubins_are_what_the_compiler_makes(path):
    """The compiler makes of each source the instructions of the cubin beside it, control codes and lines too."""
    launch = path.with_suffix(".toml")
    flags = expected.source.read(launch).file.nvcc_flags if launch.exists() else ()
    assert alike(path, code.read(cubin(path.stem)), flags)


@pytest.mark.jit
@pytest.mark.long
@pytest.mark.parametrize("name", RUN)
def test_a_report_by_line_finds_the_values_right(name, capsys):
    """One command goes from the example to its lines, and finds what NumPy computes in every element."""
    assert execute(["run", cubin(name), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verification"]["scope"], found["verification"]["wrong"]) == ("complete", 0)
    assert found["verification"]["values"] > 0
    assert found["bound"]["cycles"] <= found["cycles"]
    assert execute(["report", cubin(name), "--by", "line", "--json"]) == 0
    lines = [one for one in json.loads(capsys.readouterr().out)["lines"] if one["file"].endswith(f"{name}.cu")]
    source = (FOLDER / f"{name}.cu").read_text().splitlines()
    assert len(lines) > 3
    assert all(one["text"] == source[one["line"] - 1].strip() for one in lines)


@pytest.mark.jit
def test_a_product_of_bytes_is_right(capsys):
    """The quick one of these."""
    assert execute(["run", cubin("int8")]) == 0
    assert re.search(r"^values +right: 2,048 of 2,048 values", capsys.readouterr().out, re.M)


LISTINGS = {  # values, and instructions without which a listing would not be of its kind
    "tf32": (1024, "LDGSTS.128, LDGDEPBAR, DEPBAR.LE, LDSM.16, HMMA.1688.F32.TF32"),  # copies in groups, by a warp
    "wgmma_tma": (4096, "HGMMA.64x64x16.F32, UTMALDG.2D, SYNCS.PHASECHK.TRANS64.TRYWAIT"),  # tensor copies, a warpgroup
}


@pytest.mark.jit
@pytest.mark.long
@pytest.mark.parametrize("name", LISTINGS)
def test_a_listing_copies_multiplies_and_is_right(name, capsys):
    """A listing has asynchronous copies and products; all its values are right, and it is not below its bound."""
    values, kinds = LISTINGS[name]
    assert execute(["run", str(FOLDER / f"{name}.asm"), "--machine", "h200", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verification"]["values"], found["verification"]["wrong"]) == (values, 0)
    assert found["bound"]["cycles"] <= found["cycles"]
    assert all(one in (FOLDER / f"{name}.asm").read_text() for one in kinds.split(", "))


@pytest.mark.jit
@pytest.mark.long
def test_a_listing_is_without_races_and_hazards(capsys):
    """The codes that a machine assigns wait for all that is read, and its barriers keep copies and reads apart."""
    for command in (["races"], ["hazards", "--machine", "h200"]):
        assert execute([command[0], str(FOLDER / "wgmma_tma.asm"), *command[1:]]) == 0
    assert execute(["run", str(FOLDER / "wgmma_tma.asm"), "--machine", "v100"]) == 2
    assert re.search(r"UR2 is a uniform register, v100 has none; take a machine with them", capsys.readouterr().err)
