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
    page.get_by_label("x", exact=True).fill("<b>GATTACA</b>")
    expect(page.locator(".letters").first).to_have_text("<b>GATTACA</b>")
    assert serious_violations(page) == []


def test_is_it_a_kernel(open_page):
    page = open_page("/lab", width=360, dark=True)
    page.get_by_role("tab", name="Is it a kernel?").click()
    expect(page.get_by_role("heading", name="No, it is not a kernel.")).to_be_visible(timeout=240_000)
    expect(page.get_by_text("the square of a length")).to_be_visible()
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
