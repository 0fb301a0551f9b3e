"""A copy of the whole study in one archive, taken while people work in it, and the way back."""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shutil import rmtree
from uuid import uuid4

from workbench.domain.actors import Actor, Role
from workbench.errors import ConflictError, InputError, RightsError, WorkbenchError
from workbench.formats.archives import Manifest, Member, read_archive, write_archive
from workbench.storage.backup import copy_database, faults_of, known_steps, steps_of
from workbench.workflow.export import refuse_own_file
from workbench.workflow.practice import practice_file
from workbench.workflow.study import Study, read_study

SETTINGS, DATABASE = "data/study.toml", "data/workbench.db"


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup holds: names of the files, the bytes of all of them, and what is known of its making."""

    path: Path
    files: tuple[str, ...]
    bytes: int
    about: dict[str, str]
    step: str  # the last migration step of the database in it


def back_up(study: Study, actor: Actor, path: Path) -> Backup:
    """Copy the study's database, settings, label set, practice reports, prompts and labelers' files into one archive.

    Everybody can go on working: the database in it is as it was at one moment. Only the archive's owner may read it,
    since it holds every text and every label, those of open rounds and locked cohorts too.

    Raises:
        InputError: the archive cannot be written there, or a file of the study lies outside its folder.
        WorkbenchError: the database is damaged; what is damaged is never put away as a backup.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="back up the study")
    refuse_own_file(study, path)
    about = {
        "study": study.settings.title,
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "made_by": actor.name,
        "workbench": _version(),
    }
    try:
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as aside:
            # The database first: a prompt file that is newer than it is taken in as any new file, and none is missing.
            copy = Path(aside) / "workbench.db"
            steps = copy_database(study.database, copy)
            faults = faults_of(copy)
            if faults:
                raise WorkbenchError(
                    f"{study.database.path} is damaged ({faults[0]}), so no backup was made; restore the last good one."
                )
            members = [Member(DATABASE, copy), *_files(study)]
            manifest = write_archive(path, members, about=about, steps=steps)
    except OSError as error:
        raise InputError(f"The backup {path} cannot be written: {error.strerror or error}.") from error
    return _described(path, manifest)


def restore(archive: Path, folder: Path, name: str | None = None) -> tuple[Study, Backup]:
    """Make a study of a backup in a folder that is missing or empty, and open it.

    Every sum is checked, and the database by SQLite itself, before anything appears in ``folder``.

    Args:
        archive: a file that ``back_up`` wrote.
        folder: where the study shall be.
        name: who acts: a lead or admin among the people of the study in the archive; as ``Study.actor`` when None.

    Raises:
        ConflictError: the folder holds anything: nothing is ever overwritten.
        InputError: the archive is damaged, incomplete, or made by a later version.
        RightsError: the person is no lead or admin of that study.
    """
    folder = folder.resolve()
    _require_free(folder)
    there = next(parent for parent in folder.parents if parent.exists())
    aside = there / f".{folder.name}.{uuid4().hex[:8]}.partial"
    try:
        aside.mkdir()
        manifest = read_archive(archive, aside)
        _check(archive, aside, manifest, name)
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists():
            folder.rmdir()
        aside.rename(folder)
    except OSError as error:
        raise InputError(f"The study cannot be restored to {folder}: {error.strerror or error}.") from error
    finally:
        rmtree(aside, ignore_errors=True)
    return read_study(folder), _described(archive, manifest)


def _files(study: Study) -> Iterator[Member]:
    """Yield the files of a study beside its database."""
    yield Member(SETTINGS, study.folder / SETTINGS)
    configured = [study.folder / "data" / study.settings.label_set]
    configured += [study.folder / labeler.file for labeler in study.settings.labelers.values() if labeler.file]
    configured += [path for path in [practice_file(study)] if path.is_file()]
    prompts = [path for path in sorted((study.folder / "prompts").rglob("*")) if path.is_file()]
    for path in dict.fromkeys([*configured, *(p for p in prompts if not p.name.startswith("."))]):
        yield Member(_name(study, path), path)


def _name(study: Study, path: Path) -> str:
    inside = Path(os.path.relpath(path.absolute(), study.folder.absolute()))
    if inside.is_absolute() or ".." in inside.parts:
        raise InputError(
            f"{path} belongs to the study and lies outside {study.folder}; move it in, so that it is kept."
        )
    return inside.as_posix()


def _require_free(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "already holds a study" if (folder / SETTINGS).exists() else "is not empty"
        raise ConflictError(f"{folder} {what}; name a new or empty folder, nothing is ever overwritten.")


def _check(archive: Path, folder: Path, manifest: Manifest, name: str | None) -> None:
    """Refuse an unpacked archive that is no sound study, or whose study the person does not lead."""
    absent = [needed for needed in (SETTINGS, DATABASE) if needed not in manifest.files]
    if absent:
        raise InputError(f"{archive} is incomplete: {absent[0]} is missing; use another copy.")
    database = folder / DATABASE
    faults = faults_of(database)
    if faults:
        raise InputError(f"{archive}: the database in it is damaged ({faults[0]}); use another copy.")
    later = sorted(set(manifest.steps) - set(known_steps()))
    if later:
        raise InputError(f"{archive} was made by a later version of the workbench (step {later[-1]}); update it first.")
    if steps_of(database) != manifest.steps:
        raise InputError(
            f"{archive}: the database in it is not of the version that its manifest says; do not trust it."
        )
    try:
        study = read_study(folder)
        study.database.close()
        study.actor(name).require(Role.LEAD, Role.ADMIN, to="restore the study")
    except RightsError:
        raise
    except WorkbenchError as error:
        raise InputError(f"{archive} holds no study that can be opened: {error}".replace(f"{folder}/", "")) from error


def _described(path: Path, manifest: Manifest) -> Backup:
    size = sum(file.bytes for file in manifest.files.values())
    return Backup(path, tuple(manifest.files), size, manifest.about, manifest.steps[-1] if manifest.steps else "")


def _version() -> str:
    try:
        return version("radiology-prompt-workbench")
    except PackageNotFoundError:  # started from a plain copy of the source
        return ""
