"""GREEN of generated reports by a language model of the study: judged, kept as scores, and told whose they are."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from workbench.domain.actors import Actor, Role
from workbench.domain.judged import JudgedSystem, JudgeRecord, by_why
from workbench.errors import InputError, WorkbenchError
from workbench.metrics.base import Numbers, fixed_values, is_blank
from workbench.metrics.registry import METRICS
from workbench.running.spending import Cap
from workbench.storage import leaderboard as store
from workbench.storage.leaderboard import DataSetRecord, MetricScores, ScoreSource, SubmissionRecord
from workbench.workflow.blindness import require_sighted
from workbench.workflow.extracting import Progress
from workbench.workflow.judging import (
    Bench,
    Docket,
    TextPair,
    by_words,
    judge_pairs,
    scripted_words,
    took_words,
    why_words,
)
from workbench.workflow.metrics import MetricImport
from workbench.workflow.ran_score import Texts, texts_of
from workbench.workflow.study import Study

GREEN = "green"
JUDGED_HERE = "judged here"


def judge_systems(
    study: Study,
    actor: Actor,
    data_set: DataSetRecord,
    bench: Bench,
    *,
    systems: Sequence[str] | None = None,
    cap: Cap | None = None,
    on_progress: Progress = lambda *_: None,
) -> MetricImport:
    """Have every generated report of a data set judged beside its reference, and keep the judge's scores as GREEN.

    Each pair is judged once: whatever stops it, what came is kept and the same call goes on. The scores are kept when
    every pair was put before the judge, and take the place of all earlier ones of these systems, so that what this
    judge could not judge has no score. Where a side says nothing no model is asked, and the value is that of every
    metric (method 20).

    Args:
        study: the study.
        actor: a lead or admin.
        data_set: whose reports.
        bench: the judge.
        systems: only these; all when None.
        cap: of tokens and cost, earlier attempts included.
        on_progress: told how many pairs are judged of how many.

    Raises:
        InputError: no system has submitted anything, or there is no such system; the labeler's key is missing, or a
            cost is capped that nobody can tell; or the judge judged nothing at all, and then nothing is kept.
        RightsError: the person is no lead or admin or rates in an open round, or the reports may not be sent there.
        WorkbenchError: it stopped before the end, or as ``judging.judge_pairs``.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="have generated reports judged")
    require_sighted(study, actor, "have generated reports judged")
    texts = texts_of(study, data_set, systems)
    if not texts.submissions:
        raise InputError(f"No system has submitted anything for {data_set.name} yet.")
    fixed = [fixed_values(texts.references, generated) for generated in texts.generated]
    pairs = [_pairs(texts, generated, found) for generated, found in zip(texts.generated, fixed, strict=True)]
    wanted = [pair for of_system in pairs for pair in of_system.values()]
    docket = judge_pairs(bench, wanted, cap=cap, on_progress=on_progress)
    if docket.stopped:
        raise WorkbenchError(f"{docket.stopped} The same command goes on.")
    _require_some(bench, docket, wanted)
    values, judged = {}, {}
    for submission, found, of_system in zip(texts.submissions, fixed, pairs, strict=True):
        scores = found.copy()
        for at, pair in of_system.items():
            score = docket.score(pair)
            scores[at] = math.nan if score is None else score
        by_study = zip(texts.ids, scores.tolist(), strict=True)
        values[submission.system] = {study_id: value for study_id, value in by_study if not math.isnan(value)}
        judged[submission.system] = _counted(submission.hash, texts, found, [docket.why(p) for p in of_system.values()])
    price = bench.labeler.price
    record = JudgeRecord(bench.by, judged, docket.usage, docket.cost, price.currency if price else "")
    with study.writing(actor) as conn:
        kept = MetricScores(GREEN, METRICS[GREEN].higher_is_better, values)
        at_last = datetime.now(UTC)
        store.add_scores(conn, data_set.hash, kept, file=JUDGED_HERE, actor=actor.name, at=at_last, judged=record)
    counts = {name: len(of_system) for name, of_system in values.items()}
    return MetricImport(GREEN, METRICS[GREEN].higher_is_better, counts, 0, record)


