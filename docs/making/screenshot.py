"""The picture of an audit in README: `python -m docs.making.screenshot` makes it again. It takes Chromium."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import incrowd as ic

PICTURE = Path(__file__).parents[1] / "audit.png"
SIZE = (1000, 620)


def main() -> int:
    """Audit a release of made-up people, and take a picture of the top of the page."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print("There is no Chromium here: scripts/components chromium", file=sys.stderr)
        return 3
    people = ic.datasets.census(3000, seed=1)
    hierarchies = {"age": ic.Intervals(widths=(5, 10, 20), lower=0, upper=100)}
    quasi = ["age", "sex", "education", "marital"]
    table = ic.read(people, quasi=quasi, sensitive=["occupation"], others="drop", hierarchies=hierarchies)
    release = ic.publish(table, [ic.KAnonymity(5), ic.LDiversity(3)])
    with tempfile.TemporaryDirectory() as folder:
        page = release.audit(learn=False, seed=1).save(Path(folder) / "audit.html")
        subprocess.run(
            [
                browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
                "--disable-background-networking", f"--user-data-dir={folder}/browser",
                f"--window-size={SIZE[0]},{SIZE[1]}", f"--screenshot={PICTURE}", Path(page).as_uri(),
            ],
            check=True, capture_output=True,
        )  # fmt: skip
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
