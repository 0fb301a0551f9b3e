"""One rule of who is who: the account where there is one, else the line in the settings."""

from workbench.domain.actors import Role
from workbench.domain.people import Person
from workbench.workflow.roster import Roster

RATER, LEAD = frozenset({Role.RATER}), frozenset({Role.LEAD})
ROSTER = Roster(
    {
        "Both": Person("Both", RATER),
        "Account": Person("Account", LEAD),
        "Gone": Person("Gone", LEAD, active=False),
        "Differs": Person("Differs", LEAD),
    },
    {"Listed": RATER, "Both": RATER, "Gone": LEAD, "Differs": RATER},
)


def test_who_may_act_is_who_is_listed_or_has_an_account_and_is_not_contradicted() -> None:
    assert ROSTER.people == {"Listed": RATER, "Both": RATER, "Account": LEAD}


def test_everybody_else_is_told_why_not() -> None:
    assert "was deactivated" in ROSTER.fault("Gone")
    assert "lists Differs as rater, the account as lead" in ROSTER.fault("Differs")
    assert ROSTER.fault("Nobody").startswith("Nobody is not one of the study's people (Listed, Both, Account)")
    assert ROSTER.fault("Both") == ""
