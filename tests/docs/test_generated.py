import inspect
import json
import re
from html import unescape
from importlib import import_module
from pathlib import Path

import pytest
from generate import api, commands, documents, instructions, kernels, machine_keys, machines, pages, project
from generate.markdown import table
from generate.stall_reasons import stall_reasons

from gpusim.analysis.account.findings.advice import ADVICE
from gpusim.commands.catalog.schema import DOCUMENTS, text
from gpusim.commands.main import COMMANDS
from gpusim.machine import machine, schema
from gpusim.machine.file import METHODS
from gpusim.sm.unit.stall import Stall, label
from isa.table import ROWS
from workloads.catalog import CATALOG
from workloads.spaces import SPACES

ROOT = Path(__file__).parent.parent.parent
UNITS = re.compile(  # units of numbers
    r"\b(MHz|fJ|cycles|bytes|thousandths|milliwatts|bytes per second|lanes|threads|thread instructions|warps|blocks"
    r"|64ths|registers|instructions|lines|banks|passes|barriers|schedulers|multiprocessors|slots|accesses|words|multiples"
    r"|channels|sectors|slices|stall count|vmcnt|lgkmcnt|nanoseconds|MB/s)\b"
)


def rows(text):
    """Return the cells of each table row of a page, without the heads."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    heads = {n - lower for n, row in enumerate(cells) if row[0] == "---" for lower in (0, 1)}
    return [row for n, row in enumerate(cells) if n not in heads]


def names(text):
    """Return the text in backquotes in the first cell of each row."""
    return [row[0].strip("`") for row in rows(text)]


def test_each_mnemonic_has_one_row_with_its_meaning():
    """The page of instructions has each mnemonic once, with unit class, bits, FLOPs and a meaning."""
    found = rows(instructions.instructions())
    assert sorted(row[0].strip("`") for row in found) == sorted(row.mnemonic for row in ROWS)
    reported = {row.mnemonic: row for row in ROWS}
    for mnemonic, _, unit, bits, flops, meaning in found:
        row = reported[mnemonic.strip("`")]
        assert (unit, bits, flops) == (row.unit.value, str(row.width), str(row.flops or ""))
        assert meaning


def test_a_mnemonic_without_words_fails(monkeypatch):
    """A mnemonic that listing.md does not describe stops the build with an error that names it."""
    described = dict(instructions.described())
    del described["FFMA"]
    monkeypatch.setattr(instructions, "described", lambda: described)
    with pytest.raises(KeyError, match="FFMA"):
        instructions.instructions()


def test_each_stall_reason_has_one_row_with_its_meaning():
    """The page of stall reasons has each reason once, in order, with its letter and its meaning."""
    found = rows(stall_reasons())
    assert [(row[0], row[1].strip("`")) for row in found] == [(str(int(one)), label(one)) for one in Stall]
    assert [row[3] for row in found] == [one.meaning for one in Stall]
    assert [row[4] for row in found] == [ADVICE[one].remedy for one in Stall]
    assert [unescape(re.sub("<.*?>", "", row[2])) for row in found] == [one.letter for one in Stall]


def test_each_machine_key_has_one_row_with_its_meaning():
    """The page of machine keys has each leaf of the schema once, with its values and its meaning."""
    found = rows(machine_keys.machine_keys())
    assert sorted(row[0].strip("`") for row in found) == sorted(path for path, _ in schema.leaves())
    assert [row[0] for row in found if not row[1] or not row[2]] == []


def test_each_number_of_a_machine_says_what_it_counts():
    """The meaning of each key that takes a number names its unit, such as cycles, bytes or lanes."""
    numbers = [
        (path, meaning) for path, (kind, meaning) in machine_keys.keys().items() if hasattr(kind, "__metadata__")
    ]
    assert len(numbers) > 100
    assert [path for path, meaning in numbers if not UNITS.search(meaning)] == []


def test_every_section_says_what_it_is():
    """Each section that has keys of its own begins with the docstring of its class."""
    text = machine_keys.machine_keys()
    for section, struct in schema.sections().items():
        assert f"## {section}\n\n{inspect.getdoc(struct).split()[0]}" in text


COMMENTS = '''
class One:
    """A docstring."""

    # what stands above,
    # on two lines
    above: int
    behind: int  # what stands behind
    long: Annotated[
        int, 1
    ]  # behind its end
    silent: int
    war_32: int  # of this width
    war_64: int
    other_64: int
'''


def test_meanings_are_read_from_comments():
    """Comments above and after a field belong to it; only fields whose names differ in a number share one."""
    assert machine_keys.meanings(COMMENTS)["One"] == {
        "above": "what stands above, on two lines",
        "behind": "what stands behind",
        "long": "behind its end",
        "silent": "",
        "war_32": "of this width",
        "war_64": "of this width",
        "other_64": "",
    }


def test_each_command_has_its_help():
    """The page of commands has each command once, in order, with the help that it prints."""
    text = commands.commands()
    assert re.findall(r"^## gpusim (\S+)$", text, re.M) == list(COMMANDS)
    for name in COMMANDS:
        section = text.split(f"\n## gpusim {name}\n")[1].split("\n## ")[0]
        assert section.count(f"Usage: gpusim {name} ") == 1 <= section.count(f"Example: gpusim {name} ")


def test_help_that_fails_stops_the_build(capsys):
    """A name that is no command stops the build with an error that names it."""
    with pytest.raises(ValueError, match="gpusim nothing"):
        commands.help_of("nothing", "--help")
    assert "No such command" in capsys.readouterr().err


def test_each_kernel_and_space_has_its_parameters():
    """The page of kernels has a section for each kernel and space, with every parameter and its meaning."""
    text = kernels.kernels()
    sections = {part.split("\n")[0]: part for part in text.split("\n## ")[1:]}
    wanted = {**CATALOG} | {f"Search space {name}": entry for name, entry in SPACES.items()}
    assert sections.keys() == wanted.keys()
    for name, entry in wanted.items():
        assert names(sections[name]) == [parameter.name for parameter in entry.parameters]
        assert all(all(row) for row in rows(sections[name]))


def test_each_machine_has_its_numbers():
    """Each machine has a row in the overview, and a page with value, method and source of each fact."""
    made = machines.machines()
    assert [row[0].split("]")[0].strip("[") for row in rows(made["machines"])] == machine.names()
    for name in machine.names():
        facts = machine.facts(name)
        found = rows(made[f"machines/{name}"])
        assert [row[0].strip("`") for row in found] == list(facts)
        assert [row[1].strip("`") for row in found] == [str(fact.value) for fact in facts.values()]
        assert all(row[2] in METHODS and row[3] for row in found)


def test_a_machine_is_drawn_where_its_file_draws_it():
    """The first comment of a machine file, its drawing, is on the machine's page, line by line, without keys."""
    drawn = machines.machines()["machines/gtx580"].split("```")[1]
    assert drawn.startswith("text\nOne SM of GF110")
    assert "| warp scheduler 0 |" in drawn
    assert "sms" not in drawn


