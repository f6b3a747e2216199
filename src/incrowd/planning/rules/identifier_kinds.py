"""The eighteen kinds of identifiers of HIPAA's Safe Harbor, 45 CFR 164.514(b)(2)(i), (A) to (R), and which one a column
is.
"""

from __future__ import annotations

from incrowd.planning.profile.column_names import words_of
from incrowd.planning.profile.column_profile import ColumnProfile

KINDS = {
    "A": "names",
    "B": "places smaller than a state",
    "C": "parts of dates other than the year, and ages over 89",
    "D": "telephone numbers",
    "E": "fax numbers",
    "F": "e-mail addresses",
    "G": "social security numbers",
    "H": "medical record numbers",
    "I": "health plan beneficiary numbers",
    "J": "account numbers",
    "K": "certificate and license numbers",
    "L": "vehicle identifiers and license plates",
    "M": "device identifiers and serial numbers",
    "N": "web addresses (URLs)",
    "O": "network addresses (IP)",
    "P": "biometric identifiers",
    "Q": "full-face photographs and the like",
    "R": "any other unique number, characteristic or code",
}
_BY_CONCEPT = {
    "person name": "A",
    "address": "B",
    "postal code": "B",
    "coordinate": "B",
    "place": "B",
    "origin": "B",
    "birth": "C",
    "event date": "C",
    "age": "C",
    "phone": "D",
    "email": "F",
    "url": "N",
    "network": "O",
}
_BY_WORD = (
    ("E", ("fax", "faxnummer", "telefax")),
    ("G", ("ssn", "social")),
    ("H", ("mrn", "medical", "record", "chart")),
    ("L", ("plate", "vin", "vehicle", "kennzeichen")),
    ("I", ("insurance", "policy", "beneficiary", "health", "plan", "subscriber", "medicare", "medicaid")),
    ("J", ("account", "iban", "bank", "card", "credit", "konto", "kontonummer")),
    ("K", ("license", "licence", "certificate", "passport", "driver", "drivers")),
    ("M", ("device", "imei", "serial", "implant")),
    ("P", ("biometric", "biometrics", "fingerprint", "fingerprints", "voice", "retina")),
    ("Q", ("photo", "photograph", "foto", "image", "picture")),
)
"""The first line with a word of the column's name wins: a license plate is no license."""
_VAGUE = ("official number", "person id", "some id", "phone", None)


def kind_of(column: ColumnProfile) -> str:
    """Return the letter of the kind that an identifier is; R, any other, where its name says no more."""
    if column.concept in _VAGUE:
        words = set(words_of(column.name))
        for letter, names in _BY_WORD:
            if words & set(names):
                return letter
        if "social security" in column.reason:
            return "G"
    return _BY_CONCEPT.get(column.concept or "", "R")


def named(letter: str) -> str:
    """Return a kind as comments name it.

    >>> named("A")
    'kind (A), names'
    """
    return f"kind ({letter}), {KINDS[letter]}"
