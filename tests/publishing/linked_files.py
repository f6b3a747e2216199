"""What somebody finds out who joins the published files of people, visits and purchases by hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

Rows = Sequence[Mapping[str, str]]


def require_hidden(
    people: Rows, visits: Rows, bought: Rows, *, keys: Collection[str], k: int, share: float, shown_by: int
) -> None:
    """Everybody is among k, no value is that of too large a share, and at least `shown_by` show any two items.

    None of the source's `keys` is told.
    """
    group_of = {row["pid"]: (row["age"], row["sex"]) for row in people}
    assert len(group_of) == len(people)
    members = Counter(group_of.values())
    assert min(members.values()) >= k
    held: dict[tuple[object, str, str], set[str]] = defaultdict(set)
    for row in visits:
        held[group_of[row["pid"]], "disease", row["disease"]].add(row["pid"])
    for row in people:
        held[group_of[row["pid"]], "blood", row["blood"]].add(row["pid"])
    assert max(len(who) / members[group] for (group, _, _), who in held.items()) <= share  # type: ignore[index]
    sets: dict[str, set[str]] = defaultdict(set)
    for row in bought:
        sets[row["pid"]].add(row["item"])
    known = Counter(
        (group_of[pid], together)
        for pid, labels in sets.items()
        for size in (1, 2)
        for together in combinations(sorted(labels), size)
    )
    assert min(known.values()) >= shown_by
    assert not set(group_of) & set(keys)
