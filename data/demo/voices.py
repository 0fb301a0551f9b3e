"""How different radiologists lay out and dictate what they have to say."""

import re
from dataclasses import dataclass
from random import Random

from writing import Draft


@dataclass(frozen=True)
class Voice:
    """One radiologist's way of dictating."""

    layout: str
    weight: int
    blank: str = "___"
    numbered: bool = False
    telegraphic: bool = False
    case: str = "as is"  # "lower" or "upper"
    stops: bool = True
    short: bool = False  # writes RLL for right lower lobe
    fillers: tuple[int, ...] = (0, 1, 2)
    thorough: bool = False  # goes through everything that is not there


VOICES = (
    Voice("full", 17, fillers=(1, 2, 3)),
    Voice("full", 7, numbered=True, fillers=(2, 4, 6)),
    Voice("full", 7, fillers=(3, 5, 7), thorough=True),
    Voice("brief", 14, blank="XXXX", numbered=True),
    Voice("brief", 12, blank="XXXX"),
    Voice("brief", 8, telegraphic=True, stops=False, short=True),
    Voice("lines", 8, telegraphic=True, stops=False, fillers=(0, 1)),
    Voice("brief", 8, case="lower", blank="XXXX", fillers=(0, 1)),
    Voice("impression", 7, fillers=(0, 0, 1)),
    Voice("template", 11, numbered=True, short=True),
    Voice("plain", 6, blank="XXXX", fillers=(0, 1)),
    Voice("no_impression", 4),
    Voice("brief", 3, case="upper"),
)

TITLES = {
    "devices": ("Lines/tubes", "Support devices", "Devices"),
    "lungs": ("Lungs", "Lungs and airways", "Lungs"),
    "pleura": ("Pleura", "Pleural spaces", "Pleura"),
    "heart": ("Heart", "Heart and great vessels", "Cardiovascular"),
    "mediastinum": ("Mediastinum", "Mediastinum/hila", "Mediastinum"),
    "bones": ("Bones", "Bones and soft tissues", "Musculoskeletal"),
    "other": ("Other", "Other findings", "Additional"),
}

TYPOS = {
    "pneumothorax": "pnuemothorax",
    "effusion": "effusoin",
    "cardiomegaly": "cardiomegally",
    "atelectasis": "atelectesis",
    "consolidation": "consolidaton",
    "opacity": "opactiy",
    "pneumonia": "pnuemonia",
    "infiltrate": "infilrate",
    "granuloma": "granluoma",
    "emphysema": "emphysma",
    "nodule": "nodlue",
    "calcified": "calcifed",
    "fracture": "fractrue",
    "scoliosis": "scolosis",
    "mediastinum": "mediastium",
    "degenerative": "degenertive",
    "enlarged": "enalrged",
    "interstitial": "intersitial",
    "hemidiaphragm": "hemidiaphram",
    "pleural": "plueral",
    "tortuous": "tortous",
    "evidence": "evidance",
    "silhouette": "silouhette",
    "costophrenic": "costophenic",
    "identified": "identifed",
    "bilateral": "bilaterl",
    "normal": "nomral",
    "unchanged": "unchaged",
    "catheter": "cathter",
    "edema": "edmea",
    "opacities": "opacites",
    "effusions": "effusiosn",
    "hernia": "hernai",
    "vascular": "vasuclar",
    "lungs": "lugns",
}


def pick_voice(rng: Random) -> Voice:
    """Return a voice, in proportion to how much each radiologist reads."""
    return rng.choices(VOICES, weights=[voice.weight for voice in VOICES])[0]


def misspell(text: str, rng: Random) -> str:
    """Return the text with one word that has a common misspelling misspelt, if there is any."""
    known = [m for m in re.finditer(r"[A-Za-z]+", text) if m.group().lower() in TYPOS]
    if not known:
        return text
    match = rng.choice(known)
    wrong = TYPOS[match.group().lower()]
    wrong = wrong.capitalize() if match.group()[0].isupper() else wrong
    return text[: match.start()] + wrong + text[match.end() :]


def blank_out(text: str, blank: str, rng: Random) -> str:
    """Return the text with one harmless word replaced by the mark of de-identification."""
    words = list(re.finditer(r"\b(mild|moderate|lateral|prior|bilaterally|thoracic|lower)\b", text))
    if not words:
        return text
    match = rng.choice(words)
    return text[: match.start()] + blank + text[match.end() :]


def telegraph(text: str) -> str:
    """Return the sentence in telegram style."""
    shorter = re.sub(r"^There (is|are|remains?|appears) (a |an |some )?", "", text)
    shorter = re.sub(r"^(The|A|An) ", "", shorter)
    shorter = re.sub(r" (is|are) (noted|seen|present|identified|demonstrated)(?=[.,]|$)", "", shorter)
    return shorter[:1].upper() + shorter[1:]


