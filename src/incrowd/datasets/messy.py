"""A hospital's table as they are: missing values of several kinds, free text, columns that say nothing."""

from __future__ import annotations

import numpy as np
import polars as pl

from incrowd.datasets._draws import Codes, ConditionalDraw, Numbers, draw_unconditionally
from incrowd.datasets._messy_domains import (
    AGE_BAND_STARTS,
    DIAGNOSES,
    FAMILY_NAMES,
    GIVEN_NAMES,
    NOTES,
    ZIP_PREFIXES,
)

FIRST_ADMISSION = np.datetime64("2019-01-01")
ADMISSION_DAYS = 6 * 365
DAYS_PER_YEAR = 365.25
SEXES = tuple(GIVEN_NAMES)


def messy_patients(rows: int = 2_000, *, seed: int = 0) -> pl.DataFrame:
    """Return generated hospital patients, one per row, with the flaws of real tables.

    Some of birth_date, sex, zip and weight_kg are missing (the last as null and as NaN), and all of `empty`.
    `insurance` is almost constant, `zip` has leading zeros, `notes` holds delimiters, quotes, line breaks and
    a formula. Diagnoses depend on age and sex, also where these are missing.

    >>> messy_patients(3).columns[:6]
    ['patient_id', 'name', 'email', 'phone', 'birth_date', 'sex']
    """
    if rows < 0:
        raise ValueError(f"rows must be 0 or more, not {rows}")
    rng = np.random.default_rng(seed)
    sex = draw_unconditionally(rng, np.array([0.54, 0.46]), rows)
    age = _draw_age(rng, rows)
    admission = FIRST_ADMISSION + rng.integers(0, ADMISSION_DAYS, rows)
    birth_date = admission - (age * DAYS_PER_YEAR).astype(np.int64)
    number = pl.Series(rng.permutation(rows) + 1).cast(pl.String).str.zfill(6)
    given, family = _draw_names(rng, sex)
    return pl.DataFrame(
        {
            "patient_id": "P-" + number,
            "name": given + " " + family,
            "email": _mail_address(given, family, number),
            "phone": _draw_phone(rng, rows),
            "birth_date": _with_nulls(rng, pl.Series(birth_date), share=0.02),
            "sex": _with_nulls(rng, _pick(SEXES, sex), share=0.03),
            "zip": _with_nulls(rng, _draw_zip(rng, rows), share=0.02),
            "admission": admission,
            "weight_kg": _draw_weight(rng, age, sex),
            "diagnosis": _draw_diagnosis(rng, age, sex),
            "notes": _draw_note(rng, rows),
            "insurance": _pick(["Statutory", "Private"], (rng.random(rows) < 0.002).astype(np.int64)),
            "empty": pl.Series([None], dtype=pl.String).new_from_index(0, rows),
        }
    )


def _mail_address(given: pl.Series, family: pl.Series, number: pl.Series) -> pl.Series:
    """In a mail address names are lower case without spaces; the patient's number keeps addresses apart."""
    names = (given + "." + family).str.to_lowercase().str.replace_all(r"[ ']", "")
    return names + "." + number + "@example.org"


def _pick(values: tuple[str, ...] | list[str], codes: Codes) -> pl.Series:
    return pl.Series(values, dtype=pl.String).gather(codes)


def _with_nulls(rng: np.random.Generator, column: pl.Series, *, share: float) -> pl.Series:
    """Return the column with about this share of its values missing."""
    missing = pl.Series(rng.random(len(column)) < share)
    return column.zip_with(~missing, pl.Series(column.name, [None], dtype=column.dtype))


def _draw_age(rng: np.random.Generator, rows: int) -> Numbers:
    """Return ages on admission in years, from birth to a hundred: the old come to hospital more often."""
    years = np.arange(100)
    weights = (20.0 + years) / (1.0 + np.exp((years - 84.0) / 5.0))
    return draw_unconditionally(rng, weights, rows) + rng.random(rows)


def _draw_diagnosis(rng: np.random.Generator, age: Numbers, sex: Codes) -> pl.Series:
    """Return diagnoses, drawn by age band and sex."""
    by_band = np.array([known.by_age_band for known in DIAGNOSES]).T
    by_sex = np.array([[known.women for known in DIAGNOSES], [known.men for known in DIAGNOSES]])
    weights = by_band[:, None, :] * by_sex[None, :, :]
    band = np.searchsorted(AGE_BAND_STARTS, age, side="right") - 1
    draw = ConditionalDraw.of(weights.reshape(-1, len(DIAGNOSES)))
    return _pick([known.name for known in DIAGNOSES], draw.draw(rng, band * len(SEXES) + sex))


def _draw_names(rng: np.random.Generator, sex: Codes) -> tuple[pl.Series, pl.Series]:
    """Return given names that go with the sex, and family names."""
    names_of_sex = len(GIVEN_NAMES[SEXES[0]])
    given_names = [name for names in GIVEN_NAMES.values() for name in names]
    given = _pick(given_names, sex * names_of_sex + rng.integers(0, names_of_sex, len(sex)))
    family = _pick(FAMILY_NAMES, rng.integers(0, len(FAMILY_NAMES), len(sex)))
    return given, family


def _draw_zip(rng: np.random.Generator, rows: int) -> pl.Series:
    prefix = _pick(ZIP_PREFIXES, rng.integers(0, len(ZIP_PREFIXES), rows))
    return prefix + pl.Series(rng.integers(0, 10, rows)).cast(pl.String)


def _draw_phone(rng: np.random.Generator, rows: int) -> pl.Series:
    """Return telephone numbers, written in two ways; 555-0100 to 555-0199 are never given to anyone."""
    area = pl.Series(rng.integers(201, 990, rows)).cast(pl.String)
    line = pl.Series(rng.integers(100, 200, rows)).cast(pl.String)
    international = pl.Series(rng.random(rows) < 0.3)
    return ("+1 " + area + " 555 0" + line).zip_with(international, "(" + area + ") 555-0" + line)


def _draw_weight(rng: np.random.Generator, age: Numbers, sex: Codes) -> pl.Series:
    """Return weights that grow up with the patient; a few are NaN, a few more are null."""
    grown = np.array([70.0, 82.0])[sex]
    middle = 3.5 + (grown - 3.5) * np.minimum(age / 18.0, 1.0)
    weight = np.round(middle * np.exp(0.15 * rng.standard_normal(len(age))), 1)
    weight[rng.random(len(age)) < 0.01] = np.nan
    return _with_nulls(rng, pl.Series(weight), share=0.04)


def _draw_note(rng: np.random.Generator, rows: int) -> pl.Series:
    """Return notes; most of them say nothing."""
    weights = np.ones(len(NOTES))
    weights[:2] = 10.0
    return _pick(NOTES, draw_unconditionally(rng, weights, rows))
