"""Phrases that could mend a prompt, gathered from the errors alone: where to look, not yet what they are worth."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from workbench.labelers.rereading import Cell, Rereading, Sentence
from workbench.labelers.sentence_reader import FindingRole, Use
from workbench.prompting.edits import Edit, Part
from workbench.text.normalise import fold
from workbench.text.phrases import CLAUSE_BREAKS, GAP, Hit
from workbench.text.scope import CueRole, Kind, Side

LONGEST = 4  # words of a phrase
_LONGEST_GAP = 6
_CUE_REACH = 8  # words between a cue and the finding it would change
_EXTENSION = 3  # words that an exclusion has on either side of the synonym it silences
_LEAST = 2  # errors a phrase must stand at to be a candidate at all
_SYNONYMS_TRIED = 60  # per finding
_CUES_TRIED = 50  # per list
_EXCLUSIONS_TRIED = 25  # per finding
# What a name of a finding neither begins nor ends with.
_FUNCTION_WORDS = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "for", "from", "has", "have", "in", "into", "is"}
    | {"it", "of", "on", "or", "that", "the", "there", "these", "this", "to", "was", "were", "which", "with", "may"}
    | {"no", "not", "without", "their", "its", "than", "y", "o", "de", "del", "la", "el", "en", "con"}
)

Gram = tuple[str, ...]  # stems, with GAP where there is one


@dataclass(frozen=True, slots=True)
class _Spelled:
    """How often a gram stands at what, and how it is written most."""

    mask: int  # reports, as bits
    written: str


class Candidates:
    """The candidate edits of one reading of a cohort."""

    def __init__(self, reading: Rereading) -> None:
        self._reading = reading
        self._findings = range(len(reading.ids))
        self._missed = [0] * len(reading.ids)  # reports, as bits
        self._rightly_absent = [0] * len(reading.ids)
        self._invented: list[Cell] = []
        self._found: list[Cell] = []
        for report, finding, true, said in reading.cells():
            if true and not said:
                self._missed[finding] |= 1 << report
            elif said and not true:
                self._invented.append((report, finding))
            elif true:
                self._found.append((report, finding))
            else:
                self._rightly_absent[finding] |= 1 << report
        self._plain = self._spell()

    def _spell(self) -> dict[Gram, _Spelled]:
        """Return every phrase that stands in two reports or more where no cue is, and in which reports."""
        masks: dict[Gram, int] = {}
        written: dict[Gram, Counter[Gram]] = {}
        for sentence in self._reading.sentences:
            here = _mask(sentence.reports)
            cued = any(isinstance(hit.phrase.payload, CueRole) for hit in sentence.hits)
            for gram, start, end in _naming(sentence):
                masks[gram] = masks.get(gram, 0) | (0 if cued else here)
                if GAP not in gram:
                    surface = tuple(map(fold, sentence.words[start:end]))
                    written.setdefault(gram, Counter())[surface] += len(sentence.reports)
        return {
            gram: _Spelled(mask, _written(gram, written)) for gram, mask in masks.items() if mask.bit_count() >= _LEAST
        }

    def edits(self, only: Sequence[str] = ()) -> list[Edit]:
        """Return the candidate edits; ``only`` names findings, and leaves cues out unless it is empty."""
        found: list[Edit] = []
        for finding in self._findings:
            if not only or self._reading.ids[finding] in only:
                found += [*self._synonyms(finding), *self._exclusions(finding), *self._removals(finding)]
        if not only:
            found += [*self._cues(), *self._unnegated()]
        return list(dict.fromkeys(found))

    def _synonyms(self, finding: int) -> Iterator[Edit]:
        """Return phrases of missed reports that stand rarely in reports that are rightly without the finding."""
        missed, absent = self._missed[finding], self._rightly_absent[finding]
        ranked: dict[tuple[int, int], tuple[float, Gram, str]] = {}
        if missed.bit_count() < _LEAST:
            return
        for gram, spelled in self._plain.items():
            right = (spelled.mask & missed).bit_count()
            if right < _LEAST:
                continue
            wrong = (spelled.mask & absent).bit_count()
            if right <= wrong:
                continue
            key = (spelled.mask & missed, spelled.mask & absent)
            rank = (right * right / (right + wrong), gram, spelled.written)
            if key not in ranked or _plainer(gram, ranked[key][1]):
                ranked[key] = rank
        best = sorted(ranked.values(), key=lambda r: (-r[0], r[1]))[:_SYNONYMS_TRIED]
        for _, _, written in best:
            yield Edit(self._reading.ids[finding], Part.SYNONYMS, written)

    def _deciding(self, cell: Cell) -> Iterator[tuple[Sentence, Hit[FindingRole]]]:
        """Return what makes a cell present: sentences with the synonyms in them."""
        report, finding = cell
        for number in self._reading.of_report[report]:
            sentence = self._reading.sentences[number]
            if self._reading.value(finding, sentence.strengths.get(finding, 0)) != 1:
                continue
            for hit in sentence.hits:
                if hit.phrase.payload == FindingRole(finding, Use.SYNONYM):
                    yield sentence, hit  # type: ignore[misc]

    def _exclusions(self, finding: int) -> Iterator[Edit]:
        """Return longer phrases around a synonym that stand where the finding was invented."""
        at: dict[Gram, set[int]] = {}
        written: dict[Gram, Counter[Gram]] = {}
        for cell in self._invented:
            if cell[1] != finding:
                continue
            for sentence, hit in self._deciding(cell):
                for start, end in _around(sentence, hit):
                    gram = sentence.stems[start:end]
                    at.setdefault(gram, set()).add(cell[0])
                    written.setdefault(gram, Counter())[tuple(map(fold, sentence.words[start:end]))] += 1
        best = sorted((g for g in at if len(at[g]) >= _LEAST), key=lambda g: (-len(at[g]), len(g), g))
        for gram in best[:_EXCLUSIONS_TRIED]:
            yield Edit(self._reading.ids[finding], Part.EXCLUSIONS, _written(gram, written))

    def _removals(self, finding: int) -> Iterator[Edit]:
        """Return synonyms that decide where the finding was invented."""
        named = {hit.phrase.text for cell in self._invented if cell[1] == finding for _, hit in self._deciding(cell)}
        for phrase in sorted(named):
            yield Edit(self._reading.ids[finding], Part.SYNONYMS, phrase, add=False)

    def _cues(self) -> Iterator[Edit]:
        """Return phrases that stand before or after findings that were invented, and rarely at those found rightly."""
        for part in (Part.NEGATION_BEFORE, Part.NEGATION_AFTER):
            wrong, written = self._beside(self._invented, part)
            right, _ = self._beside(self._found, part)
            ranked = [
                (-count * count / (count + right[gram]), _FUNCTION_WORDS.issuperset(gram), len(gram), gram)
                for gram, count in wrong.items()
                if count > _LEAST and count > right[gram]
            ]
            for *_, gram in sorted(ranked)[:_CUES_TRIED]:
                yield Edit("", part, _written(gram, written))

    def _beside(self, cells: Iterable[Cell], part: Part) -> tuple[Counter[Gram], dict[Gram, Counter[Gram]]]:
        counts: Counter[Gram] = Counter()
        written: dict[Gram, Counter[Gram]] = {}
        for cell in cells:
            here = set()
            for sentence, hit in self._deciding(cell):
                first, last = (
                    (max(0, hit.start - _CUE_REACH), hit.start)
                    if part is Part.NEGATION_BEFORE
                    else (hit.end, hit.end + _CUE_REACH)
                )
                for start, end in _runs(sentence, first, last):
                    if _names(sentence, start, end):
                        continue
                    gram = sentence.stems[start:end]
                    here.add(gram)
                    written.setdefault(gram, Counter())[tuple(map(fold, sentence.words[start:end]))] += 1
            counts.update(here)
        return counts, written

    def _unnegated(self) -> Iterator[Edit]:
        """Return what could end a negation, or be none, where a finding was missed because it was read as denied."""
        ends: Counter[str] = Counter()
        none: Counter[str] = Counter()
        for finding in self._findings:
            for sentence, hit in self._denied(finding):
                for cue in _negations(sentence, hit):
                    between = [run for run in _runs(sentence, cue.end, hit.start) if not _names(sentence, *run)]
                    ends.update({_surface(sentence, s, e) for s, e in between if e - s <= 2})
                    none.update({_surface(sentence, cue.start, e) for s, e in between if s == cue.end})
        for part, counted in ((Part.NEGATION_TERMINATORS, ends), (Part.PSEUDO_NEGATION, none)):
            for phrase, count in counted.most_common(_CUES_TRIED):
                if count >= _LEAST:
                    yield Edit("", part, phrase)

    def _denied(self, finding: int) -> Iterator[tuple[Sentence, Hit[FindingRole]]]:
        for report in _bits(self._missed[finding]):
            for number in self._reading.of_report[report]:
                sentence = self._reading.sentences[number]
                for hit in sentence.hits:
                    if hit.phrase.payload == FindingRole(finding, Use.SYNONYM):
                        yield sentence, hit  # type: ignore[misc]


def _negations(sentence: Sentence, hit: Hit[FindingRole]) -> Iterator[Hit[CueRole]]:
    for cue in sentence.hits:
        if cue.phrase.payload == CueRole(Kind.NEGATION, Side.BEFORE) and cue.end <= hit.start:
            yield cue  # type: ignore[misc]


def _names(sentence: Sentence, start: int, end: int) -> bool:
    """Return whether some of the words name a finding: such words are no cue."""
    return any(
        isinstance(hit.phrase.payload, FindingRole) and hit.start < end and start < hit.end for hit in sentence.hits
    )


def _naming(sentence: Sentence) -> Iterator[tuple[Gram, int, int]]:
    """Return the phrases of a sentence that could name something: runs of words, and two words with a gap."""
    stems = sentence.stems
    for start, end in _runs(sentence, 0, len(stems)):
        if _content(stems[start]) and _content(stems[end - 1]):
            yield stems[start:end], start, end
    for first, word in enumerate(stems):
        if not _content(word) or not _is_word(word):
            continue
        for second in range(first + 1, min(len(stems), first + 2 + _LONGEST_GAP)):
            if stems[second] in CLAUSE_BREAKS:
                break
            if second > first + 1 and _content(stems[second]) and _is_word(stems[second]):
                yield (word, GAP, stems[second]), first, second + 1


def _runs(sentence: Sentence, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Return the beginnings and ends of runs of words, without signs and blanks, between two places."""
    last = min(last, len(sentence.stems))
    for start in range(first, last):
        for end in range(start + 1, min(last, start + LONGEST) + 1):
            if not _is_word(sentence.stems[end - 1]):
                break
            yield start, end


