"""Commands on people with an account: add, list, role, email, code, deactivate."""

from typing import Annotated

import typer

from workbench.cli.options import AsOption, JsonOption, StudyOption
from workbench.cli.output import Output, table
from workbench.domain.actors import Role
from workbench.domain.people import Person
from workbench.workflow import people
from workbench.workflow.opening import open_study
from workbench.workflow.people import Account, Issued
from workbench.workflow.roster import told

user_app = typer.Typer(help="People who sign in to the pages.", no_args_is_help=True)
NameArgument = Annotated[str, typer.Argument(help="The person's name.", metavar="NAME")]


def _json(person: Person) -> dict[str, object]:
    return {
        "name": person.name,
        "roles": [role.value for role in Role if role in person.roles],
        "email": person.email,
        "active": person.active,
    }


@user_app.command("add")
def add(
    name: NameArgument,
    *,
    role: Annotated[
        list[Role] | None, typer.Option(help="What they may do; repeat it for several. Else as study.toml lists them.")
    ] = None,
    email: Annotated[str, typer.Option(help="The address that OpenID Connect knows them by.")] = "",
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make an account and print its one-time code, once.

    The person signs in with name and code and chooses a password. The lead may do this for raters and adjudicators,
    an admin for all.

    \b
    Examples:
      workbench user add "Dr. Wong" --role rater
      workbench user add "Dr. Chan" --role lead --role admin --email chan@example.org
    """
    opened = open_study(study)
    _answer(Output(as_json), people.add(opened, opened.actor(as_name), name, role or (), email=email))


@user_app.command("code")
def code(
    name: NameArgument, *, study: StudyOption = None, as_name: AsOption = None, as_json: JsonOption = False
) -> None:
    """Print a new one-time code for somebody who lost theirs or forgot the password.

    The old password no longer works, and they are signed out everywhere.

    \b
    Example:
      workbench user code "Dr. Wong"
    """
    opened = open_study(study)
    _answer(Output(as_json), people.issue_code(opened, opened.actor(as_name), name))


def _answer(out: Output, issued: Issued) -> None:
    person, until = issued.person, issued.expires_at
    out.answer(
        {**_json(person), "code": issued.code, "code_expires_at": until.isoformat()},
        f"{person.name} ({told(person.roles)}) signs in with the one-time code {issued.code} and chooses a password.",
        f"The code works once, until {until:%Y-%m-%d %H:%M} UTC, and is not shown again.",
    )


@user_app.command("list")
def list_people(*, study: StudyOption = None, as_name: AsOption = None, as_json: JsonOption = False) -> None:
    """List who has an account, and who acts through the command line only.

    \b
    Example:
      workbench user list
    """
    opened = open_study(study)
    found = people.accounts(opened, opened.actor(as_name))
    roster = opened.roster
    listed = [name for name in roster.listed if name not in roster.accounts]
    rows = [(a.person.name, told(a.person.roles), a.person.email or "-", _state(a), _last(a)) for a in found]
    rows += [(name, told(roster.listed[name]), "-", "no account (data/study.toml)", "-") for name in listed]
    value = {
        "people": [
            {
                **_json(a.person),
                "has_password": a.has_password,
                "code_expires_at": a.code_expires_at.isoformat() if a.code_expires_at else None,
                "last_sign_in": a.last_sign_in.isoformat() if a.last_sign_in else None,
            }
            for a in found
        ],
        "without_account": [
            {"name": name, "roles": [role.value for role in Role if role in roster.listed[name]]} for name in listed
        ],
    }
    shown = table("People", ["name", "roles", "e-mail", "sign-in", "last signed in"], rows) if rows else "Nobody yet."
    Output(as_json).answer(value, shown)


def _last(account: Account) -> str:
    return f"{account.last_sign_in:%Y-%m-%d %H:%M} UTC" if account.last_sign_in else "never"


def _state(account: Account) -> str:
    if not account.person.active:
        return "deactivated"
    if account.has_password:
        return "has a password"
    if account.code_expires_at:
        return f"has a code until {account.code_expires_at:%Y-%m-%d %H:%M} UTC"
    return "needs a new code"


@user_app.command("role")
def role_command(
    name: NameArgument,
    roles: Annotated[list[Role], typer.Argument(help="All that they may do from now on.", metavar="ROLE...")],
    *,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change what somebody may do, from their next click on.

    \b
    Examples:
      workbench user role "Dr. Wong" rater adjudicator
      workbench user role "Dr. Wong" rater
    """
    opened = open_study(study)
    person = people.set_roles(opened, opened.actor(as_name), name, roles)
    Output(as_json).answer(_json(person), f"{person.name} may now act as {told(person.roles)}.")


@user_app.command("email")
def email_command(
    name: NameArgument,
    email: Annotated[str, typer.Argument(help="The address; an empty one takes it away.")],
    *,
    study: StudyOption = None,
    as_name: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change the address that OpenID Connect knows somebody by.

    \b
    Example:
      workbench user email "Dr. Wong" wong@example.org
    """
    opened = open_study(study)
    person = people.set_email(opened, opened.actor(as_name), name, email)
    said = f"has the address {person.email}" if person.email else "has no address any more"
    Output(as_json).answer(_json(person), f"{person.name} {said}.")


@user_app.command("deactivate")
def deactivate(
    name: NameArgument, *, study: StudyOption = None, as_name: AsOption = None, as_json: JsonOption = False
) -> None:
    """Take somebody's account away and sign them out; their judgements stay. ``user add`` takes them back.

    \b
    Example:
      workbench user deactivate "Dr. Wong"
    """
    opened = open_study(study)
    person = people.deactivate(opened, opened.actor(as_name), name)
    Output(as_json).answer(_json(person), f"{person.name} can no longer sign in or act; what they did stays.")
