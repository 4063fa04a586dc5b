from dataclasses import replace
from io import StringIO

import msgspec
import pytest
from read.schemas import check_document
from rich.console import Console

from gpusim.analysis.account.report import WARM, bound_screen, screen
from gpusim.analysis.account.run_document import bound_document, document
from gpusim.bounds.bounds import bound
from gpusim.machine.machine import load
from gpusim.machine.occupancy import occupancy
from gpusim.simulation.simulation import simulate
from gpusim.sm.unit.stall import Stall, label
from isa.text.listing import load as load_listing
from isa.text.listing import read
from workloads.catalog import make

GTX580 = load("gtx580")


def text_of(renderable, width=100):
    """Return what a console of so many columns shows."""
    console = Console(width=width, record=True, file=StringIO())
    console.print(renderable)
    return console.export_text()


@pytest.fixture(scope="module")
def product():
    """Give the result of a small matrix product."""
    return simulate(make("sgemm-lai", {"m": "192", "n": "192", "k": "64"}), GTX580)


SHARED = """
.shared 4
.buffer a f32 32
[B------:R-:W-:-:S06] MOV R8, c[a]
[B------:R-:W0:-:S01] LDG R1, [R8]
[B------:R-:W0:-:S01] LDS R2, [RZ]
[B0-----:R-:W-:-:S04] FADD R3, R2, R2
[B------:R-:W-:-:S01] EXIT
"""


def test_a_load_that_shares_the_barrier_is_reported():
    """The screen names the load that shares the barrier, and the document has it; with two barriers neither does."""
    shared = simulate(read(SHARED), load("v100"))
    text = " ".join(text_of(screen(shared)).split())
    message = (
        "pc 3 may wait longer than it needs: for barrier 0, which `LDG R1, [R8]` at pc 1 holds with `LDS R2, [0x0]`"
    )
    assert message in text
    (one,) = [one for one in document(shared).waiting_most if one.pc == 3]
    assert [(shared.barrier, shared.pc, shared.needed) for shared in one.shared_barriers] == [(0, 1, (2,))]
    separate = simulate(
        read(SHARED.replace("W0:-:S01] LDS", "W1:-:S01] LDS").replace("B0-----", "B-1----")), load("v100")
    )
    assert "longer than it needs" not in text_of(screen(separate))


@pytest.mark.jit
@pytest.mark.parametrize(
    "kernel",
    [
        make("sgemm-lai", {"m": "192", "n": "192", "k": "64"}),
        make("mix", {"ratio": "12:1", "lds": "128", "iterations": "2"}),
        make("throughput", {"op": "DFMA", "blocks": "40", "iterations": "1"}),
        load_listing("examples/saxpy.asm"),
        load_listing("examples/reduce.asm"),
    ],
    ids=lambda kernel: kernel.name,
)
def test_a_result_fits_one_screen(kernel):
    """A result takes at most 50 lines of 100 columns, with every part of the answer."""
    lines = text_of(screen(simulate(kernel, GTX580))).splitlines()
    assert len(lines) <= 50
    assert max(map(len, lines)) <= 100
    heads = {line.split("  ")[0] for line in lines}
    assert {"launch", "values", "cycles", "throughput", "bound", "occupancy", "breakdown"} <= heads
    assert any("stall reason" in line for line in lines)
    assert any("warps wait most before" in line for line in lines)
    assert any("what limits" in line for line in lines)


@pytest.mark.jit
def test_the_screen_shows_the_figures_of_the_result(product):
    """Cycles, rate, bound and verification on the screen are those of the result."""
    text = " ".join(text_of(screen(product)).split())
    assert f"{product.cycles:,} of the SM" in text
    assert f"{product.gflops:.1f} GFLOP/s, {product.percent_of_peak:.1f} % of 1581.1" in text
    assert f"{product.bound.cycles:,} cycles, set by {product.bound.limiter}" in text
    assert "right: 36,864 of 36,864 values in 4 of 4 blocks, 3 of them untimed" in text
    found = product.verification
    assert 0 < found.worst_ratio < 1
    assert f"errors up to {found.max_error:.2g}, at most {found.worst_ratio:.2g} times the error bound" in text
    assert "1 of its 1 block simulated" in text


