"""Edits of a prompt that are not saved yet: kept on the server for whoever makes them, one per tab of the browser.

So a reload, a lost connection or a closed lid loses nothing, and two tabs never write over each other.
"""

import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from workbench.domain.actors import Actor, Role
from workbench.domain.prompts import Prompt
from workbench.errors import InputError
from workbench.prompting.files import parse_prompt, prompt_text
from workbench.storage import drafts as store
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class Unsaved:
    """An edited prompt: the revision it starts from by its hash, the tab it is edited in, and when it last changed."""

    base: str
    tab: str
    prompt: Prompt
    changed_at: datetime


def new_tab() -> str:
    """Return a name for a tab that no other has."""
    return secrets.token_hex(4)


def unsaved(study: Study, actor: Actor, base: str | None = None) -> list[Unsaved]:
    """Return what a person has edited and not saved, the newest first; of one revision where its hash is given.

    An edit that cannot be read as a prompt is left out.

    Raises:
        RightsError: the person is no lead or admin.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="edit a prompt")
    with study.database.read() as conn:
        found = store.of_person(conn, actor.name, base)
    kept = []
    for draft in found:
        with suppress(InputError):  # a phrase was half typed, or it was kept under another label set
            prompt = parse_prompt(draft.file_text, label_set=study.label_set, where="unsaved edits")
            kept.append(Unsaved(draft.prompt_hash, draft.tab, prompt, draft.changed_at))
    return kept


def keep(
    study: Study, actor: Actor, base: str, prompt: Prompt, *, tab: str, seen: datetime | None
) -> tuple[str, datetime]:
    """Keep an edited prompt in its tab's place and return that tab and the time.

    Where the place holds something newer than the person has seen in this tab (the tab was copied, and the copy is
    edited too), the edit gets a place of its own, so that neither is lost.

    Args:
        study: the study.
        actor: a lead or admin, who alone sees it.
        base: hash of the revision that is edited.
        prompt: what it has become.
        tab: from ``new_tab``.
        seen: when what this tab kept or took up last was changed; None before.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="edit a prompt")
    now = datetime.now(UTC)
    with study.writing(actor) as conn:
        there = next((d for d in store.of_person(conn, actor.name, base) if d.tab == tab), None)
        if there is not None and there.changed_at != seen:
            tab = new_tab()
        store.keep(conn, store.Draft(actor.name, base, tab, prompt_text(prompt), now))
    return tab, now


def drop(study: Study, actor: Actor, base: str, tab: str) -> None:
    """Throw away what is edited in a tab."""
    actor.require(Role.LEAD, Role.ADMIN, to="edit a prompt")
    with study.writing(actor) as conn:
        store.drop(conn, actor.name, base, tab)
