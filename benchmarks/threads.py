"""How much faster all SMs of a chip are simulated on several threads, each count twice in one run, the best kept.

python -m benchmarks.threads                    sgemm-lai of 960 on the 16 SMs of a GTX 580, trace-driven
python -m benchmarks.threads --case h200        a product on the 132 SMs of an H200, without tags
python -m benchmarks.threads --case code        the machine code of a product there, without tags
python -m benchmarks.threads --case tags        the same with tags, which all SMs share
python -m benchmarks.threads --case waves       a smaller product with tags, several blocks for each SM
python -m benchmarks.threads --case stream      loads and stores alone, with tags
python -m benchmarks.threads --values           with all values
python -m benchmarks.threads --all              each case, and that with tags with values, in processes of their own

Seconds are of the run after its preparation, wall and of all threads; the speed-up is over the first count. The last
line has the most memory that the process held. Run it on an idle machine: its load is shown.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence

from gpusim.engines.chip import chip_ahead, chip_stretches
from gpusim.engines.simulate import WINDOW
from gpusim.launch.feed import ADDRESS_ONLY, EXECUTION_DRIVEN, TRACE_DRIVEN, recordable
from gpusim.launch.in_turn import TAGGED
from gpusim.launch.launch import launch_chip
from gpusim.machine.machine import Machine, load
from gpusim.sm.memory.cache.declaration import tagged
from gpusim.sm.unit.capacities import NEVER
from gpusim.support.parallel.processes import cores
from isa.kernel import Kernel
from workloads.catalog import make
from workloads.measured.whole import launch as whole

COUNTS = (1, 2, 4, 8, 16)
ROUNDS = 2
CODES = {  # kernel and configuration of workloads/measured/whole, and what is set of the machine
    "code": ("sgemm_128x128_8x8_v4", "persm", {"cache.hits": "none"}),
    "tags": ("sgemm_128x128_8x8_v4", "persm", {}),
    "waves": ("sgemm_tile16", "resident", {}),
}
CASES = ("gtx580", "h200", *CODES, "stream")


def case(name: str) -> tuple[Kernel, Machine]:
    """Return a kernel and its machine by the name of the case."""
    if name in CODES:
        kernel, configuration, changes = CODES[name]
        return whole.kernel(kernel, configuration), load("h200", changes)
    if name == "stream":
        return make("stream", {"blocks": "2000"}), load("h200")
    if name == "gtx580":
        return make("sgemm-lai", {"m": "960", "n": "960", "k": "960"}), load("gtx580")
    if name == "h200":
        return make("sgemm-lai", {"m": "2304", "n": "2304", "k": "192"}), load("h200", {"cache.hits": "none"})
    raise ValueError(name)


def timed(kernel: Kernel, machine: Machine, feed: str, threads: int) -> tuple[float, float, int, int]:
    """Return the seconds of one run, by the wall and of all threads, its warp instructions, and its warp-cycles."""
    ready = launch_chip(kernel, machine, feed=feed, in_turn="" if threads else TAGGED)
    if ready.in_turn and threads:
        raise SystemExit(f"{kernel.name} runs on one thread: {ready.in_turn}")
    advance = chip_ahead.start(ready, threads, WINDOW) if threads else chip_stretches.start(ready, scalars=False)
    wall, cpu = time.perf_counter(), time.process_time()
    advance(NEVER)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    counts = [sum(int(one.program[column].sum()) for one in ready.each) for column in ("issued", "stall")]
    return wall, cpu, counts[0], counts[1]


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _all() -> None:
    """Print the lines of each case, in a process of its own."""
    for more in (*([name] for name in CASES), ["tags", "--values"]):
        subprocess.run([sys.executable, "-m", "benchmarks.threads", "--case", *more], check=True)


def _measure(kernel: Kernel, machine: Machine, feed: str, counts: Sequence[int]) -> None:
    """Print a line for each count of threads; with tags also one for SMs that act alone between turns, threads 0."""
    _tell(f"{kernel.name} on {machine.chip.sms} SMs of {machine.key}, {feed}; {cores()} cores")
    _tell("threads  seconds  CPU seconds  speed-up  million/s  load")
    alone, counted = 0.0, set()
    for threads in (*[0] * tagged(machine), *counts):
        wall, cpu, issued, stalls = min(timed(kernel, machine, feed, threads) for _ in range(ROUNDS))
        alone, counted = (alone or wall) if threads else 0.0, counted | {(issued, stalls)}
        speed, busy = alone / wall, os.getloadavg()[0]
        _tell(f"{threads:7} {wall:8.2f} {cpu:12.2f} {speed:9.2f} {issued / wall / 1e6:10.2f} {busy:5.1f}")
    _tell(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB at most")
    assert len(counted) == 1, "the runs differ"


def main() -> None:
    """Measure a case, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=CASES, default="gtx580")
    parser.add_argument("--values", action="store_true", help="compute all values")
    parser.add_argument("--all", action="store_true", help="all cases")
    parser.add_argument("--threads", type=int, nargs="+", default=COUNTS)
    given = parser.parse_args()
    if given.all:
        _all()
    else:
        kernel, machine = case(given.case)
        timing = TRACE_DRIVEN if recordable(kernel) else ADDRESS_ONLY
        _measure(kernel, machine, EXECUTION_DRIVEN if given.values else timing, given.threads)


if __name__ == "__main__":
    main()
