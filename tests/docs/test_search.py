"""That search does not work is noticed: in a page whose script writes the results, or does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.making import searching

PAGE = """<div id="search-results"><ul></ul></div><script>
const word = new URLSearchParams(location.search).get("q");
document.querySelector("ul").innerHTML = "<li><a href='a%20page.html#here'>a page</a></li>";
if (word === "bad") { document.querySelector("a").href = "gone.html"; fetch("a page.html"); }
</script>"""


@pytest.fixture
def program() -> str:
    found = searching.browser()
    if found is None:
        pytest.skip("there is no Chromium here; scripts/components chromium installs one")
    return found


def test_what_search_does_not_find_is_told(program: str, tmp_path: Path) -> None:
    (tmp_path / "search.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "a page.html").touch()
    assert list(searching.faults(tmp_path, program, {"good": "a page.html"})) == []
    lacking, gone, refused = searching.faults(tmp_path, program, {"bad": "a page.html"})
    assert lacking == "searching for “bad” does not find a page.html, but ['gone.html']"
    assert gone == "searching for “bad” leads to gone.html, which is not there"
    assert "the browser refuses" in refused
