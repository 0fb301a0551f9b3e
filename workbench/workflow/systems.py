"""Report generators and the data sets they are scored on: taken in, and read back."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import Connection

from workbench.domain.actors import Actor, Role
from workbench.domain.hashing import content_hash
from workbench.domain.people import name_key
from workbench.errors import ConflictError, InputError, NotFoundError
from workbench.formats.systems import TASKS, Generated, read_generated
from workbench.storage import leaderboard as store
from workbench.storage.leaderboard import DataSetRecord, StudyText, SubmissionRecord
from workbench.workflow.blindness import require_no_review, require_sighted
from workbench.workflow.study import Study

DEFAULT_TASK = "findings+impression"
LONGEST_NAME = 100  # of a system or a data set


@dataclass(frozen=True, slots=True)
class System:
    """A system to take in: the file that holds what it wrote, and its name (the file's without ending when None).

    ``form``, ``columns`` and ``encoding`` are those of the file, as ``formats.systems.read_generated`` takes them.
    """

    path: Path
    name: str | None = None
    form: str | None = None
    columns: Mapping[str, str] | None = None
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What became of a system's file: studies with a text, blank, missing, and ids that the data set lacks.

    ``other_references`` counts the studies whose reference the file gives otherwise; the data set's counts for all.
    """

    system: str
    file: str
    written: int
    empty: int
    missing: int
    unknown: int
    other_references: int
    new: bool


def add_data_set(
    study: Study,
    actor: Actor,
    path: Path,
    *,
    name: str | None = None,
    task: str = DEFAULT_TASK,
    form: str | None = None,
    columns: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
) -> DataSetRecord:
    """Take the reference reports of a file in as a data set; the same again is the same data set.

    Args:
        study: the study.
        actor: a lead or admin.
        path: the file; any form of ``formats.systems``.
        name: of the data set; the file's name without ending when None.
        task: what is scored, one of ``TASKS``: the findings section alone, or findings and impression.
        form: of the file; by its ending when None.
        columns: which column holds what, where it is not one of the usual names.
        encoding: of the file.

    Raises:
        InputError: the file cannot be read as said, or holds no reference report.
        ConflictError: a data set of that name and task has other references, or these references have another name.
        RightsError: the person is no lead or admin, or rates in an open round.
    """
    _require(study, actor, "take in a data set of reports")
    record, studies = _data_set(actor, System(path, name, form, columns, encoding), task)
    with study.writing(actor) as conn:
        return _keep(conn, record, studies, named=name is not None)


def add_scored(
    study: Study, actor: Actor, reference: System, systems: Sequence[System], *, task: str = DEFAULT_TASK
) -> tuple[DataSetRecord, list[TakenIn]]:
    """Take in reference reports and what systems wrote of them, everything or nothing.

    Args:
        study: the study.
        actor: a lead or admin.
        reference: the file of the references; its name is that of the data set.
        systems: none is enough where the data set is known with some.
        task: what is scored, one of ``TASKS``.

    Raises:
        InputError: as ``add_data_set`` and ``add_systems``, or no system is there in the end.
        ConflictError: as ``add_data_set``.
        RightsError: the person is no lead or admin, or rates in an open round.
    """
    _require(study, actor, "take in generated reports")
    record, studies = _data_set(actor, reference, task)
    names = _names(systems)
    files = [_fitting(record, {s.id for s in studies}, system) for system in systems]
    with study.writing(actor) as conn:
        kept = _keep(conn, record, studies, named=reference.name is not None)
        taken = _add(conn, actor, kept, names, files)
        if not store.submissions(conn, kept.hash):
            raise InputError(f"No system has submitted anything for {kept.name} yet; give its reports too.")
    return kept, taken


def _data_set(actor: Actor, file: System, task: str) -> tuple[DataSetRecord, list[StudyText]]:
    path = file.path
    if task not in TASKS:
        raise InputError(f"There is no task {task}; choose {' or '.join(TASKS)}.")
    read = read_generated(path, file.form, columns=file.columns, encoding=file.encoding)
    if not any((text or "").strip() for text in read.references.values()):
        raise InputError(f"{path} holds no reference report; its column should be called reference, or be named.")
    studies = [StudyText(i, read.patients.get(i, i), text) for i, text in sorted(read.references.items())]
    identity = content_hash("data-set", {"task": task, "studies": [[s.id, s.patient_id, s.reference] for s in studies]})
    name = _name(file, "data set")
    return DataSetRecord(identity, name, task, read.file, actor.name, datetime.now(UTC)), studies


def _keep(conn: Connection, record: DataSetRecord, studies: Sequence[StudyText], *, named: bool) -> DataSetRecord:
    """Keep a data set; a name that somebody gave has to be the one that it has."""
    kept = store.add_data_set(conn, record, studies)
    if named and kept.name != record.name:
        raise ConflictError(
            f"These references are the data set {kept.name} already; use that name instead of {record.name}."
        )
    return kept


def add_systems(study: Study, actor: Actor, data_set: DataSetRecord, systems: Sequence[System]) -> list[TakenIn]:
    """Take in what systems wrote for a data set, all of them or none. What a system wrote last is what counts.

    Raises:
        InputError: a file cannot be read as said, holds no generated report, or none of its studies is in the data
            set; or two systems have one name, letter case and spacing apart, or a name is blank, long or of two lines.
        RightsError: the person is no lead or admin, or rates in an open round.
    """
    _require(study, actor, "take in generated reports")
    names = _names(systems)
    with study.database.read() as conn:
        known = {s.id for s in store.studies(conn, data_set.hash)}
    files = [_fitting(data_set, known, system) for system in systems]
    with study.writing(actor) as conn:
        return _add(conn, actor, data_set, names, files)


def _names(systems: Sequence[System]) -> list[str]:
    names = [_name(system, "system") for system in systems]
    keys = [name_key(name) for name in names]
    if twice := next((name for name in names if keys.count(name_key(name)) > 1), None):
        raise InputError(f"Two systems are called {twice}; rename a file, or give each a name of its own.")
    return names


def _name(file: System, what: str) -> str:
    """Return the name of a file's system or data set: it stands in tables, in a line."""
    name = (file.name or file.path.stem).strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError(
            f"{file.path}: no {what} can be called {name[:LONGEST_NAME]!r}; a name has one to {LONGEST_NAME} printable "
            "characters, so give it another."
        )
    return name


def _check_spelling(conn: Connection, data_set: DataSetRecord, names: Sequence[str]) -> None:
    """Raise InputError where a name differs from that of another system by letter case or spacing alone."""
    known = [submission.system for submission in store.submissions(conn, data_set.hash)]
    for name in names:
        other = next((each for each in known if name_key(each) == name_key(name)), None)
        if other is not None and name not in known:
            raise InputError(
                f"{data_set.name} has a system called {other}, and {name} differs from it by letter case or spacing "
                "alone; use that name, or another."
            )


def _add(
    conn: Connection, actor: Actor, data_set: DataSetRecord, names: Sequence[str], files: Sequence[Generated]
) -> list[TakenIn]:
    _check_spelling(conn, data_set, names)
    known = {s.id: s.reference for s in store.studies(conn, data_set.hash)}
    done = []
    for name, read in zip(names, files, strict=True):
        texts = {i: text for i, text in read.studies.items() if i in known}
        new = store.add_submission(
            conn,
            data_set.hash,
            name,
            texts,
            text_hash=content_hash("submission", sorted(texts.items())),
            file=read.file,
            actor=actor.name,
            at=datetime.now(UTC),
        )
        written = [text for text in texts.values() if text is not None]
        empty = sum(not text.strip() for text in written)
        missing = len(known) - len(written)
        unknown = len(read.studies) - len(texts)
        other = sum(i in known and text != known[i] for i, text in read.references.items() if text is not None)
        done.append(TakenIn(name, read.file, len(written) - empty, empty, missing, unknown, other, new))
    return done


def _fitting(data_set: DataSetRecord, known: Set[str], system: System) -> Generated:
    read = read_generated(system.path, system.form, columns=system.columns, encoding=system.encoding)
    if not read.studies:
        raise InputError(
            f"{system.path} holds no generated report; its column should be called generated or model_prediction, or "
            "be named."
        )
    if not known & read.studies.keys():
        first = next(iter(read.studies))
        raise InputError(
            f"{system.path}: none of its studies is in the data set {data_set.name}; its first is {first}, the data "
            f"set's {min(known)}."
        )
    return read


def data_sets(study: Study, actor: Actor) -> list[DataSetRecord]:
    """Return the data sets of the study, oldest first.

    Raises:
        RightsError: the person rates in an open round.
    """
    require_sighted(study, actor, "see the leaderboard")
    with study.database.read() as conn:
        return store.data_sets(conn)


def find_data_set(study: Study, actor: Actor, name: str | None = None, task: str | None = None) -> DataSetRecord:
    """Return a data set by its name or the beginning of its hash; the newest one without either.

    Raises:
        NotFoundError: there is none, or several fit.
        RightsError: the person rates in an open round.
    """
    known = data_sets(study, actor)
    if not known:
        raise NotFoundError(
            "No generated report is here yet; begin with `workbench score --reference R --generated G -o OUT`."
        )
    fits = [d for d in known if name is None or d.name == name or (len(name) >= 6 and d.hash.startswith(name))]
    fits = [d for d in fits if task is None or d.task == task]
    tasks = [d.task for d in fits]
    if len(fits) > 1 and name is not None and len({d.name for d in fits}) == 1:
        raise NotFoundError(f"{fits[0].name} is there for {' and for '.join(tasks)}; say which with --task.")
    if not fits or (name is not None and len(fits) > 1):
        listed = ", ".join(f"{d.name} ({d.task})" for d in known)
        raise NotFoundError(f"There is no data set {name or task}, or several; the study has {listed}.")
    return fits[-1]


def submissions(study: Study, actor: Actor, data_set: DataSetRecord) -> list[SubmissionRecord]:
    """Return what each system submitted last for a data set, in the order in which the systems first came.

    Raises:
        RightsError: the person rates in an open round.
    """
    require_sighted(study, actor, "see the leaderboard")
    require_no_review(study, actor, "see the leaderboard")
    with study.database.read() as conn:
        return store.submissions(conn, data_set.hash)


def _require(study: Study, actor: Actor, to: str) -> None:
    actor.require(Role.LEAD, Role.ADMIN, to=to)
    require_sighted(study, actor, to)
