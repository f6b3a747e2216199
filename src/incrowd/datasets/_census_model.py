"""How the columns of the generated census hang together: the odds of each, given those drawn before it.

    age ──► sex, marital, education, salary        birth_place ──► race, education
    sex ──► marital, occupation                    education ──► occupation, salary
    occupation ──► salary

Every table below is indexed by codes, the positions of values in `CENSUS_DOMAINS`.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from incrowd.common.records import dataclass
from incrowd.datasets._census_domains import (
    BIRTH_PLACES,
    CENSUS_DOMAINS,
    HOME_COUNTRY,
    OCCUPATIONS,
    SALARY_STEP,
)
from incrowd.datasets._draws import Codes, ConditionalDraw, Numbers, draw_unconditionally

AGES = np.array(CENSUS_DOMAINS["age"], dtype=np.float64)
EDUCATION_LEVELS = len(CENSUS_DOMAINS["education"])
SEXES = len(CENSUS_DOMAINS["sex"])
FEMALE, MALE = range(SEXES)

# White, Black, Asian, Native American, Pacific Islander, two or more: in percent of those born in a region.
RACE_BY_REGION = {
    "Northern America": (74.0, 13.0, 3.0, 1.5, 0.5, 8.0),
    "Central America": (50.0, 3.0, 1.0, 14.0, 0.5, 31.5),
    "Caribbean": (35.0, 48.0, 2.0, 1.0, 0.5, 13.5),
    "South America": (58.0, 10.0, 3.0, 6.0, 0.5, 22.5),
    "Western Europe": (89.0, 4.0, 4.0, 0.3, 0.2, 2.5),
    "Southern Europe": (95.0, 1.5, 1.0, 0.3, 0.2, 2.0),
    "Eastern Europe": (97.0, 0.5, 1.0, 0.3, 0.2, 1.0),
    "East Asia": (2.0, 0.3, 95.0, 0.2, 0.5, 2.0),
    "South Asia": (3.0, 0.5, 93.0, 0.3, 0.2, 3.0),
    "Southeast Asia": (4.0, 0.5, 87.0, 0.3, 3.7, 4.5),
    "West Asia": (82.0, 2.0, 11.0, 0.2, 0.2, 4.6),
    "North Africa": (70.0, 18.0, 2.0, 0.2, 0.2, 9.6),
    "West Africa": (2.0, 95.0, 0.3, 0.2, 0.2, 2.3),
    "East Africa": (2.0, 94.0, 1.0, 0.2, 0.2, 2.6),
}

# How people settled here: moving farther is harder, so those who do are more often highly schooled.
ORIGINS = ("home", "Americas", "Europe", "Asia", "Africa")
SCHOOLING_SHIFT = np.array([0.0, -1.1, 0.4, 1.0, 0.9])
SCHOOLING_SPREAD = np.array([1.0, 1.3, 1.1, 1.3, 1.2])

# In percent, among forty-year-olds born at home.
EDUCATION_SHARES = np.array([0.5, 0.8, 1.5, 2.0, 6.0, 4.0, 22.0, 7.0, 16.0, 9.0, 20.0, 8.0, 1.6, 1.6])
YOUNGEST_AT_LEVEL = np.array([0, 0, 0, 0, 0, 17, 17, 18, 18, 20, 21, 23, 25, 26])
YEARS_UNTIL_ALL_REACH_LEVEL = np.array([1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4])
SOME_HIGH_SCHOOL, SOME_COLLEGE = 4, 8

EDUCATION_TOLERANCE = 2.2
"""How many levels people usually stray from the schooling that their job asks for."""


@dataclass(frozen=True)
class CensusModel:
    """The odds of every column, ready to draw from."""

    age_weights: Numbers
    birth_place_weights: Numbers
    origin_of_birth_place: Codes
    sex_by_age: ConditionalDraw
    race_by_birth_place: ConditionalDraw
    marital_by_age_and_sex: ConditionalDraw
    education_by_age_and_origin: ConditionalDraw
    occupation_by_education_and_sex: ConditionalDraw
    log_pay_of_occupation: Numbers
    usual_education_of_occupation: Numbers

    def draw(self, rng: np.random.Generator, rows: int) -> dict[str, Codes]:
        """Return the codes of this many people, column by column in the order of `CENSUS_DOMAINS`."""
        age = draw_unconditionally(rng, self.age_weights, rows)
        birth_place = draw_unconditionally(rng, self.birth_place_weights, rows)
        sex = self.sex_by_age.draw(rng, age)
        race = self.race_by_birth_place.draw(rng, birth_place)
        marital = self.marital_by_age_and_sex.draw(rng, age * SEXES + sex)
        origin = self.origin_of_birth_place[birth_place]
        education = self.education_by_age_and_origin.draw(rng, age * len(ORIGINS) + origin)
        occupation = self.occupation_by_education_and_sex.draw(rng, education * SEXES + sex)
        return {
            "age": age,
            "sex": sex,
            "education": education,
            "marital": marital,
            "race": race,
            "birth_place": birth_place,
            "occupation": occupation,
            "salary": self._draw_salary(rng, age, education, occupation),
        }

    def _draw_salary(self, rng: np.random.Generator, age: Codes, education: Codes, occupation: Codes) -> Codes:
        """Return salary classes: the job's pay, more with schooling and experience, and a wide spread."""
        # Half a step of the 24 random bits keeps the logit away from zero and one.
        luck = rng.random(len(age), dtype=np.float32).astype(np.float64) + 2.0**-25
        log_salary = (
            self.log_pay_of_occupation[occupation]
            + 0.05 * (education - self.usual_education_of_occupation[occupation])
            + _log_pay_by_age()[age]
            + 0.2 * np.log(luck / (1.0 - luck))
        )
        classes = (np.exp(log_salary) / SALARY_STEP).astype(np.int64)
        # As in real files, the highest class is open: everything above is coded as the top.
        return np.minimum(classes, len(CENSUS_DOMAINS["salary"]) - 1)


