"""What a leaderboard says in words: ranks and ties, figures, how much stands behind a score."""

from workbench.domain.findings import LabelSet
from workbench.evaluation.numbers import Figure
from workbench.evaluation.ranking import PairOfSystems, Ranking
from workbench.formats.leaderboard_page import tie_bars
from workbench.workflow.ran_score import SystemScore

SHARED = "“=” marks a rank that tied systems share."


def policy_words(label_set: LabelSet) -> str:
    """Return what uncertain counts as, in words; overrides that equal the default are left out."""
    policies = label_set.prediction_policies
    other = {f: p for f, p in policies.overrides.items() if p != policies.default}
    named = ", ".join(f"{label_set.get(finding).name} {policy}" for finding, policy in other.items())
    return f"{policies.default} on both sides{f' (but {named})' if named else ''}"


def rank_words(ranking: Ranking, system: str) -> tuple[str, str]:
    """Return a system's rank, "=" behind it where a tied one has the same, and the interval of its place.

    Both are blank where it has none. Being tied is not transitive, so a system may be tied with one of another rank:
    that is told by ``tie_words`` and drawn as a bar, since "4=" of one system alone would puzzle. Nobody has a rank
    where there is nobody to rank against; see ``unranked_words``.
    """
    rank, low, high = rank_numbers(ranking, system)
    if rank is None:
        return "", ""
    interval = "" if low is None or high is None else f"{low}" if low == high else f"{low} to {high}"
    shared = any(ranking.of(other).rank == rank for other in ranking.of(system).tied_with)
    return f"{rank}{'=' if shared else ''}", interval


def rank_numbers(ranking: Ranking, system: str) -> tuple[int | None, int | None, int | None]:
    """Return a system's rank and the ends of its place's interval; None where there is none, as in ``rank_words``."""
    place = ranking.of(system)
    return (None, None, None) if unranked_words(ranking) else (place.rank, place.rank_low, place.rank_high)


def unranked_words(ranking: Ranking) -> str:
    """Return in a sentence why no system of a ranking has a rank; "" where they have one or none has a value."""
    if not (placed := [place for place in ranking.systems if place.rank is not None]):
        return ""
    if len(placed) == 1:
        return f"No ranks: only “{placed[0].system}” has a score here. Add another system to compare it with."
    if ranking.n_patients == 1:
        what = "one study" if ranking.n_studies == 1 else "the studies of one patient"
        return f"No ranks: on {what} alone, which of the systems is better may be chance."
    return ""


def tie_words(ranking: Ranking) -> str:
    """Return in a sentence which systems are all tied with each other; that none is, or "" where none has a rank."""
    placed = [place for place in ranking.systems if place.rank is not None]
    if not placed or unranked_words(ranking):
        return ""
    names = [place.system for place in placed]
    bars = tie_bars(names, [place.tied_with for place in placed])
    groups = [[name for name, under in zip(names, bar, strict=True) if under] for bar in zip(*bars, strict=True)]
    told = "; ".join(f"{', '.join(group[:-1])} and {group[-1]}" for group in groups)
    return f"Tied, as their difference may be chance: {told}." if told else "No two systems are tied."


def coverage_words(system: SystemScore) -> str:
    """Return how many studies a system is scored on and what became of the others, in words."""
    it = system.coverage
    parts = [f"{it.scored:,} scored", *(f"{n:,} {what}" for what, n in _rest(system) if n)]
    return ", ".join(parts)


def _rest(system: SystemScore) -> list[tuple[str, int]]:
    it = system.coverage
    other = f" ({it.other_language:,} in a language that the prompt's phrases are not in)" if it.other_language else ""
    return [("of them empty", it.empty), (f"of them failed{other}", it.failed), ("left out", it.missing)]


def direction(higher_is_better: bool) -> str:
    """Return a metric's direction in words."""
    return "higher is better" if higher_is_better else "lower is better"


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number of things in words."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def figure_words(figure: Figure) -> str:
    """Return a figure with its interval; a dash and the reason where it is undefined."""
    if figure.value is None:
        return f"— ({figure.reason})"
    return f"{figure.value:.3f}" + ("" if figure.low is None else f" ({figure.low:.3f} to {figure.high:.3f})")


def apart_words(pair: PairOfSystems) -> str:
    """Return whether two systems are apart or tied; "not compared" where there is nothing to compare."""
    return "not compared" if not pair.difference.defined else "apart" if pair.separated else "tied"
