"""What a single radiologist reaches against the vote of the others: computed when a reference is frozen, and kept.

So that any page can draw it beside a model without scoring the raters again. It is deterministic: the same votes,
policies, patients, resamples and seed give the same benchmark, and a hash of all of them is kept with it.
"""

import hashlib

from workbench.domain.hashing import content_hash
from workbench.domain.references import Reference
from workbench.evaluation.benchmark import Benchmark, single_rater_benchmark
from workbench.evaluation.consensus import per_finding
from workbench.evaluation.intervals import RESAMPLES, SEED
from workbench.storage import benchmarks as store
from workbench.storage import reports as report_store
from workbench.workflow.study import Study
from workbench.workflow.votes import Votes

FEWEST = 3  # raters, for one against a vote of the others
_VERSION = 1  # raised when the same inputs would give other figures


def keep(study: Study, reference: Reference, votes: Votes) -> Benchmark | None:
    """Return the benchmark of a reference's votes, computing and keeping it where it is not kept yet.

    None with fewer than three raters. Rights are the caller's to check: these are figures about raters.

    Args:
        study: the study.
        reference: a frozen reference.
        votes: the votes it was made of.
    """
    if len(votes.raters) < FEWEST:
        return None
    with study.database.read() as conn:
        patient_of = report_store.patients(conn)
    patients = [patient_of[report] for report in votes.report_ids]
    inputs = _inputs_hash(reference, votes, patients)
    with study.database.read() as conn:
        kept = store.get(conn, reference.hash, inputs)
    if kept is not None:
        return Benchmark.from_json(kept.result)
    policies = per_finding(reference.vote_policies, study.label_set.ids)
    made = single_rater_benchmark(study.label_set.ids, votes.raters, votes.codes, policies, patients)
    with study.database.write() as conn:
        store.add(conn, reference.hash, inputs, made.as_json())
    return made


def _inputs_hash(reference: Reference, votes: Votes, patients: list[str]) -> str:
    return content_hash(
        "benchmark",
        {
            "version": _VERSION,
            "label_set": reference.label_set_hash,
            "policies": reference.vote_policies.as_json(),
            "reports": list(votes.report_ids),
            "patients": patients,
            "raters": list(votes.raters),
            "votes": hashlib.sha256(votes.codes.tobytes()).hexdigest(),
            "resamples": RESAMPLES,
            "seed": SEED,
        },
    )
