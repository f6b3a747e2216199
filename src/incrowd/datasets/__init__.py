"""Tables that come with the package: a census generator, the papers' examples, and a messy hospital."""

from incrowd.datasets._census_domains import (
    CENSUS_AGE_WIDTHS,
    CENSUS_DOMAINS,
    CENSUS_SALARY_WIDTHS,
    CENSUS_TREES,
)
from incrowd.datasets.census import census, write_census
from incrowd.datasets.examples import (
    cdiffgen_houses,
    cdiffgen_people,
    sattar_patients,
    senellart_patients,
    slicing_patients,
)
from incrowd.datasets.messy import messy_patients

__all__ = [
    "CENSUS_AGE_WIDTHS",
    "CENSUS_DOMAINS",
    "CENSUS_SALARY_WIDTHS",
    "CENSUS_TREES",
    "cdiffgen_houses",
    "cdiffgen_people",
    "census",
    "messy_patients",
    "sattar_patients",
    "senellart_patients",
    "slicing_patients",
    "write_census",
]
