"""What documents show is so: the example of CONTRIBUTING is a model that works as it stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import incrowd as ic
from incrowd.common.arrays import Bools
from incrowd.core.groups import Groups
from incrowd.core.model import Model
from incrowd.errors import IncrowdError
from incrowd.testing import check_model

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def average_size() -> Any:
    """The class of the code block; its imports are those that the text takes for granted."""
    (code,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.DOTALL
    )
    names: dict[str, Any] = {
        "dataclass": dataclass, "ClassVar": ClassVar, "np": np, "Bools": Bools, "Groups": Groups, "Model": Model,
        "__name__": __name__,
    }  # fmt: skip
    exec(f"from __future__ import annotations\n{code}", names)
    return names["AverageSize"]


def test_the_model_of_contributing_conforms(average_size: Any) -> None:
    for example in average_size.examples():
        check_model(example, local=False, examples=10)


def test_the_model_of_contributing_can_be_required(average_size: Any) -> None:
    table = ic.read(ic.datasets.census(300), quasi=["age", "sex"], others="drop")
    release = ic.publish(table, [ic.KAnonymity(2), average_size(4)], method=ic.FullDomain(max_withheld=0.2))
    assert str(release.guarantees[-1]).startswith("average size 4 (verified; achieved ")
    assert release.rows / len(release.form.group_sizes) >= 4
    with pytest.raises(IncrowdError):
        ic.publish(table, average_size(301), method=ic.FullDomain())


def test_contributing_names_every_kind_of_part() -> None:
    from incrowd.core.families import FAMILIES

    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = {line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")}
    assert {family.one for family in FAMILIES.values()} | {"command"} <= rows
