"""The page People: accounts made, changed and taken away on the screen, by whom the workflow lets."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from workbench.domain.actors import Actor, Role
from workbench.ui.people_panel import MEANS
from workbench.workflow import people
from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.study import Study

Open = Callable[..., AppTest]
ADMIN = Actor("Setup", frozenset({Role.ADMIN}))


def words(app: AppTest) -> str:
    texts = [*app.main.markdown, *app.info, *app.caption, *app.error, *app.success]
    return "\n".join(str(element.value) for element in texts).replace("\\", "")


def press(app: AppTest, label: str) -> None:
    next(button for button in app.main.button if button.label == label).click().run()
    assert not app.exception


def make(app: AppTest, name: str) -> None:
    next(field for field in app.main.text_input if field.label == "Name").set_value(name)
    press(app, "Make the account")


def test_an_account_is_made_and_its_code_shown_until_it_is_passed_on(open_page: Open, empty: Study) -> None:
    people.add(empty, ADMIN, "Ada", [Role.ADMIN])
    app = open_page(empty.folder, "people", "Ada")
    make(app, "王医生")
    assert empty.actor("王医生").roles == {Role.RATER}
    code = app.main.code[0].value
    assert len(code.replace("-", "")) == 12
    assert "王医生 has an account." in words(app)
    press(app, "I have passed it on")
    assert not app.main.code
    assert code not in words(app)
    table = app.main.dataframe[0].value
    assert table["Sign-in"].tolist()[0].startswith("has a code until")
    assert table["Name"].tolist() == ["Ada", "王医生", "Lea", "Rita"]


def test_a_code_is_not_shown_in_another_tab(open_page: Open, empty: Study) -> None:
    people.add(empty, ADMIN, "Ada", [Role.ADMIN])
    app = open_page(empty.folder, "people", "Ada")
    make(app, "Dr. New")
    assert app.main.code
    assert not open_page(empty.folder, "people", "Ada").main.code


def test_roles_codes_and_deactivation_go_through_the_page(open_page: Open, empty: Study) -> None:
    people.add(empty, ADMIN, "Ada", [Role.ADMIN])
    people.add(empty, ADMIN, "Dr. Wong", [Role.RATER])
    app = open_page(empty.folder, "people", "Ada")
    app.selectbox(key="people.who").select("Dr. Wong").run()
    app.multiselect(key="people.roles.of.Dr. Wong").set_value([Role.RATER, Role.ADJUDICATOR])
    press(app, "Change the roles")
    assert empty.actor("Dr. Wong").roles == {Role.RATER, Role.ADJUDICATOR}
    app.button(key="people.code").click().run()
    assert app.main.code
    app.button(key="people.deactivate.Dr. Wong").click().run()
    assert not empty.roster.accounts["Dr. Wong"].active
    app.selectbox(key="people.who").select("Dr. Wong").run()
    app.button(key="people.back.Dr. Wong").click().run()
    assert empty.actor("Dr. Wong").roles == {Role.RATER, Role.ADJUDICATOR}


def test_a_lead_may_add_raters_and_adjudicators_and_no_admin(open_page: Open, empty: Study) -> None:
    people.add(empty, ADMIN, "Ada", [Role.ADMIN])
    app = open_page(empty.folder, "people", "Lea")
    offered = next(box for box in app.main.multiselect if box.label == "What they may do").options
    assert offered == [MEANS[Role.RATER], MEANS[Role.ADJUDICATOR]]
    assert "nobody here whose account you may change" in words(app)
    make(app, "Dr. New")
    assert empty.actor("Dr. New").roles == {Role.RATER}
    assert app.selectbox(key="people.who").options == ["Dr. New"]
    name = next(field for field in app.main.text_input if field.label == "Name")
    assert name.value == ""  # ready for the next one


def test_the_last_admin_stays_and_the_page_says_why(open_page: Open, empty: Study) -> None:
    people.add(empty, ADMIN, "Ada", [Role.ADMIN])
    app = open_page(empty.folder, "people", "Ada")
    app.button(key="people.deactivate.Ada").click().run()
    assert "Ada is the only admin" in words(app)
    assert not app.exception
    assert empty.roster.accounts["Ada"].active


@pytest.mark.parametrize("name", ["", "   ", "Lea\u2066", "LEA"])
def test_a_name_that_cannot_be_one_is_refused_in_a_sentence(open_page: Open, empty: Study, name: str) -> None:
    people.add(empty, ADMIN, "Ada", [Role.ADMIN])
    app = open_page(empty.folder, "people", "Ada")
    make(app, name)
    assert app.error
    assert list(empty.roster.accounts) == ["Ada"]


@pytest.mark.parametrize("name", ["=cmd()|' /C calc'!A0", "<b>Dr. Bold</b>", "**x** $y$ [z](u)", "W" * 100, "أحمد"])
def test_names_are_shown_as_they_are(open_page: Open, empty: Study, name: str) -> None:
    people.add(empty, ADMIN, "Ada", [Role.ADMIN])
    app = open_page(empty.folder, "people", "Ada")
    make(app, name)
    assert name in app.main.dataframe[0].value["Name"].tolist()
    assert f"{name} has an account." in words(app)


@pytest.mark.parametrize("person", [RATER, "Jude"])
def test_others_are_refused_and_shown_nobody(open_page: Open, study: Study, person: str) -> None:
    people.add(study, study.actor(LEAD), "Jude", [Role.ADJUDICATOR])
    people.add(study, study.actor(LEAD), "Dr. Hidden", [Role.RATER])
    app = open_page(study.folder, "people", person)
    assert not app.exception
    assert "may not see who has an account" in words(app)
    assert not app.main.dataframe
    assert not app.main.text_input
    assert "Dr. Hidden" not in words(app)


def test_a_study_in_which_one_picks_a_name_says_what_accounts_are_for(open_page: Open, study: Study) -> None:
    assert "one picks a name" in words(open_page(study.folder, "people", LEAD))
