from __future__ import annotations

import inspect
import subprocess
import sys

import pytest
from draws import QUICK

from gpusim.engines.walks.races import races
from isa.errors import UserError
from isa.text.assembler import assemble
from isa.text.printer import show
from workloads.catalog import CATALOG, find, make
from workloads.entries import gemm, microbench

SMALL = {
    "sgemm-lai": {"m": "96", "n": "96", "k": "32"},
    "sg4": {"m": "128", "n": "128", "k": "16"},
    "maxas-loop": {"iterations": "2", "blocks": "1"},
    "mix": {"iterations": "2", "warps": "2"},
    "dual-issue": {"iterations": "2", "warps": "2"},
    "partition-camping": {"rows": "64", "columns": "96"},
}
if QUICK:  # two by two blocks, and two rounds of the loop at least
    SMALL["matmul-block"] = {"m": "64", "n": "64", "k": "64"}
    SMALL["matmul-naive"] = {"m": "16", "n": "64", "k": "32"}


def test_the_catalog_names_every_entry():
    """The names are those of all entries, in their order, though none is imported for them."""
    assert list(CATALOG) == [entry.name for entry in (*gemm.ENTRIES, *microbench.ENTRIES)]
    code = "import sys, workloads.catalog as found; len(found.CATALOG); print('workloads.entries.gemm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize("name", CATALOG)
def test_the_catalog_has_the_functions_own_defaults(name):
    """Parameters and defaults of an entry are those of its function, in the same order."""
    signature = inspect.signature(CATALOG[name].function).parameters
    assert [(p.name, p.default) for p in CATALOG[name].parameters] == [(p.name, p.default) for p in signature.values()]


@pytest.mark.parametrize("name", CATALOG)
def test_every_default_can_be_written_as_text(name):
    """Each default can be parsed from some text, so that a command line can state it."""
    words = {None: "auto"}
    for parameter in CATALOG[name].parameters:
        assert parameter.parse(words.get(parameter.default, str(parameter.default))) == parameter.default


@pytest.mark.parametrize("name", CATALOG)
def test_a_kernel_bears_its_name_and_all_its_arguments(name):
    """The kernel's name is the catalog's and its arguments are the parameters."""
    kernel = make(name, SMALL.get(name))
    assert kernel.name == name
    assert list(kernel.arguments) == [p.name for p in CATALOG[name].parameters]


@pytest.mark.parametrize("name", CATALOG)
def test_a_kernel_computes_what_it_promises(check, name):
    """Run in program order, every kernel leaves the promised values."""
    check(make(name, SMALL.get(name)))


@pytest.mark.jit
@pytest.mark.parametrize("name", CATALOG)
def test_a_kernel_has_no_race(name):
    """No two warps touch a shared word without a barrier between."""
    assert races(make(name, SMALL.get(name))) == []


@pytest.mark.parametrize("name", CATALOG)
def test_a_kernel_survives_being_written_as_text(name):
    """Its listing assembles to the same program."""
    program = make(name, SMALL.get(name)).program
    assert assemble(show(program)) == program


def test_text_sets_parameters():
    """Values arrive parsed; those not given keep their defaults."""
    arguments = make("sgemm-lai", {"m": "192", "lds": "32", "prefetch": "off", "beta": "0.5"}).arguments
    assert (arguments["m"], arguments["lds"], arguments["prefetch"], arguments["beta"]) == (192, 32, False, 0.5)
    assert arguments["n"] == 960


@pytest.mark.parametrize(
    ("name", "texts", "message"),
    [
        (
            "sgem-lai",
            {},
            "no kernel sgem-lai .did you mean sgemm-lai..; there are sgemm-lai, matmul-naive",
        ),
        ("chain", {"lenght": "5"}, "chain: no parameter lenght .did you mean length..; it takes op, length"),
        ("chain", {"warps": "1_0"}, "chain: warps=1_0 is not allowed; give a whole number"),
        ("chain", {"warps": "\u0663"}, "chain: warps=\u0663 is not allowed; give a whole number"),
        ("chain", {"length": "many"}, "chain: length=many is not allowed; give a whole number"),
        ("chain", {"length": "0"}, "chain: length=0 is too small"),
        ("chain", {"iterations": "999999999999"}, "chain: iterations=999999999999 is too large; give 2147483647"),
        ("chain", {"length": "99999999999"}, "chain: length=99999999999 is too large"),
        ("chain", {"length": "2147483647"}, "chain: length=2147483647 makes 2147483647 instructions; .* holds 32768"),
        ("chain", {"length": "32768"}, "chain: length=32768 makes 327.. instructions"),
        ("chain", {"length": "32768", "op": "LDS"}, "chain: length=32768 makes 327.. instructions"),
        ("throughput", {"length": "99999999"}, "throughput: length=99999999 makes"),
        ("throughput", {"length": "32768"}, "throughput: length=32768 makes 327.. instructions"),
        ("throughput", {"blocks": "9999999999"}, "throughput: blocks=9999999999 is too large"),
        ("throughput", {"blocks": "2147483647"}, "throughput: buffers need .* address reaches; give fewer warps"),
        ("bank-conflict", {"length": "99999999"}, "bank-conflict: length=99999999 makes"),
        ("bank-conflict", {"length": "32768"}, "bank-conflict: length=32768 makes 327.. instructions"),
        ("bank-conflict", {"stride": "9999999999"}, "bank-conflict: stride=9999999999 is too large"),
        ("mix", {"groups": "99999999"}, "mix: ratio=6:1 groups=99999999 makes 699999993 instructions"),
        ("mix", {"groups": "4700"}, "mix: ratio=6:1 groups=4700 makes 32... instructions"),
        ("mix", {"warps": "9999999999"}, "mix: warps=9999999999 is too large"),
        ("sgemm-lai", {"m": "9" * 400}, "sgemm-lai: m=9* is too large"),
        ("sgemm-lai", {"m": "-" + "9" * 400}, "sgemm-lai: m=-9* is not a positive multiple of 96"),
        ("sgemm-lai", {"alpha": "nan"}, "sgemm-lai: alpha=nan is out of range"),
        ("sgemm-lai", {"beta": "1e31"}, "sgemm-lai: beta=1e.31 is out of range"),
        ("chain", {"op": "FFM"}, "chain: op=FFM is not allowed; give one of FFMA"),
        ("mix", {"lds": "16"}, "mix: lds=16 is not allowed; give one of 32, 64, 128"),
        ("sgemm-lai", {"prefetch": "yes"}, "sgemm-lai: prefetch=yes is not allowed; give one of on, off, auto"),
        ("sgemm-lai", {"alpha": "one"}, "sgemm-lai: alpha=one is not allowed; give a number"),
    ],
)
def test_bad_text_is_refused_in_one_line(name, texts, message):
    """Unknown kernels and parameters come with the nearest name, bad values with what is allowed."""
    with pytest.raises(UserError, match=message) as caught:
        make(name, texts)
    assert "\n" not in str(caught.value)


def test_find_gives_the_entry():
    """An entry is found by its name."""
    assert find("mix").name == "mix"
