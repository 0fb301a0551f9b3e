"""The shape of the database, as numbered steps that are only ever appended to.

A step that has been in a release is never edited: databases that people hold have already taken it.
History tables refuse UPDATE and DELETE by trigger, so that no later code can edit a judgement by accident; members
of a cohort and items of a reference go in before the row that names them and none can be added after it.
"""

import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.errors import InputError

if TYPE_CHECKING:
    from sqlite_utils import Database as UtilsDatabase

SET_NAME = "workbench"


def _fixed(*tables: str) -> tuple[str, ...]:
    """Return triggers under which rows of the tables are never changed and never go."""
    return tuple(
        f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is history: rows are added, never changed or removed'); END"
        for table in tables
        for action in ("UPDATE", "DELETE")
    )


STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "0001_reports",
        (
            """CREATE TABLE imports (
                id INTEGER PRIMARY KEY,
                kind TEXT NOT NULL,
                file TEXT NOT NULL,
                file_hash TEXT NOT NULL,
                actor TEXT NOT NULL,
                at TEXT NOT NULL,
                rows INTEGER NOT NULL
            ) STRICT""",
            """CREATE TABLE reports (
                position INTEGER PRIMARY KEY,
                id TEXT NOT NULL UNIQUE,
                patient_id TEXT NOT NULL,
                text TEXT NOT NULL,
                text_hash TEXT NOT NULL,
                sections TEXT NOT NULL,
                language TEXT NOT NULL,
                source TEXT NOT NULL,
                import_id INTEGER NOT NULL REFERENCES imports (id)
            ) STRICT""",
            "CREATE INDEX reports_by_patient ON reports (patient_id)",
            """CREATE TABLE label_sets (
                hash TEXT PRIMARY KEY,
                id TEXT NOT NULL,
                version TEXT NOT NULL,
                definition TEXT NOT NULL
            ) STRICT, WITHOUT ROWID""",
            *_fixed("imports", "reports", "label_sets"),
        ),
    ),
    (
        "0002_cohorts",
        (
            """CREATE TABLE cohorts (
                position INTEGER PRIMARY KEY,
                name TEXT NOT NULL UNIQUE,
                hash TEXT NOT NULL UNIQUE,
                purpose TEXT NOT NULL,
                seed INTEGER NOT NULL,
                created_at TEXT NOT NULL,
                author TEXT NOT NULL
            ) STRICT""",
            """CREATE TABLE cohort_members (
                cohort TEXT NOT NULL REFERENCES cohorts (name) DEFERRABLE INITIALLY DEFERRED,
                report_id TEXT NOT NULL REFERENCES reports (id),
                text_hash TEXT NOT NULL,
                probability REAL NOT NULL,
                PRIMARY KEY (cohort, report_id)
            ) STRICT, WITHOUT ROWID""",
            "CREATE INDEX cohort_members_by_report ON cohort_members (report_id)",
            """CREATE TRIGGER cohort_members_no_late BEFORE INSERT ON cohort_members
                WHEN EXISTS (SELECT 1 FROM cohorts WHERE name = NEW.cohort)
                BEGIN SELECT RAISE(ABORT, 'a cohort is fixed once made'); END""",
            """CREATE TABLE unlocks (
                id INTEGER PRIMARY KEY,
                cohort TEXT NOT NULL REFERENCES cohorts (name),
                actor TEXT NOT NULL,
                at TEXT NOT NULL,
                reason TEXT NOT NULL,
                details TEXT NOT NULL
            ) STRICT""",
            *_fixed("cohorts", "cohort_members", "unlocks"),
        ),
    ),
    (
        "0003_annotations",
        (
            """CREATE TABLE annotations (
                id INTEGER PRIMARY KEY,
                report_id TEXT NOT NULL REFERENCES reports (id),
                rater TEXT NOT NULL,
                label_set_hash TEXT NOT NULL REFERENCES label_sets (hash),
                submitted INTEGER NOT NULL CHECK (submitted IN (0, 1)),
                at TEXT NOT NULL,
                states TEXT NOT NULL,
                evidence TEXT NOT NULL,
                comment TEXT NOT NULL,
                seconds REAL,
                source TEXT NOT NULL,
                simulated INTEGER NOT NULL CHECK (simulated IN (0, 1))
            ) STRICT""",
            "CREATE INDEX annotations_by_report ON annotations (report_id, label_set_hash, rater, submitted)",
            "CREATE INDEX annotations_by_rater ON annotations (rater)",
            """CREATE TABLE reference_standards (
                position INTEGER PRIMARY KEY,
                hash TEXT NOT NULL UNIQUE,
                name TEXT NOT NULL UNIQUE,
                cohort_hash TEXT NOT NULL REFERENCES cohorts (hash),
                label_set_hash TEXT NOT NULL REFERENCES label_sets (hash),
                k INTEGER NOT NULL,
                n INTEGER NOT NULL,
                tie TEXT NOT NULL,
                raters TEXT NOT NULL,
                vote_policies TEXT NOT NULL,
                created_at TEXT NOT NULL,
                author TEXT NOT NULL,
                simulated INTEGER NOT NULL CHECK (simulated IN (0, 1))
            ) STRICT""",
            """CREATE TABLE reference_items (
                reference_hash TEXT NOT NULL REFERENCES reference_standards (hash) DEFERRABLE INITIALLY DEFERRED,
                report_id TEXT NOT NULL REFERENCES reports (id),
                finding_id TEXT NOT NULL,
                outcome TEXT NOT NULL,
                present INTEGER NOT NULL,
                missing INTEGER NOT NULL,
                tie INTEGER NOT NULL CHECK (tie IN (0, 1)),
                PRIMARY KEY (reference_hash, report_id, finding_id)
            ) STRICT, WITHOUT ROWID""",
            "CREATE INDEX reference_items_by_report ON reference_items (report_id)",
            """CREATE TRIGGER reference_items_no_late BEFORE INSERT ON reference_items
                WHEN EXISTS (SELECT 1 FROM reference_standards WHERE hash = NEW.reference_hash)
                BEGIN SELECT RAISE(ABORT, 'a reference is fixed once frozen'); END""",
            *_fixed("annotations", "reference_standards", "reference_items"),
        ),
    ),
    (
        "0004_prompts_and_runs",
        (
            """CREATE TABLE revisions (
                number INTEGER PRIMARY KEY CHECK (number > 0),
                prompt_hash TEXT NOT NULL UNIQUE,
                parent_hash TEXT REFERENCES revisions (prompt_hash),
                file_text TEXT NOT NULL,
                author TEXT NOT NULL,
                created_at TEXT NOT NULL,
                message TEXT NOT NULL
            ) STRICT""",
            """CREATE TABLE runs (
                position INTEGER PRIMARY KEY,
                hash TEXT NOT NULL UNIQUE,
                prompt_hash TEXT NOT NULL REFERENCES revisions (prompt_hash),
                label_set_hash TEXT NOT NULL REFERENCES label_sets (hash),
                cohort_hash TEXT NOT NULL REFERENCES cohorts (hash),
                labeler_hash TEXT NOT NULL,
                labeler TEXT NOT NULL,
                sections TEXT NOT NULL,
                repeats INTEGER NOT NULL CHECK (repeats > 0),
                actor TEXT NOT NULL,
                at TEXT NOT NULL
            ) STRICT""",
            "CREATE INDEX runs_by_cohort ON runs (cohort_hash)",
            """CREATE TABLE extractions (
                id INTEGER PRIMARY KEY,
                prompt_hash TEXT NOT NULL,
                label_set_hash TEXT NOT NULL,
                labeler_hash TEXT NOT NULL,
                text_hash TEXT NOT NULL,
                repeat INTEGER NOT NULL CHECK (repeat > 0),
                status TEXT NOT NULL,
                mentions TEXT NOT NULL,
                detail TEXT NOT NULL,
                raw TEXT NOT NULL,
                input_tokens INTEGER,
                output_tokens INTEGER,
                latency REAL,
                at TEXT NOT NULL,
                UNIQUE (prompt_hash, labeler_hash, label_set_hash, repeat, text_hash)
            ) STRICT""",
            """CREATE TABLE leases (
                run_hash TEXT PRIMARY KEY REFERENCES runs (hash),
                runner TEXT NOT NULL,
                acquired_at TEXT NOT NULL,
                heartbeat_at TEXT NOT NULL
            ) STRICT, WITHOUT ROWID""",
            """CREATE TABLE evaluations (
                position INTEGER PRIMARY KEY,
                hash TEXT NOT NULL UNIQUE,
                run_hash TEXT NOT NULL REFERENCES runs (hash),
                reference_hash TEXT NOT NULL REFERENCES reference_standards (hash),
                policies TEXT NOT NULL,
                result TEXT NOT NULL,
                actor TEXT NOT NULL,
                at TEXT NOT NULL
            ) STRICT""",
            "CREATE INDEX evaluations_by_run ON evaluations (run_hash)",
            """CREATE TABLE decisions (
                id INTEGER PRIMARY KEY,
                prompt_hash TEXT NOT NULL REFERENCES revisions (prompt_hash),
                status TEXT NOT NULL,
                actor TEXT NOT NULL,
                at TEXT NOT NULL,
                reason TEXT NOT NULL,
                evaluation_hash TEXT REFERENCES evaluations (hash),
                signed TEXT NOT NULL,
                override TEXT NOT NULL
            ) STRICT""",
            """CREATE TABLE looks (
                id INTEGER PRIMARY KEY,
                cohort_hash TEXT NOT NULL REFERENCES cohorts (hash),
                kind TEXT NOT NULL,
                prompt_hash TEXT NOT NULL,
                actor TEXT NOT NULL,
                at TEXT NOT NULL
            ) STRICT""",
            "CREATE INDEX looks_by_cohort ON looks (cohort_hash)",
            "CREATE INDEX decisions_by_prompt ON decisions (prompt_hash)",
            *_fixed("revisions", "runs", "extractions", "evaluations", "decisions", "looks"),
        ),
    ),
    (
        # What was labelled after a freeze is no part of the reference. Older references do not say, so take all.
        "0005_last_annotation_of_a_reference",
        ("ALTER TABLE reference_standards ADD COLUMN last_annotation INTEGER",),
    ),
    (
        "0006_people",
        (
            """CREATE TABLE people_events (
                id INTEGER PRIMARY KEY,
                name TEXT NOT NULL CHECK (name <> ''),
                event TEXT NOT NULL
                    CHECK (event IN ('added', 'roles', 'email', 'code issued', 'password set', 'deactivated')),
                roles TEXT NOT NULL,
                email TEXT NOT NULL,
                actor TEXT NOT NULL,
                at TEXT NOT NULL
            ) STRICT""",
            "CREATE INDEX people_events_by_name ON people_events (name)",
            # What follows is no history: an old hash, an ended session and a forgiven mistake are of no use but to a
            # thief.
            """CREATE TABLE credentials (
                name TEXT PRIMARY KEY,
                password TEXT NOT NULL,
                code TEXT NOT NULL,
                code_expires_at TEXT NOT NULL
            ) STRICT, WITHOUT ROWID""",
            """CREATE TABLE sessions (
                token_hash TEXT PRIMARY KEY,
                name TEXT NOT NULL,
                started_at TEXT NOT NULL,
                expires_at TEXT NOT NULL
            ) STRICT, WITHOUT ROWID""",
            "CREATE INDEX sessions_by_name ON sessions (name)",
            """CREATE TABLE sign_in_failures (
                key TEXT PRIMARY KEY,
                failures INTEGER NOT NULL CHECK (failures > 0),
                last_at TEXT NOT NULL
            ) STRICT, WITHOUT ROWID""",
            *_fixed("people_events"),
        ),
    ),
    (
        "0007_rounds",
        (
            # 2 is a second reading of the same report by the same rater; it never votes.
            "ALTER TABLE annotations ADD COLUMN reading INTEGER NOT NULL DEFAULT 1 CHECK (reading IN (1, 2))",
            "ALTER TABLE annotations ADD COLUMN marks TEXT NOT NULL DEFAULT '[]'",
            "ALTER TABLE annotations ADD COLUMN reason TEXT NOT NULL DEFAULT ''",
            """CREATE TABLE rounds (
                position INTEGER PRIMARY KEY,
                hash TEXT NOT NULL UNIQUE,
                name TEXT NOT NULL UNIQUE,
                cohort_hash TEXT NOT NULL REFERENCES cohorts (hash),
                label_set_hash TEXT NOT NULL REFERENCES label_sets (hash),
                k INTEGER NOT NULL,
                n INTEGER NOT NULL,
                tie TEXT NOT NULL,
                vote_policies TEXT NOT NULL,
                states TEXT NOT NULL,
                raters TEXT NOT NULL,
                seed INTEGER NOT NULL,
                twice INTEGER NOT NULL,
                opened_at TEXT NOT NULL,
                author TEXT NOT NULL
            ) STRICT""",
            """CREATE TABLE round_events (
                id INTEGER PRIMARY KEY,
                round_hash TEXT NOT NULL REFERENCES rounds (hash),
                action TEXT NOT NULL,
                actor TEXT NOT NULL,
                at TEXT NOT NULL,
                reason TEXT NOT NULL
            ) STRICT""",
            """CREATE TABLE adjudications (
                id INTEGER PRIMARY KEY,
                reference_hash TEXT NOT NULL REFERENCES reference_standards (hash),
                report_id TEXT NOT NULL REFERENCES reports (id),
                finding_id TEXT NOT NULL,
                present INTEGER NOT NULL CHECK (present IN (0, 1)),
                actor TEXT NOT NULL,
                at TEXT NOT NULL,
                reason TEXT NOT NULL
            ) STRICT""",
            "CREATE INDEX adjudications_by_reference ON adjudications (reference_hash)",
            """CREATE TABLE reference_views (
                reference_hash TEXT PRIMARY KEY REFERENCES reference_standards (hash),
                actor TEXT NOT NULL,
                at TEXT NOT NULL
            ) STRICT, WITHOUT ROWID""",
            "ALTER TABLE reference_standards ADD COLUMN parent_hash TEXT REFERENCES reference_standards (hash)",
            "ALTER TABLE reference_standards ADD COLUMN adjudicated TEXT NOT NULL DEFAULT '[]'",
            "ALTER TABLE reference_standards ADD COLUMN reason TEXT NOT NULL DEFAULT ''",
            *_fixed("rounds", "round_events", "adjudications", "reference_views"),
        ),
    ),
    (
        "0008_practice",
        (
            # Practice reports are files and never rows of `reports`, so `report_id` points nowhere.
            """CREATE TABLE practice_answers (
                id INTEGER PRIMARY KEY,
                rater TEXT NOT NULL,
                practice_hash TEXT NOT NULL,
                report_id TEXT NOT NULL,
                submitted INTEGER NOT NULL CHECK (submitted IN (0, 1)),
                at TEXT NOT NULL,
                states TEXT NOT NULL,
                evidence TEXT NOT NULL,
                seconds REAL
            ) STRICT""",
            "CREATE INDEX practice_answers_by_rater ON practice_answers (practice_hash, rater, report_id)",
            *_fixed("practice_answers"),
        ),
    ),
    (
        "0009_acts_heard",
        (
            # No history: up to where the numbered acts of a browser's tab are in the tables above.
            """CREATE TABLE acts_heard (
                person TEXT NOT NULL,
                tab TEXT NOT NULL,
                number INTEGER NOT NULL,
                PRIMARY KEY (person, tab)
            ) STRICT, WITHOUT ROWID""",
        ),
    ),
    (
        "0010_benchmarks",
        (
            # What a single radiologist reaches on a reference's own votes; ``inputs_hash`` names all it is made of.
            """CREATE TABLE benchmarks (
                reference_hash TEXT NOT NULL REFERENCES reference_standards (hash),
                inputs_hash TEXT NOT NULL,
                result TEXT NOT NULL,
                PRIMARY KEY (reference_hash, inputs_hash)
            ) STRICT, WITHOUT ROWID""",
            *_fixed("benchmarks"),
        ),
    ),
    (
        "0011_language_models",
        (
            # A call without a reply is no extraction, so that going on with the run asks again.
            """CREATE TABLE failures (
                id INTEGER PRIMARY KEY,
                prompt_hash TEXT NOT NULL,
                label_set_hash TEXT NOT NULL,
                labeler_hash TEXT NOT NULL,
                text_hash TEXT NOT NULL,
                repeat INTEGER NOT NULL CHECK (repeat > 0),
                trouble TEXT NOT NULL,
                detail TEXT NOT NULL,
                calls INTEGER NOT NULL,
                at TEXT NOT NULL
            ) STRICT""",
            "CREATE INDEX failures_by_key ON failures (prompt_hash, labeler_hash, label_set_hash, repeat, text_hash)",
            "ALTER TABLE extractions ADD COLUMN cached_tokens INTEGER",
            "ALTER TABLE extractions ADD COLUMN request_id TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE extractions ADD COLUMN served_model TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE extractions ADD COLUMN finish_reason TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE extractions ADD COLUMN held_by TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE extractions ADD COLUMN flags TEXT NOT NULL DEFAULT '{}'",
            "ALTER TABLE extractions ADD COLUMN unrepaired TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE extractions ADD COLUMN reasoning TEXT NOT NULL DEFAULT ''",
            # What the process that holds the lease tells of itself with each heartbeat; it goes with the lease.
            "ALTER TABLE leases ADD COLUMN pace TEXT NOT NULL DEFAULT ''",
            *_fixed("failures"),
        ),
    ),
    (
        "0012_last_sign_in",
        # When each person last signed in, so that an account nobody uses is seen. It is replaced, and no history.
        ("CREATE TABLE last_sign_ins (name TEXT PRIMARY KEY, at TEXT NOT NULL) STRICT",),
    ),
    (
        "0013_data_use",
        # Which hosts may be sent reports, and on what basis; and what a labeler's server last answered, which is
        # replaced, and no history.
        (
            """CREATE TABLE data_use_events (
                id INTEGER PRIMARY KEY,
                host TEXT NOT NULL,
                event TEXT NOT NULL CHECK (event IN ('opened', 'closed')),
                agreement TEXT NOT NULL DEFAULT '',
                zero_retention INTEGER NOT NULL DEFAULT 0,
                until TEXT NOT NULL DEFAULT '',
                actor TEXT NOT NULL,
                at TEXT NOT NULL
            ) STRICT""",
            *_fixed("data_use_events"),
            """CREATE TABLE hellos (
                labeler_hash TEXT PRIMARY KEY,
                held_by TEXT NOT NULL,
                served_model TEXT NOT NULL,
                latency REAL NOT NULL,
                at TEXT NOT NULL
            ) STRICT""",
        ),
    ),
    (
        "0014_revising",
        # Which suggested edits were accepted or declined, and on what score they rested; and what each person has
        # edited and not saved yet, which is replaced, and no history.
        (
            """CREATE TABLE suggestion_decisions (
                id INTEGER PRIMARY KEY,
                prompt_hash TEXT NOT NULL,
                evaluation_hash TEXT NOT NULL,
                edit TEXT NOT NULL,
                source TEXT NOT NULL,
                held_out TEXT NOT NULL,
                accepted INTEGER NOT NULL CHECK (accepted IN (0, 1)),
                actor TEXT NOT NULL,
                at TEXT NOT NULL
            ) STRICT""",
            *_fixed("suggestion_decisions"),
            """CREATE TABLE prompt_drafts (
                person TEXT NOT NULL,
                prompt_hash TEXT NOT NULL,
                tab TEXT NOT NULL,
                file_text TEXT NOT NULL,
                changed_at TEXT NOT NULL,
                PRIMARY KEY (person, prompt_hash, tab)
            ) STRICT""",
        ),
    ),
    (
        "0015_error_tags",
        # What people say that the kind of an error is. Saying that the reference is doubtful puts the item and as many
        # agreeing controls before an adjudicator, who is not told which is which (method 4).
        (
            """CREATE TABLE error_tags (
                id INTEGER PRIMARY KEY,
                evaluation_hash TEXT NOT NULL REFERENCES evaluations (hash),
                report_id TEXT NOT NULL REFERENCES reports (id),
                finding_id TEXT NOT NULL,
                kind TEXT NOT NULL,
                comment TEXT NOT NULL,
                actor TEXT NOT NULL,
                at TEXT NOT NULL
            ) STRICT""",
            "CREATE INDEX error_tags_by_evaluation ON error_tags (evaluation_hash, report_id, finding_id)",
            """CREATE TABLE doubted_items (
                id INTEGER PRIMARY KEY,
                reference_hash TEXT NOT NULL REFERENCES reference_standards (hash),
                report_id TEXT NOT NULL REFERENCES reports (id),
                finding_id TEXT NOT NULL,
                control INTEGER NOT NULL,
                actor TEXT NOT NULL,
                at TEXT NOT NULL,
                UNIQUE (reference_hash, report_id, finding_id)
            ) STRICT""",
            """CREATE TABLE doubt_verdicts (
                id INTEGER PRIMARY KEY,
                reference_hash TEXT NOT NULL REFERENCES reference_standards (hash),
                report_id TEXT NOT NULL REFERENCES reports (id),
                finding_id TEXT NOT NULL,
                present INTEGER NOT NULL,
                reason TEXT NOT NULL,
                actor TEXT NOT NULL,
                at TEXT NOT NULL
            ) STRICT""",
            *_fixed("error_tags", "doubted_items", "doubt_verdicts"),
        ),
    ),
    (
        "0016_run_stops",
        # Why a run stopped before its end, for whoever opens its page later.
        (
            """CREATE TABLE run_stops (
                id INTEGER PRIMARY KEY,
                run_hash TEXT NOT NULL REFERENCES runs (hash),
                why TEXT NOT NULL,
                at TEXT NOT NULL
            ) STRICT""",
            "CREATE INDEX run_stops_by_run ON run_stops (run_hash)",
            *_fixed("run_stops"),
        ),
    ),
    (
        "0017_signatures",
        (
            """CREATE TABLE signatures (
                id INTEGER PRIMARY KEY,
                prompt_hash TEXT NOT NULL REFERENCES revisions (prompt_hash),
                evaluation_hash TEXT NOT NULL REFERENCES evaluations (hash),
                actor TEXT NOT NULL,
                at TEXT NOT NULL,
                comment TEXT NOT NULL
            ) STRICT""",
            *_fixed("signatures"),
        ),
    ),
    (
        "0018_leaderboard",
        # Report generators: the studies they are scored on, what each wrote, and scores that were computed elsewhere.
        (
            """CREATE TABLE data_sets (
                position INTEGER PRIMARY KEY,
                hash TEXT NOT NULL UNIQUE,
                name TEXT NOT NULL,
                task TEXT NOT NULL,
                file TEXT NOT NULL,
                actor TEXT NOT NULL,
                at TEXT NOT NULL,
                UNIQUE (name, task)
            ) STRICT""",
            """CREATE TABLE data_set_studies (
                data_set_hash TEXT NOT NULL REFERENCES data_sets (hash),
                study_id TEXT NOT NULL,
                patient_id TEXT NOT NULL,
                reference TEXT,
                PRIMARY KEY (data_set_hash, study_id)
            ) STRICT, WITHOUT ROWID""",
            """CREATE TABLE submissions (
                id INTEGER PRIMARY KEY,
                data_set_hash TEXT NOT NULL REFERENCES data_sets (hash),
                system TEXT NOT NULL,
                hash TEXT NOT NULL,
                file TEXT NOT NULL,
                actor TEXT NOT NULL,
                at TEXT NOT NULL
            ) STRICT""",
            "CREATE INDEX submissions_by_data_set ON submissions (data_set_hash, system)",
            """CREATE TABLE submission_texts (
                submission_id INTEGER NOT NULL REFERENCES submissions (id),
                study_id TEXT NOT NULL,
                text TEXT,
                PRIMARY KEY (submission_id, study_id)
            ) STRICT, WITHOUT ROWID""",
            """CREATE TABLE metric_imports (
                id INTEGER PRIMARY KEY,
                data_set_hash TEXT NOT NULL REFERENCES data_sets (hash),
                metric TEXT NOT NULL,
                higher_is_better INTEGER NOT NULL CHECK (higher_is_better IN (0, 1)),
                file TEXT NOT NULL,
                actor TEXT NOT NULL,
                at TEXT NOT NULL
            ) STRICT""",
            """CREATE TABLE metric_values (
                import_id INTEGER NOT NULL REFERENCES metric_imports (id),
                system TEXT NOT NULL,
                study_id TEXT NOT NULL,
                value REAL NOT NULL,
                PRIMARY KEY (import_id, system, study_id)
            ) STRICT, WITHOUT ROWID""",
            *_fixed(
                "data_sets",
                "data_set_studies",
                "submissions",
                "submission_texts",
                "metric_imports",
                "metric_values",
            ),
        ),
    ),
    (
        "0019_batches",
        # What was handed to a provider to be answered within a day, at half the price. A batch is written down before
        # it is sent, so that one that was sent and not told of is found again and not paid for twice.
        (
            """CREATE TABLE batches (
                id INTEGER PRIMARY KEY,
                run_hash TEXT NOT NULL REFERENCES runs (hash),
                token TEXT NOT NULL UNIQUE,
                held_by TEXT NOT NULL,
                input_tokens INTEGER NOT NULL,
                output_tokens INTEGER NOT NULL,
                actor TEXT NOT NULL,
                at TEXT NOT NULL
            ) STRICT""",
            "CREATE INDEX batches_by_run ON batches (run_hash)",
            """CREATE TABLE batch_requests (
                batch_id INTEGER NOT NULL REFERENCES batches (id),
                text_hash TEXT NOT NULL,
                repeat INTEGER NOT NULL CHECK (repeat > 0),
                PRIMARY KEY (batch_id, repeat, text_hash)
            ) STRICT, WITHOUT ROWID""",
            """CREATE TABLE batch_events (
                id INTEGER PRIMARY KEY,
                batch_id INTEGER NOT NULL REFERENCES batches (id),
                event TEXT NOT NULL CHECK (event IN ('submitted', 'told', 'collected', 'dropped')),
                provider_id TEXT NOT NULL,
                state TEXT NOT NULL,
                answered INTEGER NOT NULL,
                failed INTEGER NOT NULL,
                actor TEXT NOT NULL,
                at TEXT NOT NULL
            ) STRICT""",
            "CREATE INDEX batch_events_by_batch ON batch_events (batch_id)",
            # Each of these happens to a batch once.
            """CREATE UNIQUE INDEX batch_events_once ON batch_events (batch_id, event) WHERE event <> 'told'""",
            # '' for an answer to a call; else what the provider calls the batch that the answer came in.
            "ALTER TABLE extractions ADD COLUMN batch TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE extractions ADD COLUMN written_tokens INTEGER",
            *_fixed("batches", "batch_requests", "batch_events"),
        ),
    ),
    (
        "0020_reviews",
        # Radiologists' ratings of generated reports go with the text that was read, not with a system: a reviewer does
        # not know it, and two systems that wrote the same are rated once.
        (
            """CREATE TABLE reviews (
                position INTEGER PRIMARY KEY,
                hash TEXT NOT NULL UNIQUE,
                name TEXT NOT NULL UNIQUE,
                data_set_hash TEXT NOT NULL REFERENCES data_sets (hash),
                submissions TEXT NOT NULL,
                study_ids TEXT NOT NULL,
                reviewers TEXT NOT NULL,
                seed INTEGER NOT NULL,
                opened_at TEXT NOT NULL,
                author TEXT NOT NULL
            ) STRICT""",
            """CREATE TABLE review_events (
                id INTEGER PRIMARY KEY,
                review_hash TEXT NOT NULL REFERENCES reviews (hash),
                action TEXT NOT NULL CHECK (action IN ('opened', 'closed')),
                actor TEXT NOT NULL,
                at TEXT NOT NULL,
                reason TEXT NOT NULL,
                UNIQUE (review_hash, action)
            ) STRICT""",
            """CREATE TABLE review_ratings (
                id INTEGER PRIMARY KEY,
                review_hash TEXT NOT NULL REFERENCES reviews (hash),
                reviewer TEXT NOT NULL,
                study_id TEXT NOT NULL,
                text_hash TEXT NOT NULL,
                rating INTEGER CHECK (rating BETWEEN 1 AND 5),
                marks TEXT NOT NULL,
                comment TEXT NOT NULL,
                seconds REAL,
                at TEXT NOT NULL
            ) STRICT""",
            "CREATE INDEX review_ratings_by_text ON review_ratings (review_hash, reviewer, study_id, text_hash)",
            """CREATE TABLE rating_imports (
                id INTEGER PRIMARY KEY,
                data_set_hash TEXT NOT NULL REFERENCES data_sets (hash),
                file TEXT NOT NULL,
                actor TEXT NOT NULL,
                at TEXT NOT NULL
            ) STRICT""",
            """CREATE TABLE imported_ratings (
                import_id INTEGER NOT NULL REFERENCES rating_imports (id),
                submission_id INTEGER NOT NULL REFERENCES submissions (id),
                study_id TEXT NOT NULL,
                reviewer TEXT NOT NULL,
                rating INTEGER NOT NULL CHECK (rating BETWEEN 1 AND 5),
                marks TEXT NOT NULL,
                comment TEXT NOT NULL,
                PRIMARY KEY (import_id, submission_id, study_id, reviewer)
            ) STRICT, WITHOUT ROWID""",
            *_fixed("reviews", "review_events", "review_ratings", "rating_imports", "imported_ratings"),
        ),
    ),
    (
        "0021_judgements",
        # What a language model said of a generated report beside its reference: paid for, so a pair is judged once.
        (
            """CREATE TABLE judgements (
                id INTEGER PRIMARY KEY,
                judge_hash TEXT NOT NULL,
                labeler_hash TEXT NOT NULL,
                reference_hash TEXT NOT NULL,
                generated_hash TEXT NOT NULL,
                status TEXT NOT NULL,
                said TEXT NOT NULL,
                input_tokens INTEGER,
                output_tokens INTEGER,
                at TEXT NOT NULL,
                UNIQUE (judge_hash, labeler_hash, reference_hash, generated_hash)
            ) STRICT""",
            *_fixed("judgements"),
        ),
    ),
    (
        "0022_proposals",
        # Edits of a prompt that a language model proposed: paid for, and what they were measured by stays what it was.
        (
            """CREATE TABLE proposals (
                id INTEGER PRIMARY KEY,
                key TEXT NOT NULL,
                said TEXT NOT NULL,
                actor TEXT NOT NULL,
                at TEXT NOT NULL
            ) STRICT""",
            "CREATE INDEX proposals_by_key ON proposals (key)",
            *_fixed("proposals"),
        ),
    ),
)


