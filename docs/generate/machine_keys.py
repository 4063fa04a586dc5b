"""The page of machine keys: types from the schema, meanings from the comments beside its fields."""

from __future__ import annotations

import ast
import inspect
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from typing import Any

from generate.markdown import anchor, code, page, table
from gpusim.machine import schema
from gpusim.machine.facts import allowed
from gpusim.sm.unit.ranges import MOST

ABOUT = """\
The keys of a machine file, each with one number or word, which `--set` changes. Each also names its source and
method, and an uncertain one its plausible range ([contributing](contributing.md)). `*` stands for a name: of a pipe,
which the file chooses, or a unit class ([instructions](instructions.md)). Optional sections are marked. A file also has
a `name`, a `generation`, and may have `extends`, the machine whose numbers it changes, and `architecture`, that of the
machine code that it executes (`sm_90`). All cycles are shader cycles."""
HEAD = "key", "takes", "meaning"
OPTIONAL = "May be left out."


def meanings(source: str) -> dict[str, dict[str, str]]:
    """Return the comments by class and field: after the field, or in the lines above it.

    Fields whose names differ from the one above only in a number, `war_64` below `war_32`, share its comment.
    """
    comments = {
        token.start[0]: (token.string.lstrip("# "), token.line.lstrip().startswith("#"))
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    return {one.name: dict(_of_fields(one, comments)) for one in classes}


def _of_fields(one: ast.ClassDef, comments: Mapping[int, tuple[str, bool]]) -> Iterator[tuple[str, str]]:
    before, meaning = "", ""
    for field in one.body:
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            name = field.target.id
            own = _above(field.lineno, comments) + _behind(field, comments)
            meaning = " ".join(own) or (meaning if _stem(name) == _stem(before) else "")
            yield name, meaning
            before = name


def _above(line: int, comments: Mapping[int, tuple[str, bool]]) -> list[str]:
    text, alone = comments.get(line - 1, ("", False))
    return [*_above(line - 1, comments), text] if alone else []


def _behind(field: ast.AnnAssign, comments: Mapping[int, tuple[str, bool]]) -> list[str]:
    return [comments[line][0] for line in range(field.lineno, (field.end_lineno or 0) + 1) if line in comments]


def _stem(name: str) -> str:
    return re.sub(r"\d+$", "", name)


def keys() -> dict[str, tuple[Any, str]]:
    """Return type and meaning of each key, by dotted path; the meaning is empty where the schema says nothing."""
    words: dict[str, dict[str, str]] = {}
    classes: list[type] = [schema.Machine, *schema.sections().values()]
    for section in classes:
        words |= meanings(inspect.getsource(section))
    return {path: (kind, _meaning(path, words)) for path, kind in schema.leaves()}


def _meaning(path: str, words: Mapping[str, Mapping[str, str]]) -> str:
    section, *rest = path.split(".")
    names = [name for name in rest if name != "*"]
    return words[schema.sections()[section].__name__][names[0]] if names else words["Machine"][section]


def machine_keys() -> str:
    """Return the page."""
    every = keys()
    names = dict.fromkeys(path.split(".")[0] for path in every)
    return page("Machine keys", ABOUT, *(_section(name, every) for name in names))


def _takes(kind: Any) -> str:
    """The values that a key takes, in a few words."""
    return allowed(kind).removeprefix("a ").replace(str(MOST), "10^9")


def _section(name: str, every: Mapping[str, tuple[Any, str]]) -> str:
    struct = schema.sections().get(name)
    about = [" ".join((inspect.getdoc(struct) or "").split())] if struct else []
    about += [OPTIONAL] if name in schema.OPTIONAL else []
    rows = [
        (code(path), _takes(kind), meaning) for path, (kind, meaning) in every.items() if path.split(".")[0] == name
    ]
    return "\n\n".join((anchor(f"key-{name.replace('_', '-')}"), f"## {name}", " ".join(about), table(HEAD, rows)))
