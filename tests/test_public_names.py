"""The public face: which names there are, and what is loaded before one of them is used."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import incrowd

NAMES = [
    "KDGS",
    "SDGS",
    "Scheme",
    "AdaptiveSynthesis",
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
    "IndividualRisk",
    "JournalistRisk",
    "KAnonymity",
    "LocalSuppression",
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
"""What version 0.1 had, and every later one must have; a new part adds its class without being listed here."""

SLOW_TO_IMPORT = ["polars", "rich", "numpy", "pandas", "pyarrow"]


def test_the_names_of_the_first_version_stay() -> None:
    assert set(NAMES) <= set(incrowd.__all__)
    assert set(NAMES) <= set(dir(incrowd))


def test_every_public_name_is_listed_once_and_can_be_had() -> None:
    names = incrowd.__all__
    assert names == sorted(set(names))
    assert sorted(dir(incrowd)) == sorted([*names, "__version__"])
    assert not [name for name in names if name.startswith("_")]
    assert not [name for name in names if getattr(incrowd, name, None) is None]


def stub() -> str:
    """Return the text that the build writes for type checkers."""
    path = Path(__file__).parents[1] / "docs" / "typed_names.py"
    spec = importlib.util.spec_from_file_location("typed_names", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.stub(Path(incrowd.__file__).parent))


def test_type_checkers_are_told_the_same_names() -> None:
    tree = ast.parse(stub()).body
    told = [
        (node.module, alias.name, alias.asname)
        for node in tree
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    declared = [
        node.target.id for node in tree if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]
    assert sorted(name for _, name, _ in told) == incrowd.__all__
    assert declared == ["__version__"]
    assert all(name == shown for _, name, shown in told), "only what is imported as itself is public"
    for home, name, _ in told:
        at_home = importlib.import_module(str(home))
        assert getattr(at_home, name) is getattr(incrowd, name)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_there(name: str) -> None:
    assert getattr(incrowd, name) is not None


def test_functions_are_not_hidden_by_modules() -> None:
    import incrowd.publishing.check
    import incrowd.publishing.publish

    assert callable(incrowd.publish)
    assert callable(incrowd.check)


def test_no_other_name_is_there() -> None:
    with pytest.raises(AttributeError, match="module 'incrowd' has no attribute 'anonymize'"):
        incrowd.anonymize  # noqa: B018


def loaded_by(code: str) -> list[str]:
    """Which of the slow modules a fresh interpreter has loaded after running some code."""
    told = f"{code}\nimport sys\nprint('loaded:', *[name for name in {SLOW_TO_IMPORT} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.splitlines()[-1].split()[1:]


def test_importing_the_package_loads_nothing_slow() -> None:
    assert loaded_by("import incrowd") == []
    assert loaded_by("import incrowd.errors") == []


def run(*arguments: str) -> str:
    return (
        "import runpy, sys\n"
        f"sys.argv = ['incrowd', *{list(arguments)}]\n"
        "try: runpy.run_module('incrowd', run_name='__main__')\n"
        "except SystemExit as end: assert not end.code, end.code\n"
    )


def test_help_loads_nothing_slow() -> None:
    """One interpreter asks all of them: what any had loaded would be there at the end."""
    commands: list[list[str]] = [[], ["demo"], ["profile"], ["hierarchy"], ["publish"], ["check"]]
    assert set(loaded_by("".join(run(*command, "--help") for command in commands))) <= {"rich"}


def test_the_version_loads_nothing_slow() -> None:
    assert loaded_by(run("--version")) == []


def test_the_version_is_that_of_the_distribution() -> None:
    from importlib.metadata import version

    assert version("incrowd") == incrowd.__version__