@cache
def census_model() -> CensusModel:
    """Return the model, built once."""
    places = [
        (continent, region, country)
        for continent, regions in BIRTH_PLACES.items()
        for region, countries in regions.items()
        for country in countries
    ]
    jobs = [job for majors in OCCUPATIONS.values() for group in majors.values() for job in group]
    origins = ["home" if country.name == HOME_COUNTRY else continent for continent, _, country in places]
    usual_education = np.array([job.usual_education for job in jobs])
    return CensusModel(
        age_weights=_age_weights(),
        birth_place_weights=np.array([country.weight for _, _, country in places]),
        origin_of_birth_place=np.array([ORIGINS.index(origin) for origin in origins], dtype=np.int64),
        sex_by_age=ConditionalDraw.of(_sex_weights()),
        race_by_birth_place=ConditionalDraw.of(np.array([RACE_BY_REGION[region] for _, region, _ in places])),
        marital_by_age_and_sex=ConditionalDraw.of(_marital_weights()),
        education_by_age_and_origin=ConditionalDraw.of(_education_weights()),
        occupation_by_education_and_sex=ConditionalDraw.of(
            _occupation_weights(
                common=np.array([job.weight for job in jobs]),
                usual_education=usual_education,
                women=np.array([job.women for job in jobs]),
            )
        ),
        log_pay_of_occupation=np.log([job.pay for job in jobs]),
        usual_education_of_occupation=usual_education,
    )


def _rises(values: Numbers, middle: Numbers | float, width: Numbers | float) -> Numbers:
    """Return a smooth step from 0 to 1 around the middle."""
    return np.asarray(1.0 / (1.0 + np.exp((middle - values) / width)))


def _age_weights() -> Numbers:
    """Few are very old; two generations of many births, thirty years apart, swell the middle."""
    waves = 1.0 + 0.12 * np.cos((AGES - 32.0) * 2.0 * np.pi / 30.0)
    return waves * (1.0 - _rises(AGES, 72.0, 7.0))


