"""What votes that were not given leave out of the agreement, coefficient by coefficient."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.domain.findings import MISSING


@dataclass(frozen=True, slots=True)
class Gaps:
    """How many of the votes that could have been given were not, and what that leaves out.

    ``votes`` could have been given and ``missing`` of them were not (or an uncertain one was left out by its policy).
    Of the ``items`` (one finding of one report each), ``lone`` have a single vote and ``unrated`` none.
    """

    items: int
    votes: int
    missing: int
    lone: int
    unrated: int

    def told(self) -> tuple[str, ...]:
        """Return in sentences what each coefficient does without the missing votes; one sentence where none is."""
        if not self.missing:
            return ("Every rater voted on every finding of every report, so nothing is left out of any coefficient.",)
        few = (
            f"{self.lone + self.unrated:,} of {self.items:,} places (one finding in one report) have fewer than two "
            "votes. Percent agreement, positive agreement and alpha leave them out."
        )
        chance = (
            "So do Fleiss, AC1 and Brennan-Prediger for the agreement that was seen. For what chance alone would "
            f"give, Fleiss and AC1 still count places with a lone vote ({self.lone:,})."
        )
        return (
            f"{self.missing:,} of {self.votes:,} votes are missing; nobody else's vote is dropped with them.",
            few,
            chance,
            "Prevalence counts every vote that was given.",
        )


def gaps(ratings: npt.ArrayLike) -> Gaps:
    """Return what is missing in votes [report, finding, rater] of collapsed or four-state codes.

    Raises:
        ValueError: the array is not three-dimensional.
    """
    array = np.asarray(ratings)
    if array.ndim != 3:
        raise ValueError(f"votes are [report, finding, rater], not of shape {array.shape}")
    given = np.count_nonzero(array != MISSING, axis=2)
    return Gaps(
        items=given.size,
        votes=array.size,
        missing=array.size - int(given.sum()),
        lone=int(np.count_nonzero(given == 1)),
        unrated=int(np.count_nonzero(given == 0)),
    )
