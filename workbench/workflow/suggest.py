"""Suggested edits of a prompt: learned from a score's errors, scored out of fold, and accepted or declined by a person.

Nothing is ever applied by itself. What is accepted becomes part of an unsaved prompt; whoever saves it makes a
candidate, which goes the way of every other one.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from workbench.domain.actors import Actor, Role
from workbench.domain.cohorts import Purpose
from workbench.domain.hashing import short
from workbench.domain.prompts import Prompt, Revision
from workbench.errors import InputError
from workbench.evaluation.consensus import collapse, per_finding
from workbench.labelers.reading_languages import ReadingLanguages
from workbench.labelers.rereading import Rereading
from workbench.labelers.suggestions import Suggestion, suggest
from workbench.prompting.edits import Edit, edited
from workbench.storage import suggestions as store
from workbench.storage.suggestions import SuggestionDecision
from workbench.workflow.blindness import require_sighted
from workbench.workflow.cohorts import require_unlocked
from workbench.workflow.looks import record_look
from workbench.workflow.prompts import find_revision, save_candidate
from workbench.workflow.run import execute, extractions, prepare
from workbench.workflow.score import Score, ScoredArrays, arrays, score_run
from workbench.workflow.study import Study

FROM_ERRORS = "errors"
_MOST = 40
_MOST_ROUNDS = 12


@dataclass(frozen=True, slots=True)
class Offer:
    """A suggested edit as a person sees it.

    ``answers`` are the errors (report, finding) that it sets right, ``breaks`` the labels it makes wrong, both on the
    whole cohort by the edit alone. ``held_out_fixed``, ``held_out_broken`` and ``gain`` (in macro-F1) are its score out
    of fold; None where it has none. ``why`` is what a language model gave as its reason.
    """

    edit: Edit
    answers: tuple[tuple[str, str], ...]
    breaks: tuple[tuple[str, str], ...]
    held_out_fixed: int | None
    held_out_broken: int | None
    gain: float | None
    source: str = FROM_ERRORS
    why: str = ""

    def held_out(self) -> dict[str, object]:
        """Return the score out of fold as it is kept."""
        gain = None if self.gain is None else round(self.gain, 6)
        return {"fixed": self.held_out_fixed, "broken": self.held_out_broken, "gain": gain}


@dataclass(frozen=True, slots=True)
class Offers:
    """Suggestions for a prompt, the one that gains most first. ``declined`` says how many are left out because somebody
    declined them before; ``looks`` counts the looks at the cohort so far, this one included. ``told`` says what a
    language model proposed that is not used, and how the rest is measured.
    """

    offers: tuple[Offer, ...]
    declined: int
    looks: int
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadCohort:
    """A scored cohort as the rules labeler reads it with a prompt, for measuring edits; ``unread`` are the reports that
    are left out since it cannot read them by this prompt.
    """

    data: ScoredArrays
    reading: Rereading
    unread: int = 0

    @property
    def told(self) -> tuple[str, ...]:
        """Return in a sentence how many reports nothing is learned from."""
        if not self.unread:
            return ()
        return (f"{self.unread:,} reports in a language that the prompt's phrases are not in teach nothing here.",)

    def cell(self, cell: tuple[int, int]) -> tuple[str, str]:
        """Return a cell as report and finding id."""
        return self.data.report_ids[cell[0]], self.reading.ids[cell[1]]


def read_cohort(study: Study, actor: Actor, score: Score, prompt: Prompt, *, to: str) -> ReadCohort:
    """Return a score's cohort as the rules labeler reads it with a prompt; reports that either quotes are left out.

    Raises:
        RightsError: the person is no lead or admin, rates in an open round, or the cohort is locked.
        InputError: it is a validation cohort, from which nothing is learned.
    """
    actor.require(Role.LEAD, Role.ADMIN, to=to)
    require_sighted(study, actor, to)
    cohort = score.prepared.cohort
    require_unlocked(study, cohort, to)
    if cohort.purpose is Purpose.VALIDATION:
        raise InputError(
            f"{cohort.name} is a validation cohort: nothing is learned from it, or it would prove nothing."
        )
    data = arrays(study, score.prepared, score.reference, extractions(study, actor, score.prepared))
    quoted = {example.report_id for example in prompt.guidance.examples if example.report_id}
    texts, languages = dict(score.prepared.texts), ReadingLanguages(prompt.guidance)
    meant = [report for report in data.report_ids if report not in quoted]
    data = data.only([report for report in meant if not languages.unread(texts[report])])
    if meant and not data.report_ids:
        raise InputError(
            f"No report of {cohort.name} is in {languages.in_words}, as the prompt's phrases are, so there is nothing "
            "to learn from; write phrases in the reports' language first."
        )
    reading = Rereading(
        prompt,
        study.label_set,
        [texts[report] for report in data.report_ids],
        data.truth,
        per_finding(score.prediction_policies, study.label_set.ids),
    )
    return ReadCohort(data, reading, len(meant) - len(data.report_ids))


def suggestions(
    study: Study, actor: Actor, score: Score, *, prompt: Prompt | None = None, finding_id: str | None = None
) -> Offers:
    """Return edits that would mend a prompt, learned from its errors on a scored cohort; counts as a look.

    The rules labeler reads the cohort with the prompt. Where the score is a language model's, only edits are offered
    that answer errors which the model makes too.

    Args:
        study: the study.
        actor: a lead or admin.
        score: the score whose cohort and reference are learned from.
        prompt: an edited prompt; the scored one when left out.
        finding_id: mend this finding alone, and leave the cues as they are.

    Raises:
        RightsError: the person is no lead or admin, rates in an open round, or the cohort is locked.
        InputError: it is a validation cohort.
    """
    prompt = prompt or score.prepared.prompt
    if finding_id is not None:
        study.label_set.get(finding_id)
    read = read_cohort(study, actor, score, prompt, to="see suggestions")
    found = suggest(read.reading, read.data.patients, only=[finding_id] if finding_id else [], most=_MOST)
    if score.prepared.run.labeler.kind != "rules":
        wrong = _wrong(study, score, read.data)
        found = [each for each in found if not wrong.isdisjoint(each.fixed)]
    offers = [offer_of(read, each) for each in found]
    kept = not_declined(study, offers)
    looks = record_look(
        study,
        actor,
        score.prepared.cohort,
        " ".join(["suggest", finding_id or "all", "from", short(score.hash)]),
        prompt.hash,
    )
    return Offers(kept, len(offers) - len(kept), looks, read.told)


def _wrong(study: Study, score: Score, data: ScoredArrays) -> set[tuple[int, int]]:
    said = collapse(data.predictions, per_finding(score.prediction_policies, study.label_set.ids))
    rows, columns = np.nonzero((data.truth >= 0) & (said != data.truth))
    return set(zip(rows.tolist(), columns.tolist(), strict=True))


def not_declined(study: Study, offers: Sequence[Offer]) -> tuple[Offer, ...]:
    """Return the offers whose edit nobody has declined; they are in the study for good, whoever suggests them."""
    with study.database.read() as conn:
        declined = _declined(store.list_all(conn))
    return tuple(offer for offer in offers if _key(offer.edit.as_json()) not in declined)


def offer_of(read: ReadCohort, each: Suggestion, *, source: str = FROM_ERRORS, why: str = "") -> Offer:
    """Return a measured edit as a person sees it."""
    return Offer(
        each.edit,
        tuple(read.cell(cell) for cell in each.fixed),
        tuple(read.cell(cell) for cell in each.broken),
        each.held_out_fixed,
        each.held_out_broken,
        each.gain,
        source,
        why,
    )


def _key(edit: Mapping[str, object]) -> tuple[object, ...]:
    return tuple(edit[name] for name in ("finding", "part", "phrase", "add"))


def _declined(decided: Sequence[SuggestionDecision]) -> set[tuple[object, ...]]:
    """Return the edits whose last decision was no."""
    last = {_key(each.edit): each.accepted for each in decided}
    return {key for key, accepted in last.items() if not accepted}


def decide_suggestions(
    study: Study,
    actor: Actor,
    score: Score,
    prompt: Prompt,
    *,
    accepted: Collection[Offer] = (),
    declined: Collection[Offer] = (),
) -> Prompt:
    """Record what somebody decided on suggestions and return the prompt with the accepted ones, not saved yet.

    A declined edit is not offered again.

    Raises:
        RightsError: the person is no lead or admin, or rates in an open round.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="decide on suggestions")
    require_sighted(study, actor, "decide on suggestions")
    now = datetime.now(UTC)
    with study.writing(actor) as conn:
        for offers, yes in ((accepted, True), (declined, False)):
            for offer in offers:
                store.add(
                    conn,
                    SuggestionDecision(
                        prompt.hash,
                        score.hash,
                        offer.edit.as_json(),
                        offer.source,
                        offer.held_out(),
                        yes,
                        actor.name,
                        now,
                    ),
                )
    return edited(prompt, [offer.edit for offer in accepted])


