"""The names of models, methods, attacks, metrics and hierarchies in recipes and on the command line.

Other packages add their own by entry point: group `incrowd.models`, `incrowd.methods`, `incrowd.attacks` or
`incrowd.metrics`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from incrowd import attacks, forms, hierarchies, methods, metrics, models
from incrowd.errors import RecipeError

_BUILT_IN: dict[str, tuple[type, ...]] = {
    "models": (
        models.KAnonymity,
        models.DistinctLDiversity,
        models.EntropyLDiversity,
        models.RecursiveLDiversity,
        models.ProbabilisticLDiversity,
        models.AlphaKAnonymity,
        models.TCloseness,
        models.ConfidenceBounds,
        models.DeltaDisclosure,
        models.BasicBetaLikeness,
        models.EnhancedBetaLikeness,
        models.FullKAnonymity,
        models.ProsecutorRisk,
        models.ExpectedConfidence,
        models.KMap,
        models.DeltaPresence,
        models.JournalistRisk,
        models.MarketerRisk,
        models.PopulationUniqueness,
        models.SlicedDiversity,
        models.BayesOptimalPrivacy,
    ),
    "methods": (
        methods.Mondrian,
        methods.FullDomain,
        methods.LevelSweep,
        methods.Microaggregation,
        methods.KMember,
        methods.InfoGainMondrian,
        methods.TopDownSpecialization,
        methods.BottomUpGeneralization,
        methods.LocalRecoding,
        methods.KDGS,
        methods.DiffGen,
        methods.ConsistentDiffGen,
        methods.Anatomy,
        methods.Slicing,
        methods.SDGS,
        methods.FlatHistogram,
        methods.HierarchicalHistogram,
        methods.MarginalSynthesis,
    ),
    "forms": (forms.ShowGeneralized, forms.ShowMultisets, forms.ShowBuckets, forms.ShowSlices),
    "metrics": (
        metrics.GlobalCertaintyPenalty,
        metrics.Discernibility,
        metrics.AverageGroupSize,
        metrics.Distortion,
        metrics.WithheldShare,
        metrics.IyengarLoss,
        metrics.Precision,
        metrics.Height,
        metrics.NonUniformEntropy,
        metrics.Ambiguity,
        metrics.KLDivergence,
        metrics.Granularity,
        metrics.TotalVariation,
        metrics.PairwiseTotalVariation,
        metrics.AssociationKept,
    ),
    "attacks": (
        attacks.Linkage,
        attacks.ExternalLinkage,
        attacks.Homogeneity,
        attacks.BackgroundKnowledge,
        attacks.JointKnowledge,
        attacks.Skewness,
        attacks.Similarity,
        attacks.Composition,
        attacks.Minimality,
        attacks.DeFinetti,
        attacks.ExtremeValues,
        attacks.Membership,
        attacks.SinglingOut,
    ),
    "hierarchies": (
        hierarchies.Automatic,
        hierarchies.Categories,
        hierarchies.Dates,
        hierarchies.Exact,
        hierarchies.Flat,
        hierarchies.Intervals,
        hierarchies.Masking,
    ),
}


@cache
def registered(family: str) -> Mapping[str, Any]:
    """Return the classes of a family by name, with plugins.

    Families are `models`, `methods`, `forms`, `attacks`, `metrics` and `hierarchies`.
    """
    found: dict[str, Any] = {cls.name: cls for cls in _BUILT_IN[family]}  # type: ignore[attr-defined]
    for entry in entry_points(group=f"incrowd.{family}"):
        cls = entry.load()
        if cls.name in found:
            raise RecipeError(
                f"two {family} are called '{cls.name}': {found[cls.name].__module__} and {cls.__module__}."
            )
        found[cls.name] = cls
    return found
