"""The playground in a real browser: draw, drag, type, scrub, by mouse, touch and keyboard, narrow and dark."""

import re

import pytest

from tests.browser.accessible import serious_violations

pytest.importorskip("playwright.sync_api", reason="browser tests need playwright")
from playwright.sync_api import expect

XOR = "#/playground?kernel=rbf%28gamma%3D1%29&C=1&points=-60.-60.0_60.60.0_-60.60.1_60.-60.1"


def plane(page):
    return page.get_by_role("application", name=re.compile("Plane"))


def at(page, x, y):
    box = plane(page).bounding_box()
    return box["x"] + (x + 3) / 6 * box["width"], box["y"] + (3 - y) / 6 * box["height"]


def certificate(page):
    return page.get_by_role("region", name="Certificate")


@pytest.fixture
def page(open_page):
    found = open_page()
    expect(certificate(found)).to_contain_text("support vectors", timeout=240_000)
    return found


def go(page, route):
    """Follow a link to a state."""
    page.evaluate("hash => { location.hash = hash; }", route)


def test_draw_drag_and_remove(page):
    page.get_by_role("button", name="Clear").click()
    expect(certificate(page)).to_contain_text("Click the plane")
    page.mouse.click(*at(page, -1, 0))
    page.get_by_role("button", name="Class 2").click()
    page.mouse.click(*at(page, 1, 0))
    expect(certificate(page)).to_contain_text("2 of 2 points are support vectors")
    page.mouse.move(*at(page, 1, 0))
    page.mouse.down()
    page.mouse.move(*at(page, 1.5, 1), steps=5)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"150\.100\.1"))
    page.mouse.click(*at(page, 1.5, 1), button="right")
    expect(plane(page)).to_have_accessible_name("Plane with 1 points")
    page.get_by_role("button", name="Undo").click()
    expect(plane(page)).to_have_accessible_name("Plane with 2 points")


def test_a_kernel_is_typed_with_completion(page):
    box = page.get_by_role("combobox", name="Kernel")
    box.fill("")
    box.press_sequentially("lapl")
    option = page.get_by_role("option").first
    expect(option).to_contain_text("laplacian")
    box.press("Enter")
    expect(box).to_have_value("laplacian")
    box.press_sequentially("(ga")
    expect(page.get_by_role("option").first).to_contain_text("gamma=")
    box.press("Tab")
    box.press_sequentially("2)")
    expect(box).to_have_value("laplacian(gamma=2)")
    expect(page).to_have_url(re.compile(r"laplacian%28gamma%3D2%29"))
    expect(page.get_by_text("sum |x - z|")).to_have_count(0)


def test_a_wrong_kernel_is_marked_at_its_character(page):
    box = page.get_by_role("combobox", name="Kernel")
    box.fill("rbf(gama=1)")
    alert = page.get_by_role("alert").filter(has_text="no parameter 'gama'")
    expect(alert).to_be_visible()
    expect(alert.locator("mark")).to_have_text("g")
    expect(box).to_have_attribute("aria-invalid", "true")
    box.fill("rbf(gamma=1)")
    expect(alert).to_have_count(0)


def test_markup_in_a_kernel_stays_text(page):
    page.get_by_role("combobox", name="Kernel").fill("<img src=x onerror=alert(1)>")
    expect(page.get_by_role("alert").filter(has_text="no text form").locator("code")).to_contain_text("<img")
    assert page.locator("img[src='x']").count() == 0


def test_sliders_change_the_text_and_the_machine(page):
    go(page, XOR)
    expect(page.get_by_role("combobox", name="Kernel")).to_have_value("rbf(gamma=1)")
    slider = page.get_by_role("slider", name="gamma")
    slider.focus()
    slider.press("End")
    expect(page.get_by_role("combobox", name="Kernel")).to_have_value("rbf(gamma=100)")
    expect(page.get_by_text("Mostly diagonal")).to_be_visible()
    hard = page.get_by_role("slider", name="C", exact=True)
    hard.focus()
    hard.press("End")
    expect(page).to_have_url(re.compile("C=inf"))


def test_every_example_gives_a_picture(page):
    names = page.get_by_role("navigation", name="Examples").get_by_role("button").all_inner_texts()
    assert len(names) >= 10
    for name in names:
        page.get_by_role("navigation", name="Examples").get_by_role("button", name=name, exact=True).click()
        expect(page.get_by_role("region", name="Machine").get_by_role("heading", name=name)).to_be_visible()
        wanted = "No hyperplane" if name == "Inseparable" else "support vectors"
        expect(certificate(page)).to_contain_text(wanted)
        expect(page.get_by_role("alert").filter(has_text=re.compile("."))).to_have_count(0)


def test_linked_views(page):
    go(page, XOR)
    matrix = page.get_by_role("img", name=re.compile("Gram matrix of 4 points"))
    matrix.hover(position={"x": 100, "y": 200})
    expect(page.get_by_text(re.compile(r"k\(\d, \d\) ="))).to_be_visible()
    page.get_by_role("tab", name="Spectrum").click()
    expect(page.get_by_text("95 % of the length")).to_be_visible()
    page.get_by_role("tab", name="Kernel PCA").click()
    expect(page.get_by_text("of the variance in feature space")).to_be_visible()
    page.get_by_role("tab", name="Lift").click()
    turntable = page.get_by_role("application", name=re.compile("Rotatable"))
    before = turntable.screenshot()
    turntable.press("ArrowRight")
    assert turntable.screenshot() != before


