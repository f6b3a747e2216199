"""Random tables in which people have several rows: what a release claims of people is judged by counting them.

The judge is `tests/people/adversary.py`, plain Python that knows whose each published row is. It looks at the saved
files: with the number of each row, with pseudonyms, and with neither.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import ClassVar

from tests.campaigns.campaign import Campaign
from tests.people.tables import random_case
from tests.people.trial import try_all


class People(Campaign):
    """All rows of a person hide together, in crowds of as many people as is claimed."""

    name: ClassVar[str] = "people"
    share: ClassVar[int] = 4

    def trial(self, number: int, place: Path) -> str | None:
        """Publish a random table in a random way, and judge what comes out."""
        chance = random.Random(number)
        case = random_case(chance)
        return try_all(case, place, format=chance.choice(["csv", "csv", "parquet"]))
