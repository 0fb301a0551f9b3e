"""What a metric is, and which pairs of texts have a value at all."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Text = str | None  # None: there is no such text


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric by name, with the direction that its numbers have.

    ``definition`` says in a sentence or two what is computed, so that a number can be told from another of the same
    name. ``needs`` is empty for what is computed here from the two texts alone; otherwise it says what else it takes.
    """

    id: str
    name: str
    higher_is_better: bool
    definition: str
    needs: str = ""


def is_blank(text: Text) -> bool:
    """Return whether there is no text, or one of white space alone."""
    return text is None or not text.strip()


def fixed_values(references: Sequence[Text], generated: Sequence[Text]) -> Numbers:
    """Return what every metric gives where a side says nothing, whatever it measures elsewhere; [pair].

    NaN (undefined) where the reference is missing or blank, since there is nothing to be right about, and where there
    is no generated report (None), since a study that a system left out is counted and not scored. 0.0 where the
    generated report is there and blank: it says nothing right. Infinity marks the pairs that are left to compute.

    Raises:
        ValueError: there is not one generated report per reference.
    """
    if len(references) != len(generated):
        raise ValueError(f"{len(generated)} generated reports do not go with {len(references)} references")
    values = np.full(len(references), np.inf)
    for pair, (reference, text) in enumerate(zip(references, generated, strict=True)):
        if is_blank(reference) or text is None:
            values[pair] = np.nan
        elif is_blank(text):
            values[pair] = 0.0
    return values
