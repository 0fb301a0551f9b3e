"""Rounds of rating: opened with everything fixed, closed before anybody sees a count, re-opened only on record."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from sqlite3 import Connection

from workbench.domain.actors import Actor, Role
from workbench.domain.cohorts import Cohort, Purpose
from workbench.domain.rounds import Round, RoundAction, RoundEvent
from workbench.errors import ConflictError, InputError, NotFoundError
from workbench.storage import annotations as annotation_store
from workbench.storage import rounds as store
from workbench.workflow.cohorts import get_cohort
from workbench.workflow.roster import Roster
from workbench.workflow.study import Study

TWICE = 15  # reports of a rater that come a second time
_RARELY_TWICE = 10  # of a small cohort at most one report in so many comes twice


@dataclass(frozen=True, slots=True)
class RoundView:
    """A round with what happened to it."""

    round: Round
    events: tuple[RoundEvent, ...]

    @property
    def open(self) -> bool:
        """Return whether it takes labels."""
        return self.events[-1].action is not RoundAction.CLOSED


def open_round(
    study: Study,
    actor: Actor,
    cohort_name: str,
    *,
    raters: Sequence[str],
    twice: int | None = None,
    seed: int = 0,
) -> RoundView:
    """Open a round on a cohort under the study's present guideline, rule and vote policies, which it fixes.

    Args:
        study: the study.
        actor: a lead.
        cohort_name: which cohort.
        raters: who takes part; at most as many as the vote counts.
        twice: how many reports come twice to each rater; 15, or one in ten of a small cohort, by default.
        seed: of the raters' orders.

    Raises:
        InputError: no rater, too many, one named twice, or one nobody knows; ``twice`` out of range; a cohort
            that is not rated.
        ConflictError: a round is open on the cohort, or was already held under this guideline.
    """
    actor.require(Role.LEAD, to="open a round")
    cohort = get_cohort(study, cohort_name)
    if cohort.purpose is Purpose.EVALUATION:
        raise InputError(f"The cohort {cohort_name} is for evaluation and is not rated.")
    rule = study.vote_rule
    _check_raters(raters, rule.n)
    if twice is None:
        twice = min(TWICE, len(cohort.members) // _RARELY_TWICE)
    if not 0 <= twice <= len(cohort.members) // 2:
        raise InputError(f"{twice} of {len(cohort.members)} reports cannot come twice; take at most half of them.")
    now = datetime.now(UTC)
    roster = study.roster
    with study.database.write() as conn:
        _check_known(raters, roster, set(annotation_store.raters(conn)))
        known = store.of_cohort(conn, cohort.hash)
        for view in (_view(conn, other) for other in known):
            if view.open:
                raise ConflictError(f"The round {view.round.name} is open on {cohort_name}; close it first.")
            if view.round.label_set_hash == study.label_set.hash:
                raise ConflictError(
                    f"The round {view.round.name} was held on {cohort_name} under this guideline; re-open it with a "
                    "reason, or change the label set first."
                )
        made = Round(
            name=_name(cohort_name, {r.name for r in known}),
            cohort_hash=cohort.hash,
            label_set_hash=study.label_set.hash,
            rule=rule,
            vote_policies=study.label_set.vote_policies,
            states=study.settings.rater_states,
            raters=tuple(raters),
            seed=seed,
            twice=twice,
            opened_at=now,
            author=actor.name,
        )
        store.add(conn, made)
        store.add_event(conn, RoundEvent(made.hash, RoundAction.OPENED, actor.name, now, ""))
        return _view(conn, made)


def _check_raters(raters: Sequence[str], most: int) -> None:
    if not raters:
        raise InputError("Name the raters who take part in the round.")
    again = sorted({name for name in raters if raters.count(name) > 1})
    if again:
        raise InputError(f"{again[0]} is named twice among the raters.")
    if len(raters) > most:
        raise InputError(f"{len(raters)} raters are named and the vote counts {most}; name at most {most}.")


def _check_known(raters: Sequence[str], roster: Roster, labelled: set[str]) -> None:
    """Refuse names that nobody bears: the raters of a round are fixed, so a misspelt name would spoil it for good.

    Whose labels are imported needs no account, and a study without accounts has imported raters only.
    """
    people = roster.people
    for name in raters:
        if roster.accounts and name not in people and name not in labelled:
            raise InputError(
                f"{name} is not one of the study's people and no labels of theirs were imported; correct the name, or "
                "add them with `workbench user add`."
            )


def _name(cohort_name: str, taken: set[str]) -> str:
    return next(name for i in count(1) if (name := f"{cohort_name}-round-{i}") not in taken)


def close_round(study: Study, actor: Actor, cohort_name: str, *, reason: str = "") -> RoundView:
    """Close the open round of a cohort: it takes no more labels. Raises NotFoundError when none is open."""
    actor.require(Role.LEAD, to="close a round")
    cohort = get_cohort(study, cohort_name)
    with study.database.write() as conn:
        close_in(conn, cohort, actor, reason)
        return _latest(conn, cohort)


def close_in(conn: Connection, cohort: Cohort, actor: Actor, reason: str) -> None:
    """Close the open round of a cohort within a transaction. Raises NotFoundError when none is open."""
    view = _latest(conn, cohort)
    if not view.open:
        raise NotFoundError(f"No round is open on the cohort {cohort.name}.")
    store.add_event(conn, RoundEvent(view.round.hash, RoundAction.CLOSED, actor.name, datetime.now(UTC), reason))


def reopen_round(study: Study, actor: Actor, cohort_name: str, *, reason: str) -> RoundView:
    """Let the last round of a cohort take labels again, on record; frozen references stay as they are.

    Raises:
        InputError: no reason is given.
        ConflictError: it is open, or was held under another guideline than the study's present one.
    """
    actor.require(Role.LEAD, to="re-open a round")
    if not reason.strip():
        raise InputError("Re-opening a round needs a reason.")
    cohort = get_cohort(study, cohort_name)
    with study.database.write() as conn:
        view = _latest(conn, cohort)
        if view.open:
            raise ConflictError(f"The round {view.round.name} is open already.")
        if view.round.label_set_hash != study.label_set.hash:
            raise ConflictError(
                f"The guideline has changed since the round {view.round.name}; open a new round instead."
            )
        event = RoundEvent(view.round.hash, RoundAction.REOPENED, actor.name, datetime.now(UTC), reason.strip())
        store.add_event(conn, event)
        return _latest(conn, cohort)


def round_of(study: Study, cohort: Cohort) -> RoundView | None:
    """Return the last round of a cohort, None where none was opened yet."""
    with study.database.read() as conn:
        return last_round(conn, cohort)


def last_round(conn: Connection, cohort: Cohort) -> RoundView | None:
    """Return the last round of a cohort, None where none was opened yet."""
    known = store.of_cohort(conn, cohort.hash)
    return _view(conn, known[-1]) if known else None


def _latest(conn: Connection, cohort: Cohort) -> RoundView:
    view = last_round(conn, cohort)
    if view is None:
        raise NotFoundError(f"No round was opened on the cohort {cohort.name} yet.")
    return view


def _view(conn: Connection, made: Round) -> RoundView:
    return RoundView(made, tuple(store.events(conn, made.hash)))
