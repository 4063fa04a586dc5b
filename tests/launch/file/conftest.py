import pytest

from gpusim.launch.file import source


@pytest.fixture
def launch(tmp_path):
    """Return a function that reads a launch file with a text; other files lie beside it, in `tmp_path`."""

    def read(text):
        path = tmp_path / "k.toml"
        path.write_text(text)
        return source.read(path)

    return read
