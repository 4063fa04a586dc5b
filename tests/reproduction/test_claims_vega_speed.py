from pathlib import Path

import pytest

from gpusim.reproduction.bench import Bench, Done, Missing, perform
from gpusim.reproduction.claims import read
from gpusim.reproduction.vega import vega_speed as module

pytestmark = pytest.mark.long  # a document's claims, each simulated; make check has them

CLAIM = {claim.id: claim for claim in read()}
CLOCKS = (1700, 1500, 1300, 1100)


def rate(size, mhz, cycles):
    """Return the TFLOPS of a product of that size with K = 640, as the readme's test counts operations."""
    return (2 * 640 + 3) * size**2 / (cycles / (mhz * 1e6)) / 1e12


def found(name, cycles_of, bench=None):
    """Return the finding of a claim if `cycles_of` gives the cycles of each run."""
    bench = bench or Bench()
    try:
        return module.CLAIMS[name](bench)
    except Missing as missing:
        bench.done.update({job: Done(cycles_of(job), None, 0.0) for job in missing.jobs})
        return module.CLAIMS[name](bench)


def even(job):
    """Return a million cycles for each workgroup of a compute unit."""
    settings, number, *_ = job.arguments
    assert dict(settings)["chip.dram_mbs"] in {"819200", str(64 * 819200)}
    return 1_000_000 * (number if job.function is module.unit_cycles else module.workgroups(number))


def test_the_table_has_256_rates_and_the_claims_their_maxima():
    """The table has 64 sizes at four clocks, and the best rate at each clock is the figure of VG30."""
    table = module.published_rates()
    assert len(table) == 256
    assert {size for size, _ in table} == set(range(256, 16385, 256))
    best = [max(value for (_, mhz), value in table.items() if mhz == clock) for clock in CLOCKS]
    assert best == [figure.value for figure in CLAIM["VG30"].figures]


@pytest.mark.parametrize(
    ("size", "count"), [(256, 1), (1536, 3), (1792, 4), (2048, 4), (4096, 16), (4352, 19), (16384, 256)]
)
def test_the_unit_with_the_most_workgroups_counts(size, count):
    """Tiles of 64 by 256 are spread over 64 compute units, rounded up: of the 196 of size 1792 some have four."""
    assert module.workgroups(size) == count


def test_rates_are_operations_over_time():
    """If every workgroup takes a million cycles, 16384 has the best rate at every clock, that of 256 workgroups."""
    finding = found("VG30", even)
    assert finding.ours == pytest.approx([rate(16384, mhz, 256e6) for mhz in CLOCKS])
    assert "at 16384, 16384, 16384, 16384" in finding.note


