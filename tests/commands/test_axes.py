import pytest

from gpusim.analysis.search.sweep import Axis
from gpusim.commands.frame.axes import axes_of
from gpusim.commands.frame.options import Axes
from gpusim.machine import machine as model
from gpusim.sm.front.policies.declaration import POLICY_NAMES
from isa.errors import UserError

FILE = model.read("gtx580")


def axes(*options, kernel="sgemm-lai", policy=None):
    """Return the axes of options; an option with a dot in its name is one of the machine."""
    settings = [option for option in options if "." in option.split("=")[0]]
    return axes_of(kernel, FILE, Axes(settings, [option for option in options if option not in settings], policy))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("4", "4"),
        ("1,2,4", "1 2 4"),
        ("4:8", "4 5 6 7 8"),
        ("8:32:8", "8 16 24 32"),
        ("1:10:4", "1 5 9"),
        ("1:3,8,2", "1 2 3 8"),
    ],
)
def test_values_are_lists_and_ranges(text, values):
    """Commas separate values, a range includes both ends, and each value occurs once."""
    assert axes(f"load_store.queue={text}") == [Axis("machine", "load_store.queue", tuple(values.split()))]
    assert axes(f"blocking={text}") == [Axis("kernel", "blocking", tuple(values.split()))]


def test_an_option_repeated_adds_values():
    """Values of one name may be given in several options; the machine's axes come first."""
    found = axes("blocking=1", "chip.sms=1", "blocking=2,3", "layout=nn,tt")
    assert [(axis.name, axis.values) for axis in found] == [
        ("chip.sms", ("1",)),
        ("blocking", ("1", "2", "3")),
        ("layout", ("nn", "tt")),
    ]


def test_a_text_that_the_parameter_allows_is_one_value():
    """The ratio 6:1 is not read as a range, and the pattern 3000,2100 is not read as a list."""
    (ratio,) = axes("ratio=6:1", "ratio=12:1", kernel="mix")
    assert ratio.values == ("6:1", "12:1")
    (pattern,) = axes("pattern=3000,2100", kernel="register-banks")
    assert pattern.values == ("3000,2100",)


@pytest.mark.parametrize(("text", "values"), [("all", POLICY_NAMES), ("lrr,gto", ("lrr", "gto"))])
def test_policies_are_an_axis(text, values):
    """`--policy` takes a list of policies, or `all`."""
    assert axes(policy=text) == [Axis("machine", "schedulers.policy", values)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["schedulers.cuont=1,2"], "--set schedulers.cuont: unknown machine key; did you mean schedulers.count?"),
        (["chip.sms=1,0"], "--set chip.sms=0: it takes a whole number from 1 to "),
        (["schedulers.policy=lrr,fifo"], "--set schedulers.policy: unknown scheduling policy fifo; choose one of "),
        (["blokcing=1"], "sgemm-lai: no parameter blokcing (did you mean blocking?); it takes m, "),
        (["layout=nn,xx"], "sgemm-lai: layout=xx is not allowed; give one of nn, nt, tn, tt"),
        (["blocking=8:4"], "8:4: no such range; give FIRST:LAST or FIRST:LAST:STEP, upwards"),
        (["blocking=4:8:0"], "4:8:0: no such range"),
        (
            ["blocking=1:1000001"],
            "1:1000001: more than 1,000,000 values; give a larger step, FIRST:LAST:STEP, or fewer",
        ),
        (["blocking="], "-p blocking=: a name or a value is missing; give -p name=values"),
        (["blocking=1,,2"], "sgemm-lai: blocking= is not allowed; give a whole number"),
    ],
)
def test_an_unknown_name_or_value_is_refused(options, message):
    """An unknown name or a wrong value is reported in one line before anything is simulated."""
    with pytest.raises(UserError) as refused:
        axes(*options)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(("name", "advice"), [("foo", "choose one of lrr, gto, "), ("old", "did you mean oldest?")])
def test_an_unknown_policy_is_blamed_on_its_option(name, advice):
    """The error names --policy and suggests the nearest policy, or lists all if none is near."""
    with pytest.raises(UserError) as refused:
        axes(policy=f"lrr,{name}")
    assert str(refused.value).startswith(f"--policy: unknown scheduling policy {name}; {advice}")


def test_policies_are_given_once():
    """--policy together with --set schedulers.policy is refused."""
    with pytest.raises(UserError, match=r"--policy gto: --set schedulers.policy already names one"):
        axes("schedulers.policy=lrr", policy="gto")


def test_an_axis_takes_values_that_fit_no_other_number():
    """An axis takes 7 lanes, though a warp of 32 is no multiple of 7."""
    assert axes("pipe.sp.lanes=7,16")[0].values == ("7", "16")


def test_a_listing_has_no_parameters():
    """-p for a listing is refused as `gpusim run` refuses it."""
    with pytest.raises(UserError, match=r"-p n: examples/saxpy.asm is a listing; change its .param lines instead"):
        axes("n=1,2", kernel="examples/saxpy.asm")