def test_a_solver_plays_pauses_and_is_scrubbed(page):
    go(page, XOR)
    page.get_by_role("tab", name="Solvers").click()
    page.get_by_role("button", name="Gradient", exact=True).click()
    scrub = page.get_by_role("slider", name="Frame")
    expect(scrub).to_be_visible()
    expect(page.get_by_role("button", name="Play")).to_be_visible(timeout=20_000)  # it has played to its end
    expect(page.get_by_text("at best")).to_be_visible()
    scrub.fill("0")
    expect(page.get_by_text("step 0", exact=True)).to_be_visible()
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Pause").click()


def test_a_link_opens_the_same_state(page, open_page):
    page.get_by_role("navigation", name="Examples").get_by_role("button", name="Regression").click()
    page.get_by_role("tab", name="Spectrum").click()
    page.get_by_role("button", name="x² + y²").click()
    expect(page).to_have_url(re.compile("example=regression&view=square&panel=spectrum$"))
    link = page.url.partition("#")[2]
    other = open_page(link)
    expect(other.get_by_role("combobox", name="Kernel")).to_have_value("rbf(gamma=0.8)")
    expect(certificate(other)).to_contain_text("outside the tube")
    expect(other.get_by_role("tab", name="Spectrum")).to_have_attribute("aria-selected", "true")
    expect(other.get_by_role("button", name="x² + y²")).to_have_attribute("aria-pressed", "true")
    assert "token" not in other.url


def test_a_link_stops_a_film_at_its_frame(open_page):
    page = open_page("/playground?example=margin&panel=solvers&algorithm=gradient&frame=7")
    expect(page.get_by_role("slider", name="Frame")).to_have_value("7", timeout=240_000)
    page.get_by_role("button", name="One frame on").click()
    expect(page).to_have_url(re.compile("frame=8"))
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_a_machine_without_a_hard_margin_shows_its_proof(page):
    go(page, "#/playground?example=inseparable")
    expect(certificate(page)).to_contain_text("Proof that there is no hard margin")
    expect(certificate(page)).to_contain_text("the same point of feature space")


def test_the_python_shown_is_there_to_copy(page):
    go(page, XOR)
    page.get_by_text("Python that makes this picture").click()
    expect(page.get_by_text("model = SVC(kernel='rbf(gamma=1)', C=1.0")).to_be_visible()


def test_by_keyboard_alone(page):
    go(page, "#/play?points=&kernel=linear")
    expect(plane(page)).to_have_accessible_name("Plane with 0 points")
    plane(page).focus()
    for key in ("ArrowLeft", "Enter", "Escape", "ArrowRight", "ArrowRight", "ArrowRight", "2", "Enter"):
        page.keyboard.press(key)
    expect(plane(page)).to_have_accessible_name("Plane with 2 points")
    expect(certificate(page)).to_contain_text("2 of 2")
    page.keyboard.press("p")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("status").filter(has_text="Point 1 of 2")).to_have_count(1)
    page.keyboard.press("Delete")
    expect(plane(page)).to_have_accessible_name("Plane with 1 points")
    page.keyboard.press("Control+z")
    expect(plane(page)).to_have_accessible_name("Plane with 2 points")


def test_by_touch_on_a_narrow_screen(open_page):
    page = open_page("/play?points=&kernel=linear", width=360, height=740, touch=True)
    expect(certificate(page)).to_contain_text("Click the plane")
    box = plane(page).bounding_box()
    assert box["width"] > 300
    page.touchscreen.tap(box["x"] + 60, box["y"] + 60)
    expect(plane(page)).to_have_accessible_name("Plane with 1 points")
    page.wait_for_timeout(400)  # else the next touch is a double tap
    start, end = (box["x"] + 60, box["y"] + 60), (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    touch = page.context.new_cdp_session(page)
    for kind, share in (("Start", 0.0), *(("Move", step / 6) for step in range(1, 7))):
        x, y = (a + share * (b - a) for a, b in zip(start, end, strict=True))
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": [{"x": x, "y": y}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(page).to_have_url(re.compile(r"points=-?[0-3]\.-?[0-3]\.0$"))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert serious_violations(page) == []


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_keeps_anybody_out(open_page, dark):
    page = open_page(dark=dark)
    expect(certificate(page)).to_contain_text("support vectors", timeout=240_000)
    assert serious_violations(page) == []
    page.get_by_role("tab", name="Solvers").click()
    expect(page.get_by_role("slider", name="Frame")).to_be_visible()
    page.get_by_text("Points as a table").click()
    page.get_by_role("combobox", name="Kernel").fill("rbf(")
    expect(page.get_by_role("alert").filter(has_text="never closed")).to_be_visible()
    assert serious_violations(page) == []


def test_a_page_without_its_token_says_so(open_page, address):
    page = open_page()
    page.evaluate("localStorage.clear()")
    page.goto(address.partition("#")[0])
    expect(page.get_by_role("alert")).to_contain_text("does not know its token")