def test_workgroups_between_49_and_256_are_interpolated():
    """If 49 take 49 and 256 take 152.5 million cycles, 14336 has 196; those of 16384 are their own run."""

    def slower(job):
        return even(job) - 500_000 * max(0, even(job) // 1_000_000 - 49)

    bench = Bench()
    with pytest.raises(Missing) as missing:
        module._rates(bench, [(14336, 1700), (16384, 1700)])
    bench.done.update({job: Done(slower(job), None, 0.0) for job in missing.value.jobs})
    assert len(missing.value.jobs) == 2
    found = module._rates(bench, [(14336, 1700), (16384, 1700)])
    assert found[14336, 1700] == pytest.approx(rate(14336, 1700, 49e6 + 0.5e6 * (196 - 49)))
    assert found[16384, 1700] == pytest.approx(rate(16384, 1700, 152.5e6))


def test_a_rate_beyond_its_tolerance_fails_the_table():
    """If every workgroup takes a million cycles, no rate from 4096 up is right, and the kind names the choices."""
    finding = found("VG27", even)
    assert finding.passed is False
    assert finding.ours.startswith("0 of 196 from 4096 up within 10 %, ")
    assert finding.kind.startswith(f"in sight: {module.CHOICES}; ")


def test_rows_say_what_their_part_of_the_chip_leaves_out():
    """Each row has its special sizes, VG28 that its sign decides, and best rates the errors of all compute units."""
    said = {
        "VG26": ["-35 % at 4096 and -41 % at 4352, at 1100 MHz"],
        "VG27": ["at 256 a miss of the L2 costs no more than a hit", "at 512, where", "all is taken to miss"],
        "VG28": ["the sign alone decides"],
        "VG29": ["at 256 a miss of the L2 costs no more than a hit, and its bandwidth has no end"],
        "VG30": ["one compute unit in place of all above 1792", "-35 % at 4096 and -41 % at 4352, at 1100 MHz"],
    }
    for name, words in said.items():
        kind = found(name, even).kind
        assert [word for word in words if word not in kind] == [], kind


def test_rates_within_their_tolerances_pass_the_table(monkeypatch):
    """If the published rates are those of the simulated cycles, all 256 are met."""
    exact = {
        (size, mhz): rate(size, mhz, 1e6 * module.workgroups(size)) for size in range(256, 16385, 256) for mhz in CLOCKS
    }
    monkeypatch.setattr(module, "published_rates", lambda: exact)
    finding = found("VG27", even)
    assert finding.passed is True
    assert finding.ours == "196 of 196 from 4096 up within 10 %, 60 of 60 below within 20 %"
    assert "simulated: 116 of 116; interpolated, those between 7168 and 16384: 140 of 140; " in finding.note


def test_what_is_interpolated_is_counted_apart(monkeypatch):
    """If the published rates above 7168 are twice those of the simulated cycles, all interpolated ones are missed."""
    exact = {
        (size, mhz): rate(size, mhz, 1e6 * module.workgroups(size)) * (1 + (size > 7168))
        for size in range(256, 16385, 256)
        for mhz in CLOCKS
    }
    monkeypatch.setattr(module, "published_rates", lambda: exact)
    finding = found("VG27", even)
    assert finding.passed is False
    assert finding.ours.startswith("52 of 196 from 4096 up")
    assert "simulated: 112 of 116; interpolated, those between 7168 and 16384: 0 of 140; " in finding.note


def test_a_dip_counts_only_if_it_is_at_all_clocks():
    """The claim passes if workgroups of 1792 take half as long again at all clocks, and fails at only three or none."""
    assert found("VG28", lambda job: even(job) * (3 if job.arguments[1] == 1792 else 2)).passed is True
    assert found("VG28", even).passed is False

    def but_one(job):
        slow = job.arguments[1] == 1792 and dict(job.arguments[0])["chip.shader_mhz"] != "1100"
        return even(job) * (3 if slow else 2)

    assert found("VG28", but_one).passed is False


def test_the_slower_order_counts_at_both_clocks():
    """Forwarding must gain at both clocks: if the other order is slower at one alone, the claim fails."""

    def slower(clocks):
        return lambda job: 1000 + 30 * ("interleaved" in job.arguments and mhz_of(job) in clocks)

    def mhz_of(job):
        return int(dict(job.arguments[0])["chip.shader_mhz"])

    assert found("VG34", slower({1700, 1500})).ours == pytest.approx((3, 3))
    assert found("VG34", slower({1700, 1500})).passed is True
    assert found("VG34", slower({1700})).passed is False


def test_the_printed_rates_exceed_the_documents_own_limit(monkeypatch):
    """Of 78 % of peak the table's best rates have 71.5 and 76.7, but 80.5 and 84.4 at the lower clocks."""
    finding = module.CLAIMS["VG43"](Bench())
    assert finding.ours == "71.5 / 76.7 / 80.5 / 84.4"
    assert finding.passed is False
    monkeypatch.setattr(module, "published_rates", lambda: {(256, mhz): 6.0 for mhz in CLOCKS})
    assert module.CLAIMS["VG43"](Bench()).passed is True


def test_captions_say_where_one_unit_stands_for_all():
    """Both captions name the larger sizes' errors with all compute units, which are those of docs/calibration.md."""
    lines = (Path(__file__).parents[2] / "docs" / "calibration.md").read_text(encoding="utf-8").splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("| all compute units, one L2 |"))
    sizes, errors = ([cell.strip() for cell in lines[row].strip("|").split("|")[1:]] for row in (place - 2, place))
    assert {int(size): float(error) for size, error in zip(sizes, errors, strict=True)}.items() >= set(
        module.ALL_UNITS.items()
    )
    rates, threads = (drawn(name) for name in ("vega-tflops", "vega-threads"))
    assert "Above 1792 one compute unit stands for all" in rates.note
    assert "-35 % at 4096 and -41 % at 4352 at 1100 MHz" in rates.note
    assert "all: a run of all with 256 threads is 35 % below" in threads.note


