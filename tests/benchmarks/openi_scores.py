"""What each shipped revision scores on Open-i's reports under the rules labeler, against the human indexing.

    uv run python tests/benchmarks/openi_scores.py [--findings]

The reports and the mapping of their MeSH terms onto findings must stand in `shared/data/openi` beside the project. One
person indexed each report, so the reference is real and no consensus. Reports without an indexing have none.
"""

import argparse
import csv
import sys
from pathlib import Path

import numpy as np

from workbench.domain.findings import LabelSet
from workbench.evaluation.consensus import per_finding
from workbench.evaluation.evaluations import Evaluation
from workbench.evaluation.scores import evaluate
from workbench.formats.label_sets import read_label_set
from workbench.formats.reports import read_reports
from workbench.labelers.rules import RulesLabeler
from workbench.prompting.files import read_prompt

ROOT = Path(__file__).resolve().parents[2]
OPENI = ROOT.parent / "shared" / "data" / "openi"
OFTEN = 20


def indexed(finding_ids: tuple[str, ...]) -> dict[str, list[int]]:
    """Return the human indexing as 1 and 0 per finding, by uid."""
    mapping: dict[str, list[tuple[str, str]]] = {}
    with (OPENI / "mesh_to_findings.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            mapping.setdefault(row["heading"].lower(), []).append((row["qualifier"].lower(), row["finding"]))
    truth = {}
    with (OPENI / "reports.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if "no indexing" in row["MeSH"].lower():
                continue
            coded = set()
            for term in row["MeSH"].lower().split(";"):
                heading, *qualifiers = (part.strip() for part in term.split("/"))
                coded |= {f for q, f in mapping.get(heading, ()) if q == "*" or q in qualifiers}
            truth[row["uid"]] = [int(finding in coded) for finding in finding_ids]
    return truth


def scored(prompt: Path, label_set: LabelSet, texts: dict[str, str], truth: dict[str, list[int]]) -> Evaluation:
    labeler = RulesLabeler(read_prompt(prompt, label_set=label_set), label_set)
    uids = [uid for uid in texts if uid in truth]
    return evaluate(
        label_set.ids,
        np.array([truth[uid] for uid in uids], dtype=np.int8),
        np.array([labeler.codes(texts[uid]) for uid in uids], dtype=np.int8),
        per_finding(label_set.prediction_policies, label_set.ids),
        uids,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--findings", action="store_true", help="F1 of each finding too")
    show_findings = parser.parse_args().findings
    if not OPENI.is_dir():
        sys.exit(f"real reports are not here: {OPENI} is missing")
    label_set = read_label_set(ROOT / "data" / "cxr21.yaml")
    truth = indexed(label_set.ids)
    texts = {report.id: report.select() for report in read_reports(OPENI / "reports.csv", form="openi")}
    print("| revision | reports | macro-F1, 21 findings (95 %) | findings with 20 or more positives |")
    print("| --- | --- | --- | --- |")
    for path in sorted((ROOT / "prompts" / label_set.id).glob("*.md"))[:4]:
        result = scored(path, label_set, texts, truth)
        often = [f.f1.value or 0.0 for f in result.findings if f.support >= OFTEN]
        macro = result.macro_f1
        print(
            f"| {int(path.stem)} | {result.n_reports:,} | {macro.value:.3f} ({macro.low:.3f} to {macro.high:.3f}) "
            f"| {sum(often) / len(often):.3f} (n = {len(often)}) |"
        )
    if show_findings:
        print("\n| finding | support | TP | FP | FN | F1 |\n| --- | --- | --- | --- | --- | --- |")
        for f in result.findings:
            print(f"| {f.finding_id} | {f.support} | {f.tp} | {f.fp} | {f.fn} | {f.f1.value:.3f} |")


if __name__ == "__main__":
    main()
