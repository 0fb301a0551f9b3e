"""What every labeler can do."""

from typing import Protocol, runtime_checkable

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


@runtime_checkable
class Estimating(Protocol):
    """A labeler that tells about how many tokens it sends for a text, before it sends them."""

    def tokens(self, text: str) -> int:
        """Return an estimate of prompt and report together."""
        ...
