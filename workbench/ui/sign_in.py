"""The door: who is signed in at this browser, and the page on which one signs in."""

import hashlib
import html
import json
import urllib.parse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from workbench.domain.actors import Actor
from workbench.errors import InputError, RightsError
from workbench.ui import widgets
from workbench.workflow import sign_in
from workbench.workflow.passwords import SHORTEST
from workbench.workflow.roster import told
from workbench.workflow.slow_down import Try
from workbench.workflow.study import Study

SIGN_IN, SIGN_OUT = "/sign-in", "/sign-out"
PERSON, PASSWORD, CODE, GO_ON_TO = "person", "password", "code", "then"  # the forms' fields
TOLD_SECONDS = 30

_STYLE = """<style>
.wb-door {max-width: 25rem; margin: 0 auto}
.wb-door form {display: flex; flex-direction: column; gap: .8rem; margin: 0}
.wb-door label {display: flex; flex-direction: column; gap: .25rem; font-size: .9rem; font-weight: 600}
.wb-door input {font: inherit; font-weight: 400; padding: .5rem .65rem; border-radius: .5rem; color: inherit;
  background: rgba(147,161,163,.10); border: 1px solid rgba(120,140,145,.55)}
.wb-door input:focus-visible, .wb-door button:focus-visible, .wb-door summary:focus-visible,
.wb-out button:focus-visible {outline: 2px solid #2f8f97; outline-offset: 2px}
.wb-door button {font: inherit; font-weight: 600; padding: .55rem; border: 0; border-radius: .5rem; cursor: pointer;
  background: #1f6f78; color: #fff}
.wb-door button:hover {background: #185a62}
.wb-door details {margin-top: 1.6rem; border-top: 1px solid rgba(120,140,145,.35); padding-top: 1rem}
.wb-door:has(details[open]) > :not(details, p) {display: none}
.wb-door details[open] {margin-top: 0; border-top: 0; padding-top: 0}
.wb-door details[open] .wb-first, .wb-door details:not([open]) .wb-back {display: none}
.wb-door summary {cursor: pointer; font-size: .92rem; margin-bottom: .9rem}
.wb-door details:not([open]) summary {list-style: none; text-align: center; font-size: 1rem; font-weight: 600;
  padding: .5rem; border: 1px solid #2f8f97; border-radius: .5rem}
.wb-door details:not([open]) summary::-webkit-details-marker {display: none}
.wb-door details:not([open]) summary:hover {background: rgba(47,143,151,.12)}
.wb-door h2, .wb-door h2 + p {margin: 0 !important; padding: 0}
.wb-door > p {margin: 1.2rem 0 0 0}
.wb-door small {font-weight: 400; opacity: .8}
.wb-door .wb-told {border-left: 3px solid #c5524a; background: rgba(197,82,74,.12); padding: .5rem .75rem;
  border-radius: 0 .4rem .4rem 0; margin-bottom: 1rem; font-size: .92rem}
.wb-out {display: flex; align-items: baseline; justify-content: space-between; gap: .6rem; font-size: .88rem}
.wb-out form {margin: 0}
.wb-out button {font: inherit; padding: .15rem .55rem; border-radius: .4rem; cursor: pointer; color: inherit;
  background: transparent; border: 1px solid rgba(120,140,145,.55); white-space: nowrap}
.wb-out button:hover {background: rgba(147,161,163,.18)}
</style>"""
# The page's one script, the same for everybody: sanitizing takes the attribute autofocus away.
_FOCUS = """<script>
(() => {
  const first = document.querySelector('.wb-door details')
  const focus = () => {
    const form = first.open ? first.querySelector('form') : document.querySelector('.wb-door > form')
    const field = [...form.querySelectorAll('input:not([type=hidden])')].find(each => !each.value)
    field?.focus()
  }
  if (first) {
    first.addEventListener('toggle', focus)
    focus()
  }
})()
</script>"""


