"""Cues that hold whatever a prompt lists: with them an error is explained even where its prompt has no cues at all.

They are a plain list in the manner of NegEx and ConText (Chapman 2001; Harkema 2009), with a few words in Spanish and
Chinese. A labeler never uses them: it goes by its prompt.
"""

from collections.abc import Iterable

from workbench.domain.prompts import Cues, CueSet

# Words that deny a thing now because it was there before.
GONE = (
    "resolved", "has/have/had resolved", "cleared", "has/have/had cleared", "removed", "has/have been removed",
    "no longer", "gone", "disappeared", "has/have drained", "drained", "previously described/noted/seen", "formerly",
    "has/have been excised", "subsided", "resolution of", "clearing of", "removal of",
    "ha desaparecido", "resuelto", "已消失", "已吸收",
)  # fmt: skip

# Words that deny whatever could be wrong with what they are said of, where a prompt names nothing in the sentence.
NORMAL = (
    "normal", "unremarkable", "intact", "within normal limits", "clear", "midline", "preserved",
    "sin alteraciones", "正常",
)  # fmt: skip

STANDARD = Cues(
    negation=CueSet(
        before=(
            "no", "not", "without", "no evidence of", "negative for", "free of", "clear of", "absence of", "absent",
            "nor", "neither", "never", "no longer", "resolution of", "clearing of",
            "removal of", "resolved", "denies", "lack of", "rather than",
            "nothing to suggest", "sin", "sin evidencia de", "无", "未见", "没有",
        ),
        after=(
            "not seen", "not identified", "not present", "not evident", "not visualized", "not demonstrated",
            "is/are absent", "absent", ": none", ": no", "none", "resolved", "cleared", "removed", "ruled out",
            "no longer", "gone", "disappeared", "has/have drained", "unlikely", "subsided", "已消失", "已吸收",
        ),
        terminators=(
            "but", "however", "although", "though", "which", "except", "there is", "there are", "secondary to",
            "due to", "because", "consistent with", "with", "while", "whereas", "pero", "但",
        ),
    ),
    pseudo_negation=(
        "no change", "no ... change", "without change", "no ... increase/decrease in", "not increased",
        "not ... changed",
        "no ... improvement/worsening", "no ... progression", "not resolved", "not ... resolved", "not cleared",
        "not yet", "not only", "partially/partly/incompletely/nearly ... resolved/cleared",
    ),
    uncertainty=CueSet(
        before=(
            "possible", "possibly", "probable", "probably", "perhaps", "likely", "may", "might", "could",
            "questionable", "question", "suspected", "suspicious for", "suspicion of", "concerning for", "concern for",
            "suggest*", "cannot exclude", "cannot ... exclude", "cannot rule out", "not exclude", "equivocal",
            "presumed", "consider", "differential", "versus", "vs", "posible", "probable", "可能", "不除外", "疑",
        ),
        after=(
            "cannot be excluded", "cannot be ... excluded", "not excluded", "is/are not excluded", "not ruled out",
            "cannot be ruled out", "is/are possible", "possible", "suspected", "?", "may be present", "versus", "vs",
            "difficult to exclude", "is a consideration", "is questioned", "questionable", "不除外",
        ),
        terminators=("but", "however", "although", "there is", "there are", "no", "without", "which"),
    ),
    history=CueSet(
        before=(
            "history of", "prior history of", "known history of", "h / o", "hx of", "status post", "s / p",
            "evaluate for", "evaluation for/of", "rule out", "r / o", "assess for", "family history of",
            "clinical concern for", "antecedentes de", "病史",
        ),
        after=("by history", "on the prior", "on prior"),
        terminators=(",", "but", "however", "with", "there is", "there are", "no", "is", "are", "has", "have", "now"),
    ),
)  # fmt: skip


def with_standard(cues: Cues) -> Cues:
    """Return a prompt's cues with the standard ones beside them."""
    return Cues(
        _joined(cues.negation, STANDARD.negation),
        _both(cues.pseudo_negation, STANDARD.pseudo_negation),
        _joined(cues.uncertainty, STANDARD.uncertainty),
        _joined(cues.history, STANDARD.history),
    )


def _joined(one: CueSet, other: CueSet) -> CueSet:
    return CueSet(
        _both(one.before, other.before), _both(one.after, other.after), _both(one.terminators, other.terminators)
    )


def _both(one: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*one, *other]))
