"""What scripts find by the names `kernel_tuner` and `cupy`."""

import sys
from importlib import import_module
from types import ModuleType

import pytest

import gpusim.api.kernel_tuner as ours
from isa.errors import UserError

kernel_tuner = pytest.importorskip("kernel_tuner")
FUNCTIONS = "tune_kernel", "run_kernel", "tune_kernel_T1"


@pytest.mark.usefixtures("card")
def test_names_find_the_simulated_card():
    """Both modules that have the functions give ours, and all else of Kernel Tuner's; so does `gpusim.kernel_tuner`."""
    whole, part = import_module("kernel_tuner"), import_module("kernel_tuner.interface")
    assert whole is not kernel_tuner
    for name in FUNCTIONS:
        assert getattr(whole, name) is getattr(part, name) is getattr(import_module("gpusim.kernel_tuner"), name)
    assert whole.interface is part
    assert whole.__version__ == kernel_tuner.__version__
    assert whole.store_results is import_module("kernel_tuner.integration").store_results
    assert part.strategy_map is kernel_tuner.interface.strategy_map
    assert import_module("kernel_tuner.kernelbuilder").PythonKernel.__module__ == "gpusim.api.kernel_tuner.running"
    assert import_module("cupy") is import_module("gpusim.cupy")
    assert import_module("cupy.cuda").Event


@pytest.mark.usefixtures("card")
def test_kernel_tuner_is_left_as_it_is():
    """Its own modules hold its own functions all the time, and are found again at the end."""
    from gpusim.api.kernel_tuner import stand_in  # noqa: PLC0415  (an extra)

    for name in FUNCTIONS:
        assert getattr(kernel_tuner, name).__module__ == "kernel_tuner.interface"
    stand_in.remove()
    assert sys.modules["kernel_tuner"] is kernel_tuner
    assert sys.modules["kernel_tuner.interface"] is kernel_tuner.interface


@pytest.mark.parametrize("held", [kernel_tuner, kernel_tuner.tune_kernel])
def test_a_script_that_took_kernel_tuner_before_is_told(held, monkeypatch):
    """`use` below the import of Kernel Tuner would change nothing, and is refused."""
    main = ModuleType("__main__")
    main.taken = held
    monkeypatch.setitem(sys.modules, "__main__", main)
    with pytest.raises(UserError, match="the script has taken from kernel_tuner already; put use"):
        ours.use("a100")
    assert sys.modules["kernel_tuner"] is kernel_tuner