@dataclass(frozen=True, slots=True)
class Told:
    """Why one was not let in, under which name, and by which of the two forms."""

    sentence: str
    person: str = ""
    by_code: bool = False

    @property
    def text(self) -> str:
        """Return it as the value of a cookie."""
        return urllib.parse.quote(json.dumps([self.sentence, self.person, self.by_code]))


def read_told(cookie: str) -> Told | None:
    """Return what a cookie tells, None where it tells nothing."""
    try:
        sentence, person, by_code = json.loads(urllib.parse.unquote(cookie))
    except (ValueError, TypeError):
        return None
    return Told(str(sentence), str(person), bool(by_code))


def cookie_name(folder: Path) -> str:
    """Return the name of a study's cookie: browsers do not tell two servers on one computer apart by their ports."""
    return f"workbench_{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:10]}"


def told_cookie_name(folder: Path) -> str:
    """Return the name of the cookie that carries a refusal to the next page."""
    return f"{cookie_name(folder)}_told"


def providers() -> list[str | None]:
    """Return the OpenID Connect providers of ``.streamlit/secrets.toml``; None is one without a name of its own.

    Where there is one, people sign in there and nowhere else: an account that the hospital ends must have no side door.
    """
    if not st.secrets.load_if_toml_exists() or "auth" not in st.secrets:
        return []
    section = st.secrets["auth"]
    named: list[str | None] = [name for name in section if hasattr(section[name], "keys") and name != "client_kwargs"]
    return [None] if "client_id" in section else named


def signed_in(study: Study) -> Actor | None:
    """Return who is signed in at this browser, None when nobody is.

    Raises:
        RightsError: the sign-in service vouches for somebody who has no account here, or settings contradict it.
    """
    if providers():
        claims = _claims()
        if not claims.get("is_logged_in"):
            return None
        verified = claims.get("email_verified") in {True, "true"}
        return sign_in.person_of_email(study, str(claims.get("email") or ""), verified=verified)
    return sign_in.signed_in(study, _cookies().get(cookie_name(study.folder), ""))


def _claims() -> dict[str, Any]:
    return dict(st.user.to_dict())


def _cookies() -> dict[str, str]:
    return dict(st.context.cookies.to_dict())


def page(study: Study, refused: str = "") -> None:
    """Draw the page on which one signs in; ``refused`` is why the one who did may not come in."""
    st.html(_STYLE)
    with st.columns([1, 2, 1])[1]:
        st.space("large")
        st.html(f'<div class="wb-door"><h2>Sign in</h2><p>{html.escape(study.settings.title)}</p></div>')
        if organisation := providers():
            _organisation(organisation, refused)
        elif not sign_in.has_accounts(study):
            st.html(f'<div class="wb-door">{_NOBODY}</div>')
        else:
            known = read_told(_cookies().get(told_cookie_name(study.folder), ""))
            st.html(_forms(Told(refused) if refused else known, _path()))
            st.html(_FOCUS, unsafe_allow_javascript=True)


_NOBODY = """<p>Nobody has an account yet. On the computer that holds the study, the lead makes the first one:</p>
<pre>workbench user add "YOUR NAME" --role lead --role admin</pre>
<p>It prints a one-time code. Then reload this page.</p>"""


def _organisation(names: list[str | None], refused: str) -> None:
    if refused:
        st.html(f'<div class="wb-door">{_alert(refused)}</div>')
    with st.container(horizontal=True, horizontal_alignment="center"), st.container(width=375):
        if refused:
            st.button("Use another account", on_click=st.logout, width="stretch")
            return
        for name in names:
            label = f"Sign in with {widgets.plain(name)}" if name else "Sign in with your organisation"
            st.button(label, type="primary", width="stretch", on_click=st.login, args=(name,) if name else ())


