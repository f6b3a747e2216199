"""Which attributes may share a column with a sensitive one, if ℓ-diversity is to be possible at all.

The known part of the sensitive column is published beside the sensitive value. If it tells more than 1/ℓ by itself,
over the whole table, no buckets can hide that: a doctorate that goes with one job in a third of all cases, a country of
birth of which there are but two people. Attributes that say too much go to another column.

Cost: one group-by of the tally for each attribute that keeps a sensitive one company.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from incrowd.slicing.buckets import too_certain
from incrowd.slicing.columns import Columns
from incrowd.slicing.matching import Floats
from incrowd.slicing.sliced import slice_tally
from incrowd.tally import Tally


def limit_company(
    tally: Tally,
    columns: Columns,
    sensitive: Sequence[str],
    phi: Floats,
    attributes: Sequence[str],
    l: float | Fraction,
    *,
    withheld: float = 0.0,
) -> Columns:
    """Return the columns with no more company for sensitive attributes than l-diversity allows.

    Attributes keep a sensitive one company in the order of how strongly they hang together with it, each if not more
    than the share `withheld` of rows then has a known part that tells too much (those rows must be withheld). The
    others join the column without a sensitive attribute that they are nearest to on average, or make one of their own.
    `phi` is that of `attributes`.
    """
    place = {name: at for at, name in enumerate(attributes)}
    secret = set(sensitive)
    kept = [[name for name in column if name in secret or not secret & set(column)] for column in columns]
    refused: list[str] = []
    for at, column in enumerate(columns):
        secrets = [place[name] for name in column if name in secret]
        company = [name for name in column if name not in secret and secrets]
        for name in sorted(company, key=lambda name: (-float(phi[place[name], secrets].max()), name)):
            tried = [[*other, name] if number == at else other for number, other in enumerate(kept)]
            certain = too_certain(slice_tally(tally, tried, sensitive), l)
            if tally.counts[certain].sum() <= withheld * tally.rows:
                kept = tried
            else:
                refused.append(name)
    harmless = [column for column in kept if not secret & set(column)]
    homes = [list(column) for column in harmless]
    for name in refused:
        if not harmless:
            homes = [[*(homes[0] if homes else []), name]]
            continue
        nearness = [float(np.mean([phi[place[name], place[other]] for other in column])) for column in harmless]
        homes[int(np.argmax(np.round(nearness, 12)))].append(name)
    sensitive_columns = [column for column in kept if secret & set(column)]
    return tuple(sorted(tuple(sorted(column)) for column in [*sensitive_columns, *homes]))