def _around(sentence: Sentence, hit: Hit[FindingRole]) -> Iterator[tuple[int, int]]:
    for start in range(max(0, hit.start - _EXTENSION), hit.start + 1):
        for end in range(hit.end, min(len(sentence.stems), hit.end + _EXTENSION) + 1):
            if (start, end) != (hit.start, hit.end) and all(map(_is_word, sentence.stems[start:end])):
                yield start, end


def _is_word(word: str) -> bool:
    return word.isalpha() and set(word) != {"x"}


def _content(word: str) -> bool:
    return word not in _FUNCTION_WORDS


def _plainer(gram: Gram, other: Gram) -> bool:
    """Return whether of two phrases that stand in the same reports the first is the one to offer: two words next to
    each other say most with least; a gap and a whole clause least.
    """
    return _oddness(gram) < _oddness(other)


def _oddness(gram: Gram) -> tuple[bool, int, Gram]:
    return (GAP in gram, abs(len(gram) - 2), gram)


def _written(gram: Gram, written: dict[Gram, Counter[Gram]]) -> str:
    if gram in written:
        return " ".join(max(written[gram].items(), key=lambda item: (item[1], item[0]))[0])
    return " ".join(gram)


def _surface(sentence: Sentence, start: int, end: int) -> str:
    return " ".join(map(fold, sentence.words[start:end]))


def _mask(reports: Iterable[int]) -> int:
    mask = 0
    for report in reports:
        mask |= 1 << report
    return mask


def _bits(mask: int) -> Iterator[int]:
    return (report for report in range(mask.bit_length()) if mask >> report & 1)
