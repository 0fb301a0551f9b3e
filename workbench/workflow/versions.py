"""What a later version of a reference changes."""

from dataclasses import dataclass

from workbench.domain.actors import Actor
from workbench.domain.references import Outcome, Reference
from workbench.errors import InputError
from workbench.workflow.cohorts import require_unlocked
from workbench.workflow.first_look import record_view, whole
from workbench.workflow.reference import cohort_of, get_reference, require_closed
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class Difference:
    """What a reference decides otherwise than an earlier one.

    ``outcomes`` are (report, finding, outcome before, outcome after); ``recounted`` items have other votes and the same
    outcome. ``settings`` says in words what else differs: raters, rule, policies, guideline, reports.
    """

    old: Reference
    new: Reference
    outcomes: tuple[tuple[str, str, Outcome, Outcome], ...]
    recounted: int
    settings: tuple[str, ...]

    @property
    def told(self) -> tuple[str, ...]:
        """Return it in sentences, without the list of outcomes."""
        same = "1 more item has" if self.recounted == 1 else f"{self.recounted:,} more items have"
        items = "1 item is" if len(self.outcomes) == 1 else f"{len(self.outcomes):,} items are"
        decided = f"{items} decided differently in {self.new.name} than in {self.old.name}"
        return (f"{decided}; {same} other votes and the same outcome.", *self.settings)


def difference(old: Reference, new: Reference) -> Difference:
    """Return what differs between two references; items that only one of them has are told in ``settings``."""
    shared = sorted(old.items.keys() & new.items.keys())
    outcomes = tuple(
        (report, finding, old.items[report, finding].outcome, new.items[report, finding].outcome)
        for report, finding in shared
        if old.items[report, finding].outcome is not new.items[report, finding].outcome
    )
    other_votes = sum(old.items[key] != new.items[key] for key in shared)
    return Difference(old, new, outcomes, other_votes - len(outcomes), tuple(_settings(old, new)))


def compare(study: Study, actor: Actor, name: str, before: str | None = None) -> Difference:
    """Return what a reference decides otherwise than an earlier one, by default the one it was made from.

    It shows outcomes, so it is a look at both.

    Raises:
        InputError: the reference is a first version and no earlier one is named.
        NotFoundError: there is no such reference.
        RightsError: as for ``reference.summarize``.
    """
    new = get_reference(study, actor, name)
    if before is None and new.parent_hash is None:
        raise InputError(f"{new.name} is a first version; name the reference to compare it with.")
    old = get_reference(study, actor, before or new.parent_hash)
    for one in (old, new):
        cohort = cohort_of(study, one)
        require_unlocked(study, cohort, "compare its references")
        require_closed(study, cohort)
        record_view(study, actor, one)
    return difference(whole(study, old), whole(study, new))


def _settings(old: Reference, new: Reference) -> list[str]:
    joined, left = sorted(set(new.raters) - set(old.raters)), sorted(set(old.raters) - set(new.raters))
    told = [f"Raters who joined: {', '.join(joined)}."] if joined else []
    told += [f"Raters who left: {', '.join(left)}."] if left else []
    if new.rule != old.rule:
        told.append(f"The rule is {new.rule.k} of {new.rule.n} and was {old.rule.k} of {old.rule.n}.")
    if new.vote_policies.as_json() != old.vote_policies.as_json():
        told.append("Uncertain votes are counted by another policy.")
    if new.label_set_hash != old.label_set_hash:
        told.append("The guideline is another one.")
    if new.adjudicated:
        told.append(f"{len(new.adjudicated):,} ties and short votes were adjudicated.")
    apart = len(new.items.keys() ^ old.items.keys())
    return [*told, *([f"{apart:,} items are in one of the two only."] if apart else [])]
