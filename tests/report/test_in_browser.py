"""Pages in a real browser: wide and narrow, light and dark, and without the network."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from incrowd.report import page
from tests.report.headless import BEGINS_EMPTY, Browser
from tests.report.report_cases import Page, audits, comparison, with_many_columns
from tests.studio.driven import Chromium, chromium
from tests.studio.driven import Page as Tab

WIDTHS = (360, 600, 768, 1280)
"""One below, between and above each of the widths at which `report/style.py` lays pages out in another way."""
_COLOURS = r"""
Object.fromEntries([...document.querySelectorAll("iframe")].map((frame) => {
  const style = getComputedStyle(frame.contentDocument.body);
  return [frame.id, { paper: style.backgroundColor, ink: style.color }];
}))
"""
_MEASURE = r"""
(() => {
const found = {};
for (const frame of document.querySelectorAll("iframe")) {
  const page = frame.contentDocument;
  for (const details of page.querySelectorAll("details")) details.open = true;
  const bar = page.querySelector(".bar, circle, rect");
  found[frame.id] = {
    window: page.documentElement.clientWidth, needed: page.documentElement.scrollWidth,
    bar: bar.getBoundingClientRect().width, height: page.documentElement.scrollHeight,
    clipped: [...page.querySelectorAll("main *:not(svg *)")].filter((it) => {
      const box = it.getBoundingClientRect();
      return box.width > 0 && (box.right > page.documentElement.clientWidth + 1 || box.left < -1);
    }).map((it) => it.tagName + "." + it.className),
    cut: [...page.querySelectorAll("main *:not(svg *)")].filter(
      (it) => it.scrollWidth > it.clientWidth + 1 && it.clientWidth > 0 && !(it.matches(".bar-track, .stack"))
    ).map((it) => it.tagName + "." + it.className),
    hidden: [...page.querySelectorAll("tbody td")].filter((it) => it.getBoundingClientRect().width < 1).length,
    broken: [...page.querySelectorAll("thead th")].filter((it) => {
      const range = page.createRange();
      range.selectNodeContents(it);
      const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size;
      return lines > it.textContent.trim().split(/\s+/).length;
    }).map((it) => it.textContent),
  };
}
return found;
})()
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    made = {name: audit.save(folder / f"{name}.html") for name, audit in audits().items()}
    data = audits()["generalized"].to_dict()
    wide = folder / "many columns.html"
    wide.write_text(page(with_many_columns(data)), encoding="utf-8")
    return {**made, "many columns": wide, "comparison": comparison().save(folder / "comparison.html")}


