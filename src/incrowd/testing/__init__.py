"""The conformance suite: does a part keep the promises that every one of incrowd's keeps?

It runs on everything that is registered, and on yours: install `incrowd[testing]` and write a test.

>>> from incrowd.testing import check_attack, check_method, check_metric, check_model
>>> from incrowd import Homogeneity, KAnonymity, Mondrian
>>> check_method(Mondrian(), examples=3)
>>> check_model(KAnonymity(3), examples=3)
>>> check_attack(Homogeneity(), examples=3)

A model is also compared with its definition, if you give one: a function of the model, the members of one group and all
rows of the table. Missing values protect nobody, so this one looks at those that are recorded.

>>> from collections import Counter
>>> from incrowd import ProbabilisticLDiversity
>>> def at_most_half(model, members, table):
...     known = [Counter(row[name] for row in members if row[name] is not None) for name in ("s0", "s1")]
...     return all(2 * max(counts.values(), default=1) <= counts.total() for counts in known)
>>> check_model(ProbabilisticLDiversity(2), definition=at_most_half, examples=3)

Hierarchies, forms, changes of columns and sinks have suites, too, and `check_registered` runs them all on whatever is
registered.

>>> from incrowd.testing import check_form, check_hierarchy, check_registered, check_sink
>>> from incrowd import Masking, ShowGeneralized
>>> check_hierarchy(Masking(), examples=10)
>>> check_form(ShowGeneralized(), examples=2)
>>> check_registered(["metrics"], examples=1)["metrics"][0]
'Ambiguity()'

A failure is an `AssertionError` with the smallest table on which it was found. The tables are drawn by
`strategies.cases`: all kinds of columns, missing values, constants, text that looks like labels, names that clash.
The promises are the functions in `promises`, those of attacks in `trials`, of forms in `showings`, of hierarchies in
`growing`, of changes in `changing` and of sinks in `writing`; the claims of models are those in `claims` and those of
metrics in `measures`. Each can be called by itself. What they compare with is in `naive`, plain Python over rows.
"""

from incrowd.common.extras import needing_extra

with needing_extra("testing", "conformance checks"):
    from incrowd.testing.case import Attempt, Case
    from incrowd.testing.checks import (
        check_attack,
        check_change,
        check_form,
        check_hierarchy,
        check_method,
        check_metric,
        check_model,
        check_shows,
        check_sink,
    )
    from incrowd.testing.everything import check_registered

__all__ = [
    "Attempt",
    "Case",
    "check_attack",
    "check_change",
    "check_form",
    "check_hierarchy",
    "check_method",
    "check_metric",
    "check_model",
    "check_registered",
    "check_shows",
    "check_sink",
]
