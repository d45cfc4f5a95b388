"""Every screen, dark and narrow: nothing overflows, and axe finds nothing serious."""

import re

import pytest

from tests.browser.accessible import serious_violations

pytest.importorskip("playwright.sync_api", reason="browser tests need playwright")
from playwright.sync_api import expect

from tests.browser.test_workbench import sample, search

SCREENS = {
    "/playground?example=ring": "support vectors",
    "/playground?example=slack&view=pca&panel=spectrum": "95 % of the length",
    "/playground?example=margin&panel=solvers&algorithm=gradient&frame=3": "exact optimum",
    "/playground?example=inseparable": "Proof that there is no hard margin",
    "/playground?example=lift": "a plane cuts what no line could",
    "/playground?example=three-classes&view=components": "vary most in feature space",
    "/playground?example=regression": "outside the tube",
    "/playground?example=one-class": "edge of the region",
    "/playground?points=&kernel=linear": "Every pair of points has a cell here",
    "/playground?example=xor&kernel=rbf(gama=1)": "has no parameter 'gama'",
    "/lab/pair?kind=documents": "add up to k(x, z)",
    "/lab/pair?kind=vectors&kernel=rbf(gamma=1)": "cannot be split",
    "/lab/pair?kind=trees&x=(S": "never closed",
    "/lab/kernel?formula=exp(-dist**2)": "Yes, it is a kernel.",
    "/lab/kernel?formula=tanh(dot)": "No, it is not a kernel.",
    "/lab/gram": "A good one",
    "/workbench": "From a file to a model",
    "/workbench/0123456789ab": "project",
}
MODES = [("dark", {"dark": True}), ("narrow", {"width": 360, "height": 740})]


def healthy(page, width):
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious_violations(page) == []


@pytest.mark.parametrize(("mode", "asked"), MODES, ids=[name for name, _ in MODES])
def test_screens_without_a_project(open_page, mode, asked):
    page = open_page(**asked)
    home = page.url.partition("#")[0]
    for route, says in SCREENS.items():
        page.goto("about:blank")  # as a link from elsewhere opens it: nothing writes into the address meanwhile
        page.goto(f"{home}#{route}")
        expect(page.get_by_text(says).first).to_be_visible(timeout=240_000)
        healthy(page, asked.get("width", 1280))


@pytest.fixture(scope="module")
def project():
    """The address of a project whose search has finished, once there is one."""
    return {}


@pytest.mark.parametrize(("mode", "asked"), MODES, ids=[name for name, _ in MODES])
def test_screens_of_a_project(open_page, project, mode, asked):
    page = open_page(project.get("at", "/workbench"), **asked)
    if not project:
        sample(page, "A Gram matrix")
        expect(page.get_by_text("160 objects of a Gram matrix")).to_be_visible(timeout=240_000)
        search(page)
        expect(page.get_by_role("button", name="See the result")).to_be_visible(timeout=120_000)
        project["at"] = re.search(r"/workbench/\w+", page.url)[0]
    for step, says in (
        ("Data", "The first objects"),
        ("Search", "precomputed()"),
        ("Result", "right on objects not seen"),
        ("Predict", "Drop a file with the kernel values"),
        ("Take away", "Everything here gives the same model"),
    ):
        page.get_by_role("tab", name=step).click()
        expect(page.get_by_text(says).first).to_be_visible(timeout=240_000)
        healthy(page, asked.get("width", 1280))


def tab_to(page, name, key="Tab"):
    """Press a key until what has the focus is called so."""
    told = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText"
    for _ in range(120):
        page.keyboard.press(key)
        if re.search(name, page.evaluate(told) or ""):
            return
    raise AssertionError(f"{name} is not reached by {key}")


def test_the_workbench_by_keyboard_alone(open_page):
    page = open_page()
    tab_to(page, "^Workbench$")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="From a file to a model")).to_be_visible()
    tab_to(page, "^Sparse vectors")
    page.keyboard.press("Enter")
    expect(page.get_by_text("160 vectors")).to_be_visible(timeout=240_000)
    expect(page.get_by_role("button", name="Compare kernels")).to_be_enabled(timeout=240_000)
    tab_to(page, "^Compare kernels")
    page.keyboard.press("Enter")
    tab_to(page, "^Cancel$")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    tab_to(page, "^Resume$")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="See the result")).to_be_visible(timeout=120_000)
    tab_to(page, "^See the result")
    page.keyboard.press("Enter")
    expect(page.get_by_text("right on objects not seen")).to_be_visible()
    tab_to(page, "Result$", "Shift+Tab")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("button", name="Predict")).to_be_enabled()  # before that, Tab goes past it
    tab_to(page, "^Predict$")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 object predicted")).to_be_visible(timeout=120_000)


def test_the_lab_by_keyboard_alone(open_page):
    page = open_page("/lab")
    expect(page.get_by_role("status").filter(has_text="k(x, z)")).to_be_visible(timeout=240_000)
    tab_to(page, "^Sets$")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Shared features")).to_contain_text("plum")
    tab_to(page, "^Shared features")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".word.marked")).to_have_count(2)
    tab_to(page, "^Two objects", "Shift+Tab")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Is it a kernel?")).to_be_focused()
    tab_to(page, r"^cos\(dist\)")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="No, it is not a kernel.")).to_be_visible(timeout=240_000)
