"""Accounts: who may make them, change them and take them away, and what is on record afterwards."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from workbench.domain.actors import Actor, Role
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError, WorkbenchError
from workbench.storage import people as store
from workbench.storage.people import Event
from workbench.workflow import people
from workbench.workflow.opening import open_study
from workbench.workflow.study import Study

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
LEAD_ONLY = Actor("Only lead", frozenset({Role.LEAD}))
ADJUDICATOR = Actor("Adjudicator", frozenset({Role.ADJUDICATOR}))

Act = Callable[[Study, Actor, str], object]
CHANGES: dict[str, Act] = {
    "role": lambda study, actor, name: people.set_roles(study, actor, name, [Role.RATER]),
    "email": lambda study, actor, name: people.set_email(study, actor, name, "x@x.org"),
    "code": people.issue_code,
    "deactivate": people.deactivate,
}


def recorded(study: Study, name: str) -> list[tuple[Event, str]]:
    with study.database.read() as conn:
        return [(event.event, event.actor) for event in store.events(conn, name)]


def test_an_account_is_made_with_a_code_that_is_kept_as_a_hash_only(study: Study, lead: Actor) -> None:
    issued = people.add(study, lead, "Dr. Wong", [Role.RATER], now=NOW)
    assert re.fullmatch(r"[A-Z2-9]{4}-[A-Z2-9]{4}-[A-Z2-9]{4}", issued.code)
    assert issued.expires_at == NOW + people.CODE_LASTS
    assert issued.code not in repr(issued)
    with study.database.read() as conn:
        dump = "\n".join(conn.iterdump())
    assert issued.code not in dump
    assert issued.code.replace("-", "") not in dump
    assert "$argon2id$" in dump
    assert recorded(study, "Dr. Wong") == [(Event.ADDED, lead.name), (Event.CODE, lead.name)]
    assert study.actor("Dr. Wong") == Actor("Dr. Wong", frozenset({Role.RATER}))


def test_codes_differ(study: Study, lead: Actor) -> None:
    assert people.add(study, lead, "A", [Role.RATER]).code != people.add(study, lead, "B", [Role.RATER]).code


@pytest.mark.parametrize("actor", [ADJUDICATOR, Actor("Rita", frozenset({Role.RATER}))])
@pytest.mark.parametrize("change", CHANGES)
def test_who_is_neither_lead_nor_admin_changes_nothing(study: Study, lead: Actor, actor: Actor, change: str) -> None:
    people.add(study, lead, "Dr. Wong", [Role.RATER])
    before = recorded(study, "Dr. Wong")
    with pytest.raises(RightsError):
        CHANGES[change](study, actor, "Dr. Wong")
    with pytest.raises(RightsError):
        people.add(study, actor, "Friend", [Role.RATER])
    with pytest.raises(RightsError):
        people.accounts(study, actor)
    assert recorded(study, "Dr. Wong") == before
    assert recorded(study, "Friend") == []


def test_who_may_not_manage_is_not_told_who_has_an_account(study: Study, lead: Actor, rater: Actor) -> None:
    people.add(study, lead, "Dr. Wong", [Role.RATER])
    told = []
    for name in ("Dr. Wong", "Dr. Nobody"):
        with pytest.raises(WorkbenchError) as refusal:
            people.issue_code(study, rater, name)
        told.append(str(refusal.value).replace(name, "NAME"))
    assert told[0] == told[1]


@pytest.mark.parametrize("change", CHANGES)
def test_a_lead_manages_raters_and_adjudicators_and_nobody_else(study: Study, lead: Actor, change: str) -> None:
    people.add(study, LEAD_ONLY, "Dr. Wong", [Role.RATER, Role.ADJUDICATOR])
    people.add(study, lead, "Dr. High", [Role.RATER, Role.LEAD])
    CHANGES[change](study, LEAD_ONLY, "Dr. Wong")
    with pytest.raises(RightsError, match="needs the role admin"):
        CHANGES[change](study, LEAD_ONLY, "Dr. High")


def test_a_lead_cannot_climb_by_giving_roles(study: Study, lead: Actor) -> None:
    people.add(study, LEAD_ONLY, "Dr. Wong", [Role.RATER])
    with pytest.raises(RightsError):
        people.set_roles(study, LEAD_ONLY, "Dr. Wong", [Role.RATER, Role.ADMIN])
    with pytest.raises(RightsError):
        people.add(study, LEAD_ONLY, "Second self", [Role.ADMIN])
    people.add(study, lead, "Boss", [Role.ADMIN])
    people.deactivate(study, lead, "Boss")
    with pytest.raises(RightsError, match="take back Boss"):
        people.add(study, LEAD_ONLY, "Boss", [Role.RATER])


def test_roles_count_from_the_next_call_on(study: Study, lead: Actor) -> None:
    people.add(study, lead, "Dr. Wong", [Role.RATER])
    people.set_roles(study, lead, "Dr. Wong", [Role.ADJUDICATOR])
    assert study.actor("Dr. Wong").roles == {Role.ADJUDICATOR}


def test_who_is_deactivated_may_not_act_and_can_be_taken_back(study: Study, lead: Actor) -> None:
    people.add(study, lead, "Dr. Wong", [Role.RATER])
    people.deactivate(study, lead, "Dr. Wong")
    with pytest.raises(RightsError, match="Dr. Wong was deactivated"):
        study.actor("Dr. Wong")
    assert "Dr. Wong" not in study.roster.people
    with pytest.raises(NotFoundError, match="was deactivated"):
        people.issue_code(study, lead, "Dr. Wong")
    people.add(study, lead, "Dr. Wong", [Role.RATER])
    assert study.actor("Dr. Wong").roles == {Role.RATER}


def test_a_listed_person_gets_an_account_with_the_roles_they_are_listed_with(study: Study, lead: Actor) -> None:
    assert people.add(study, lead, lead.name).person.roles == lead.roles
    with pytest.raises(ConflictError, match=r"lists Dr. Rater as rater, the account as adjudicator"):
        people.add(study, lead, "Dr. Rater", [Role.ADJUDICATOR])
    people.add(study, lead, "Dr. Rater")
    with pytest.raises(ConflictError, match="take the line out"):
        people.set_roles(study, lead, "Dr. Rater", [Role.ADJUDICATOR])


def test_while_settings_contradict_an_account_nobody_acts_under_the_name(study: Study, lead: Actor) -> None:
    people.add(study, lead, "Dr. Wong", [Role.RATER])
    path = study.folder / "data" / "study.toml"
    path.write_text(path.read_text().replace("[people]\n", '[people]\n"Dr. Wong" = ["admin"]\n'))
    changed = open_study(study.folder)
    with pytest.raises(RightsError, match="lists Dr. Wong as admin, the account as rater"):
        changed.actor("Dr. Wong")
    assert "Dr. Wong" not in changed.roster.people


def test_a_deactivated_account_beats_the_line_in_the_settings(study: Study, lead: Actor) -> None:
    people.add(study, lead, "Dr. Rater")
    people.deactivate(study, lead, "Dr. Rater")
    with pytest.raises(RightsError, match="was deactivated"):
        study.actor("Dr. Rater")


@pytest.mark.parametrize("other", ["dr. wong", "Dr.  Wong", "DR. WONG", "Dr. Wong"])
def test_two_people_cannot_have_one_name(study: Study, lead: Actor, other: str) -> None:
    people.add(study, lead, "Dr. Wong", [Role.RATER])
    with pytest.raises(ConflictError, match="Dr. Wong has an account already"):
        people.add(study, lead, other, [Role.RATER])


def test_a_listed_name_is_written_in_one_way(study: Study, lead: Actor) -> None:
    with pytest.raises(ConflictError, match="lists Dr. Rater; write the name in the same way"):
        people.add(study, lead, "dr. rater", [Role.RATER])


@pytest.mark.parametrize("name", ["", "  ", "a\x07b", "x" * 101])
def test_what_cannot_be_a_name_is_refused(study: Study, lead: Actor, name: str) -> None:
    with pytest.raises(InputError, match="cannot be a name"):
        people.add(study, lead, name, [Role.RATER])


def test_an_account_needs_a_role(study: Study, lead: Actor) -> None:
    with pytest.raises(InputError, match="--role: rater, adjudicator, lead, admin"):
        people.add(study, lead, "Dr. Wong")
    people.add(study, lead, "Dr. Wong", [Role.RATER])
    with pytest.raises(InputError, match="at least one role"):
        people.set_roles(study, lead, "Dr. Wong", [])


def test_an_address_belongs_to_one_person(study: Study, lead: Actor) -> None:
    people.add(study, lead, "Dr. Wong", [Role.RATER], email="wong@x.org")
    with pytest.raises(ConflictError, match="Dr. Wong has the address"):
        people.add(study, lead, "Dr. Other", [Role.RATER], email="WONG@x.org")
    people.add(study, lead, "Dr. Other", [Role.RATER])
    with pytest.raises(ConflictError, match="Dr. Wong has the address"):
        people.set_email(study, lead, "Dr. Other", "wong@x.org")
    people.set_email(study, lead, "Dr. Wong", "")
    assert people.set_email(study, lead, "Dr. Other", " wong@x.org ").email == "wong@x.org"
    with pytest.raises(InputError, match="no e-mail address"):
        people.set_email(study, lead, "Dr. Other", "wong")


def test_the_last_admin_stays(study: Study, lead: Actor) -> None:
    people.add(study, lead, lead.name)
    with pytest.raises(ConflictError, match="is the only admin"):
        people.deactivate(study, lead, lead.name)
    people.add(study, lead, "Second", [Role.ADMIN])
    people.deactivate(study, lead, lead.name)
    with pytest.raises(ConflictError, match="is the only admin"):
        people.set_roles(study, study.actor("Second"), "Second", [Role.LEAD])


def test_accounts_say_who_can_sign_in(study: Study, lead: Actor) -> None:
    people.add(study, lead, "Dr. Wong", [Role.RATER], now=NOW)
    (fresh,) = people.accounts(study, lead, now=NOW)
    assert (fresh.person.name, fresh.has_password, fresh.code_expires_at) == (
        "Dr. Wong",
        False,
        NOW + people.CODE_LASTS,
    )
    (late,) = people.accounts(study, lead, now=NOW + people.CODE_LASTS)
    assert late.code_expires_at is None
