import pytest

from isa.nvidia.file.names import named, plain

NAMES = {
    "saxpy": "saxpy",
    "_Z5saxpyPKfS0_PffP3Rec": "saxpy",
    "_Z4polyILi2EEvPKfPfP3Rec": "poly",
    "_ZN4mine5saxpyEPf": "saxpy",
    "_ZNK4mine5outer5innerEv": "inner",
    "_ZL4polyILi2EEvPKf": "poly",
    "_ZN4mineL5saxpyEPf": "saxpy",
    "_ZN4mine6KernelINS_3BoxIfEEEEvT_": "Kernel",
    "_Z": "_Z",
    "_Zzz": "_Zzz",
    "$flip$_Z6halvedfi": "$flip$_Z6halvedfi",
}


@pytest.mark.parametrize(("mangled", "own"), NAMES.items())
def test_plain_names(mangled, own):
    """The plain name is the function's own; a name that isn't mangled is its own."""
    assert plain(mangled) == own


def test_what_a_name_means():
    """A mangled name means itself, a plain one every instance of it, another one nothing."""
    every = "_Z4polyILi2EEvPKf", "_Z4polyILi4EEvPKf", "saxpy"
    assert named("saxpy", every) == ("saxpy",)
    assert named("poly", every) == every[:2]
    assert named(every[1], every) == (every[1],)
    assert named("pol", every) == ()
