"""Links of the documents work in the repository, and those to its files lead to pages where the site has some."""

import re
from pathlib import Path

import pytest
from generate.pages import pages
from read.fenced import DOCUMENTS

DOCS = Path(__file__).parent.parent.parent / "docs"
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
READ = [path for path in DOCUMENTS if path != DOCS / "index.md"]  # the site's front page, which the site alone shows


def leads(path):
    """Return the relative links of a document."""
    return [link for link in LINK.findall(path.read_text(encoding="utf-8")) if ":" not in link]


@pytest.mark.every
@pytest.mark.parametrize("path", READ, ids=lambda path: path.name)
def test_links_lead_to_files_of_the_repository(path):
    """Each relative link of a document leads to a file or folder that is there without the site being built."""
    assert [link for link in leads(path) if not (path.parent / link).exists() or "reference/" in link] == []


def test_the_site_leads_to_its_own_pages():
    """Files and folders that have a page on the site exist, and the page is one of those generated."""
    (body,) = re.findall(r"^PAGES_OF_FILES = \{(.*?)^\}", (DOCS / "conf.py").read_text(encoding="utf-8"), re.M | re.S)
    mapped = dict(re.findall(r'"([^"]+)": "([^"]+)"', body))
    assert len(mapped) >= 6
    assert [file for file in mapped if not (DOCS / file).exists()] == []
    assert set(mapped.values()) <= {f"reference/{page}.md" for page in pages()}
