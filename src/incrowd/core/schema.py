"""What every column is: person, identifier, quasi-identifier, sensitive, date, weight or other; and how it is made
less specific.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Literal

from incrowd.changes.change import Change
from incrowd.common.records import dataclass
from incrowd.common.surface import as_role, option
from incrowd.core.show import Show, written_as
from incrowd.dates.treatment import DateTreatment
from incrowd.errors import SchemaError, did_you_mean, looks_like_data, similar_columns, some_columns
from incrowd.hierarchies.automatic import Automatic
from incrowd.hierarchies.flat import Exact
from incrowd.hierarchies.hierarchy import Hierarchy

Others = Literal["keep", "drop"]

HOUSEHOLD = "\0household"
"""Name of the column of households among what people have; the leading zero byte keeps it apart from any column that a
table may have. Methods see it as a sensitive column; models that do not ask for it by name do not."""
SIGNATURE = "\0signature"
"""Name of the column of signatures: the sensitive codes that somebody was published among before, as a text. Only
methods that ask where people were see it."""
HIDDEN = (HOUSEHOLD, SIGNATURE)
"""Columns of people that are no sensitive columns of the table, and that no form writes."""


@dataclass(frozen=True)
class Schema:
    """The role of every column.

    `quasi` and `sensitive` map a column to its hierarchy. `removed` columns are read by nobody and published nowhere;
    `pseudonyms` are identifiers that are published under a keyed pseudonym; `kept` columns are published as they are,
    and `dates` after a treatment: a column of dates is mapped to it. `weight` is the column of survey weights.
    The `person` columns tell together whose a row is, and are removed or published under a pseudonym. Without them,
    every row is taken for a person of its own; where `identifiers`, which are among the removed, or pseudonyms repeat,
    that is only done if `each_row_a_person` says so.
    The `household` columns tell together which people live together; they are among the removed.
    """

    quasi: Mapping[str, Hierarchy]
    sensitive: Mapping[str, Hierarchy] = field(default_factory=dict)
    pseudonyms: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    items: Mapping[str, Hierarchy | None] = field(default_factory=dict)
    """Columns of sets of items, of which an adversary may know a few; each with its hierarchy, if one was given."""
    item_separator: str | None = None
    """What stands between items where a set is written as text."""
    events: Mapping[str, Hierarchy] = field(default_factory=dict)
    """Sensitive columns of linked tables of events."""
    event_items: Mapping[str, Hierarchy | None] = field(default_factory=dict)
    """Columns of items of such tables, each with its hierarchy, if one was given."""
    person: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    each_row_a_person: bool = False
    dates: Mapping[str, DateTreatment] = field(default_factory=dict)
    household: tuple[str, ...] = ()
    weight: str | None = None
    """The column that tells how many people of the population each person of the table stands for."""
    show: Mapping[str, Show] = field(default_factory=dict)
    """What is published in place of labels, of quasi-identifiers that show anything else."""
    changes: Mapping[str, tuple[Change, ...]] = field(default_factory=dict)
    """What becomes of sensitive and kept columns before they are published, in order."""
    banded: Mapping[str, Hierarchy] = field(default_factory=dict)
    """Hierarchies by which such columns are banded: what is published are names of their nodes."""

    @property
    def written_quasi(self) -> tuple[str, ...]:
        """The columns that quasi-identifiers are written to: bounds take two."""
        return tuple(column for name in self.quasi for column in written_as(name, self.show.get(name)))

    @property
    def weights(self) -> tuple[str, ...]:
        """The column of weights, if there is one."""
        return () if self.weight is None else (self.weight,)

    @property
    def found_again(self) -> tuple[str, ...]:
        """Columns that are published and not counted, so that rows have to be found again: no guarantee covers them."""
        return (*self.kept, *self.dates, *self.pseudonyms)

    @property
    def keyed(self) -> bool:
        """Whether anything is made with the key of the pseudonyms."""
        return bool(self.pseudonyms) or any(treatment.needs_key for treatment in self.dates.values())

    @property
    def searched(self) -> Schema:
        """The schema as methods see it: sensitive values of events are people's own, and so is the household."""
        if not self.events and not self.household:
            return self
        household: dict[str, Hierarchy] = {HOUSEHOLD: Exact()} if self.household else {}
        return replace(self, sensitive={**self.sensitive, **self.events, **household})

    @property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """The hierarchies of all columns that have one."""
        of_items = {**self.items, **self.event_items}
        given = {name: hierarchy for name, hierarchy in of_items.items() if hierarchy is not None}
        return {**self.quasi, **self.sensitive, **self.events, **given, **self.banded}

    @property
    def found_again_by(self) -> tuple[str, ...]:
        """Columns by which a row that was counted is found again: what it shows, what it weighs, and whose it is."""
        return (*self.tallied, *self.weights, *self.owned_by)

    @property
    def owned_by(self) -> tuple[str, ...]:
        """Columns that tell whose a row is, and of which household."""
        return (*self.person, *(name for name in self.household if name not in self.person))

    @property
    def naming(self) -> tuple[str, ...]:
        """Columns that name somebody, and so may tell that several rows are one person's."""
        return (*self.identifiers, *self.pseudonyms)

    @property
    def published(self) -> tuple[str, ...]:
        """Columns of the release, in the order in which they are written."""
        values = (*self.sensitive, *self.items)
        return (*self.pseudonyms, *self.written_quasi, *values, *self.kept, *self.dates, *self.weights)

    @property
    def written_values(self) -> tuple[str, ...]:
        """Columns that are written beside the labels: sensitive values, and sets of items."""
        return (*self.sensitive, *self.items)

    @property
    def tallied(self) -> tuple[str, ...]:
        """Columns that methods and models look at."""
        return (*self.quasi, *self.sensitive)

    @classmethod
    def of(
        cls,
        columns: Sequence[str],
        *,
        quasi: Iterable[str] = (),
        sensitive: Iterable[str] = (),
        items: Iterable[str] = (),
        item_separator: str | None = None,
        person: str | Iterable[str] = (),
        household: str | Iterable[str] = (),
        identifiers: Iterable[str] = (),
        pseudonyms: Iterable[str] = (),
        keep: Iterable[str] = (),
        drop: Iterable[str] = (),
        others: Others | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        dates: Mapping[str, DateTreatment] | None = None,
        each_row_a_person: bool = False,
        weight: str | None = None,
        changes: Mapping[str, Change | Sequence[Change]] | None = None,
    ) -> Schema:
        """Give every column of a table its role; a column without one is an error unless `others` says otherwise.

        >>> Schema.of(["age", "sex", "flu"], quasi=["age"], sensitive=["flu"])
        Traceback (most recent call last):
        incrowd.errors.SchemaError: column 'sex' has no role.  Hint: name it, or say others="keep" or others="drop".
        """
        for name in columns:
            if "\0" in name:  # no file could be read back, and columns of our own are called so
                raise SchemaError(f"column '{name}' has a zero byte in its name.  Hint: rename it.")
        hierarchies = dict(hierarchies or {})
        roles = {
            "quasi": _names(quasi, "quasi"),
            "sensitive": _names(sensitive, "sensitive"),
            "identifiers": _names(identifiers, "identifiers"),
            "pseudonyms": _names(pseudonyms, "pseudonyms"),
            "keep": _names(keep, "keep"),
            "drop": _names(drop, "drop"),
            "items": _names(items, "items"),
            "dates": _treated(dates or {}),
            "weight": _one_name(weight, "weight"),
        }
        if len(roles["items"]) > 1:
            raise SchemaError("a table has one column of items, since an adversary may know items of several together.")
        # Whose a row is may be published under a pseudonym, or not at all.
        whose = (person,) if isinstance(person, str) else _names(person, "person")
        hidden = tuple(name for name in whose if name not in roles["pseudonyms"])
        roles["person"] = hidden
        # The household may be a part of a person's name: member 2 of household 17.
        lives = (household,) if isinstance(household, str) else _names(household, "household")
        roles["household"] = tuple(name for name in lives if name not in whose)
        _refuse_households(lives, whose, roles["pseudonyms"])
        if hidden and len(hidden) < len(whose):
            raise SchemaError(
                "some of the columns that tell whose a row is are pseudonyms, and others are not: a reader would take "
                "several people for one.  Hint: publish all of them under pseudonyms, or none."
            )
        if whose and each_row_a_person:
            raise SchemaError(
                "a person has either one row or the rows that `person` tells.  Hint: leave out one of the two."
            )
        role_of = _one_role_each(columns, roles)
        treatments = dict(dates or {})
        _require_treatable(treatments, columns, whose)
        changed = _changed(changes or {})
        banded = {name: hierarchies.pop(name) for name in _banded(changed) if name in hierarchies}
        for name in hierarchies:
            if role_of.get(name) not in ("quasi", "sensitive", "items"):
                raise SchemaError(
                    f"column '{name}' has a hierarchy but is neither quasi-identifier nor sensitive nor of items."
                    + did_you_mean(name, [*roles["quasi"], *roles["sensitive"], *roles["items"]])
                )
        rest = tuple(name for name in columns if name not in role_of)
        if others not in ("keep", "drop", None):
            raise SchemaError(f'others is "keep" or "drop", not "{others}".')
        if rest and others is None:
            listed = some_columns(rest, of=columns)
            one = len(rest) == 1 and not looks_like_data(columns)
            noun = "column has" if len(rest) == 1 else "columns have"
            raise SchemaError(
                (f"column {listed} has no role." if one else f"{len(rest)} {noun} no role: {listed}.")
                + f"  Hint: name it, or say {option('others', 'keep')} or {option('others', 'drop')}."
            )
        kept = roles["keep"] + (rest if others == "keep" else ())
        _require_changeable(changed, {**role_of, **dict.fromkeys(kept, "keep")}, columns, banded)
        return cls(
            quasi={name: hierarchies.get(name, Automatic()) for name in roles["quasi"]},
            sensitive={name: hierarchies.get(name, Exact()) for name in roles["sensitive"]},
            pseudonyms=roles["pseudonyms"],
            kept=kept,
            removed=(
                *hidden,
                *roles["household"],
                *roles["identifiers"],
                *roles["drop"],
                *(rest if others == "drop" else ()),
            ),
            items={name: hierarchies.get(name) for name in roles["items"]},
            item_separator=item_separator,
            person=whose,
            identifiers=roles["identifiers"],
            each_row_a_person=each_row_a_person,
            dates=treatments,
            household=lives,
            weight=weight,
            changes=changed,
            banded=banded,
        )