def polish(sentences: list[str], voice: Voice) -> list[str]:
    """Return sentences as this voice would say them."""
    return [telegraph(text) if voice.telegraphic else text for text in sentences]


def impression_text(items: list[str], voice: Voice, rng: Random) -> str:
    """Return the impression, numbered or running."""
    stop = "." if voice.stops else ""
    if voice.numbered and (len(items) > 1 or rng.random() < 0.4):
        return "\n".join(f"{i}. {item}{stop}" for i, item in enumerate(items, 1))
    if not voice.stops:
        return "\n".join(items)
    return " ".join(f"{item}." for item in items)


def running(draft: Draft, rng: Random, *, lines: bool, stops: bool) -> str:
    """Return the findings as one paragraph, or as lines."""
    areas = [texts for texts in draft.areas.values() if texts]
    if rng.random() < 0.35:  # some begin with the heart
        areas = sorted(areas, key=lambda texts: texts is not draft.areas["heart"])
    sentences = [text for texts in areas for text in texts]
    if not stops:
        sentences = [text.rstrip(".") for text in sentences]
        return "\n".join(sentences)
    return "\n".join(sentences) if lines else " ".join(sentences)


def template(draft: Draft, rng: Random) -> str:
    """Return the findings under the headings of a structured report."""
    column = rng.randrange(3)
    rows = []
    for area, texts in draft.areas.items():
        if texts:
            rows.append(f"{TITLES[area][column]}: {' '.join(texts)}")
        elif rng.random() < 0.2 and area == "other":
            rows.append(f"{TITLES[area][column]}: Unremarkable.")
    return "\n".join(rows)


def lay_out(draft: Draft, voice: Voice, head: dict[str, str], rng: Random) -> str:
    """Return the report's text."""
    draft.areas = {area: polish(texts, voice) for area, texts in draft.areas.items()}
    impression = impression_text(polish(draft.impression, voice), voice, rng)
    if voice.layout == "plain":
        text = " ".join(
            part for part in (head["opening"], running(draft, rng, lines=False, stops=True), impression) if part
        )
    elif voice.layout == "impression":
        text = only_impression(draft, head, rng)
    else:
        text = with_headers(draft, voice, head, impression, rng)
    if rng.random() < 0.09:
        text = misspell_body(text, rng)
    if voice.case == "lower":
        return text.lower().replace("xxxx", "XXXX")
    return text.upper() if voice.case == "upper" else text


def only_impression(draft: Draft, head: dict[str, str], rng: Random) -> str:
    """Return a report whose findings all stand in the impression."""
    sentences = [
        *draft.findings,
        *(f"{item}." for item in draft.impression if item.startswith(("No ", "Normal", "Neg"))),
    ]
    start = f"INDICATION: {head['indication']}\n\n" if rng.random() < 0.6 else ""
    return f"{start}IMPRESSION: {' '.join(sentences)}"


def with_headers(draft: Draft, voice: Voice, head: dict[str, str], impression: str, rng: Random) -> str:
    """Return a report with its sections under headers."""
    findings = (
        template(draft, rng)
        if voice.layout == "template"
        else running(draft, rng, lines=voice.layout == "lines", stops=voice.stops)
    )
    parts = [("EXAMINATION", head["examination"])] if voice.layout == "full" else []
    parts.append((rng.choice(("INDICATION", "INDICATION", "HISTORY", "CLINICAL HISTORY")), head["indication"]))
    if voice.layout in ("full", "brief", "no_impression", "template"):
        parts.append(("COMPARISON", head["comparison"]))
    if voice.layout in ("full", "template"):
        parts.append(("TECHNIQUE", head["technique"]))
    parts.append(("FINDINGS", findings))
    if voice.layout != "no_impression":
        parts.append(
            (
                rng.choice(("IMPRESSION", "IMPRESSION", "CONCLUSION")) if voice.layout == "lines" else "IMPRESSION",
                impression,
            )
        )
    named = [(name.capitalize() if voice.layout == "lines" else name, body) for name, body in parts if body]
    broken = ("lines", "template")
    return "\n\n".join(
        f"{name}:{chr(10) if voice.layout in broken and chr(10) in body else ' '}{body}" for name, body in named
    )


def misspell_body(text: str, rng: Random) -> str:
    """Return the text with a misspelling somewhere in its findings or impression."""
    start = max(text.upper().find("FINDINGS:"), 0)
    return text[:start] + misspell(text[start:], rng)
