"""Which kernel of several a name means."""

import pytest

from isa.errors import UserError
from isa.nvidia.file.choice import chosen
from isa.nvidia.file.code import Code
from isa.nvidia.file.dump import Section

NAMES = (
    "_Z4polyIdLi4EEvPKT_PS0_6Params",
    "_Z4polyIfLi3EEvPKT_PS0_6Params",
    "_ZN2ns4fillIjLb1EEEvPT_",
    "_Z5saxpyPf",
    "_Z4packIJfiEEvDpT_",
    "_Z4packIJiEEvDpT_",
)
CODE = Code(90, {name: Section() for name in NAMES}, None)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("poly<double, 4>", NAMES[0]),
        ("poly<double,4>", NAMES[0]),
        ("void poly<float, 3>(float const*, float*, Params)", NAMES[1]),
        (NAMES[1], NAMES[1]),
        ("ns::fill<unsigned int, true>", NAMES[2]),
        ("fill<unsigned, true>", NAMES[2]),
        ("fill", NAMES[2]),
        ("saxpy", NAMES[3]),
    ],
)
def test_a_name_means_a_kernel(words, name):
    """A kernel is named plain, mangled, or as an instance of its template, as C++ or a demangler writes it."""
    assert chosen(CODE, words, "k.cu") == name


@pytest.mark.parametrize("words", ["poly<double, 5>", "poly<>", "oly<double, 4>", "<double, 4>", ">", "saxpy<>"])
def test_other_instances_are_refused(words):
    """An instance that the code doesn't have is no kernel."""
    with pytest.raises(UserError, match=r"^k\.cu: no kernel "):
        chosen(CODE, words, "k.cu")


@pytest.mark.parametrize(
    ("words", "names"), [("poly", "poly<double, 4>, poly<float, 3>"), ("pack", f"{NAMES[4]}, {NAMES[5]}")]
)
def test_several_instances_are_named(words, names):
    """A plain name of several instances is refused with their names, mangled where they can't be written otherwise."""
    with pytest.raises(UserError) as error:
        chosen(CODE, words, "k.cu")
    assert str(error.value) == f"k.cu: {words} has several instances; name one: {names}"
