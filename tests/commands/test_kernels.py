import json

import pytest

from gpusim.commands.main import execute
from workloads.catalog import CATALOG


def test_the_list_names_every_kernel(capsys):
    """Each kernel of the catalog has a line."""
    assert execute(["kernels"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines if not line.startswith((" ", "kernel"))} == set(CATALOG)


@pytest.mark.parametrize("name", CATALOG)
def test_one_kernel_shows_its_parameters_and_an_example(capsys, name):
    """A kernel's page lists each parameter with its default and shows a command line that uses one."""
    assert execute(["kernels", name]) == 0
    text = capsys.readouterr().out
    for parameter in CATALOG[name].parameters:
        assert any(line.startswith(f"{parameter.name} ") for line in text.splitlines())
    assert f"gpusim run {name} -p {CATALOG[name].parameters[0].name}=" in text


def test_json_of_a_kernel_lists_its_parameters(capsys):
    """The JSON document gives name, default, allowed values and meaning of each parameter."""
    assert execute(["kernels", "sgemm-lai", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema_version"] == 1
    assert document["kernel"] == "sgemm-lai"
    assert {"m", "n", "k", "layout", "lds", "blocking"} <= {p["name"] for p in document["parameters"]}
    assert all(p.keys() == {"name", "default", "allowed", "doc"} for p in document["parameters"])


def test_json_of_all_kernels(capsys):
    """The JSON document of the list holds every kernel of the catalog."""
    assert execute(["kernels", "--json"]) == 0
    assert [k["kernel"] for k in json.loads(capsys.readouterr().out)["kernels"]] == list(CATALOG)


def test_an_unknown_kernel_is_refused(capsys):
    """A misspelt kernel ends with exit code 2 and the nearest name."""
    assert execute(["kernels", "sgemm-lay"]) == 2
    assert "did you mean sgemm-lai?" in capsys.readouterr().err


def test_a_search_space_is_distinguished_from_a_kernel(capsys):
    """For a search space the error names `gpusim space` and the space's kernel."""
    assert execute(["kernels", "zgemm"]) == 2
    line = "error: zgemm: is a search space of gemm-stencil; `gpusim space zgemm` counts it, or name gemm-stencil\n"
    assert capsys.readouterr().err == line
