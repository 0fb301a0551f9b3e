"""Sixty errors planted by the plan of the demo reports, one cause each: their kinds are found again.

The cause of each comes from what the generator planned and which sentence of its bank it wrote for it, never from the
rules that are tested. All are made under revision 3 of the demo prompts, which has no cues of history. The votes are
those of the simulated raters.
"""

import csv
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from workbench.domain.error_kinds import ErrorKind
from workbench.domain.findings import LabelSet, State
from workbench.domain.references import Outcome, ReferenceItem
from workbench.domain.reports import READ_BY_DEFAULT, Report
from workbench.domain.runs import Extraction, ExtractionStatus, Mention
from workbench.formats.label_sets import read_label_set
from workbench.labelers.error_kinds import ErrorReader, WrongCell
from workbench.labelers.rules import RulesLabeler
from workbench.prompting.files import read_prompt
from workbench.text.sections import split_sections

EACH, KINDS = 6, 10
REVISION = "0003"
NEEDED = 4
GONE = re.compile(r"\b(resolved|cleared|removed|drained|no longer)\b", re.IGNORECASE)
# Reasons for the examination that name a finding, as the generator words them.
ASKED = {
    "evaluate for pneumonia": "pneumonia",
    "rule out pneumonia": "pneumonia",
    "evaluate for pneumothorax": "pneumothorax",
    "rule out rib fracture": "fracture",
    "rule out edema": "pulmonary_edema",
    "question mass": "nodule_or_mass",
    "cardiomegaly on an outside film": "cardiomegaly",
    "history of copd": "emphysema_or_hyperinflation",
    "follow-up of a nodule": "nodule_or_mass",
    "rule out effusion": "pleural_effusion",
}
PAST = {  # fillers of the bank that name what the patient once had
    "history of pneumonia": "pneumonia",
    "history of rib fractures": "fracture",
    "history of pneumothorax": "pneumothorax",
    "history of pleural effusion": "pleural_effusion",
    "history of lung nodule": "nodule_or_mass",
    "history of atelectasis": "atelectasis",
    "history of emphysema": "emphysema_or_hyperinflation",
}


@dataclass
class Case:
    """A development report with its plan, the claims of each of its sentences, and its votes."""

    report: Report
    truth: dict[str, int]
    claims: list[tuple[str, dict[str, int]]]
    votes: dict[str, ReferenceItem] = field(default_factory=dict)

    def said(self, finding: str, state: int) -> list[tuple[str, dict[str, int]]]:
        return [(text, labels) for text, labels in self.claims if labels.get(finding) == state]

    def has(self, finding: str) -> bool:
        return self.votes[finding].outcome is Outcome.PRESENT

    def lacks(self, finding: str) -> bool:
        return self.votes[finding].outcome is Outcome.NOT_PRESENT


Planted = tuple[ErrorKind, WrongCell]


@pytest.fixture(scope="module")
def label_set(root: Path) -> LabelSet:
    return read_label_set(root / "data" / "cxr21.yaml")


@pytest.fixture(scope="module")
def cases(root: Path, label_set: LabelSet) -> Iterator[list[Case]]:
    """The development reports as they are generated anew, with what each sentence was written to claim."""
    demo = root / "data" / "demo"
    before = set(sys.modules)
    sys.path.insert(0, str(demo))
    try:
        yield _generated(demo, label_set)
    finally:
        sys.path.remove(str(demo))
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(demo)):
                del sys.modules[name]


def _generated(demo: Path, label_set: LabelSet) -> list[Case]:
    import generate  # type: ignore[import-not-found]
    import writing  # type: ignore[import-not-found]

    written: dict[str, list[tuple[str, dict[str, int]]]] = {}
    current: list[tuple[str, dict[str, int]]] = []
    add, write_report = writing.Draft.add, generate.write_report

    def noted(draft: Any, sentence: Any, text: str, area: str) -> None:
        current.append((text, dict(sentence.labels)))
        add(draft, sentence, text, area)

    def remembered(*args: Any, **kwargs: Any) -> Any:
        current.clear()
        text, truth = write_report(*args, **kwargs)
        written[text] = list(current)
        return text, truth

    writing.Draft.add, generate.write_report = noted, remembered
    try:
        generate.cohort_items(generate.Bank(), "development", 1)
    finally:
        writing.Draft.add, generate.write_report = add, write_report
    return _with_votes(demo, label_set, written)