@dataclass(frozen=True, slots=True)
class Round:
    """One round of unattended search: the revision it ended in, its score, and the edits that led there."""

    revision: Revision
    score: Score
    edits: tuple[Edit, ...]


def search(
    study: Study,
    actor: Actor,
    score: Score,
    *,
    rounds: int = _MOST_ROUNDS,
    tell: Callable[[Round], None] = lambda _: None,
) -> list[Round]:
    """Take every suggestion, save and score what comes of it, and go on until it helps no more.

    Each round leaves a candidate with its run and score on record, and counts as looks; none is accepted. It ends where
    nothing is suggested, or where macro-F1 on the cohort no longer rises: that last candidate stays, as a record.

    Args:
        study: the study.
        actor: a lead or admin, in whose name everything is recorded.
        score: of the rules labeler, where to begin.
        rounds: how many at most.
        tell: told after each.

    Returns:
        The rounds that helped, in order.

    Raises:
        InputError: the score is a language model's, which would have to be run each time.
    """
    if score.prepared.run.labeler.kind != "rules":
        raise InputError("An unattended search is for the rules labeler only; name the score of that one.")
    done: list[Round] = []
    while len(done) < rounds:
        found = suggestions(study, actor, score).offers
        if not found:
            break
        prompt = decide_suggestions(study, actor, score, score.prepared.prompt, accepted=found)
        message = f"Unattended search, round {len(done) + 1}: {len(found)} suggestions taken"
        revision = save_candidate(study, actor, prompt, message=message, parent=score.prepared.run.prompt_hash)
        new = _scored(study, actor, revision, score)
        if (new.evaluation.macro_f1.value or 0) <= (score.evaluation.macro_f1.value or 0):
            break
        score = new
        done.append(Round(find_revision(study, revision.prompt_hash).revision, score, tuple(o.edit for o in found)))
        tell(done[-1])
    return done


def _scored(study: Study, actor: Actor, revision: Revision, like: Score) -> Score:
    prepared = prepare(
        study,
        actor,
        cohort=like.prepared.cohort.name,
        revision=revision.prompt_hash,
        labeler=like.prepared.run.labeler.name,
        sections=like.prepared.run.sections,
    )
    execute(study, prepared)
    return score_run(study, actor, prepared.run.hash, like.reference)
