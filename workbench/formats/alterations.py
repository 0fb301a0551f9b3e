"""Word lists by which reports are edited to test whether a metric can be trusted, in YAML 1.2."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from workbench.errors import InputError
from workbench.formats.yaml_files import read_model
from workbench.text.alteration_words import AlterationWords, AlteredFinding

_Phrase = Annotated[str, Field(min_length=1)]
_Phrases = list[_Phrase]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Finding(_Part):
    name: _Phrase
    words: Annotated[_Phrases, Field(min_length=1)]
    critical: bool = False
    minor: bool = False
    group: str = ""
    traces: _Phrases = Field(default_factory=list)
    subjects: _Phrases = Field(default_factory=list)
    adjectives: _Phrases = Field(default_factory=list)
    regions: _Phrases = Field(default_factory=list)
    invented: _Phrase

    @model_validator(mode="after")
    def _matters_one_way(self) -> Self:
        if self.critical and self.minor:
            raise ValueError(f"the finding {self.name!r} is critical and minor; take one out")
        return self

    def read(self) -> AlteredFinding:
        """Return the finding with its words in lower case."""
        return AlteredFinding(
            name=self.name,
            words=tuple(map(_low, self.words)),
            invented=self.invented,
            critical=self.critical,
            minor=self.minor,
            group=self.group,
            traces=tuple(map(_low, self.traces)),
            subjects=tuple(map(_low, self.subjects)),
            adjectives=tuple(map(_low, self.adjectives)),
            regions=tuple(self.regions),
        )


class _Style(_Part):
    openings: dict[_Phrase, str]
    endings: dict[_Phrase, str]


class _Normal(_Part):
    predicates: dict[_Phrase, str]
    fillers: _Phrases
    blockers: _Phrases


class _Contradicted(_Part):
    regions: dict[_Phrase, _Phrases] = Field(default_factory=dict)
    well: _Phrases = Field(default_factory=list)
    general: _Phrases = Field(default_factory=list)
    disease: _Phrases = Field(default_factory=list)


class _File(_Part):
    format: Literal[1]
    language: _Phrase
    marks: Annotated[_Phrases, Field(min_length=1)]
    findings: Annotated[list[_Finding], Field(min_length=1)]
    unsure: _Phrases
    slight: _Phrases = Field(default_factory=list)
    hedges: _Phrases = Field(default_factory=list)
    stale: _Phrases = Field(default_factory=list)
    company: _Phrases = Field(default_factory=list)
    elsewhere: _Phrases = Field(default_factory=list)
    degrees: _Phrases
    places: _Phrases
    severity: dict[_Phrase, _Phrase]
    never_swapped: _Phrases
    glued: _Phrases
    followers: _Phrases = Field(default_factory=list)
    synonyms: list[Annotated[_Phrases, Field(min_length=2, max_length=2)]]
    abbreviations: dict[_Phrase, _Phrase]
    style: _Style
    normal: _Normal
    contradicted: _Contradicted = Field(default_factory=_Contradicted)

    @model_validator(mode="after")
    def _regions_are_known(self) -> Self:
        for finding in self.findings:
            unknown = set(finding.regions) - set(self.contradicted.regions)
            if unknown:
                raise ValueError(f"the finding {finding.name!r} has the region {min(unknown)!r}, which is not listed")
        return self


def read_alterations(path: Path) -> AlterationWords:
    """Return the word list that a YAML file holds; ``data/alterations.yaml`` is the one that ships.

    Raises:
        InputError: the file cannot be read or is no YAML; a key is unknown or missing; a value is of the wrong kind;
            two findings are said alike, or a synonym stands in two pairs.
    """
    file = read_model(path, _File)
    _require_distinct(path, [_low(word) for finding in file.findings for word in finding.words], "word of a finding")
    _require_distinct(path, [_low(word) for pair in file.synonyms for word in pair], "synonym")
    return AlterationWords(
        language=file.language,
        marks=frozenset(map(_low, file.marks)),
        findings=tuple(finding.read() for finding in file.findings),
        unsure=tuple(map(_low, file.unsure)),
        slight=tuple(map(_low, file.slight)),
        hedges=tuple(map(_low, file.hedges)),
        stale=tuple(map(_low, file.stale)),
        company=tuple(map(_low, file.company)),
        elsewhere=tuple(map(_low, file.elsewhere)),
        degrees=frozenset(map(_low, file.degrees)),
        places=frozenset(map(_low, file.places)),
        severity={_low(mild): worse for mild, worse in file.severity.items()},
        never_swapped=tuple(map(_low, file.never_swapped)),
        glued=tuple(map(_low, file.glued)),
        followers=tuple(map(_low, file.followers)),
        synonyms=tuple((_low(one), _low(other)) for one, other in file.synonyms),
        abbreviations={_low(long): short for long, short in file.abbreviations.items()},
        openings={_low(opening): left for opening, left in file.style.openings.items()},
        endings={_low(ending): left for ending, left in file.style.endings.items()},
        predicates={_low(long): short for long, short in file.normal.predicates.items()},
        fillers=tuple(map(_low, file.normal.fillers)),
        blockers=tuple(map(_low, file.normal.blockers)),
        regions={name: tuple(map(_low, said)) for name, said in file.contradicted.regions.items()},
        well=tuple(map(_low, file.contradicted.well)),
        general=tuple(map(_low, file.contradicted.general)),
        disease=tuple(map(_low, file.contradicted.disease)),
    )


def _low(phrase: str) -> str:
    return " ".join(phrase.lower().split())


def _require_distinct(path: Path, words: list[str], what: str) -> None:
    twice = next((word for word in words if words.count(word) > 1), None)
    if twice is not None:
        raise InputError(f"{path}: the {what} {twice!r} stands twice; take one out.")
