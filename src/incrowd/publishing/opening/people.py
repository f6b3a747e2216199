"""Guarantees about people, judged on the files of a release in which somebody has several rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import polars.selectors as cs

from incrowd.core.form import PublishedFiles
from incrowd.core.groups import Groups
from incrowd.core.people import number_people
from incrowd.core.tally import Tally
from incrowd.forms.people_crowds import crowds_of_people
from incrowd.forms.verify import COUNT, read_regions
from incrowd.sources import reading


def tells_of_people(summary: Mapping[str, Any]) -> bool:
    """Whether a release says that some people have several rows."""
    return "people" in summary


def crowds_in_files(files: PublishedFiles, person: tuple[str, ...], before: Tally | None) -> Groups | None:
    """Return the crowds that hide people, as the files show them; None where these do not tell who is who.

    `before` counts the people of the table before, if that is known.
    """
    if not person or not set(person) <= set(files.data.columns):
        return None
    schema = files.schema
    columns = cs.by_name(*schema.tallied, *person)
    with reading(files.data):
        counted = files.data.frame.group_by(columns).agg(pl.len().alias(COUNT)).collect(engine="streaming")
    quasi, sensitive = tuple(schema.quasi), tuple(schema.sensitive)
    regions = None if before is None else read_regions(counted, quasi, before)
    person_of = number_people(counted, person, files.data.texts)
    return crowds_of_people(counted, quasi, sensitive, person_of, before=before, stands_for=regions)
