"""The example of each part's page: code that runs as it stands, and prints numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incrowd.core.families import registered as members


def example(family: str, name: str, text: Mapping[str, Any]) -> str:
    """Return the code of a part's example; it runs as it stands."""
    return {
        "models": _of_model, "methods": _of_method, "forms": _of_form, "attacks": _of_attack, "metrics": _of_metric,
        "set_models": _of_sets, "set_methods": _of_sets,
    }[family](name, text)  # fmt: skip


def _of_model(name: str, text: Mapping[str, Any]) -> str:
    column, before, more = text.get("sensitive", "marital"), "", ""
    people = "people = ic.datasets.census(1000, seed=1)\n"
    if text.get("population"):
        people, more = (
            "everybody = ic.datasets.census(5000, seed=1)\npeople = everybody[:1000]\n",
            ", population=everybody",
        )
    elif text.get("weighted"):
        people = "import polars as pl\n\npeople = ic.datasets.census(1000, seed=1).with_columns(weight=pl.lit(20.0))\n"
        more = ', weight="weight"'
    elif text.get("households"):
        people = 'people = ic.datasets.census(1000, seed=1).with_row_index("row")\npeople = people.with_columns(home=people["row"] // 3)\n'
        more = ', household="home"'
    method = f", method={text['method']}" if "method" in text else ""
    return (
        f"import incrowd as ic\n\n{before}{people}"
        f'table = ic.read(\n    people, quasi=["age", "sex", "education"], sensitive=["{column}"], others="drop"{more}\n)\n'
        f"release = ic.publish(table, {text['make']}{method}, seed=1)\n"
        "print(release.guarantees[0])\n"
        'print(release.rows, "rows published,", release.withheld, "withheld")\n'
    )


def _of_method(name: str, text: Mapping[str, Any]) -> str:
    if name == "scheme":
        return (
            "import incrowd as ic\n\npeople = ic.datasets.census(2000, seed=1)\n"
            'roles = {"quasi": ["age", "sex"], "sensitive": ["marital"], "others": "drop"}\n'
            "first = ic.publish(ic.read(people[:1000], **roles), ic.KAnonymity(5), seed=1)\n"
            "second = first.scheme.apply(people[1000:], seed=1)\n"
            'print(second.rows, "rows fit the labels of the first release,", second.withheld, "do not")\n'
        )
    made, require = text["make"], text.get("require", "ic.KAnonymity(5)")
    if name in (
        "diffgen",
        "consistent-diffgen",
        "flat-histogram",
        "marginals",
        "adaptive",
        "hierarchical-histogram",
        "sdgs",
    ):
        return _of_private_method(name, made, text.get("sample", 1))
    if name == "m-invariance":
        return (
            "import incrowd as ic\n\n"
            'people = ic.datasets.census(900, seed=1).with_row_index("id")\n'
            'roles = {"person": "id", "quasi": ["age", "sex"], "sensitive": ["occupation"], "others": "drop"}\n'
            "first = ic.publish(ic.read(people[:800], **roles), method=ic.MInvariance(3), seed=1)\n"
            "again = ic.MInvariance(3, known=first.memory)\n"
            "second = ic.publish(ic.read(people[100:], **roles), method=again, seed=2)\n"
            'print(second.rows, "rows,", second.counterfeits, "of them are nobody\'s")\n'
        )
    if name == "k-dgs":
        made, require = 'ic.KDGS(5, levels={"age": 2, "education": 2})', "()"
    table = (
        "import incrowd as ic\n\npeople = ic.datasets.census(1000, seed=1)\n"
        'table = ic.read(\n    people, quasi=["age", "sex", "education"], sensitive=["marital"], others="drop"\n)\n'
    )
    if name == "k-dgs":
        table = (
            "import incrowd as ic\n\npeople = ic.datasets.census(1000, seed=1)\n"
            "ages = ic.Intervals(widths=[5, 10, 20, 40])\n"
            'sexes = ic.Categories.from_tree(["Female", "Male"])\n'
            'table = ic.read(\n    people, quasi=["age", "sex"], sensitive=["marital"], others="drop",\n'
            '    hierarchies={"age": ages, "sex": sexes},\n)\n'
        )
        made = 'ic.KDGS(5, levels={"age": 2})'
    if name in ("anatomy", "slicing"):
        table = table.replace("marital", "occupation")
    required = "" if require == "()" else f"{require}, "
    return (
        f"{table}release = ic.publish(table, {required}method={made}, seed=1)\n"
        "print(release.to_polars().sample(4, seed=1))\n"
        'print(release.rows, "rows published,", release.withheld, "withheld")\n'
    )


