"""Label sets that something was labelled by, each kept under its hash."""

import sqlite3

from workbench.domain.findings import Finding, LabelSet, Policies
from workbench.storage.encoding import from_json, json_text


def add(conn: sqlite3.Connection, label_set: LabelSet) -> None:
    """Keep a label set; one that is already there is left as it is.

    The hash does not cover the policies, so those of the first keeping stay; references and evaluations record the
    policies that they used.
    """
    conn.execute(
        "INSERT INTO label_sets (hash, id, version, definition) VALUES (?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING",
        (label_set.hash, label_set.id, label_set.version, json_text(_as_json(label_set))),
    )


def get(conn: sqlite3.Connection, label_set_hash: str) -> LabelSet | None:
    """Return the label set of a hash, or None."""
    row = conn.execute("SELECT id, version, definition FROM label_sets WHERE hash = ?", (label_set_hash,)).fetchone()
    if row is None:
        return None
    value = from_json(row["definition"])
    return LabelSet(
        id=row["id"],
        version=row["version"],
        title=value["title"],
        findings=tuple(Finding(**finding) for finding in value["findings"]),
        vote_policies=Policies.from_json(value["vote_policies"]),
        prediction_policies=Policies.from_json(value["prediction_policies"]),
    )


def _as_json(label_set: LabelSet) -> dict[str, object]:
    return {
        "title": label_set.title,
        "findings": [
            {
                "id": f.id,
                "name": f.name,
                "name_zh": f.name_zh,
                "group": f.group,
                "definition": f.definition,
                "include": f.include,
                "exclude": f.exclude,
                "critical": f.critical,
            }
            for f in label_set.findings
        ],
        "vote_policies": label_set.vote_policies.as_json(),
        "prediction_policies": label_set.prediction_policies.as_json(),
    }
