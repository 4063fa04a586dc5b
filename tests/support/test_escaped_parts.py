from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gpusim.support.escaped_parts import EscapedParts


def printed(*parts, **options):
    """Return what a console with the hook prints."""
    console = Console(file=StringIO(), width=40, highlight=False, markup=False, **options)
    console.push_render_hook(EscapedParts())
    for part in parts:
        console.print(part)
    return console.file.getvalue()


def test_texts_in_tables_are_escaped():
    """Control characters in plain texts, in cells and in heads are shown as escapes."""
    table = Table("a\x1b[1m")
    table.add_row(Text("b\x1b]0;title\x07"))
    found = printed("\x1b[31mred\n", table)
    assert "\x1b" not in found
    assert "\x07" not in found
    assert "\\x1b[31mred" in found
    assert "b\\x1b]0;title" in found


def test_colors_of_the_console_stay():
    """A style of the console's own is printed as ever."""
    assert printed(Text("x\x1b", "bold"), force_terminal=True, color_system="standard") == "\x1b[1mx\\x1b\x1b[0m\n"
