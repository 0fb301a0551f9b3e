"""Why a label is wrong, by rule: from the report, the labeler's words, the votes and the prompt's own phrases.

Nothing here asks which labeler erred. What the words say is read with the prompt's phrases and its cues, the standard
ones beside them (``standard_cues``), so that an error under a prompt without cues is explained too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from workbench.domain.error_kinds import ErrorKind
from workbench.domain.findings import LabelSet, State
from workbench.domain.prompts import Cues, FindingGuidance, Prompt
from workbench.domain.references import ReferenceItem
from workbench.domain.reports import NEVER_READ, Report
from workbench.domain.runs import Extraction, ExtractionStatus, Flag
from workbench.labelers.evidence import quote_finder
from workbench.labelers.sentence_reader import STRENGTH, SentenceReader
from workbench.labelers.standard_cues import GONE, NORMAL, with_standard
from workbench.text.normalise import placed_words, words
from workbench.text.phrases import PhraseFinder
from workbench.text.scope import CueRole, Kind, Side, cue_phrases
from workbench.text.sentences import sentence_spans

FEW = 10  # positives; see method 11
_KEPT = 1 << 16
_REPORTS_KEPT = 1 << 13
_EDGES = " .,;:!?\"'`()[]-"
_OF_CUE = {Kind.HISTORY: ErrorKind.HISTORY, Kind.NEGATION: ErrorKind.NEGATION, Kind.UNCERTAINTY: ErrorKind.UNCERTAINTY}


@dataclass(frozen=True, slots=True)
class WrongCell:
    """One wrong label and all that its kind depends on.

    ``item`` is what the vote came to and ``needed`` how many votes for present make a finding present; ``support`` how
    many reports of the cohort hold the finding; ``present`` the findings that the reference has in this report.
    """

    report: Report
    finding_id: str
    reply: Extraction
    expected: bool  # the reference has the finding
    item: ReferenceItem
    needed: int
    support: int
    present: frozenset[str]


@dataclass(frozen=True, slots=True)
class Cause:
    """The kind of an error and the words of the report that its rule went by; none where there are none."""

    kind: ErrorKind
    words: str = ""


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    section: str
    folded: str


class ErrorReader:
    """Finds the kind of errors made under one prompt.

    Args:
        prompt: under which the labeler worked.
        label_set: the findings, whose names count as phrases.
        sections: those that the labeler was given.
    """

    def __init__(self, prompt: Prompt, label_set: LabelSet, sections: Sequence[str]) -> None:
        self._ids = label_set.ids
        self._at = {finding: at for at, finding in enumerate(label_set.ids)}
        self._sections = frozenset(sections)
        guided = prompt.guidance.findings
        named = {
            finding.id: replace(
                guided.get(finding.id, FindingGuidance()),
                synonyms=tuple(
                    dict.fromkeys([*guided.get(finding.id, FindingGuidance()).synonyms, *_names(finding.name)])
                ),
            )
            for finding in label_set.findings
        }
        cues = with_standard(prompt.guidance.cues)
        guidance = replace(prompt.guidance, findings=named, cues=cues)
        bare = {finding: replace(said, exclusions=(), normal=()) for finding, said in named.items()}
        self._reader = SentenceReader(guidance, label_set.ids)
        self._bare = SentenceReader(replace(guidance, findings=bare), label_set.ids)
        self._states = lru_cache(_KEPT)(self._read)
        self._cues = _CueFinder(cues)
        self._split = lru_cache(_REPORTS_KEPT)(_sentences)

    def cause(self, cell: WrongCell) -> Cause:
        """Return the kind of an error; the first rule that fits decides, in the order of the methods below."""
        if cell.reply.status is ExtractionStatus.BLANK:
            return Cause(ErrorKind.SECTION)
        if cell.reply.status is not ExtractionStatus.OK:
            return Cause(ErrorKind.UNREADABLE)
        quote = self._quote(cell)
        if quote and quote_finder(cell.report.text)(quote) is Flag.INVENTED_EVIDENCE:
            return Cause(ErrorKind.INVENTED_EVIDENCE, quote)
        quoted = self._quoted(cell, quote)
        if quoted and all(sentence.section in NEVER_READ for sentence in quoted):
            return Cause(ErrorKind.SECTION, quote)
        return self._missed(cell, quoted) if cell.expected else self._overcalled(cell, quoted)

    def phrases(self, report: Report, finding_id: str) -> list[str]:
        """Return the words of a report that are phrases for a finding, as they stand there; each once."""
        at, found = self._at[finding_id], dict[str, None]()
        for sentence in self._split(report):
            places = placed_words(sentence.text)
            for hit in self._bare.read([word.text for word in places]):
                if hit.finding == at:
                    found[sentence.text[places[hit.start].start : places[hit.end - 1].end]] = None
        return list(found)

    def unnamed(self, report: Report) -> list[str]:
        """Return the sentences of the sections that are read in which the prompt's phrases name nothing at all."""
        return [s.text for s in self._split(report) if s.section in self._sections and not self._states(s.text)[1]]

    def _overcalled(self, cell: WrongCell, quoted: list[_Sentence]) -> Cause:
        """Tell why a finding was called that the reference does not have."""
        sentences = quoted or self._named(cell.report, cell.finding_id)
        best = self._strongest(cell.finding_id, sentences)
        if best is not None:
            kind, told = self._by_state(*best), best[0].text
        else:
            kind, told = self._by_cues(sentences), next((s.text for s in sentences), "")
        if kind is None and cell.reply.state(cell.finding_id) is State.UNCERTAIN:
            kind = ErrorKind.UNCERTAINTY
        if kind is None and _split_vote(cell):
            kind = ErrorKind.DOUBTFUL
        if kind is None and any(self._neighbours(cell, sentence) for sentence in sentences):
            kind = ErrorKind.BOUNDARY
        if kind is None and cell.support < FEW:
            kind = ErrorKind.RARE
        if kind is None and best is not None:  # named plainly, and hardly any rater sees it: it is something else
            kind = ErrorKind.BOUNDARY
        return Cause(kind or ErrorKind.UNEXPLAINED, told)

    def _missed(self, cell: WrongCell, quoted: list[_Sentence]) -> Cause:
        """Tell why a finding was not called that the reference has."""
        said = cell.reply.state(cell.finding_id)
        if said is State.UNCERTAIN:
            return Cause(ErrorKind.UNCERTAINTY, next((s.text for s in quoted), ""))
        best = self._strongest(cell.finding_id, quoted or self._named(cell.report, cell.finding_id))
        if said is State.ABSENT and quoted:
            gone = best is not None and self._by_state(*best) is ErrorKind.HISTORY
            return Cause(ErrorKind.HISTORY if gone else ErrorKind.NEGATION, quoted[0].text)
        if best is None:
            elsewhere = self._elsewhere(cell)
            return Cause(ErrorKind.SECTION if elsewhere else ErrorKind.SYNONYM, elsewhere)
        return Cause(self._by_state(*best) or self._overlooked(cell, best[0]), best[0].text)

    def _overlooked(self, cell: WrongCell, sentence: _Sentence) -> ErrorKind:
        """Tell why words were passed over that name a finding plainly."""
        silenced = self._at[cell.finding_id] not in self._states(sentence.text)[0]
        if silenced or self._taken_for_another(cell, sentence):
            return ErrorKind.BOUNDARY
        if cell.support < FEW:
            return ErrorKind.RARE
        return ErrorKind.DOUBTFUL if cell.item.present <= cell.needed else ErrorKind.UNEXPLAINED

    def _by_state(self, sentence: _Sentence, state: State) -> ErrorKind | None:
        """Return what in the words changes a finding that they name, None where they name it plainly."""
        if state is State.NOT_MENTIONED:
            return ErrorKind.HISTORY
        if state is State.ABSENT:
            return ErrorKind.HISTORY if self._cues.gone(sentence.text) else ErrorKind.NEGATION
        return ErrorKind.UNCERTAINTY if state is State.UNCERTAIN else None

    def _by_cues(self, sentences: Iterable[_Sentence]) -> ErrorKind | None:
        """Return what changes the words where none of the prompt's phrases names the finding in them."""
        for sentence in sentences:
            others = self._states(sentence.text)[1]
            if State.PRESENT in others.values():
                continue
            if (kind := self._cues.kind(sentence.text)) is not None:
                return kind
        return None

    def _neighbours(self, cell: WrongCell, sentence: _Sentence) -> bool:
        """Return whether the words name another finding, or the reply gives them to one, which the reference has."""
        given = any(
            finding in cell.present - {cell.finding_id} and _stands_in(mention.evidence, sentence)
            for finding, mention in cell.reply.mentions.items()
        )
        return given or any(
            state in {State.PRESENT, State.UNCERTAIN}
            and self._ids[at] != cell.finding_id
            and self._ids[at] in cell.present
            for at, state in self._states(sentence.text)[1].items()
        )

    def _taken_for_another(self, cell: WrongCell, sentence: _Sentence) -> bool:
        """Return whether the labeler gave these words to a finding that the reference does not have."""
        return any(
            finding != cell.finding_id
            and finding not in cell.present
            and mention.state is State.PRESENT
            and _stands_in(mention.evidence, sentence)
            for finding, mention in cell.reply.mentions.items()
        )

    def _elsewhere(self, cell: WrongCell) -> str:
        """Return words that name a finding in a section that the labeler was not given and that tells what was seen."""
        at = self._at[cell.finding_id]
        for sentence in self._split(cell.report):
            hidden = sentence.section not in self._sections and sentence.section not in NEVER_READ
            if hidden and self._states(sentence.text)[1].get(at) is State.PRESENT:
                return sentence.text
        return ""

    def _quote(self, cell: WrongCell) -> str:
        mention = cell.reply.mentions.get(cell.finding_id)
        quote = mention.evidence if mention else ""
        return quote if any(map(str.isalnum, quote)) else ""

    def _quoted(self, cell: WrongCell, quote: str) -> list[_Sentence]:
        """Return the sentences that a quote stands in; those that are read count before others."""
        found = [s for s in self._split(cell.report) if quote and _stands_in(quote, s)]
        seen = [s for s in found if s.section not in NEVER_READ]
        return seen or found

    def _named(self, report: Report, finding_id: str) -> list[_Sentence]:
        at = self._at[finding_id]
        return [s for s in self._split(report) if s.section in self._sections and at in self._states(s.text)[1]]

    def _strongest(self, finding_id: str, sentences: Sequence[_Sentence]) -> tuple[_Sentence, State] | None:
        at = self._at[finding_id]
        named = []
        for sentence in sentences:
            silenced, bare = self._states(sentence.text)
            if at in silenced or at in bare:
                named.append((sentence, silenced[at] if at in silenced else bare[at]))
        return max(named, key=lambda each: STRENGTH[each[1]], default=None)

    def _read(self, sentence: str) -> tuple[dict[int, State], dict[int, State]]:
        """Return what a sentence says of each finding: with exclusions and normal phrases, and without.

        What is named only as past stands in both as not mentioned.
        """
        split = words(sentence)
        return _strongest_of(self._reader, split), _strongest_of(self._bare, split)


