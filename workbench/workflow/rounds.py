"""Rounds of rating: opened with everything fixed, closed before anybody sees a count, re-opened only on record.

One that was opened by mistake is withdrawn while nobody has saved a label in it: it stays on record, and is no longer a
round on its cohort.
"""

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
from workbench.storage import references as reference_store
from workbench.storage import rounds as store
from workbench.workflow.cohorts import get_cohort
from workbench.workflow.roster import Roster, told
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
        return self.state == "open"

    @property
    def state(self) -> str:
        """Return in a word how it stands: open, closed or withdrawn."""
        last = self.events[-1].action
        return last.value if last in {RoundAction.CLOSED, RoundAction.WITHDRAWN} else "open"


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
        InputError: no rater, too many, one named twice, one nobody knows or one who is no rater; ``twice`` out of
            range; a cohort that is not rated.
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
    with study.writing(actor) as conn:
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
            name=_name(cohort_name, store.names(conn)),
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
        # One that fixes the very same may have been withdrawn: then it is that one which is opened again.
        before = [each for each in store.of_cohort(conn, cohort.hash, withdrawn=True) if each.hash == made.hash]
        if not before:
            store.add(conn, made)
        store.add_event(conn, RoundEvent(made.hash, RoundAction.OPENED, actor.name, now, ""))
        return _view(conn, before[0] if before else made)


def _check_raters(raters: Sequence[str], most: int) -> None:
    if not raters:
        raise InputError("Name the raters who take part in the round.")
    again = sorted({name for name in raters if raters.count(name) > 1})
    if again:
        raise InputError(f"{again[0]} is named twice among the raters.")
    if len(raters) > most:
        raise InputError(f"{len(raters)} raters are named and the vote counts {most}; name at most {most}.")


def _check_known(raters: Sequence[str], roster: Roster, labelled: set[str]) -> None:
    """Refuse whoever could not label: the raters of a round are fixed, so a wrong one would spoil it.

    Whose labels are imported needs no account, and a study without accounts has imported raters only.
    """
    people = roster.people
    for name in raters:
        if name in people:
            if Role.RATER not in people[name]:
                raise InputError(_no_rater(name, roster))
        elif name in roster.accounts:
            raise InputError(roster.fault(name))
        elif roster.accounts and name not in labelled:
            raise InputError(
                f"{name} is not one of the study's people and no labels of theirs were imported; correct the name, or "
                "add them with `workbench user add`."
            )


def _no_rater(name: str, roster: Roster) -> str:
    roles = roster.people[name]
    kept = " ".join(role.value for role in Role if role in roles | {Role.RATER})
    ways = [f"add rater to their line in [people] of data/study.toml ({told(roles)})"] if name in roster.listed else []
    ways += [f'give it with `workbench user role "{name}" {kept}`'] if name in roster.accounts else []
    return f"{name} has not the role rater and could not label in the round: {' and '.join(ways)}, or leave them out."


def _name(cohort_name: str, taken: set[str]) -> str:
    return next(name for i in count(1) if (name := f"{cohort_name}-round-{i}") not in taken)


def close_round(study: Study, actor: Actor, cohort_name: str, *, reason: str = "") -> RoundView:
    """Close the open round of a cohort: it takes no more labels. Raises NotFoundError when none is open."""
    actor.require(Role.LEAD, to="close a round")
    cohort = get_cohort(study, cohort_name)
    with study.writing(actor) as conn:
        close_in(conn, cohort, actor, reason)
        return _latest(conn, cohort)


