"""A prompt is structured guidance plus the template that renders it; a revision is a record beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from workbench.domain.findings import State
from workbench.domain.hashing import content_hash


class ReplyForm(StrEnum):
    """What a language model is asked to answer with."""

    MENTIONED = "mentioned"  # only the findings the report speaks of
    EVERY = "every"  # every finding spelled out


@dataclass(frozen=True, slots=True)
class FindingGuidance:
    """What a labeler is told of one finding.

    ``synonyms`` are phrases that name it, ``exclusions`` phrases that look like it and are not, ``normal`` phrases
    that say it is absent ("heart size normal"). The phrase language is described in ``workbench.text.phrases``.
    """

    definition: str = ""
    synonyms: tuple[str, ...] = ()
    exclusions: tuple[str, ...] = ()
    normal: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CueSet:
    """Cues that change how a finding is read, by the side they stand on, and what ends their reach."""

    before: tuple[str, ...] = ()  # the cue stands before the finding: "no", "possible"
    after: tuple[str, ...] = ()  # the cue stands after it: "is not seen", "cannot be excluded"
    terminators: tuple[str, ...] = ()  # words that end the reach: "but", "however"


@dataclass(frozen=True, slots=True)
class Cues:
    """The cues of a prompt. ``pseudo_negation`` holds what looks like a negation and is none ("no change in")."""

    negation: CueSet = CueSet()
    pseudo_negation: tuple[str, ...] = ()
    uncertainty: CueSet = CueSet()
    history: CueSet = CueSet()


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example: a text and the states it stands for. ``report_id`` names the report it quotes, if any:
    that report is then left out of the prompt's scores (method 14).
    """

    text: str
    labels: Mapping[str, State]
    report_id: str = ""


@dataclass(frozen=True, slots=True)
class Guidance:
    """Everything a radiologist edits in a prompt."""

    label_set: str
    language: str
    title: str
    instructions: str
    findings: Mapping[str, FindingGuidance]  # by finding id, in label-set order
    cues: Cues = field(default_factory=Cues)
    examples: tuple[Example, ...] = ()
    reply: ReplyForm = ReplyForm.MENTIONED

    def as_json(self) -> dict[str, object]:
        """Return the JSON form that is hashed: order of phrases and findings counts for nothing in dicts only."""
        cues = self.cues
        return {
            "label_set": self.label_set,
            "language": self.language,
            "title": self.title,
            "instructions": self.instructions,
            "reply": self.reply.value,
            "findings": {
                finding_id: {
                    "definition": g.definition,
                    "synonyms": list(g.synonyms),
                    "exclusions": list(g.exclusions),
                    "normal": list(g.normal),
                }
                for finding_id, g in self.findings.items()
            },
            "cues": {
                "negation": _cue_set_json(cues.negation),
                "pseudo_negation": list(cues.pseudo_negation),
                "uncertainty": _cue_set_json(cues.uncertainty),
                "history": _cue_set_json(cues.history),
            },
            "examples": [
                {"text": e.text, "labels": {f: s.value for f, s in e.labels.items()}, "report_id": e.report_id}
                for e in self.examples
            ],
        }


def _cue_set_json(cue_set: CueSet) -> dict[str, list[str]]:
    return {
        "before": list(cue_set.before),
        "after": list(cue_set.after),
        "terminators": list(cue_set.terminators),
    }


@dataclass(frozen=True, slots=True)
class Prompt:
    """Guidance and the Jinja body that renders the system text. Its identity is its content."""

    guidance: Guidance
    body: str  # line feeds only

    @property
    def hash(self) -> str:
        """Return the identity: guidance plus line-feed-normalised body."""
        body = self.body.replace("\r\n", "\n").replace("\r", "\n")
        return content_hash("prompt", {"guidance": self.guidance.as_json(), "body": body})


class RevisionStatus(StrEnum):
    """Where a revision stands: the latest decision that was recorded on it."""

    CANDIDATE = "candidate"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Revision:
    """The record of one prompt in the chain of a study."""

    number: int
    prompt_hash: str
    parent_hash: str | None
    author: str
    created_at: datetime
    message: str
    status: RevisionStatus


@dataclass(frozen=True, slots=True)
class Signature:
    """That a second person has looked at a score and stands by accepting its revision; appended and never edited."""

    prompt_hash: str
    evaluation_hash: str
    actor: str
    at: datetime
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """One acceptance or rejection of a revision, appended and never edited.

    ``signed`` names the gate's checks that the person signed off, and each newly missed positive with why that may be;
    ``override`` why checks that stayed closed were
    passed over; ``evaluation_hash`` the score the decision rests on, and with it the labeler's settings.
    """

    prompt_hash: str
    status: RevisionStatus
    actor: str
    at: datetime
    reason: str
    evaluation_hash: str | None = None
    signed: tuple[str, ...] = ()
    override: str = ""