def test_each_document_has_its_fields():
    """Each JSON document has a page with a link to its schema, and each object's description and fields."""
    made = documents.documents()
    for name in DOCUMENTS:
        schema = json.loads(text(name))
        assert (ROOT / "docs" / "schema" / schema["$id"]).is_file()
        assert f"]({'../../schema/' + schema['$id']})" in made[f"documents/{name}"]
        sections = {part.split("\n")[0]: part for part in made[f"documents/{name}"].split("\n## ")[1:]}
        assert sections.keys() == schema["$defs"].keys()
        for one, section in sections.items():
            assert names(section) == list(schema["$defs"][one].get("properties", {}))
            assert section.split("\n\n")[1].strip()


def test_types_are_reported_in_words():
    """Lists, maps, references and optional values are described in words."""
    shown = documents.documents()["documents/timeline"]
    assert "| `instructions` | list of [Issued](#issued) |" in shown
    assert "| `settings` | object of integer or string |" in shown
    assert "| `summary` | [Summary](#summary) or null, may be absent |" in shown


def test_each_module_of_the_interface_says_what_it_is():
    """Each module with a page has a docstring, and so has each of its public functions."""
    for name in api.modules():
        module = import_module(name)
        assert module.__doc__, name
        own = inspect.getmembers(module, lambda one, name=name: getattr(one, "__module__", "") == name)
        functions = [one for key, one in own if key[0] != "_" and inspect.isfunction(one)]
        assert all(function.__doc__ for function in functions), name


def test_modules_stand_by_what_they_are_for():
    """Each module has one page, under one heading; those of a use come before those that serve them inside."""
    listed = [name for names in api.groups().values() for name in names]
    assert sorted(listed) == sorted(set(listed)) == sorted(api.modules())
    assert list(api.groups()) == [*api.USES, api.INSIDE]
    shown = api.api()["api"]
    assert (
        shown.index("gpusim.simulation.simulation")
        < shown.index(f"## {api.INSIDE}")
        < shown.index("api/isa.support.frozen")
    )


def test_every_exported_name_is_documented():
    """Each name in `gpusim.__all__` comes from a module that has a page."""
    import gpusim  # noqa: PLC0415  (its names are imported when asked for)

    for name in gpusim.__all__:
        assert getattr(gpusim, name).__module__ in api.modules()


def test_links_of_files_beside_the_docs_lead_to_pages():
    """Each relative link of the pages made from files outside docs leads to a page or an existing file."""
    made = pages.pages()
    for name in project.FILES.values():
        for link in re.findall(r"\]\(([\w./-]+)\)", made[name]):
            assert link.removesuffix(".md") in made or (ROOT / "docs" / "reference" / link).resolve().is_file(), link


def test_pages_are_written_once(tmp_path, monkeypatch):
    """A second build leaves an unchanged page alone, and deletes a page that is no longer made."""
    monkeypatch.setattr(pages, "pages", lambda: {"one": "text\n", "deep/two": "more\n"})
    pages.write(tmp_path)
    before = (tmp_path / "one.md").stat().st_mtime_ns
    (tmp_path / "old.md").write_text("gone")
    pages.write(tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*.md")) == ["one.md", "two.md"]
    assert (tmp_path / "deep" / "two.md").read_text() == "more\n"
    assert (tmp_path / "one.md").stat().st_mtime_ns == before


def test_a_bar_in_a_cell_is_no_border():
    """A cell may have a bar and line breaks; the row keeps its two columns."""
    assert table(("a", "b"), [("x | y", "one\ntwo")]).splitlines()[2] == "| x \\| y | one two |"
