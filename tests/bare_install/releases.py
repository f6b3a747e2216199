"""Every method in a form, saved in every format, exported, and opened and audited by another process."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROWS = 400
EXPORTED = ("repr", "html", "summary", "count", "training set", "frame", "polars")


def cases(place: Path) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Return what is read and what is asked for, by the name of the method; for some, in another form besides."""
    import incrowd as ic
    from incrowd.methods.scheme import Scheme

    trees = {
        "age": ic.Intervals(widths=ic.datasets.CENSUS_AGE_WIDTHS, lower=0, upper=100),
        **{name: ic.Categories.from_tree(tree) for name, tree in ic.datasets.CENSUS_TREES.items() if name != "age"},
    }

    def table(*quasi: str, sensitive: str = "occupation") -> dict[str, Any]:
        columns = [*quasi, *([sensitive] if sensitive else [])]
        return {
            "quasi": list(quasi),
            "sensitive": columns[len(quasi) :],
            "others": "drop",
            "hierarchies": {name: trees[name] for name in columns},
        }

    people, private = table("age", "sex", "education"), table("age", "sex", sensitive="marital")
    size, diverse = ic.BucketSize(5), ic.ProbabilisticLDiversity(2)
    return {
        "mondrian": (people, {"require": [size, ic.LDiversity(2)], "method": ic.Mondrian()}),
        "mondrian, multisets": (people, {"require": size, "method": ic.Mondrian(), "form": ic.ShowMultisets()}),
        "mondrian, bucketized": (people, {"require": size, "method": ic.Mondrian(), "form": ic.ShowBuckets()}),
        "mondrian, sliced": (people, {"require": size, "method": ic.Mondrian(), "form": ic.ShowSlices()}),
        "infogain-mondrian": (people, {"require": size, "method": ic.InfoGainMondrian(target="occupation")}),
        "full-domain": (people, {"require": size, "method": ic.FullDomain(max_withheld=0.05)}),
        "scheme": (people, {"require": size, "method": Scheme(str(place / "full-domain" / "csv"))}),
        "local-suppression": (people, {"require": size, "method": ic.LocalSuppression()}),
        "level-sweep": (people, {"require": size, "method": ic.LevelSweep()}),
        "local-recoding": (people, {"require": size, "method": ic.LocalRecoding()}),
        "microaggregation": (people, {"require": size, "method": ic.Microaggregation()}),
        "k-member": (people, {"require": size, "method": ic.KMember()}),
        "top-down-specialization": (people, {"require": size, "method": ic.TopDownSpecialization()}),
        "bottom-up-generalization": (people, {"require": size, "method": ic.BottomUpGeneralization()}),
        "k-dgs": (table("age", "sex"), {"method": ic.KDGS(5, levels={"age": 1})}),
        "sdgs": (
            table("age", "sex", sensitive=""),
            {"method": ic.SDGS(10, levels={"age": 2}, epsilon=2), "sample": 0.4},
        ),
        "anatomy": (people, {"require": diverse, "method": ic.Anatomy()}),
        "m-invariance": ({**people, "person": "number"}, {"method": ic.MInvariance(2)}),
        "slicing": (people, {"require": ic.SlicedDiversity(2), "method": ic.Slicing()}),
        "diffgen": (private, {"method": ic.DiffGen(1, steps=4)}),
        "consistent-diffgen": (private, {"method": ic.ConsistentDiffGen(1, steps=4)}),
        "flat-histogram": (private, {"method": ic.FlatHistogram(1)}),
        "hierarchical-histogram": (table("age", sensitive="marital"), {"method": ic.HierarchicalHistogram(1)}),
        "marginals": (private, {"method": ic.MarginalSynthesis(1)}),
        "adaptive": (private, {"method": ic.AdaptiveSynthesis(1, "1e-9")}),
    }


def faults(place: Path) -> Iterator[str]:
    """Yield what does not work in this process, then in another that finds only the files."""
    import incrowd as ic
    from incrowd.core.families import registered

    warnings.simplefilter("error")
    asked = cases(place)
    for family, covered in (("methods", {name.partition(",")[0] for name in asked}), ("forms", _forms(asked))):
        for name in sorted(set(registered(family)) - covered):
            yield f"no case publishes by {family}: {name}"
    people = ic.datasets.census(ROWS, seed=3).with_row_index("number")
    people.write_csv(place / "people.csv")
    for name, (given, wanted) in asked.items():
        try:
            release = ic.publish(ic.read(people, **given), **wanted, seed=1)
            _export(release, given["quasi"][0])
            for sink in (one for one, kind in registered("sinks").items() if kind.extra is None):
                release.save(place / name / sink, format=sink)
        except Exception as error:
            yield f"{name}: {type(error).__name__}: {error}"
    done = subprocess.run([sys.executable, "-m", __name__, str(place)], capture_output=True, text=True, timeout=600)
    yield from done.stdout.splitlines()
    if done.returncode != 0:
        yield f"opening what was saved: {done.stderr}"


def _forms(asked: dict[str, tuple[dict[str, Any], dict[str, Any]]]) -> set[str]:
    return {wanted["form"].name for _, wanted in asked.values() if "form" in wanted} | {"generalized"}


def _export(release: Any, column: str) -> None:
    """Have everything that can be had of a release."""
    assert repr(release).startswith("Release(")
    assert "<table" in release._repr_html_()
    assert json.loads(json.dumps(release.summary))["format"] == 1
    assert release.count({}) >= 0
    assert release.data.height == release.to_polars().height == release.rows
    features, classes, weights = release.training_set(column, seed=1)
    assert features.height == len(classes) == len(weights)


def open_all(place: Path) -> Iterator[str]:
    """Open every saved release; audit each in one of its formats."""
    import incrowd as ic

    original = place / "people.csv"
    for number, saved in enumerate(sorted(path for path in place.iterdir() if path.is_dir())):
        formats = sorted(path for path in saved.iterdir() if path.is_dir())
        audited = number % len(formats)
        for turn, directory in enumerate(formats):
            try:
                release = ic.open_release(directory, original=original if turn == audited else None)
                assert release.to_polars().height == release.rows
                if turn == audited:
                    found = release.audit()
                    json.dumps(found.to_dict(), allow_nan=False)
                    assert "<html" in found.save(directory / "audit.html").read_text(encoding="utf-8")
            except Exception as error:
                yield f"{saved.name}, {directory.name}, opened again: {type(error).__name__}: {error}"


if __name__ == "__main__":
    for fault in open_all(Path(sys.argv[1])):
        print(fault)
