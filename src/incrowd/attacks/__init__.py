"""What an adversary tries on a release."""

from incrowd.attacks.attack import Attack
from incrowd.attacks.background_knowledge import BackgroundKnowledge
from incrowd.attacks.composition import Composition
from incrowd.attacks.definetti import DeFinetti
from incrowd.attacks.external_linkage import ExternalLinkage
from incrowd.attacks.extreme_values import ExtremeValues
from incrowd.attacks.homogeneity import Homogeneity
from incrowd.attacks.joint_knowledge import JointKnowledge
from incrowd.attacks.ladder import Rung, ladder, somebody
from incrowd.attacks.linkage import Linkage
from incrowd.attacks.membership import Membership
from incrowd.attacks.minimality import Minimality
from incrowd.attacks.risk import Risk, Threat
from incrowd.attacks.similarity import Similarity
from incrowd.attacks.singling_out import SinglingOut
from incrowd.attacks.skewness import Skewness
from incrowd.attacks.target import People, Target

__all__ = [
    "Attack",
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
    "People",
    "Risk",
    "Rung",
    "Similarity",
    "SinglingOut",
    "Skewness",
    "Target",
    "Threat",
    "ladder",
    "somebody",
]
