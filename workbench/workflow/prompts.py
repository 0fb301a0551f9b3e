"""Revisions of the prompt: the database owns them, files are copies of accepted ones."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import Connection

from workbench.domain.actors import Actor, Role
from workbench.domain.findings import LabelSet
from workbench.domain.prompts import Decision, Prompt, Revision, RevisionStatus
from workbench.errors import ConflictError, InputError, NotFoundError
from workbench.formats.writing import replacing
from workbench.prompting.files import parse_prompt, prompt_text, read_prompt
from workbench.prompting.render import render_system
from workbench.storage import prompts as store
from workbench.workflow.study import Study

FILE_AUTHOR = "prompt file"  # nobody signed in put it there


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
        ConflictError: several hashes begin like that.
    """
    revision = find_record(study, name)
    return StoredPrompt(revision, _parsed(study.label_set, revision, stored_text(study, revision)))


def find_record(study: Study, name: str | int | None = None) -> Revision:
    """Return the record of a revision as ``find_revision`` finds it, also of one whose text cannot be read any more.

    Raises:
        NotFoundError: there is no such revision, or none accepted yet.
        ConflictError: several hashes begin like that.
    """
    with study.database.read() as conn:
        if name is not None and str(name) != "accepted":
            return store.revision(conn, name)
        accepted = store.last_accepted(conn)
    if accepted is None:
        raise NotFoundError("No revision has been accepted yet; bring one in with `workbench prompt import FILE`.")
    return accepted


def stored_text(study: Study, revision: Revision) -> str:
    """Return the prompt file of a revision as it was saved."""
    with study.database.read() as conn:
        return store.prompt_text(conn, revision.prompt_hash)


# What a revision's text parses to never changes, and parsing costs a page more than all else it reads.
_PARSED: dict[tuple[str, str], Prompt] = {}


def _parsed(label_set: LabelSet, revision: Revision, text: str) -> Prompt:
    key = (revision.prompt_hash, label_set.hash)
    if key not in _PARSED:
        _PARSED[key] = parse_prompt(text, label_set=label_set, where=f"revision {revision.number}")
    return _PARSED[key]


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

    Raises:
        InputError: there is no message, the prompt is for another label set, or its file could not be read back.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="save a prompt revision")
    if not message.strip():
        raise InputError("A revision needs a message: say in a sentence what changed and why.")
    if prompt.guidance.label_set != study.label_set.id:
        raise InputError(
            f"The prompt is for the label set {prompt.guidance.label_set}, the study has {study.label_set.id}."
        )
    text = _text_read_back(study, prompt)
    with study.writing(actor) as conn:
        return store.add_revision(
            conn,
            prompt,
            text,
            parent_hash=parent,
            author=actor.name,
            at=datetime.now(UTC),
            message=message.strip(),
            number=number,
        )


def _text_read_back(study: Study, prompt: Prompt) -> str:
    """Return the text of a prompt's file, once it reads back as the same prompt."""
    text = prompt_text(prompt)
    if parse_prompt(text, label_set=study.label_set, where="The prompt").hash != prompt.hash:
        raise InputError("The prompt reads otherwise once it is saved; take signs out of it that are no text.")
    return text


def import_prompt(study: Study, actor: Actor, path: Path, message: str = "") -> Revision:
    """Take a prompt file in as a candidate, child of the highest accepted revision.

    Raises:
        InputError: the file cannot be read as a prompt, or its body cannot be rendered; says where.
    """
    prompt = _readable(study, path)
    with study.database.read() as conn:
        accepted = store.last_accepted(conn)
    parent = accepted.prompt_hash if accepted else None
    return save_candidate(study, actor, prompt, message=message or f"imported from {path.name}", parent=parent)


def _readable(study: Study, path: Path) -> Prompt:
    prompt = read_prompt(path, label_set=study.label_set)
    try:
        render_system(prompt, study.label_set)
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from None
    return prompt


def decide(study: Study, actor: Actor, revision: Revision, decision: Decision) -> None:
    """Append a decision on a revision and, for an acceptance, write its file.

    The gate is ``workflow.accept``'s; this refuses to overwrite a file that holds another prompt.

    Raises:
        RightsError: the person is no lead.
        ConflictError: there is such a file.
        InputError: the file cannot be written; then nothing is decided either.
    """
    actor.require(Role.LEAD, to="decide on a revision")
    with study.writing(actor) as conn:
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
    text = stored_text(study, revision)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path.parent} cannot be made: {error.strerror or error}.") from None
    with replacing(path) as file:
        file.write(text)


def prompt_file(study: Study, number: int) -> Path:
    """Return where the copy of an accepted revision stands."""
    return study.prompts_folder / f"{number:04d}.md"


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What came in from prompt files: new revisions, and a sentence for each file that could not be read."""

    new: tuple[Revision, ...]
    refused: tuple[str, ...]


def take_in_files(study: Study) -> TakenIn:
    """Bring prompt files that the database does not know into it.

    In a study without any revision the files are taken as accepted, under the numbers they bear; later a file that
    appears or was changed becomes a candidate.
    """
    unknown = _unknown_files(study)
    prompts, refused = [], []
    for path in unknown:
        if int(path.stem) == 0:
            refused.append(f"{path.name}: revisions are numbered from 0001; rename the file.")
            continue
        try:
            prompts.append((path, _readable(study, path)))
        except InputError as error:
            refused.append(str(error))
    if not prompts:
        return TakenIn((), tuple(refused))
    with study.database.write() as conn:
        known = store.revisions(conn)
        hashes = {revision.prompt_hash for revision in known}
        accepted = store.last_accepted(conn)
        parent = accepted.prompt_hash if accepted else None
        new: list[Revision] = []
        for path, prompt in prompts:
            if prompt.hash not in hashes:
                new.append(_take_in(conn, path, prompt, parent=parent, accepted=not known))
                hashes.add(prompt.hash)
                parent = prompt.hash if not known else parent
    return TakenIn(tuple(new), tuple(refused))


def _unknown_files(study: Study) -> list[Path]:
    """Return the files whose text is not that of a revision; reading them as prompts would cost every page time."""
    files = sorted(study.prompts_folder.glob("[0-9][0-9][0-9][0-9].md"))
    with study.database.read() as conn:
        texts = {store.prompt_text(conn, revision.prompt_hash) for revision in store.revisions(conn)}
    return [path for path in files if path.is_file() and _text(path) not in texts]


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:  # reading it as a prompt says why
        return None


def _take_in(conn: Connection, path: Path, prompt: Prompt, *, parent: str | None, accepted: bool) -> Revision:
    now = datetime.now(UTC)
    revision = store.add_revision(
        conn,
        prompt,
        path.read_text(encoding="utf-8-sig"),
        parent_hash=parent,
        author=FILE_AUTHOR,
        at=now,
        message=f"{prompt.guidance.title} (file {path.name})",
        number=int(path.stem) if accepted else None,
    )
    if accepted:
        reason = "taken in as accepted: the study had no revision yet"
        store.decide(conn, Decision(prompt.hash, RevisionStatus.ACCEPTED, FILE_AUTHOR, now, reason))
        return replace(revision, status=RevisionStatus.ACCEPTED)
    return revision
