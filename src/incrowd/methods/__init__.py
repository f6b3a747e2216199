"""How to get a safe table: who hides together."""

from incrowd.methods.anatomy import Anatomy
from incrowd.methods.bottom_up_generalization import BottomUpGeneralization
from incrowd.methods.diffgen import ConsistentDiffGen, DiffGen
from incrowd.methods.flat_histogram import FlatHistogram
from incrowd.methods.full_domain import FullDomain
from incrowd.methods.hierarchical_histogram import HierarchicalHistogram
from incrowd.methods.infogain_mondrian import InfoGainMondrian
from incrowd.methods.k_dgs import KDGS
from incrowd.methods.k_member import KMember
from incrowd.methods.level_sweep import LevelSweep
from incrowd.methods.local_recoding import LocalRecoding
from incrowd.methods.marginals import MarginalSynthesis
from incrowd.methods.method import Method
from incrowd.methods.microaggregation import Microaggregation
from incrowd.methods.mondrian import Mondrian
from incrowd.methods.sdgs import SDGS
from incrowd.methods.slicing import Slicing
from incrowd.methods.top_down_specialization import TopDownSpecialization

__all__ = [
    "KDGS",
    "SDGS",
    "Anatomy",
    "BottomUpGeneralization",
    "ConsistentDiffGen",
    "DiffGen",
    "FlatHistogram",
    "FullDomain",
    "HierarchicalHistogram",
    "InfoGainMondrian",
    "KMember",
    "LevelSweep",
    "LocalRecoding",
    "MarginalSynthesis",
    "Method",
    "Microaggregation",
    "Mondrian",
    "Slicing",
    "TopDownSpecialization",
]
