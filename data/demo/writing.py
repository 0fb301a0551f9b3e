"""From a plan to the sentences of a report, and the truth that follows from them."""

import re
from dataclasses import dataclass, field
from random import Random

from plans import Plan
from sentences import ABSENT, LUNGS, PRESENT, PRIOR_WORDS, UNCERTAIN, Bank, Sentence, agrees, capitalised, expand

AREAS: dict[str, tuple[str, ...]] = {
    "devices": ("support_device",),
    "lungs": tuple(sorted(LUNGS)),
    "pleura": ("pleural_effusion", "pneumothorax", "pleural_thickening"),
    "heart": ("cardiomegaly", "vascular_abnormality"),
    "mediastinum": ("mediastinal_or_hilar_abnormality", "tracheobronchial_abnormality"),
    "bones": ("fracture", "other_bone_abnormality"),
    "other": ("diaphragm_abnormality", "calcification"),
}
AREA_OF = {finding: area for area, findings in AREAS.items() for finding in findings}
ACUTE = (
    "pneumothorax", "pneumonia", "consolidation", "pulmonary_edema", "pleural_effusion", "nodule_or_mass",
    "cavity_or_cyst", "lung_opacity", "fracture", "mediastinal_or_hilar_abnormality", "atelectasis", "cardiomegaly",
    "tracheobronchial_abnormality", "interstitial_abnormality", "emphysema_or_hyperinflation", "pleural_thickening",
    "diaphragm_abnormality", "support_device", "vascular_abnormality", "other_bone_abnormality", "calcification",
)  # fmt: skip
CHRONIC = frozenset(ACUTE[ACUTE.index("tracheobronchial_abnormality") :])

LIST_FRAMES = (
    "No {or}.", "No {or}.", "There is no {or}.", "No evidence of {or}.", "No {or} is seen.", "No {or} identified.",
    "{And} not seen.", "{And} are not identified.", "{And} absent.", "Negative for {or}.",
    "The chest is negative for {slash}.", "The lungs are without {or}.", "No {slash}.", "No signs of {or}.",
    "{nos}.", "{Slash}: none.", "No convincing {or}.", "No definite {or}.", "I see no {or}.", "{And} not demonstrated.",
    "No {or} at this time.", "Specifically, no {or}.", "No new {or}.", "Free of {or}.", "No radiographic sign of {or}.",
)  # fmt: skip
NORMAL_IMPRESSIONS = (
    "No acute cardiopulmonary [process|abnormality|disease|findings]", "No acute [process|disease|findings]",
    "Normal chest [radiograph|x-ray|film|examination]", "[Unremarkable|Negative] chest [radiograph|x-ray|study]",
    "No [radiographic|] evidence of acute [intrathoracic|cardiopulmonary] disease", "Clear chest", "No active disease",
    "Normal study", "No acute intrathoracic [process|abnormality]", "No explanation for [pain|cough|symptoms]",
    "[Chest within normal limits|Within normal limits]", "No acute radiographic abnormality", "Negative chest",
    "No acute findings to account for the [pain|dyspnea]", "Stable, no acute process",
)  # fmt: skip


TOPICS = {
    "course": r"unchanged|similar|little has changed|no substantial change",
    "inspiration": r"inspir|lung volumes|inflated|expanded|aerated",
    "history": r"history",
    "abdomen": r"abdomen|free|bowel",
    "quality": r"limited|rotated|not obtained|obscures|artifact",
    "next step": r"CT can|Rib series|called|telephoned|discussed",
    "chest wall": r"breast|soft tissue|fragment|pellet|foreign body|nipple|subcutaneous",
}


ZONES = {"upper": "upper lung", "middle": "mid lung", "lower": "lower lung zone"}


@dataclass
class Draft:
    """The sentences of a report by area, its impression, and what they claim."""

    areas: dict[str, list[str]] = field(default_factory=lambda: {area: [] for area in AREAS})
    impression: list[str] = field(default_factory=list)
    truth: dict[str, int] = field(default_factory=dict)
    said_as: dict[str, str] = field(default_factory=dict)  # the lead finding of the sentence that first named each

    def add(self, sentence: Sentence, text: str, area: str) -> None:
        """Put a sentence where it belongs and note what it claims."""
        self.areas[area].append(text)
        self.truth.update(sentence.labels)
        for finding in sentence.labels:
            self.said_as.setdefault(finding, sentence.lead)

    @property
    def findings(self) -> list[str]:
        """All sentences of the findings section in reading order."""
        return [text for texts in self.areas.values() for text in texts]


