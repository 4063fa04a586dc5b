"""How much faster all SMs of a chip are simulated on several threads, each count twice in one run, the best kept.

python -m benchmarks.threads                    sgemm-lai of 960 on the 16 SMs of a GTX 580, trace-driven
python -m benchmarks.threads --case h200        a product on the 132 SMs of an H200
python -m benchmarks.threads --case code        the machine code of a product, on the 132 SMs of an H200
python -m benchmarks.threads --values           with all values

Seconds are of the run after its preparation, wall and of all threads; the speed-up is over the first count. Run it on
an idle machine: its load is shown.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from gpusim.engines.chip import chip_ahead
from gpusim.engines.simulate import WINDOW
from gpusim.launch.feed import ADDRESS_ONLY, EXECUTION_DRIVEN, TRACE_DRIVEN, recordable
from gpusim.launch.launch import launch_chip
from gpusim.machine.machine import Machine, load
from gpusim.sm.unit.capacities import NEVER
from gpusim.support.processes import cores
from isa.kernel import Kernel
from workloads.catalog import make
from workloads.measured.whole import launch as whole

COUNTS = (1, 2, 4, 8, 16)
ROUNDS = 2


def case(name: str) -> tuple[Kernel, Machine]:
    """Return a kernel and its machine by the name of the case."""
    if name == "gtx580":
        return make("sgemm-lai", {"m": "960", "n": "960", "k": "960"}), load("gtx580")
    if name == "h200":
        return make("sgemm-lai", {"m": "2304", "n": "2304", "k": "192"}), load("h200", {"cache.hits": "none"})
    return whole.kernel("sgemm_128x128_8x8_v4", "persm"), load("h200", {"cache.hits": "none"})


def timed(kernel: Kernel, machine: Machine, feed: str, threads: int) -> tuple[float, float, int, int]:
    """Return the seconds of one run, by the wall and of all threads, its warp instructions, and its warp-cycles."""
    ready = launch_chip(kernel, machine, feed=feed)
    if ready.in_turn:
        raise SystemExit(f"{kernel.name} runs on one thread: {ready.in_turn}")
    advance = chip_ahead.start(ready, threads, WINDOW)
    wall, cpu = time.perf_counter(), time.process_time()
    advance(NEVER)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    counts = [sum(int(one.program[column].sum()) for one in ready.each) for column in ("issued", "stall")]
    return wall, cpu, counts[0], counts[1]


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Print a line for each count of threads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=("gtx580", "h200", "code"), default="gtx580")
    parser.add_argument("--values", action="store_true", help="compute all values")
    parser.add_argument("--threads", type=int, nargs="+", default=COUNTS)
    given = parser.parse_args()
    kernel, machine = case(given.case)
    timing = TRACE_DRIVEN if recordable(kernel) else ADDRESS_ONLY
    feed = EXECUTION_DRIVEN if given.values else timing
    _tell(f"{kernel.name} on {machine.chip.sms} SMs of {machine.key}, {feed}; {cores()} cores")
    _tell("threads  seconds  CPU seconds  speed-up  million/s  load")
    alone, counted = 0.0, set()
    for threads in given.threads:
        wall, cpu, issued, stalls = min(timed(kernel, machine, feed, threads) for _ in range(ROUNDS))
        alone, counted = alone or wall, counted | {(issued, stalls)}
        busy = os.getloadavg()[0]
        _tell(f"{threads:7} {wall:8.2f} {cpu:12.2f} {alone / wall:9.2f} {issued / wall / 1e6:10.2f} {busy:5.1f}")
    assert len(counted) == 1, "the runs differ"


if __name__ == "__main__":
    main()
