"""The screens' questions, in the order of a person's work, to a studio that runs."""

from __future__ import annotations

import io
import json
import time
import tomllib
import zipfile
from contextlib import chdir
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import incrowd as ic
from incrowd.cli.app import app
from incrowd.publishing.recipe import Recipe
from tests.studio.running import Browser, Running


def at(project: dict[str, Any]) -> str:
    return f"/api/projects/{project['id']}"


def test_open_tells_what_was_found_out(browser: Browser, project: dict[str, Any], table: Path) -> None:
    assert (project["state"], project["name"], project["problems"]) == ("ready", "people.csv", [])
    found = browser.get(at(project) + "/opened").json
    frame = pl.read_csv(table, infer_schema=False)
    assert [column["name"] for column in found["columns"]] == frame.columns
    assert found["first"]["rows"] == [list(row) for row in frame.head(50).rows()]
    assert found["kind"] == "csv"
    options = {option["name"]: option for option in found["options"]}
    assert options["separator"]["value"] == ","
    types = {column["name"]: column["type"] for column in found["columns"]}
    assert types["age"] == "whole number"
    assert types["sex"] == "text"


def test_the_recipe_is_the_profiles(browser: Browser, project: dict[str, Any], table: Path) -> None:
    from incrowd.planning.profile import profile
    from incrowd.planning.profile.writing import recipe_text

    expected = tomllib.loads(recipe_text(profile(str(table)), recipe_path=table.parent / "people.recipe.toml"))
    assert browser.get(at(project) + "/history").json["steps"][0]["label"] == "opened"
    assert tomllib.loads(browser.get(at(project) + "/text").json["toml"]) == expected


def test_roles_come_with_reasons_bars_and_who_is_unique(browser: Browser, project: dict[str, Any], table: Path) -> None:
    found = browser.get(at(project) + "/profile").json
    frame = pl.read_csv(table)
    for column in found["columns"]:
        name, bars = column["name"], column["distribution"]
        assert column["reason"]
        alone = int((frame[name].value_counts()["count"] == 1).sum())
        assert column["unique_rows"] == alone
        if bars["kind"] == "numbers":
            assert sum(one["count"] for one in bars["bins"]) == frame.height - column["missing"]
        elif bars["kind"] == "values":
            shown = sum(one["count"] for one in bars["values"]) + bars["others"]["count"]
            assert shown == frame.height - column["missing"]
    together = browser.post(at(project) + "/singling", {"columns": ["age", "sex"]}).json["together"]
    groups = frame.group_by("age", "sex").len()["len"]
    assert (together["groups"], together["unique_rows"], together["k"]) == (
        len(groups), int((groups == 1).sum()), int(groups.min()),
    )  # fmt: skip
    assert browser.post(at(project) + "/singling", {"columns": ["nothing"]}).status == 400


def test_changes_are_steps_and_stale_ones_are_refused(
    browser: Browser, project: dict[str, Any], studio: Running
) -> None:
    before = browser.get(at(project)).json
    changed = browser.patch(project, (["models", 0, "k"], 7))
    assert changed["recipe"]["models"][0]["k"] == 7
    assert changed["can_undo"] == "test"
    tab = studio.browser()  # another tab, which knows the version before
    late = tab.ask("PATCH", at(project) + "/recipe", {"version": before["version"], "set": [[["sample"], 0.5]]})
    assert late.status == 409
    assert late.json["project"]["version"] == changed["version"]
    assert browser.get(at(project)).json["recipe"] == changed["recipe"]
    undone = browser.post(at(project) + "/undo", {"version": changed["version"]}).json
    assert undone["recipe"] == before["recipe"]
    assert undone["version"] > changed["version"]
    redone = browser.post(at(project) + "/redo", {"version": undone["version"]}).json
    assert redone["recipe"] == changed["recipe"]
    assert browser.post(at(project) + "/undo", {"version": undone["version"]}).status == 409
    first = browser.post(at(project) + "/history", {"version": redone["version"], "place": 0}).json
    assert first["can_undo"] is None
    browser.post(
        at(project) + "/history",
        {"version": first["version"], "place": len(browser.get(at(project) + "/history").json["steps"]) - 2},
    )


def test_a_recipe_that_cannot_be_run_says_why(browser: Browser, project: dict[str, Any]) -> None:
    told = browser.patch(project, (["models"], []))
    assert "no model is required" in told["problems"][0]["message"]
    assert told["problems"][0]["hint"]
    asked = {"kind": "try", "version": told["version"]}
    assert browser.post(at(project) + "/jobs", asked).status == 422
    wrong = browser.ask("PATCH", at(project) + "/recipe", {"version": told["version"], "set": [[["sample"], None]]})
    assert wrong.status == 422
    browser.post(at(project) + "/undo", {"version": told["version"]})