def draw_slots(rng: Random, blank: str, short: bool) -> dict[str, str]:
    """Return one consistent choice of side, place, size and so on."""
    side = rng.choice(("left", "right"))
    lobes = {"right": ("upper", "middle", "lower", "lower"), "left": ("upper", "lower", "lower")}[side]
    part = rng.choice(lobes)
    lobe = f"{side[0].upper()}{part[0].upper()}L" if short else f"{side} {part} lobe"
    level = f"T{rng.randint(4, 12)}"
    return {
        "side": side,
        "oside": "left" if side == "right" else "right",
        "lobe": lobe,
        "base": rng.choice((f"{side} base", f"{side} lung base", f"{side} lower lung")),
        "apex": rng.choice((f"{side} apex", f"{side} lung apex")),
        "zone": rng.choice((f"{side} {part} lobe", f"{side} {ZONES[part]}")),
        "size": rng.choice(("small", "small", "tiny", "trace", "moderate", "large", "moderate-sized")),
        "mm": rng.choice(("4 mm", "5 mm", "6 mm", "7 mm", "9 mm", "1.2 cm", "12 mm", "1 cm")),
        "cm": rng.choice(("2.5 cm", "3 cm", "3.4 cm", "4 cm", "5.2 cm", "6 cm")),
        "cmtip": rng.choice(("3 cm", "4 cm", "4.5 cm", "5 cm", "2 cm")),
        "rib": rng.choice(("fourth", "fifth", "sixth", "seventh", "ninth", "7th", "5th")),
        "level": rng.choice((level, level, "L1", f"the {level} vertebral body")),
        "b": blank,
        "prior": rng.choice(
            (
                "the prior study",
                "the prior exam",
                "the previous film",
                f"the study of {blank}",
                f"{blank}",
                "the earlier radiograph",
                "the most recent prior",
            )
        ),
    }