def close_in(conn: Connection, cohort: Cohort, actor: Actor, reason: str) -> None:
    """Close the open round of a cohort within a transaction. Raises NotFoundError when none is open."""
    view = _latest(conn, cohort)
    if not view.open:
        raise NotFoundError(f"No round is open on the cohort {cohort.name}.")
    _record(conn, view, RoundAction.CLOSED, actor, reason)


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
    with study.writing(actor) as conn:
        view = _latest(conn, cohort)
        if view.open:
            raise ConflictError(f"The round {view.round.name} is open already.")
        if view.round.label_set_hash != study.label_set.hash:
            raise ConflictError(
                f"The guideline has changed since the round {view.round.name}; open a new round instead."
            )
        _record(conn, view, RoundAction.REOPENED, actor, reason.strip())
        return _latest(conn, cohort)


def withdraw_round(study: Study, actor: Actor, cohort_name: str, *, reason: str) -> RoundView:
    """Take back the last round of a cohort, on record, as if it had not been opened; return it as it was.

    Raises:
        InputError: no reason is given.
        ConflictError: somebody has saved a label in it, or a reference was frozen in it.
        NotFoundError: no round stands on the cohort.
    """
    actor.require(Role.LEAD, to="withdraw a round")
    if not reason.strip():
        raise InputError("Withdrawing a round needs a reason.")
    cohort = get_cohort(study, cohort_name)
    with study.writing(actor) as conn:
        view = _latest(conn, cohort)
        if why := _kept_because(conn, cohort, view):
            raise ConflictError(why)
        _record(conn, view, RoundAction.WITHDRAWN, actor, reason.strip())
        return _view(conn, view.round)


def kept_because(study: Study, actor: Actor, cohort_name: str) -> str:
    """Return why the last round of a cohort can no longer be withdrawn, empty while it can: progress, and no labels.

    Raises NotFoundError when no round stands on the cohort.
    """
    actor.require(Role.LEAD, to="withdraw a round")
    cohort = get_cohort(study, cohort_name)
    with study.database.read() as conn:
        return _kept_because(conn, cohort, _latest(conn, cohort))


def _kept_because(conn: Connection, cohort: Cohort, view: RoundView) -> str:
    held = view.round
    opened = max(event.at for event in view.events if event.action is RoundAction.OPENED)
    frozen = [
        head.name
        for head in reference_store.heads(conn)
        if (head.cohort_hash, head.label_set_hash) == (held.cohort_hash, held.label_set_hash)
        and head.created_at >= opened
    ]
    if frozen:
        return (
            f"The reference {frozen[0]} was frozen in the round {held.name}, so the round can no longer be withdrawn."
        )
    saved = annotation_store.savers(conn, list(cohort.members), held.label_set_hash, since=opened)
    if any(rater in held.raters for rater in saved):
        return f"Labels were saved in the round {held.name}, so it can no longer be withdrawn; close it instead."
    return ""


def withdrawn_rounds(study: Study, cohort: Cohort) -> list[RoundView]:
    """Return the rounds on a cohort that were withdrawn, with who did so and why."""
    with study.database.read() as conn:
        return [_view(conn, each) for each in store.of_cohort(conn, cohort.hash, withdrawn=True)]


def round_of(study: Study, cohort: Cohort) -> RoundView | None:
    """Return the last round of a cohort, None where none stands."""
    with study.database.read() as conn:
        return last_round(conn, cohort)


def last_round(conn: Connection, cohort: Cohort) -> RoundView | None:
    """Return the last round of a cohort, None where none was opened yet or it was withdrawn."""
    known = store.of_cohort(conn, cohort.hash)
    return _view(conn, known[-1]) if known else None


def _record(conn: Connection, view: RoundView, action: RoundAction, actor: Actor, reason: str) -> None:
    store.add_event(conn, RoundEvent(view.round.hash, action, actor.name, datetime.now(UTC), reason))


def _latest(conn: Connection, cohort: Cohort) -> RoundView:
    view = last_round(conn, cohort)
    if view is None:
        raise NotFoundError(f"No round was opened on the cohort {cohort.name} yet.")
    return view


def _view(conn: Connection, made: Round) -> RoundView:
    return RoundView(made, tuple(store.events(conn, made.hash)))
