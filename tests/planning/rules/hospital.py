"""A made-up hospital of the USA, with all that a rule has to look for."""

from __future__ import annotations

import random

import polars as pl

ROWS = 800
ZIPS = ("03601", "10115", "94110", "60601", "75201", "02139", "89001", "89301")  # 036, 890 and 893 are sparse areas
NAMES = ("Ada", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal"), ("Young", "Stone", "Rivers", "Field", "Marsh", "Hill")
DISEASES = ("flu", "asthma", "diabetes", "angina", "gastritis")


def hospital(rows: int = ROWS) -> pl.DataFrame:
    """Return a table with the same rows every time; the first person is 91, the second lives in 03601."""
    chance = random.Random(7)
    made = []
    for number in range(rows):
        age = 91 if number == 0 else chance.randint(18, 96)
        day = f"{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
        name = f"{chance.choice(NAMES[0])} {chance.choice(NAMES[1])}"
        made.append(
            {
                "name": name,
                "ssn": f"{100 + number % 800}-{10 + number % 89}-{1000 + number}",
                "mrn": f"MRN{100000 + number}",
                "phone": f"+1 212 555 {1000 + number}",
                "fax": f"+1 212 556 {1000 + number}",
                "email": f"p{number}@example.org",
                "zip": ZIPS[0] if number == 1 else chance.choice(ZIPS),
                "city": chance.choice(["Oak", "Elm", "Ash"]),
                "state": chance.choice(["NH", "NY", "CA"]),
                "birth_date": f"{2025 - age}-{day}",
                "admission_date": f"{chance.randint(2019, 2025)}-{day}",
                "discharge_date": f"2026-{day}",
                "age": age,
                "sex": chance.choice("FM"),
                "diagnosis": chance.choice(DISEASES),
                "cost": round(chance.lognormvariate(8, 1), 2),
                "note": f"{name} came in on {day} and felt {chance.choice(['bad', 'worse'])} for {number} long hours",
                "url": f"https://example.org/p/{number}",
                "ip": f"10.0.{number // 250}.{number % 250}",
                "flag": chance.choice(["x1", "x2", "x3"]),
            }
        )
    return pl.DataFrame(made)
