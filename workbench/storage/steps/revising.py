"""Steps 0010 to 0017: what language models answered and may be sent, drafts of prompts, errors, and who signed."""

from workbench.storage.steps.history import Step, fixed

STEPS: tuple[Step, ...] = (
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
            *fixed("benchmarks"),
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
            *fixed("failures"),
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
            *fixed("data_use_events"),
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
            *fixed("suggestion_decisions"),
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
            *fixed("error_tags", "doubted_items", "doubt_verdicts"),
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
            *fixed("run_stops"),
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
            *fixed("signatures"),
        ),
    ),
)