def test_hierarchies_are_shown_as_they_are_applied(browser: Browser, project: dict[str, Any], table: Path) -> None:
    found = browser.get(at(project) + "/hierarchies/age").json
    assert found["covered"]
    assert found["numeric"]
    frame = pl.read_csv(table)
    values = frame["age"].value_counts().sort("age")
    assert [(node["name"], node["count"]) for node in found["levels"][0]["listed"]] == [
        (str(age), count) for age, count in values.rows()
    ]
    for level in found["levels"]:
        assert sum(node["count"] for node in level["listed"]) == frame.height
    cuts = {"hierarchy": {"kind": "intervals", "cuts": [[30, 50, 70], [50]]}}
    preview = browser.post(at(project) + "/hierarchies/age/preview", cuts).json
    names = [node["name"] for node in preview["levels"][1]["listed"]]
    expected = ic.Intervals(cuts=((30, 50, 70), (50,))).build("age", frame["age"])[0]
    assert names == expected.names[1].to_list()[1:]
    assert browser.get(at(project)).json["recipe"] == browser.get(at(project)).json["recipe"]


def test_a_hierarchy_that_lacks_values_replaces_nothing(browser: Browser, project: dict[str, Any]) -> None:
    before = browser.get(at(project)).json
    first = preview_of(browser, project)[0]["name"]
    lacking = {"kind": "categories", "tree": {"all": [first]}}
    preview = browser.post(at(project) + "/hierarchies/sex/preview", {"hierarchy": lacking}).json
    assert not preview["covered"]
    assert preview["uncovered"]["count"] == 1
    refused = browser.ask("PUT", at(project) + "/hierarchies/sex", {"version": before["version"], "hierarchy": lacking})
    assert refused.status == 422
    assert len(refused.error["values"]) == 1
    assert browser.get(at(project)).json["version"] == before["version"]
    # Edited, taken over, written, read, and the same again.
    edit = {
        "action": "group",
        "level": 0,
        "nodes": [node["name"] for node in preview_of(browser, project)],
        "name": "anyone",
    }
    made = browser.post(at(project) + "/hierarchies/sex/edit", {"edit": edit}).json
    assert [node["name"] for node in made["levels"][1]["listed"]] == ["anyone"]
    put = browser.ask(
        "PUT", at(project) + "/hierarchies/sex", {"version": before["version"], "hierarchy": made["hierarchy"]}
    )
    assert put.status == 200
    file = browser.get(at(project) + "/hierarchies/sex/file")
    assert file.headers["content-type"].startswith("text/csv")
    again = browser.post(
        at(project) + "/hierarchies/sex/file", None, raw=file.body, headers={"Content-Type": "text/csv"}
    ).json
    assert again["covered"]
    assert [level["nodes"] for level in again["levels"]] == [level["nodes"] for level in made["levels"]]
    browser.post(at(project) + "/undo", {"version": put.json["version"]})


def preview_of(browser: Browser, project: dict[str, Any]) -> list[dict[str, Any]]:
    return browser.get(at(project) + "/hierarchies/sex").json["levels"][0]["listed"]


@pytest.fixture(scope="module")
def tried(browser: Browser, project: dict[str, Any]) -> dict[str, Any]:
    recipe = browser.get(at(project)).json["recipe"]
    others = [
        name
        for name, told in recipe["columns"].items()
        if told["role"] == "quasi" and name not in ("age", "sex", "education")
    ]
    dropped = [(["columns", name], {"role": "drop"}) for name in others]
    browser.patch(project, *dropped, (["method"], {"name": "full-domain", "max_withheld": 0.1}))
    job = browser.job(project, "try")
    assert job["state"] == "done", job["error"]
    assert list(job["found"]) == ["sample", "exact", "rows", "measured"]
    return job["result"]


def test_a_try_has_the_numbers_of_the_library(
    browser: Browser, project: dict[str, Any], table: Path, tried: dict[str, Any]
) -> None:
    from incrowd.planning.compare.candidates import candidate_of
    from incrowd.planning.compare.compare import try_candidate

    recipe = browser.get(at(project)).json["recipe"]
    expected = try_candidate(candidate_of(recipe, table.parent), 0, False)
    point = tried["point"]
    assert point["risk"] == pytest.approx(expected.risk("mean"))
    assert point["losses"] == pytest.approx(dict(expected.losses))
    assert (point["withheld"], point["published"]) == (expected.withheld, expected.rows)
    release = Recipe.from_dict(recipe, base=table.parent).run(seed=0)
    assert tried["released"]["rows"] == release.rows
    assert tried["released"]["summary"]["loss"] == json.loads(json.dumps(release.summary["loss"]))


