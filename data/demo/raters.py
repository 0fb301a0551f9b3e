"""Six simulated raters, each with habits of its own. Nobody real is imitated."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from sentences import ABSENT, PRESENT, UNCERTAIN

State = int | None  # None: not mentioned

NEIGHBOURS: dict[str, tuple[str, ...]] = {
    "consolidation": ("pneumonia", "lung_opacity"),
    "pneumonia": ("consolidation", "lung_opacity"),
    "lung_opacity": ("consolidation", "atelectasis", "pneumonia"),
    "atelectasis": ("lung_opacity",),
    "pulmonary_edema": ("interstitial_abnormality",),
    "interstitial_abnormality": ("pulmonary_edema", "lung_opacity"),
    "pleural_effusion": ("pleural_thickening",),
    "pleural_thickening": ("pleural_effusion",),
    "nodule_or_mass": ("lung_opacity",),
    "cavity_or_cyst": ("emphysema_or_hyperinflation",),
    "mediastinal_or_hilar_abnormality": ("vascular_abnormality",),
    "vascular_abnormality": ("mediastinal_or_hilar_abnormality",),
    "fracture": ("other_bone_abnormality",),
}
RARE = frozenset(
    [
        "pneumothorax",
        "cavity_or_cyst",
        "tracheobronchial_abnormality",
        "pleural_thickening",
        "mediastinal_or_hilar_abnormality",
        "diaphragm_abnormality",
        "fracture",
        "calcification",
    ]
)


@dataclass(frozen=True)
class Rater:
    """The odds by which a simulated rater departs from the plan of a report."""

    id: str
    habit: str
    miss: float = 0.05  # a present finding is overlooked
    miss_rare: float = 0.08
    miss_hard: float = 0.45  # the same for the few findings that are hard for everybody
    invent: float = 0.001  # a finding nobody spoke of is marked
    hedged: Mapping[int, float] = field(default_factory=lambda: {UNCERTAIN: 6, PRESENT: 2, ABSENT: 2})
    soften: float = 0.01  # a present finding is called uncertain
    confuse: float = 0.03  # a finding is marked as its neighbour
    spread: float = 0.0  # the neighbour is marked as well
    skip: float = 0.0  # the report is never opened
    unfinished: float = 0.0  # the report is begun and not submitted
    say_absent: float = 0.8  # what is said to be absent is marked absent and not left blank


RATERS = (
    Rater(
        "sim-rater-1",
        "over-calls what is hedged",
        hedged={PRESENT: 17, UNCERTAIN: 2, ABSENT: 1},
        invent=0.004,
        skip=0.02,
    ),
    Rater(
        "sim-rater-2", "misses rare and incidental findings", unfinished=0.03, miss=0.09, miss_rare=0.4, miss_hard=0.8
    ),
    Rater("sim-rater-3", "skips reports and leaves some unfinished", skip=0.05, unfinished=0.02, miss=0.06),
    Rater("sim-rater-4", "calls much uncertain", hedged={UNCERTAIN: 19, ABSENT: 1}, soften=0.09, skip=0.02),
    Rater(
        "sim-rater-5",
        "confuses neighbouring findings",
        unfinished=0.02,
        confuse=0.2,
        spread=0.12,
        hedged={ABSENT: 5, UNCERTAIN: 3, PRESENT: 2},
    ),
    Rater(
        "sim-rater-6",
        "careful",
        miss=0.01,
        miss_rare=0.01,
        miss_hard=0.2,
        invent=0.0003,
        confuse=0.0,
        soften=0.0,
        hedged={UNCERTAIN: 9, ABSENT: 1},
        say_absent=0.97,
    ),
)


def judge(rater: Rater, truth: Mapping[str, State], hard: frozenset[str], rng: Random) -> dict[str, State]:
    """Return one rater's labels of one report."""
    labels = {finding: one(rater, finding, state, finding in hard, rng) for finding, state in truth.items()}
    for finding, state in truth.items():
        if state in (PRESENT, UNCERTAIN) and labels[finding] is not None:
            confuse(rater, finding, labels, rng)
    return labels


def one(rater: Rater, finding: str, state: State, hard: bool, rng: Random) -> State:
    """Return a rater's label of one finding, before neighbours are mixed up."""
    if state is None or state == ABSENT:
        if rng.random() < rater.invent:
            return rng.choice((PRESENT, UNCERTAIN))
        return ABSENT if state == ABSENT and rng.random() < rater.say_absent else None
    if state == UNCERTAIN:
        return rng.choices(list(rater.hedged), weights=list(rater.hedged.values()))[0]
    miss = rater.miss_hard if hard else rater.miss_rare if finding in RARE else rater.miss
    if rng.random() < miss:
        return None
    return UNCERTAIN if rng.random() < rater.soften else PRESENT


def confuse(rater: Rater, finding: str, labels: dict[str, State], rng: Random) -> None:
    """Move or copy a label to a neighbouring finding, as far as that one is still free."""
    free = [n for n in NEIGHBOURS.get(finding, ()) if labels[n] in (None, ABSENT)]
    if not free:
        return
    if rng.random() < rater.confuse:
        labels[rng.choice(free)] = labels[finding]
        labels[finding] = None
    elif rng.random() < rater.spread:
        labels[rng.choice(free)] = labels[finding]
