"""incrowd: publish tables about people so that the people stay hidden and the data stays useful.

>>> import incrowd as ic
>>> people = ic.datasets.census(2000)
>>> table = ic.read(people, quasi=["age", "sex", "education"], sensitive=["occupation"], others="drop")
>>> release = ic.publish(table, [ic.KAnonymity(5), ic.LDiversity(3)], method=ic.Mondrian())
>>> release.withheld
0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd import datasets, errors
    from incrowd.attacks import (
        BackgroundKnowledge,
        Composition,
        DeFinetti,
        ExternalLinkage,
        ExtremeValues,
        Homogeneity,
        JointKnowledge,
        Linkage,
        Membership,
        Minimality,
        Risk,
        Similarity,
        SinglingOut,
        Skewness,
    )
    from incrowd.auditing import Audit, audit, open_release
    from incrowd.checking import Check, check
    from incrowd.comparing import Comparison, compare
    from incrowd.forms import ShowBuckets, ShowGeneralized, ShowMultisets, ShowSlices
    from incrowd.hierarchies import Automatic, Categories, Dates, Flat, Hierarchy, Intervals, Masking
    from incrowd.methods import (
        KDGS,
        SDGS,
        Anatomy,
        BottomUpGeneralization,
        ConsistentDiffGen,
        DiffGen,
        FlatHistogram,
        FullDomain,
        HierarchicalHistogram,
        InfoGainMondrian,
        KMember,
        LevelSweep,
        LocalRecoding,
        MarginalSynthesis,
        Method,
        Microaggregation,
        Mondrian,
        Slicing,
        TopDownSpecialization,
    )
    from incrowd.models import (
        AlphaKAnonymity,
        BasicBetaLikeness,
        BayesOptimalPrivacy,
        ConfidenceBounds,
        DeltaDisclosure,
        DeltaPresence,
        DifferentialPrivacy,
        DistinctLDiversity,
        EnhancedBetaLikeness,
        EntropyLDiversity,
        ExpectedConfidence,
        FullKAnonymity,
        Guarantee,
        JournalistRisk,
        KAnonymity,
        KMap,
        LDiversity,
        MarketerRisk,
        Model,
        PopulationUniqueness,
        ProbabilisticLDiversity,
        ProsecutorRisk,
        RecursiveLDiversity,
        SlicedDiversity,
        TCloseness,
    )
    from incrowd.planning import plan_release
    from incrowd.private_table import PrivateTable
    from incrowd.pseudonyms import PseudonymKey
    from incrowd.publishing import publish
    from incrowd.recipe import Recipe
    from incrowd.releases.release import Release
    from incrowd.schema import Schema
    from incrowd.separate_publishing import publish_separately
    from incrowd.table import Table, read

__version__ = "0.1.0"

__all__ = [
    "KDGS",
    "SDGS",
    "AlphaKAnonymity",
    "Anatomy",
    "Audit",
    "Automatic",
    "BackgroundKnowledge",
    "BasicBetaLikeness",
    "BayesOptimalPrivacy",
    "BottomUpGeneralization",
    "Categories",
    "Check",
    "Comparison",
    "Composition",
    "ConfidenceBounds",
    "ConsistentDiffGen",
    "Dates",
    "DeFinetti",
    "DeltaDisclosure",
    "DeltaPresence",
    "DiffGen",
    "DifferentialPrivacy",
    "DistinctLDiversity",
    "EnhancedBetaLikeness",
    "EntropyLDiversity",
    "ExpectedConfidence",
    "ExternalLinkage",
    "ExtremeValues",
    "Flat",
    "FlatHistogram",
    "FullDomain",
    "FullKAnonymity",
    "Guarantee",
    "HierarchicalHistogram",
    "Hierarchy",
    "Homogeneity",
    "InfoGainMondrian",
    "Intervals",
    "JointKnowledge",
    "JournalistRisk",
    "KAnonymity",
    "KMap",
    "KMember",
    "LDiversity",
    "LevelSweep",
    "Linkage",
    "LocalRecoding",
    "MarginalSynthesis",
    "MarketerRisk",
    "Masking",
    "Membership",
    "Method",
    "Microaggregation",
    "Minimality",
    "Model",
    "Mondrian",
    "PopulationUniqueness",
    "PrivateTable",
    "ProbabilisticLDiversity",
    "ProsecutorRisk",
    "PseudonymKey",
    "Recipe",
    "RecursiveLDiversity",
    "Release",
    "Risk",
    "Schema",
    "ShowBuckets",
    "ShowGeneralized",
    "ShowMultisets",
    "ShowSlices",
    "Similarity",
    "SinglingOut",
    "Skewness",
    "SlicedDiversity",
    "Slicing",
    "TCloseness",
    "Table",
    "TopDownSpecialization",
    "audit",
    "check",
    "compare",
    "datasets",
    "errors",
    "open_release",
    "plan_release",
    "publish",
    "publish_separately",
    "read",
]

# Each name is imported when it is first used: the command line answers `--help` without loading Polars.
_HOMES = {
    "incrowd.attacks": (
        "BackgroundKnowledge",
        "Composition",
        "DeFinetti",
        "ExternalLinkage",
        "ExtremeValues",
        "Homogeneity",
        "JointKnowledge",
        "Linkage",
        "Membership",
        "Minimality",
        "Risk",
        "Similarity",
        "SinglingOut",
        "Skewness",
    ),
    "incrowd.auditing": ("Audit", "audit", "open_release"),
    "incrowd.checking": ("Check", "check"),
    "incrowd.comparing": ("Comparison", "compare"),
    "incrowd.forms": ("ShowBuckets", "ShowGeneralized", "ShowMultisets", "ShowSlices"),
    "incrowd.hierarchies": ("Automatic", "Categories", "Dates", "Flat", "Hierarchy", "Intervals", "Masking"),
    "incrowd.methods": (
        "Anatomy",
        "BottomUpGeneralization",
        "ConsistentDiffGen",
        "DiffGen",
        "FlatHistogram",
        "FullDomain",
        "HierarchicalHistogram",
        "InfoGainMondrian",
        "KDGS",
        "KMember",
        "LevelSweep",
        "LocalRecoding",
        "MarginalSynthesis",
        "Method",
        "Microaggregation",
        "Mondrian",
        "SDGS",
        "Slicing",
        "TopDownSpecialization",
    ),
    "incrowd.models": (
        "AlphaKAnonymity",
        "BasicBetaLikeness",
        "BayesOptimalPrivacy",
        "ConfidenceBounds",
        "DeltaDisclosure",
        "DeltaPresence",
        "DifferentialPrivacy",
        "DistinctLDiversity",
        "EnhancedBetaLikeness",
        "EntropyLDiversity",
        "ExpectedConfidence",
        "FullKAnonymity",
        "Guarantee",
        "JournalistRisk",
        "KAnonymity",
        "KMap",
        "LDiversity",
        "MarketerRisk",
        "Model",
        "PopulationUniqueness",
        "ProbabilisticLDiversity",
        "ProsecutorRisk",
        "RecursiveLDiversity",
        "SlicedDiversity",
        "TCloseness",
    ),
    "incrowd.planning": ("plan_release",),
    "incrowd.private_table": ("PrivateTable",),
    "incrowd.pseudonyms": ("PseudonymKey",),
    "incrowd.publishing": ("publish",),
    "incrowd.recipe": ("Recipe",),
    "incrowd.releases.release": ("Release",),
    "incrowd.schema": ("Schema",),
    "incrowd.separate_publishing": ("publish_separately",),
    "incrowd.table": ("Table", "read"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in ("datasets", "errors"):
        return import_module(f"incrowd.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'incrowd' has no attribute '{name}'")
    found = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
