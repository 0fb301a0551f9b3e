"""Steps from 0018 on: scores and reviews of generated reports, batches, and what models judged and proposed."""

from workbench.storage.steps.history import Step, fixed

STEPS: tuple[Step, ...] = (
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
            *fixed(
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
            *fixed("batches", "batch_requests", "batch_events"),
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
            *fixed("reviews", "review_events", "review_ratings", "rating_imports", "imported_ratings"),
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
            *fixed("judgements"),
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
            *fixed("proposals"),
        ),
    ),
    (
        "0023_judged_scores",
        # What a language model of the study scored: by which prompt and labeler, what it could not judge, and its cost.
        ("ALTER TABLE metric_imports ADD COLUMN judged TEXT",),
    ),
)