class _CueFinder:
    """Tells which cues stand in a sentence, whatever they reach."""

    def __init__(self, cues: Cues) -> None:
        entries = [(phrase, role) for phrase, role in cue_phrases(cues) if role.side is not Side.TERMINATOR]
        self._finder: PhraseFinder[CueRole] = PhraseFinder(entries)
        self._gone: PhraseFinder[None] = PhraseFinder((phrase, None) for phrase in GONE)
        self._normal: PhraseFinder[None] = PhraseFinder((phrase, None) for phrase in NORMAL)

    def gone(self, sentence: str) -> bool:
        return bool(self._gone.find(words(sentence)))

    def kind(self, sentence: str) -> ErrorKind | None:
        if self.gone(sentence):
            return ErrorKind.HISTORY
        split = words(sentence)
        there = {hit.phrase.payload.kind for hit in self._finder.find(split)}
        if Kind.PSEUDO in there:
            there.discard(Kind.NEGATION)
        elif self._normal.find(split):
            there.add(Kind.NEGATION)
        return next((kind for cue, kind in _OF_CUE.items() if cue in there), None)


def _strongest_of(reader: SentenceReader, split: Sequence[str]) -> dict[int, State]:
    states: dict[int, State] = {}
    for found in reader.read(split):
        if found.finding is None or found.state is None:
            continue
        if STRENGTH[found.state] >= STRENGTH[states.get(found.finding, State.NOT_MENTIONED)]:
            states[found.finding] = found.state
    return states


def _names(name: str) -> list[str]:
    """Return a finding's name as phrases: "Nodule or mass" is either, "Hilar or nodal change" a change of either."""
    parts = [part.split() for part in name.lower().replace("(", " ").replace(")", " ").split(" or ")]
    shared = parts[-1][1:]
    return [" ".join(part if part is parts[-1] else [*part, *shared]) for part in parts]


def _sentences(report: Report) -> tuple[_Sentence, ...]:
    found = []
    for section in report.sections:
        text = report.text[section.start : section.end]
        for start, end in sentence_spans(text):
            found.append(_Sentence(text[start:end], section.name, _folded(text[start:end])))
    return tuple(found)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).strip(_EDGES)


def _stands_in(quote: str, sentence: _Sentence) -> bool:
    """Return whether a quote is part of a sentence, or the sentence part of a longer quote."""
    folded = _folded(quote)
    if not folded or not sentence.folded:
        return False
    return folded in sentence.folded or sentence.folded in folded


def _split_vote(cell: WrongCell) -> bool:
    """Return whether half of the votes that were needed, or more, were for present, or the vote was a tie."""
    return cell.item.tie or 2 * cell.item.present >= cell.needed