def _refuse_households(household: Sequence[str], person: Sequence[str], pseudonyms: Sequence[str]) -> None:
    """Refuse households that would be published, or that are taken for people."""
    if household and set(household) == set(person):
        raise SchemaError(
            "the same columns tell whose a row is and which household it is of.  Hint: with "
            f"{as_role('person')} alone, all guarantees are about households; with both, people and households are "
            "counted."
        )
    for name in household:
        if name in pseudonyms:
            raise SchemaError(
                f"column '{name}' tells the household, and a pseudonym for it would tie its members together.  Hint: "
                f"leave it out of the pseudonyms, or say {as_role('person', name)}: every guarantee is then about "
                "households."
            )


def _one_name(name: object, role: str) -> tuple[str, ...]:
    if name is not None and not isinstance(name, str):
        raise SchemaError(f'{role} is the name of one column.  Hint: write {role}="w".')
    return () if name is None else (name,)


def _treated(dates: object) -> tuple[str, ...]:
    example = 'dates={"visit": ic.TruncateDates("month")}'
    if not isinstance(dates, Mapping):
        raise SchemaError(f"dates is a table of columns, each with what becomes of its dates.  Hint: write {example}.")
    for treatment in dates.values():
        if DateTreatment not in type(treatment).__mro__:
            raise SchemaError(f"{type(treatment).__name__} is no treatment of dates.  Hint: write {example}.")
    return _names(dates, "dates")


