"""The report: everything from the user is text, nothing is fetched, and it opens in a real browser."""

import base64
import html.parser
import io
import re
import shutil
import xml.etree.ElementTree as ET
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from mercer.datasets import make_dna
from mercer.jobs.fitting import Plan, fit
from mercer.readers.data import CATEGORY, NUMBER, Column, Data
from mercer.report import drawing, render, write
from mercer.report.evidence import errors
from mercer.report.learning import curve, learning
from mercer.report.matrices import matrix
from mercer.report.mistakes import _neighbours, _worst_places, worst
from mercer.report.naming import named
from mercer.report.page import table
from mercer.report.support import described

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
    assert all(source.startswith(("data:image/png;base64,", "data:image/svg+xml;base64,", "#")) for source in sources)
    assert ("http-equiv", "Content-Security-Policy") in [item[1:] for item in reader.attributes]


def test_headings_pictures_and_words(hostile):
    text = render(hostile)
    reader = parsed(text)
    for heading in (
        "What moves the predictions",
        "Where it errs",
        "How reliable its probabilities are",
        "Kernels compared",
        "What more data would bring",
        "The machine, for specialists",
        "The data",
        "How to repeat it",
    ):
        assert heading in reader.headings
    order = [reader.headings.index(head) for head in ("Where it errs", "Kernels compared", "The data")]
    assert order == sorted(order)
    for summary in ("Margins and certificate", "The kernel matrix", "Support objects", "What theory promises"):
        assert f"<summary>{summary}</summary>" in text
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


def test_decisions_on_a_table_are_shared_out(hostile):
    text = render(hostile)
    assert "What decisions are made of" in text
    assert "colour" in text[text.index("What decisions are made of") :]


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
    assert re.search(r"<th [^>]*>truth</th>(?:<th [^>]*>\d</th>){3}", text)


def test_written_whole(hostile, tmp_path):
    path = tmp_path / "r.html"
    write(hostile, path)
    assert path.read_text(encoding="utf-8") == render(hostile)
    assert [item.name for item in tmp_path.iterdir()] == ["r.html"]


def test_pictures():
    image = drawing.png(np.arange(6.0).reshape(2, 3))
    assert image.startswith(b"\x89PNG")
    pixels = pytest.importorskip("matplotlib.image").imread(io.BytesIO(image))
    assert pixels.shape == (2, 3, 3)
    np.testing.assert_allclose(255 * pixels[0, 0], [247, 251, 255], atol=0.01)
    np.testing.assert_allclose(255 * pixels[1, 2], [8, 48, 107], atol=0.01)
    assert image.endswith(b"\0\0\0\0IEND\xaeB`\x82")
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
                page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                if width < 500:  # cells of long texts stand below each other, beside their heads
                    fits = "one => one.scrollWidth <= one.parentElement.clientWidth"
                    stacked = page.evaluate(f"[...document.querySelectorAll('.stacked')].map({fits})")
                    assert len(stacked) >= 2
                    assert all(stacked)
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


def test_pictures_can_be_saved(hostile):
    """Each as a file that needs nothing of the page, and in which nothing of the user is markup."""
    reader = parsed(render(hostile))
    links = [value for tag, name, value in reader.attributes if tag == "a" and name == "href" and value[0] != "#"]
    assert len(links) == len([item for item in reader.attributes if item[1] == "download"]) >= 5
    for link in links:
        text = base64.b64decode(link.partition("base64,")[2]).decode()
        assert "var(--" not in text
        assert "currentColor" not in text
        picture = ET.fromstring(text)
        assert picture.tag == "{http://www.w3.org/2000/svg}svg"
        assert not [one for one in picture.iter() if one.tag.endswith(("script", "img", "image"))]


def test_the_worst_errors_stand_beside_what_they_resemble():
    random = np.random.default_rng(0)
    x = np.sort(random.normal(size=80))
    y = np.where(x > 0, "high", "low").astype(object)
    y[2] = "high"  # a wrong label deep among the low ones
    data = Data(
        "n.csv", "csv", "table", {"x": Column("x", NUMBER, x)}, y.astype(str), "y", ids=[f"r{n}" for n in range(80)]
    )
    found = fit(data, Plan(folds=3, kernel="rbf", C=1.0))
    assert _worst_places(found)[0] == 2
    text = worst(found)
    assert "r2" in text
    assert "(low)" in text  # what it resembles
    numbers = fit(
        Data("n.csv", "csv", "table", data.objects, np.where(np.arange(80) == 5, 9.0, x), "y"), Plan(kernel="rbf")
    )
    assert _worst_places(numbers)[0] == 5


