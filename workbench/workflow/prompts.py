"""Revisions of the prompt: the database owns them, files are copies of accepted ones."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from workbench.domain.actors import Actor, Role
from workbench.domain.prompts import Decision, Prompt, Revision, RevisionStatus
from workbench.errors import ConflictError, InputError, NotFoundError
from workbench.formats.writing import replacing
from workbench.prompting.files import parse_prompt, prompt_text, read_prompt
from workbench.storage import prompts as store
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class StoredPrompt:
    """A revision with the prompt it is a record of."""

    revision: Revision
    prompt: Prompt


def revisions(study: Study) -> list[Revision]:
    """Return all revisions by number."""
    with study.database.read() as conn:
        return store.revisions(conn)


def find_revision(study: Study, name: str | int | None = None) -> StoredPrompt:
    """Return a revision by number or by the beginning of its hash; without a name the highest accepted one.

    Raises:
        NotFoundError: there is no such revision, or none accepted yet.
    """
    with study.database.read() as conn:
        if name is None or str(name) == "accepted":
            accepted = [r for r in store.revisions(conn) if r.status is RevisionStatus.ACCEPTED]
            if not accepted:
                raise NotFoundError(
                    "No revision has been accepted yet; bring one in with `workbench prompt import FILE`."
                )
            revision = accepted[-1]
        else:
            revision = _named(store.revisions(conn), str(name))
        text = store.prompt_text(conn, revision.prompt_hash)
    return StoredPrompt(revision, parse_prompt(text, label_set=study.label_set, where=f"revision {revision.number}"))


def _named(known: list[Revision], name: str) -> Revision:
    if name.isdecimal() and len(name) <= 6:
        hits = [r for r in known if r.number == int(name)]
    else:
        hits = [r for r in known if len(name) >= 4 and r.prompt_hash.startswith(name)]
    if len(hits) == 1:
        return hits[0]
    numbers = ", ".join(str(r.number) for r in known) or "none"
    raise NotFoundError(f"There is no revision {name}; the study has: {numbers}.")


def save_candidate(
    study: Study, actor: Actor, prompt: Prompt, *, message: str, parent: str | None, number: int | None = None
) -> Revision:
    """Save a prompt as a candidate revision; a prompt that is already known is returned as it stands.

    Args:
        study: the study.
        actor: a lead or admin.
        prompt: what to save.
        message: what changed and why, in a sentence; must not be empty.
        parent: hash of the revision it was made from, None for a first one.
        number: of the revision; the next free one by default.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="save a prompt revision")
    if not message.strip():
        raise InputError("A revision needs a message: say in a sentence what changed and why.")
    if prompt.guidance.label_set != study.label_set.id:
        raise InputError(
            f"The prompt is for the label set {prompt.guidance.label_set}, the study has {study.label_set.id}."
        )
    with study.database.write() as conn:
        return store.add_revision(
            conn,
            prompt,
            prompt_text(prompt),
            parent_hash=parent,
            author=actor.name,
            at=datetime.now(UTC),
            message=message.strip(),
            number=number,
        )


def import_prompt(study: Study, actor: Actor, path: Path, message: str = "") -> Revision:
    """Take a prompt file in as a candidate, child of the highest accepted revision."""
    prompt = read_prompt(path, label_set=study.label_set)
    accepted = [r for r in revisions(study) if r.status is RevisionStatus.ACCEPTED]
    parent = accepted[-1].prompt_hash if accepted else None
    return save_candidate(study, actor, prompt, message=message or f"imported from {path.name}", parent=parent)


def decide(study: Study, revision: Revision, decision: Decision) -> None:
    """Append a decision on a revision and, for an acceptance, write its file.

    Rights and the gate are ``workflow.accept``'s; this refuses only to overwrite a file that holds another prompt.
    """
    if decision.status is RevisionStatus.ACCEPTED:
        _check_copy_is_free(study, revision)
    with study.database.write() as conn:
        store.decide(conn, decision)
    if decision.status is RevisionStatus.ACCEPTED:
        write_copy(study, revision)


def _check_copy_is_free(study: Study, revision: Revision) -> None:
    path = prompt_file(study, revision.number)
    if path.exists() and read_prompt(path, label_set=study.label_set).hash != revision.prompt_hash:
        raise ConflictError(
            f"{path} holds another prompt than revision {revision.number} and is never overwritten; move it away first."
        )


def write_copy(study: Study, revision: Revision) -> None:
    """Write the readable copy of an accepted revision, unless it is there already."""
    _check_copy_is_free(study, revision)
    path = prompt_file(study, revision.number)
    if path.exists():
        return
    with study.database.read() as conn:
        text = store.prompt_text(conn, revision.prompt_hash)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(text)


def prompt_file(study: Study, number: int) -> Path:
    """Return where the copy of an accepted revision stands."""
    return study.prompts_folder / f"{number:04d}.md"


def take_in_files(study: Study, actor: Actor) -> list[Revision]:
    """Bring prompt files that the database does not know into it, and return what was new.

    In a study without any revision the files are taken as accepted, in the order of their numbers; later a file that
    appears or was changed becomes a candidate.
    """
    known = revisions(study)
    files = sorted(study.prompts_folder.glob("[0-9][0-9][0-9][0-9].md"))
    hashes = {r.prompt_hash for r in known}
    first_time, new = not known, []
    parent = known[-1].prompt_hash if known else None
    for path in files:
        prompt = read_prompt(path, label_set=study.label_set)
        if prompt.hash in hashes:
            continue
        message = f"{prompt.guidance.title} (file {path.name})"
        number = int(path.stem) if first_time else None
        revision = save_candidate(study, actor, prompt, message=message, parent=parent, number=number)
        if first_time:
            reason = "the study's prompt file, taken in as accepted"
            decision = Decision(revision.prompt_hash, RevisionStatus.ACCEPTED, actor.name, revision.created_at, reason)
            decide(study, revision, decision)
            parent = revision.prompt_hash
        hashes.add(prompt.hash)
        new.append(revision)
    return new
