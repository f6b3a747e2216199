"""What a column holds, judged by the look of its values and by its name together.

Values are looked at as distinct ones, at most ten thousand (see `survey`), with a few regular expressions each.
"""

from __future__ import annotations

from typing import Literal

import polars as pl

from incrowd.common.records import dataclass
from incrowd.planning.profile.column_names import concept_of_label, concept_of_name, words_of
from incrowd.planning.profile.facts import ColumnFacts
from incrowd.planning.profile.vocabulary import BY_KEY, EVENT_DATE, PERSON_NAME, PERSON_WORDS, Concept

MOST_MATCH = 0.9
"""Share of the distinct values that must look alike; the rest are slips, or ways of saying that there is none."""

_NEAR_UNIQUE = 0.5
_FEW_ROWS = 20


@dataclass(frozen=True)
class Shape:
    """A look that values can have, and the concept that it stands for."""

    says: str
    concept: str
    pattern: str


_BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"

SHAPES = (
    Shape("e-mail addresses", "email", r"^[^@\s]+@[^@\s]+\.[^@\s.]+$"),
    Shape("web addresses", "url", r"^(?i)(?:(?:https?|ftp)://|www\.)\S+$"),
    Shape("network addresses", "network", rf"^(?:{_BYTE}\.){{3}}{_BYTE}(?:/\d+)?$"),
    Shape("network addresses", "network", r"^(?i)(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}$"),
    Shape("network addresses", "network", r"^(?i)[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){3,7}$"),
    Shape("UUIDs", "person id", r"^(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$"),
    Shape("hashes", "person id", r"^(?i)(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$"),
    Shape("bank accounts (IBAN)", "official number", r"^[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?$"),
    Shape("social security numbers", "official number", r"^\d{3}-\d{2}-\d{4}$"),
    Shape("card numbers", "official number", r"^\d{4}([ -]?)\d{4}[ -]?\d{4}[ -]?\d{4}$"),
    Shape("points on the map", "coordinate", r"^\(?-?\d{1,2}\.\d+\s*[,;]\s*-?\d{1,3}\.\d+\)?$"),
    Shape("dates", "event date", r"^\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})$|^\d{4}[./]\d{1,2}[./]\d{1,2}$"),
    Shape("months", "event date", r"^(?:19|20)\d{2}-(?:0[1-9]|1[0-2])$"),
)

# A telephone number has 7 to 15 digits and is written with something between them, or starts with + or (.
_PHONE_SIGNS = r"^\+?[\d\s()/.\-]{7,24}$"
_PHONE_START_OR_GAPS = r"^[+(]|\d[\s/.\-]\(?\d"
_YEARS = r"^\d{4}\s?[-/]\s?\d{4}$"
_PHONES_DIFFER = 0.2
_CODE = r"^[A-Za-z]{0,6}[-_ ./#]?[A-Za-z0-9]*\d[A-Za-z0-9]*(?:[-_./][A-Za-z0-9]+)*$"
_NAME_LIKE = r"^\p{Lu}[\p{L}'’.\-]*(?:,? (?:\p{Ll}{1,3} ){0,2}\p{Lu}[\p{L}'’.\-]*){1,3}$"
_POSTAL = r"^\d{5}(?:-\d{4})?$|^[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}$|^[A-Z]\d[A-Z] ?\d[A-Z]\d$|^\d{4} ?[A-Z]{2}$"


@dataclass(frozen=True)
class Finding:
    """What a column holds, and how that was found out."""

    concept: Concept
    by: Literal["name", "label", "values", "name and values", "label and values"]
    shape: str | None = None
    """What the values look like, in the plural."""

    @property
    def reason(self) -> str:
        """The finding in words."""
        if self.by == "values":
            return f"values look like {self.shape}"
        return f"{self.concept.says} (by {self.by})"


