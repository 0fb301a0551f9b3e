"""The labeler's errors by finding on the page Leaderboard: for both kinds of text, and a dash with its reason."""

from pathlib import Path

from workbench.evaluation.extractor import ExtractorFinding, ExtractorSpread
from workbench.evaluation.numbers import Figure, undefined
from workbench.formats.label_sets import read_label_set
from workbench.ui.leaderboard_errors import rows
from workbench.workflow.extractor import LabelerErrors

NONE = undefined("no labelled text has it")
CLEAR = Figure(1.0, 9, 0.8, 1.0)


def errors(*findings: ExtractorFinding) -> LabelerErrors:
    spread = ExtractorSpread(findings, (), (), 1, machine_assumed=False, draws=1, seed=0)
    return LabelerErrors(spread, "development-1", "machine-1", simulated=False)


def test_a_row_has_both_kinds_of_text_with_n_and_reasons(root: Path) -> None:
    label_set = read_label_set(root / "data" / "cxr21.yaml")
    found = rows(
        errors(
            ExtractorFinding("pneumothorax", "human", Figure(0.5, 2, 0.1, 0.9), CLEAR),
            ExtractorFinding("fracture", "human", NONE, CLEAR),
            ExtractorFinding("pneumothorax", "machine", NONE, Figure(0.75, 4, 0.3, 0.95)),
            ExtractorFinding("fracture", "machine", NONE, CLEAR),
        ),
        label_set,
    )
    assert found == [
        {
            "finding": "Pneumothorax",
            "sensitivity, radiologists' texts": "0.50 (0.10–0.90) n 2",
            "specificity, radiologists' texts": "1.00 (0.80–1.00) n 9",
            "sensitivity, generated texts": "— (no labelled text has it)",
            "specificity, generated texts": "0.75 (0.30–0.95) n 4",
        }
    ]


def test_without_labelled_generated_reports_there_is_no_column_of_them(root: Path) -> None:
    label_set = read_label_set(root / "data" / "cxr21.yaml")
    (row,) = rows(errors(ExtractorFinding("pneumothorax", "human", CLEAR, CLEAR)), label_set)
    assert list(row) == ["finding", "sensitivity, radiologists' texts", "specificity, radiologists' texts"]
