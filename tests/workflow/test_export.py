"""What leaves a study: nothing of an open round, everything of a closed one, and it comes back as it went out."""

import csv
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from workbench.domain.actors import Actor, Role
from workbench.domain.annotations import Annotation
from workbench.domain.cohorts import Purpose
from workbench.domain.findings import State
from workbench.domain.references import VoteRule
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.storage import annotations as annotation_store
from workbench.storage import cohorts as cohort_store
from workbench.storage import rounds as round_store
from workbench.workflow import cohorts, export, ingest, people, raters, reference, rounds
from workbench.workflow.agreed import View
from workbench.workflow.export import Shape
from workbench.workflow.ingest import import_labels
from workbench.workflow.opening import NewStudy, init_study
from workbench.workflow.study import Study

EXPORTS: dict[str, Callable[[Study, Actor, str, Path], object]] = {
    "votes": export.export_votes,
    "wide votes": lambda study, actor, name, path: export.export_votes(study, actor, name, path, shape=Shape.WIDE),
    "reference": lambda study, actor, name, path: export.export_reference(study, actor, path, name=name),
    "agreement": lambda study, actor, name, path: export.export_agreement(study, actor, path, name=name),
}


def give(study: Study, rater: str, report: str, states: dict[str, State], **more: Any) -> None:
    """Submit labels as a browser would have."""
    given = Annotation(report, rater, states, True, datetime.now(UTC), study.label_set.hash, source="browser", **more)
    with study.database.write() as conn:
        annotation_store.append(conn, given)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("what", EXPORTS)
