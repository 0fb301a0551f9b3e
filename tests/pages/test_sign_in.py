"""The door: without a session no page shows anything, and a session that ends ends everywhere at once."""

import shutil
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from workbench.domain.actors import Actor, Role
from workbench.ui import sign_in as door
from workbench.ui import state
from workbench.workflow import people
from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.opening import open_study
from workbench.workflow.sign_in import first_sign_in, sign_in, sign_out, signed_in
from workbench.workflow.slow_down import Try
from workbench.workflow.study import Study

Open = Callable[..., AppTest]
PAGES = [
    "reports",
    "cohorts",
    "annotate",
    "reference",
    "adjudicate",
    "run",
    "errors",
    "revise",
    "accept",
    "history",
    "review",
    "people",
]


@pytest.fixture
def real(demo_folder: Path, tmp_path: Path) -> Study:
    """The demo study made into one in which people sign in."""
    folder = tmp_path / "real"
    shutil.copytree(demo_folder, folder)
    settings = folder / "data" / "study.toml"
    settings.write_text(settings.read_text().replace('sign_in = "pick"', 'sign_in = "accounts"'))
    return open_study(folder)


@pytest.fixture
def browser(real: Study, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The cookies that the browser sends."""
    cookies: dict[str, str] = {}
    monkeypatch.setattr(door, "_cookies", lambda: cookies)
    return cookies


@pytest.fixture
def enter(real: Study, browser: dict[str, str]) -> Callable[[str], str]:
    """Make an account for somebody, sign them in at the browser and return their token."""

    def entered(name: str) -> str:
        known = name in real.roster.accounts
        code = (people.issue_code if known else people.add)(real, real.actor(LEAD), name).code
        session = first_sign_in(real, Try(name, "here"), code, "quiet lungs")
        browser[door.cookie_name(real.folder)] = session.token
        return session.token

    return entered


def shown(app: AppTest) -> str:
    kinds = (app.markdown, app.info, app.caption, app.error, app.warning, app.success, app.header, app.subheader)
    return "\n".join([str(element.value) for kind in kinds for element in kind] + [html(app)])


def html(app: AppTest) -> str:
    return "\n".join(str(element.proto.body) for element in app.get("html"))


def at_the_door(app: AppTest) -> bool:
    return 'action="/sign-in"' in html(app)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("person", [LEAD, None])
def test_without_a_session_no_page_shows_anything(
    open_page: Open, real: Study, browser: dict[str, str], page: str, person: str | None
) -> None:
    people.add(real, real.actor(LEAD), LEAD)
    browser[door.cookie_name(real.folder)] = "a token that somebody made up"
    app = open_page(real.folder, page, person)
    assert not app.exception
    assert at_the_door(app)
    assert not app.header
    assert not app.sidebar.children
    assert not app.selectbox
    assert not app.dataframe
    for told in ("demo-", "invented", "development", RATER):
        assert told not in shown(app)


def test_a_study_without_accounts_says_how_the_first_is_made(
    open_page: Open, real: Study, browser: dict[str, str]
) -> None:
    app = open_page(real.folder, "reports")
    assert not at_the_door(app)
    assert "workbench user add" in html(app)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", [LEAD, RATER])
def test_who_is_signed_in_sees_the_pages_as_themselves(
    open_page: Open, real: Study, enter: Callable[[str], str], page: str, name: str
) -> None:
    enter(name)
    app = open_page(real.folder, page, LEAD)  # whom the session of the page names does not matter
    assert not app.exception
    assert [header.value for header in app.header] == [page.capitalize()]
    assert f"Signed in as <b>{name}</b>" in html(app)
    assert 'action="/sign-out"' in html(app)
    assert not any(box.label == "Acting person" for box in app.sidebar.selectbox)


def test_who_signs_out_elsewhere_is_at_the_door_at_the_next_click(
    open_page: Open, real: Study, enter: Callable[[str], str]
) -> None:
    token = enter(LEAD)
    app = open_page(real.folder, "reports")
    sign_out(real, token)
    app.run()
    assert at_the_door(app)
    assert not app.header
    assert not app.dataframe


@pytest.mark.parametrize("how", ["deactivated", "new code", "other roles"])
def test_a_stale_tab_goes_on_with_what_the_person_may_do_now(
    open_page: Open, real: Study, enter: Callable[[str], str], how: str
) -> None:
    people.add(real, real.actor(LEAD), LEAD)
    people.add(real, real.actor(LEAD), "Second", [Role.LEAD])
    enter("Second")
    app = open_page(real.folder, "cohorts")
    offered = [button.label for button in app.main.button]
    assert offered
    if how == "deactivated":
        people.deactivate(real, real.actor(LEAD), "Second")
    elif how == "new code":
        people.issue_code(real, real.actor(LEAD), "Second")
    else:
        people.set_roles(real, real.actor(LEAD), "Second", [Role.ADJUDICATOR])
    app.run()
    assert not app.exception
    if how == "other roles":
        assert "<br>adjudicator</div>" in html(app)
        assert [button.label for button in app.main.button] != offered
    else:
        assert at_the_door(app)


def test_a_part_of_a_page_that_is_drawn_later_asks_again_who_is_there(real: Study) -> None:
    first = real.actor(LEAD)
    now: list[Actor | None] = [Actor(LEAD, frozenset({Role.RATER}))]
    here = state.Here(real, first, renew=lambda: now[0])
    assert here.actor.roles == {Role.RATER}
    assert not here.may(Role.LEAD)
    with mock.patch.object(st, "rerun", side_effect=InterruptedError) as rerun:
        for gone in (None, Actor(RATER, frozenset({Role.RATER}))):
            now[0] = gone
            with pytest.raises(InterruptedError):
                _ = here.actor
    assert rerun.call_count == 2


def test_another_person_at_the_same_page_finds_nothing_left_behind(
    open_page: Open, real: Study, enter: Callable[[str], str]
) -> None:
    enter(LEAD)
    app = open_page(real.folder, "reports")
    app.session_state["wb.draft.something"] = "words of the lead"
    enter(RATER)
    app.run()
    assert f"Signed in as <b>{RATER}</b>" in html(app)
    assert "wb.draft.something" not in app.session_state


def test_why_one_was_not_let_in_is_told_as_text(open_page: Open, real: Study, browser: dict[str, str]) -> None:
    people.add(real, real.actor(LEAD), LEAD)
    told = door.Told("Wrong <b>again</b>.", '"><script>alert(1)</script>', by_code=True)
    browser[door.told_cookie_name(real.folder)] = told.text
    app = open_page(real.folder, "reports")
    assert "Wrong &lt;b&gt;again&lt;/b&gt;." in html(app)
    assert "<script>alert" not in html(app)
    assert "<details open>" in html(app)
    assert door.read_told(told.text) == told


@pytest.mark.parametrize("cookie", ["", "nonsense", "%5B1%5D", "null", "%7B%7D", "5"])
def test_a_cookie_that_tells_nothing_is_passed_over(cookie: str) -> None:
    assert door.read_told(cookie) is None


def test_a_name_is_picked_on_this_computer_only(open_page: Open, study: Study) -> None:
    with mock.patch.object(type(st.context), "ip_address", "192.168.1.77"):
        app = open_page(study.folder, "reports", LEAD)
    assert "only in a browser on the computer it runs on" in app.error[0].value
    assert not app.selectbox
    assert not app.dataframe


# --- OpenID Connect ---------------------------------------------------------------------------------------------------


@pytest.fixture
def vouched(real: Study, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What the sign-in service says of the person at the browser."""
    claims: dict[str, object] = {"is_logged_in": False}
    monkeypatch.setattr(door, "providers", lambda: [None])
    monkeypatch.setattr(door, "_claims", lambda: claims)
    people.add(real, real.actor(LEAD), RATER, email="rita@x.org")
    return claims


def test_with_a_sign_in_service_it_alone_is_offered(open_page: Open, real: Study, vouched: dict[str, object]) -> None:
    app = open_page(real.folder, "reports")
    assert [button.label for button in app.button] == ["Sign in with your organisation"]
    assert not at_the_door(app)


@pytest.mark.parametrize("verified", [True, "true"])
def test_a_checked_address_opens_the_pages(
    open_page: Open, real: Study, vouched: dict[str, object], verified: object
) -> None:
    vouched.update(is_logged_in=True, email="Rita@X.org", email_verified=verified)
    assert f"Signed in as <b>{RATER}</b>" in html(open_page(real.folder, "reports"))


@pytest.mark.parametrize(
    ("claims", "told"),
    [
        ({"email": "rita@x.org", "email_verified": False}, "does not say that your e-mail address is checked"),
        ({"email": "rita@x.org"}, "does not say that your e-mail address is checked"),
        ({"email": "eve@x.org", "email_verified": True}, "Nobody in this study has the address"),
        ({"email_verified": True}, "Nobody in this study has the address"),
    ],
)
def test_anybody_else_is_told_why_not(
    open_page: Open, real: Study, vouched: dict[str, object], claims: dict[str, object], told: str
) -> None:
    vouched.update(is_logged_in=True, **claims)
    app = open_page(real.folder, "reports")
    assert told in html(app)
    assert [button.label for button in app.button] == ["Use another account"]
    assert not app.header


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        (None, []),
        ({"client_id": "x", "client_secret": "y", "client_kwargs": {"scope": "openid"}}, [None]),
        ({"redirect_uri": "r", "google": {"client_id": "x"}, "hospital": {"client_id": "y"}}, ["google", "hospital"]),
    ],
)
def test_services_are_those_of_the_secrets_file(
    monkeypatch: pytest.MonkeyPatch, section: dict[str, object] | None, expected: list[str | None]
) -> None:
    class Secrets(dict[str, object]):
        def load_if_toml_exists(self) -> bool:
            return bool(self)

    monkeypatch.setattr(st, "secrets", Secrets({"auth": section} if section else {}))
    assert door.providers() == expected


