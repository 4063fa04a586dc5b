import json

from gpusim.commands.catalog.examples import listed
from gpusim.commands.main import execute
from gpusim.support import shipped


def test_each_example_is_listed_with_its_first_line(capsys):
    """The list has each listing and each CUDA source, with the comment that it begins with."""
    assert execute(["examples", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["folder"] == str(shipped.folder("examples"))
    assert [one["file"] for one in shown["examples"]] == [one.file for one in listed(shipped.folder("examples"))]
    assert {"file": "saxpy.cu", "what": "y = a x + y for n floats: a grid-stride loop, so that any grid is right."} in (
        shown["examples"]
    )
    assert all(one["what"].endswith(".") for one in shown["examples"])


def test_copied_examples_run(tmp_path, capsys):
    """A copy is a folder like the original: its listings run there."""
    assert execute(["examples", "--copy", str(tmp_path / "mine")]) == 0
    assert f"gpusim run {tmp_path / 'mine' / 'saxpy.asm'}" in capsys.readouterr().out.replace("\n", " ")
    assert execute(["asm", str(tmp_path / "mine" / "saxpy.asm")]) == 0
    assert execute(["examples", "--copy", str(tmp_path / "mine")]) == 2
