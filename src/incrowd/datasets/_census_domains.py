"""Who can live in the generated census: the values of its columns, their category trees, their frequencies.

The numbers of values are those of Sattar's Table 4. The lists and the figures are made up: they are plausible
in shape (a home country and a long tail of others, jobs that ask for schooling and pay for it), and describe
no real population.

A tree is a dict of inner nodes down to lists of leaves, below a root that is not written and called "*"; all
leaves of one tree lie equally deep.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

Tree: TypeAlias = "dict[str, Tree] | list[str]"


class Country(NamedTuple):
    """A country of birth, and how many of 10,000 people were born there."""

    name: str
    weight: float


class Occupation(NamedTuple):
    """A job: how common it is, its usual level of education (0-13), its share of women, its middle salary."""

    name: str
    weight: float
    usual_education: float
    women: float
    pay: float


BIRTH_PLACES: dict[str, dict[str, list[Country]]] = {
    "Americas": {
        "Northern America": [Country("United States", 8300), Country("Canada", 40)],
        "Central America": [
            Country("Mexico", 420),
            Country("El Salvador", 60),
            Country("Guatemala", 45),
            Country("Honduras", 30),
            Country("Nicaragua", 14),
        ],
        "Caribbean": [
            Country("Cuba", 60),
            Country("Dominican Republic", 55),
            Country("Jamaica", 32),
            Country("Haiti", 30),
        ],
        "South America": [
            Country("Colombia", 34),
            Country("Peru", 20),
            Country("Ecuador", 19),
            Country("Brazil", 18),
        ],
    },
    "Europe": {
        "Western Europe": [
            Country("Germany", 40),
            Country("United Kingdom", 36),
            Country("France", 10),
            Country("Ireland", 8),
        ],
        "Southern Europe": [
            Country("Italy", 24),
            Country("Portugal", 11),
            Country("Greece", 8),
            Country("Spain", 7),
        ],
        "Eastern Europe": [Country("Poland", 25), Country("Ukraine", 18), Country("Romania", 9)],
    },
    "Asia": {
        "East Asia": [Country("China", 85), Country("South Korea", 52), Country("Japan", 20)],
        "South Asia": [Country("India", 110), Country("Pakistan", 18), Country("Bangladesh", 12)],
        "Southeast Asia": [Country("Philippines", 95), Country("Vietnam", 65), Country("Thailand", 12)],
        "West Asia": [Country("Iran", 19), Country("Lebanon", 7)],
    },
    "Africa": {
        "North Africa": [Country("Egypt", 10)],
        "West Africa": [Country("Nigeria", 15), Country("Ghana", 9)],
        "East Africa": [Country("Ethiopia", 12)],
    },
}

HOME_COUNTRY = "United States"

OCCUPATIONS: dict[str, dict[str, list[Occupation]]] = {
    "Managers and professionals": {
        "Management": [
            Occupation("Chief executive", 12, 10.5, 0.30, 165_000),
            Occupation("Office manager", 60, 9.5, 0.50, 82_000),
            Occupation("Sales manager", 30, 10.0, 0.40, 95_000),
            Occupation("Farm manager", 12, 7.0, 0.15, 52_000),
        ],
        "Business and finance": [
            Occupation("Accountant", 45, 10.3, 0.58, 74_000),
            Occupation("Financial analyst", 25, 10.7, 0.40, 92_000),
            Occupation("Human resources officer", 25, 9.8, 0.72, 66_000),
        ],
        "Science and engineering": [
            Occupation("Software developer", 50, 10.5, 0.22, 118_000),
            Occupation("Civil engineer", 18, 10.4, 0.16, 93_000),
            Occupation("Mechanical engineer", 18, 10.4, 0.10, 95_000),
            Occupation("Laboratory scientist", 15, 12.0, 0.48, 86_000),
            Occupation("Architect", 8, 11.0, 0.27, 84_000),
        ],
        "Education and law": [
            Occupation("Primary school teacher", 60, 10.6, 0.82, 57_000),
            Occupation("Secondary school teacher", 35, 10.8, 0.59, 61_000),
            Occupation("University lecturer", 15, 12.6, 0.49, 78_000),
            Occupation("Lawyer", 18, 12.0, 0.39, 135_000),
            Occupation("Social worker", 22, 10.4, 0.80, 52_000),
        ],
        "Arts and media": [
            Occupation("Graphic designer", 14, 9.8, 0.52, 56_000),
            Occupation("Journalist", 6, 10.2, 0.49, 60_000),
            Occupation("Musician", 6, 9.0, 0.36, 38_000),
        ],
        "Health": [
            Occupation("Physician", 18, 12.2, 0.40, 215_000),
            Occupation("Dentist", 6, 12.2, 0.36, 165_000),
            Occupation("Pharmacist", 8, 12.0, 0.60, 128_000),
            Occupation("Registered nurse", 65, 9.8, 0.87, 79_000),
            Occupation("Nursing aide", 40, 6.5, 0.89, 34_000),
        ],
    },
    "Service workers": {
        "Food, cleaning and care": [
            Occupation("Cook", 50, 5.0, 0.40, 29_000),
            Occupation("Waiter", 40, 6.6, 0.68, 27_000),
            Occupation("Cleaner", 60, 4.2, 0.55, 29_000),
            Occupation("Childcare worker", 25, 6.8, 0.94, 27_000),
            Occupation("Hairdresser", 18, 6.8, 0.91, 30_000),
        ],
        "Protection": [
            Occupation("Police officer", 18, 8.6, 0.16, 70_000),
            Occupation("Firefighter", 8, 8.4, 0.05, 62_000),
            Occupation("Security guard", 25, 6.5, 0.24, 36_000),
        ],
    },
    "Sales and office workers": {
        "Sales": [
            Occupation("Cashier", 60, 5.8, 0.72, 25_000),
            Occupation("Shop assistant", 75, 6.8, 0.50, 33_000),
            Occupation("Insurance agent", 14, 8.8, 0.50, 61_000),
            Occupation("Real estate agent", 14, 8.8, 0.55, 64_000),
        ],
        "Office support": [
            Occupation("Secretary", 55, 7.6, 0.93, 42_000),
            Occupation("Bookkeeper", 30, 8.0, 0.86, 45_000),
            Occupation("Customer service agent", 50, 7.2, 0.64, 39_000),
            Occupation("Postal worker", 14, 6.8, 0.40, 55_000),
        ],
    },
    "Manual workers": {
        "Construction and repair": [
            Occupation("Carpenter", 28, 5.2, 0.03, 50_000),
            Occupation("Electrician", 20, 7.0, 0.03, 60_000),
            Occupation("Plumber", 15, 6.6, 0.03, 58_000),
            Occupation("Car mechanic", 22, 6.0, 0.03, 47_000),
        ],
        "Production and transport": [
            Occupation("Truck driver", 65, 5.8, 0.08, 48_000),
            Occupation("Warehouse worker", 55, 5.2, 0.25, 36_000),
            Occupation("Assembler", 30, 5.2, 0.38, 38_000),
            Occupation("Welder", 15, 5.8, 0.05, 47_000),
            Occupation("Farm worker", 18, 2.5, 0.24, 31_000),
        ],
    },
}

SALARY_STEP = 5_000
"""Width in dollars of one salary class."""


def _leaves(tree: Tree) -> Iterator[str]:
    """Yield the leaves of a tree from left to right."""
    for node in tree:
        if isinstance(tree, dict):
            yield from _leaves(tree[node])
        else:
            yield node


CENSUS_TREES: dict[str, Tree] = {
    "sex": ["Female", "Male"],
    "education": {
        "School": {
            "Without a diploma": [
                "No schooling",
                "Some primary school",
                "Primary school",
                "Lower secondary school",
                "Some high school",
            ],
            "With a diploma": ["High school equivalency", "High school diploma", "Vocational certificate"],
        },
        "College": {
            "Undergraduate": ["Some college", "Associate degree", "Bachelor degree"],
            "Graduate": ["Master degree", "Professional degree", "Doctorate"],
        },
    },
    "marital": {
        "Not in a marriage": ["Never married", "Divorced", "Widowed"],
        "In a marriage": ["Married", "Spouse absent", "Separated"],
    },
    "race": ["White", "Black", "Asian", "Native American", "Pacific Islander", "Two or more"],
    "birth_place": {
        continent: {region: [country.name for country in countries] for region, countries in regions.items()}
        for continent, regions in BIRTH_PLACES.items()
    },
    "occupation": {
        broad: {major: [job.name for job in jobs] for major, jobs in majors.items()}
        for broad, majors in OCCUPATIONS.items()
    },
}
"""Category trees of the text columns; the leaves of education are in the order of its levels."""

CENSUS_AGE_WIDTHS = (5, 10, 20)
"""Widths, in years, of the intervals for ages, finest first; each divides the next."""

CENSUS_SALARY_WIDTHS = (10_000, 50_000)
"""Widths, in dollars, of the intervals for salaries, finest first; each divides the next."""

CENSUS_DOMAINS: dict[str, list[str] | list[int]] = {
    "age": list(range(17, 94)),
    "sex": list(_leaves(CENSUS_TREES["sex"])),
    "education": list(_leaves(CENSUS_TREES["education"])),
    "marital": list(_leaves(CENSUS_TREES["marital"])),
    "race": list(_leaves(CENSUS_TREES["race"])),
    "birth_place": list(_leaves(CENSUS_TREES["birth_place"])),
    "occupation": list(_leaves(CENSUS_TREES["occupation"])),
    "salary": list(range(0, 50 * SALARY_STEP, SALARY_STEP)),
}
"""Every value that a column can take, known without a look at a table; a salary stands for its class's floor."""