def test_nothing_of_an_open_round_leaves_whoever_asks(rated: Study, lead: Actor, tmp_path: Path, what: str) -> None:
    both = Actor("Dr. Both", frozenset(Role))
    for actor in (lead, both, Actor("Admin", frozenset({Role.ADMIN}))):
        with pytest.raises(
            RightsError, match="round of the cohort development is not closed, so nobody may export its"
        ):
            EXPORTS[what](rated, actor, "development", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    reference.freeze(rated, lead, "development")
    EXPORTS[what](rated, lead, "development", tmp_path / "out.csv")
    assert rows_of(tmp_path / "out.csv")


@pytest.mark.parametrize("what", EXPORTS)
def test_nothing_of_a_locked_validation_cohort_leaves_though_its_round_is_closed(
    rated: Study, lead: Actor, tmp_path: Path, write_labels: Any, what: str
) -> None:
    (tmp_path / "more.csv").write_text("id,patient_id,text\nv1,q1,Clear.\nv2,q2,Effusion.\n")
    ingest.import_reports(rated, lead, tmp_path / "more.csv")
    cohorts.define(rated, lead, "validation", Purpose.VALIDATION, ["v1", "v2"])
    ingest.import_labels(rated, lead, write_labels("a.csv", ("v1", "1", {}), ("v2", "1", {"pleural_effusion": "1"})))
    ingest.import_labels(rated, lead, write_labels("b.csv", ("v1", "1", {}), ("v2", "1", {"pleural_effusion": "1"})))
    frozen = reference.freeze(rated, lead, "validation", rule=VoteRule(2, 2))
    for name in ("validation", frozen.name, frozen.hash[:8]):
        with pytest.raises(RightsError, match="validation cohort validation is locked, so one cannot export its"):
            EXPORTS[what](rated, lead, name, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    with rated.database.write() as conn:
        cohort_store.unlock(conn, "validation", actor=lead.name, at=datetime.now(UTC), reason="final", details={})
    EXPORTS[what](rated, lead, "validation", tmp_path / "out.csv")


def test_nobody_but_a_lead_or_admin_exports(rated: Study, lead: Actor, rater: Actor, tmp_path: Path) -> None:
    reference.freeze(rated, lead, "development")
    adjudicator = Actor("Dr. A", frozenset({Role.ADJUDICATOR, Role.RATER}))
    for actor in (rater, adjudicator):
        for call in EXPORTS.values():
            with pytest.raises(RightsError, match="may not export"):
                call(rated, actor, "development", tmp_path / "out.csv")
        with pytest.raises(RightsError, match="may not export the audit trail"):
            export.export_audit(rated, actor, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("what", [*EXPORTS, "audit"])
def test_whoever_was_deactivated_meanwhile_gets_no_file_and_ends_no_adjudication(
    rated: Study, lead: Actor, tmp_path: Path, what: str
) -> None:
    people.add(rated, lead, "Dr. Gone", [Role.LEAD, Role.ADMIN])
    gone = rated.actor("Dr. Gone")
    vote = reference.freeze(rated, lead, "development")
    people.deactivate(rated, lead, "Dr. Gone")
    calls = {**EXPORTS, "audit": lambda study, actor, _, path: export.export_audit(study, actor, path)}
    with pytest.raises(RightsError, match="Dr. Gone was deactivated"):
        calls[what](rated, gone, "development", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    with rated.database.read() as conn:
        assert round_store.viewed(conn, vote.hash) is None


def test_the_audit_trail_of_an_open_round_tells_no_label(
    rated: Study, lead: Actor, rater: Actor, tmp_path: Path
) -> None:
    given = {"pneumothorax": State.PRESENT}
    give(rated, rater.name, "r1", given, comment="sure", evidence={"pneumothorax": "Air."}, seconds=77.5)
    export.export_audit(rated, lead, tmp_path / "open.csv")
    text = (tmp_path / "open.csv").read_text()
    for word in ("pneumothorax", "present", "sure", "Air.", "77.5"):
        assert word not in text.replace("not_present", "")
    submitted = [row for row in rows_of(tmp_path / "open.csv") if row["event"] == "labels submitted"]
    assert len(submitted) == 35 + 1  # five raters gave six reports, the sixth gave five
    six = [f"rater{i}" for i in range(1, 7)]
    frozen = reference.freeze(rated, lead, "development", raters=six)
    export.export_audit(rated, lead, tmp_path / "blind.csv")
    assert "sure" not in (tmp_path / "blind.csv").read_text()  # an adjudicator may still have to decide
    export.export_reference(rated, lead, tmp_path / "seen.csv", name=frozen.name)
    export.export_audit(rated, lead, tmp_path / "closed.csv")
    (row,) = (r for r in rows_of(tmp_path / "closed.csv") if r["actor"] == "Dr. Rater")
    assert json.loads(row["details"])["states"] == {"pneumothorax": "present"}
    assert json.loads(row["details"])["comment"] == "sure"


@pytest.mark.parametrize("what", EXPORTS)
def test_who_exports_has_seen_the_counts_and_is_on_record(rated: Study, lead: Actor, tmp_path: Path, what: str) -> None:
    frozen = reference.freeze(rated, lead, "development")
    with pytest.raises(InputError, match="use csv or parquet"):
        EXPORTS[what](rated, lead, frozen.name, tmp_path / "out.xlsx")
    with rated.database.read() as conn:
        assert round_store.viewed(conn, frozen.hash) is None
    EXPORTS[what](rated, lead, frozen.name, tmp_path / "out.csv")
    with rated.database.read() as conn:
        seen = round_store.viewed(conn, frozen.hash)
    assert seen is not None
    assert seen[0] == lead.name


@pytest.mark.parametrize("what", EXPORTS)
def test_nothing_leaves_while_a_later_round_is_open_on_the_cohort(
    rated: Study, lead: Actor, tmp_path: Path, what: str
) -> None:
    frozen = reference.freeze(rated, lead, "development")
    export.export_votes(rated, lead, frozen.name, tmp_path / "seen.csv")
    rounds.open_round(rated, lead, "development", raters=["Dr. Rater"])
    for name in ("development", frozen.name):
        with pytest.raises(RightsError, match="A round is open on the cohort development, so nobody may export its"):
            EXPORTS[what](rated, lead, name, tmp_path / "out.csv")
    export.export_audit(rated, lead, tmp_path / "audit.csv")
    assert '""states""' not in (tmp_path / "audit.csv").read_text()
    rounds.close_round(rated, lead, "development")
    EXPORTS[what](rated, lead, frozen.name, tmp_path / "out.csv")
    export.export_audit(rated, lead, tmp_path / "audit.csv")
    assert '""states""' in (tmp_path / "audit.csv").read_text()


def test_the_trail_is_in_the_order_of_time(rated: Study, lead: Actor, tmp_path: Path) -> None:
    reference.freeze(rated, lead, "development")
    assert export.export_audit(rated, lead, tmp_path / "a.parquet").rows == 1 + 1 + 6 + 35 + 1
    trail = pq.read_table(tmp_path / "a.parquet").to_pylist()
    assert [e["at"] for e in trail] == sorted(e["at"] for e in trail)
    assert [e["event"] for e in trail[:2]] == ["reports imported", "cohort made"]
    assert trail[-1]["event"] == "reference frozen"


def test_reviewed_normal_not_reviewed_and_negative_stay_apart(rated: Study, lead: Actor, tmp_path: Path) -> None:
    reference.freeze(rated, lead, "development")
    export.export_votes(rated, lead, "development", tmp_path / "w.csv", shape=Shape.WIDE)
    wide = {(row["report_id"], row["rater"]): row for row in rows_of(tmp_path / "w.csv")}
    assert len(wide) == 6 * 6
    cells = {who: (row["reviewed"], row["pleural_effusion"], row["fracture"]) for who, row in wide.items()}
    assert cells["r1", "rater1"] == ("1", "1", "")
    assert cells["r4", "rater1"] == ("1", "0", "")
    assert cells["r5", "rater6"] == ("0", "", "")  # never submitted
    written = export.export_votes(rated, lead, "development", tmp_path / "l.parquet")
    assert written.rows == 6 * 6 * 21
    long = pq.read_table(tmp_path / "l.parquet").to_pylist()
    states = {(r["report_id"], r["rater"], r["finding"]): (r["reviewed"], r["state"]) for r in long}
    assert states["r1", "rater1", "fracture"] == (True, "not_mentioned")
    assert states["r4", "rater1", "pleural_effusion"] == (True, "absent")
    assert states["r5", "rater6", "pleural_effusion"] == (False, None)
    export.export_votes(rated, lead, "development", tmp_path / "w.parquet", shape=Shape.WIDE)
    table = pq.read_table(tmp_path / "w.parquet")
    assert (str(table.schema.field("pleural_effusion").type), table["fracture"].null_count) == ("int8", 36)


def test_a_second_reading_given_after_the_freeze_is_none_of_the_reference_but_of_the_cohort(
    rated: Study, lead: Actor, tmp_path: Path
) -> None:
    give(rated, "rater1", "r1", {"fracture": State.PRESENT}, reading=2)
    frozen = reference.freeze(rated, lead, "development")
    before = raters.rater_statistics(rated, lead, frozen, resamples=0).again
    give(rated, "rater1", "r2", {}, reading=2)
    assert raters.rater_statistics(rated, lead, frozen, resamples=0).again == before
    for name, reports in ((frozen.name, ["r1"]), ("development", ["r1", "r2"])):
        export.export_votes(rated, lead, name, tmp_path / "v.csv", shape=Shape.WIDE)
        assert [row["report_id"] for row in rows_of(tmp_path / "v.csv") if row["reading"] == "2"] == reports


def test_a_reference_leaves_with_the_votes_it_was_made_of_and_no_others(
    rated: Study, lead: Actor, write_labels: Any, tmp_path: Path
) -> None:
    five = [f"rater{i}" for i in range(1, 6)]
    frozen = reference.freeze(rated, lead, "development", raters=five, rule=VoteRule(3, 5))
    ingest.import_labels(rated, lead, write_labels("rater1.csv", ("r1", "1", {"fracture": "1"})))
    export.export_votes(rated, lead, frozen.name, tmp_path / "counted.csv", shape=Shape.WIDE)
    export.export_votes(rated, lead, "development", tmp_path / "all.csv", shape=Shape.WIDE)
    counted, everybody = (rows_of(tmp_path / name) for name in ("counted.csv", "all.csv"))
    assert sorted({row["rater"] for row in counted}) == five
    assert {row["rater"] for row in everybody} == {*five, "rater6"}
    fracture = [next(r["fracture"] for r in rows if r["rater"] == "rater1") for rows in (counted, everybody)]
    assert fracture == ["", "1"]


def test_the_reference_says_per_item_what_the_votes_were_and_by_which_rule(
    rated: Study, lead: Actor, tmp_path: Path
) -> None:
    frozen = reference.freeze(rated, lead, "development")
    assert export.export_reference(rated, lead, tmp_path / "r.parquet").rows == 6 * 21
    rows = pq.read_table(tmp_path / "r.parquet").to_pylist()
    assert [row["finding"] for row in rows[:21]] == list(rated.label_set.ids)
    effusion = [row for row in rows if row["finding"] == "pleural_effusion"]
    assert [(r["report_id"], r["outcome"], r["present_votes"], r["missing_votes"], r["tie"]) for r in effusion] == [
        ("r1", "present", 6, 0, False),
        ("r2", "present", 4, 0, False),
        ("r3", "not_present", 3, 0, True),
        ("r4", "not_present", 0, 0, False),
        ("r5", "short", 3, 1, False),
        ("r6", "not_present", 0, 0, False),
    ]
    row = rows[0]
    assert (row["reference"], row["reference_hash"], row["k"], row["n"]) == (frozen.name, frozen.hash, 4, 6)
    assert (row["tie_becomes"], row["vote_policy"]) == ("not_present", rated.label_set.vote_policies.of(row["finding"]))
    assert row["label_set_hash"] == rated.label_set.hash
    assert row["frozen_at"] == frozen.created_at


def test_agreement_says_in_each_row_which_view_it_is_and_between_which_states(
    rated: Study, lead: Actor, tmp_path: Path
) -> None:
    summary = reference.summarize(rated, lead, reference.freeze(rated, lead, "development"))
    for view, states in (
        (View.TWO_STATES, "absent; present"),
        (View.FOUR_STATES, "present; absent; uncertain; not_mentioned"),  # absent was imported, though not asked for
    ):
        path = tmp_path / f"{view}.parquet"
        _, agreed = export.export_agreement(rated, lead, path, view=view)
        rows = pq.read_table(path).to_pylist()
        assert {(row["view"], row["states"]) for row in rows} == {(view.value, states)}
        assert agreed == summary.views[view].agreement  # the page, the command line and the file say the same


def test_a_later_version_is_exported_with_what_it_was_made_from_and_why(
    rated: Study, lead: Actor, write_labels: Callable[..., Path], tmp_path: Path
) -> None:
    first = reference.freeze(rated, lead, "development")
    import_labels(rated, lead, write_labels("rater4.csv", ("r3", "1", {"pleural_effusion": "1"})))
    second = reference.freeze(rated, lead, "development", reason="rater 4 read r3 again")
    for frozen, made_from, reason in ((first, None, None), (second, first.hash, "rater 4 read r3 again")):
        export.export_reference(rated, lead, tmp_path / "r.parquet", name=frozen.name)
        rows = pq.read_table(tmp_path / "r.parquet").to_pylist()
        told = {(row["reference"], row["reference_hash"], row["made_from"], row["reason"]) for row in rows}
        assert told == {(frozen.name, frozen.hash, made_from, reason)}


def test_agreement_has_a_row_per_finding_and_a_reason_where_there_is_no_figure(
    rated: Study, lead: Actor, tmp_path: Path
) -> None:
    frozen = reference.freeze(rated, lead, "development")
    written, agreed = export.export_agreement(rated, lead, tmp_path / "a.parquet", name=frozen.name)
    rows = {row["finding"]: row for row in pq.read_table(tmp_path / "a.parquet").to_pylist()}
    assert (written.rows, list(rows)) == (21, list(rated.label_set.ids))
    effusion, fracture = rows["pleural_effusion"], rows["fracture"]
    # Positive agreement by hand: pairs of raters who both say present, over the chances that a "present" has a peer.
    # r1 6*5, r2 4*3, r3 3*2, r5 3*2 of 6*5, 4*5, 3*5, 3*4.
    assert effusion["positive"] == pytest.approx((30 + 12 + 6 + 6) / (30 + 20 + 15 + 12))
    assert (effusion["positive_n"], effusion["positive_reason"], effusion["reports"]) == (16, None, 6)
    assert (fracture["alpha"], fracture["alpha_reason"], fracture["alpha_n"]) == (None, "no variation", 6)
    for finding, found in zip(agreed.finding_ids, agreed.findings, strict=True):
        for name, figure in found.figures().items():
            kept = [rows[finding][f"{name}{part}"] for part in ("", "_n", "_low", "_high")]
            assert kept == [figure.value, figure.n, figure.low, figure.high]
    assert agreed.of("pleural_effusion").alpha.value == effusion["alpha"]


def test_a_single_rater_has_nobody_to_agree_with(rated: Study, lead: Actor, tmp_path: Path) -> None:
    reference.freeze(rated, lead, "development", raters=["rater1"], rule=VoteRule(1, 1))
    with pytest.raises(InputError, match="at least two raters"):
        export.export_agreement(rated, lead, tmp_path / "a.csv")
    assert not (tmp_path / "a.csv").exists()


NASTY = {
    "=cmd()": "=cmd()|' /C calc'!A0",
    "+r,2": '+1, "quoted"\nsecond line\r\nthird',
    "-r3": "-no",
    "@r4": "@SUM(A1) 😀",
    "'r5": "'tis 没有气胸",
    "<script>": "<script>alert(1)</script> **bold** لا يوجد استرواح",
}


@pytest.mark.parametrize("shape", list(Shape))
def test_what_is_exported_imported_and_exported_again_is_byte_equal(tmp_path: Path, shape: Shape) -> None:
    people = {"=Lead": [Role.LEAD], "+Rater, 1": [Role.RATER], "评阅者 😀": [Role.RATER], "'Rater": [Role.RATER]}

    def make(name: str) -> Study:
        made = init_study(tmp_path / name, NewStudy(name, people, with_prompts=False))
        path = tmp_path / f"{name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "patient_id", "text"])
            writer.writerows([report, report, text] for report, text in NASTY.items())
        ingest.import_reports(made, made.actor("=Lead"), path)
        cohorts.define(made, made.actor("=Lead"), "development", Purpose.DEVELOPMENT, list(NASTY))
        return made

    first, second = make("first"), make("second")
    for r, rater in enumerate(list(people)[1:]):
        for i, (report, text) in enumerate(NASTY.items()):
            if (i + r) % 4 == 3:
                continue  # not reviewed
            states = {"fracture": State.PRESENT, "pneumothorax": State.UNCERTAIN} if i % 2 else {}
            give(first, rater, report, states, comment=text, evidence=dict.fromkeys(states, text), seconds=i / 3)
            if r == i % 3:
                give(first, rater, report, states if i else {"fracture": State.PRESENT}, comment="again", reading=2)
    lead, other = first.actor("=Lead"), second.actor("=Lead")
    frozen = reference.freeze(first, lead, "development", rule=VoteRule(2, 3))
    out, again = tmp_path / "out.csv", tmp_path / "again.csv"
    export.export_votes(first, lead, "development", out, shape=shape)
    done = ingest.import_labels(second, other, out)
    assert set(done.submitted) == set(list(people)[1:])
    assert (sum(done.submitted.values()), done.not_reviewed, done.second_readings) == (14, 4, 4)
    copied = reference.freeze(second, other, "development", rule=VoteRule(2, 3))
    export.export_votes(second, other, "development", again, shape=shape)
    assert again.read_bytes() == out.read_bytes()
    themselves = raters.rater_statistics(first, lead, frozen, resamples=0).again
    assert sorted((pair.overall.reports, pair.overall.differ) for pair in themselves.pairs) == [(1, 0), (1, 1), (2, 0)]
    assert raters.rater_statistics(second, other, copied, resamples=0).again == themselves
    cells = [cell for row in csv.reader(out.open(encoding="utf-8", newline="")) for cell in row]
    assert not any(cell.startswith(("=", "+", "@")) for cell in cells)
    assert {cell for cell in cells if cell.startswith("-")} <= {"-1"}


def test_an_output_never_takes_the_place_of_the_study(rated: Study, lead: Actor, tmp_path: Path) -> None:
    reference.freeze(rated, lead, "development")
    before = (rated.folder / "data" / "study.toml").read_bytes()
    for own in ("data/study.toml", "data/workbench.db", "data/workbench.db-wal", "data/cxr21.yaml", "prompts/x.csv"):
        with pytest.raises(ConflictError, match="part of the study itself"):
            export.export_audit(rated, lead, rated.folder / own, form="csv")
    assert (rated.folder / "data" / "study.toml").read_bytes() == before


def test_what_is_not_there_is_named_with_what_is(rated: Study, lead: Actor, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="No reference is frozen yet"):
        export.export_reference(rated, lead, tmp_path / "r.csv")
    with pytest.raises(NotFoundError, match="no cohort or reference nope.*cohorts development.*references none yet"):
        export.export_votes(rated, lead, "nope", tmp_path / "r.csv")
    with pytest.raises(InputError, match="use csv or parquet"):
        export.export_audit(rated, lead, tmp_path / "r.xlsx")


def test_a_long_file_says_itself_who_labelled(rated: Study, lead: Actor, tmp_path: Path) -> None:
    reference.freeze(rated, lead, "development")
    export.export_votes(rated, lead, "development", tmp_path / "v.csv")
    with pytest.raises(InputError, match="says itself who labelled"):
        ingest.import_labels(rated, lead, tmp_path / "v.csv", rater="Ada")
