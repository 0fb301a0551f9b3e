"""What a revision must show before it is accepted, as data (method 16). Rights and sign-offs are not decided here."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from workbench.evaluation.evaluations import Evaluation, FindingScores
from workbench.evaluation.numbers import Figure

ACCURACY_FLOOR = 0.90  # the Ran Score paper's
RECALL_FLOOR = 0.80


@dataclass(frozen=True, slots=True)
class Floors:
    """What accuracy and recall must reach per finding, 0 to 1."""

    accuracy: float = ACCURACY_FLOOR
    recall: float = RECALL_FLOOR


METHOD = Floors()  # method 16


class GateStatus(StrEnum):
    """What a check came to."""

    PASSED = "passed"
    BLOCKED = "blocked"  # only an override with a reason opens it
    NEEDS_SIGNOFF = "needs_signoff"  # a named person has to sign


@dataclass(frozen=True, slots=True)
class GateCheck:
    """One check of the gate: its name, what it came to, a sentence to show, and the findings it is about."""

    name: str
    status: GateStatus
    sentence: str
    findings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "name": self.name,
            "status": self.status.value,
            "sentence": self.sentence,
            "findings": list(self.findings),
        }


def gate(
    evaluation: Evaluation,
    *,
    parent: Evaluation | None = None,
    parent_name: str = "the parent",
    newly_missed: Sequence[tuple[str, str]] = (),
    floors: Floors = METHOD,
) -> list[GateCheck]:
    """Return the checks of the gate, always the same six in the same order.

    Args:
        evaluation: the revision's scores.
        parent: those of the revision it is compared with, on the same reference and reports, or None for a first one.
        parent_name: what the sentences call that revision.
        newly_missed: (report id, finding id) of each positive of a critical finding that the parent found and this
            revision does not.
        floors: the study's.

    Raises:
        ValueError: the parent was scored on other findings.
    """
    if parent is not None and parent.finding_ids != evaluation.finding_ids:
        raise ValueError("a revision and its parent are compared on the same findings")
    return [
        _replies(evaluation),
        _accuracy(evaluation, floors.accuracy),
        _recall(evaluation, floors.recall),
        _assessable(evaluation),
        _newly_missed(newly_missed),
        _macro_f1(evaluation, parent, parent_name),
    ]


def _number(figure: Figure) -> str:
    return "undefined" if figure.value is None else f"{figure.value:.3f}"


def _low(figure: Figure, floor: float) -> str:
    """Return a figure under a floor, with as many digits as show that it is."""
    value = figure.value or 0.0
    digits = next((digits for digits in range(3, 9) if float(f"{value:.{digits}f}") < floor), 9)
    return f"{value:.{digits}f}"


def _plural(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _under(figure: Figure, floor: float) -> bool:
    return figure.value is not None and figure.value < floor


def _replies(evaluation: Evaluation) -> GateCheck:
    failed, reports = evaluation.n_failed, _plural(evaluation.n_reports, "report")
    if failed:
        sentence = (
            f"{failed} of {reports} got no usable reply; run them again, correct the prompt's reply form, or give it "
            "phrases in their language."
        )
        return GateCheck("replies", GateStatus.BLOCKED, sentence)
    return GateCheck("replies", GateStatus.PASSED, f"All of {reports} got a usable reply.")


def _accuracy(evaluation: Evaluation, floor: float) -> GateCheck:
    """Check the floor finding by finding, beside what answering "absent" every time would reach."""
    scored = [f for f in evaluation.findings if f.accuracy.defined]
    low = [f for f in scored if _under(f.accuracy, floor)]
    easy = sum(not _under(f.always_absent_accuracy, floor) for f in scored)
    beside = f'answering "absent" every time would reach it for {easy} of {len(scored)}'
    if not scored:
        return GateCheck("accuracy", GateStatus.BLOCKED, "No finding could be scored, so there is no accuracy.")
    if low:
        shown = "; ".join(
            f'{f.finding_id} {_low(f.accuracy, floor)} ("absent" every time {_number(f.always_absent_accuracy)})'
            for f in low
        )
        sentence = f"Accuracy is under {floor:.2f} for {len(low)} of {len(scored)}: {shown}; {beside}."
        return GateCheck("accuracy", GateStatus.BLOCKED, sentence, _ids(low))
    sentence = f"Accuracy is at least {floor:.2f} for all of {_plural(len(scored), 'finding')}; {beside}."
    return GateCheck("accuracy", GateStatus.PASSED, sentence)


def _recall(evaluation: Evaluation, floor: float) -> GateCheck:
    assessable = [f for f in evaluation.findings if not f.too_few]
    low = [f for f in assessable if _under(f.recall, floor)]
    if low:
        shown = "; ".join(f"{f.finding_id} {_low(f.recall, floor)}" for f in low)
        sentence = f"Recall is under {floor:.2f} for {len(low)} of {len(assessable)} assessable: {shown}."
        return GateCheck("recall", GateStatus.BLOCKED, sentence, _ids(low))
    if not assessable:
        sentence = f"No finding has {evaluation.few} positives, so recall cannot be assessed for any."
        return GateCheck("recall", GateStatus.NEEDS_SIGNOFF, sentence)
    sentence = f"Recall is at least {floor:.2f} for all of {_plural(len(assessable), 'assessable finding')}."
    return GateCheck("recall", GateStatus.PASSED, sentence)


def _assessable(evaluation: Evaluation) -> GateCheck:
    few = [f for f in evaluation.findings if f.too_few]
    if few:
        shown = ", ".join(f"{f.finding_id} ({f.tp + f.fn})" for f in few)
        sentence = f"Not assessable, with under {evaluation.few} positives: {shown}; this needs a named sign-off."
        return GateCheck("assessable", GateStatus.NEEDS_SIGNOFF, sentence, _ids(few))
    return GateCheck("assessable", GateStatus.PASSED, f"Every finding has at least {evaluation.few} positives.")


def _newly_missed(missed: Sequence[tuple[str, str]]) -> GateCheck:
    if missed:
        shown = "; ".join(f"{finding_id} in {report_id}" for report_id, finding_id in missed)
        sentence = (
            f"{_plural(len(missed), 'positive')} of critical findings newly missed: {shown}; each must be signed."
        )
        findings = tuple(dict.fromkeys(finding_id for _, finding_id in missed))
        return GateCheck("newly_missed", GateStatus.NEEDS_SIGNOFF, sentence, findings)
    return GateCheck("newly_missed", GateStatus.PASSED, "No positive of a critical finding is newly missed.")


def _macro_f1(evaluation: Evaluation, parent: Evaluation | None, parent_name: str) -> GateCheck:
    own = f"Macro-F1 {_number(evaluation.macro_f1)} over {_plural(evaluation.macro_f1.n, 'finding')}"
    if evaluation.macro_f1.value is None:
        return GateCheck("macro_f1", GateStatus.BLOCKED, f"Macro-F1 is undefined: {evaluation.macro_f1.reason}.")
    if parent is None:
        return GateCheck("macro_f1", GateStatus.PASSED, f"{own}; there is no accepted revision to compare with.")
    theirs = f"{parent_name}'s {_number(parent.macro_f1)} over {parent.macro_f1.n}"
    if _under(evaluation.macro_f1, parent.macro_f1.value or 0.0):
        return GateCheck("macro_f1", GateStatus.BLOCKED, f"{own} is below {theirs}.")
    return GateCheck("macro_f1", GateStatus.PASSED, f"{own} is not below {theirs}.")


def _ids(findings: Sequence[FindingScores]) -> tuple[str, ...]:
    return tuple(finding.finding_id for finding in findings)