class Writer:
    """Writes one report's sentences from its plan."""

    def __init__(
        self, bank: Bank, plan: Plan, rng: Random, *, prior: bool, blank: str, short: bool, by_area: bool
    ) -> None:
        self.bank, self.plan, self.rng, self.prior, self.by_area = bank, plan, rng, prior, by_area
        self.flavours = {finding: list(names) for finding, names in plan.flavours.items()}
        main = draw_slots(rng, blank, short)
        self.slots = {
            f: main if AREA_OF[f] in ("lungs", "pleura") and f != "nodule_or_mass" else draw_slots(rng, blank, short)
            for f in AREA_OF
        }
        self.slots[""] = main
        self.draft = Draft()
        self.recalled = 0  # absent findings that were said to be there before

    def choices(self, finding: str, *, impression: bool = False) -> list[Sentence]:
        """Return the sentences that fit the plan and speak of the finding."""
        fitting = self.bank.fitting(self.plan.states, self.flavours, impression=impression)
        return [s for s in fitting if finding in s.labels and any(v != ABSENT for v in s.labels.values())]

    def write(self, choices: list[Sentence]) -> tuple[Sentence, str] | None:
        """Return one of the choices in words; its flavour then holds for the rest of the report."""
        if not choices:
            return None
        lead = self.rng.choice(choices).lead
        same = [s for s in choices if s.lead == lead]
        found = self.bank.write(same, self.slots[lead], self.rng, prior=self.prior)
        if found and found[0].flavour and lead != "support_device":
            self.flavours[lead] = [found[0].flavour]
        return found

    def abnormal(self, later: set[str]) -> None:
        """Write what is present or uncertain, findings in ``later`` left to the impression."""
        open_findings = [f for f in self.plan.abnormal if f not in later]
        self.rng.shuffle(open_findings)
        open_findings.sort(key=lambda f: f == "calcification")  # usually said together with what is calcified
        for finding in open_findings:
            if finding in self.draft.truth:
                continue
            if finding == "support_device" and self.flavours.get(finding):
                self.devices()
                continue
            choices = self.choices(finding)
            if not choices:  # a flavour whose companion finding is gone
                self.flavours.pop(finding, None)
                choices = self.choices(finding)
            fresh = [s for s in choices if not set(s.labels) & self.draft.truth.keys()]
            combined = [s for s in fresh if len(s.labels) > 1]
            pool = combined if combined and self.rng.random() < 0.6 else fresh or choices
            found = self.write(pool) or self.write(choices)
            if found:
                self.draft.add(*found, AREA_OF[found[0].lead])

    def devices(self) -> None:
        """Write one sentence for each device of the plan."""
        for flavour in self.flavours["support_device"]:
            found = self.write([s for s in self.choices("support_device") if s.flavour == flavour])
            if found:
                self.draft.add(*found, "devices")

    def absent(self) -> None:
        """Write what is absent: some in a list, the rest one by one."""
        left = [f for f, state in self.plan.states.items() if state == ABSENT]
        listed = [f for f in left if f in self.bank.words and f not in self.plan.gone]
        if self.by_area:
            listed = [f for f in listed if AREA_OF[f] in ("lungs", "pleura")]
        self.rng.shuffle(listed)
        listed.sort(key=lambda f: f not in ("pleural_effusion", "pneumothorax", "consolidation", "pneumonia"))
        size = self.rng.choice((0, 2, 2, 3, 3, 4, 5))
        in_list = listed[: min(size, len(listed))]
        if len(in_list) >= 2:
            self.rng.shuffle(in_list)
            words = [self.rng.choice(self.bank.words[f]) for f in in_list]
            self.place_list(words, in_list)
        for finding in left:
            if finding not in self.draft.truth or finding in self.plan.gone:
                self.one_absent(finding)

    def one_absent(self, finding: str) -> None:
        """Write one sentence that calls the finding absent; left unsaid when none fits."""
        fitting = [
            s
            for s in self.bank.sentences
            if s.lead == finding
            and not s.impression
            and set(s.labels.values()) == {ABSENT}
            and agrees(s, self.plan.states, self.flavours)
        ]
        fitting = [s for s in fitting if not (set(s.labels) - {finding}) & self.draft.truth.keys()] or fitting
        if finding in self.plan.gone:
            fitting = [s for s in fitting if PRIOR_WORDS.search(s.template)] or fitting
        prior = self.prior and (finding in self.plan.gone or self.recalled < 1)  # few priors are recalled at length
        found = self.bank.write(fitting, self.slots[finding], self.rng, prior=prior) if fitting else None
        if found:
            self.recalled += bool(PRIOR_WORDS.search(found[1]))
            self.draft.add(*found, AREA_OF[finding])

    def place_list(self, words: list[str], findings: list[str]) -> None:
        """Put a list of absent things into a sentence of its own or at the end of a positive one."""
        areas = [AREA_OF[finding] for finding in findings]
        texts = self.draft.areas[next((area for area in ("pleura", "lungs") if area in areas), areas[0])]
        near = [texts] if self.by_area else [self.draft.areas[area] for area in ("lungs", "pleura", "heart")]
        hosts = [(part, i) for part in near for i, text in enumerate(part) if can_host(text)]
        there = [(part, i) for part, i in hosts if part[i].startswith("There ")]
        if there and self.rng.random() < 0.4:
            part, i = self.rng.choice(there)
            part[i] = f"No {or_list(words)}, but {part[i][0].lower()}{part[i][1:]}"
        elif hosts and self.rng.random() < 0.25:
            part, i = self.rng.choice(hosts)
            part[i] = join_without(part[i], words, self.rng)
        else:
            frame = self.rng.choice([f for f in LIST_FRAMES if self.prior or " new " not in f])
            texts.append(fill_frame(frame, words))
        self.draft.truth.update(dict.fromkeys(findings, ABSENT))

    def fillers(self, count: int) -> None:
        """Add sentences that speak of no finding at all."""
        fitting = [
            s
            for s in self.bank.sentences
            if not s.labels and not s.impression and agrees(s, self.plan.states, self.flavours)
        ]
        recalled = any(PRIOR_WORDS.search(text) for text in self.draft.findings)
        topics = {"course"} if recalled else set()  # "no change" would contradict what has come or gone
        for _ in range(count):
            found = self.bank.write(fitting, self.slots[""], self.rng, prior=self.prior)
            if found and topic(found[1]) not in topics:
                topics.add(topic(found[1]))
                self.draft.areas["other"].append(found[1])

    def conclude(self, later: set[str], most: int) -> None:
        """Write the impression: what matters most first, at most ``most`` items and always what was left to it."""
        abnormal = sorted(self.plan.abnormal, key=ACUTE.index)
        said: set[str] = set()
        for finding in [*[f for f in abnormal if f in later], *[f for f in abnormal if f not in later]]:
            wanted = finding in later or (len(self.draft.impression) < most and self.rng.random() < 0.85)
            if finding in said or not wanted:
                continue
            lead = self.draft.said_as.get(finding)
            choices = [
                s
                for s in self.choices(finding, impression=True)
                if not said & s.labels.keys() and (lead in (None, s.lead) or (s.lead == finding and not s.flavour))
            ]
            found = self.write(choices) if choices else None
            if found is None and finding in later:
                found = self.write(self.choices(finding))
            if found:
                said |= set(found[0].labels)
                self.draft.impression.append(found[1].rstrip("."))
                self.draft.truth.update(found[0].labels)
        self.close(abnormal)

    def close(self, abnormal: list[str]) -> None:
        """Add the sentence that sums up, where it would be true."""
        chronic = set(abnormal) <= CHRONIC
        if not abnormal or (chronic and self.rng.random() < 0.6):
            pool = NORMAL_IMPRESSIONS[:2] if abnormal else NORMAL_IMPRESSIONS
            text = expand(self.rng.choice([p for p in pool if self.prior or "Stable" not in p]), {}, self.rng)
            self.draft.impression.insert(self.rng.choice((0, len(self.draft.impression))), text)
        elif not self.draft.impression or self.rng.random() < 0.25:
            fitting = [s for s in self.bank.sentences if not s.labels and s.impression]
            found = self.bank.write(fitting, {}, self.rng, prior=self.prior)
            if found:
                self.draft.impression.append(found[1].rstrip("."))


