"""Where a run errs: each wrong cell with the text, the votes, the labeler's evidence, and the likely cause."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from workbench.domain.actors import Actor, Role
from workbench.domain.error_kinds import ErrorKind, ErrorTag
from workbench.domain.findings import STATE_OF_CODE, State
from workbench.domain.references import Outcome, ReferenceItem
from workbench.domain.reports import Report
from workbench.domain.runs import Extraction
from workbench.errors import InputError, NotFoundError
from workbench.evaluation import mistakes as counting
from workbench.evaluation.consensus import per_finding
from workbench.evaluation.evaluations import Evaluation, FindingScores
from workbench.evaluation.mistakes import MistakeKind
from workbench.labelers.error_kinds import Cause, ErrorReader, WrongCell
from workbench.storage import annotations as annotation_store
from workbench.storage import error_tags as store
from workbench.text.likeness import groups, telling
from workbench.workflow.doubted import put_forward
from workbench.workflow.reference import votes_of
from workbench.workflow.run import extractions
from workbench.workflow.score import Score, ScoredArrays, arrays
from workbench.workflow.study import Study
from workbench.workflow.votes import Votes

_READERS: dict[tuple[str, str, tuple[str, ...]], ErrorReader] = {}  # what a prompt reads in a sentence never changes
_READERS_KEPT = 8


COSTLIEST = (
    "What a finding costs macro-F1 is (1 - F1) / number of findings with a positive: what setting all its errors right "
    "would gain."
)


@dataclass(frozen=True, slots=True)
class Mistake:
    """One wrong cell: what the reference says, what the labeler said and on which words.

    ``predicted`` is None where the reply failed, and ``evidence`` then why. ``cost`` is the macro-F1 that setting this
    cell alone right would gain. ``votes`` leaves out raters who did not submit. ``cause`` is the kind found by rule,
    ``tag`` what a person last said of it.
    """

    report: Report
    finding_id: str
    kind: MistakeKind
    cost: float
    reference: ReferenceItem
    predicted: State | None
    evidence: str
    votes: Mapping[str, State]
    reply: Extraction
    cause: Cause
    tag: ErrorTag | None = None

    @property
    def why(self) -> ErrorKind:
        """Return the kind that counts: a person's, else the one found by rule."""
        return self.tag.kind if self.tag else self.cause.kind

    @property
    def agreement(self) -> float:
        """Return the share of the raters who said what most of them said, from 0.5 to 1; 1 without any vote."""
        said = len(self.votes)
        present = min(self.reference.present, said)
        return max(present, said - present) / said if said else 1.0


@dataclass(frozen=True, slots=True)
class Group:
    """Errors whose words are nearly the same, so that one reads them once. ``words`` are those of the first."""

    words: str
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True, slots=True)
class Wish:
    """Which errors to look at; what is left empty takes all.

    ``agreement`` is "all", "unanimous" or "split" among the raters; ``length`` "short" or "long", parted at the median
    number of words of the cohort's reports.
    """

    finding: str = ""
    kind: ErrorKind | None = None
    direction: MistakeKind | None = None
    agreement: str = "all"
    length: str = "all"
    language: str = ""
    source: str = ""


def costliest_first(evaluation: Evaluation) -> list[tuple[FindingScores, float | None]]:
    """Return the findings with what each costs macro-F1 (``COSTLIEST``), in the order of the label set where equal.

    One without a positive in the reference costs nothing that is defined (None): those follow, most invented first.
    """
    share = max(evaluation.macro_f1.n, 1)
    costs = [(row, None if row.f1.value is None else (1 - row.f1.value) / share) for row in evaluation.findings]
    return sorted(costs, key=lambda pair: (pair[1] is None, -(pair[1] or 0.0), -pair[0].fp))