def change(app: AppTest, old: str, new: str, again: str) -> None:
    for label, typed in (("Present password", old), ("New password", new), ("New password again", again)):
        next(field for field in app.sidebar.text_input if field.label == label).set_value(typed)
    next(button for button in app.sidebar.button if button.label == "Change it").click().run()
    assert not app.exception


def test_one_changes_ones_own_password_in_the_side_bar(
    open_page: Open, real: Study, browser: dict[str, str], enter: Callable[[str], str]
) -> None:
    enter(RATER)
    elsewhere = sign_in(real, Try(RATER, "elsewhere"), "quiet lungs").token
    app = open_page(real.folder, "reports")
    change(app, "quiet lungs", "clear angles on both sides", "clear angles on both side")
    assert "typed differently" in app.sidebar.error[0].value
    change(app, "loud lungs", "clear angles on both sides", "clear angles on both sides")
    assert "present password is wrong" in app.sidebar.error[0].value
    change(app, "quiet lungs", "clear angles on both sides", "clear angles on both sides")
    assert "signed out everywhere else" in app.sidebar.success[0].value
    assert signed_in(real, elsewhere) is None
    assert not at_the_door(app.run())
    assert sign_in(real, Try(RATER, "here"), "clear angles on both sides")


def test_where_one_picks_a_name_there_is_no_password_to_change(open_page: Open, demo_folder: Path) -> None:
    assert not open_page(demo_folder, "reports", LEAD).sidebar.text_input
