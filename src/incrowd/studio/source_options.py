"""How a table may be read: which options there are for a kind of source, and what a page needs to offer them."""

from __future__ import annotations

from typing import Any

from incrowd.core.source import OpenedTable, ReadOptions
from incrowd.studio.refusing import Refused

_TEXT_FILES = ("separator", "quote", "encoding", "decimal", "header", "missing", "exact_text")
_OF_KIND = {
    "csv": _TEXT_FILES,
    "excel": ("sheet", "header_row", "missing", "exact_text"),
    "spss": ("value_labels", "missing_codes", "missing", "exact_text"),
    "stata": ("value_labels", "missing", "exact_text"),
    "sas": ("value_labels", "missing", "exact_text"),
    "sqlite": ("query", "missing", "exact_text"),
    "duckdb": ("query", "missing", "exact_text"),
    "postgresql": ("query", "missing", "exact_text"),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "separator": {
        "kind": "choice",
        "choices": [",", ";", "\t", "|"],
        "free": True,
        "about": "what stands between the cells",
    },
    "quote": {"kind": "choice", "choices": ['"', "'", ""], "free": True, "about": "what stands around a cell"},
    "encoding": {
        "kind": "choice",
        "choices": ["utf-8", "cp1252", "latin-1", "utf-16"],
        "free": True,
        "about": "how letters are written as bytes",
    },
    "decimal": {"kind": "choice", "choices": [".", ","], "free": False, "about": "the decimal sign of its numbers"},
    "header": {"kind": "truth", "choices": None, "free": False, "about": "whether the first line names the columns"},
    "missing": {"kind": "list", "choices": ["?", "NA", "N/A", "-"], "free": True, "about": "texts that mean missing"},
    "exact_text": {
        "kind": "truth",
        "choices": None,
        "free": False,
        "about": "tell texts apart that differ in spaces around them, or in Unicode",
    },
    "query": {"kind": "text", "choices": None, "free": True, "about": "a SELECT, or a table's name"},
    "sheet": {"kind": "text", "choices": None, "free": True, "about": "the sheet of a workbook, by name or number"},
    "header_row": {"kind": "whole", "choices": None, "free": True, "about": "the row that names the columns"},
    "value_labels": {
        "kind": "choice",
        "choices": ["text", "codes"],
        "free": False,
        "about": "how values with labels are shown",
    },
    "missing_codes": {
        "kind": "choice",
        "choices": ["missing", "values"],
        "free": False,
        "about": "what SPSS' codes for missing are",
    },
    "written": {
        "kind": "table",
        "choices": None,
        "free": True,
        "about": "how numbers and dates are written, by column",
    },
}


def as_read_options(options: dict[str, Any]) -> ReadOptions:
    """Return options as the library takes them; an option that is not known is refused."""
    unknown = [name for name in options if name not in OPTIONS]
    if unknown:
        raise Refused(400, "there is no such option of reading.", hint=f"they are {', '.join(OPTIONS)}")
    return ReadOptions(**{name: value for name, value in options.items() if value is not None})


def shown_options(kind: str, opened: OpenedTable, stated: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the options that mean something for a kind of source, each with its value."""
    found = []
    for name in (*_OF_KIND.get(kind, ("missing", "exact_text")), *(["written"] if kind == "csv" else [])):
        value = opened.description.get(name, stated.get(name))
        found.append({"name": name, "value": value, "found_out": name in opened.found_out, **OPTIONS[name]})
    return found