def mistakes(study: Study, actor: Actor, score: Score, finding_id: str | None = None) -> list[Mistake]:
    """Return the wrong cells of a score with their kinds, those first that alone would gain most; of one finding when
    it is named.

    Raises:
        RightsError: the person may not see who said what, which each mistake tells.
    """
    actor.require(Role.LEAD, Role.ADMIN, Role.ADJUDICATOR, to="see where a run errs")
    labels = extractions(study, actor, score.prepared)
    data = arrays(study, score.prepared, score.reference, labels)
    with study.database.read() as conn:
        tags = {(tag.report_id, tag.finding_id): tag for tag in store.of_evaluation(conn, score.hash)}
    reports = {report.id: report for report in score.prepared.reports}
    policies = per_finding(score.prediction_policies, study.label_set.ids)
    explained = _Explaining(study, score, data)
    wrongs = counting.mistakes(data.truth, data.predictions, policies)
    # Of a large cohort most reports are right, and reading who said what of them takes longer than all the rest.
    votes = votes_of(study, actor, score.reference, only={data.report_ids[wrong.report] for wrong in wrongs})
    row_of = {report: row for row, report in enumerate(votes.report_ids)}
    found = []
    for wrong in wrongs:
        report, finding = data.report_ids[wrong.report], study.label_set.ids[wrong.finding]
        if finding_id not in {None, finding}:
            continue
        extraction = labels[report]
        mention = extraction.mentions.get(finding)
        found.append(
            Mistake(
                reports[report],
                finding,
                wrong.kind,
                wrong.cost,
                score.reference.items[report, finding],
                extraction.state(finding),
                mention.evidence if mention else extraction.detail,
                _votes_on(votes, row_of[report], wrong.finding),
                extraction,
                explained.cause(reports[report], wrong, extraction),
                tags.get((report, finding)),
            )
        )
    return found


def _reader(study: Study, score: Score) -> ErrorReader:
    """Return what reads errors under a prompt; building it takes longer than reading with it."""
    run = score.prepared.run
    key = (run.prompt_hash, study.label_set.hash, run.sections)
    made = _READERS.get(key)
    if made is None:
        if len(_READERS) >= _READERS_KEPT:
            _READERS.clear()
        made = _READERS[key] = ErrorReader(score.prepared.prompt, study.label_set, run.sections)
    return made


class _Explaining:
    """Finds the cause of each wrong cell of a score."""

    def __init__(self, study: Study, score: Score, data: ScoredArrays) -> None:
        self._reader = _reader(study, score)
        self._ids, self._reference = study.label_set.ids, score.reference
        self._support = (data.truth == 1).sum(axis=0).tolist()
        self._truth = data.truth

    def cause(self, report: Report, wrong: counting.Mistake, reply: Extraction) -> Cause:
        finding = self._ids[wrong.finding]
        held = frozenset(f for f, code in zip(self._ids, self._truth[wrong.report].tolist(), strict=True) if code == 1)
        item = self._reference.items[report.id, finding]
        needed, support = self._reference.rule.k, int(self._support[wrong.finding])
        return self._reader.cause(WrongCell(report, finding, reply, wrong.positive, item, needed, support, held))


