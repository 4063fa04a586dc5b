"""How Sphinx builds the docs site: `make docs`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

project = "gpusim"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
exclude_patterns = ["_build", "generate"]
nitpicky = True
# Types of other packages have no page here, nor have the rules and engines; private names and type variables have none.
nitpick_ignore_regex = [(r"py:.*", r"(?!gpusim\.|isa\.|workloads\.).*|gpusim\.(?:sm|engines)\..*|.*\.(?:T|State|_\w+)")]
default_role = "code"  # docstrings have code in single backquotes
smartquotes = False  # `--json` is no dash
highlight_language = "text"

myst_heading_anchors = 3
autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

suppress_warnings = ["misc.highlighting_failure"]  # listings are no assembly that Pygments knows in every line

html_theme = "furo"
html_title = "gpusim"
html_static_path = ["style"]
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "style" / "search.js")  # explanations before the interface
html_copy_source = False
html_show_copyright = False
html_theme_options = {"top_of_page_buttons": []}

PAGES_OF_FILES = {  # links that lead to files and folders of the repository where there is no site
    "../gpusim/commands": "reference/commands.md",
    "../gpusim/machine/schema.py": "reference/machine-keys.md",
    "../gpusim/__init__.py": "reference/api.md",
    "generate/machine_code.py": "reference/machine-code.md",
    "../CONTRIBUTING.md": "reference/contributing.md",
    "../examples/README.md": "reference/examples.md",
    "schema": "reference/documents.md",
}


def setup(app: Any) -> None:
    """Connect what is done before pages are read."""
    app.connect("builder-inited", _generate)
    app.connect("source-read", _lead_to_pages)
    app.connect("autodoc-process-docstring", _keep_indented)
    app.connect("autodoc-process-signature", _shorten)


def _generate(_: Any) -> None:
    """Write the reference anew."""
    from generate.pages import write  # noqa: PLC0415  (lies beside this file, which is put into the path above)

    write()


def _lead_to_pages(_: Any, __: str, source: list[str]) -> None:
    """Let links to files and folders of the repository that are pages here lead to those."""
    for file, page in PAGES_OF_FILES.items():
        source[0] = re.sub(rf"\]\({re.escape(file)}(?=[)#])", f"]({page}", source[0])


def _keep_indented(_: Any, __: str, ___: str, ____: Any, _____: Any, lines: list[str]) -> None:
    """Show what is indented in a docstring as it stands there."""
    indented = [line.startswith("    ") for line in lines]
    for number in range(len(lines) - 1, 0, -1):
        if indented[number] and not lines[number - 1] and not any(indented[max(0, number - 2) : number]):
            lines[number:number] = ["::", ""]


def _shorten(
    _: Any, __: str, ___: str, shown: Any, ____: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Show of a document or a section its fields' names, which have pages of their own, and no default as `<...>`."""
    if fields := getattr(shown, "__struct_fields__", ()):
        return f"({', '.join(fields)})", returned
    return signature and re.sub(r"<\w[^<>]*>", "...", signature), returned
