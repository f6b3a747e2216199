"""Build the site: `python -m docs.making`, or `make docs`. It works offline; a warning is an error, and so is a broken link.

Where there is Chromium, a few words are searched for in what was built, as files.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES, SITE = ROOT / "build" / "pages", ROOT / "build" / "site"


def main(pages: Path = PAGES, site: Path = SITE) -> int:
    """Write the pages, let Sphinx make a site of them, and follow its links; return 1 if anything is wrong."""
    started = time.process_time()
    _as_on_paper()
    for old in (pages, site):
        shutil.rmtree(old, ignore_errors=True)
    from docs.making.site import write_pages

    with tempfile.TemporaryDirectory(prefix="incrowd-docs-") as place:
        number = write_pages(pages, Path(place))
    from sphinx.cmd.build import build_main

    code = build_main(
        ["-W", "--keep-going", "-q", "-E", "-b", "html", "-c", str(Path(__file__).parent), str(pages), str(site)]
    )
    if code:
        return code
    from docs.making import links, plainness, searching

    found = [*links.faults(site), *plainness.faults(site)]
    program = searching.browser()
    if program is None:
        print("There is no Chromium here: nothing was searched for (scripts/components chromium)", file=sys.stderr)
    else:
        found += searching.faults(site, program)
    for fault in found:
        print(fault, file=sys.stderr)
    if not found:
        took = time.process_time() - started
        print(
            f"{number} pages, all links are there, {'' if program is None else 'search works, '}{took:.0f} s of CPU: {site / 'index.html'}"
        )
    return 1 if found else 0


def _as_on_paper() -> None:
    """Let what is printed look the same everywhere: no colours, lines of 100 characters."""
    import os

    os.environ |= {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100", "POLARS_FMT_MAX_COLS": "8"}
    os.environ.pop("FORCE_COLOR", None)


if __name__ == "__main__":
    sys.exit(main())
