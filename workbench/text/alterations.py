"""Edits of a report whose effect is known: errors that matter, and other words for the same (method 23).

A metric of generated reports should drop for the first and not for the second. Every edit is made by rule, from a word
list that is independent of any prompt, and says what was done. A rule does an edit only where it is sure of it: where
some sentence states a finding without denying or doubting it, and the edit can be carried through every sentence that
speaks of it, under whatever name. Minor findings are left alone: an error about them hardly matters. To a report that a
kind does not apply to nothing is done, nor to one in another language than the word list's.

Significant kinds:

- ``removed``: a finding is left out, with all that states it or guesses at it;
- ``critical_missed``: the same with a finding that is dangerous to miss, and is not called old, unchanged or minimal;
- ``invented``: a finding is added of which the report says nothing, in place of what says that all is well there;
- ``negated``: a finding is denied instead of stated, in every place;
- ``side_swapped``: left becomes right, or right left, wherever the report speaks of the finding;
- ``severity_raised``: a mild or moderate finding becomes a severe one, wherever it is graded.

Harmless kinds:

- ``synonym``: words are exchanged for others that say the same, wherever there are such;
- ``sentence_order``: the sentences of each section come in another order;
- ``style``: full sentences become telegram style ("There is no effusion." - "No effusion."), or the other way round;
- ``abbreviation``: long forms become abbreviations, wherever there are such;
- ``normal_shortened``: statements that all is well are said in fewer words.
"""

import random
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from workbench.text.alteration_words import AlterationWords
from workbench.text.altered_details import severity_raised, side_swapped
from workbench.text.altered_findings import critical_missed, negated, removed
from workbench.text.altered_inventions import invented
from workbench.text.altered_report import ReadReport
from workbench.text.altered_wording import abbreviation, normal_shortened, sentence_order, style, synonym

_Rule = Callable[[ReadReport, random.Random], tuple[str, str] | None]

_RULES: Mapping[str, tuple[bool, _Rule]] = MappingProxyType(
    {
        "removed": (True, removed),
        "critical_missed": (True, critical_missed),
        "invented": (True, invented),
        "negated": (True, negated),
        "side_swapped": (True, side_swapped),
        "severity_raised": (True, severity_raised),
        "synonym": (False, synonym),
        "sentence_order": (False, sentence_order),
        "style": (False, style),
        "abbreviation": (False, abbreviation),
        "normal_shortened": (False, normal_shortened),
    }
)
# Every kind of edit, and whether it is clinically significant.
KINDS: Mapping[str, bool] = MappingProxyType({kind: significant for kind, (significant, _) in _RULES.items()})


@dataclass(frozen=True, slots=True)
class Alteration:
    """A report edited in one way. ``done`` says in words what was done."""

    kind: str
    significant: bool
    text: str
    done: str


def alterations(
    text: str, words: AlterationWords, *, seed: int, kinds: Collection[str] | None = None
) -> tuple[Alteration, ...]:
    """Return a report edited in each way that applies to it, at most once per kind, in the order of ``KINDS``.

    The same text, word list and seed give the same edits. Only findings, impression and texts without headers are
    edited; the rest of a report is left as it is.

    Args:
        text: the report.
        words: the word list.
        seed: decides which finding is taken where several could be.
        kinds: the kinds that are wanted; all of them by default.

    Raises:
        KeyError: a kind is unknown.
    """
    wanted = KINDS if kinds is None else {kind: KINDS[kind] for kind in KINDS if kind in set(kinds)}
    for kind in kinds or ():
        KINDS[kind]
    report = ReadReport(text, words)
    if not report.is_in_language:
        return ()
    made = []
    for kind, significant in wanted.items():
        chance = random.Random(f"{seed}/{kind}/{text}")  # noqa: S311 - a draw that is repeatable, not a secret
        edit = _RULES[kind][1](report, chance)
        if edit is not None and edit[0] != text and edit[0].strip():
            made.append(Alteration(kind, significant, *edit))
    return tuple(made)
