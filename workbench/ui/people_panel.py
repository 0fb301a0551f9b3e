"""Accounts on the screen: who has one, making one, and changing one. What may be done is the workflow's to say."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from workbench.domain.actors import Role
from workbench.ui import sign_in, state, widgets
from workbench.workflow import people
from workbench.workflow.people import Account, Issued
from workbench.workflow.roster import told

ISSUED, MADE = "people.issued", "people.made"
MEANS = {
    Role.RATER: "rater: labels reports",
    Role.ADJUDICATOR: "adjudicator: decides ties blind",
    Role.LEAD: "lead: runs the study",
    Role.ADMIN: "admin: also makes leads and admins",
}


def table(accounts: Sequence[Account], listed: dict[str, frozenset[Role]]) -> None:
    """Draw who has an account, and who acts on the computer of the study only."""
    rows = [
        {
            "Name": a.person.name,
            "May": told(a.person.roles),
            "Sign-in": standing(a),
            "Last signed in": a.last_sign_in,
            "E-mail": a.person.email or None,
        }
        for a in accounts
    ]
    rows += [
        {"Name": name, "May": told(roles), "Sign-in": "no account: command line only", "Last signed in": None}
        for name, roles in listed.items()
    ]
    shown = pd.DataFrame(rows, columns=["Name", "May", "Sign-in", "Last signed in", "E-mail"])
    if not any(a.person.email for a in accounts):
        shown = shown.drop(columns="E-mail")
    shown["Last signed in"] = pd.to_datetime(shown["Last signed in"], utc=True)
    st.dataframe(
        shown,
        hide_index=True,
        placeholder="never",
        alt="People with their roles and when they last signed in",
        column_config={
            "Name": st.column_config.TextColumn(width="large"),
            "Last signed in": st.column_config.DatetimeColumn("Last signed in (UTC)", format="YYYY-MM-DD HH:mm"),
        },
    )


def standing(account: Account) -> str:
    """Return in words whether somebody can sign in."""
    if not account.person.active:
        return "deactivated"
    if sign_in.providers():
        return "with the organisation" if account.person.email else "needs an e-mail address"
    if account.has_password:
        return "has a password"
    if account.code_expires_at:
        return f"has a code until {account.code_expires_at:%Y-%m-%d %H:%M} UTC"
    return "needs a new code"


def issued() -> None:
    """Draw the code that was just made, until it is put away; it is kept nowhere else."""
    known: Issued | None = st.session_state.get(ISSUED)
    if known is None:
        return
    with st.container(border=True):
        st.markdown(
            f"One-time code for **{widgets.plain(known.person.name)}**. Hand it over in person or by phone; with it "
            f"they choose a password. It works once, until {known.expires_at:%Y-%m-%d %H:%M} UTC, and is **not shown "
            "again**."
        )
        st.code(known.code, language=None)
        if st.button("I have passed it on", key="people.passed-on"):
            st.session_state.pop(ISSUED, None)
            st.rerun()


def add_form(here: state.Here) -> None:
    """Draw the form that makes an account."""
    by_address = bool(sign_in.providers())
    with st.form("people.add", border=False):
        name = st.text_input(
            "Name",
            max_chars=people.LONGEST_NAME,
            help="As it will stand beside every judgement.",
            key=f"people.add.name.{st.session_state.get(MADE, 0)}",
        )
        roles = _roles("What they may do", here, "people.add.roles", [Role.RATER])
        email = st.text_input("E-mail address that the organisation knows them by") if by_address else ""
        place = st.container()
        pressed = st.form_submit_button("Make the account", type="primary")
    if pressed:
        with place, widgets.explained():
            made = people.add(here.study, here.actor, name, roles, email=email)
            st.session_state[MADE] = st.session_state.get(MADE, 0) + 1  # the next name begins with an empty field
            _made(made, by_address=by_address, said=f"{made.person.name} has an account.")


def change_form(here: state.Here, accounts: Sequence[Account]) -> None:
    """Draw what can be done to an account that this person may manage."""
    mine = {a.person.name: a for a in accounts if a.person.roles <= set(people.may_give(here.actor))}
    if not mine:
        st.caption("There is nobody here whose account you may change.")
        return
    # Oneself last: nobody should change their own account because it stood there first.
    names = sorted(mine, key=lambda each: each == here.person.name)
    name = st.selectbox("Whose account", names, key="people.who")
    account = mine[name]
    if not account.person.active:
        _take_back(here, account)
        return
    with st.form(f"people.roles.{name}", border=False):
        roles = _roles("May", here, f"people.roles.of.{name}", [r for r in Role if r in account.person.roles])
        place = st.container()
        pressed = st.form_submit_button("Change the roles")
    if pressed:
        with place, widgets.explained():
            person = people.set_roles(here.study, here.actor, name, roles)
            state.say(f"{person.name} may now act as {told(person.roles)}.")
            st.rerun()
    by_address = bool(sign_in.providers())
    if by_address:
        _email_form(here, account)
    refusal = st.container()
    with st.container(horizontal=True):
        if not by_address:
            _code(here, name, refusal)
        _deactivate(here, name)


def _roles(label: str, here: state.Here, key: str, default: list[Role]) -> list[Role]:
    chosen: list[Role] = st.multiselect(
        label, people.may_give(here.actor), default=default, format_func=MEANS.__getitem__, key=key
    )
    return chosen


def _made(made: Issued, *, by_address: bool, said: str) -> None:
    if not by_address:
        st.session_state[ISSUED] = made
    state.say(said)
    st.rerun()


def _code(here: state.Here, name: str, place: DeltaGenerator) -> None:
    if st.button("Issue a new code", key="people.code", help="The old password stops working; signed out everywhere."):
        with place, widgets.explained():
            made = people.issue_code(here.study, here.actor, name)
            _made(made, by_address=False, said=f"{name} has a new code; the old password no longer works.")


def _email_form(here: state.Here, account: Account) -> None:
    name = account.person.name
    with st.form(f"people.email.{name}", border=False):
        email = st.text_input("E-mail address", value=account.person.email, key=f"people.email.of.{name}")
        place = st.container()
        pressed = st.form_submit_button("Change the address")
    if pressed:
        with place, widgets.explained():
            people.set_email(here.study, here.actor, name, email)
            state.say(f"The address of {name} is changed.")
            st.rerun()


def _deactivate(here: state.Here, name: str) -> None:
    with st.popover("Deactivate", icon=":material/person_off:"):
        st.markdown(f"{widgets.plain(name)} is signed out everywhere and cannot come back in. What they did stays.")
        place = st.container()
        if st.button("Deactivate this account", type="primary", key=f"people.deactivate.{name}"):
            with place, widgets.explained():
                people.deactivate(here.study, here.actor, name)
                state.say(f"{name} can no longer sign in or act; what they did stays.")
                st.rerun()


def _take_back(here: state.Here, account: Account) -> None:
    name = account.person.name
    st.caption("This account was deactivated.")
    place = st.container()
    if st.button("Take them back", key=f"people.back.{name}"):
        with place, widgets.explained():
            made = people.add(here.study, here.actor, name, account.person.roles, email=account.person.email)
            _made(made, by_address=bool(sign_in.providers()), said=f"{name} is back, with the roles of before.")
