"""Whom a promise of differential privacy is made to: people, as far as the schema tells whose a row is.

What is refused here depends on declarations alone. A table in which nobody has two rows is treated like any other: a
person more, with many rows, must not change what is done.
"""

from __future__ import annotations

from incrowd.common.surface import as_role, option
from incrowd.core.method import AnyMethod
from incrowd.core.schema import Schema
from incrowd.errors import SchemaError


def refuse_unbounded(owner: str, schema: Schema, most_rows: int | None, *, nobody_refused: bool) -> None:
    """Refuse a promise per person without a bound on a person's rows, and a bound where nobody told whose rows are.

    Where `nobody_refused`, it must be told whose rows are, if something else names people: to look whether names repeat
    and refuse would tell of a person.
    """
    if schema.person and most_rows is None:
        raise SchemaError(
            f"{owner} promises differential privacy, and the schema tells whose a row is: say how many rows of a "
            f"person it may look at.  Hint: {option('most_rows', 1, section='method')} keeps one row of each person, "
            "chosen at random, and adds the least noise; "
            f"{option('most_rows', 10, section='method')} keeps up to ten, with noise for ten."
        )
    if most_rows is not None and not schema.person:
        raise SchemaError(
            f"{owner} is to look at no more than {most_rows:,} {'row' if most_rows == 1 else 'rows'} of each person, "
            f"and no column tells whose a row is.  Hint: say {as_role('person', 'name')} of such a column, or leave "
            "out most_rows."
        )
    if nobody_refused and schema.naming and not schema.person and not schema.each_row_a_person:
        raise SchemaError(
            f"column '{schema.naming[0]}' names people. With {option('undeclared', 'missing')}, nobody looks whether "
            "its values repeat, since a refusal would tell, so say whose a row is.  Hint: "
            f"{as_role('person', schema.naming[0])} and most_rows if a person may have several rows; "
            f"{option('each_row_a_person', True)} if each row is one."
        )


def refuse_unbounded_method(method: AnyMethod, schema: Schema) -> None:
    """Refuse the same of a method, where it promises differential privacy."""
    if method.promises_privacy:
        refuse_unbounded(method.name, schema, method.most_rows, nobody_refused=method.allows_empty)
