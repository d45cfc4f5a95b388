"""A real browser and a real server. Without Chromium these tests skip, and say why."""

import os
import re
import shutil
import subprocess

import pytest

from tests.cli.processes import mercer_process
from tests.studio.test_serving import free_port

REFUSALS = re.compile(r"Failed to load resource: the server responded with a status of (4\d\d|504)")
"""Chromium logs every refusal; these are answers that tests ask for."""


@pytest.fixture(scope="module")  # playwright keeps an event loop running, in which other tests could not run theirs
def browser():
    path = os.environ.get("MERCER_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("browser tests need Chromium: apt-get install chromium, or set MERCER_CHROMIUM")
    playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need playwright")
    playwright.expect.set_options(timeout=60_000)  # loops may have to be compiled first
    with playwright.sync_playwright() as running:
        # No sandbox: the checks run as root in containers, and the only page opened is our own.
        found = running.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield found
        found.close()


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """The folder of the studio's projects."""
    return tmp_path_factory.mktemp("studio")


@pytest.fixture(scope="session")
def address(home):
    """Where the studio answers, with its token."""
    process = mercer_process(
        "studio", "--no-browser", "--port", str(free_port()), "--home", str(home), stdout=subprocess.PIPE
    )
    try:
        yield re.search(r"http://\S+", process.stdout.readline())[0]
    finally:
        process.kill()
        process.communicate(timeout=30)


class Watch:
    """What a page asked for and complained about."""

    def __init__(self, page, origin):
        self.problems, self.origin = [], origin
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("console", self._said)
        page.on("request", self._asked)

    def _said(self, message):
        if message.type in ("error", "warning") and not REFUSALS.search(message.text):
            self.problems.append(f"{message.type}: {message.text}")

    def _asked(self, request):
        if not request.url.startswith((self.origin, "data:", "blob:")):
            self.problems.append(f"asked for {request.url}")


@pytest.fixture
def open_page(browser, address):
    """``open_page(width=360, dark=True)``: a page of the studio; at the end nothing may have gone wrong in it."""
    contexts, watches = [], []

    def opened(route="", *, width=1280, height=900, dark=False, touch=False):
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            has_touch=touch,
            reduced_motion="reduce",
        )
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        watches.append(Watch(page, address.partition("#")[0]))
        page.goto(address + ("&" + route if route else ""))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [problem for watch in watches for problem in watch.problems] == []
