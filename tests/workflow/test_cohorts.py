"""Cohorts: by patient, seeded, fixed, near-duplicates together, validation locked."""

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.domain.actors import Actor
from workbench.domain.cohorts import Purpose
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.workflow import cohorts, run
from workbench.workflow.drawing import chances_of
from workbench.workflow.ingest import import_reports
from workbench.workflow.opening import NewStudy, init_study
from workbench.workflow.study import Study

Write = Callable[[str, str], Path]
WORDS = tuple("abcdefghijklmnopqrst")


@pytest.fixture
def full(study: Study, lead: Actor, csv_file: Write) -> Study:
    """Forty reports of twenty patients, two each; r0 and r38 (of different patients) say nearly the same."""
    rows = ["id,patient_id,text"]
    for i in range(40):
        text = " ".join("word" + WORDS[(i * 7 + j * (i + 3)) % 20] for j in range(30)) + f" report number {i}"
        if i in {0, 38}:
            text = " ".join("word" + w for w in WORDS) + f" is stable on {i}/2020"
        rows.append(f"r{i},p{i // 2},FINDINGS: {text}.")
    import_reports(study, lead, csv_file("reports.csv", "\n".join(rows) + "\n"))
    return study


def members(study: Study, name: str) -> set[str]:
    return set(cohorts.get_cohort(study, name).members)


