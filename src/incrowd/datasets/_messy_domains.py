"""Raw material of the messy hospital table: names, places, diagnoses and what people write in a notes field.

All of it is made up; phone numbers and mail addresses are from the ranges that are reserved for examples.
"""

from __future__ import annotations

from typing import NamedTuple

AGE_BAND_STARTS = (0, 15, 30, 50, 70)
"""First year of the age bands over which a diagnosis has its weights."""


class Diagnosis(NamedTuple):
    """A diagnosis: how common it is in each age band, and among women and men."""

    name: str
    by_age_band: tuple[float, float, float, float, float]
    women: float = 1.0
    men: float = 1.0


DIAGNOSES = (
    Diagnosis("Hypertension", (0.0, 6, 40, 110, 130)),
    Diagnosis("Type 2 diabetes", (0.0, 3, 20, 70, 80)),
    Diagnosis("Influenza", (70, 40, 30, 30, 40)),
    Diagnosis("Pneumonia", (30, 12, 15, 30, 75)),
    Diagnosis("Asthma", (70, 45, 30, 20, 12)),
    Diagnosis("Back pain", (1, 30, 70, 70, 40)),
    Diagnosis("Depression", (2, 50, 50, 35, 20), women=1.5),
    Diagnosis("Anxiety disorder", (3, 50, 40, 25, 10), women=1.5),
    Diagnosis("Fracture", (50, 40, 25, 30, 65)),
    Diagnosis("Appendicitis", (25, 35, 18, 8, 3)),
    Diagnosis("Gastritis", (8, 25, 30, 25, 15)),
    Diagnosis("Migraine", (4, 30, 35, 15, 4), women=2.5),
    Diagnosis("Anemia", (8, 15, 15, 12, 18), women=1.8),
    Diagnosis("Myocardial infarction", (0.0, 0.5, 8, 40, 50), men=1.8),
    Diagnosis("Stroke", (0.2, 0.5, 4, 20, 55)),
    Diagnosis("Heart failure", (0.2, 0.4, 3, 20, 70)),
    Diagnosis("Childbirth", (0.0, 90, 70, 0.0, 0.0), men=0.0),
    Diagnosis("Breast cancer", (0.0, 0.5, 12, 22, 18), men=0.01),
    Diagnosis("Prostate cancer", (0.0, 0.0, 1, 25, 40), women=0.0),
    Diagnosis("Lung cancer", (0.0, 0.2, 2, 15, 20)),
    Diagnosis("Epilepsy", (8, 5, 4, 4, 5)),
    Diagnosis("Hepatitis C", (0.1, 2, 4, 5, 2)),
    Diagnosis("HIV", (0.1, 3, 4, 2, 0.5), men=2.0),
    Diagnosis("Multiple sclerosis", (0.1, 2, 3, 1.5, 0.5), women=2.0),
    Diagnosis("Huntington's disease", (0.05, 0.2, 0.6, 0.5, 0.2)),
)

GIVEN_NAMES = {
    "F": ("Anna", "Beatriz", "Chloé", "Dilnoza", "Eva", "Fatima", "Grace", "Hye-jin", "Ingrid", "Zoë"),
    "M": ("Adam", "Björn", "Carlos", "Dmitri", "Emeka", "Finn", "Giorgos", "Hiro", "José", "Łukasz"),
}

FAMILY_NAMES = (
    "Andersen",
    "Brown",
    "D'Angelo",
    "de la Cruz",
    "García",
    "Ivanova",
    "Kim",
    "Martin",
    "Müller",
    "Nguyễn",
    "O'Brien",
    "Okafor",
    "Patel",
    "Smith",
    "Tanaka",
    "Weiß-Schmidt",
    "Yılmaz",
    "Zając",
    "李",
    "Øst",
)

# The leading zeros are the point: read as numbers, these codes lose them.
ZIP_PREFIXES = ("0012", "0090", "0213", "0217", "0601", "0795", "1000", "1123", "4790", "6063", "9021")

NOTES = (
    "",
    "no remarks",
    "fasting, then bloods; see chart",
    'patient says "never again"',
    "allergic to penicillin, latex; carries an EpiPen",
    "first line\nsecond line",
    "kärntner straße 5, wants café au lait ☕",
    "temp 38,5 °C; BP 130/85",
    "=SUM(A1:A9)",
    '"quoted, comma" and; semicolon\r\nand a line break',
    "  leading and trailing spaces  ",
    "患者は元気です",
    "NULL",
    "tab\there",
)
