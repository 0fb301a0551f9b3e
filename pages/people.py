"""People: who has an account, one-time codes, roles, and whose time here is over."""

import streamlit as st

from workbench.ui import people_panel, state, widgets
from workbench.workflow import people
from workbench.workflow.settings import SignIn

here = state.here()
widgets.head("People", "Who may sign in, and what they may do. Everybody needs an account of their own.")
accounts = people.accounts(here.study, here.actor)
if here.study.settings.sign_in is SignIn.PICK:
    st.info(
        "In this study nobody signs in: one picks a name at the left. In a study of your own, people sign in with the "
        "accounts that are made here."
    )
people_panel.issued()
roster = here.study.roster
listed = {name: roles for name, roles in roster.people.items() if name not in roster.accounts}
if accounts or listed:
    people_panel.table(accounts, listed)
if not accounts:
    st.caption("Nobody has an account yet. Make the first one below.")
left, right = st.columns(2, gap="large")
with left:
    st.subheader("Add somebody", anchor=False)
    people_panel.add_form(here)
if accounts:
    with right:
        st.subheader("Change an account", anchor=False)
        people_panel.change_form(here, accounts)
