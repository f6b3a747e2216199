"""Audits and comparisons to make pages of, and what is in a page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from html.parser import HTMLParser
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

import incrowd as ic
from incrowd.auditing.audit import Audit
from incrowd.planning.compare import Comparison, Outcome

ODD = '<b title="x">a & b</b>'
"""A column's name that would be markup if it were not escaped."""

_EMPTY = {"meta", "br", "hr"}


@cache
def audits() -> dict[str, Audit]:
    """Return an audit of every form, and of a release that protects nobody."""
    rng = np.random.default_rng(4)
    rows = 400
    age = rng.integers(18, 80, size=rows)
    frame = pl.DataFrame(
        {
            "age": age,
            ODD: rng.choice(["</script><script>alert(1)</script>", "plain", '"quoted" & <odd>'], size=rows),
            "a very long name of a column that goes on": rng.choice(list("abcdef"), size=rows),
            "ill": np.where(rng.random(rows) < age / 200, "heart", rng.choice(["flu", "cold"], size=rows)),
        }
    )
    names = [name for name in frame.columns if name != "ill"]
    table = ic.read(frame, quasi=names, sensitive=["ill"])
    ways: dict[str, tuple[Any, Any]] = {
        "generalized": ([ic.KAnonymity(5)], ic.Mondrian()),
        "weak": ([ic.KAnonymity(1)], ic.Mondrian(labels="tight")),
        "bucketized": ([ic.ProbabilisticLDiversity(2)], ic.Anatomy()),
        "sliced": ([ic.SlicedDiversity(2)], ic.Slicing()),
    }
    return {
        name: ic.publish(table, models, method=method, seed=0).audit(learn=name == "generalized")
        for name, (models, method) in ways.items()
    }


def with_many_columns(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return an audit of as many columns as pages show, with names that are long and have no spaces."""
    useful = data["usefulness"]
    names = [f"a_column_whose_name_is_very_long_and_has_no_space_number_{place}" for place in range(12)]
    columns = [{**useful["columns"][0], "column": name} for name in names]
    pairs = [{**useful["pairs"][0], "one": one, "two": two} for one, two in combinations(names, 2)]
    attacks = [{**risk, **({"column": names[0]} if "column" in risk else {})} for risk in data["attacks"]]
    published = {**data["published"], "files": [
        {"name": f"{names[0]}.csv", "bytes": 12345678.0, "changed on": "2026-01-01", "sha256": "0123456789abcdef" * 4},
        {"name": "recipe.toml", "bytes": 321.0, "changed on": "2026-01-01", "sha256": "f" * 64},
    ]}  # fmt: skip
    return {
        **data,
        "attacks": attacks,
        "published": published,
        "usefulness": {**useful, "columns": columns, "pairs": pairs},
    }


def comparison() -> Comparison:
    """Return a comparison of invented outcomes, with a failure, ties and a very long name."""
    rng = np.random.default_rng(5)
    forms = ["generalized", "sliced", "bucketized", "noisy counts", "multisets"]
    outcomes = [
        Outcome(
            name=f"method-{place}: k-anonymity k={place} and a rather long description of what is asked for",
            method=f"method-{place}",
            form=forms[place % len(forms)],
            promises=(f"{place}-anonymity: verified on what is published",),
            rows=1000 - place,
            withheld=None if place % 2 else place,
            risks={"singling out": float(rng.random()), "linkability": 0.25, "inference": float(rng.random())},
            losses={"queries": float(rng.random()), "columns": float(rng.random()) / 10, "pairs": 0.5, "learning": 0.1},
            strongest="background-knowledge",
            seconds=0.125 * place,
        )
        for place in range(9)
    ]
    failed = Outcome("mondrian <b>", "", "", (), 0, None, {}, {}, "", 0.0, failed="cannot be had: 1 < 2 & so on.")
    return Comparison((*outcomes, failed))


def numbers_of(data: Any) -> Iterator[float]:
    """Yield every number of nested lists and dicts."""
    if isinstance(data, bool) or data is None or isinstance(data, str):
        return
    if isinstance(data, (int, float)):
        yield float(data)
        return
    for item in data.values() if isinstance(data, dict) else data:
        yield from numbers_of(item)


class Page(HTMLParser):
    """A page taken apart: its elements with attributes, its text, and the JSON that it carries."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self._carried: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    @property
    def data(self) -> Any:
        """The JSON that the page carries."""
        return json.loads("".join(self._carried), parse_constant=lambda name: (_ for _ in ()).throw(ValueError(name)))

    def values(self) -> list[str]:
        """Return every exact value on the page."""
        return [given["data-value"] or "" for _, given in self.elements if "data-value" in given]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        self.elements.append((tag, dict(attrs)))
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the element that was opened last, and no other."""
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1] == tag, f"</{tag}> closes <{self._open[-1]}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        """Keep text, and what the script element carries."""
        inside = self._open[-1] if self._open else ""
        (self._carried if inside == "script" else self.text).append(data)
