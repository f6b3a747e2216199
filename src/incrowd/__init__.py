"""incrowd: publish tables about people so that the people stay hidden and the data stays useful.

>>> import incrowd as ic
>>> people = ic.datasets.census(2000)
>>> table = ic.read(people, quasi=["age", "sex", "education"], sensitive=["occupation"], others="drop")
>>> release = ic.publish(table, [ic.KAnonymity(5), ic.LDiversity(3)], method=ic.Mondrian())
>>> release.withheld
0
"""

from incrowd import datasets, errors
from incrowd.check import Check, check
from incrowd.hierarchies import Automatic, Categories, Dates, Flat, Hierarchy, Intervals, Masking
from incrowd.methods import Method, Mondrian
from incrowd.models import (
    DistinctLDiversity,
    EntropyLDiversity,
    Guarantee,
    KAnonymity,
    Model,
    ProbabilisticLDiversity,
    RecursiveLDiversity,
)
from incrowd.pseudonyms import PseudonymKey
from incrowd.publish import publish
from incrowd.recipe import Recipe
from incrowd.releases.release import Release
from incrowd.schema import Schema
from incrowd.table import Table, read

LDiversity = DistinctLDiversity
"""ℓ-diversity in its plainest reading: at least ℓ different values."""

__version__ = "0.1.0"

__all__ = [
    "Automatic",
    "Categories",
    "Check",
    "Dates",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "Flat",
    "Guarantee",
    "Hierarchy",
    "Intervals",
    "KAnonymity",
    "LDiversity",
    "Masking",
    "Method",
    "Model",
    "Mondrian",
    "ProbabilisticLDiversity",
    "PseudonymKey",
    "Recipe",
    "RecursiveLDiversity",
    "Release",
    "Schema",
    "Table",
    "check",
    "datasets",
    "errors",
    "publish",
    "read",
]
