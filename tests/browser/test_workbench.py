"""The workbench in a real browser: a sample to a prediction and a model; files of every kind; cancel and resume."""

import io
import json
import re

import numpy as np
import pytest

import mercer
from tests.browser.accessible import serious_violations

pytest.importorskip("playwright.sync_api", reason="browser tests need playwright")
from playwright.sync_api import expect

from tests.studio.test_workbench_routes import TABLE

MARKUP = "<img src=x onerror=alert(1)>"


def arrays(**named):
    content = io.BytesIO()
    np.savez(content, **named)
    return content.getvalue()


FILES = {
    "table.csv": (TABLE, "60 rows"),
    "seqs.fasta": ("".join(f">s{n} label={'ab'[n % 2]}\nACGT{'AC' * n}\n" for n in range(8)), "8 texts or sequences"),
    "notes.txt": ("".join(f"{'ab'[n % 2]}\tword{n} and more\n" for n in range(8)), "8 texts or sequences"),
    "rows.svm": ("".join(f"{n % 2} 1:{n} 3:1\n" for n in range(8)), "8 vectors"),
    "parse.trees": ("".join(f"{'ab'[n % 2]}\t(S (N a{n}) (V b))\n" for n in range(8)), "8 trees"),
    "graphs.edges": ("".join(f"# {'ab'[n % 2]}\na b\nb c {n + 1}\n\n" for n in range(8)), "8 graphs"),
    "rows.tsv": ("a\tb\tkind\n" + "".join(f"{n}\t{n * n}\t{'xy'[n % 2]}\n" for n in range(8)), "read as tsv"),
    "rows.jsonl": ("".join(json.dumps({"a": n, "kind": "xy"[n % 2]}) + "\n" for n in range(8)), "read as jsonl"),
    "molecules.smi": ("".join(f"{'C' * n}{'NO'[n % 2]} {'ab'[n % 2]}\n" for n in range(1, 9)), "read as smiles"),
    "gram.csv": (",a,b\na,2,1\nb,1,2\n", "2 objects of a Gram matrix"),
    "arrays.npz": (arrays(X=np.arange(16.0).reshape(8, 2), y=np.arange(8) % 2), "8 vectors"),
    "alike.npz": (arrays(K=np.eye(8), y=np.array(list("abababab"))), "8 objects of a Gram matrix"),
}


def drop(page, name, content):
    page.locator("input[type=file]").first.set_input_files(
        {"name": name, "mimeType": "text/plain", "buffer": content if isinstance(content, bytes) else content.encode()}
    )


def sample(page, name):
    page.get_by_role("button", name=re.compile(f"^{name}")).click()


def search(page, seconds="3 seconds"):
    page.get_by_label("Time for the search").select_option(label=seconds)
    page.get_by_role("button", name="Compare kernels").click()


def test_from_a_sample_to_a_prediction_and_the_model(open_page, tmp_path):
    page = open_page("/workbench")
    page.get_by_role("button", name=re.compile("^A table")).click()
    expect(page.get_by_role("heading", name="pets.csv")).to_be_visible(timeout=240_000)  # the worker compiles first
    expect(page.get_by_text("Choose the column to predict first")).to_be_visible(timeout=240_000)
    page.get_by_label("Column to predict").select_option("pet")
    expect(page.get_by_text("cat (80), dog (80)")).to_be_visible()
    assert serious_violations(page) == []
    search(page)
    expect(page.get_by_role("region", name="Kernels").get_by_role("row").nth(1)).to_be_visible(timeout=120_000)
    page.get_by_role("button", name="See the result").click(timeout=120_000)
    expect(page.get_by_text("On objects it has not seen")).to_be_visible()
    page.get_by_role("button", name="Show the report").click()
    expect(page.frame_locator("iframe").get_by_role("heading", level=1)).to_contain_text("pets.csv")
    assert serious_violations(page) == []
    page.get_by_role("tab", name="Predict").click()
    page.get_by_role("textbox").fill("height,mass,colour,tail\n30,8,white,25\n900,90,black,20\n")
    page.get_by_role("button", name="Predict", exact=True).click()
    expect(page.get_by_text("2 objects predicted")).to_be_visible(timeout=120_000)
    expect(page.get_by_role("img", name=re.compile("^mass adds"))).to_have_count(2)
    expect(page.get_by_text("unlike training", exact=True)).to_have_count(1)
    assert serious_violations(page) == []
    page.get_by_role("tab", name="Take away").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download the model").click()
    waiting.value.save_as(tmp_path / "model.mercer")
    assert mercer.load(tmp_path / "model.mercer").task == "classification"
    expect(page.get_by_text(re.compile("^mercer fit .*pets.csv"))).to_be_visible()


