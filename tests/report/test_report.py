"""The report: everything from the user is text, nothing is fetched, and it opens in a real browser."""

import html.parser
import re
import shutil

import numpy as np
import pytest

from mercer.datasets import make_dna
from mercer.jobs.fitting import Plan, fit
from mercer.readers.data import CATEGORY, NUMBER, Column, Data
from mercer.report import drawing, render, write

EVIL = "<img src=x onerror=\"document.title='owned'\">"
VOID = {"meta", "img", "br"}


class Reader(html.parser.HTMLParser):
    """Collects tags, attributes and headings; complains of tags that do not close."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes, self.headings = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("h1", "h2"):
            self.headings.append(data)


@pytest.fixture(scope="module")
def hostile():
    random = np.random.default_rng(0)
    x = random.normal(size=60)
    colours = np.array([EVIL, "blue"], dtype=object)[random.integers(0, 2, 60)]
    columns = {EVIL: Column(EVIL, NUMBER, x), "colour": Column("colour", CATEGORY, colours)}
    labels = np.where(x > 0, EVIL, "fine")
    data = Data(
        f"{EVIL}.csv", "csv", "table", columns, labels, EVIL, ids=[f"{EVIL}{n}" for n in range(60)], notes=(EVIL,)
    )
    return fit(data, Plan(folds=3, C=1.0), command=f"mercer fit '{EVIL}'")


def parsed(text):
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    return reader


def test_nothing_of_the_user_is_markup(hostile):
    reader = parsed(render(hostile))
    assert "script" not in reader.tags
    assert not [item for item in reader.attributes if item[1].startswith("on")]
    sources = [value for _, name, value in reader.attributes if name in ("src", "href")]
    assert all(source.startswith(("data:image/png;base64,", "#")) for source in sources)
    assert ("http-equiv", "Content-Security-Policy") in [item[1:] for item in reader.attributes]


def test_headings_pictures_and_words(hostile):
    text = render(hostile)
    reader = parsed(text)
    for heading in (
        "The data",
        "Kernels compared",
        "Errors",
        "Margins and certificate",
        "The kernel matrix",
        "Support objects",
        "What theory promises",
        "How to repeat it",
    ):
        assert heading in reader.headings
    assert reader.tags.count("h1") == 1
    for tag in ("svg", "img"):
        named = [value for name, key, value in reader.attributes if name == tag and key in ("aria-label", "alt")]
        assert len(named) == reader.tags.count(tag)
        assert all(named)
    assert "ROC" in text
    assert "leave-one-out" in text
    assert "http://" not in text
    assert "https://" not in text


def test_strings_are_explained_and_numbers_have_residuals():
    sequences, labels = make_dna(60, random_state=0)
    text = render(
        fit(Data("s.fa", "fasta", "strings", sequences, labels), Plan(kernel="normalise(spectrum(p=3))", folds=2))
    )
    assert 'class="sequence"' in text
    random = np.random.default_rng(0)
    x = random.normal(size=80)
    data = Data("n.csv", "csv", "table", {"x": Column("x", NUMBER, x)}, x**2 + 0.1, "y")
    text = render(fit(data, Plan(folds=3)))
    parsed(text)
    assert "Root mean squared error" in text


def test_texts_compared_by_words_have_no_coloured_symbols():
    texts = [f"{'sea salt' if place % 2 else 'snow pine'} and the morning {place % 7}" for place in range(40)]
    labels = np.array(["sea" if place % 2 else "hill" for place in range(40)])
    text = render(fit(Data("n.txt", "text", "strings", texts, labels), Plan(kernel="vector_space", folds=2)))
    assert 'class="sequence"' not in text


def test_three_classes_and_odd_spectra():
    random = np.random.default_rng(0)
    x = random.normal(size=90)
    labels = np.digitize(x, [-0.5, 0.5]).astype(str)
    data = Data("n.csv", "csv", "table", {"x": Column("x", NUMBER, x)}, labels, "y")
    text = render(fit(data, Plan(folds=3, kernel="linear")))
    parsed(text)
    assert "predicted 2" in text


def test_written_whole(hostile, tmp_path):
    path = tmp_path / "r.html"
    write(hostile, path)
    assert path.read_text(encoding="utf-8") == render(hostile)
    assert [item.name for item in tmp_path.iterdir()] == ["r.html"]


def test_pictures():
    image = drawing.png(np.arange(6.0).reshape(2, 3))
    assert image.startswith(b"\x89PNG")
    assert drawing.ticks(0, 1) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert drawing.png(np.ones((2, 2)))
    axes = drawing.Axes((1, 1), (2, 2), "x", "y", "one point")
    axes.dots([(1, 2)])
    assert "nan" not in axes.svg()
    assert re.search(r"cx=\"[\d.]+\"", axes.svg())


COLOURS = """() => [...document.querySelectorAll('h1,h2,p,li,a,td,th,figcaption,pre,caption,svg text')].map(e => {
    let paper = e;
    while (paper && getComputedStyle(paper).backgroundColor === 'rgba(0, 0, 0, 0)') paper = paper.parentElement;
    const style = getComputedStyle(e);
    return [e.tagName === 'text' ? style.fill : style.color, getComputedStyle(paper).backgroundColor];
})"""


def contrast(ink, paper):
    """The ratio of luminances, as the accessibility guidelines define it."""

    def luminance(colour):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(ink), luminance(paper)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_in_a_browser(hostile, tmp_path):
    sync = pytest.importorskip("playwright.sync_api", reason="no-run: no playwright for a test in a real browser")
    browser_path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser_path is None:
        pytest.skip("no-run: no Chromium for a test in a real browser")
    path = tmp_path / "r.html"
    write(hostile, path)
    with sync.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        try:
            for width, scheme in ((1280, "light"), (375, "light"), (375, "dark")):
                page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
                asked, complaints = [], []
                page.on("request", lambda request, asked=asked: asked.append(request.url))
                page.on("pageerror", lambda error, complaints=complaints: complaints.append(str(error)))
                page.goto(path.as_uri())
                assert page.title().startswith("Mercer report: <img src=x")
                assert EVIL in page.inner_text("h1")
                assert page.locator("img").count() == 1  # the matrix, and no other
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
                assert complaints == []
                colours = page.evaluate(COLOURS)
                assert len(colours) > 20
                assert min(contrast(ink, paper) for ink, paper in colours) >= 4.5
                levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(e => e.tagName)")
                assert levels[0] == "H1"
                assert set(levels[1:]) == {"H2"}
        finally:
            browser.close()