def chosen(found: Sequence[Mistake], wish: Wish, reports: Sequence[Report]) -> list[Mistake]:
    """Return the errors that somebody wishes to see, in their order. ``reports`` are those of the cohort."""
    counts = sorted(len(report.text.split()) for report in reports) if wish.length != "all" else []
    median = counts[len(counts) // 2] if counts else 0
    return [mistake for mistake in found if _wished(mistake, wish, median)]


def _wished(mistake: Mistake, wish: Wish, median: int) -> bool:
    return (
        wish.finding in {"", mistake.finding_id}
        and wish.kind in {None, mistake.why}
        and wish.direction in {None, mistake.kind}
        and (wish.agreement == "all" or (mistake.agreement == 1) is (wish.agreement == "unanimous"))
        and (wish.length == "all" or (len(mistake.report.text.split()) > median) is (wish.length == "long"))
        and wish.language in {"", mistake.report.language}
        and wish.source in {"", mistake.report.source}
    )


def grouped(
    study: Study, score: Score, found: Sequence[Mistake], *, among: Collection[str] | None = None
) -> list[Group]:
    """Return errors in groups whose words are nearly the same, largest first; findings and kinds never mix.

    An error without words, such as a finding missed for a synonym, goes by the sentence of its report that tells most
    of the finding: one the prompt has no phrase for, in words that stand in reports that hold it and rarely elsewhere.

    Args:
        study: the study.
        score: whose errors they are.
        found: the errors.
        among: the reports that "elsewhere" is looked for in; all of the cohort when left out.
    """
    likely = _likely_words(study, score, found, among)
    parts: dict[tuple[str, ErrorKind, MistakeKind], list[tuple[Mistake, str]]] = {}
    for mistake in found:
        words = mistake.cause.words or likely.get((mistake.report.id, mistake.finding_id), "") or mistake.evidence
        parts.setdefault((mistake.finding_id, mistake.why, mistake.kind), []).append((mistake, words))
    made = [
        Group(part[places[0]][1], tuple(part[place][0] for place in places))
        for part in parts.values()
        for places in groups([words for _, words in part])
    ]
    return sorted(made, key=lambda group: (-len(group.mistakes), -sum(m.cost for m in group.mistakes)))


def _likely_words(
    study: Study, score: Score, found: Sequence[Mistake], among: Collection[str] | None
) -> dict[tuple[str, str], str]:
    """Return the telling sentence of each error for a synonym, by report and finding."""
    reader = _reader(study, score)
    without: dict[str, list[Report]] = {}
    for mistake in found:
        if mistake.kind is MistakeKind.MISSED and not mistake.cause.words:
            without.setdefault(mistake.finding_id, []).append(mistake.report)
    likely: dict[tuple[str, str], str] = {}
    texts = dict(score.prepared.texts) if without else {}
    if among is not None:
        texts = {report: text for report, text in texts.items() if report in among}
    for finding, reports in without.items():
        holding = {r for r in texts if score.reference.items[r, finding].outcome is Outcome.PRESENT}
        candidates = {report.id: reader.unnamed(report) for report in reports}
        likely |= {(report, finding): words for report, words in telling(candidates, texts, holding).items()}
    return likely


def phrases_in(study: Study, score: Score, mistake: Mistake) -> list[str]:
    """Return the words of a report that are phrases of the prompt for the finding of an error."""
    return _reader(study, score).phrases(mistake.report, mistake.finding_id)


def raters_words(study: Study, actor: Actor, score: Score, mistake: Mistake) -> dict[str, str]:
    """Return the words that raters marked for the finding of an error, by rater; none where they marked none.

    Raises:
        RightsError: the person may not see who said what.
    """
    votes_of(study, actor, score.reference, only=[mistake.report.id])
    with study.database.read() as conn:
        rows = annotation_store.latest(
            conn,
            [mistake.report.id],
            score.reference.label_set_hash,
            submitted_only=True,
            until=score.reference.last_annotation,
        )
    told = {row.rater: row.evidence.get(mistake.finding_id, "") for row in rows}
    return {rater: words for rater, words in told.items() if words and rater in score.reference.raters}


def tag(study: Study, actor: Actor, score: Score, cell: tuple[str, str], *, kind: ErrorKind, comment: str) -> ErrorTag:
    """Say of what kind an error is, by report and finding, with a comment; what was said before is superseded and kept.

    Saying that the reference is doubtful puts the item before an adjudicator, with as many that nobody doubts
    (method 4). The frozen reference stays as it is.

    Raises:
        InputError: the comment is empty.
        NotFoundError: the score has no such error.
        RightsError: the person may not see where a run errs.
    """
    report_id, finding_id = cell
    found = mistakes(study, actor, score, finding_id)
    if not comment.strip():
        raise InputError(f"Report {report_id}, {finding_id}: say in a sentence why it is an error of this kind.")
    wrong = {mistake.report.id for mistake in found}
    if report_id not in wrong:
        raise NotFoundError(f"Report {report_id}, {finding_id}: the score has no error there.")
    made = ErrorTag(score.hash, report_id, finding_id, kind, comment.strip(), actor.name, datetime.now(UTC))
    with study.writing(actor) as conn:
        store.add(conn, made)
        if kind is ErrorKind.DOUBTFUL:
            put_forward(conn, score, made, wrong)
    return made


def _votes_on(votes: Votes, report: int, finding: int) -> dict[str, State]:
    """Return who said what of one cell, raters who did not submit left out."""
    row: Sequence[int] = votes.codes[report, finding].tolist()
    return {r: STATE_OF_CODE[code] for r, code in zip(votes.raters, row, strict=True) if code in STATE_OF_CODE}