def _with_votes(demo: Path, label_set: LabelSet, written: dict[str, list[tuple[str, dict[str, int]]]]) -> list[Case]:
    rows = [row for row in _read(demo / "reports.csv") if row["cohort"] == "development" and row["text"] in written]
    truth = {row["id"]: row for row in _read(demo / "truth.csv")}
    votes = [
        {row["report_id"]: row for row in _read(path) if row["reviewed"] == "1"}
        for path in sorted((demo / "labels").glob("rater*.csv"))
    ]
    found = []
    for row in rows:
        text = row["text"]
        report = Report(row["id"], row["patient_id"], text, split_sections(text))
        plan = {f: int(truth[row["id"]][f]) for f in label_set.ids if truth[row["id"]][f]}
        # Voices change letters and stops, so that a sentence is looked for without them.
        stands = [(s, labels) for s, labels in written[text] if _letters(s) in _letters(text)]
        items = {f: _item(label_set, f, [rater.get(row["id"]) for rater in votes]) for f in label_set.ids}
        found.append(Case(report, plan, stands, items))
    assert len(found) > 280
    return found


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _letters(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def _item(label_set: LabelSet, finding: str, rows: list[dict[str, str] | None]) -> ReferenceItem:
    counts_as = {"1": 1, "0": 0, "": 0, "-1": 1 if str(label_set.vote_policies.of(finding)) == "present" else 0}
    present = sum(counts_as[row[finding]] for row in rows if row is not None)
    missing = sum(row is None for row in rows)
    outcome = Outcome.PRESENT if present >= NEEDED else Outcome.SHORT
    if present + missing < NEEDED:
        outcome = Outcome.NOT_PRESENT
    return ReferenceItem(outcome, present, missing, tie=present == missing == 3)


class Planter:
    """Plants errors of each kind, some each, in the labels that a labeler would give under revision 3."""

    def __init__(self, root: Path, label_set: LabelSet, cases: list[Case]) -> None:
        self.cases, self.label_set = cases, label_set
        self.prompt = read_prompt(root / "prompts" / "cxr21" / f"{REVISION}.md", label_set=label_set)
        self.rules = RulesLabeler(self.prompt, label_set)
        self.rng = random.Random(5)
        self.support = {f: sum(case.has(f) for case in cases) for f in label_set.ids}

    def reply(self, case: Case, finding: str, state: State | None, evidence: str = "") -> Extraction:
        """Return the rules labeler's reply with one finding changed; None takes it out."""
        mentions = dict(self.rules.label_text(case.report.select()))
        mentions.pop(finding, None)
        if state is not None:
            mentions[finding] = Mention(state, evidence)
        return Extraction(ExtractionStatus.OK, mentions)

    def cell(self, case: Case, finding: str, reply: Extraction) -> WrongCell:
        present = frozenset(f for f in self.label_set.ids if case.has(f))
        expected, item = finding in present, case.votes[finding]
        return WrongCell(case.report, finding, reply, expected, item, NEEDED, self.support[finding], present)

    def _cells(self, fits: Callable[[Case, str], str | None]) -> Iterator[tuple[Case, str, str]]:
        """Yield some cells that fit, no report or finding taken more often than needed."""
        found = [(c, f, words) for c in self.cases for f in self.label_set.ids if (words := fits(c, f)) is not None]
        self.rng.shuffle(found)
        used: Counter[str] = Counter()
        found.sort(key=lambda cell: used.update([cell[1]]) or used[cell[1]])  # findings take turns
        yield from found[:EACH]

    def planted(self) -> list[Planted]:
        made: list[Planted] = []
        for kind, fits, state in (
            (ErrorKind.NEGATION, self._denied, State.PRESENT),
            (ErrorKind.UNCERTAINTY, self._hedged, State.PRESENT),
            (ErrorKind.HISTORY, self._past, State.PRESENT),
            (ErrorKind.SECTION, self._asked, State.PRESENT),
            (ErrorKind.BOUNDARY, self._neighbour, State.PRESENT),
            (ErrorKind.RARE, self._rare, None),
            (ErrorKind.INVENTED_EVIDENCE, self._invented, State.PRESENT),
            (ErrorKind.DOUBTFUL, self._doubtful, State.PRESENT),
            (ErrorKind.SYNONYM, self._unheld, None),
            (ErrorKind.UNREADABLE, self._any, None),
        ):
            for case, finding, words in self._cells(fits):
                reply = self.reply(case, finding, state, words)
                if kind is ErrorKind.UNREADABLE:
                    reply = Extraction(ExtractionStatus.MALFORMED, detail="no JSON", raw="I cannot")
                made.append((kind, self.cell(case, finding, reply)))
        return made

    def _denied(self, case: Case, finding: str) -> str | None:
        """A sentence of the bank that denies the finding and does not say that it was there before."""
        if case.lacks(finding) and case.truth.get(finding) == 0:
            return next((text for text, _ in case.said(finding, 0) if not GONE.search(text)), None)
        return None

    def _hedged(self, case: Case, finding: str) -> str | None:
        if case.lacks(finding) and case.truth.get(finding) == -1 and not case.said(finding, 1):
            return next((text for text, _ in case.said(finding, -1)), None)
        return None

    def _past(self, case: Case, finding: str) -> str | None:
        if not case.lacks(finding) or case.truth.get(finding, 0) != 0:
            return None
        gone = [text for text, _ in case.said(finding, 0) if GONE.search(text)]
        once = [text for text, _ in case.claims if _of(PAST, text) == finding]
        return next(iter([*gone, *once]), None)

    def _asked(self, case: Case, finding: str) -> str | None:
        if not case.lacks(finding) or case.truth.get(finding, 0) != 0:
            return None
        for section in case.report.sections:
            text = case.report.text[section.start : section.end].strip()
            if section.name in {"indication", "history"} and _of(ASKED, text) == finding:
                return text
        return None

    def _neighbour(self, case: Case, finding: str) -> str | None:
        from raters import NEIGHBOURS  # type: ignore[import-not-found]

        if not case.lacks(finding) or finding in case.truth or case.votes[finding].present > 1:
            return None
        for other, near in NEIGHBOURS.items():
            if finding in near and case.has(other):
                return next((text for text, _ in case.said(other, 1)), None)
        return None

    def _rare(self, case: Case, finding: str) -> str | None:
        """A rare finding that the prompt's own phrases find, passed over."""
        held = self.rules.label_text(case.report.select()).get(finding)
        rare = self.support[finding] < 10 and case.truth.get(finding) == 1 and case.has(finding)
        return held.evidence if rare and held and held.state is State.PRESENT else None

    def _unheld(self, case: Case, finding: str) -> str | None:
        """A finding that the prompt's phrases do not find though the report states it."""
        stated = case.truth.get(finding) == 1 and case.has(finding) and case.said(finding, 1)
        held = finding in self.rules.label_text(case.report.select())
        return "" if stated and not held and self.support[finding] >= 10 else None

    def _invented(self, case: Case, finding: str) -> str | None:
        if finding in case.truth or not case.lacks(finding):
            return None
        others = [text for other in self.cases for text, _ in other.said(finding, 1)]
        words = self.rng.choice(others)
        return None if _letters(words) in _letters(case.report.text) else words

    def _doubtful(self, case: Case, finding: str) -> str | None:
        """A finding that the plan has and too few raters saw."""
        if case.truth.get(finding) != 1 or not case.lacks(finding):
            return None
        return next((text for text, _ in case.said(finding, 1)), None)

    def _any(self, case: Case, finding: str) -> str | None:
        return "" if case.has(finding) else None


def _of(table: dict[str, str], text: str) -> str:
    return next((finding for words, finding in table.items() if words in text.lower()), "")


def test_the_kinds_of_sixty_planted_errors_are_found_again(
    root: Path, label_set: LabelSet, cases: list[Case], capsys: pytest.CaptureFixture[str]
) -> None:
    planter = Planter(root, label_set, cases)
    planted = planter.planted()
    counts = Counter(kind for kind, _ in planted)
    assert sum(counts.values()) == EACH * KINDS, counts
    assert min(counts.values()) >= 5
    reader = ErrorReader(planter.prompt, label_set, READ_BY_DEFAULT)
    found = [(kind, reader.cause(cell), cell) for kind, cell in planted]
    right = sum(kind is cause.kind for kind, cause, _ in found)
    confusion = Counter((kind, cause.kind) for kind, cause, _ in found)
    with capsys.disabled():
        sys.stdout.write(f"\n{right} of {len(found)} planted errors have their kind found (rows planted, as found):\n")
        for kind in counts:
            row = {other: n for (planned, other), n in confusion.items() if planned is kind}
            sys.stdout.write(f"  {kind:<20} {', '.join(f'{other} {n}' for other, n in sorted(row.items()))}\n")
        for kind, cause, cell in found:
            if kind is not cause.kind:
                mention = cell.reply.mentions.get(cell.finding_id)
                sys.stdout.write(
                    f"    {cell.report.id} {cell.finding_id}: {kind} read as {cause.kind} "
                    f"(P={cell.item.present}) {mention.evidence if mention else ''!r} | {cause.words!r}\n"
                )
    assert right >= 0.85 * len(found)