def _require_treatable(dates: Mapping[str, DateTreatment], columns: Sequence[str], person: Sequence[str]) -> None:
    """Refuse treatments that lack what they need, and shifts of which a person would have several by accident."""
    shared: dict[str, int] = {}
    for name, treatment in dates.items():
        if treatment.needs_person and not person:
            raise SchemaError(
                f"column '{name}': {treatment.name} needs to know whose a row is.  Hint: name the column that tells "
                f"it, {as_role('person', 'patient', or_in_recipe='person-pseudonym')}."
            )
        for other in treatment.looks_at:
            if other not in columns:
                raise SchemaError(
                    f"column '{other}', which the dates of '{name}' are counted from, is not in the table."
                    f"{similar_columns(other, columns)}"
                )
        if treatment.shared_range is not None:
            shared[name] = treatment.shared_range
    for name in list(shared)[1:]:
        first = next(iter(shared))
        if shared[name] != shared[first]:
            raise SchemaError(
                f"columns '{first}' and '{name}' are shifted by up to different numbers of days, so that they cannot "
                f"move alike.  Hint: give both the same most_days, or one of them {option('apart', True)}, which gives "
                "up intervals between them."
            )


def _changed(changes: object) -> dict[str, tuple[Change, ...]]:
    """Return the changes of each column, in order; one may be given by itself."""
    example = 'changes={"income": ic.Rounding(1000)}'
    if not isinstance(changes, Mapping):
        raise SchemaError(f"changes is a table of columns, each with what becomes of its values.  Hint: {example}.")
    found = {}
    for name, given in changes.items():
        listed = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else (given,)
        for change in listed:
            if Change not in type(change).__mro__:
                raise SchemaError(f"{type(change).__name__} is no change of a column.  Hint: write {example}.")
        if listed:
            found[str(name)] = listed
    return dict(sorted(found.items()))


