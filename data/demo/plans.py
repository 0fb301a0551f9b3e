"""What each demo report is to say, decided before a word of it is written."""

from dataclasses import dataclass, field
from random import Random

from cases import ABSENT_ODDS, CASES, INCIDENTAL, RARE
from sentences import ABSENT, PRESENT, SIGNS, UNCERTAIN


@dataclass
class Plan:
    """The states a report is to give, with the flavours in which they come."""

    case: str
    states: dict[str, int] = field(default_factory=dict)
    flavours: dict[str, list[str]] = field(default_factory=dict)
    gone: tuple[str, ...] = ()  # findings of the patient's earlier report that are no longer there

    @property
    def abnormal(self) -> list[str]:
        """Findings that are present or uncertain."""
        return [finding for finding, state in self.states.items() if state != ABSENT]

    def take(self, option: str) -> None:
        """Add an option such as "nodule_or_mass+#granuloma calcification+"; what is already decided stays."""
        tokens = [token.partition("#") for token in option.split()]
        if any(self.states.get(head[:-1], SIGNS[head[-1]]) != SIGNS[head[-1]] for head, _, _ in tokens):
            return
        for head, _, flavours in tokens:
            finding = head[:-1]
            fresh = finding not in self.states
            self.states[finding] = SIGNS[head[-1]]
            if flavours and (fresh or finding == "support_device"):
                self.flavours.setdefault(finding, []).extend(f for f in flavours.split("#") if f)


def draw_plan(case: str, turn: int, rng: Random) -> Plan:
    """Return a plan for one kind of case, with incidental findings and with what is said to be absent.

    Cases of a kind take turns in what they have for certain, so that no option is missing from a cohort by chance.
    """
    plan = Plan(case)
    if case != "normal":
        for odds, options in CASES[case]:
            if odds == 1:
                plan.take(options[turn % len(options)])
            elif rng.random() < odds:
                plan.take(rng.choice(options))
        for odds, option in INCIDENTAL:
            if rng.random() < odds:
                plan.take(option)
    add_absent(plan, rng)
    return plan


def add_absent(plan: Plan, rng: Random, times: float = 1.0) -> None:
    """Decide which findings the report calls absent, leaving out what would contradict the rest."""
    for finding, odds in ABSENT_ODDS.items():
        if finding not in plan.states and not contradicts(finding, plan.states) and rng.random() < odds * times:
            plan.states[finding] = ABSENT


def contradicts(finding: str, states: dict[str, int]) -> bool:
    """Return whether calling ``finding`` absent would jar with what is present or uncertain."""
    there = {other for other, state in states.items() if state in (PRESENT, UNCERTAIN)}
    jarring = {
        "lung_opacity": {"consolidation", "pneumonia", "cavity_or_cyst", "pulmonary_edema"},
        "consolidation": {"pneumonia", "cavity_or_cyst"},
        "pneumonia": {"consolidation", "cavity_or_cyst"},
        "emphysema_or_hyperinflation": {"cavity_or_cyst"},
        "nodule_or_mass": {"cavity_or_cyst"},
        "calcification": {"vascular_abnormality", "nodule_or_mass", "pleural_thickening"},
        "pleural_thickening": {"pleural_effusion"},
        "atelectasis": {"lung_opacity", "consolidation"},
        "interstitial_abnormality": {"lung_opacity", "pulmonary_edema"},
        "vascular_abnormality": {"pulmonary_edema", "calcification"},
    }
    return bool(there & jarring.get(finding, set()))


def follow_up(before: Plan, rng: Random) -> Plan:
    """Return the plan of the same patient's next report: some findings stay, some have gone."""
    plan = Plan("follow_up")
    gone = []
    lasting = {"calcification", "vascular_abnormality", "other_bone_abnormality", "cardiomegaly"}
    clearing = ("pleural_effusion", "pneumothorax", "lung_opacity", "consolidation", "pneumonia", "pulmonary_edema")
    tied = {"consolidation", "lung_opacity", "pneumonia"}
    cleared = rng.random() < 0.45
    for finding in before.abnormal:
        leaves = finding in RARE or (finding not in lasting and (cleared if finding in tied else rng.random() < 0.35))
        if not leaves:
            plan.states[finding] = before.states[finding]
            plan.flavours[finding] = list(before.flavours.get(finding, []))
        elif finding in clearing:
            gone.append(finding)
    repair(plan)
    for finding in gone:
        if not contradicts(finding, plan.states):
            plan.states.setdefault(finding, ABSENT)
    plan.gone = tuple(finding for finding in gone if plan.states.get(finding) == ABSENT)
    add_absent(plan, rng)
    return plan


def repair(plan: Plan) -> None:
    """Restore what findings entail after some were dropped."""
    needs = {"granuloma": "calcification", "calc": "calcification", "plaque": "calcification"}
    for finding, flavours in list(plan.flavours.items()):
        for flavour in flavours:
            if flavour in needs and finding in plan.states:
                plan.states[needs[flavour]] = PRESENT
    if plan.states.get("consolidation") == PRESENT:
        plan.states["lung_opacity"] = PRESENT
    if not plan.states.keys() - {"calcification"}:
        plan.flavours["calcification"] = ["coronary", "valve", "soft"]
