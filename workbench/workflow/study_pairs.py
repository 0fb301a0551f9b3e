"""One study as one system reports it: both texts and what is matched, missed and invented."""

from dataclasses import dataclass

import numpy as np

from workbench.domain.actors import Actor
from workbench.domain.runs import Extraction
from workbench.evaluation.ran_score import cells_of, found_in
from workbench.workflow.blindness import require_no_review, require_sighted
from workbench.workflow.extracting import mentions_of
from workbench.workflow.ran_score import Scoring
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class Pair:
    """One study as one system reports it: both texts, what is read in each, and how the two go together."""

    study_id: str
    reference: str
    generated: str | None
    in_reference: Extraction | None
    in_generated: Extraction | None
    matched: tuple[str, ...]
    missed: tuple[str, ...]
    invented: tuple[str, ...]
    f1: float


def pair_of(study: Study, actor: Actor, scoring: Scoring, system: str, study_id: str) -> Pair:
    """Return one study as one system reports it, with the words each finding is read in.

    Raises:
        KeyError: there is no such system or study in the scoring.
        RightsError: the person rates in an open round, or reviews generated reports.
    """
    require_sighted(study, actor, "see what is read in a report")
    require_no_review(study, actor, "see what is read in a report")
    found, row = scoring.of(system), scoring.study_ids.index(study_id)
    generated, reference = found.texts[row], scoring.references[row]
    told: dict[str, tuple[str, ...]] = {"matched": (), "missed": (), "invented": ()}
    f1 = float("nan")
    if generated is not None:
        cells = cells_of(scoring.reference_codes[[row]], found.codes[[row]], scoring.policies)
        told = found_in(cells, 0, scoring.finding_ids)
        rows = np.flatnonzero(found.there).tolist()
        f1 = found.own.per_report[rows.index(row)] if found.own else f1
    return Pair(
        study_id,
        reference,
        generated,
        mentions_of(scoring.reading, reference),
        None if generated is None else mentions_of(scoring.reading, generated),
        told["matched"],
        told["missed"],
        told["invented"],
        f1,
    )


def studies_with(scoring: Scoring, system: str, finding: str | None = None) -> list[tuple[str, str, float]]:
    """Return (study, what, F1 of its pair) of one system, the worst first; ``what`` is of the finding.

    With a finding only the studies in which either side has it: matched, missed or invented, in that order of use:
    missed, invented, matched. Without one every study, by F1.
    """
    found = scoring.of(system)
    rows = np.flatnonzero(found.there)
    if found.own is None:
        return []
    cells = cells_of(scoring.reference_codes[rows], found.codes[rows], scoring.policies)
    f1 = found.own.per_report
    listed = []
    if finding is None:
        listed = [(scoring.study_ids[row], "", f1[i]) for i, row in enumerate(rows.tolist())]
        return sorted(listed, key=lambda one: (one[2], one[0]))
    at = scoring.finding_ids.index(finding)
    for what, flags in (("missed", cells.missed), ("invented", cells.fp), ("matched", cells.tp)):
        listed += [(scoring.study_ids[int(rows[i])], what, f1[i]) for i in np.flatnonzero(flags[:, at]).tolist()]
    return listed
