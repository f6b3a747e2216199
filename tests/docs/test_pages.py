"""Every part has a page, every public name is in the reference, and a broken page is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

import incrowd as ic
from docs.making import parts, plainness, reference
from docs.making.links import faults
from docs.making.running import Page, PageError, followed
from docs.making.site import DOCS, RUN_HERE


@pytest.mark.parametrize("family", parts.FAMILIES)
def test_every_part_has_a_text(family: str) -> None:
    assert set(parts.texts(family)) == set(parts.members(family))


def test_a_part_without_a_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {**parts.members("forms"), "new form": ic.ShowBuckets}
    monkeypatch.setattr(parts, "members", lambda family: known)
    parts.texts.cache_clear()
    with pytest.raises(parts.MissingText, match="new form"):
        parts.texts("forms")
    parts.texts.cache_clear()


def test_every_public_name_is_in_the_reference() -> None:
    text = "\n".join(text for _, text in reference.pages())
    missing = [name for name in ic.__all__ if f"\n## {name}\n" not in text]
    assert sorted(missing) == ["datasets", "errors"], "modules have pages of their own"


def test_a_page_is_made_by_running_its_part(tmp_path: Path) -> None:
    text = parts.page("models", "k-anonymity", ic.KAnonymity, tmp_path)
    assert "5-anonymity (verified; achieved 5)" in text
    assert text.count('class="group bad"') == 1, "of six groups, the one of two people fails"


def test_what_a_page_shows_is_run(tmp_path: Path) -> None:
    text = followed("```python\nprint(6 * 7)\n```\n", Page("a page", tmp_path))
    assert "\n42\n```" in text
    with pytest.raises(PageError, match="ZeroDivisionError"):
        followed("```python\n1 / 0\n```\n", Page("a page", tmp_path))
    with pytest.raises(PageError, match="ends in 3"):
        followed("```shell\nincrowd publish nowhere.toml\n```\n", Page("a page", tmp_path))


def test_broken_links_and_what_is_loaded_from_elsewhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "other.html").write_text('<p id="here">', encoding="utf-8")
    (tmp_path / "index.html").write_text(
        '<a href="other.html#here"></a><a href="other.html#gone"></a><a href="no.html"></a>'
        '<script src="https://cdn.example/x.js"></script>',
        encoding="utf-8",
    )
    assert [fault.split(" ", 2)[1] for fault in faults(tmp_path)] == ["loads", "links", "links"]


def test_long_pages_that_show_nothing_are_found(tmp_path: Path) -> None:
    many = "word " * (plainness.MOST_WORDS + 1)
    shown = {"code": f"{many}<pre>1</pre>", "drawn": f'<svg class="picture"/>{many}', "icon": f"<svg/>{many}"}
    for name, text in {"long": many, "short": "word", **shown}.items():
        (tmp_path / f"{name}.html").write_text(f"<nav><img>{many}</nav><article>{text}</article>", encoding="utf-8")
    assert [fault.split(".")[0] for fault in plainness.faults(tmp_path)] == ["icon", "long"]


@pytest.mark.parametrize(
    "path", [path for folder in RUN_HERE for path in sorted((DOCS / folder).glob("*.md"))], ids=lambda path: path.stem
)
def test_a_guide_can_be_followed_to_the_letter(path: Path, tmp_path: Path) -> None:
    assert "printed" in followed(path.read_text(encoding="utf-8"), Page(path.name, tmp_path))
