"""Data sets of generated reports, what each system wrote, and scores computed elsewhere: added, never changed."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from workbench.domain.judged import JudgeRecord
from workbench.errors import ConflictError
from workbench.storage.encoding import instant, instant_text


@dataclass(frozen=True, slots=True)
class DataSetRecord:
    """A set of studies with a reference report each, for one task."""

    hash: str
    name: str
    task: str
    file: str
    actor: str
    at: datetime


@dataclass(frozen=True, slots=True)
class StudyText:
    """One study of a data set; ``reference`` is None where it has none."""

    id: str
    patient_id: str
    reference: str | None


@dataclass(frozen=True, slots=True)
class SubmissionRecord:
    """What one system wrote for a data set, as a file brought it; a later one of the same system takes its place."""

    id: int
    data_set_hash: str
    system: str
    hash: str
    file: str
    actor: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ScoreSource:
    """Where scores came from: a file, or a judge of the study, and then what its scores rest on.

    ``standing`` counts by system the values that no later source has replaced; 0 where a judge judged none of them.
    """

    file: str
    actor: str
    at: datetime
    judged: JudgeRecord | None
    standing: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class MetricScores:
    """Scores of one metric computed elsewhere: by system, then by study; a later file takes the place of an earlier.

    ``sources`` says, of what was kept, which source each system's values came from, oldest first.
    """

    metric: str
    higher_is_better: bool
    values: Mapping[str, Mapping[str, float]]
    sources: tuple[ScoreSource, ...] = field(default=(), compare=False)


def add_data_set(conn: sqlite3.Connection, record: DataSetRecord, studies: Iterable[StudyText]) -> DataSetRecord:
    """Keep a data set and return it; one with the same content that is already there is returned as it stands.

    Raises:
        ConflictError: its name and task belong to another data set.
    """
    known = conn.execute(
        "SELECT * FROM data_sets WHERE hash = ? OR (name = ? AND task = ?) ORDER BY hash = ? DESC",
        (record.hash, record.name, record.task, record.hash),
    ).fetchone()
    if known is not None:
        if known["hash"] == record.hash:
            return _data_set(known)
        raise ConflictError(
            f"There is a data set {record.name} for {record.task} already, with other studies or references; give "
            "this one another name."
        )
    conn.execute(
        "INSERT INTO data_sets (hash, name, task, file, actor, at) VALUES (?, ?, ?, ?, ?, ?)",
        (record.hash, record.name, record.task, record.file, record.actor, instant_text(record.at)),
    )
    conn.executemany(
        "INSERT INTO data_set_studies (data_set_hash, study_id, patient_id, reference) VALUES (?, ?, ?, ?)",
        ((record.hash, study.id, study.patient_id, study.reference) for study in studies),
    )
    return record


def data_sets(conn: sqlite3.Connection) -> list[DataSetRecord]:
    """Return every data set, oldest first."""
    return [_data_set(row) for row in conn.execute("SELECT * FROM data_sets ORDER BY position")]


def studies(conn: sqlite3.Connection, data_set_hash: str) -> list[StudyText]:
    """Return the studies of a data set by id."""
    rows = conn.execute(
        "SELECT study_id, patient_id, reference FROM data_set_studies WHERE data_set_hash = ? ORDER BY study_id",
        (data_set_hash,),
    )
    return [StudyText(row["study_id"], row["patient_id"], row["reference"]) for row in rows]


def add_submission(
    conn: sqlite3.Connection,
    data_set_hash: str,
    system: str,
    texts: Mapping[str, str | None],
    *,
    text_hash: str,
    file: str,
    actor: str,
    at: datetime,
) -> bool:
    """Keep what a system wrote and return whether it is new: the same as its last submission is not kept again."""
    last = conn.execute(
        "SELECT hash FROM submissions WHERE data_set_hash = ? AND system = ? ORDER BY id DESC LIMIT 1",
        (data_set_hash, system),
    ).fetchone()
    if last is not None and last["hash"] == text_hash:
        return False
    cursor = conn.execute(
        "INSERT INTO submissions (data_set_hash, system, hash, file, actor, at) VALUES (?, ?, ?, ?, ?, ?)",
        (data_set_hash, system, text_hash, file, actor, instant_text(at)),
    )
    conn.executemany(
        "INSERT INTO submission_texts (submission_id, study_id, text) VALUES (?, ?, ?)",
        ((cursor.lastrowid, study, text) for study, text in texts.items()),
    )
    return True


def submissions(conn: sqlite3.Connection, data_set_hash: str) -> list[SubmissionRecord]:
    """Return the last submission of each system, in the order in which the systems first came."""
    rows = conn.execute(
        "SELECT s.*, (SELECT MIN(id) FROM submissions AS f WHERE f.data_set_hash = s.data_set_hash "
        "AND f.system = s.system) AS first FROM submissions AS s WHERE s.data_set_hash = ? AND s.id = "
        "(SELECT MAX(id) FROM submissions AS l WHERE l.data_set_hash = s.data_set_hash AND l.system = s.system) "
        "ORDER BY first",
        (data_set_hash,),
    )
    return [
        SubmissionRecord(
            row["id"],
            row["data_set_hash"],
            row["system"],
            row["hash"],
            row["file"],
            row["actor"],
            instant(row["at"]),
        )
        for row in rows
    ]


def texts(conn: sqlite3.Connection, submission_id: int) -> dict[str, str | None]:
    """Return what was submitted, by study."""
    rows = conn.execute("SELECT study_id, text FROM submission_texts WHERE submission_id = ?", (submission_id,))
    return {row["study_id"]: row["text"] for row in rows}


def add_scores(
    conn: sqlite3.Connection,
    data_set_hash: str,
    scores: MetricScores,
    *,
    file: str,
    actor: str,
    at: datetime,
    judged: JudgeRecord | None = None,
) -> None:
    """Keep scores of one metric; of those that a judge gave also what they rest on."""
    cursor = conn.execute(
        "INSERT INTO metric_imports (data_set_hash, metric, higher_is_better, file, actor, at, judged) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            data_set_hash,
            scores.metric,
            int(scores.higher_is_better),
            file,
            actor,
            instant_text(at),
            None if judged is None else json.dumps(judged.as_json(), ensure_ascii=False),
        ),
    )
    conn.executemany(
        "INSERT INTO metric_values (import_id, system, study_id, value) VALUES (?, ?, ?, ?)",
        (
            (cursor.lastrowid, system, study, value)
            for system, by_study in scores.values.items()
            for study, value in by_study.items()
        ),
    )


def scores(conn: sqlite3.Connection, data_set_hash: str) -> list[MetricScores]:
    """Return the imported scores of a data set by metric, in the order in which the metrics first came.

    What a later file says of a system and study stands, and so does what an earlier one said of others. A judge was
    given every pair of a system, so nothing earlier stands of a system that was judged: what it could not judge has no
    score.
    """
    sources = {row["id"]: row for row in _imports(conn, data_set_hash)}
    records = {i: JudgeRecord.from_json(json.loads(row["judged"])) for i, row in sources.items() if row["judged"]}
    values = {i: [] for i in sources}  # type: dict[int, list[sqlite3.Row]]
    for row in conn.execute(
        "SELECT v.* FROM metric_imports AS m JOIN metric_values AS v ON v.import_id = m.id WHERE m.data_set_hash = ?",
        (data_set_hash,),
    ):
        values[row["import_id"]].append(row)
    found: dict[str, _Standing] = {}
    for i, source in sources.items():
        standing = found.setdefault(source["metric"], _Standing())
        standing.higher_is_better = bool(source["higher_is_better"])
        if i in records:
            standing.empty(records[i].systems, i)
        standing.take(values[i], i)
    return [
        MetricScores(
            metric,
            standing.higher_is_better,
            {system: {study: value for study, (value, _) in kept.items()} for system, kept in standing.values.items()},
            tuple(
                ScoreSource(row["file"], row["actor"], instant(row["at"]), records.get(i), counts)
                for i, row in sources.items()
                if row["metric"] == metric and (counts := standing.of(i))
            ),
        )
        for metric, standing in found.items()
    ]


class _Standing:
    """The values of a metric while its sources are read one after the other, each with the source it came from."""

    def __init__(self) -> None:
        self.higher_is_better = True
        self.values: dict[str, dict[str, tuple[float, int]]] = {}
        self._judged: dict[str, int] = {}

    def empty(self, systems: Iterable[str], source: int) -> None:
        for system in systems:
            self.values[system] = {}
            self._judged[system] = source

    def take(self, rows: Iterable[sqlite3.Row], source: int) -> None:
        for row in rows:
            self.values.setdefault(row["system"], {})[row["study_id"]] = (row["value"], source)

    def of(self, source: int) -> dict[str, int]:
        """Return how many values of each system came from a source; those that it judged in vain with 0."""
        counts = {system: 0 for system, judge in self._judged.items() if judge == source}
        for system, kept in self.values.items():
            if n := Counter(came for _, came in kept.values())[source]:
                counts[system] = n
        return counts


def _imports(conn: sqlite3.Connection, data_set_hash: str) -> list[sqlite3.Row]:
    return conn.execute(
        "SELECT id, metric, higher_is_better, file, actor, at, judged FROM metric_imports WHERE data_set_hash = ? "
        "ORDER BY id",
        (data_set_hash,),
    ).fetchall()


def _data_set(row: sqlite3.Row) -> DataSetRecord:
    return DataSetRecord(row["hash"], row["name"], row["task"], row["file"], row["actor"], instant(row["at"]))