def _of_private_method(name: str, made: str, sample: float) -> str:
    alone = name == "hierarchical-histogram"
    columns = 'quasi=["age"]' if alone else 'quasi=["age", "sex"], sensitive=["marital"]'
    more = "" if alone else ', "sex": sexes, "marital": status'
    values = (
        'ages = ic.Intervals(widths=[5, 10, 20, 40], lower=15, upper=95)\n'
        + ("" if alone else 'sexes = ic.Categories.from_tree(["Female", "Male"])\n'
           'status = ic.Categories.from_tree(["Divorced", "Married", "Never married", "Separated", "Spouse absent", "Widowed"])\n')
    )  # fmt: skip
    drawn = f", sample={sample}" if sample != 1 else ""
    return (
        f"import incrowd as ic\n\npeople = ic.datasets.census(4000, seed=1)\n{values}"
        f'table = ic.read(\n    people, {columns}, others="drop",\n    hierarchies={{"age": ages{more}}},\n)\n'
        f"release = ic.publish(table, method={made}{drawn}, seed=1)\n"
        "print(release.guarantees[-1])\n"
        'print("people of 30 to 39, in the table:", people.filter(people["age"].is_between(30, 39)).height)\n'
        'print("by the release:", release.estimate({"age": (30, 39)}))\n'
    )


def _of_form(name: str, text: Mapping[str, Any]) -> str:
    return (
        "import incrowd as ic\n\npatients = ic.datasets.slicing_patients()\n"
        'table = ic.read(patients, quasi=["age", "sex", "zip"], sensitive=["disease"])\n'
        f"release = ic.publish(table, ic.BucketSize(4), form={text['make']}, seed=1)\n"
        'print(release.count({"age": (50, 60), "disease": "flu"}))  # in the table: 1\n'
    )


_TABLE_OF_ATTACK = {
    "known-date": (
        "from datetime import date, timedelta\n\nimport polars as pl\n\nimport incrowd as ic\n\n"
        "number = range(300)\n"
        'visits = pl.DataFrame({"patient": [one // 2 for one in number], "age": [20 + one // 2 * 7 % 60 for one in number],\n'
        '    "visit": [date(2026, 1, 1) + timedelta(days=one * 17 % 300) for one in number]})\n'
        'months = {"visit": ic.TruncateDates("month")}\n'
        'table = ic.read(visits, person="patient", quasi=["age"], dates=months)\n'
        "release = ic.publish(table, ic.KAnonymity(5), seed=1)\n"
    ),
    "known-rows": (
        "import polars as pl\n\nimport incrowd as ic\n\nnumber = range(300)\n"
        'visits = pl.DataFrame({"patient": [one // 2 for one in number], "age": [20 + one // 2 * 7 % 60 for one in number],\n'
        '    "ward": [f"ward {one * 5 % 8}" for one in number]})\n'
        'table = ic.read(visits, person="patient", quasi=["age"], keep=["ward"])\n'
        "release = ic.publish(table, ic.KAnonymity(5), seed=1)\n"
    ),
    "household": (
        'import incrowd as ic\n\npeople = ic.datasets.census(300, seed=3).with_row_index("row")\n'
        'people = people.with_columns(home=people["row"] // 3)\n'
        'table = ic.read(people, household="home", quasi=["age", "sex"], others="drop")\n'
        "release = ic.publish(table, ic.KAnonymity(5), seed=1)\n"
    ),
    "known-items": (
        "import polars as pl\n\nimport incrowd as ic\n\n"
        "bought = ic.datasets.baskets(200, 12, mean_length=3, seed=5)\n"
        'sets = bought.group_by("person", maintain_order=True).agg("item")\n'
        'sets = sets.with_columns(zip=pl.col("person") % 3)\n'
        "tree = ic.Categories.from_tree(ic.datasets.basket_tree(12))\n"
        'table = ic.read(sets, quasi=["zip"], items=["item"], others="drop", hierarchies={"item": tree})\n'
        "release = ic.publish(table, [ic.KAnonymity(5), ic.KmAnonymity(5, 2)], seed=1)\n"
    ),
    "extreme-values": (
        "import incrowd as ic\n\npeople = ic.datasets.census(600, seed=3)\n"
        'table = ic.read(people, quasi=["age", "salary"], sensitive=["occupation"], others="drop")\n'
        'release = ic.publish(table, ic.KAnonymity(5), method=ic.Mondrian(labels="tight"), seed=1)\n'
    ),
    "homogeneity": (
        "import incrowd as ic\n\npeople = ic.datasets.census(600, seed=3)\n"
        'table = ic.read(people, quasi=["age", "sex", "education"], sensitive=["race"], others="drop")\n'
        "release = ic.publish(table, ic.KAnonymity(5), seed=1)\n"
    ),
    "composition": (
        "import incrowd as ic\n\npeople = ic.datasets.census(600, seed=3)\n"
        'table = ic.read(\n    people, quasi=["age", "sex", "education"], sensitive=["occupation"], others="drop"\n)\n'
        "release = ic.publish(table, [ic.KAnonymity(5), ic.LDiversity(2)], seed=1)\n"
        'other = ic.read(people, quasi=["age", "marital"], sensitive=["occupation"], others="drop")\n'
        "first = ic.publish(other, [ic.KAnonymity(5), ic.LDiversity(2)], seed=2)\n"
    ),
    "similarity": (
        "import incrowd as ic\n\npeople = ic.datasets.census(600, seed=3)\n"
        'table = ic.read(people, quasi=["age", "sex", "education"], sensitive=["salary"], others="drop")\n'
        "release = ic.publish(table, [ic.KAnonymity(5), ic.LDiversity(2)], seed=1)\n"
    ),
}


