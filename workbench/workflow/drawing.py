"""Drawing a cohort: whole patients and whole groups of near-duplicate texts, in an order that a seed repeats."""

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from workbench.domain.reports import Report


@dataclass(frozen=True, slots=True)
class Drawn:
    """The reports that were drawn, each one's inclusion probability, and why they are fewer than asked for, if so."""

    reports: tuple[Report, ...]
    probabilities: Mapping[str, float]
    fewer: str


def weights(pool: Sequence[Report], hits: Mapping[str, frozenset[str]] | None, enrich: float) -> dict[str, float]:
    """Return by report how likely it is to be drawn: ``enrich`` where it holds a rare finding, else 1."""
    if enrich == 1 or hits is None:
        return {report.id: 1.0 for report in pool}
    counts: dict[str, int] = {}
    for found in hits.values():
        for finding in found:
            counts[finding] = counts.get(finding, 0) + 1
    rare = {finding for finding, count in counts.items() if count < 0.02 * len(pool)}
    return {report.id: enrich if hits[report.id] & rare else 1.0 for report in pool}


def draw(
    pool: Sequence[Report],
    duplicate_groups: Sequence[Collection[str]],
    weights: Mapping[str, float],
    size: int,
    seed: int,
) -> Drawn:
    """Draw whole groups until ``size`` reports are in.

    Poisson sampling with a probability proportional to the weight would give a random size, so groups are drawn in
    the order of exponential keys (Efraimidis and Spirakis 2006), those that no longer fit whole being left for another
    cohort; the probability stored is the approximate one of ``chances_of``.
    """
    groups = joined(pool, duplicate_groups)
    generator = random.Random(seed)  # noqa: S311 - a seeded draw that must be repeatable, not a secret
    by_id = {report.id: report for report in pool}
    keyed = []
    for members in groups:
        weight = max(weights[m] for m in members)
        keyed.append((generator.expovariate(1.0) / weight, members, weight))
    chances = chances_of([(weight, len(members)) for _, members, weight in keyed], size)
    drawn: list[Report] = []
    left: list[tuple[str, ...]] = []
    probabilities: dict[str, float] = {}
    for _, members, weight in sorted(keyed, key=lambda row: row[0]):
        if len(drawn) + len(members) <= size:
            drawn += [by_id[member] for member in members]
            probabilities.update(dict.fromkeys(members, chances[weight]))
        else:
            left.append(members)
    smallest = [by_id[member] for member in min(left, key=len, default=())]
    return Drawn(tuple(drawn), probabilities, _fewer(len(drawn), size, smallest))


def _fewer(drawn: int, size: int, smallest: Sequence[Report]) -> str:
    """Return why fewer were drawn than asked for, empty where as many were: no group that is left fits any more."""
    if drawn == size:
        return ""
    what = "of one patient" if len({report.patient_id for report in smallest}) == 1 else "with near-duplicate texts"
    return (
        f"{drawn} of {size} reports are drawn, since reports of a patient and near-duplicate texts stay together: the "
        f"smallest group left has {len(smallest)} reports {what}, more than the {size - drawn} still wanted."
    )


def chances_of(groups: Sequence[tuple[float, int]], size: int) -> dict[float, float]:
    """Return by weight the approximate chance of being drawn, which over all reports adds up to ``size``.

    Proportional to the weight; where that would be above 1 it is 1, and the others share what is left. So a cohort of
    all reports has 1 throughout, whatever was enriched.

    Args:
        groups: weight and number of reports of each group.
        size: how many reports are drawn.
    """
    reports: dict[float, int] = {}
    for weight, members in groups:
        reports[weight] = reports.get(weight, 0) + members
    chances: dict[float, float] = {}
    left: float = size
    for weight in sorted(reports, reverse=True):
        rest = sum(w * n for w, n in reports.items() if w not in chances)
        chances[weight] = min(1.0, left * weight / rest)
        if chances[weight] < 1:
            return {**{w: left * w / rest for w in reports}, **{w: c for w, c in chances.items() if c == 1}}
        left -= reports[weight]
    return chances


def joined(pool: Sequence[Report], duplicate_groups: Sequence[Collection[str]]) -> list[tuple[str, ...]]:
    """Merge patients and near-duplicate texts into groups that are drawn whole, each sorted, in a fixed order."""
    parent = {report.id: report.id for report in pool}

    def root(x: str) -> str:
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    first_of_patient: dict[str, str] = {}
    for report in pool:
        first = first_of_patient.setdefault(report.patient_id, report.id)
        parent[root(report.id)] = root(first)
    for group in duplicate_groups:
        members = list(group)
        for member in members[1:]:
            parent[root(member)] = root(members[0])
    groups: dict[str, list[str]] = {}
    for report in pool:
        groups.setdefault(root(report.id), []).append(report.id)
    return sorted(tuple(sorted(members)) for members in groups.values())
