"""Each distinct evaluation is one look at its cohort."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from workbench.storage import evaluations, runs
from workbench.storage.evaluations import EvaluationRecord


def add(study: Any, digest: str, run_hash: str, now: datetime) -> bool:
    with study.database.write() as conn:
        return evaluations.add(
            conn,
            digest,
            run_hash=run_hash,
            reference_hash=study.reference.hash,
            policies_json="{}",
            result_json="{}",
            actor="Ben",
            at=now,
        )


def test_an_evaluation_comes_back_equal(study: Any, now: datetime) -> None:
    record = EvaluationRecord("e1", study.run.hash, study.reference.hash, "{}", '{"macro_f1":1.0}', "Lena", now)
    with study.database.read() as conn:
        assert evaluations.get(conn, "e1") == record
        assert evaluations.list_all(conn) == [record]
        assert evaluations.get(conn, "e2") is None


def test_the_same_evaluation_again_is_no_second_look(study: Any, now: datetime) -> None:
    assert not add(study, "e1", study.run.hash, now)
    with study.database.read() as conn:
        assert evaluations.looks(conn, study.cohort.hash) == 2  # the evaluation and the try of the study itself
        assert evaluations.get(conn, "e1").actor == "Lena"


def test_looks_count_over_all_runs_of_the_cohort(study: Any, now: datetime) -> None:
    other = replace(study.run, repeats=2)
    with study.database.write() as conn:
        runs.add(conn, other, "Ben", now)
    assert add(study, "e2", other.hash, now)
    assert add(study, "e3", other.hash, now)
    with study.database.read() as conn:
        assert evaluations.looks(conn, study.cohort.hash) == 4
        assert evaluations.looks(conn, "0" * 64) == 0
        assert [record.hash for record in evaluations.list_all(conn, other.hash)] == ["e2", "e3"]


def test_each_unsaved_prompt_is_one_look_however_often_it_is_tried(study: Any, now: datetime) -> None:
    with study.database.write() as conn:
        for prompt in ("p", "q", "p", "q"):
            evaluations.add_look(conn, study.cohort.hash, kind="try", prompt_hash=prompt, actor="Ben", at=now)
        assert evaluations.looks(conn, study.cohort.hash) == 4
        assert [record.hash for record in evaluations.list_all(conn)] == ["e1"]
