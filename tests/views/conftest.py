"""A real browser for the HTML view: Debian's Chromium, driven by Playwright (CONTRIBUTING says how to install both)."""

import os
import shutil
from contextlib import contextmanager

import pytest

from gpusim.views.html import page

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")


@pytest.fixture(scope="session")
def browser():
    """Start a headless Chromium without its sandbox, which containers don't allow."""
    if CHROMIUM is None:
        pytest.skip("no chromium: apt-get install chromium, or set CHROMIUM to its path")
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install 'gpusim[browser]'")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Return a function that opens the page of runs from a file, and at the end checks that it had no error."""

    @contextmanager
    def opened(*runs, size=(1280, 720), scheme="light"):
        path = tmp_path / "view.html"
        path.write_text(page(runs), encoding="utf-8")
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
        tab, errors, asked = context.new_page(), [], []
        tab.on("console", lambda message: errors.append(message.text))
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(path.as_uri())
        tab.wait_for_selector("html[data-ready]", state="attached")
        yield tab
        context.close()
        assert errors == []
        assert set(asked) == {path.as_uri()}

    return opened
