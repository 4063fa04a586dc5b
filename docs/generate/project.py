"""The pages made of files that stand linked the docs: their links lead to pages of the site."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
FILES = {"CONTRIBUTING.md": "contributing", "examples/README.md": "examples"}


def project() -> dict[str, str]:
    """Return the pages by their paths."""
    return {page: _moved((ROOT / file).read_text(encoding="utf-8")) for file, page in FILES.items()}


def _moved(text: str) -> str:
    """The text of a file of the project, read from a page of the reference."""
    linked = re.sub(rf"\]\(({'|'.join(map(re.escape, FILES))})", lambda link: f"]({FILES[link[1]]}.md", text)
    return linked.replace("](../docs/", "](../").replace("](docs/", "](../")
