"""Steps from 0024 on: what asking language models took."""

from workbench.storage.steps.history import Step

STEPS: tuple[Step, ...] = (
    (
        "0024_what_failed_calls_took",
        # ``took``: the counts of domain.runs.Usage in their order, as JSON; "" where nothing is known to be taken.
        (
            "ALTER TABLE failures ADD COLUMN took TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE extractions ADD COLUMN lost INTEGER NOT NULL DEFAULT 0",
        ),
    ),
)
