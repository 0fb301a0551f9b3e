"""How often a labeler says the same of a report when it is asked again."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.domain.findings import FAILED, Policy
from workbench.evaluation.consensus import collapse
from workbench.evaluation.numbers import Figure, ratio

_NONE = "no report was answered in every repeat"


@dataclass(frozen=True, slots=True)
class FindingStability:
    """One finding: the share of reports whose repeats all agree.

    ``states`` compares the four states, ``scored`` what is scored: present, not present, or left out by the policy.
    """

    finding_id: str
    states: Figure
    scored: Figure


@dataclass(frozen=True, slots=True)
class Stability:
    """What repeats of a run agree on.

    ``findings`` is in the order of the columns. ``reports`` is the share of reports on which the repeats agree in all
    findings, by their states. ``answered`` of ``n_reports`` were answered in every repeat, and ``n`` of each figure is
    that number: where a reply could not be used there is nothing to compare. No figure has an interval.
    """

    repeats: int
    n_reports: int
    answered: int
    findings: tuple[FindingStability, ...]
    reports: Figure

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "repeats": self.repeats,
            "n_reports": self.n_reports,
            "answered": self.answered,
            "reports": self.reports.as_json(),
            "findings": {
                f.finding_id: {"states": f.states.as_json(), "scored": f.scored.as_json()} for f in self.findings
            },
        }


def stability(finding_ids: Sequence[str], codes: npt.ArrayLike, policies: Sequence[Policy]) -> Stability:
    """Return on how many reports k repeats agree, per finding.

    The share is (reports on which all k codes are equal) / (reports answered in all k repeats): 1 where asking again
    never changes anything; undefined where no report was answered each time. It is stricter than agreement by pairs,
    and falls with k; compare it only between runs of the same number of repeats.

    Args:
        finding_ids: the findings, in the order of the columns.
        codes: [repeat, report, finding] of four-state codes, FAILED where a reply could not be used or did not come.
        policies: what "uncertain" is scored as, per finding.

    Raises:
        ValueError: the array is not three-dimensional, has fewer than two repeats, or holds an unknown code.
    """
    array = np.asarray(codes, dtype=np.int8)
    if array.ndim != 3 or array.shape[0] < 2 or array.shape[2] != len(finding_ids):
        raise ValueError(f"codes of shape {array.shape} are not [repeat, report, finding] with two repeats or more")
    scored = np.stack([collapse(repeat, policies) for repeat in array])
    answered = ~(array == FAILED).any(axis=(0, 2))
    n = int(np.count_nonzero(answered))
    by_state = (array == array[0]).all(axis=0)[answered]
    by_score = (scored == scored[0]).all(axis=0)[answered]
    findings = tuple(
        FindingStability(
            finding,
            ratio(int(by_state[:, column].sum()), n, n, _NONE),
            ratio(int(by_score[:, column].sum()), n, n, _NONE),
        )
        for column, finding in enumerate(finding_ids)
    )
    whole = ratio(int(by_state.all(axis=1).sum()), n, n, _NONE)
    return Stability(array.shape[0], array.shape[1], n, findings, whole)
