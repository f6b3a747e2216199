"""The small tables that the papers print, value by value.

The papers, by their short names: Senellart (lecture slides on private data publishing), Slicing (Wanjari,
after Li, Li, Zhang & Molloy, TKDE 2012), CDiffGen (Qian, "Consistent DiffGen"), Sattar ("A General Framework
for Privacy Preserving Data Publishing"). Li ("k-Anonymity Meets Differential Privacy") prints
no table of people.

A zip code is a number where its paper makes ranges of it, and a string where it is only a label or loses its
last digits.
"""

from __future__ import annotations

import polars as pl


def senellart_patients() -> pl.DataFrame:
    """Return the raw medical data of Senellart's slides "k-Anonymity Model (3/5)": four patients.

    >>> senellart_patients().select("zip", "age", "disease").row(0)
    (75001, 22, 'Cold')
    """
    return pl.DataFrame(
        {
            "name": ["Bob", "Bill", "Don", "Sue"],
            "zip": [75001, 75002, 75003, 75010],
            "age": [22, 29, 22, 28],
            "disease": ["Cold", "Flu", "Cold", "HIV"],
        }
    )


def slicing_patients() -> pl.DataFrame:
    """Return the original microdata of Slicing, figure 1: eight patients, two buckets of four in this order.

    Wanjari's figure contradicts the text of section V.1 in the first bucket (47905 for 47906, M for the third
    patient) and figure 2 in the second (ages 50 and 54 for 60 and 64). Taken here are the values of Li, Li,
    Zhang & Molloy, with which the text agrees; the figure's ids and names are left out.
    """
    return pl.DataFrame(
        {
            "age": [22, 22, 33, 52, 54, 60, 60, 64],
            "sex": ["M", "F", "F", "F", "M", "M", "M", "F"],
            "zip": ["47906", "47906", "47905", "47905", "47302", "47302", "47304", "47304"],
            "disease": [
                "dyspepsia",
                "flu",
                "flu",
                "bronchitis",
                "flu",
                "dyspepsia",
                "dyspepsia",
                "gastritis",
            ],
        }
    )


def cdiffgen_people() -> pl.DataFrame:
    """Return the raw data of CDiffGen, Table II(a): eight interviewees; the class says whether one was hired.

    Generalized to Asian and American countries and to the ages [15-25) and [25-40), they give the counts of
    Table II(b): 3, 2, 0 and 3.
    """
    return pl.DataFrame(
        {
            "country": ["China", "Korea", "Canada", "USA", "USA", "China", "Korea", "China"],
            "age": [18, 21, 27, 35, 29, 39, 22, 28],
            "class": ["N", "Y", "N", "N", "Y", "Y", "N", "N"],
        }
    )


def cdiffgen_houses() -> pl.DataFrame:
    """Return the real estate records of CDiffGen, Table I(a): eight people's age groups and who has a house.

    Table I(b) counts them: under 20 (0 yes, 2 no), 20-30 (1, 1), 30-40 (1, 2), 40-50 (1, 0).
    """
    return pl.DataFrame(
        {
            "age": ["<20", "20-30", "30-40", "20-30", "40-50", "30-40", "<20", "30-40"],
            "has_house": ["No", "Yes", "No", "No", "Yes", "Yes", "No", "No"],
        }
    )


def sattar_patients() -> pl.DataFrame:
    """Return the data before anonymization of Sattar, Table 2: four patients, Paul's sex as printed.

    Table 3 publishes them with ages of 20-25 and zip codes as they are, though the text says that its two
    groups (the men, the women) agree in the zip code too.
    """
    return pl.DataFrame(
        {
            "name": ["Alice", "Bob", "Paul", "Clark"],
            "age": [22, 24, 20, 23],
            "sex": ["F", "M", "F", "M"],
            "zip": ["5095", "5085", "5001", "5005"],
            "disease": ["Cancer", "HIV", "Anemia", "Flu"],
        }
    )