def test_rows_before_and_after(browser: Browser, project: dict[str, Any], table: Path, tried: dict[str, Any]) -> None:
    where = f"{at(project)}/tries/{tried['id']}"
    found = browser.get(where + "/rows?limit=500").json
    assert found["linked"]
    frame = pl.read_csv(table, infer_schema=False)
    for row in found["rows"]:
        original = [frame[name][row["row"]] for name in found["columns"]]
        assert row["before"] == original
        if row["withheld"]:
            assert row["after"] is None
    withheld = browser.get(where + "/rows?show=withheld&limit=500").json
    assert withheld["total"] == tried["released"]["withheld"] > 0
    gone = browser.get(f"{where}/rows/{withheld['rows'][0]['row']}/why").json
    assert gone["withheld"]
    assert any("withheld" in sentence for sentence in gone["sentences"])
    there = next(row for row in found["rows"] if not row["withheld"])
    told = browser.get(f"{where}/rows/{there['row']}/why").json
    assert (told["crowd"], told["withheld"]) == (there["crowd"], False)
    assert all(model["holds"] for model in told["models"])
    assert browser.get(where + "/rows?show=nonsense").status == 400
    assert browser.get(where + "/rows/99999/why").status == 404


def test_solutions_of_a_full_domain_search(
    browser: Browser, project: dict[str, Any], table: Path, tried: dict[str, Any]
) -> None:
    found = browser.get(f"{at(project)}/tries/{tried['id']}/solutions?limit=5").json
    recipe = browser.get(at(project)).json["recipe"]
    expected = Recipe.from_dict(recipe, base=table.parent).run(seed=0).solutions
    assert expected is not None
    assert found["total"] == expected.height
    best = found["solutions"][0]
    assert best["verdict"] == "optimal"
    chosen = Recipe.from_dict({**recipe, "method": best["method"]}, base=table.parent).run(seed=0)
    assert chosen.withheld == best["withheld"]


def test_compare_draws_own_tries_beside_others(
    browser: Browser, project: dict[str, Any], tried: dict[str, Any]
) -> None:
    grid = [{"method": {"name": "mondrian"}, "models": [{"name": "k-anonymity", "k": "$k"}], "grid": {"k": [5, 20]}}]
    browser.patch(project, (["compare"], grid))
    job = browser.job(project, "compare")
    assert job["state"] == "done", job["error"]
    assert job["found"]["so far"]["of"] == 2
    names = [candidate["name"] for candidate in job["result"]["comparison"]["candidates"]]
    assert set(names) == set(job["result"]["candidates"]) == {"mondrian: k-anonymity k=5", "mondrian: k-anonymity k=20"}
    assert [one["id"] for one in job["result"]["tries"]] == [tried["id"]]
    other = browser.get(f"/api/jobs/{job['id']}/comparison?risk=worst&loss=columns").json
    assert (other["comparison"]["risk"], other["comparison"]["loss"]) == ("worst", "columns")
    page = browser.get(f"/api/jobs/{job['id']}/page")
    assert b"<html" in page.body
    assert "sandbox" in page.headers["content-security-policy"]
    browser.patch(project, remove=[["compare"]])


def test_attack_is_the_librarys_audit_and_attacks_are_told_one_by_one(
    browser: Browser, project: dict[str, Any], table: Path
) -> None:
    now = browser.get(at(project)).json["version"]
    begun = browser.post(at(project) + "/jobs", {"kind": "audit", "version": now}).json["id"]
    seen: list[int] = []
    while (job := browser.get(f"/api/jobs/{begun}").json)["state"] in ("waiting", "running"):
        known = len(job["found"].get("attacks", []))
        seen += [known] if known not in seen else []
        time.sleep(0.02)
    assert job["state"] == "done", job["error"]
    assert len(seen) > 2
    assert seen == sorted(seen)
    recipe = browser.get(at(project)).json["recipe"]
    release = Recipe.from_dict(recipe, base=table.parent).run()  # the full-domain search draws no chance
    expected = json.loads(release.audit(learn=False, remedies=False).to_json())
    found = job["result"]
    assert found["attacks"] == expected["attacks"]
    live = job["found"]["attacks"]
    assert [{key: one[key] for key in told} for one, told in zip(live, found["attacks"], strict=True)] == found[
        "attacks"
    ]
    assert all(one["about"] and one["known besides"] == [] for one in live)
    assert job["told"] == len(expected["attacks"])
    assert found["recommendation"] == expected["recommendation"]
    page = browser.get(f"/api/jobs/{job['id']}/page?download=1")
    assert "attachment" in page.headers["content-disposition"]
    ladder = browser.job(project, "ladder")
    assert ladder["result"]["rungs"][0]["learnt"] == "nothing"


