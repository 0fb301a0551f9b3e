"""The command that tells where a run errs."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.ui import tables
from workbench.workflow.errors import COSTLIEST
from workbench.workflow.opening import open_study
from workbench.workflow.reference import get_reference
from workbench.workflow.run import recorded
from workbench.workflow.score import find_score

Run = Callable[..., Any]


def test_errors_have_kinds_with_rules_and_groups(workbench: Run, study: str) -> None:
    result = workbench("errors", "--revision", "3", "--study", study, "--json")
    assert result.code == 0, result.err
    found = result.json["errors"]
    assert result.json["kinds"] == dict(Counter(error["kind"] for error in found))
    assert all(result.json["rules"][error["kind"]] for error in found)
    sizes = Counter(error["group"] for error in found)
    assert [group["errors"] for group in result.json["groups"]] == [sizes[i] for i in range(1, len(sizes) + 1)]
    # Revision 3 has no cues of history, so what the past had is taken for present.
    narrow = workbench("errors", "--revision", "3", "--kind", "history", "--study", study, "--json").json["errors"]
    assert narrow == [
        {**error, "group": each["group"]} for error, each in zip(_of(found, "history"), narrow, strict=True)
    ]


def _of(found: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [error for error in found if error["kind"] == kind]


def test_an_error_is_tagged_with_a_comment(workbench: Run, study: str) -> None:
    error = workbench("errors", "--study", study, "--json").json["errors"][0]
    told = f"{error['report']}:{error['finding']}:section"
    refused = workbench("errors", "--tag", told, "--study", study)
    assert (refused.code, "say in a sentence why" in refused.err) == (1, True)
    assert workbench("errors", "--tag", told, "--comment", "see the indication", "--study", study).code == 0
    again = workbench("errors", "--study", study, "--json").json["errors"][0]
    assert (again["kind"], again["comment"], again["kind_by_rule"]) == ("section", "see the indication", error["kind"])


def test_wrong_words_are_refused_in_a_sentence(workbench: Run, study: str) -> None:
    for arguments, told in (
        (("--finding", "heart"), "There is no finding heart"),
        (("--raters", "some"), "--raters some: say one of all, unanimous, split"),
        (("--tag", "x:fracture:odd"), "REPORT:FINDING:KIND"),
        (("--revision", "2", "--reference", "none"), "none"),
    ):
        result = workbench("errors", *arguments, "--study", study)
        assert (result.code, told in result.err) == (1, True), result.err


def test_findings_come_in_the_order_of_the_page(workbench: Run, study: str) -> None:
    opened = open_study(Path(study))
    lead = opened.actor(None)
    prepared = recorded(opened, lead, cohort="development", revision=3)
    score = find_score(opened, lead, prepared, get_reference(opened, lead, None))
    assert score is not None
    result = workbench("errors", "--revision", "3", "--study", study)
    assert COSTLIEST.split(":")[0] in " ".join(result.out.split())
    after = result.out.split("By finding, costliest first")[1]
    table = tables.costs(score.evaluation, opened.label_set)
    page = [row["id"] for _, row in table.iterrows() if row["Missed"] + row["Invented"] > 0]
    cells = [word for line in after.splitlines() for word in line.split() if word in page]
    assert list(dict.fromkeys(cells)) == page
