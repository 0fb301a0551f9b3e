"""The sentence bank: what a radiologist may write when a finding is present, hedged or absent."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

PRESENT, ABSENT, UNCERTAIN = 1, 0, -1
SIGNS = {"+": PRESENT, "-": ABSENT, "?": UNCERTAIN}
BANK = Path(__file__).resolve().parent / "bank"
LUNGS = frozenset(
    [
        "lung_opacity",
        "consolidation",
        "pneumonia",
        "atelectasis",
        "pulmonary_edema",
        "interstitial_abnormality",
        "nodule_or_mass",
        "cavity_or_cyst",
        "emphysema_or_hyperinflation",
    ]
)
# Words that only make sense when the reader has an earlier study beside the present one.
PRIOR_WORDS = re.compile(
    r"\b(unchanged|not changed|changed|no change|stable|again|prior|previous\w*|formerly|resol\w+|interval|improv\w+|"
    r"worse|worsening|new|persist\w*|no longer|since|compared|than on|remains?|removed|cleared|clearing|re-expan\w+|"
    r"progressed|residual|recurrent|larger|smaller|decreased|has increased|increasing|developed|before|similar|"
    r"partially cleared|improving|not reproduced|known|still|slightly worse)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Sentence:
    """A template with what it says: ``labels`` maps findings to states, ``flavour`` belongs to the first of them."""

    template: str
    labels: Mapping[str, int]
    flavour: str = ""
    impression: bool = False
    blockers: frozenset[str] = frozenset()
    uncommon: bool = False  # said in one report of many

    @property
    def lead(self) -> str:
        """The finding the sentence is about."""
        return next(iter(self.labels), "")


def read_header(line: str) -> dict[str, object]:
    """Return the keyword arguments a ``== ...`` line gives to the sentences below it."""
    labels: dict[str, int] = {}
    flavour, impression = "", False
    line, _, blocked = line.removeprefix("==").partition("!")
    for word in line.split():
        if word == "@imp":
            impression = True
        elif word.startswith("#"):
            flavour = word[1:]
        elif word != "none":
            labels[word[:-1]] = SIGNS[word[-1]]
    blockers = frozenset(blocked.split()) - {"lungs"} | (LUNGS if "lungs" in blocked.split() else frozenset())
    return {"labels": labels, "flavour": flavour, "impression": impression, "blockers": blockers}


def read_bank() -> list[Sentence]:
    """Return every sentence of ``bank/*.txt`` but the words for lists, in a fixed order."""
    sentences: list[Sentence] = []
    for path in sorted(BANK.glob("*.txt")):
        if path.stem == "negative_words":
            continue
        header: dict[str, object] = {}
        for raw in path.read_text(encoding="utf-8").splitlines():
            line = raw.strip()
            if line.startswith("=="):
                header = read_header(line)
            elif line and not line.startswith("#"):
                sentences.append(Sentence(line.removeprefix("~ "), uncommon=line.startswith("~"), **header))  # type: ignore[arg-type]
    return sentences


def read_negative_words() -> dict[str, list[str]]:
    """Return for each finding the words it goes by in a list of absent things."""
    lines = (BANK / "negative_words.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split(":", 1) for line in lines if line.strip() and not line.startswith("#")]
    return {finding: [word.strip() for word in words.split("|")] for finding, words in pairs}


def expand(template: str, slots: Mapping[str, str], rng: Random) -> str:
    """Return the template with one of each ``[a|b]`` chosen, slots filled and spaces tidied."""
    text = re.sub(r"\[([^\[\]]*)\]", lambda m: rng.choice(m.group(1).split("|")), template)
    text = re.sub(r"\{(\w+)\}", lambda m: slots[m.group(1)], text)
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\s+([.,:;])", r"\1", text)
    text = re.sub(r"\b([Aa]) (?=[aeio]|8 |11 |18 )", r"\1n ", text)
    return capitalised(re.sub(r"([.?]) ([a-z])", lambda m: f"{m.group(1)} {m.group(2).upper()}", text))


def capitalised(text: str) -> str:
    """Return the text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


class Bank:
    """Chooses sentences that agree with a plan, and prefers those not used before."""

    def __init__(self) -> None:
        self.sentences = read_bank()
        self.words = read_negative_words()
        self.used: Counter[str] = Counter()

    def fitting(
        self, plan: Mapping[str, int], flavours: Mapping[str, Collection[str]], *, impression: bool
    ) -> list[Sentence]:
        """Return the sentences all of whose claims the plan makes too."""
        return [s for s in self.sentences if s.impression is impression and agrees(s, plan, flavours)]

    def write(
        self, choices: list[Sentence], slots: Mapping[str, str], rng: Random, *, prior: bool
    ) -> tuple[Sentence, str] | None:
        """Return one of ``choices`` written out, the least used of five draws; None when none fits without a prior."""
        best: tuple[Sentence, str] | None = None
        for _ in range(12):
            sentence = rng.choices(choices, weights=[0.15 if s.uncommon else 1 for s in choices])[0]
            text = expand(sentence.template, slots, rng)
            if not prior and PRIOR_WORDS.search(text):
                continue
            if best is None or self.used[text] < self.used[best[1]]:
                best = (sentence, text)
            if self.used[text] == 0:
                break
        if best is not None:
            self.used[best[1]] += 1
        return best


def agrees(sentence: Sentence, plan: Mapping[str, int], flavours: Mapping[str, Collection[str]]) -> bool:
    """Return whether the plan makes every claim of the sentence, in the flavour chosen for its lead finding."""
    if any(plan.get(finding) != state for finding, state in sentence.labels.items()):
        return False
    if any(plan.get(finding, ABSENT) != ABSENT for finding in sentence.blockers):
        return False
    chosen = flavours.get(sentence.lead)
    return not sentence.flavour or not chosen or sentence.flavour in chosen