@pytest.mark.jit
def test_a_wrong_value_is_shouted():
    """A wrong result is shown with its place, its value and the expected value."""
    kernel = read(".buffer y f32 1\n.expect y = 2\nMOV R0, c[y]\nMOV R1, 1.0\nSTG [R0], R1\nEXIT")
    text = " ".join(text_of(screen(simulate(kernel, GTX580))).split())
    assert "WRONG: 1 of 1 value in 1 of 1 block; y[0] is 1, not 2" in text


@pytest.mark.jit
def test_values_without_an_error_are_exact():
    """If no value has an error, the screen names no error bound."""
    text = " ".join(text_of(screen(simulate(make("chain", {"length": "4"}), GTX580))).split())
    assert "right: 32 of 32 values in 1 of 1 block; exact cycles" in text


@pytest.mark.jit
@pytest.mark.parametrize("width", [80, 100, 200])
def test_nothing_is_cut_off(product, width):
    """At 80, 100 and 200 columns no line is too long and no word is cut; tables share lines above 80 columns only."""
    lines = text_of(screen(product), width).splitlines()
    assert max(map(len, lines)) <= width
    assert not any("\N{HORIZONTAL ELLIPSIS}" in line for line in lines)
    breakdown, stalls = (
        next(i for i, line in enumerate(lines) if head in line) for head in ("breakdown ", "stall reason ")
    )
    assert (breakdown == stalls) == (width > 80)


@pytest.mark.jit
def test_settings_are_shown(product):
    """The screens of run and bound call a machine with settings changed and list these; the documents hold them."""
    settings = {"chip.sms": 1}
    facts = product.kernel, product.machine, product.bound, product.occupancy, settings
    for shown in (screen(product, settings), bound_screen(*facts)):
        headline, second, *_ = text_of(shown).splitlines()
        assert headline.startswith("sgemm-lai on a changed gtx580 (GeForce GTX 580)")
        assert second.split() == ["settings", "chip.sms=1"]
    assert document(product, settings).settings == bound_document(*facts).settings == settings
    assert "changed" not in text_of(screen(product))
    assert document(product).settings == {}


def test_settings_that_the_launch_asks_for_are_no_change():
    """What the launch file says of the caches has a line of its own, and the machine is not called changed for it."""
    kernel = replace(make("chain", {"length": "4"}), settings={"l2.filled": "1"})
    h200 = load("h200", {"l2.filled": 1})
    facts = kernel, h200, bound(kernel, h200), occupancy(kernel, h200)
    headline, second, *_ = text_of(bound_screen(*facts, {"l2.filled": 1})).splitlines()
    assert headline.startswith("chain on h200 ")
    assert second.split() == ["caches", *WARM.split(), "(l2.filled=1)"]
    changed = text_of(bound_screen(*facts, {"l2.filled": 1, "chip.sms": 1})).splitlines()
    assert changed[0].startswith("chain on a changed h200 ")
    assert changed[1].split() == ["settings", "chip.sms=1"]


@pytest.mark.jit
@pytest.mark.parametrize(("stride", "told"), [("1", False), ("16", True)])
def test_more_from_the_dram_than_from_the_l2_is_explained(stride, told):
    """Where the L2 brings 64 bytes and lanes ask for 4, the DRAM moves more than it, and the screen says why."""
    result = simulate(make("coalescing", {"stride": stride, "blocks": "1", "length": "8"}), load("h200"), values=False)
    text = " ".join(text_of(screen(result)).split())
    assert (": of 64 bytes that the L2 brings, not all are asked for" in text) is told


@pytest.mark.jit
def test_sampling_is_reported():
    """A sampled run says how many blocks it simulated, and from four waves on how well the first predict the rest."""
    kernel, machine = make("throughput", {"blocks": "31", "iterations": "1"}), load("gtx580", {"chip.sms": 1})
    few, more = (" ".join(text_of(screen(simulate(kernel, machine, sample=n))).split()) for n in (6, 12))
    assert "7 of its 31 blocks simulated, scaled " in few
    assert "13 of its 31 blocks simulated, scaled (the waves before predict the last 2 of 4 simulated within" in more
    assert "scaled (" not in few


