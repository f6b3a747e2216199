"""Tables that come with the package: a census, the papers' examples, a messy hospital, sparse ratings, baskets."""

from incrowd.datasets._census_domains import (
    CENSUS_AGE_WIDTHS,
    CENSUS_DOMAINS,
    CENSUS_SALARY_WIDTHS,
    CENSUS_TREES,
)
from incrowd.datasets.baskets import basket_tree, baskets
from incrowd.datasets.census import census, write_census
from incrowd.datasets.examples import (
    cdiffgen_houses,
    cdiffgen_people,
    sattar_patients,
    senellart_patients,
    slicing_patients,
)
from incrowd.datasets.messy import messy_patients
from incrowd.datasets.ratings import ratings

__all__ = [
    "CENSUS_AGE_WIDTHS",
    "CENSUS_DOMAINS",
    "CENSUS_SALARY_WIDTHS",
    "CENSUS_TREES",
    "basket_tree",
    "baskets",
    "cdiffgen_houses",
    "cdiffgen_people",
    "census",
    "messy_patients",
    "ratings",
    "sattar_patients",
    "senellart_patients",
    "slicing_patients",
    "write_census",
]
