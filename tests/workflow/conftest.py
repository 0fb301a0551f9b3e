"""A small study with reports of two patients each, rated by hand, for the workflow's tests."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from workbench.domain.actors import Actor, Role
from workbench.domain.cohorts import Purpose
from workbench.domain.findings import LabelSet
from workbench.domain.prompts import Prompt
from workbench.prompting.files import parse_prompt
from workbench.workflow import reference, run
from workbench.workflow.cohorts import define
from workbench.workflow.ingest import import_labels, import_reports
from workbench.workflow.opening import NewStudy, init_study
from workbench.workflow.prompts import save_candidate
from workbench.workflow.score import Score, score_run
from workbench.workflow.study import Study

LEAD, RATER = "Dr. Lead", "Dr. Rater"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """An empty study with a lead and a rater and no prompt."""
    people = {LEAD: [Role.LEAD, Role.ADMIN], RATER: [Role.RATER]}
    return init_study(tmp_path / "study", NewStudy("Test study", people, with_prompts=False))


@pytest.fixture
def lead(study: Study) -> Actor:
    """The study's lead."""
    return study.actor(LEAD)


@pytest.fixture
def rater(study: Study) -> Actor:
    """A rater of the study."""
    return study.actor(RATER)


@pytest.fixture
def csv_file(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write a file beside the study and return its path."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


PROMPT = """---
format: 1
label_set: cxr21
language: en
title: {title}
reply: mentioned
instructions: Label the report.
findings:
  pleural_effusion:
    definition: fluid
    synonyms: [{effusion}]
  pneumothorax:
    definition: air
    synonyms: [pneumothorax]
cues:
  negation: {{before: [no], after: [], terminators: [but]}}
  uncertainty: {{before: [possible], after: [], terminators: []}}
---
{{{{ instructions }}}}
"""

# Six reports, their findings text, and who of six raters says (pleural effusion, pneumothorax).
# Effusion votes: r1 6 of 6, r2 4 of 6, r3 3 of 6 (tie), r4 0, r5 3 of 5 with one missing (short), r6 0.
# Pneumothorax votes: r1 0, r2 0, r3 0, r4 5 of 6, r5 0 of 5, r6 0.
REPORTS = {
    "r1": "Small pleural effusion.",
    "r2": "Fluid in the pleural space.",
    "r3": "Blunted angle.",
    "r4": "Large pneumothorax.",
    "r5": "Pleural effusion or thickening.",
    "r6": "No pleural effusion. No pneumothorax.",
}
EFFUSION = {"r1": "111111", "r2": "111100", "r3": "111000", "r4": "000000", "r5": "11100-", "r6": "000000"}
AIR = {"r1": "000000", "r2": "000000", "r3": "000000", "r4": "111110", "r5": "00000-", "r6": "000000"}


def labels_csv(label_set: LabelSet, rows: Sequence[tuple[str, str, Mapping[str, str]]]) -> str:
    """Return a file of labels with all findings' columns: (report, reviewed, cells by finding) a row."""
    lines = [",".join(["report_id", "reviewed", *label_set.ids])]
    for report, reviewed, cells in rows:
        lines.append(",".join([report, reviewed, *(cells.get(finding, "") for finding in label_set.ids)]))
    return "\n".join(lines) + "\n"


@pytest.fixture
def write_labels(study: Study, csv_file: Callable[[str, str], Path]) -> Callable[..., Path]:
    """Write a rater's file from (report, reviewed, cells by finding) rows."""

    def write(name: str, *rows: tuple[str, str, Mapping[str, str]]) -> Path:
        return csv_file(name, labels_csv(study.label_set, rows))

    return write


@pytest.fixture
def rated(study: Study, lead: Actor, csv_file: Callable[[str, str], Path]) -> Study:
    """The study with six reports of five patients in a development cohort, rated by six raters, not frozen yet."""
    rows = ["id,patient_id,text"]
    rows += [f'{r},{"p1" if r == "r2" else "p" + r[1:]},"FINDINGS: {text}"' for r, text in REPORTS.items()]
    import_reports(study, lead, csv_file("reports.csv", "\n".join(rows) + "\n"))
    define(study, lead, "development", Purpose.DEVELOPMENT, list(REPORTS))
    for i in range(6):
        given = [(r, {"pleural_effusion": EFFUSION[r][i], "pneumothorax": AIR[r][i]}) for r in REPORTS]
        rows = [(r, "1", cells) for r, cells in given if "-" not in cells.values()]
        import_labels(study, lead, csv_file(f"rater{i + 1}.csv", labels_csv(study.label_set, rows)))
    return study


@pytest.fixture
def make_prompt(study: Study) -> Callable[..., Prompt]:
    """Return a prompt that knows two findings; ``effusion`` holds the synonyms of pleural effusion."""

    def make(title: str = "first", effusion: str = "pleural effusion") -> Prompt:
        return parse_prompt(PROMPT.format(title=title, effusion=effusion), label_set=study.label_set)

    return make


@pytest.fixture
def scored(
    study: Study, lead: Actor, csv_file: Callable[[str, str], Path], make_prompt: Callable[..., Prompt]
) -> Callable[[Mapping[str, str], Sequence[str]], Score]:
    """Return the first revision's score on reports, given with their findings text, and which of them show effusion."""

    def score(texts: Mapping[str, str], effusions: Sequence[str]) -> Score:
        rows = "".join(f'{report},p{report},"FINDINGS: {text}"\n' for report, text in texts.items())
        import_reports(study, lead, csv_file("texts.csv", "id,patient_id,text\n" + rows))
        define(study, lead, "development", Purpose.DEVELOPMENT, list(texts))
        given = [(report, "1", {"pleural_effusion": "1"} if report in effusions else {}) for report in texts]
        for i in range(6):
            import_labels(study, lead, csv_file(f"rater{i}.csv", labels_csv(study.label_set, given)))
        frozen = reference.freeze(study, lead, "development")
        saved = save_candidate(study, lead, make_prompt(), message="first", parent=None)
        prepared = run.prepare(study, lead, cohort="development", revision=saved.prompt_hash)
        run.execute(study, prepared)
        return score_run(study, lead, prepared.run.hash, frozen)

    return score