def test_whole_patients_are_drawn_and_no_patient_is_in_two_cohorts(full: Study, lead: Actor) -> None:
    cohorts.allocate(full, lead, "development", Purpose.DEVELOPMENT, size=20, seed=3)
    cohorts.allocate(full, lead, "validation", Purpose.VALIDATION, size=10, seed=3)
    patients = [{int(r[1:]) // 2 for r in members(full, name)} for name in ("development", "validation")]
    assert patients[0].isdisjoint(patients[1])
    assert {f"r{2 * p + i}" for p in patients[0] for i in (0, 1)} == members(full, "development")
    assert len(members(full, "development")) == 20


@pytest.mark.parametrize("seed", range(6))
def test_near_duplicates_of_different_patients_are_drawn_together_or_not_at_all(
    full: Study, lead: Actor, seed: int
) -> None:
    cohorts.allocate(full, lead, "development", Purpose.DEVELOPMENT, size=20, seed=seed)
    drawn = members(full, "development")
    assert ("r0" in drawn) == ("r38" in drawn)


def test_the_same_seed_draws_the_same_and_another_seed_another(full: Study, lead: Actor, tmp_path: Path) -> None:
    drawn = []
    for folder, seed in (("one", 1), ("two", 1), ("three", 2)):
        twin = init_study(tmp_path / folder, NewStudy("Twin", {lead.name: sorted(lead.roles)}, with_prompts=False))
        import_reports(twin, lead, tmp_path / "reports.csv")
        drawn.append(cohorts.allocate(twin, lead, "a", Purpose.DEVELOPMENT, size=10, seed=seed).cohort.hash)
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def test_a_cohort_is_fixed_once_made(full: Study, lead: Actor) -> None:
    cohorts.allocate(full, lead, "development", Purpose.DEVELOPMENT, size=10)
    with pytest.raises(ConflictError, match="fixed once it is made"):
        cohorts.allocate(full, lead, "development", Purpose.DEVELOPMENT, size=4)


def test_more_reports_than_there_are_is_refused_with_both_numbers(full: Study, lead: Actor) -> None:
    with pytest.raises(InputError, match="41 reports were asked for, 40 can be drawn."):
        cohorts.allocate(full, lead, "development", Purpose.DEVELOPMENT, size=41)


def test_a_patient_of_another_purpose_cannot_be_defined_in(full: Study, lead: Actor) -> None:
    cohorts.define(full, lead, "development", Purpose.DEVELOPMENT, ["r0", "r1"])
    with pytest.raises(ConflictError, match="patient p0 is already in the development cohort"):
        cohorts.define(full, lead, "validation", Purpose.VALIDATION, ["r2", "r1"])
    with pytest.raises(NotFoundError, match="no cohort validation"):
        cohorts.get_cohort(full, "validation")


def test_only_a_lead_allocates(full: Study, rater: Actor) -> None:
    with pytest.raises(RightsError, match="may not allocate a cohort"):
        cohorts.allocate(full, rater, "development", Purpose.DEVELOPMENT, size=4)


def test_validation_is_locked_until_unlocked_with_everything_named(full: Study, lead: Actor) -> None:
    cohorts.define(full, lead, "validation", Purpose.VALIDATION, ["r0", "r1"])
    cohort = cohorts.get_cohort(full, "validation")
    assert cohorts.locked_report_ids(full) == {"r0", "r1"}
    with pytest.raises(RightsError, match="locked"):
        cohorts.require_unlocked(full, cohort, "run a prompt on it")
    details = {"revision": "4", "labeler": "rules", "policies": "as in the label set", "endpoint": ""}
    with pytest.raises(InputError, match="must name beforehand: endpoint"):
        cohorts.unlock(full, lead, "validation", reason="final", details=details)
    cohorts.unlock(full, lead, "validation", reason="final", details={**details, "endpoint": "macro-F1 >= 0.9"})
    cohorts.require_unlocked(full, cohort, "run a prompt on it")
    assert cohorts.locked_report_ids(full) == set()


def test_a_run_on_a_locked_cohort_is_refused(full: Study, lead: Actor) -> None:
    cohorts.define(full, lead, "validation", Purpose.VALIDATION, ["r0", "r1"])
    with pytest.raises((RightsError, NotFoundError)):
        run.prepare(full, lead, cohort="validation")


def test_enrichment_is_refused_below_one(full: Study, lead: Actor) -> None:
    with pytest.raises(InputError, match="enrichment at least 1"):
        cohorts.allocate(full, lead, "d", Purpose.DEVELOPMENT, size=4, enrich=0.5)


@pytest.mark.parametrize("enrich", [float("nan"), float("inf")])
def test_enrichment_must_be_a_number(full: Study, lead: Actor, enrich: float) -> None:
    with pytest.raises(InputError, match="enrichment at least 1 and finite"):
        cohorts.allocate(full, lead, "d", Purpose.DEVELOPMENT, size=4, enrich=enrich)


def test_why_fewer_are_drawn_than_were_asked_for_is_told(study: Study, lead: Actor, csv_file: Write) -> None:
    rows = [f"r{i},p{i // 2},FINDINGS: {' '.join(w + v for v in WORDS)}." for i, w in enumerate(WORDS[:10])]
    import_reports(study, lead, csv_file("reports.csv", "\n".join(["id,patient_id,text", *rows]) + "\n"))
    drawn = cohorts.allocate(study, lead, "d", Purpose.DEVELOPMENT, size=5, preview=True)
    assert len(drawn.cohort.members) == 4  # two patients of two reports each
    assert drawn.fewer == (
        "4 of 5 reports are drawn, since reports of a patient and near-duplicate texts stay together: the smallest "
        "group left has 2 reports of one patient, more than the 1 still wanted."
    )
    assert cohorts.allocate(study, lead, "d", Purpose.DEVELOPMENT, size=6, preview=True).fewer == ""


def test_near_duplicates_that_no_longer_fit_are_named_as_such(study: Study, lead: Actor, csv_file: Write) -> None:
    rows = ["id,patient_id,text"]
    rows += [f"same{i},s{i},FINDINGS: The lungs are clear and the heart is normal in size." for i in range(3)]
    rows += [f"own{w},o{w},FINDINGS: {' '.join(w + v for v in WORDS)}." for w in WORDS[:2]]
    import_reports(study, lead, csv_file("reports.csv", "\n".join(rows) + "\n"))
    seen = {
        cohorts.allocate(study, lead, "d", Purpose.DEVELOPMENT, size=4, seed=seed, preview=True).fewer
        for seed in range(20)
    }
    (told,) = seen - {""}
    assert told.startswith("2 of 4 reports are drawn")
    assert told.endswith(
        "the smallest group left has 3 reports with near-duplicate texts, more than the 2 still wanted."
    )


def test_a_seed_that_no_database_holds_is_refused(full: Study, lead: Actor) -> None:
    with pytest.raises(InputError, match="the seed must be within"):
        cohorts.allocate(full, lead, "d", Purpose.DEVELOPMENT, size=4, seed=2**63)
    cohorts.allocate(full, lead, "d", Purpose.DEVELOPMENT, size=4, seed=-(2**63) + 1)


@pytest.mark.parametrize("seed", range(4))
def test_a_group_larger_than_the_cohort_is_never_drawn(study: Study, lead: Actor, csv_file: Write, seed: int) -> None:
    rows = ["id,patient_id,text"]
    rows += [f"same{i},s{i},FINDINGS: The lungs are clear and the heart is normal in size." for i in range(30)]
    rows += [f"own{w},o{w},FINDINGS: {' '.join(w + v for v in WORDS)}." for w in WORDS[:6]]
    import_reports(study, lead, csv_file("reports.csv", "\n".join(rows) + "\n"))
    preview = cohorts.allocate(study, lead, "d", Purpose.DEVELOPMENT, size=6, seed=seed, preview=True)
    assert {r[:3] for r in preview.cohort.members} == {"own"}
    made = cohorts.allocate(study, lead, "d", Purpose.DEVELOPMENT, size=6, seed=seed)
    assert made.cohort.members == preview.cohort.members
    with pytest.raises(InputError, match="no such group has 6 reports or fewer; ask for more"):
        cohorts.allocate(study, lead, "v", Purpose.VALIDATION, size=6, seed=seed)
    assert len(cohorts.allocate(study, lead, "v", Purpose.VALIDATION, size=30).cohort.members) == 30


def test_a_near_duplicate_that_comes_later_is_not_drawn_into_another_cohort(
    full: Study, lead: Actor, csv_file: Write
) -> None:
    cohorts.define(full, lead, "development", Purpose.DEVELOPMENT, [f"r{i}" for i in range(40)])
    text = " ".join("word" + w for w in WORDS)
    rows = (
        f"id,patient_id,text\nlate,p99,FINDINGS: {text} is stable on 7/2021.\nnew,p98,FINDINGS: Something else here.\n"
    )
    import_reports(full, lead, csv_file("late.csv", rows))
    with pytest.raises(
        InputError, match="1 can be drawn; of the others, 40 in a cohort, 1 of a patient in one or nearly"
    ):
        cohorts.allocate(full, lead, "validation", Purpose.VALIDATION, size=2)
    cohorts.allocate(full, lead, "validation", Purpose.VALIDATION, size=1)
    assert members(full, "validation") == {"new"}


@pytest.mark.parametrize(
    ("groups", "size", "expected"),
    [
        ([(1.0, 1)] * 10, 4, {1.0: 0.4}),
        ([(5.0, 2), (1.0, 10)], 4, {5.0: 1.0, 1.0: 0.2}),  # 4 * 5 / 20 = 1; then 2 of 10 are left
        ([(5.0, 4), (1.0, 20)], 4, {5.0: 0.5, 1.0: 0.1}),  # 4 / 40 a unit of weight: 4 * .5 + 20 * .1 = 4
        ([(5.0, 2), (1.0, 10)], 6, {5.0: 1.0, 1.0: 0.4}),  # 6 * 5 / 20 > 1; the other ten share 4
        ([(5.0, 3), (1.0, 7)], 10, {5.0: 1.0, 1.0: 1.0}),  # all are drawn, so nothing was enriched
        ([(2.0, 1)], 1, {2.0: 1.0}),
    ],
)
def test_chances_are_those_of_arithmetic_and_add_up_to_the_size(
    groups: list[tuple[float, int]], size: int, expected: dict[float, float]
) -> None:
    chances = chances_of(groups, size)
    assert chances == pytest.approx(expected)
    assert sum(chances[weight] * n for weight, n in groups) == pytest.approx(size)
