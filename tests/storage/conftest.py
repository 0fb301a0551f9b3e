"""A small study in a database: three reports, a cohort, labels, a reference, a prompt, a run and its evaluation."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workbench.domain.annotations import Annotation
from workbench.domain.cohorts import Cohort, Purpose
from workbench.domain.findings import Finding, LabelSet, Policies, Policy, State
from workbench.domain.prompts import Decision, Guidance, Prompt, RevisionStatus
from workbench.domain.references import Outcome, Reference, ReferenceItem, VoteRule
from workbench.domain.reports import Report, Section
from workbench.domain.runs import (
    Extraction,
    ExtractionKey,
    ExtractionStatus,
    Failure,
    LabelerSettings,
    Mention,
    Run,
)
from workbench.storage import (
    annotations,
    cohorts,
    evaluations,
    imports,
    label_sets,
    prompts,
    references,
    reports,
    runs,
)
from workbench.storage.database import Database

NOW = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


@dataclass(frozen=True)
class Study:
    """The values that the ``study`` fixture stored."""

    database: Database
    label_set: LabelSet
    reports: list[Report]
    cohort: Cohort
    annotation: Annotation
    reference: Reference
    prompt: Prompt
    run: Run
    key: ExtractionKey
    extraction: Extraction


@pytest.fixture
def now() -> datetime:
    return NOW


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "workbench.db")


@pytest.fixture
def make_report() -> Callable[..., Report]:
    def make(report_id: str, text: str = "Clear lungs.", patient: str = "p1", source: str = "a.csv") -> Report:
        return Report(report_id, patient, text, (Section("unlabelled", 0, len(text)),), "en", source)

    return make


@pytest.fixture
def make_prompt() -> Callable[..., Prompt]:
    def make(title: str) -> Prompt:
        return Prompt(Guidance("two", "en", title, "", {}), "Label the report.\n")

    return make


@pytest.fixture
def study(database: Database, make_report: Callable[..., Report], make_prompt: Callable[..., Prompt]) -> Study:
    label_set = LabelSet(
        "two",
        "1",
        "Two findings",
        (
            Finding("effusion", "Effusion", "积液", "pleura", "Fluid.", "Blunting.", "Thickening.", critical=True),
            Finding("edema", "Edema", "水肿", "lungs", "Water."),
        ),
        Policies(Policy.PRESENT, {"edema": Policy.ABSENT}),
        Policies(Policy.EXCLUDE),
    )
    some = [
        make_report("r1", "Small effusion."),
        make_report("r2", "No effusion.\n积液 XXXX ___", "p2"),
        make_report("r3", "", "p2"),
    ]
    cohort = Cohort("dev", Purpose.DEVELOPMENT, {r.id: r.hash for r in some}, {r.id: 0.5 for r in some}, 7, NOW, "Lena")
    annotation = Annotation(
        "r1",
        "Ada",
        {"effusion": State.PRESENT, "edema": State.UNCERTAIN},
        submitted=True,
        at=NOW,
        label_set_hash=label_set.hash,
        evidence={"effusion": "Small effusion"},
        comment="=SUM(1)",
        seconds=12.5,
        source="ada.csv",
        simulated=True,
    )
    reference = Reference(
        "vote",
        cohort.hash,
        label_set.hash,
        VoteRule(4, 6, Outcome.SHORT),
        ("Ada", "Ben"),
        label_set.vote_policies,
        {
            ("r1", "effusion"): ReferenceItem(Outcome.PRESENT, 5, 1, tie=False),
            ("r1", "edema"): ReferenceItem(Outcome.NOT_PRESENT, 3, 0, tie=True),
            ("r2", "effusion"): ReferenceItem(Outcome.SHORT, 2, 3, tie=False),
        },
        NOW,
        "Lena",
        simulated=True,
    )
    prompt = make_prompt("first")
    run = Run(prompt.hash, label_set.hash, cohort.hash, LabelerSettings("fast", "rules", options={"engine": "1"}))
    key = ExtractionKey(prompt.hash, label_set.hash, run.labeler.hash, some[0].hash)
    extraction = Extraction(
        ExtractionStatus.OK,
        {"effusion": Mention(State.PRESENT, "Small effusion.")},
        raw='{"effusion": 1}',
        input_tokens=10,
        output_tokens=2,
        latency=0.25,
    )
    with database.write() as conn:
        label_sets.add(conn, label_set)
        import_id = imports.add(conn, "reports", "a.csv", file_hash="abc", actor="Lena", at=NOW, rows=3)
        reports.add(conn, some, import_id)
        cohorts.add(conn, cohort)
        cohorts.unlock(conn, "dev", actor="Lena", at=NOW, reason="final look", details={"revision": 1})
        annotations.append(conn, annotation)
        references.add(conn, reference)
        prompts.add_revision(conn, prompt, "---\n", parent_hash=None, author="Lena", at=NOW, message="names")
        runs.add(conn, run, "Lena", NOW)
        runs.save_failures(conn, [(replace(key, text_hash=some[1].hash), Failure("server", "It failed.", 5))], NOW)
        runs.save_extractions(conn, [(key, extraction)], NOW)
        evaluations.add(
            conn,
            "e1",
            run_hash=run.hash,
            reference_hash=reference.hash,
            policies_json="{}",
            result_json='{"macro_f1":1.0}',
            actor="Lena",
            at=NOW,
        )
        evaluations.add_look(conn, cohort.hash, kind="try", prompt_hash=prompt.hash, actor="Lena", at=NOW)
        prompts.decide(conn, Decision(prompt.hash, RevisionStatus.ACCEPTED, "Lena", NOW, "climbs", "e1"))
    return Study(database, label_set, some, cohort, annotation, reference, prompt, run, key, extraction)
