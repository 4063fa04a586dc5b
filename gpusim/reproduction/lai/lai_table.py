"""The claims of RR-7923 about the machines: its table 1, and the registers of a thread."""

from __future__ import annotations

from collections.abc import Callable

from gpusim.machine.machine import Machine, bandwidth_gbs, peak_gflops
from gpusim.reproduction.bench import Bench, Measurement, Run
from gpusim.reproduction.finding import Finder, Finding, analytic, given, registrar
from gpusim.sm.pipes.pipe.declaration import lanes
from isa.row import Unit

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)
GT200, GTX580, KEPLER = TABLE_1 = "gt200", "gtx580", "gtx680-speculated"
CARD = "gtx580-1566"  # the one measured
SPECULATED = "Kepler as the report speculated, before anyone had measured one"
ITERATIONS = 4, 12  # of the loop; the difference of the two runs counts


def steady_rate(bench: Bench, op: str, *machines: str, **parameters: object) -> list[float]:
    """Return thread instructions per cycle and SM of independent instructions, on each machine."""
    runs = [
        Run("throughput", machine, {"op": op, "length": 1024, "iterations": iterations, **parameters}, values=False)
        for machine in machines
        for iterations in ITERATIONS
    ]
    found = bench.runs(*runs)
    return [rate_between(op, *pair) for pair in zip(found[::2], found[1::2], strict=True)]


def rate_between(op: str, short: Measurement, long: Measurement) -> float:
    """Return thread instructions `op` per cycle and SM of what the longer run does beyond the shorter one."""
    return 32 * (long.issued[op] - short.issued[op]) / (long.cycles - short.cycles)


def _of_table_1(bench: Bench, figure: Callable[[Machine], float], note: str = "") -> Finding:
    return given(*(figure(bench.machine(key)) for key in TABLE_1), note=note)


def _clocks(bench: Bench, key: str) -> Finding:
    machine = bench.machine(key)
    return given(machine.chip.core_mhz, machine.chip.shader_mhz, bandwidth_gbs(machine))


@claim("LS01")
def clocks_of_gt200(bench: Bench) -> Finding:
    """Clocks and bandwidth of the GTX 280."""
    return _clocks(bench, GT200)


@claim("LS02")
def clocks_of_gtx580(bench: Bench) -> Finding:
    """Clocks and bandwidth of the GTX 580."""
    return _clocks(bench, GTX580)


@claim("LS03")
def clocks_of_kepler(bench: Bench) -> Finding:
    """Clocks and bandwidth of the GTX 680."""
    return _clocks(bench, KEPLER)


@claim("LS04")
def issues_of_a_dispatch_unit(bench: Bench) -> Finding:
    """Issue slots of one port in a core cycle, which is a whole number of shader cycles."""
    return _of_table_1(bench, lambda m: round(m.chip.shader_mhz / m.chip.core_mhz) / m.schedulers.interval)


@claim("LS05")
def schedulers(bench: Bench) -> Finding:
    """Schedulers of an SM."""
    return _of_table_1(bench, lambda m: m.schedulers.count)


@claim("LS06")
def dispatch_units(bench: Bench) -> Finding:
    """Dispatch ports of an SM."""
    return _of_table_1(bench, lambda m: m.schedulers.count * m.schedulers.dispatch_ports, SPECULATED)


@claim("LS07")
def issue_rate(bench: Bench) -> Finding:
    """Thread instructions that all ports issue in a shader cycle."""
    chip = bench.machine(GT200).chip
    strictly = 32 * chip.core_mhz / chip.shader_mhz
    note = f"16 on GT200 takes a core cycle as 2 shader cycles; the clocks printed with it give {strictly:.1f}"
    return _of_table_1(
        bench,
        lambda m: m.limits.warp_size * m.schedulers.count * m.schedulers.dispatch_ports / m.schedulers.interval,
        note,
    )


@claim("LS08")
def sps(bench: Bench) -> Finding:
    """Lanes that execute FFMA."""
    return _of_table_1(bench, lambda m: lanes(m, Unit.FP32))


@claim("LS09")
def ffma_rate(bench: Bench) -> Finding:
    """Independent FFMAs of 16 warps, 32 on Kepler."""
    rates = [*steady_rate(bench, "FFMA", GT200, GTX580, warps=16), *steady_rate(bench, "FFMA", KEPLER, warps=32)]
    return given(*rates, note="simulated")


@claim("LS10")
def load_store_units(bench: Bench) -> Finding:
    """Lanes over the cycles of a load without conflicts."""
    return _of_table_1(
        bench,
        lambda m: m.limits.warp_size / (m.shared_memory.pass_cycles * m.shared_memory.free_passes_32),
        "a warp over the cycles of its load",
    )


@claim("LS11")
def shared_load_rate(bench: Bench) -> Finding:
    """Independent LDS."""
    return given(*steady_rate(bench, "LDS", *TABLE_1), note="simulated")


@claim("LS12")
def sfus(bench: Bench) -> Finding:
    """Lanes of the special functions."""
    return _of_table_1(bench, lambda m: lanes(m, Unit.SFU))


@claim("LS13")
def storage(bench: Bench) -> Finding:
    """Shared memory and registers of an SM, in units of 1024."""
    limits = [bench.machine(key).limits for key in TABLE_1]
    return given(*(size / 1024 for each in limits for size in (each.shared_bytes, each.registers)))


@claim("LS14")
def peaks(bench: Bench) -> Finding:
    """Two operations per FFMA; on GT200 the SFUs multiply beside the SPs' MAD."""
    machine = bench.machine(GT200)
    operations = 2 * lanes(machine, Unit.FP32) + lanes(machine, Unit.FMUL)
    with_multipliers = machine.chip.sms * operations * machine.chip.shader_mhz / 1000
    note = "GT200: MADs on the SPs, and MULs on the multipliers of the SFUs; LS65 simulates both"
    return analytic(with_multipliers, *(peak_gflops(bench.machine(key)) for key in (GTX580, KEPLER)), note=note)


@claim("LS15")
def sps_of_the_chip(bench: Bench) -> Finding:
    """SPs of all SMs."""
    machines = [bench.machine(key) for key in (GT200, GTX580)]
    return analytic(*(machine.chip.sms * lanes(machine, Unit.FP32) for machine in machines))


@claim("LS16")
def peak_of_the_card(bench: Bench) -> Finding:
    """Peak at the clock of the card measured."""
    return analytic(peak_gflops(bench.machine(CARD)), note="1566 KHz, as printed, is read as MHz")


@claim("LS17")
def registers_of_a_thread(bench: Bench) -> Finding:
    """Most registers of a thread."""
    return given(*(bench.machine(key).limits.registers_per_thread for key in (GTX580, GT200)))