def drawn(name):
    """Return a plot if every workgroup takes a million cycles."""
    bench = Bench()
    with pytest.raises(Missing) as missing:
        module.PLOTS[name](bench)
    bench.done.update({job: Done(even(job), None, 0.0) for job in missing.value.jobs})
    return module.PLOTS[name](bench)


def test_part_of_the_time_at_256_is_the_same_at_all_clocks(monkeypatch):
    """Times of 300,000 cycles and 10 us are told apart; the published ones have 16 us that no clock changes."""
    assert module.line_of_times()[1] == pytest.approx(15.7, abs=0.1)
    times = {mhz: 300_000 / mhz + 10 for mhz in CLOCKS}  # us
    made = {(256, mhz): (2 * 640 + 3) * 256**2 / time / 1e6 for mhz, time in times.items()}
    monkeypatch.setattr(module, "published_rates", lambda: made)
    assert module.line_of_times() == pytest.approx((300_000, 10))


def test_settings_of_a_claim_override_the_command_line():
    """The clocks and what lies behind a warm L2 are the claim's; the command line's other settings stay."""
    given = {"chip.shader_mhz": "900", "cache.hits": "none", "unit.smem.latency": "96"}
    with pytest.raises(Missing) as missing:
        module.CLAIMS["VG29"](Bench({"mi60": given}))
    reported = [dict(job.arguments[0]) for job in missing.value.jobs]
    assert [int(settings["chip.shader_mhz"]) for settings in reported] == list(CLOCKS)
    assert {(settings["cache.hits"], settings["unit.smem.latency"]) for settings in reported} == {("tags", "96")}
    assert {settings["global_memory.latency"] for settings in reported} == {"96"}


def plotted(name):
    """Return a plot if every tile of 64 by 256 takes a million cycles, and their numbers of jobs."""
    bench = Bench()
    with pytest.raises(Missing) as missing:
        module.PLOTS[name](bench)
    bench.done.update({job: Done(even(job), None, 0.0) for job in missing.value.jobs})
    return module.PLOTS[name](bench), len(missing.value.jobs)


def test_the_plot_has_both_curves_of_each_clock():
    """Of each clock there are 64 published points and as many of ours; at 4096 ours are those of 16 million cycles."""
    plot, _ = plotted("vega-tflops")
    assert [curve.published for curve in plot.curves] == [True, False] * 4
    assert {len(curve.x) for curve in plot.curves} == {64}
    assert plot.curves[0].y[15] == 9.954
    assert plot.curves[1].y[15] == pytest.approx(rate(4096, 1700, 16e6))


def test_tiles_of_fewer_columns_compute_as_much():
    """The three tiles are run at two clocks, each for all of 4096 by 4096."""
    plot, jobs = plotted("vega-threads")
    assert jobs == 2 * 3
    assert all(curve.x == (64, 128, 256) for curve in plot.curves)
    assert plot.x_scale == "log"  # which has a tick at each of them
    assert plot.curves[1].y == pytest.approx([rate(4096, 1100, 16e6)] * 3)


@pytest.mark.jit
def test_the_group_of_64_moves_with_the_latency_of_scalar_loads():
    """50 cycles less for a load that the scalar cache misses are 25 less for a group: every second group misses."""
    full, less = (
        found("VG29", lambda job: perform(job).value, Bench({"mi60": {"unit.smem.latency": str(latency)}}))
        for latency in (196, 146)
    )
    assert [a - b for a, b in zip(full.ours, less.ours, strict=True)] == pytest.approx([25] * 4, abs=3)


@pytest.mark.slow
@pytest.mark.jit
def test_a_size_between_is_interpolated_within_1_percent():
    """At 12288 and 1700 MHz the cycles interpolated between 49 and 256 workgroups are those of all 144 within 1 %."""
    settings = tuple(sorted((k, str(v)) for k, v in {**module.at_clock(1700), "cache.hits": "tags"}.items()))
    ends = [module.unit_cycles(settings, count) for count in (module.SIMULATED, module.MOST)]
    assert module._interpolated(12288, ends) == pytest.approx(module.unit_cycles(settings, 144), rel=0.01)