def record_words(record: JudgeRecord, systems: Sequence[str] | None = None) -> str:
    """Return in a few sentences who judged by what, how many pairs, and what became of the others.

    Args:
        record: what scores of a judge rest on.
        systems: which of its systems are counted; all when None.
    """
    it = [one for name, one in record.systems.items() if systems is None or name in systems]
    sent, judged = sum(one.sent for one in it), sum(one.judged for one in it)
    failed = by_why(one.failed for one in it)
    none = f"; without a judgement, left out and never 0: {why_words(failed)}" if failed else ""
    rest = [
        (sum(one.blank for one in it), "blank reports (0)"),
        (sum(one.left_out for one in it), "left out by the system"),
        (sum(one.no_reference for one in it), "without a reference"),
    ]
    unsent = ", ".join(f"{n:,} {what}" for n, what in rest if n)
    counted = f"{judged:,} of {sent:,} pairs judged{none}{f'; not sent: {unsent}' if unsent else ''}"
    took = took_words(record.usage, record.cost, record.currency)
    return f"{by_words(record.by)}: {counted}. It took {took}.{scripted_words(record.by)}"


def source_words(sources: Sequence[ScoreSource], submissions: Mapping[str, SubmissionRecord]) -> str:
    """Return whose scores a metric's are, and which are of reports that a system has replaced since.

    "" where all are from files and of what the systems submitted last.

    Args:
        sources: where the scores came from.
        submissions: the systems that are shown, each with what it has submitted last.
    """
    every = [(source, [name for name in source.standing if name in submissions]) for source in sources]
    shown = [(source, names) for source, names in every if names]
    by_judge = any(source.judged for source, _ in shown)
    told = []
    for source, names in shown:
        if source.judged:
            told.append(_judge_words(source.judged, names, submissions, alone=len(shown) == 1))
            continue
        old = [name for name in names if submissions[name].at > source.at]
        n = sum(source.standing[name] for name in names)
        counted = f"{n:,} scores from {source.file}." if by_judge else ""
        since = f"Since {source.file} came in, {', '.join(old)} submitted other reports: import scores of those."
        told.append(" ".join(part for part in (counted, since if old else "") if part))
    if by_judge and len(shown) > 1:
        told.append("Figures of different sources do not compare: have all systems judged by one judge.")
    return " ".join(part for part in told if part)


def _judge_words(
    judged: JudgeRecord, names: Sequence[str], submissions: Mapping[str, SubmissionRecord], *, alone: bool
) -> str:
    old = [name for name in names if judged.systems[name].submission != submissions[name].hash]
    of = "" if alone else f"{', '.join(names)}: "
    before = f" Since then {', '.join(old)} submitted other reports: judge them again." if old else ""
    return f"{of}{record_words(judged, names)}{before}"


def _pairs(texts: Texts, generated: Sequence[str | None], fixed: Numbers) -> dict[int, TextPair]:
    """Return the pairs in which both sides say something, by study."""
    return {
        at: (reference, text)
        for at, (reference, text) in enumerate(zip(texts.references, generated, strict=True))
        if math.isinf(fixed[at]) and reference is not None and text is not None
    }


def _require_some(bench: Bench, docket: Docket, pairs: Sequence[TextPair]) -> None:
    if not pairs or any(docket.score(pair) is not None for pair in pairs):
        return
    failed = by_why([Counter(map(docket.why, pairs))])
    raise InputError(
        f"{bench.labeler.name} judged none of {len(pairs):,} pairs ({why_words(failed)}), so no score is kept. The "
        f"first: {docket.detail(pairs[0])} Name another labeler or judge, or mend its settings."
    )


def _counted(submission: str, texts: Texts, fixed: Numbers, whys: Sequence[str]) -> JudgedSystem:
    no_reference = sum(map(is_blank, texts.references))
    return JudgedSystem(
        submission,
        judged=sum(not why for why in whys),
        failed=by_why([Counter(why for why in whys if why)]),
        blank=int((fixed == 0.0).sum()),
        left_out=len(texts.ids) - no_reference - int((fixed == 0.0).sum()) - len(whys),
        no_reference=no_reference,
    )