def test_errors_molecules_and_a_kernel_of_ones_own(open_page):
    page = open_page("/workbench", width=360, dark=True)
    page.get_by_role("button", name=re.compile("^Molecules")).click()
    expect(page.get_by_role("img", name=re.compile("Molecule of")).first).to_be_visible(timeout=240_000)
    search(page)
    page.get_by_text("Add a kernel of your own").click()
    page.get_by_role("combobox", name="Kernel").fill("graphlet")
    page.get_by_role("button", name="Add this kernel").click()
    page.get_by_role("button", name="See the result").click(timeout=120_000)
    mistake = page.get_by_role("button", name=re.compile("predicted")).first
    mistake.click()
    expect(page.get_by_text("Nearest support objects")).to_be_visible()
    expect(page.locator(".mistake-body").get_by_role("img", name=re.compile("Molecule of"))).to_have_count(4)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("tab", name="Search").click()
    row = page.get_by_role("region", name="Kernels").get_by_role("row").filter(has_text="graphlet")
    expect(row).to_have_count(1)
    expect(page.get_by_role("region", name="Kernels").get_by_text("search 1").first).to_be_visible(timeout=120_000)
    page.get_by_role("tab", name="Predict").click()
    page.get_by_role("textbox").fill("CCCC(=O)O\nNCCc1ccccc1\n")
    page.get_by_role("button", name="Predict", exact=True).click()
    expect(page.get_by_text("2 objects predicted")).to_be_visible(timeout=120_000)
    expect(page.get_by_role("article").get_by_role("img", name=re.compile("Molecule of"))).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert serious_violations(page) == []


def test_cancel_and_resume(open_page):
    page = open_page("/workbench", dark=True)
    drop(page, "mine.csv", TABLE)
    page.get_by_label("Column to predict").select_option("kind", timeout=240_000)
    search(page, "no limit")
    page.get_by_role("button", name="Cancel").click()
    resume = page.get_by_role("button", name="Resume")
    expect(resume).to_be_visible()
    assert serious_violations(page) == []
    resume.click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(resume).to_be_visible()


def test_files_of_every_kind_are_understood(open_page):
    page = open_page("/workbench", width=360)
    for name, (content, says) in FILES.items():
        drop(page, name, content)
        expect(page.get_by_text(says)).to_be_visible(timeout=240_000)
        page.get_by_role("link", name="Workbench").last.click()
        expect(page.get_by_role("heading", name="From a file to a model")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_problems_are_named_by_line_and_markup_stays_text(open_page):
    page = open_page("/workbench")
    drop(page, "broken.csv", "a,b,c\n1,2,x\n3,4\n5,6,y\n")
    expect(page.get_by_role("alert")).to_contain_text("Line 3.", timeout=240_000)
    page.get_by_role("link", name="Workbench").last.click()
    drop(page, f"{MARKUP}.csv", f"{MARKUP},b\n{MARKUP},x\n2,y\n3,x\n")
    expect(page.get_by_role("cell", name=MARKUP).first).to_be_visible()
    assert page.locator("main img").count() == 0
