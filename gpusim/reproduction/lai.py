"""The claims of Lai and Seznec, RR-7923 (INRIA, 2012)."""

from __future__ import annotations

from gpusim.analysis import equations
from gpusim.machine import bandwidth_gbs
from gpusim.reproduction.bench import Bench
from gpusim.reproduction.finding import Finder, Finding, analytic, calibrated, counted, given, predicted, registrar

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)
FIGURE_2 = "RR-7923 figure 2"
CARD = "gtx580-1566"  # the one measured


@claim("LS02")
def table_1_gtx580(bench: Bench) -> Finding:
    """Clocks and bandwidth of the GTX 580."""
    machine = bench.machine("gtx580")
    return given(machine.chip.core_mhz, machine.chip.shader_mhz, bandwidth_gbs(machine))


@claim("LS20")
def share_of_ffma(bench: Bench) -> Finding:
    """FFMAs among FFMAs and shared loads of the SGEMM's program."""
    names = [i.row.mnemonic for i in bench.kernel("sgemm-lai", lds=64).program.instructions]
    ffma, loads = names.count("FFMA"), names.count("LDS.64")
    return counted(100 * ffma / (ffma + loads))


@claim("LS30")
def tile_rows(_: Bench) -> Finding:
    """Equation 8."""
    return analytic(equations.shared_blocking(256, 6))


@claim("LS37")
def mix_of_64_bits(bench: Bench) -> Finding:
    """FFMA and LDS.64, 6 to 1."""
    return calibrated(bench.fitted("gtx580", FIGURE_2), bench.point("gtx580", "mix-6-1-64"))


@claim("LS49")
def sgemm_nt(bench: Bench) -> Finding:
    """SGEMM of 4800 by 4800 by 4800, NT."""
    return predicted(bench.run("sgemm-lai", CARD, m=4800, n=4800, k=4800, layout="nt").gflops)
