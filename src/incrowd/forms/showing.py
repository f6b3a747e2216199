"""What every way to show groups can do: turn a recoding of a table into the form that is published."""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np

from incrowd.recoding import Recoding
from incrowd.releases.form import Form
from incrowd.schema import Schema
from incrowd.tally import Tally


class Showing(Protocol):
    """A way to show groups. Implementations are frozen dataclasses, one file each."""

    name: ClassVar[str]
    """Its name in recipes."""

    def show(self, tally: Tally, schema: Schema, recoding: Recoding, *, rows_in: int, rng: np.random.Generator) -> Form:
        """Return what is published of a tally; `rows_in` is how many rows there were to publish."""
        ...
