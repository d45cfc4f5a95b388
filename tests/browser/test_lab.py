"""The lab in a real browser: pairs of every kind, formulas right and wrong, a Gram file."""

import re

import pytest

from tests.browser.accessible import serious_violations

pytest.importorskip("playwright.sync_api", reason="browser tests need playwright")
from playwright.sync_api import expect


def test_pairs_of_every_kind(open_page):
    page = open_page("/lab")
    value = page.get_by_role("status").filter(has_text="k(x, z)")
    expect(value).to_contain_text("6", timeout=240_000)
    kinds = page.get_by_role("group", name="Kind of objects").get_by_role("button")
    for number in range(kinds.count()):
        kinds.nth(number).click()
        expect(page.get_by_role("region", name="Shared features").get_by_role("row").nth(1)).to_be_visible()
        expect(page.get_by_role("alert").filter(has_text=re.compile("."))).to_have_count(0)
    kinds.first.click()
    expect(page.locator(".letters")).to_have_count(2)
    page.get_by_label("x", exact=True).fill("<b>GATTACA</b>")
    expect(page.locator(".letters").first).to_have_text("<b>GATTACA</b>")
    assert serious_violations(page) == []


@pytest.mark.parametrize(("dark", "width"), [(True, 1280), (False, 360)])
def test_shapes_are_drawn(open_page, dark, width):
    page = open_page("/lab/pair?kind=molecules&x=CCO&z=OCc1ccccc1", dark=dark, width=width)
    drawing = page.get_by_role("img", name="Molecule of 3 atoms")
    expect(drawing).to_be_visible(timeout=240_000)
    expect(drawing.locator("text")).to_have_text(["O"])
    for kind, name in (("trees", "Tree of"), ("graphs", "Graph of"), ("series", "Series of 7 and 8 values, aligned")):
        page.get_by_role("group", name="Kind of objects").get_by_role("button", name=kind.title()).click()
        expect(page.get_by_role("img", name=re.compile(name)).first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious_violations(page) == []
    expect(page).to_have_url(re.compile("#/lab/pair.kind=series"))


def test_features_are_marked_in_both_objects(open_page):
    page = open_page("/lab/pair?kind=strings&kernel=spectrum(p=2)&x=banana&z=bandana")
    row = page.get_by_role("region", name="Shared features").get_by_role("row").nth(1)
    expect(row).to_contain_text("an", timeout=240_000)
    row.hover()
    expect(page.locator(".letters").first.locator(".marked")).to_have_count(4)
    expect(page.locator(".letters").last.locator(".marked")).to_have_count(4)


def test_is_it_a_kernel(open_page):
    page = open_page("/lab/kernel?formula=exp(-dist**3)", width=360, dark=True)
    expect(page.get_by_role("heading", name="No, it is not a kernel.")).to_be_visible(timeout=240_000)
    expect(page.get_by_text("the square of a length")).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("points of the counterexample"))).to_be_visible()
    box = page.get_by_role("textbox")
    box.fill("exp(-dist**2) + dot")
    expect(page.get_by_role("heading", name="Yes, it is a kernel.")).to_be_visible()
    box.fill("exp(-dist**2) + nothing")
    expect(page.get_by_role("alert").locator("mark")).to_have_text("n")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert serious_violations(page) == []


def test_a_gram_file(open_page):
    page = open_page("/lab")
    page.get_by_role("tab", name="A Gram matrix").click()
    content = b",a,b\na,1,2\nb,2,1\n"
    page.locator("input[type=file]").set_input_files({"name": "gram.csv", "mimeType": "text/csv", "buffer": content})
    expect(page.get_by_role("heading", name="It is not a Gram matrix.")).to_be_visible(timeout=240_000)
