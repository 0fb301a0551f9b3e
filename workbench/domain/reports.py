"""Reports: the text as it came, and where its sections stand in it."""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.domain.hashing import text_hash

READ_BY_DEFAULT = ("findings", "impression", "unlabelled")
NEVER_READ = ("indication", "comparison", "history", "technique", "preamble")


@dataclass(frozen=True, slots=True)
class Section:
    """A named stretch of a report's text: characters ``start`` to ``end`` (end not included), header left out.

    Names are lower-case: indication, history, comparison, technique, findings, impression, or the header's own word.
    A report without any header is one section ``unlabelled``; text before the first header is ``preamble``.
    """

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Report:
    """One report, its text verbatim."""

    id: str
    patient_id: str
    text: str
    sections: tuple[Section, ...]
    language: str = "en"
    source: str = ""  # the file it came from

    @property
    def hash(self) -> str:
        """Return the hash of the text."""
        return text_hash(self.text)

    def select(self, names: Sequence[str] = READ_BY_DEFAULT) -> str:
        """Return the text of the named sections in report order, blank-line separated; empty when there is none.

        This is what a labeler is given, so its hash is part of an extraction's identity.
        """
        parts = [self.text[s.start : s.end].strip() for s in self.sections if s.name in names]
        return "\n\n".join(part for part in parts if part)
