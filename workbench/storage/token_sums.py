"""What extractions took, summed row by row: a ``Usage`` for each of many rows takes its time."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace

from workbench.domain.runs import ExtractionStatus, Usage

_UNASKED = frozenset(  # no reply came
    {ExtractionStatus.BLANK, ExtractionStatus.OTHER_LANGUAGE, ExtractionStatus.TOO_LONG, ExtractionStatus.FAILED}
)


@dataclass(slots=True)
class TokenSum:
    """Tokens, while they are being summed."""

    replies: int = 0
    given: int = 0
    answered: int = 0
    cached: int = 0
    written: int = 0
    unknown: int = 0
    lost: int = 0

    def add(self, row: Mapping[str, int | None] | sqlite3.Row, status: ExtractionStatus) -> None:
        """Add what one extraction took; nothing where no model was asked."""
        self.lost += row["lost"] or 0
        if row["input_tokens"] is None or row["output_tokens"] is None:
            self.unknown += status not in _UNASKED
            return
        self.replies += 1
        self.given += row["input_tokens"]
        self.answered += row["output_tokens"]
        self.cached += row["cached_tokens"] or 0
        self.written += row["written_tokens"] or 0

    def usage(self, *, in_batches: bool = False) -> Usage:
        """Return the sum."""
        of_batches = (self.given, self.answered, self.cached, self.written) if in_batches else ()
        sums = self.replies, self.given, self.answered, self.cached, self.unknown, self.written
        return replace(Usage(*sums, *of_batches), lost=self.lost)
