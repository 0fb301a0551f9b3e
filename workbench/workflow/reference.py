"""From votes to a frozen reference standard, and what it is made of."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count

import numpy as np

from workbench.domain.actors import Actor, Role
from workbench.domain.cohorts import Cohort, Purpose
from workbench.domain.findings import MISSING, State
from workbench.domain.references import Outcome, Reference, VoteRule
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.evaluation.agreement import Agreement
from workbench.evaluation.consensus import Codes, collapse, per_finding, tally
from workbench.storage import annotations as annotation_store
from workbench.storage import cohorts as cohort_store
from workbench.storage import references as reference_store
from workbench.storage import reports as report_store
from workbench.storage.references import ReferenceHead
from workbench.workflow import benchmarks
from workbench.workflow.agreed import Agreed, View, agreed
from workbench.workflow.blindness import require_sighted
from workbench.workflow.cohorts import get_cohort, require_unlocked
from workbench.workflow.first_look import record_view, seal, unsealed, whole
from workbench.workflow.rounds import close_in, last_round
from workbench.workflow.study import Study
from workbench.workflow.unsubmitted import Unsubmitted, unsubmitted_in
from workbench.workflow.votes import Votes, items_of, read_votes


@dataclass(frozen=True, slots=True)
class FindingVote:
    """What the votes on one finding came to over a cohort."""

    finding_id: str
    present: int
    not_present: int
    short: int
    ties: int


@dataclass(frozen=True, slots=True)
class ReferenceSummary:
    """A frozen reference with its counts per finding, in label-set order, and the agreement in both views.

    ``views`` is empty where a single rater made it.
    """

    reference: Reference
    cohort: Cohort
    reports: int
    findings: tuple[FindingVote, ...]
    views: Mapping[View, Agreed]

    @property
    def agreement(self) -> Agreement | None:
        """Return the agreement on two states, which is primary; None for a single rater."""
        return self.views[View.TWO_STATES].agreement if self.views else None


def votes_of(study: Study, actor: Actor, reference: Reference, *, only: Collection[str] | None = None) -> Votes:
    """Return the labels that a frozen reference was made of, whatever was imported since; of some reports if named.

    Whoever sees them can count, so the first look at the reference is recorded.

    Raises:
        RightsError: the person only rates, or rates in an open round; the cohort's round is open again, or the cohort
            is locked.
    """
    actor.require(Role.LEAD, Role.ADMIN, Role.ADJUDICATOR, to="see who said what")
    require_sighted(study, actor, "see who said what")
    cohort = cohort_of(study, reference)
    require_unlocked(study, cohort, "see its votes")
    require_closed(study, cohort)
    record_view(study, actor, reference)
    return _votes_of(study, reference, only)


def _votes_of(study: Study, reference: Reference, only: Collection[str] | None = None) -> Votes:
    return read_votes(
        study,
        cohort_of(study, reference),
        reference.raters,
        label_set_hash=reference.label_set_hash,
        until=reference.last_annotation,
        only=only,
    )


def freeze(
    study: Study,
    actor: Actor,
    cohort_name: str,
    *,
    name: str | None = None,
    raters: Sequence[str] | None = None,
    rule: VoteRule | None = None,
    reason: str = "",
    incomplete: bool = False,
) -> Reference:
    """Count the votes of a cohort and freeze what they decide; the open round of the cohort is closed with it.

    Freezing the same votes again returns the same reference. After a correction it makes another version, whose parent
    is the one before. Rule, policies and raters are those that the round fixed before it started. What is returned has
    its outcomes and counts sealed: freezing is no look at them.

    Args:
        study: the study.
        actor: a lead.
        cohort_name: which cohort.
        name: of the reference; ``COHORT-1`` and so on by default.
        raters: whose votes count; everybody who submitted by default.
        reason: why there is another version, if there is one already.
        rule: k of n; the round's by default, else the study's. k = n = 1 makes a single-rater reference, which
            every score then says.
        incomplete: freeze although raters of the round have reports left; who and how many stays on record.

    Raises:
        InputError: nobody submitted, more raters submitted than the rule has votes, or fewer than it needs.
        ConflictError: raters of the round have reports left and ``incomplete`` does not say that this is known, or the
            name is taken by another reference.
    """
    actor.require(Role.LEAD, to="freeze a reference")
    if name is not None and not name.strip():
        raise InputError("A reference needs a name; leave it out to have one made of the cohort's.")
    cohort = get_cohort(study, cohort_name)
    with study.writing(actor) as conn:
        # Read and frozen in one transaction: a label saved between the two would be closed out without being counted.
        held = last_round(conn, cohort)
        fixed = held.round if held and held.round.label_set_hash == study.label_set.hash else None
        rule = rule or (fixed.rule if fixed else study.vote_rule)
        vote_policies = fixed.vote_policies if fixed else study.label_set.vote_policies
        votes = read_votes(study, cohort, raters, label_set_hash=study.label_set.hash)
        if fixed and raters is None:
            votes = votes.only([rater for rater in votes.raters if rater in fixed.raters])
        _check_raters(votes, rule, cohort_name)
        left = unsubmitted_in(conn, study, cohort, raters) if fixed else ()
        if left and not incomplete:
            raise ConflictError(
                f"Not all labels are submitted for {cohort_name}: {_who(left)}. Wait for them, or freeze all the same "
                "with --incomplete; what is missing then counts as a missing vote."
            )
        counted = tally(collapse(votes.codes, per_finding(vote_policies, study.label_set.ids)), rule)
        others = reference_store.list_all(conn)
        before = [r for r in others if r.cohort_hash == cohort.hash and r.rule == rule and not r.adjudicated]
        reference = Reference(
            name=name.strip() if name else _free_name(cohort_name, {r.name for r in others}),
            cohort_hash=cohort.hash,
            label_set_hash=study.label_set.hash,
            rule=rule,
            raters=votes.raters,
            vote_policies=vote_policies,
            items=items_of(votes.report_ids, study.label_set.ids, counted),
            created_at=datetime.now(UTC),
            author=actor.name,
            simulated=votes.simulated,
            last_annotation=annotation_store.last_id(conn),
            parent_hash=before[-1].hash if before else None,
            reason=". ".join(filter(None, (reason.strip(), _on_record(left)))),
        )
        known = reference_store.by_hash(conn, reference.hash)
        if held and held.open:
            close_in(conn, cohort, actor, f"frozen as {(known or reference).name}")
        if known is not None:
            return seal(known)
        reference_store.add(conn, reference)
    # In a transaction of its own: it takes a moment, and whoever rates elsewhere should not wait for it.
    benchmarks.keep(study, reference, votes)
    return seal(reference)


def _who(left: Sequence[Unsubmitted]) -> str:
    return "; ".join(one.told for one in left)


def _on_record(left: Sequence[Unsubmitted]) -> str:
    if not left:
        return ""
    parts = [f"{one.rater} {one.missing} of {one.reports}" for one in left if one.missing]
    parts += [f"{one.rater} {one.changed} changed since" for one in left if one.changed]
    return f"Not submitted: {', '.join(parts)}"


def _free_name(cohort_name: str, taken: Collection[str]) -> str:
    return next(name for i in count(1) if (name := f"{cohort_name}-{i}") not in taken)


def _check_raters(votes: Votes, rule: VoteRule, cohort_name: str) -> None:
    if not votes.raters:
        raise InputError(f"Nobody has submitted labels for the cohort {cohort_name} yet: there is nothing to vote on.")
    silent = [r for i, r in enumerate(votes.raters) if (votes.codes[:, :, i] == MISSING).all()]
    if silent:
        raise InputError(f"{silent[0]} has submitted no label in the cohort {cohort_name}; name the raters who did.")
    if len(votes.raters) < rule.k:
        raise InputError(
            f"{len(votes.raters)} of the {rule.k} raters that the vote needs submitted labels for {cohort_name} "
            f"({', '.join(votes.raters)}), so nothing could be found present; wait for the others, or freeze by "
            "another rule."
        )
    if len(votes.raters) > rule.n:
        raise InputError(
            f"{len(votes.raters)} raters submitted labels for {cohort_name}, the vote is {rule.k} of {rule.n}: "
            f"name the {rule.n} whose votes count ({', '.join(votes.raters)})."
        )


def get_reference(study: Study, actor: Actor, name: str | None = None) -> Reference:
    """Return a frozen reference by name or the beginning of its hash, without either the primary one.

    That is the first one that was frozen on a development cohort (method 4), or at all where there is none. Its
    outcomes and counts are sealed until the first look at them is on record (method 3).

    Raises:
        NotFoundError: there is none of that name, none at all, or several hashes begin like that.
        RightsError: the person rates in an open round, or edits prompts and its cohort is locked: a reference holds
            every outcome and count (method 18).
    """
    known = list_references(study, actor)
    if name is None:
        if not known:
            raise NotFoundError("No reference is frozen yet; freeze one with `workbench reference freeze COHORT`.")
        with study.database.read() as conn:
            purposes = {cohort.hash: cohort.purpose for cohort in cohort_store.list_all(conn)}
        return _handed_out(
            study, actor, next((r for r in known if purposes[r.cohort_hash] is Purpose.DEVELOPMENT), known[0])
        )
    hits = [r for r in known if r.name == name] or [r for r in known if len(name) >= 6 and r.hash.startswith(name)]
    if len(hits) != 1:
        names = ", ".join(r.name for r in known) or "none yet"
        raise NotFoundError(f"There is no reference {name}, or several; the study has: {names}.")
    return _handed_out(study, actor, hits[0])


def _handed_out(study: Study, actor: Actor, head: ReferenceHead) -> Reference:
    """Return a reference for whoever may see it, with its outcomes once somebody has looked at them."""
    with study.database.read() as conn:
        cohort = cohort_store.by_hash(conn, head.cohort_hash)
    assert cohort is not None  # noqa: S101 - references are never removed, nor are their cohorts
    if actor.roles.intersection({Role.LEAD, Role.ADMIN}):
        require_unlocked(study, cohort, "see its reference")
    return unsealed(study, head)


def list_references(study: Study, actor: Actor) -> list[ReferenceHead]:
    """Return what is known of all frozen references but their outcomes and counts, oldest first.

    Raises:
        RightsError: the person rates in an open round.
    """
    require_sighted(study, actor, "see references")
    with study.database.read() as conn:
        return reference_store.heads(conn)


def reference_on(study: Study, actor: Actor, cohort: Cohort) -> Reference:
    """Return the first frozen reference on a cohort: the primary one (method 4).

    Raises:
        NotFoundError: it has none.
        RightsError: as ``get_reference``.
    """
    for head in list_references(study, actor):
        if head.cohort_hash == cohort.hash:
            return _handed_out(study, actor, head)
    raise NotFoundError(
        f"The cohort {cohort.name} has no frozen reference yet; "
        f"freeze one with `workbench reference freeze {cohort.name}`."
    )


def cohort_of(study: Study, reference: Reference) -> Cohort:
    """Return the cohort a reference stands on."""
    with study.database.read() as conn:
        cohort = cohort_store.by_hash(conn, reference.cohort_hash)
    if cohort is None:
        raise NotFoundError(f"The cohort of the reference {reference.name} is not in this study.")
    return cohort


def summarize(study: Study, actor: Actor, reference: Reference) -> ReferenceSummary:
    """Return a frozen reference's counts and the raters' agreement per finding, in label-set order.

    The first look at them is recorded, and ends the adjudication of what the vote left open: an adjudicator must not
    know any count (method 3). So it is the lead's, an admin's or the adjudicator's.

    Raises:
        RightsError: a round on the cohort takes labels, the person rates in one elsewhere, the first look is not
            theirs, or the cohort is locked.
    """
    require_sighted(study, actor, "look at a reference")
    cohort = cohort_of(study, reference)
    require_unlocked(study, cohort, "look at its reference")
    require_closed(study, cohort)
    record_view(study, actor, reference)
    reference = whole(study, reference)
    votes = _votes_of(study, reference)
    rows = []
    for finding in study.label_set.ids:
        items = [item for (_, f), item in reference.items.items() if f == finding]
        rows.append(
            FindingVote(
                finding,
                sum(i.outcome is Outcome.PRESENT for i in items),
                sum(i.outcome is Outcome.NOT_PRESENT for i in items),
                sum(i.outcome is Outcome.SHORT for i in items),
                sum(i.tie for i in items),
            )
        )
    views = _views(study, cohort, reference, votes) if len(reference.raters) > 1 else {}
    return ReferenceSummary(reference, cohort, len(votes.report_ids), tuple(rows), views)


def _views(study: Study, cohort: Cohort, reference: Reference, votes: Votes) -> dict[View, Agreed]:
    with study.database.read() as conn:
        patient_of = report_store.patients(conn)
    patients, asked = [patient_of[report] for report in votes.report_ids], asked_for(study, cohort)
    policies = reference.vote_policies
    return {
        view: agreed(view, study.label_set.ids, votes.codes, policies=policies, asked=asked, patients=patients)
        for view in View
    }


def asked_for(study: Study, cohort: Cohort) -> tuple[State, ...]:
    """Return the states that the raters of a cohort were asked for: those of its round, else the study's."""
    with study.database.read() as conn:
        held = last_round(conn, cohort)
    return held.round.states if held else study.settings.rater_states


def require_closed(study: Study, cohort: Cohort) -> None:
    """Raise RightsError while a round on the cohort takes labels, also one that was re-opened after a freeze."""
    with study.database.read() as conn:
        view = last_round(conn, cohort)
    if view is not None and view.open:
        raise RightsError(
            f"The round {view.round.name} takes labels, so counts and agreement are shown to nobody; close it first."
        )


def truth_codes(reference: Reference, report_ids: Sequence[str], finding_ids: Sequence[str]) -> Codes:
    """Return the reference as codes ``[report, finding]``: 1, 0, or MISSING where the vote was short."""
    return np.array(
        [[reference.items[report, finding].outcome.code for finding in finding_ids] for report in report_ids],
        dtype=np.int8,
    ).reshape(len(report_ids), len(finding_ids))
