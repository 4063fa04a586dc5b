"""Invented figures of a run."""

from gpusim.analysis.account.figures import Figures

FOUND = Figures(
    cycles=100,
    milliseconds=0.1,
    gflops=2.5,
    percent_of_peak=50.0,
    dram_gbs=100.0,
    percent_of_dram=60.0,
    l2_gbs=200.0,
    percent_of_l2=30.0,
    instructions_per_cycle=1.5,
    warp_instructions=40,
    bound_cycles=80,
    bound_limiter="issue slots",
    blocks=2,
    warps=8,
    occupancy_limiter="registers",
    registers=20,
    shared_bytes=0,
    used=40.0,
    lost={"wait": 50.0, "drain": 10.0},
    stalls={"selected": 100.0},
    limits={"issue slots": 80.0},
)