def _sex_weights() -> Numbers:
    """Women live longer: [age, sex]."""
    female = 0.49 + 0.22 * _rises(AGES, 82.0, 5.0)
    weights = np.empty((len(AGES), SEXES))
    weights[:, FEMALE] = female
    weights[:, MALE] = 1.0 - female
    return weights


def _marital_weights() -> Numbers:
    """Marriage comes with age, divorce later, widowhood last and more to women: [age and sex, status]."""
    age = np.repeat(AGES, SEXES)
    sex = np.tile(np.arange(SEXES), len(AGES))
    ever_married = 0.93 * _rises(age, np.where(sex == FEMALE, 27.0, 29.0), 3.2)
    widowed = _rises(age, np.where(sex == FEMALE, 77.0, 86.0), 6.0)
    divorced = 0.2 * _rises(age, 38.0, 6.0)
    share_if_ever_married = {
        "Widowed": widowed,
        "Divorced": (1.0 - widowed) * divorced,
        "Separated": (1.0 - widowed) * 0.03,
        "Spouse absent": (1.0 - widowed) * 0.03,
        "Married": (1.0 - widowed) * (0.94 - divorced),
    }
    shares = {status: ever_married * share for status, share in share_if_ever_married.items()}
    shares["Never married"] = 1.0 - ever_married
    return np.column_stack([shares[str(status)] for status in CENSUS_DOMAINS["marital"]])


def _education_weights() -> Numbers:
    """Schooling depends on birth year, origin and whether one is old enough: [age and origin, level].

    An ordered logit: the shares of forty-year-olds born at home, shifted and spread.
    """
    age = np.repeat(AGES, len(ORIGINS))
    origin = np.tile(np.arange(len(ORIGINS)), len(AGES))
    at_most = np.cumsum(EDUCATION_SHARES)[:-1] / EDUCATION_SHARES.sum()
    logit = np.log(at_most / (1.0 - at_most))
    # Those born earlier left school earlier.
    shift = SCHOOLING_SHIFT[origin] - 0.02 * np.maximum(age - 40.0, 0.0)
    at_most_here = _rises(logit[None, :], shift[:, None], SCHOOLING_SPREAD[origin][:, None])
    shares = np.diff(at_most_here, axis=1, prepend=0.0, append=1.0)
    # Whoever will get farther is still in college, or still at school.
    years_past_youngest = age[:, None] - YOUNGEST_AT_LEVEL[None, :] + 1.0
    not_yet = 1.0 - np.clip(years_past_youngest / YEARS_UNTIL_ALL_REACH_LEVEL, 0.0, 1.0)
    for waiting_at, higher in ((SOME_COLLEGE, slice(9, None)), (SOME_HIGH_SCHOOL, slice(5, 9))):
        waiting = shares[:, higher] * not_yet[:, higher]
        shares[:, higher] -= waiting
        shares[:, waiting_at] += waiting.sum(axis=1)
    return shares


def _occupation_weights(common: Numbers, usual_education: Numbers, women: Numbers) -> Numbers:
    """Jobs near one's schooling, and those that one's sex takes more often: [education and sex, job]."""
    education = np.repeat(np.arange(EDUCATION_LEVELS), SEXES)
    sex = np.tile(np.arange(SEXES), EDUCATION_LEVELS)
    misfit = (education[:, None] - usual_education[None, :]) / EDUCATION_TOLERANCE
    share_of_sex = np.where((sex == FEMALE)[:, None], women[None, :], 1.0 - women[None, :])
    return np.asarray(common * share_of_sex * np.exp(-0.5 * misfit**2))


def _log_pay_by_age() -> Numbers:
    """Pay grows with experience and flattens out; past the usual retirement one works fewer hours: [age]."""
    experience = 0.1 - 0.75 * np.exp(-(AGES - 17.0) / 10.0)
    return experience - 0.04 * np.maximum(AGES - 64.0, 0.0)