def test_learning_curves_rise_where_more_is_better():
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 2))
    labels = np.where(np.sin(3 * X[:, 0]) * np.sin(3 * X[:, 1]) > 0, "a", "b")
    columns = {name: Column(name, NUMBER, values) for name, values in zip("xz", X.T, strict=True)}
    rising = fit(Data("n.csv", "csv", "table", columns, labels, "y"), Plan(folds=3, kernel="rbf(gamma=5)", C=10.0))
    points = curve(rising)
    assert [size for size, _ in points] == [60, 120, 240, 480]
    assert points[-1][1].mean() > points[0][1].mean() + 0.1
    assert all((one[1] == other[1]).all() for one, other in zip(points, curve(rising), strict=True))
    assert "still rises" in learning(rising)
    noisy = np.where((X[:, 0] > 0) ^ (random.random(600) < 0.25), "a", "b")
    easy = fit(Data("n.csv", "csv", "table", columns, noisy, "y"), Plan(folds=3, kernel="linear", C=0.1))
    assert "is flat" in learning(easy)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("rbf(gamma=0.17)", "Gaussian (gamma 0.17)"),
        (
            "on(6 numbers, rbf(gamma=0.17)) + on('colour', categorical())**3",
            "Gaussian (gamma 0.17) on 6 numbers + (same or different on colour) to the power of 3",
        ),
        (
            "on(['a', 'b + c'], linear()) * on('s', tanimoto(), as_='morgan')",
            "linear on a and b + c × Tanimoto on s by fingerprints",
        ),
        (
            "on(2 numbers, rbf(gamma=1))*on('col', categorical())**3",
            "Gaussian (gamma 1) on 2 numbers \N{MULTIPLICATION SIGN} (same or different on col) to the power of 3",
        ),
        (
            "0.2*(on(['a', 'b'], linear()) + on('c', categorical())) + rbf(gamma=1)",
            "0.2 \N{MULTIPLICATION SIGN} (linear on a and b + same or different on c) + Gaussian (gamma 1)",
        ),
        ("(linear() + rbf(gamma=1))**2", "(linear + Gaussian (gamma 1)) to the power of 2"),
        ("0.5*linear()", "0.5 \N{MULTIPLICATION SIGN} linear"),
        ("normalise(spectrum(p=4))", "substrings of 4"),
        ("normalise(vector_space(weighting='smooth-tf-idf', ngrams=(1, 2)))", "words and phrases of up to 2 (tf-idf)"),
        ("something(odd=1)", "something(odd=1)"),
        ("on(", "on("),
    ],
)
def test_kernels_have_names(text, name):
    assert named(text) == name


def test_eigenvalues_are_drawn_from_the_first_on(hostile):
    drawn = matrix(hostile)
    points = [tuple(map(float, one.split(","))) for one in re.search(r'points="([^"]+)"', drawn)[1].split()]
    left, top, _, right = map(float, re.search(r'd="M([\d.]+) ([\d.]+)V([\d.]+)H([\d.]+)"', drawn).groups())
    assert points[0] == pytest.approx((left, top), abs=0.1)
    assert points[-1][0] == pytest.approx(right, abs=0.1)


def test_neighbours_are_near_by_the_distance_of_the_kernel():
    # By inner products alone, or with too much of them, the longest object would be the nearest of all.
    x = np.concatenate([np.linspace(-3, 3, 29), [40.0]])
    y = np.where(np.arange(30) % 2, "odd", "even")
    data = Data(
        "n.csv", "csv", "table", {"x": Column("x", NUMBER, x)}, y, "y", ids=[f"r{place}" for place in range(30)]
    )
    found = fit(data, Plan(folds=2, kernel="linear", C=1.0))
    support = np.asarray(found.support)
    row = int(support[(support > 2) & (support < 12)][0])
    apart = [np.inf if one == row else abs(x[one] - x[row]) for one in support]
    near = [f"r{support[place]}" for place in np.argsort(np.round(apart, 9), kind="stable")]
    named = [text.split(" ")[0] for text in _neighbours(found, np.array([row]))[0].split(", ")]
    assert set(named[:2]) == set(near[:2])  # on both sides, where the longer ones would all be on one


def test_columns_of_figures_stand_on_the_right():
    text = table(
        ("score", "gap", "kernel"), [("0.91 ± 0.02", "1.5e-3", "rbf"), ("-", "", "linear"), ("85 %", "2 s", "3")]
    )
    assert re.findall(r"<th[^>]*?(class=n)?>(\w+)</th>", text) == [
        ("class=n", "score"),
        ("class=n", "gap"),
        ("", "kernel"),
    ]


@pytest.mark.parametrize("width", [7, 8, 9])
def test_rows_of_numbers_are_cut_after_eight(width):
    told = described(Data("a.npy", "npy", "vectors", np.arange(2.0 * width).reshape(2, width)), 1)
    assert told.endswith(" ...") == (width > 8)
    assert [float(part) for part in told.removesuffix(" ...").split(", ")] == list(range(width, width + min(width, 8)))


def test_of_many_classes_the_commonest_mistakes_are_listed():
    random = np.random.default_rng(0)
    truth = random.integers(60, size=2000)
    said = np.where(random.random(2000) < 0.5, truth, truth // 7)
    best = SimpleNamespace(predicted=said, decisions=None)
    problem = SimpleNamespace(y=truth, task="classification")
    text = errors(SimpleNamespace(problem=problem, search=SimpleNamespace(rows=np.arange(2000), best=best)))
    counts = Counter((str(a), str(b)) for a, b in zip(truth.tolist(), said.tolist(), strict=True) if a != b)
    assert re.findall(r"<th[^>]*>(\w+)</th>", text) == ["truth", "predicted", "times"]
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", text)
    listed = [(a, b, int(times)) for a, b, times in zip(*[iter(cells)] * 3, strict=True)]
    assert [times for *_, times in listed] == [times for _, times in counts.most_common(10)]
    assert all(counts[a, b] == times for a, b, times in listed)