def _of_attack(name: str, text: Mapping[str, Any]) -> str:
    table = _TABLE_OF_ATTACK.get(
        name,
        "import incrowd as ic\n\npeople = ic.datasets.census(600, seed=3)\n"
        'table = ic.read(\n    people, quasi=["age", "sex", "education"], sensitive=["occupation"], others="drop"\n)\n'
        "release = ic.publish(table, [ic.KAnonymity(5), ic.LDiversity(2)], seed=1)\n",
    )
    made = text.get("example_attack") or f"ic.{members('attacks')[name].__name__}()"
    more = {"composition": ", earlier=[first]", "external-linkage": ", external=people"}.get(name, "")
    return (
        f"{table}audit = ic.audit(\n    release, attacks=[{made}]{more}, learn=False, remedies=False\n)\n"
        "risk = audit.attacks[0]\nprint(risk.says)\n"
        'print(f"right: {risk.value:.1%}, baseline: {risk.baseline:.1%}, level: {risk.level}")\n'
    )


def _of_metric(name: str, text: Mapping[str, Any]) -> str:
    made = text.get("example_metric") or f"ic.{members('metrics')[name].__name__}()"
    return (
        "import incrowd as ic\n\npeople = ic.datasets.census(600, seed=3)\n"
        'table = ic.read(\n    people, quasi=["age", "sex", "education"], sensitive=["occupation"], others="drop"\n)\n'
        "for k in (2, 10):\n"
        "    release = ic.publish(table, ic.KAnonymity(k), method=ic.FullDomain(max_withheld=0.02), seed=1)\n"
        f"    print(k, round({made}.measure(release.table_before, release.form), 4))\n"
    )


def _of_sets(name: str, text: Mapping[str, Any]) -> str:
    model = text["make"] if name in members("set_models") else "ic.KmAnonymity(5, 2)"
    items = f", items={text['make']}" if name in members("set_methods") else ""
    secret = 'sets = sets.with_columns(paid=pl.when(sets["person"] % 3 == 0).then(pl.lit("card")).otherwise(pl.lit("cash")))\n'
    return (
        ("import polars as pl\n\n" if text.get("sensitive") else "")
        + "import incrowd as ic\n\nbought = ic.datasets.baskets(200, 12, mean_length=3, seed=5)\n"
        'sets = bought.group_by("person", maintain_order=True).agg("item")\n'
        + (secret if text.get("sensitive") else "")
        + "tree = ic.Categories.from_tree(ic.datasets.basket_tree(12))\n"
        + f'table = ic.read(sets, items=["item"]{", sensitive=[" + chr(34) + "paid" + chr(34) + "]" if text.get("sensitive") else ""}, others="drop", hierarchies={{"item": tree}})\n'
        f"release = ic.publish(table, {model}{items}, seed=1)\n"
        "print(release.guarantees[0])\nprint(release.to_polars().head(3))\n"
    )