def recognise(facts: ColumnFacts) -> Finding | None:
    """Return what a column holds, or None where neither its name nor its values tell."""
    named, by = _told(facts)
    both: Literal["name and values", "label and values"] = "name and values" if by == "name" else "label and values"
    if facts.look == "date":
        birth = named is not None and named.key == "birth"
        return Finding(BY_KEY["birth"], both) if birth else Finding(EVENT_DATE, "values", "dates")
    shape = shape_of(facts)
    if shape is not None:
        concept = BY_KEY[shape.concept]
        if named is not None and (named.key == concept.key or (named.key, concept.key) == ("birth", "event date")):
            return Finding(named, both, shape.says)
        return Finding(concept, "values", shape.says)
    if named is not None and not _contradicted(named, facts):
        return Finding(named, by)
    if _match(facts.values, _POSTAL) and facts.distinct_share < _NEAR_UNIQUE:
        return Finding(BY_KEY["postal code"], "values", "postal codes")
    if _match(facts.values, _NAME_LIKE) and facts.rows >= _FEW_ROWS:
        if set(words_of(facts.name)) <= PERSON_WORDS:  # the owner of a house may own several
            return Finding(PERSON_NAME, "name and values", "names of people")
        if facts.distinct_share >= _NEAR_UNIQUE:
            return Finding(PERSON_NAME, "values", "names of people")
    return None


def _told(facts: ColumnFacts) -> tuple[Concept | None, Literal["name", "label"]]:
    """Return what a column holds by its name; by its label where the name does not tell, or the label asks for more."""
    named = concept_of_name(facts.name)
    if named is not None and named.key == "justice" and facts.look == "number":
        named = BY_KEY["money"]  # a charge of 1,250.40 is one of money
    labelled = None if facts.label is None else concept_of_label(facts.label)
    if labelled is None or _contradicted(labelled, facts):
        return named, "name"
    if named is None or (named.role == "quasi" and labelled.role in ("identifier", "sensitive", "weight")):
        return labelled, "label"
    return named, "name"


def shape_of(facts: ColumnFacts) -> Shape | None:
    """Return the unmistakable look that almost all values have."""
    if facts.values.dtype != pl.String or not len(facts.values):
        return None
    if facts.look == "text":
        for shape in SHAPES:
            if _match(facts.values, shape.pattern):
                return shape
        differ = facts.rows < _FEW_ROWS or facts.distinct_share >= _PHONES_DIFFER
        if differ and looks_like_phones(facts.values):
            return Shape("telephone numbers", "phone", "")
    return None


def looks_like_phones(values: pl.Series) -> bool:
    """Tell telephone numbers from other things that have many digits."""
    signs = values.str.contains(_PHONE_SIGNS) & values.str.contains(_PHONE_START_OR_GAPS)
    digits = values.str.count_matches(r"\d")
    written = signs & digits.is_between(7, 15) & ~values.str.contains(_POSTAL) & ~values.str.contains(_YEARS)
    return bool(written.mean() >= MOST_MATCH)  # type: ignore[operator]


def looks_like_codes(values: pl.Series) -> bool:
    """Tell whether almost all values are codes such as P-004217."""
    return _match(values, _CODE)


def looks_like_free_text(facts: ColumnFacts) -> bool:
    """Tell whether the values are sentences: long, many spaces, hardly one twice."""
    if facts.values.dtype != pl.String or not len(facts.values):
        return False
    length = float(facts.values.str.len_chars().mean() or 0)  # type: ignore[arg-type]
    spaces = float(facts.values.str.count_matches(r"\s").mean() or 0)  # type: ignore[arg-type]
    return length >= 40 and spaces >= 4 and facts.distinct_share >= _NEAR_UNIQUE


def _match(values: pl.Series, pattern: str) -> bool:
    if values.dtype != pl.String or not len(values):
        return False
    return bool(values.str.contains(pattern).mean() >= MOST_MATCH)  # type: ignore[operator]


def _contradicted(concept: Concept, facts: ColumnFacts) -> bool:
    """Tell whether the values cannot be what the name says: yes and no are no e-mail addresses."""
    few = facts.rows >= _FEW_ROWS and facts.distinct <= 2
    match concept.key:
        case "email" | "url" | "network" | "free text":
            return facts.look != "text" or few
        case "phone" | "address" | "official number" | "person name" | "person id":
            return facts.look == "truth" or few
        case "postal code":
            return facts.look not in ("integer", "text")
        case "age":
            beyond = facts.is_numeric and facts.high is not None and facts.low is not None
            return bool(beyond and (facts.low < 0 or facts.high > 150))  # type: ignore[operator]
        case "coordinate":
            beyond = facts.is_numeric and facts.high is not None and facts.low is not None
            return not beyond or facts.low < -180 or facts.high > 180  # type: ignore[operator]
        case "some id":
            return facts.rows >= _FEW_ROWS and facts.distinct_share < _NEAR_UNIQUE
        case "survey weight":
            return not facts.is_numeric
        case _:
            return False
