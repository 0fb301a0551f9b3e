"""The chain of revisions only gets longer; status is the latest decision."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from workbench.domain.prompts import Decision, Prompt, Revision, RevisionStatus
from workbench.errors import ConflictError, NotFoundError
from workbench.storage import prompts
from workbench.storage.database import Database


def add(
    database: Database, prompt: Prompt, now: datetime, parent: str | None = None, number: int | None = None
) -> Revision:
    with database.write() as conn:
        return prompts.add_revision(
            conn, prompt, f"file of {prompt.hash}", parent_hash=parent, author="Ada", at=now, message="m", number=number
        )


def test_numbers_count_up_and_records_come_back_equal(
    database: Database, make_prompt: Callable[..., Prompt], now: datetime
) -> None:
    one, two = make_prompt("one"), make_prompt("two")
    first = add(database, one, now)
    second = add(database, two, now, parent=one.hash)
    assert first == Revision(1, one.hash, None, "Ada", now, "m", RevisionStatus.CANDIDATE)
    assert second == Revision(2, two.hash, one.hash, "Ada", now, "m", RevisionStatus.CANDIDATE)
    with database.read() as conn:
        assert prompts.revisions(conn) == [first, second]
        assert prompts.prompt_text(conn, two.hash) == f"file of {two.hash}"


def test_the_same_prompt_again_is_the_revision_it_was(
    database: Database, make_prompt: Callable[..., Prompt], now: datetime
) -> None:
    first = add(database, make_prompt("one"), now)
    assert add(database, make_prompt("one"), now, number=9) == first
    with database.read() as conn:
        assert prompts.revisions(conn) == [first]


def test_a_given_number_is_kept_and_the_next_follows_the_highest(
    database: Database, make_prompt: Callable[..., Prompt], now: datetime
) -> None:
    assert add(database, make_prompt("four"), now, number=4).number == 4
    assert add(database, make_prompt("two"), now, number=2).number == 2
    assert add(database, make_prompt("next"), now).number == 5
    with pytest.raises(ConflictError, match="Revision 4 is another prompt"):
        add(database, make_prompt("also four"), now, number=4)


def test_a_parent_must_be_in_the_chain(database: Database, make_prompt: Callable[..., Prompt], now: datetime) -> None:
    with pytest.raises(NotFoundError, match="parent revision 0000"):
        add(database, make_prompt("one"), now, parent="0" * 64)


def test_the_latest_decision_is_the_status_and_all_stay_on_record(study: Any, now: datetime) -> None:
    rejected = Decision(
        study.prompt.hash, RevisionStatus.REJECTED, "Ben", now, "misses", signed=("edema", "cavity"), override="late"
    )
    with study.database.write() as conn:
        assert prompts.revision(conn, 1).status is RevisionStatus.ACCEPTED
        prompts.decide(conn, rejected)
        assert prompts.revision(conn, 1).status is RevisionStatus.REJECTED
        assert prompts.decisions(conn, study.prompt.hash) == [
            Decision(study.prompt.hash, RevisionStatus.ACCEPTED, "Lena", now, "climbs", "e1"),
            rejected,
        ]


def test_a_revision_is_named_by_number_or_by_the_beginning_of_its_hash(study: Any) -> None:
    digest = study.prompt.hash
    with study.database.read() as conn:
        found = {prompts.revision(conn, which).number for which in (1, "1", digest, digest[:4], digest[:12].upper())}
    assert found == {1}


@pytest.mark.parametrize("which", [2, "2", "0", "abc", "", "zzzz", "²", "-1", "1" * 70])
def test_an_unknown_revision_is_said_to_be_so(study: Any, which: int | str) -> None:
    with study.database.read() as conn, pytest.raises(NotFoundError, match="no revision"):
        prompts.revision(conn, which)


def test_a_hash_that_is_too_short_to_be_sure_is_refused(
    database: Database, make_prompt: Callable[..., Prompt], now: datetime
) -> None:
    by_start: dict[str, str] = {}
    for number in range(10_000):  # until two hashes begin with the same four digits
        prompt = make_prompt(str(number))
        other = by_start.setdefault(prompt.hash[:4], str(number))
        if other != str(number):
            break
    add(database, make_prompt(other), now)
    add(database, prompt, now)
    with database.read() as conn, pytest.raises(ConflictError, match=r"any of the revisions 1, 2"):
        prompts.revision(conn, prompt.hash[:4])


def test_what_is_not_in_the_study_is_not_found(study: Any, now: datetime) -> None:
    with study.database.write() as conn:
        with pytest.raises(NotFoundError, match="no prompt 0000"):
            prompts.prompt_text(conn, "0" * 64)
        with pytest.raises(NotFoundError, match="no revision 0000"):
            prompts.decide(conn, Decision("0" * 64, RevisionStatus.ACCEPTED, "Ben", now, ""))
