"""Readers that remember: what the pages ask the workflow for, kept until the study's data change.

Everything kept is immutable and keyed by study, person and the state of the data, so that nobody is shown what was
read for somebody else and nothing is shown that has changed since.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar, cast

import streamlit as st

from workbench.domain.hashing import short
from workbench.domain.prompts import Decision, Prompt, Revision, RevisionStatus
from workbench.domain.references import Reference
from workbench.domain.reports import Report
from workbench.errors import InputError, NotFoundError
from workbench.evaluation.benchmark import Benchmark
from workbench.evaluation.policies import PolicyTable
from workbench.evaluation.stability import Stability
from workbench.ui.state import Here, Token
from workbench.workflow import (
    accept,
    blindness,
    browse,
    cohorts,
    compare,
    errors,
    history,
    prompts,
    reference,
    run,
    score,
    splits,
    validation,
)
from workbench.workflow.agreed import View
from workbench.workflow.baseline import Beside, rules_beside
from workbench.workflow.doubts import Doubts, doubts
from workbench.workflow.raters import RaterStatistics, benchmark_of, rater_statistics
from workbench.workflow.run import PreparedRun
from workbench.workflow.score import Score
from workbench.workflow.stability import run_stability
from workbench.workflow.unsubmitted import Unsubmitted
from workbench.workflow.unsubmitted import unsubmitted as read_unsubmitted

T = TypeVar("T")


@st.cache_resource(max_entries=256, show_spinner="Reading the study")
def _kept(
    folder: str,  # noqa: ARG001 - the key
    person: tuple[str, ...],  # noqa: ARG001
    token: Token,  # noqa: ARG001
    what: str,  # noqa: ARG001
    key: object,  # noqa: ARG001
    _read: Callable[[], object],
) -> object:
    return _read()


def _read(here: Here, what: str, read: Callable[[], T], *key: Hashable) -> T:
    person = (here.actor.name, *sorted(here.actor.roles))
    return cast("T", _kept(str(here.study.folder), person, here.token, what, key, read))


def kept(here: Here, what: str, read: Callable[[], T], *key: Hashable) -> T:
    """Return what is read for a page with readers of its own, remembered as everything here is."""
    return _read(here, what, read, *key)


def shelf(here: Here) -> browse.Shelf:
    """Return the reports this person may see."""
    return _read(here, "shelf", lambda: browse.list_reports(here.study, here.actor))


def report_count(here: Here) -> int:
    """Return how many reports the study holds."""
    return _read(here, "count", lambda: browse.count_reports(here.study))


def report(here: Here, report_id: str) -> Report:
    """Return one report."""
    return _read(here, "report", lambda: browse.read_report(here.study, here.actor, report_id), report_id)


def cohort_views(here: Here) -> list[cohorts.CohortView]:
    """Return the cohorts, oldest first."""
    return _read(here, "cohorts", lambda: cohorts.list_cohorts(here.study))


def expected(here: Here, cohort: str) -> Mapping[str, float] | None:
    """Return the positives to expect in a cohort per finding, None before a prompt is accepted."""
    return _read(
        here,
        "expected",
        lambda: cohorts.expected_positives(here.study, here.actor, cohorts.get_cohort(here.study, cohort)),
        cohort,
    )


@dataclass(frozen=True, slots=True)
class SplitWish:
    """Which reports to look up behind a figure about raters.

    No rater: on which any two differ; one: where that one differs from the vote of the others, or with ``again`` from
    their own first reading; two: where these differ. ``finding`` empty takes all.
    """

    finding: str = ""
    raters: tuple[str, ...] = ()
    again: bool = False
    view: View = View.TWO_STATES


@dataclass(frozen=True, slots=True)
class ReferenceCard:
    """A frozen reference as it is chosen and named, without its votes."""

    name: str
    hash: str
    cohort: str
    simulated: bool
    single_rater: bool


def reference_cards(here: Here) -> list[ReferenceCard]:
    """Return the frozen references, oldest first; none for whoever must stay blind (method 6)."""

    def read() -> list[ReferenceCard]:
        if blinding_round(here):
            return []
        cohort_of = {view.cohort.hash: view.cohort for view in cohort_views(here)}
        return [
            ReferenceCard(r.name, r.hash, cohort_of[r.cohort_hash].name, r.simulated, r.rule.single_rater)
            for r in reference.list_references(here.study, here.actor)
            if r.cohort_hash in cohort_of
        ]

    return _read(here, "reference cards", read)


def blinding_round(here: Here) -> str:
    """Return the open round that this person must stay blind for, empty where there is none."""
    return _read(here, "blind", lambda: blindness.blinding_round(here.study, here.actor))


def get_reference(here: Here, name: str) -> Reference:
    """Return a frozen reference by name."""
    return _read(here, "reference", lambda: reference.get_reference(here.study, here.actor, name), name)


def summary(here: Here, name: str) -> reference.ReferenceSummary:
    """Return a frozen reference with counts and agreement per finding."""
    return _read(here, "summary", lambda: reference.summarize(here.study, here.actor, get_reference(here, name)), name)


def rating_progress(here: Here, cohort: str) -> Mapping[str, int]:
    """Return how many reports of a cohort each rater has submitted."""
    return _read(here, "rating", lambda: browse.rating_progress(here.study, here.actor, cohort), cohort)


def revisions(here: Here) -> list[Revision]:
    """Return all revisions by number."""
    return _read(here, "revisions", lambda: prompts.revisions(here.study))


def newest(here: Here) -> Revision | None:
    """Return the revision one works on: the newest candidate after the last accepted one, else that one."""
    open_ones = [r for r in revisions(here) if r.status is not RevisionStatus.REJECTED]
    return open_ones[-1] if open_ones else None


def prompt(here: Here, prompt_hash: str) -> Prompt:
    """Return the prompt of a revision."""
    return _read(here, "prompt", lambda: prompts.find_revision(here.study, prompt_hash).prompt, prompt_hash)


def known_run(
    here: Here, prompt_hash: str, cohort_hash: str, labeler: str, repeats: int | None = None
) -> PreparedRun | None:
    """Return the recorded run of a revision on a cohort with a labeler as set now, None where there is none.

    ``repeats`` is how often each report is labelled in it; the run recorded last when None.
    """
    settings = here.study.labeler(labeler)

    def read() -> PreparedRun | None:
        for record in reversed(run.list_records(here.study)):
            it = record.run
            parts = (it.prompt_hash, it.cohort_hash, it.labeler.hash, it.sections)
            same = parts == (prompt_hash, cohort_hash, settings.hash, here.study.settings.sections)
            if same and repeats in {None, it.repeats}:
                return run.load(here.study, it.hash)
        return None

    return _read(here, "run", read, prompt_hash, cohort_hash, settings.hash, settings.name, repeats)


def doubtful(here: Here, prepared: PreparedRun) -> Doubts:
    """Return which replies of a run to look at."""
    return _read(here, "doubts", lambda: doubts(here.study, here.actor, prepared), prepared.run.hash)


def steadiness(here: Here, prepared: PreparedRun) -> Stability:
    """Return on how many reports the repeats of a run agree."""
    return _read(here, "steady", lambda: run_stability(here.study, here.actor, prepared), prepared.run.hash)


def beside(here: Here, of: Score) -> Beside | None:
    """Return the rules labeler's score beside a model's, run where it has not been; None beside its own."""
    return _read(here, "beside", lambda: rules_beside(here.study, here.actor, of), of.hash)


def rows(here: Here, reference_name: str, labeler: str, *, accepted_only: bool) -> list[history.HistoryRow]:
    """Return the accuracy history on a reference under a labeler."""

    def read() -> list[history.HistoryRow]:
        return history.history(
            here.study,
            here.actor,
            get_reference(here, reference_name),
            labeler=here.study.labeler(labeler),
            accepted_only=accepted_only,
        )

    return _read(here, "history", read, reference_name, labeler, accepted_only)


def raters(here: Here, reference_name: str, view: View, *, quick: bool = False) -> tuple[RaterStatistics, int | None]:
    """Return how the raters of a reference compare, and which accepted revision stands beside (of the study's first
    labeler); ``quick`` leaves out that revision and all intervals that take a moment.
    """

    def read() -> tuple[RaterStatistics, int | None]:
        of = get_reference(here, reference_name)
        if quick:
            return rater_statistics(here.study, here.actor, of, view=view, resamples=0), None
        labeler = next(iter(here.study.settings.labelers))
        scores = [row.score for row in rows(here, reference_name, labeler, accepted_only=True) if row.score]
        score = scores[-1] if scores else None
        found = rater_statistics(here.study, here.actor, of, score=score, view=view)
        return found, score.prepared.number if score else None

    return _read(here, "raters", read, reference_name, view, quick)


def split(here: Here, reference_name: str, wish: SplitWish) -> tuple[list[splits.Split], Mapping[str, Report]]:
    """Return the reports behind a figure about raters, with their texts."""

    def read() -> tuple[list[splits.Split], Mapping[str, Report]]:
        study, actor, of = here.study, here.actor, get_reference(here, reference_name)
        findings = [wish.finding] if wish.finding else list(study.label_set.ids)
        if wish.again:
            found = splits.split_from_themselves(study, actor, of, findings, wish.raters[0], view=wish.view)
        elif len(wish.raters) == 2:
            found = splits.split_between(study, actor, of, findings, (wish.raters[0], wish.raters[1]), view=wish.view)
        elif wish.raters:
            found = splits.split_from_others(study, actor, of, findings, wish.raters[0])
        else:
            found = splits.split_among_all(study, actor, of, findings, view=wish.view)
        return found, splits.reports_of(study, found)

    return _read(here, "split", read, reference_name, wish)


def unsubmitted(here: Here, cohort: str) -> tuple[Unsubmitted, ...]:
    """Return what the raters of a cohort have left to do."""
    return _read(here, "unsubmitted", lambda: read_unsubmitted(here.study, here.actor, cohort), cohort)


def series(here: Here, reference_name: str) -> list[history.Series]:
    """Return the history of every labeler that has a score on a reference."""
    return _read(
        here,
        "series",
        lambda: history.series(here.study, here.actor, get_reference(here, reference_name)),
        reference_name,
    )


def beside_validation(here: Here, development: Score, of: Score) -> tuple[validation.Beside, ...]:
    """Return the macro-F1 on development and on validation, overall and by language."""
    return _read(
        here,
        "validation",
        lambda: validation.side_by_side(here.study, here.actor, development, of),
        development.hash,
        of.hash,
    )


def compared(here: Here, before: Score, after: Score) -> compare.Compared:
    """Return two scored runs on one reference compared."""
    return _read(
        here, "compared", lambda: compare.compare(here.study, here.actor, before, after), before.hash, after.hash
    )


def scored(here: Here, reference_name: str) -> list[Score]:
    """Return the scores on a reference, newest revision first, over all labelers of the study.

    A labeler that is set up wrongly is left out here; the page Run says what is wrong with it.
    """
    found = []
    for labeler in here.study.settings.labelers:
        with suppress(InputError):
            found += [row.score for row in rows(here, reference_name, labeler, accepted_only=False) if row.score]
    return sorted(found, key=lambda s: s.prepared.number, reverse=True)


def find_score(here: Here, prepared: PreparedRun, reference_name: str) -> Score | None:
    """Return the recorded score of a run, None where there is none."""
    return _read(
        here,
        "score",
        lambda: score.find_score(here.study, here.actor, prepared, get_reference(here, reference_name)),
        prepared.run.hash,
        reference_name,
    )


def policies(here: Here, of: Score) -> PolicyTable:
    """Return macro-F1 by vote policy (rows) and prediction policy (columns)."""
    return _read(here, "policies", lambda: score.policies_table(here.study, here.actor, of), of.hash)


def mistakes(here: Here, of: Score) -> list[errors.Mistake]:
    """Return every wrong cell of a score."""
    return _read(here, "mistakes", lambda: errors.mistakes(here.study, here.actor, of), of.hash)


def error_groups(here: Here, of: Score, wish: errors.Wish) -> list[errors.Group]:
    """Return the errors that somebody wishes to see, those that are nearly the same together."""

    def read() -> list[errors.Group]:
        found = errors.chosen(mistakes(here, of), wish, of.prepared.reports)
        return errors.grouped(here.study, of, found)

    return _read(here, "error groups", read, of.hash, wish)


def benchmark(here: Here, reference_name: str) -> Benchmark | None:
    """Return what a single rater reaches against the vote of the others, as kept; None with fewer than three."""
    return _read(
        here,
        "benchmark",
        lambda: benchmark_of(here.study, here.actor, get_reference(here, reference_name)),
        reference_name,
    )


def state_counts(here: Here, of: Score) -> dict[str, browse.StateCounts]:
    """Return what the labeler said where the reference says present and where it says not present."""
    return _read(here, "states", lambda: browse.state_counts(here.study, here.actor, of), of.hash)


def gate(here: Here, of: Score) -> accept.Gate:
    """Return the gate of a scored revision."""
    return _read(here, "gate", lambda: accept.open_gate(here.study, here.actor, of), of.hash)


def decisions(here: Here, prompt_hash: str) -> list[Decision]:
    """Return the decisions on a revision, oldest first."""
    return _read(here, "decisions", lambda: browse.decisions(here.study, prompt_hash), prompt_hash)


def rendered(here: Here, prompt_hash: str, report_id: str) -> browse.Rendered:
    """Return what a revision sends for a report."""
    return _read(
        here,
        "rendered",
        lambda: browse.rendered(here.study, here.actor, prompt(here, prompt_hash), report_id),
        prompt_hash,
        report_id,
    )


def revision_name(revision: Revision) -> str:
    """Return a revision as people say it: number, status and the beginning of its hash."""
    return f"{revision.number} · {revision.status} · {short(revision.prompt_hash)}"


def need_reference(cards: Sequence[ReferenceCard], name: str | None) -> ReferenceCard:
    """Return the chosen reference. Raises NotFoundError where none is frozen, saying what to do."""
    for card in cards:
        if card.name == name:
            return card
    if cards:
        return cards[-1]
    raise NotFoundError("No reference is frozen yet: freeze one on the page Reference once the raters are done.")
