"""The same PTX compiled for other architectures computes what the H200 computed, on all rows, to the bit."""

import re
import subprocess

import pytest

from hardware import replay
from hardware.catalog import SNIPPETS
from hardware.inputs import SETS
from hardware.snippet import ptx
from hardware.test_bits import timed
from isa.nvidia.compiler import tools
from isa.nvidia.file import code

ARCHITECTURES = 75, 80, 86, 89, 100, 110, 120, 121
HEAD = ".version 9.0\n.target sm_{architecture}\n.address_size 64\n"
OWN = (  # what ptxas writes for one of these in another way than for sm_90
    "cvt_rz_sat_f16_f32", "cvt_rz_ftz_sat_f16_f32", "cvt_sat_f32_f16", "cvt_rn_relu_bf16_f32", "cvt_rz_relu_bf16_f32",
    "min_f16", "max_f16x2", "fma_rn_sat_f16", "f16x2_parts",
    "generic_s16", "setp_gt_u64", "setp_or_s64", "red_generic_min_u64", "red_generic_max_s64", "red_generic_add_f64",
    "red_generic_add_noftz_bf16x2", "atom_generic_cas_b64", "testp_normal_f64", "mad_128", "mad_hi_sat_s32",
    "sqrt_rp_f64", "cvt_rn_ftz_sat_f32_f64", "rem_s32_by_minus_7", "vabsdiff4_u32_u32_u32_add", "int_min_max",
    "max_of_three_s32_relu", "uniform_single", "uniform_min_max", "uniform_shr_s64_count", "redux_sync_max_u32",
)  # fmt: skip
needs_ptxas = pytest.mark.skipif(not tools.installed("ptxas"), reason="ptxas (extra cuda) is not installed")


def compiled(names, architecture, folder):
    """Return the machine code of those snippets that an architecture has."""
    left, file = list(names), folder / "snippets.ptx"
    while True:
        texts = [ptx(SNIPPETS[name], SETS[SNIPPETS[name].inputs].rows) for name in left]
        file.write_text(HEAD.format(architecture=architecture) + "".join(texts))
        command = [tools.find("ptxas"), f"-arch=sm_{architecture}", "-o", folder / "snippets.cubin", file]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return code.of_cubin((folder / "snippets.cubin").read_bytes(), f"sm_{architecture}")
        refused = {int(line) for line in re.findall(r"line (\d+)", done.stderr)}
        left = list(without(left, texts, refused))


def without(names, texts, lines):
    """Yield the names whose texts have none of the lines."""
    first = HEAD.count("\n") + 1
    for name, text in zip(names, texts, strict=True):
        after = first + text.count("\n")
        if lines.isdisjoint(range(first, after)):
            yield name
        first = after


def replayed(names, architecture, folder, monkeypatch):
    """Let snippets be those of an architecture; return the names of those that it has."""
    machine_code = compiled(names, architecture, folder)
    monkeypatch.setattr(replay, "machine_code", lambda: machine_code)
    return list(machine_code.sections)


def wrong(names, architecture, folder, monkeypatch):
    """Return the differences of all snippets that the architecture has."""
    here = replayed(names, architecture, folder, monkeypatch)
    found = {name: replay.differences(SNIPPETS[name], replay.computed(SNIPPETS[name])) for name in here}
    assert found
    return {name: rows[:3] for name, rows in found.items() if rows}


@needs_ptxas
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_what_others_write_otherwise_computes_the_same(architecture, tmp_path, monkeypatch):
    """Conversions, choices and products that older architectures have in other forms give the recorded results."""
    assert wrong(OWN, architecture, tmp_path, monkeypatch) == {}


@needs_ptxas
@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_all_snippets_compute_the_same_for_other_architectures(architecture, tmp_path, monkeypatch):
    """Each snippet that ptxas takes for an architecture, 1,416 to 1,670 of them, gives the recorded results."""
    assert wrong(SNIPPETS, architecture, tmp_path, monkeypatch) == {}


@pytest.mark.long
@needs_ptxas
@pytest.mark.jit
@pytest.mark.parametrize("architecture", [100, 120])
def test_the_compiled_engine_computes_the_same_for_later_architectures(architecture, tmp_path, monkeypatch):
    """Forced onto the H200, the first block of what others write otherwise gives the recorded results."""
    here = replayed(OWN, architecture, tmp_path, monkeypatch)
    wrong = {name: timed(SNIPPETS[name])[:3] for name in here}
    assert wrong
    assert {name: rows for name, rows in wrong.items() if rows} == {}
