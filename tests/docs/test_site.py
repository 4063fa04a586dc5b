import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from generate.api import modules
from generate.pages import pages

DOCS = Path(__file__).parent.parent.parent / "docs"
pytestmark = pytest.mark.slow
for package in ("sphinx", "myst_parser", "furo"):
    pytest.importorskip(package, reason="the docs site needs the extra docs")
LOADED = r'<(?:script|img|source)[^>]* src="([^"]+)"|<link[^>]* rel="(?:stylesheet|preload|icon)"[^>]* href="([^"]+)"'


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site as `make docs` does, with warnings as errors, and return its folder."""
    out = tmp_path_factory.mktemp("site")
    options = ["-q", "-W", "--keep-going", "-b", "html", "-d", str(out / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, str(DOCS), str(out / "html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return out / "html"


def test_every_page_is_built(site):
    """The site builds without a warning, and has a page for each document and each generated page."""
    wanted = {f"{path.stem}.html" for path in DOCS.glob("*.md")} | {f"reference/{page}.html" for page in pages()}
    assert {str(path.relative_to(site)) for path in site.rglob("*.html")} >= wanted


def test_pages_load_nothing_from_elsewhere(site):
    """No page loads a script, style, font or picture from another host."""
    for page in site.rglob("*.html"):
        found = [one or other for one, other in re.findall(LOADED, page.read_text(encoding="utf-8"))]
        assert found
        assert [address for address in found if "//" in address] == [], page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//|@import", style.read_text(encoding="utf-8")), style


def test_search_ranks_explanations_before_the_interface():
    """What explains comes before records of what was measured, and both before the interface, whatever they score."""
    node = shutil.which("node") or pytest.skip("no node")
    script = (DOCS / "style" / "search.js").read_text(encoding="utf-8")
    ranked = "units/shared-memory", "reference/machines/a100", "reference/api/gpusim.bounds.chain.critical_path"
    scored = f"{json.dumps(ranked)}.map((name, k) => Scorer.score([name, 0, 0, 0, 5 + k]))"
    command = [node, "-p", f"{script}JSON.stringify({scored})"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    scores = json.loads(shown)
    assert scores == sorted(scores, reverse=True)
    assert scores[1] - scores[2] > 100


def test_each_module_shows_its_functions(site):
    """The page of each module has its entry; that of gpusim.simulation.simulation links to the source."""
    shown = {name: (site / "reference" / "api" / f"{name}.html").read_text(encoding="utf-8") for name in modules()}
    assert [name for name, text in shown.items() if f'id="module-{name}"' not in text] == []
    assert 'href="../../_modules/gpusim/simulation.html' in shown["gpusim.simulation.simulation"]
