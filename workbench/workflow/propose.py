"""Edits that a language model proposes for one finding, measured on patients whose errors it was not shown.

It is asked once for each of the five folds that hold errors, without the errors of that fold's patients, and what it
proposes then is measured on them: as the suggestions from errors alone are. The words of reports that it is shown are
under the study's data-use lock as those of a run are. What it answered is kept: it was paid for, and
its numbers stay what they were until it is asked again.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from workbench.domain.actors import Actor
from workbench.domain.findings import Finding
from workbench.domain.hashing import content_hash
from workbench.domain.prompts import Prompt
from workbench.domain.runs import LabelerSettings
from workbench.errors import InputError, WorkbenchError
from workbench.evaluation.mistakes import MistakeKind
from workbench.labelers.proposals import Answer, ErrorGroup, Proposal, Proposer, proposal_of
from workbench.labelers.registry import make_model
from workbench.labelers.suggestions import FOLDS, folds, measure_proposed
from workbench.models.probe import patiently
from workbench.prompting.edits import Edit, Part
from workbench.storage import proposals as store
from workbench.workflow import data_use
from workbench.workflow.errors import Group, Mistake, grouped, mistakes
from workbench.workflow.labelers import StillAllowed, capability, require_ready
from workbench.workflow.looks import record_look
from workbench.workflow.score import Score
from workbench.workflow.study import Study
from workbench.workflow.suggest import Offer, Offers, ReadCohort, not_declined, offer_of, read_cohort

_SHOWN = (MistakeKind.MISSED, MistakeKind.INVENTED)
_GROUPS_SHOWN = 24
_WORDS_SHOWN = 3  # of a group
_LONGEST = 240  # characters of each


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked once: errors in groups, and the folds that none of them is from."""

    groups: tuple[ErrorGroup, ...]
    unseen: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Heard:
    """What came of one question, as it is kept."""

    unseen: tuple[int, ...]
    answer: Answer

    def as_json(self) -> dict[str, object]:
        proposals = [each.as_json() for each in self.answer.proposals]
        return {"unseen": list(self.unseen), "proposals": proposals, "unused": list(self.answer.unused)}


def proposals(
    study: Study,
    actor: Actor,
    score: Score,
    finding_id: str,
    *,
    by: str,
    prompt: Prompt | None = None,
    again: bool = False,
) -> Offers:
    """Return edits that a language model proposes for a finding's errors; counts as a look.

    Args:
        study: the study.
        actor: a lead or admin.
        score: the score whose errors are shown, and on whose cohort the edits are measured.
        finding_id: the finding to mend.
        by: name of the labeler whose model is asked.
        prompt: an edited prompt; the scored one when left out.
        again: ask anew where it has answered before.

    Raises:
        RightsError: the person is no lead or admin, a round is open on the cohort, the cohort is locked, or the
            study's reports may not be sent to the labeler's server.
        InputError: it is a validation cohort, there is no error to show, or the labeler asks no model or lacks its key.
        CallError: the model gave no answer to any question.
    """
    prompt = prompt or score.prepared.prompt
    finding = study.label_set.get(finding_id)
    read = read_cohort(study, actor, score, prompt, to="see suggestions")
    settings = study.labeler(by)
    require_ready(study, settings)
    key = _key(score, prompt, settings, finding_id)
    questions = _questions(study, actor, score, read, finding)
    heard = None if again else _kept(study, key)
    if heard is None:
        heard = asyncio.run(_ask(study, settings, prompt, finding, questions))
        _keep(study, actor, key, heard)
    offers, told = _measured(score, read, heard, by)
    kept = not_declined(study, offers)
    looks = record_look(study, actor, score.prepared.cohort, f"suggest {finding_id} by {by}", prompt.hash)
    return Offers(kept, len(offers) - len(kept), looks, (*read.told, *told))


def _questions(study: Study, actor: Actor, score: Score, read: ReadCohort, finding: Finding) -> list[_Question]:
    """Return what is asked: for each fold with errors they without its own, and once all of them for the others."""
    fold_of = dict(zip(read.data.report_ids, folds(read.data.patients), strict=True))
    found = [m for m in mistakes(study, actor, score, finding.id) if m.report.id in fold_of and m.kind in _SHOWN]
    if score.prepared.run.labeler.kind == "rules":
        found = [mistake for mistake in found if _still_wrong(read, mistake)]
    if not found:
        raise InputError(f"{finding.name}: the prompt makes no error that could be shown to a model.")
    of_errors = {fold_of[mistake.report.id] for mistake in found}
    free = tuple(fold for fold in range(FOLDS) if fold not in of_errors)
    asked = []
    for unseen in [*((fold,) for fold in sorted(of_errors)), *([free] if free else [])]:
        among = {report for report, fold in fold_of.items() if fold not in unseen}
        shown = [mistake for mistake in found if mistake.report.id in among]
        if shown:
            groups = grouped(study, score, shown, among=among)[:_GROUPS_SHOWN]
            asked.append(_Question(tuple(map(_told, groups)), unseen))
    return asked


