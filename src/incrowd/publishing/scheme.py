"""The scheme of a release: which levels or cuts each column got, and giving other rows the same labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.common.records import dataclass
from incrowd.core.method import AnyMethod
from incrowd.core.model import Model, verified_models
from incrowd.core.show import ALL
from incrowd.errors import QueryError
from incrowd.forms.told_scheme import told_scheme
from incrowd.methods.scheme import Scheme, SchemeGroups
from incrowd.publishing.table import Table, read

if TYPE_CHECKING:
    from incrowd.core.pseudonyms import PseudonymKey
    from incrowd.ledger import Ledger
    from incrowd.publishing.release import Release
    from incrowd.publishing.remembering import IfUnsafe


@dataclass(frozen=True, eq=False)
class ReleaseScheme:
    """What a release did to each column, to be done again to other rows."""

    columns: Mapping[str, Any]
    """The levels or cuts of each column."""
    groups: SchemeGroups = field(repr=False)
    models: tuple[Model, ...]
    roles: Mapping[str, Any] = field(repr=False)
    """How other tables are read: the keywords of `incrowd.read`."""
    place: str = ""
    """The directory of the release, where it was read from files."""

    @classmethod
    def of(cls, release: Release) -> ReleaseScheme:
        """Return the scheme of a release with labels."""
        form, meanings = release.form.labelled, release.label_meanings
        if form is None or meanings is None:
            raise QueryError(f"this release is {release.shown.name}: it has no labels that other rows could get.")
        return cls(
            told_scheme(form)["columns"],
            SchemeGroups.of(form.shown, form.schema, meanings),
            verified_models(release.guarantees),
            release.roles,
            release.place,
        )

    def apply(
        self,
        source: object,
        *,
        require: Sequence[Model] | None = None,
        seed: int | None = None,
        pseudonym_key: PseudonymKey | None = None,
        ledger: Ledger | None = None,
        if_unsafe: IfUnsafe = "refuse",
    ) -> Release:
        """Give the rows of another table the same labels; withhold what fits none or fails a model.

        Parameters
        ----------
        source : a table, as `incrowd.read` opens it, or anything that it can open: its columns then have the roles that
            they had, and columns that the first table lacked are dropped.
        require : the models that the new release must satisfy (default: those of the first one).
        seed : makes chance repeatable (default: the operating system's chance).
        pseudonym_key : makes the same pseudonyms as before (default: a key that is drawn now and forgotten).
        ledger : where the release is written down, and judged together with earlier ones, as `publish` does.
        if_unsafe : "refuse" or "withhold": what becomes of it where they tell too much together (default: "refuse").

        >>> import incrowd as ic
        >>> roles = {"quasi": ["age", "sex"], "sensitive": ["occupation"], "others": "drop"}
        >>> first = ic.publish(ic.read(ic.datasets.census(1000), **roles), ic.KAnonymity(5), seed=1)
        >>> second = first.scheme.apply(ic.datasets.census(1000, seed=7))
        >>> set(second.to_polars()["age"]) <= set(first.to_polars()["age"])
        True
        """
        from incrowd.publishing.publish import publish  # which makes releases, and so knows of their schemes

        table = source if isinstance(source, Table) else read(source, **self.roles)
        return publish(
            table,
            self.models if require is None else require,
            method=Scheme(self.place, self.groups),
            show={ALL: "label", **self.groups.show},
            seed=seed,
            pseudonym_key=pseudonym_key,
            ledger=ledger,
            if_unsafe=if_unsafe,
        )


def with_scheme(method: AnyMethod) -> AnyMethod:
    """Return a method that knows its groups, where it is the scheme of a release in files."""
    if not isinstance(method, Scheme) or method.groups is not None or not method.release:
        return method
    from incrowd.publishing.opening.open_release import open_release  # which imports what makes releases

    return replace(method, groups=open_release(Path(method.release)).scheme.groups)
