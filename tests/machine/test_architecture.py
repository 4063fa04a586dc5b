from dataclasses import replace

import msgspec
import pytest

from gpusim.machine.architecture import executes, machine_for, number
from gpusim.machine.machine import load
from gpusim.machine.occupancy import occupancy
from isa.architecture import NVIDIA, Target
from isa.errors import UserError
from isa.text.listing import read

KERNEL = read("EXIT\n")


@pytest.mark.parametrize(
    ("name", "architectures"),
    [
        ("h200", {90}),
        ("a100", {80}),
        ("rtx3090", {80, 86}),
        ("rtx2080ti", {75}),
        ("titan-rtx", {75}),
        ("rtx-a4000", {80, 86}),
        ("rtx-a6000", {80, 86}),
        ("rtx3060-laptop", {80, 86}),
        ("a10", {80, 86}),
        ("jetson-orin", {87}),
        ("t4", {75}),
        ("rtx4090", {80, 86, 89}),
        ("rtx4070", {80, 86, 89}),
        ("l4", {80, 86, 89}),
        ("l40s", {80, 86, 89}),
        ("h100", {90}),
        ("h100-pcie", {90}),
        ("b200", {100}),
        ("rtx5090", {120}),
        ("rtx5070ti", {120}),
        ("v100", set()),
        ("gtx580", set()),
        ("mi60", set()),
    ],
)
def test_code_runs_on_its_own_and_on_later_machines_of_its_family(name, architectures):
    """sm_80 runs on 8.0 and 8.6, sm_86 not on 8.0, code of another first digit nowhere, and Tegra's on Tegra alone."""
    machine = load(name)
    assert {one for one in NVIDIA if executes(machine, Target("nvidia", one))} == architectures


def test_the_machine_for_an_architecture():
    """Each architecture has the machine of just that one which others are variants of; one without any is refused."""
    assert {one: machine_for(Target("nvidia", one)).key for one in (75, 80, 86, 89, 90, 100, 120)} == {
        75: "rtx2080ti",
        80: "a100",
        86: "rtx3090",
        89: "rtx4090",
        90: "h200",
        100: "b200",
        120: "rtx5090",
    }
    with pytest.raises(
        UserError, match=r"no machine executes code for sm_110; compile for sm_75, .*, sm_90, sm_100, sm_120, or "
    ):
        machine_for(Target("nvidia", 110))


def test_other_machines_refuse_machine_code():
    """A launch on a machine that doesn't execute its code is refused with those that do; other kernels are not."""
    code = replace(KERNEL, target=Target("nvidia", 90))
    assert occupancy(code, load("h200")).blocks > 0
    assert occupancy(KERNEL, load("a100")).blocks > 0
    assert occupancy(replace(code, any_machine=True), load("a100")).blocks > 0
    with pytest.raises(
        UserError,
        match=r"sm_90; a100 executes sm_80; take h100, h100-pcie, h200, compile for sm_80 .*, or force it",
    ):
        occupancy(code, load("a100"))
    with pytest.raises(UserError, match=r"gtx580 executes no machine code; take h100, h100-pcie, h200, or force it"):
        occupancy(code, load("gtx580"))


def test_a_machine_that_extends_another_executes_its_code(tmp_path):
    """A file that changes a number of the H200 executes sm_90; a name that is no architecture executes nothing."""
    path = tmp_path / "half.toml"
    path.write_text('extends = "h200"\nname = "Half"\n')
    machine = load(str(path))
    assert number(machine) == 90
    assert number(msgspec.structs.replace(machine, architecture="hopper")) == 0
