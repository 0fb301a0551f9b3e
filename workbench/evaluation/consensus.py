"""From votes to a reference: collapse to two states by policy, then count k of n (method 1 to 5)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.domain.findings import FAILED, MISSING, STATE_OF_CODE, Policies, Policy, State
from workbench.domain.references import VoteRule
from workbench.errors import InputError

Codes = npt.NDArray[np.int8]
Counts = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

KNOWN = (*STATE_OF_CODE, MISSING, FAILED)
LOWEST = min(KNOWN)
UNCERTAIN_AS = {Policy.PRESENT: State.PRESENT.code, Policy.ABSENT: State.ABSENT.code, Policy.EXCLUDE: MISSING}


@dataclass(frozen=True, slots=True)
class Tally:
    """What the votes came to; every array is [report, finding].

    ``outcome`` is 1 present, 0 not present, MISSING short (too few votes to decide, or what a tie was set to become);
    ``present`` counts votes for present, ``missing`` votes that were not given or were excluded by the policy, and
    ``tie`` flags full votes split evenly, whatever they became.
    """

    outcome: Codes
    present: Counts
    missing: Counts
    tie: Flags


def per_finding(policies: Policies, finding_ids: Sequence[str]) -> tuple[Policy, ...]:
    """Return the policy of each finding in the order of the columns."""
    return tuple(policies.of(finding_id) for finding_id in finding_ids)


def collapse(codes: npt.ArrayLike, policies: Sequence[Policy]) -> Codes:
    """Collapse four-state codes to two by each finding's policy for "uncertain".

    Args:
        codes: state codes with findings on axis 1: votes [report, finding, rater] or predictions [report, finding].
        policies: one policy per finding.

    Returns:
        The same shape in int8: 1 present, 0 absent or not mentioned, MISSING for a missing label and for an uncertain
        one under ``exclude``, FAILED where a reply failed (it never becomes absent).

    Raises:
        ValueError: a code is unknown, or the number of policies is not the number of findings.
    """
    array = np.asarray(codes)
    if array.ndim < 2 or array.shape[1] != len(policies):
        raise ValueError(f"codes of shape {array.shape} do not go with {len(policies)} policies: findings are axis 1")
    unknown = np.setdiff1d(array, KNOWN)
    if unknown.size:
        raise ValueError(f"unknown state codes {unknown.tolist()}; known are {sorted(KNOWN)}")
    table = np.zeros((len(policies), max(KNOWN) - LOWEST + 1), dtype=np.int8)
    table[:, State.PRESENT.code - LOWEST] = 1
    table[:, MISSING - LOWEST] = MISSING
    table[:, FAILED - LOWEST] = FAILED
    table[:, State.UNCERTAIN.code - LOWEST] = [UNCERTAIN_AS[policy] for policy in policies]
    rows = np.arange(len(policies)).reshape(-1, *[1] * (array.ndim - 2))
    collapsed: Codes = table[rows, array.astype(np.int64) - LOWEST]
    return collapsed


def tally(collapsed: npt.ArrayLike, rule: VoteRule) -> Tally:
    """Count collapsed votes by the rule k of n (method 2).

    With P votes for present and M missing or excluded of n: present if P >= k; not present if P + M < k, because no
    missing vote could change that; otherwise short. A full vote split evenly is flagged as a tie and becomes
    ``rule.tie``.

    Args:
        collapsed: votes [report, finding, rater] as ``collapse`` returns them: 1, 0 or MISSING. Fewer raters than
            ``rule.n`` means that the others' votes are missing.
        rule: how many of how many votes make a finding present, and what a tie becomes.

    Raises:
        InputError: there are more raters than the rule counts.
        ValueError: the array is not three-dimensional or holds anything but 1, 0 and MISSING.
    """
    votes = np.asarray(collapsed)
    if votes.ndim != 3 or np.setdiff1d(votes, (1, 0, MISSING)).size:
        raise ValueError("a vote is counted on [report, finding, rater] holding 1, 0 or MISSING")
    raters = votes.shape[2]
    if raters > rule.n:
        raise InputError(
            f"The vote is {rule.k} of {rule.n} but {raters} raters voted; name the {rule.n} raters or change the rule."
        )
    present: Counts = np.count_nonzero(votes == 1, axis=2).astype(np.int64)
    missing: Counts = np.count_nonzero(votes == MISSING, axis=2).astype(np.int64) + (rule.n - raters)
    outcome = np.full(present.shape, MISSING, dtype=np.int8)
    outcome[present >= rule.k] = 1
    outcome[present + missing < rule.k] = 0
    tie: Flags = (missing == 0) & (2 * present == rule.n)
    outcome[tie] = rule.tie.code
    return Tally(outcome, present, missing, tie)