def topic(text: str) -> str:
    """Return what a filler is about, so that a report does not say it twice or contradict itself."""
    for name, pattern in TOPICS.items():
        if re.search(pattern, text, re.IGNORECASE):
            return name
    return text


def can_host(text: str) -> bool:
    """Return whether a list of absent things can be hung onto a sentence."""
    hedged = r"\b(no|not|without|possible|may|versus|cannot|but|with|none|or|probab\w*|perhaps|likely|question\w*)\b"
    return len(text.split()) <= 9 and not re.search(hedged + r"|[:,?]|\. ", text, re.IGNORECASE)


def or_list(words: list[str], last: str = "or") -> str:
    """Return "a, b or c"."""
    return f"{', '.join(words[:-1])} {last} {words[-1]}" if len(words) > 1 else words[0]


def join_without(text: str, words: list[str], rng: Random) -> str:
    """Return a positive sentence that ends with what is absent."""
    joint = rng.choice((" without {l}.", ", without {l}.", " with no {l}.", ", no {l}.", " and no {l}."))
    return text.rstrip(".") + joint.format(l=or_list(words))


def fill_frame(frame: str, words: list[str]) -> str:
    """Return a frame filled with a list of absent things."""
    slash = "/".join(words)
    values = {
        "or": or_list(words), "And": capitalised(or_list(words, "and")), "slash": slash, "Slash": capitalised(slash),
        "nos": capitalised(", ".join(f"no {word}" for word in words)),
    }  # fmt: skip
    return frame.format(**values)


def write_draft(
    bank: Bank, plan: Plan, rng: Random, *, prior: bool, blank: str, short: bool, fillers: int, layout: str
) -> Draft:
    """Return the sentences of a report, and check that they claim what the plan says and nothing else."""
    writer = Writer(bank, plan, rng, prior=prior, blank=blank, short=short, by_area=layout == "template")
    later: set[str] = set()
    if layout not in ("impression", "no_impression", "plain"):
        later = {f for f in plan.abnormal if f not in ("support_device", "calcification") and rng.random() < 0.06}
    writer.abnormal(later)
    writer.absent()
    writer.fillers(fillers)
    if layout != "no_impression":
        writer.conclude(later, most=rng.choice((1, 2, 2, 3, 3, 4)))
    draft = writer.draft
    claimed = {f: s for f, s in draft.truth.items() if s in (PRESENT, UNCERTAIN)}
    planned = {f: s for f, s in plan.states.items() if s in (PRESENT, UNCERTAIN)}
    if claimed != planned:
        raise ValueError(f"{plan.case}: planned {planned} with {plan.flavours}, wrote {claimed}: {draft.findings}")
    return draft