def _still_wrong(read: ReadCohort, mistake: Mistake) -> bool:
    """Return whether the edited prompt makes the error too."""
    report, finding = read.data.report_ids.index(mistake.report.id), read.reading.ids.index(mistake.finding_id)
    return read.reading.predicted(report, finding) != read.reading.truth[report][finding]


def _told(group: Group) -> ErrorGroup:
    first = group.mistakes[0]
    words = dict.fromkeys(
        text for text in (group.words, *(m.cause.words or m.evidence for m in group.mistakes)) if text
    )
    shown = tuple(text[:_LONGEST] for text in list(words)[:_WORDS_SHOWN])
    kind = first.why.value.replace("_", " ")
    return ErrorGroup(first.kind is MistakeKind.MISSED, kind, len(group.mistakes), shown)


async def _ask(
    study: Study, settings: LabelerSettings, prompt: Prompt, finding: Finding, questions: Sequence[_Question]
) -> list[_Heard]:
    """Return what a model answers; a question that brought no answer is told, unless none brought one."""
    constraint = await capability(study, settings)
    model = make_model(
        settings,
        through=lambda model: StillAllowed(study, settings, model),
        egress=data_use.egress(study),
        constraint=constraint,
    )
    proposer = Proposer(model, constraint=constraint)
    free = asyncio.Semaphore(settings.concurrency)

    async def one(question: _Question) -> Answer:
        async with free:
            return await patiently(proposer.propose, prompt, finding, question.groups)

    try:
        came = await asyncio.gather(*map(one, questions), return_exceptions=True)
    finally:
        await proposer.close()
    failed = [each for each in came if isinstance(each, BaseException)]
    unexpected = [each for each in failed if not isinstance(each, WorkbenchError)]
    if unexpected or len(failed) == len(came):
        raise (unexpected or failed)[0]
    return [
        _Heard(question.unseen, Answer(unused=(str(each),)) if isinstance(each, BaseException) else each)
        for question, each in zip(questions, came, strict=True)
    ]


def _measured(score: Score, read: ReadCohort, heard: Sequence[_Heard], by: str) -> tuple[list[Offer], list[str]]:
    """Return the edits, those that can be measured first, and sentences on the others."""
    proposed: dict[Edit, set[int]] = {}
    why: dict[Edit, str] = {}
    for each in heard:
        for proposal in each.answer.proposals:
            proposed.setdefault(proposal.edit, set()).update(each.unseen)
            why.setdefault(proposal.edit, proposal.why)
    rules = score.prepared.run.labeler.kind == "rules"
    blind = {edit for edit in proposed if _unmeasurable(read, edit, rules=rules)}
    measurable = {edit: unseen for edit, unseen in proposed.items() if edit not in blind}
    found = measure_proposed(read.reading, read.data.patients, measurable)
    offers = [offer_of(read, each, source=by, why=why[each.edit]) for each in found]
    offers += [Offer(edit, (), (), None, None, None, by, why[edit]) for edit in proposed if edit in blind]
    return offers, [*_sentences(score, len(measurable) - len(found), blind), *_unused(heard)]


def _unmeasurable(read: ReadCohort, edit: Edit, *, rules: bool) -> bool:
    """Return whether the rules labeler cannot tell what an edit is worth: it reads no definition, and where a model
    labels, an edit that changes nothing by the rules may change what the model says.
    """
    if edit.part is Part.DEFINITION:
        return True
    effect = read.reading.effect(edit)
    return not rules and not effect.fixed and not effect.broken


def _sentences(score: Score, left_out: int, blind: Collection[Edit]) -> list[str]:
    told = []
    if left_out:
        what = "1 proposed edit mends" if left_out == 1 else f"{left_out} proposed edits mend"
        told.append(f"{what} too little for what it breaks on patients whose errors the model was not shown; left out.")
    labeler = score.prepared.run.labeler
    if labeler.kind != "rules":
        told.append(
            f"Measured by the rules labeler, which reads the same phrases; how {labeler.name} takes an edit, a trial "
            "on reports with an error shows."
        )
    if blind:
        told.append("An edit without figures is one that the rules cannot measure, such as a definition: try it.")
    return told


def _unused(heard: Sequence[_Heard]) -> list[str]:
    return list(dict.fromkeys(sentence for each in heard for sentence in each.answer.unused))


def _key(score: Score, prompt: Prompt, settings: LabelerSettings, finding_id: str) -> str:
    return content_hash("proposals", [score.hash, prompt.hash, settings.hash, finding_id])


def _kept(study: Study, key: str) -> list[_Heard] | None:
    """Return what was answered before; None where nothing was."""
    with study.database.read() as conn:
        found = store.last(conn, key)
    if found is None:
        return None
    return [
        _Heard(tuple(each["unseen"]), Answer(_proposals(each["proposals"]), tuple(each["unused"])))
        for each in cast("list[Mapping[str, Any]]", found)
    ]


def _proposals(values: Sequence[Mapping[str, object]]) -> tuple[Proposal, ...]:
    return tuple(map(proposal_of, values))


def _keep(study: Study, actor: Actor, key: str, heard: Sequence[_Heard]) -> None:
    with study.writing(actor) as conn:
        store.add(conn, key, [each.as_json() for each in heard], actor=actor.name, at=datetime.now(UTC))
