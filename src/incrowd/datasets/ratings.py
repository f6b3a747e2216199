"""A generator of sparse, wide tables: people and what they think of a hundred items and more.

Such tables (film ratings, purchases) have too many attributes to generalize: hardly two people have rated the same
items. What keeps them together is taste. Every item has a genre; every person likes one genre most and
another one second, depending on age and sex, rates mostly items of these, and rates them higher.

Rows are made in blocks, each from a random stream of its own, so memory is bounded by the block and by the table that
is returned. A table is a function of its numbers of rows and items and of its seed. All figures are made up.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.common.records import dataclass
from incrowd.datasets._draws import Codes, ConditionalDraw, Numbers, draw_unconditionally

BLOCK_ROWS = 20_000
GENRES = ("action", "comedy", "crime", "documentary", "drama", "family", "history", "science fiction")
SEXES = ("Female", "Male")
REGIONS = ("Centre", "Coast", "East", "Hills", "Islands", "Lakes", "North", "South", "Valley", "West")
OCCUPATIONS = (
    "artist", "clerk", "craftsman", "doctor", "driver", "engineer",
    "farmer", "lawyer", "nurse", "retired", "shop assistant", "student", "teacher",
)  # fmt: skip
YOUNGEST, OLDEST = 16, 85
LAST_STUDENT, FIRST_RETIRED = 27, 63

# How much people under 30, under 50, and older like each genre: women first, then men.
LIKING = np.array(
    [
        [2, 6, 3, 2, 4, 3, 1, 3], [6, 4, 3, 2, 1, 2, 1, 6],
        [1, 4, 5, 3, 5, 6, 2, 2], [5, 3, 4, 3, 2, 5, 3, 5],
        [1, 3, 6, 4, 6, 3, 4, 1], [3, 2, 5, 5, 3, 2, 6, 2],
    ],
    dtype=np.float64,
)  # fmt: skip

RATED_SHARE = 0.08
"""Share of all cells that hold a rating, about."""


def ratings(rows: int = 10_000, items: int = 120, *, seed: int = 0) -> pl.DataFrame:
    """Return a table of people, one per row: age, sex, region, occupation, and their ratings of items, mostly missing.

    >>> people = ratings(100, items=3)
    >>> people.columns
    ['age', 'sex', 'region', 'occupation', 'item_001', 'item_002', 'item_003']
    >>> people.equals(ratings(100, items=3, seed=0)), people.equals(ratings(100, items=3, seed=1))
    (True, False)
    """
    for name, value in {"rows": rows, "items": items, "seed": seed}.items():
        if value < 0:
            raise ValueError(f"{name} must be 0 or more, not {value}")
    return pl.concat(_blocks(rows, items, seed))


def _blocks(rows: int, items: int, seed: int) -> Iterator[pl.DataFrame]:
    """Yield the blocks of the table; there is at least one, so that an empty table has columns too."""
    shelf = _Shelf.of(items)
    for number, start in enumerate(range(0, max(rows, 1), BLOCK_ROWS)):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
        yield _block(rng, min(BLOCK_ROWS, rows - start), shelf)


@dataclass(frozen=True)
class _Shelf:
    """The items: each one's genre, how many rate it compared to others, and how good it is. The same in all tables."""

    genre: Codes
    popularity: NDArray[np.float32]
    quality: NDArray[np.float32]

    @classmethod
    def of(cls, items: int) -> _Shelf:
        place = np.arange(items)
        popularity = (1.0 + place // len(GENRES)) ** -0.7  # a few of every genre are known to all
        return cls(
            place % len(GENRES),
            (popularity / max(popularity.mean(), 1e-9) if items else popularity).astype(np.float32),
            ((place * 0.618034) % 1.0 - 0.5).astype(np.float32),
        )


def _block(rng: np.random.Generator, rows: int, shelf: _Shelf) -> pl.DataFrame:
    age = YOUNGEST + np.floor((OLDEST - YOUNGEST + 1) * rng.beta(1.6, 2.4, rows)).astype(np.int64)
    sex = rng.integers(0, len(SEXES), rows)
    region = draw_unconditionally(rng, 1.0 / np.arange(1.0, 1.0 + len(REGIONS)), rows)
    occupation = _draw_occupation(rng, age)
    kind = len(SEXES) * np.digitize(age, [30, 50]) + sex
    first = ConditionalDraw.of(LIKING**1.5).draw(rng, kind)
    second = ConditionalDraw.of(LIKING).draw(rng, kind)
    stars, rated = _rate(rng, first, second, shelf)
    columns = [
        pl.Series("age", age),
        pl.Series("sex", SEXES).gather(sex),
        pl.Series("region", REGIONS).gather(region),
        pl.Series("occupation", OCCUPATIONS).gather(occupation),
    ]
    for item in range(len(shelf.genre)):
        given = pl.Series(f"item_{item + 1:03}", stars[:, item], dtype=pl.Int8)
        columns.append(given.set(~pl.Series(rated[:, item]), None))
    return pl.DataFrame(columns)


def _draw_occupation(rng: np.random.Generator, age: Codes) -> Codes:
    """The young study, the old are retired, and all others work."""
    work = np.ones((3, len(OCCUPATIONS)))
    student, retired = OCCUPATIONS.index("student"), OCCUPATIONS.index("retired")
    work[:, [student, retired]] = [[6.0, 0.0], [0.2, 0.2], [0.0, 20.0]]
    return ConditionalDraw.of(work).draw(rng, np.digitize(age, [LAST_STUDENT, FIRST_RETIRED]))


def _rate(
    rng: np.random.Generator, first: Codes, second: Codes, shelf: _Shelf
) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """Return everybody's ratings from 1 to 5 of all items, and which of them were given."""
    rows, items = len(first), len(shelf.genre)
    likes = (0.4 * (second[:, None] == shelf.genre)).astype(np.float32)
    likes[first[:, None] == shelf.genre] = 1.0
    activity: Numbers = rng.lognormal(-0.3, 0.8, rows)
    # On average a person likes an eighth of all items fully and another eighth less; the rest is met by chance.
    met = (0.3 + 4.0 * likes) * activity[:, None].astype(np.float32) * shelf.popularity
    rated = rng.random((rows, items), dtype=np.float32) < np.minimum(met * np.float32(RATED_SHARE), 0.95)
    mood = rng.normal(0.0, 0.4, rows).astype(np.float32)
    opinion = 2.6 + 1.6 * likes + shelf.quality + mood[:, None]
    opinion += rng.standard_normal((rows, items), dtype=np.float32) * np.float32(0.7)
    return np.clip(np.rint(opinion), 1, 5).astype(np.int8), rated