def is_current(conn: sqlite3.Connection) -> bool:
    """Return whether the database has every step, without writing to it.

    Raises:
        InputError: it was made by a later version, or by another program.
    """
    applied = _applied(conn)
    known = [name for name, _ in STEPS]
    if set(applied) - set(known):
        raise InputError(
            f"The database {_file(conn)} was made by a later version of the workbench (step {max(applied)}); "
            "update the workbench to open it."
        )
    if not applied and conn.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        raise InputError(
            f"{_file(conn)} is a database of another program; name the study's own database or a new file."
        )
    return len(applied) == len(known)


def migrate(conn: sqlite3.Connection, stop_before: str | None = None) -> None:
    """Apply the steps that are missing. Call it inside ``BEGIN IMMEDIATE``: two first openings then wait in turn.

    Raises:
        InputError: as ``is_current``.
    """
    if is_current(conn):
        return
    # Imported only where there is something to do: it takes a second, because it looks for pandas.
    from sqlite_utils import Database as UtilsDatabase  # noqa: PLC0415
    from sqlite_utils import Migrations  # noqa: PLC0415

    migrations = Migrations(SET_NAME)
    for name, statements in STEPS:
        migrations(name=name)(_executing(statements))
    migrations.apply(UtilsDatabase(conn, execute_plugins=False), stop_before=stop_before)


def _executing(statements: tuple[str, ...]) -> "Callable[[UtilsDatabase], None]":
    def step(database: "UtilsDatabase") -> None:
        for statement in statements:  # not executescript, which would commit the transaction we are in
            database.conn.execute(statement)

    return step


def _applied(conn: sqlite3.Connection) -> list[str]:
    if not conn.execute("SELECT 1 FROM sqlite_master WHERE name = '_sqlite_migrations'").fetchone():
        return []
    rows = conn.execute("SELECT name FROM _sqlite_migrations WHERE migration_set = ?", (SET_NAME,))
    return [row[0] for row in rows]


def _file(conn: sqlite3.Connection) -> str:
    return str(conn.execute("PRAGMA database_list").fetchone()[2])