def _banded(changes: Mapping[str, tuple[Change, ...]]) -> list[str]:
    """Return the columns whose changes follow their hierarchy."""
    return [name for name, listed in changes.items() if any(change.uses_hierarchy for change in listed)]


def _require_changeable(
    changes: Mapping[str, tuple[Change, ...]],
    role_of: Mapping[str, str],
    columns: Sequence[str],
    banded: Mapping[str, Hierarchy],
) -> None:
    """Refuse changes of columns that are not published, or are published in another way."""
    for name in changes:
        if name not in columns:
            raise SchemaError(f"column '{name}' (changes) is not in the table.{similar_columns(name, columns)}")
        if role_of.get(name) == "quasi":
            raise SchemaError(
                f"column '{name}' is a quasi-identifier, and changes are for sensitive and kept columns.  Hint: what "
                f"a quasi-identifier is published as follows from its hierarchy and from {option('show')}."
            )
        if role_of.get(name) not in ("sensitive", "keep"):
            raise SchemaError(
                f"column '{name}' is neither sensitive nor kept, so there is nothing to change.  Hint: give it one of "
                "these roles, or leave out its change."
            )
    for name in _banded(changes):
        if name not in banded:
            raise SchemaError(
                f"column '{name}' is to be banded along its hierarchy, and has none.  Hint: give one with "
                f"{option('hierarchies')}, such as Intervals or Categories."
            )


def _names(names: Iterable[str], role: str) -> tuple[str, ...]:
    if isinstance(names, str):
        raise SchemaError(f'{role} is a list of column names.  Hint: write {role}=["{names}"].')
    names = tuple(names)
    for name in names:
        if not isinstance(name, str):
            raise SchemaError(f"{role} is a list of column names, which are text, not {name!r}.")
    return names


def _one_role_each(columns: Sequence[str], roles: Mapping[str, Sequence[str]]) -> dict[str, str]:
    role_of: dict[str, str] = {}
    known = set(columns)
    for role, names in roles.items():
        for name in names:
            if name not in known:
                raise SchemaError(f"column '{name}' ({role}) is not in the table.{similar_columns(name, columns)}")
            if name in role_of:
                both = role if role_of[name] == role else f"{role_of[name]} and {role}"
                raise SchemaError(f"column '{name}' is named twice: {both}.  Hint: give it one role.")
            role_of[name] = role
    return role_of