@pytest.fixture(scope="module")
def tabs(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """One browser that opens all pages, each in a tab of its own: to start it takes longer than to look."""
    with chromium(browser.program, tmp_path_factory.mktemp("tabs"), BEGINS_EMPTY) as program:
        yield program


def framed(tabs: Chromium, pages: dict[str, Path], place: Path, widths: Sequence[int] = WIDTHS) -> Tab:
    """Open all pages in frames of these widths: pages have no script of their own that could look at them."""
    frames = "".join(
        f'<iframe id="{name} {width}" style="border:0;width:{width}px;height:900px" '
        f'srcdoc="{html.escape(path.read_text(encoding="utf-8"))}"></iframe>'
        for name, path in pages.items()
        for width in widths
    )
    harness = place / "harness.html"
    harness.write_text(f'<!doctype html><meta charset="utf-8"><body>{frames}', encoding="utf-8")
    return tabs.page(harness.as_uri())


def test_pages_fit_every_window_in_light_and_dark(tabs: Chromium, pages: dict[str, Path], tmp_path: Path) -> None:
    tab = framed(tabs, pages, tmp_path)
    found = tab.run(_MEASURE)
    assert len(found) == len(pages) * len(WIDTHS)
    for name, seen in found.items():
        assert seen["needed"] <= seen["window"], f"{name} is wider than its window: {seen}"
        assert seen["clipped"] == [], f"{name}: beyond the window's edge"
        assert seen["cut"] == [], f"{name}: wider than its place, and so cut or to be scrolled"
        assert seen["hidden"] == 0, f"{name}: cells that are not shown"
        assert seen["broken"] == [], f"{name}: a column so narrow that words of its title are broken"
        assert seen["bar"] > 0, f"{name}: its first bar or point is not drawn"
        assert seen["height"] > 900
    # In light and dark nothing but colours differs.
    for dark in (False, True):
        tab.look(1280, dark=dark)
        colours = tab.run(_COLOURS)
        assert colours.keys() == found.keys()
        for name, seen in colours.items():
            paper, ink = (sum(map(int, re.findall(r"\d+", seen[part])[:3])) for part in ("paper", "ink"))
            assert (paper < 150 and ink > 550) if dark else (paper > 700 and ink < 150), (name, seen)
    tab.close()


PLANTED = {
    "wider than the window": ('<div style="width:2000px">wide</div>', "clipped"),
    "scrolled": ('<div style="width:100px;overflow:auto"><div style="width:300px">scrolled</div></div>', "cut"),
    "an ellipsis": (
        "<p style='white-space:nowrap;overflow:hidden;text-overflow:ellipsis'>" + "a name " * 400 + "</p>",
        "cut",
    ),
    "a hidden column": ("<table><tbody><tr><td style='display:none'>x</td></tr></tbody></table>", "hidden"),
}


def test_what_is_cut_or_hidden_is_found(tabs: Chromium, pages: dict[str, Path], tmp_path: Path) -> None:
    text = pages["weak"].read_text(encoding="utf-8")
    changed = {name: tmp_path / f"{name}.html" for name in PLANTED}
    for name, (planted, _) in PLANTED.items():
        changed[name].write_text(text.replace("<nav>", f"{planted}<nav>", 1), encoding="utf-8")
    ends = (WIDTHS[0], WIDTHS[-1])
    tab = framed(tabs, changed, tmp_path, ends)
    seen = tab.run(_MEASURE)
    tab.close()
    assert len(seen) == len(PLANTED) * len(ends)
    for place, found in seen.items():
        assert found[PLANTED[place.rsplit(" ", 1)[0]][1]], place


def test_the_browser_reads_what_was_written(tabs: Chromium, pages: dict[str, Path]) -> None:
    """What was parsed and written out again has the same elements: nothing was closed or moved by the browser."""
    for name, path in pages.items():
        tab = tabs.page(path.as_uri())
        seen = "<!DOCTYPE html>\n" + tab.run("document.documentElement.outerHTML")
        tab.close()
        written, read = Page(path.read_text(encoding="utf-8")), Page(seen)
        kinds = [[tag for tag, _ in page.elements] for page in (written, read)]
        assert kinds[0] == kinds[1], name
        sections = [[given["id"] for tag, given in page.elements if tag == "section"] for page in (written, read)]
        assert sections[0] == sections[1]
        assert read.data == written.data
        assert read.values() == written.values()


def test_no_request_leaves_and_one_would_be_seen(browser: Browser, pages: dict[str, Path], tmp_path: Path) -> None:
    """All pages in one browser, and one that asks for a picture: that is all that its log knows."""
    asks = tmp_path / "asks.html"
    asks.write_text('<!doctype html><body><img src="http://example.invalid/x.png">', encoding="utf-8")
    assert browser.requests([*pages.values(), asks], tmp_path / "net.log") == ["http://example.invalid/x.png"]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [420, 1280])
def test_screenshots(tabs: Chromium, pages: dict[str, Path], tmp_path: Path, width: int, dark: bool) -> None:
    """A picture of the asked width that is not one colour: an empty page of this size takes a few thousand bytes."""
    picture = tmp_path / "page.png"
    tab = tabs.page(pages["generalized"].as_uri(), width=width, height=1600, dark=dark)
    tab.picture(picture, whole=False)
    tab.close()
    data = picture.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(data[16:20], "big") >= width
    assert len(data) > 30_000
