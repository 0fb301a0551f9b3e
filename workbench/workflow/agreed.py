"""Agreement in two views: on votes collapsed to two states, which is primary, and on the states as raters gave them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from workbench.domain.findings import STATE_OF_CODE, Policies, State
from workbench.evaluation.agreement import COLLAPSED, Agreement, agreement
from workbench.evaluation.agreement_gaps import Gaps, gaps
from workbench.evaluation.consensus import Codes, collapse, per_finding


class View(StrEnum):
    """On what raters have to agree (method 7)."""

    TWO_STATES = "two-states"  # present or not, "uncertain" by the vote policy: primary
    FOUR_STATES = "four-states"  # present, uncertain, absent, not mentioned, as given

    @property
    def words(self) -> str:
        """Return what the view is about, for people."""
        return {
            View.TWO_STATES: "two states (primary): present or not, uncertain counted by the vote policy",
            View.FOUR_STATES: "four states: present, uncertain, absent and not mentioned as the raters gave them",
        }[self]


@dataclass(frozen=True, slots=True)
class Agreed:
    """The agreement in one view, and what missing votes leave out of it."""

    view: View
    agreement: Agreement
    gaps: Gaps

    @property
    def states(self) -> tuple[State, ...]:
        """Return the answers between which raters chose; of two states "absent" stands for everything but present."""
        return tuple(STATE_OF_CODE[code] for code in self.agreement.categories)


def seen_as(view: View, codes: Codes, finding_ids: Sequence[str], policies: Policies) -> Codes:
    """Return votes [report, finding, ...] as a view has them; MISSING where not given."""
    return collapse(codes, per_finding(policies, finding_ids)) if view is View.TWO_STATES else codes


def categories(view: View, codes: Codes, asked: Sequence[State]) -> tuple[int, ...]:
    """Return the answers between which raters chose, which AC1 and Brennan-Prediger depend on.

    Of four states these are the ones that raters were ``asked`` for, chosen or not, and any other in the votes, such
    as an absent of an imported file.
    """
    if view is View.TWO_STATES:
        return COLLAPSED
    there = set(np.unique(codes).tolist())
    return tuple(state.code for state in State if state in asked or state.code in there)


def agreed(
    view: View,
    finding_ids: Sequence[str],
    codes: Codes,
    *,
    policies: Policies,
    asked: Sequence[State],
    patients: Sequence[str],
) -> Agreed:
    """Return how far raters agree in a view, with intervals over patients.

    Args:
        view: two states or four.
        finding_ids: the columns' findings.
        codes: votes [report, finding, rater] as four-state codes, MISSING where not given.
        policies: what an uncertain vote counts as.
        asked: the states that raters were asked for.
        patients: the patient id of each report.

    Raises:
        InputError: there are fewer than two raters.
    """
    ratings = seen_as(view, codes, finding_ids, policies)
    found = agreement(finding_ids, ratings, categories=categories(view, codes, asked), patients=patients)
    return Agreed(view, found, gaps(ratings))
