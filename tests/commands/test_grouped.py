"""Help whose options stand in groups."""

import re

import pytest

from gpusim.commands.grouped import GROUPS, OWN
from gpusim.commands.main import COMMANDS, execute


@pytest.mark.every
@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_stands_once_in_its_group(name, capsys):
    """The help of each command has its groups in order, and a shared option stands in its own group only."""
    assert execute([name, "--help"]) == 0
    parts = re.split(r"^(\S.*):$", capsys.readouterr().out, flags=re.M)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    known = ["Arguments", OWN, *GROUPS]
    assert [title for title in found if title in known] == [title for title in known if title in found]
    options = {
        title: [re.findall(r"-[-\w]+", names) for names in re.findall(r"^  (-\S+(?:,? -\S+)*)", text, re.M)]
        for title, text in found.items()
    }
    for title, given in options.items():
        for option in given:
            home = next((group for group, shared in GROUPS.items() if {*option} & {*shared}), OWN)
            assert title == home
    assert options["Help"] == [["--help"]]


def test_no_option_is_in_two_groups():
    """Each shared option is in one group."""
    every = [option for options in GROUPS.values() for option in options]
    assert len(every) == len(set(every))