@pytest.mark.jit
def test_the_document_has_every_promised_key(product):
    """The JSON document has every promised key, and its figures are those of the result."""
    found = msgspec.json.decode(msgspec.json.encode(document(product)))
    assert found["cycles"] == product.cycles
    assert found["warp_instructions"] == product.warp_instructions
    for key in ("thread_instructions_per_cycle", "gflops", "peak_gflops", "percent_of_peak"):
        assert found[key] == getattr(product, key)
    assert found["verified"] is True
    assert found["verification"].keys() >= {"scope", "blocks", "max_error", "error_bound"}
    assert found["bound"].keys() >= {"gflops", "percent_of_peak", "limiter", "cycles", "limits"}
    assert found["occupancy"].keys() >= {"blocks", "warps", "limiter"}
    assert (found["engine"], found["machine"], found["kernel"]) == ("compiled", "gtx580", "sgemm-lai")
    assert found["parameters"]["layout"] == "nt"
    assert (found["sms"], found["each_sm"]) == (1, [{"cycles": product.cycles, "blocks": 1}])
    scaling = {"simulated_blocks": 1, "blocks_of_sm": 1, "method": "complete", "error_checked": "", "estimate": None}
    assert found["scaling"] == scaling


@pytest.mark.jit
def test_stalls_of_the_document_add_up(product):
    """Warp-cycles by reason add up to simulated cycles x warp slots, under names of the enum."""
    found = document(product)
    assert sum(found.stalls.values()) == found.simulated_cycles * found.warp_slots
    assert set(found.stalls) | set(found.lost_slots) <= {label(reason) for reason in Stall}


@pytest.mark.jit
def test_nan_becomes_null(product):
    """An error that is NaN becomes null in JSON, as the schema says."""
    bad = replace(product, verification=replace(product.verification, max_error=float("nan")))
    found = msgspec.json.decode(msgspec.json.encode(document(bad)))
    assert found["verification"]["max_error"] is None
    check_document(found, "run")


@pytest.mark.jit
def test_the_bound_has_a_screen_and_a_document():
    """Bound, limits and occupancy are shown, the limiter first with 100 %."""
    kernel = make("sgemm-lai", {"lds": "128"})
    facts = kernel, GTX580, bound(kernel, GTX580), occupancy(kernel, GTX580)
    lines = text_of(bound_screen(*facts)).splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("limit "))
    assert lines[first + 1].split()[:2] == ["load/store", "unit"]
    assert lines[first + 1].rstrip().endswith("100.0 %")
    found = msgspec.json.decode(msgspec.json.encode(bound_document(*facts)))
    assert found["bound"]["limiter"] == "load/store unit"
    assert found["occupancy"]["limiter"] == "registers"


@pytest.mark.jit
def test_all_sms_are_reported():
    """Screen and document say how many SMs were simulated, and which blocks and cycles each had; sums are exact."""
    kernel = make("throughput", {"blocks": "7", "iterations": "1"})
    result = simulate(kernel, load("gtx580", {"chip.sms": 2}), sms="all")
    text = " ".join(text_of(screen(result)).split())
    assert f"{result.cycles:,} of all 2 SMs" in text
    assert "3 to 4 of 7 blocks each" in text
    found = msgspec.json.decode(msgspec.json.encode(document(result)))
    assert found["sms"] == 2
    assert found["each_sm"] == [{"cycles": sm.cycles, "blocks": sm.blocks} for sm in result.run.each]
    assert sum(sm["blocks"] for sm in found["each_sm"]) == 7
    assert found["cycles"] == max(sm["cycles"] for sm in found["each_sm"])
    assert sum(found["stalls"].values()) == found["cycles"] * found["warp_slots"]


@pytest.mark.jit
def test_a_sample_of_a_small_grid_tells_of_sms_without_a_block():
    """Of every second of four SMs, the one block of the grid keeps the first, and the screen says that one has none."""
    kernel = make("throughput", {"blocks": "1", "iterations": "1"})
    result = simulate(kernel, load("gtx580", {"chip.sms": 4}), sms=2)
    assert result.sms == 2
    assert "they have 1 of the grid's 1 block, 0 to 1 each" in " ".join(text_of(screen(result)).split())
    assert "1 SM without a block, as the grid is small" in " ".join(text_of(screen(result)).split())
