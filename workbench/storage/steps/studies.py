"""Steps 0001 to 0005: reports, cohorts, annotations and references, prompts and runs."""

from workbench.storage.steps.history import Step, fixed

STEPS: tuple[Step, ...] = (
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
            *fixed("imports", "reports", "label_sets"),
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
            *fixed("cohorts", "cohort_members", "unlocks"),
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
            *fixed("annotations", "reference_standards", "reference_items"),
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
            *fixed("revisions", "runs", "extractions", "evaluations", "decisions", "looks"),
        ),
    ),
    (
        # What was labelled after a freeze is no part of the reference. Older references do not say, so take all.
        "0005_last_annotation_of_a_reference",
        ("ALTER TABLE reference_standards ADD COLUMN last_annotation INTEGER",),
    ),
)
