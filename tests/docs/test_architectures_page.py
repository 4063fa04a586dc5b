"""The page of architectures is what the code and the stored errors say, and these are what is simulated."""

import pytest
from draws import few
from generate import architectures

from gpusim.analysis.validate.validation import DIRECTORY, published_points
from gpusim.machine.machine import load
from isa.architecture import NVIDIA

STORED = architectures.stored()
MACHINES = sorted(path.stem for path in DIRECTORY.glob("*.toml"))


def cells(text):
    """Return the first cells of the rows of a page's tables."""
    return [line.split(" | ")[0].strip("| `") for line in text.splitlines() if line.startswith("| ")]


def test_the_page_is_made_of_the_stored_errors():
    """The page in the repository is what today's machines and the stored errors give (`make validation`)."""
    page = architectures.PAGE.read_text(encoding="utf-8")
    assert page == architectures.architectures(STORED)
    assert {f"{one // 10}.{one % 10}" for one in NVIDIA} <= set(cells(page))
    assert set(MACHINES) <= set(cells(page))


@pytest.mark.parametrize("name", MACHINES)
def test_each_published_figure_has_an_error(name):
    """The stored errors of a machine are of its published figures, each once, of their kind."""
    points = [(point.id, point.kind) for point in published_points(load(name))]
    assert [(error.id, error.kind) for error in STORED if error.machine == name] == points


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("name", few(MACHINES, 2))
def test_errors_are_those_of_today(name):
    """Simulated now, each figure of a machine has the stored error."""
    assert list(architectures.simulated(name)) == [error for error in STORED if error.machine == name]


def test_a_machine_without_figures_has_none():
    """A machine without published figures simulates nothing, and its row says so."""
    assert list(architectures.simulated("rtx4070")) == []
    assert "no figure is published" in architectures.architectures([])
