"""Proposed roles against those that a careful person gives, over the tables of the corpus."""

from __future__ import annotations

from functools import cache

import pytest

from tests.planning.profile import role_corpus
from tests.planning.profile.role_corpus import precision_and_recall

FLOORS = {False: 0.97, True: 0.55}
"""Least precision and recall of identifiers, quasi-identifiers and sensitive columns, on known tables and unseen."""


@cache
def judged(*, unseen: bool) -> list[tuple[str, str, str, str]]:
    return role_corpus.judged(unseen=unseen)


@pytest.mark.parametrize("unseen", [False, True])
def test_roles_are_those_of_a_careful_person(unseen: bool) -> None:
    found = judged(unseen=unseen)
    assert len({name for name, *_ in found}) >= (12 if unseen else 40)
    for role in ("identifier", "quasi", "sensitive"):
        precision, recall, _ = precision_and_recall(found)[role]
        assert min(precision, recall) >= FLOORS[unseen], role


def test_a_wrong_role_is_counted() -> None:
    found = [("t", "a", "quasi", "quasi"), ("t", "b", "quasi", "keep"), ("t", "c", "sensitive", "quasi")]
    assert precision_and_recall(found) == {"quasi": (0.5, 0.5, 2), "sensitive": (0.0, 0.0, 1)}


def test_nobody_is_published_by_name_in_any_table() -> None:
    published = {"quasi", "sensitive", "keep", "weight"}
    leaked = [row for unseen in (False, True) for row in judged(unseen=unseen) if row[2] == "identifier"]
    assert not [row for row in leaked if row[3] in published]
