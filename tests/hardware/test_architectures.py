"""The same PTX compiled for other architectures computes what the H200 computed, on all rows, to the bit."""

import re
import subprocess

import pytest

from hardware import replay
from hardware.catalog import SNIPPETS
from hardware.inputs import SETS
from hardware.snippet import ptx
from isa.sass import code, tools

ARCHITECTURES = 75, 80, 86, 89
HEAD = ".version 9.0\n.target sm_{architecture}\n.address_size 64\n"
OWN = (  # what ptxas writes for one of these in another way than for sm_90
    "cvt_rz_sat_f16_f32", "cvt_rz_ftz_sat_f16_f32", "cvt_sat_f32_f16", "cvt_rn_relu_bf16_f32", "cvt_rz_relu_bf16_f32",
    "min_f16", "max_f16x2", "fma_rn_sat_f16", "f16x2_parts",
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


def wrong(names, architecture, folder, monkeypatch):
    """Return the differences of all snippets that the architecture has."""
    machine_code = compiled(names, architecture, folder)
    monkeypatch.setattr(replay, "machine_code", lambda: machine_code)
    found = {
        name: replay.differences(SNIPPETS[name], replay.computed(SNIPPETS[name])) for name in machine_code.sections
    }
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
    """Each snippet that ptxas takes for an architecture, 1,416 to 1,514 of them, gives the recorded results."""
    assert wrong(SNIPPETS, architecture, tmp_path, monkeypatch) == {}
