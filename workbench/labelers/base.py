"""What every labeler can do."""

from typing import Protocol

from workbench.domain.runs import Extraction, LabelerSettings


class Labeler(Protocol):
    """Turns a text into the states of a label set's findings, under the prompt it was made with."""

    @property
    def settings(self) -> LabelerSettings:
        """Return what identifies the labeler."""
        ...

    async def label(self, text: str, repeat: int = 1) -> Extraction:
        """Return the extraction of one text.

        Whatever is wrong with a reply is a status, never an exception; an exception means that there was no reply.
        """
        ...

    async def close(self) -> None:
        """Give back what it holds; nothing may be labelled afterwards."""
        ...
