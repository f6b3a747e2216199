"""Which part of the evidence answers which question of the texts that reviewers go by.

The texts are named, not quoted, and the headings are in our own words: the mapping helps a reviewer to find things. It
does not say that a text's demands are met.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

SECTIONS: Mapping[str, str] = {
    "published": "What is published and withheld",
    "variables": "Technique for each variable",
    "risk": "Risk: initial, threshold, residual",
    "adversaries": "Adversaries that were tried",
    "usefulness": "What the data is still good for",
    "assumptions": "Assumptions",
    "context": "Context",
    "ledger": "Earlier releases and budgets",
    "hashes": "Versions and hashes",
}
"""The parts of the evidence by key, in their order."""

STANDARDS: Mapping[str, Sequence[tuple[str, tuple[str, ...]]]] = {
    "GDPR (opinion 05/2014 on anonymisation, three questions)": (
        ("Can somebody be singled out?", ("adversaries", "risk")),
        ("Can records about somebody be linked?", ("adversaries", "ledger")),
        ("Can something be inferred about somebody?", ("adversaries",)),
    ),
    "EMA Policy 0070 and Health Canada (anonymisation report)": (
        ("Variables that identify, and what was done with each", ("variables",)),
        ("Adversaries and attacks considered", ("adversaries", "assumptions")),
        ("Risk before and after, and the threshold", ("risk",)),
        ("Context of the release and its controls", ("context",)),
        ("Usefulness that is left", ("usefulness",)),
    ),
    "ISO/IEC 27559 (framework for de-identification)": (
        ("Context: recipients, environment, agreement", ("context",)),
        ("Data: people, variables, what is published", ("published", "variables")),
        ("Identifiability: measured, and mitigated", ("risk", "adversaries", "variables")),
        ("Governance: records, review, what happens later", ("ledger", "hashes", "context")),
    ),
    "NIST SP 800-188 (de-identifying government data sets)": (
        ("Aims and use of the release", ("context", "usefulness")),
        ("Threats, and tests of re-identification", ("adversaries", "risk")),
        ("Techniques, and how they were validated", ("variables", "published")),
        ("Other releases about the same people", ("ledger",)),
        ("Review and record", ("hashes", "context")),
    ),
}