def test_what_is_published_is_what_the_command_line_writes(
    browser: Browser, project: dict[str, Any], table: Path, tmp_path: Path
) -> None:
    """Byte for byte, for the recipe that the studio shows; a method that draws chance has a seed for that."""
    browser.patch(project, (["method"], {"name": "mondrian"}), (["seed"], 7))
    recipe = table.parent / "shown.recipe.toml"
    saved = browser.post(at(project) + "/recipe/save", {"path": str(recipe), "force": True})
    assert saved.status == 200, saved.body
    places = browser.get(at(project) + "/places").json
    assert places["directory"] == str(table.parent / "people-release")
    ours, theirs = table.parent / "ours", table.parent / "theirs"
    job = browser.job(project, "publish", directory=str(ours))
    assert job["state"] == "done", job["error"]
    done = CliRunner().invoke(app, ["publish", str(recipe), "-o", str(theirs), "-q"])
    assert done.exit_code == 0, done.output
    files = {file.name: file.read_bytes() for file in theirs.iterdir()}
    assert {file.name: file.read_bytes() for file in ours.iterdir()} == files
    assert {file["name"] for file in job["result"]["files"]} == set(files)
    # The same files once more, as they are downloaded.
    name = job["result"]["id"]
    archive = zipfile.ZipFile(io.BytesIO(browser.get(f"{at(project)}/published/{name}/zip").body))
    assert {Path(one).name: archive.read(one) for one in archive.namelist()} == files
    assert browser.get(f"{at(project)}/published/{name}/files/data.csv").body == files["data.csv"]
    assert browser.get(f"{at(project)}/published/{name}/files/..%2Fpeople.csv").status == 404
    # What a reviewer asks about it is written beside it.
    asked = browser.job(project, "evidence", published=name)
    assert asked["state"] == "done", asked["error"]
    assert (table.parent / "ours-evidence" / "evidence.json").is_file()
    assert browser.get(f"/api/jobs/{asked['id']}/page").status == 200
    # A second release does not go over the first, nor over other files.
    now = browser.get(at(project)).json["version"]
    again = browser.post(at(project) + "/jobs", {"kind": "publish", "version": now, "directory": str(ours)})
    assert again.status == 422
    assert again.error["hint"]
    forced = {"kind": "publish", "version": now, "directory": str(table.parent), "force": True}
    assert browser.post(at(project) + "/jobs", forced).status == 422
    # And so do the Python lines.
    python = browser.get(at(project) + "/text").json["python"].replace('"people-release"', f'"{tmp_path}/py"')
    with chdir(table.parent):
        exec(python, {})
    assert (tmp_path / "py" / "data.csv").read_bytes() == files["data.csv"]
    browser.patch(project, remove=[["seed"]])


def test_a_job_that_is_called_off_leaves_nothing(browser: Browser, project: dict[str, Any], table: Path) -> None:
    now = browser.get(at(project)).json["version"]
    target = table.parent / "called-off"
    job = browser.post(at(project) + "/jobs", {"kind": "publish", "version": now, "directory": str(target)}).json
    assert browser.ask("DELETE", f"/api/jobs/{job['id']}").status == 200
    assert browser.wait(job["id"])["state"] == "cancelled"
    assert not target.exists()
    assert not [one for one in table.parent.iterdir() if one.name.startswith(".called-off")]


def test_the_page_holds_the_state_and_nothing_breaks_out_of_it(browser: Browser, project: dict[str, Any]) -> None:
    tree = {"kind": "categories", "tree": {"</script><b>": ["a", "b"]}}
    told = browser.patch(project, (["columns", "sex", "hierarchy"], tree))
    page = browser.get(f"/project/{project['id']}/roles").body.decode()
    assert "</script><b>" not in page
    _, _, rest = page.partition('<script type="application/json" id="state">')
    state = json.loads(rest.partition("</script>")[0])
    assert state["current"]["id"] == project["id"]
    assert state["screen"] == "roles"
    assert tomllib.loads(state["current"]["text"]["toml"]) == told["recipe"]
    assert state["current"]["recipe"] == told["recipe"]
    browser.post(at(project) + "/undo", {"version": told["version"]})


def test_requests_without_progress_are_quick(browser: Browser, project: dict[str, Any], tried: dict[str, Any]) -> None:
    import time

    asked = ["", "/opened", "/profile", "/text", "/history", "/places", "/hierarchies/age", "/tries"]
    for path in asked:
        browser.get(at(project) + path)  # whatever is counted once
        began = time.perf_counter()
        assert browser.get(at(project) + path).status == 200
        assert time.perf_counter() - began < 0.5, path  # 0.2 on a machine that does nothing else
