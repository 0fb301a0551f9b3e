"""Steps 0006 to 0009: the people of a study, rounds of rating, practice, and the acts heard from a browser's tab."""

from workbench.storage.steps.history import Step, fixed

STEPS: tuple[Step, ...] = (
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
            *fixed("people_events"),
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
            *fixed("rounds", "round_events", "adjudications", "reference_views"),
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
            *fixed("practice_answers"),
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
)
