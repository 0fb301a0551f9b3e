"""Edited copies of reports, by which metrics are tested: drawn so that the rare kinds of edit are not drowned."""

import random
from collections import Counter
from collections.abc import Iterable, Sequence

from workbench.domain.pairs import EditedPair
from workbench.domain.reports import Report
from workbench.errors import InputError
from workbench.text.alteration_words import AlterationWords
from workbench.text.alterations import KINDS, Alteration, alterations

LOOKED_AT = 10  # reports that are read for each one that is asked for, so that the rare kinds find theirs
PER_KIND = 5  # a kind has at most one edit for so many reports


def make_pairs(reports: Iterable[Report], words: AlterationWords, *, count: int, seed: int) -> list[EditedPair]:
    """Return edited copies of a seeded sample of reports, each kind of edit at most once per report.

    So that no kind carries the test, each has at most a fifth as many edits as there are reports. The kinds choose
    their reports in turn, the rarest first, from ten times as many as are asked for, and each takes those already
    chosen where it can; reports that none chose fill the number up, edited in the way that has the fewest edits.
    Reports that no kind applies to (blank, in another language) are passed over.

    Args:
        reports: where they are drawn from.
        words: the word list of the edits.
        count: how many reports are edited.
        seed: of the sample and of the edits.

    Raises:
        InputError: no report can be edited.
    """
    drawn = sorted(reports, key=lambda report: report.id)
    random.Random(seed).shuffle(drawn)  # noqa: S311 - a draw that is repeatable, not a secret
    made: list[tuple[Report, dict[str, Alteration]]] = []
    for report in drawn[: LOOKED_AT * count]:
        edits = {edit.kind: edit for edit in alterations(report.text, words, seed=seed)}
        if edits:
            made.append((report, edits))
    if not made:
        raise InputError("None of the reports can be edited by rule: they are blank or in another language.")
    chosen = _chosen([list(edits) for _, edits in made], count)
    return [_pair(made[at][0], made[at][1][kind]) for at in sorted(chosen) for kind in KINDS if kind in chosen[at]]


def _chosen(kinds_of: Sequence[Sequence[str]], count: int) -> dict[int, list[str]]:
    """Return the kinds of edit that are taken of each chosen report, by its number."""
    most = max(1, count // PER_KIND)
    applies = Counter(kind for kinds in kinds_of for kind in kinds)
    taken: Counter[str] = Counter()
    chosen: dict[int, list[str]] = {}
    for kind in sorted(applies, key=lambda kind: (applies[kind], kind)):
        could = [at for at, kinds in enumerate(kinds_of) if kind in kinds]
        for at in sorted(could, key=lambda at: at not in chosen):
            if taken[kind] < most and (at in chosen or len(chosen) < count):
                chosen.setdefault(at, []).append(kind)
                taken[kind] += 1
    for at, kinds in enumerate(kinds_of):
        if at not in chosen and len(chosen) < count:
            fewest = min(kinds, key=lambda kind: (taken[kind], kind))
            chosen[at] = [fewest]
            taken[fewest] += 1
    return chosen


def _pair(report: Report, edit: Alteration) -> EditedPair:
    return EditedPair(
        f"{report.id}:{edit.kind}",
        report.id,
        report.patient_id,
        edit.kind,
        edit.significant,
        edit.done,
        report.text,
        edit.text,
    )
