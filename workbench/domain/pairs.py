"""Pairs of a report and an edited copy of it, by which metrics of generated reports are tested."""

from dataclasses import dataclass

UNEDITED = "unedited"  # kind of the pair of a report with itself, which every drop is measured from


@dataclass(frozen=True, slots=True)
class EditedPair:
    """A report and an edited copy. ``significant`` is whether the edit matters clinically.

    ``done`` says in words what was done; empty where whoever made the edit did not say.
    """

    id: str
    report_id: str
    patient_id: str
    kind: str
    significant: bool
    done: str
    reference: str
    generated: str