_FORMS = f"""<div class="wb-door">{{alert_by_password}}
<form method="post" action="{SIGN_IN}"><input type="hidden" name="{GO_ON_TO}" value="{{path}}">
  <label>Name<input name="{PERSON}" value="{{person}}" autocomplete="username" maxlength="200" required></label>
  <label>Password<input type="password" name="{PASSWORD}" autocomplete="current-password" maxlength="500" required>
  </label>
  <button type="submit">Sign in</button>
</form>
<details{{opened}}>
  <summary><span class="wb-first">First time here? Use your one-time code</span>
    <span class="wb-back">Back to name and password</span></summary>{{alert_by_code}}
  <form method="post" action="{SIGN_IN}"><input type="hidden" name="{GO_ON_TO}" value="{{path}}">
    <label>Name<input name="{PERSON}" value="{{person}}" autocomplete="username" maxlength="200" required></label>
    <label>One-time code<input name="{CODE}" autocomplete="one-time-code" maxlength="40" required></label>
    <label>New password<input type="password" name="{PASSWORD}" autocomplete="new-password" minlength="{SHORTEST}"
      maxlength="500" required><small>At least {SHORTEST} characters; a few words in a row are easy to remember.</small>
    </label>
    <button type="submit">Set password and sign in</button>
  </form>
</details>
<p><small>No code, or the password forgotten? Ask the study lead for a new code.</small></p></div>"""


def _forms(known: Told | None, path: str) -> str:
    alert = _alert(known.sentence) if known else ""
    by_code = known is not None and known.by_code
    return _FORMS.format(
        path=html.escape(path),
        person=html.escape(known.person) if known else "",
        alert_by_password="" if by_code else alert,
        alert_by_code=alert if by_code else "",
        opened=" open" if by_code else "",
    )


def _alert(sentence: str) -> str:
    return f'<div class="wb-told" role="alert">{html.escape(sentence)}</div>'


def _path() -> str:
    url = st.context.url
    return urllib.parse.urlsplit(url).path if url else "/"


def sidebar(study: Study, actor: Actor) -> None:
    """Draw who is signed in, what they may do, and the way out."""
    who = f"<div>Signed in as <b>{html.escape(actor.name)}</b><br>{told(actor.roles)}</div>"
    if providers():
        st.html(f'{_STYLE}<div class="wb-out">{who}</div>')
        st.button("Sign out", on_click=st.logout)
    else:
        form = f'<form method="post" action="{SIGN_OUT}"><button type="submit">Sign out</button></form>'
        st.html(f'{_STYLE}<div class="wb-out">{who}{form}</div>')
        _password(study, actor)


def _password(study: Study, actor: Actor) -> None:
    """Draw the form for changing one's own password, folded away."""
    with st.expander("Change my password"), st.form("people.password", border=False, clear_on_submit=True):
        old = st.text_input("Present password", type="password", autocomplete="current-password")
        new = st.text_input(
            "New password",
            type="password",
            autocomplete="new-password",
            help=f"At least {SHORTEST} characters; a few words in a row are easy to remember.",
        )
        again = st.text_input("New password again", type="password", autocomplete="new-password")
        place = st.container()
        if not st.form_submit_button("Change it", width="stretch"):
            return
        with place, widgets.explained():
            if new != again:
                raise InputError("The new password was typed differently the second time; type it again.")
            address = st.context.ip_address  # None on this computer
            tried = Try(actor.name, address if isinstance(address, str) else "")
            token = _cookies().get(cookie_name(study.folder), "")
            sign_in.change_password(study, actor, tried, old, new, token=token)
            st.success("Your password is changed, and you are signed out everywhere else.")


def refuse_strangers() -> None:
    """Let nobody pick a name from another computer, however the server was started.

    Raises:
        RightsError: the browser is not on this computer.
    """
    if isinstance(st.context.ip_address, str):  # None is this computer
        raise RightsError("In this study one picks a name, so it opens only in a browser on the computer it runs on.")
