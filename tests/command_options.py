"""The options of every command, by the type of what they take."""

from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

from typer.models import OptionInfo

from gpusim.commands.frame.command import flat
from gpusim.commands.main import COMMANDS, function_of


def options(kind: type) -> Iterator[tuple[str, str, Any]]:
    """Yield command, option and its description, for each that takes such a value, or several."""
    for name in COMMANDS:
        function = flat(function_of(name))
        for hint in get_type_hints(function, include_extras=True).values():
            taken, *extras = (*get_args(hint), None)
            for info in (extra for extra in extras if isinstance(extra, OptionInfo)):
                if kind in (taken, *get_args(taken)):
                    names = [text for text in (info.default, *info.param_decls) if str(text).startswith("-")]
                    yield name, names[0], info
