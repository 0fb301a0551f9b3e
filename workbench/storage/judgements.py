"""What judges said of generated reports: one row per judge, labeler and pair of texts, added once and never changed."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from workbench.domain.judging import JudgedError, Judgement, ReportError
from workbench.domain.runs import ExtractionStatus
from workbench.storage.encoding import instant_text

_AT_ONCE = 500  # pairs looked up together


@dataclass(frozen=True, slots=True)
class JudgementKey:
    """What a judgement is known by: what the judge is asked, who is asked, and the two texts."""

    judge_hash: str
    labeler_hash: str
    reference_hash: str
    generated_hash: str


def add(conn: sqlite3.Connection, key: JudgementKey, judgement: Judgement) -> None:
    """Keep a judgement; the first of a key stays."""
    said = {
        "errors": [[error.kind.value, error.significant, error.what] for error in judgement.errors],
        "matched": list(judgement.matched),
        "detail": judgement.detail,
        "raw": list(judgement.raw),
    }
    conn.execute(
        "INSERT OR IGNORE INTO judgements (judge_hash, labeler_hash, reference_hash, generated_hash, status, said, "
        "input_tokens, output_tokens, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            key.judge_hash,
            key.labeler_hash,
            key.reference_hash,
            key.generated_hash,
            judgement.status.value,
            json.dumps(said, ensure_ascii=False),
            judgement.input_tokens,
            judgement.output_tokens,
            instant_text(datetime.now(UTC)),
        ),
    )


def find(conn: sqlite3.Connection, keys: Iterable[JudgementKey]) -> dict[JudgementKey, Judgement]:
    """Return the judgements there are of some keys."""
    wanted = list(dict.fromkeys(keys))
    found: dict[JudgementKey, Judgement] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        rows = conn.execute(
            "SELECT j.* FROM json_each(?) AS k JOIN judgements AS j ON j.judge_hash = k.value ->> 0 "
            "AND j.labeler_hash = k.value ->> 1 AND j.reference_hash = k.value ->> 2 "
            "AND j.generated_hash = k.value ->> 3",
            (json.dumps([[k.judge_hash, k.labeler_hash, k.reference_hash, k.generated_hash] for k in some]),),
        )
        for row in rows:
            key = JudgementKey(row["judge_hash"], row["labeler_hash"], row["reference_hash"], row["generated_hash"])
            found[key] = _judgement(row)
    return found


def _judgement(row: sqlite3.Row) -> Judgement:
    said = json.loads(row["said"])
    return Judgement(
        ExtractionStatus(row["status"]),
        tuple(JudgedError(ReportError(kind), significant, what) for kind, significant, what in said["errors"]),
        tuple(said["matched"]),
        said["detail"],
        tuple(said["raw"]),
        row["input_tokens"],
        row["output_tokens"],
    )
