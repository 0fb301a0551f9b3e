"""Ratings of generated reports out to a file, and those that were made elsewhere in."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from workbench.domain.actors import Actor, Role
from workbench.domain.reviews import OTHER
from workbench.errors import InputError
from workbench.formats.exports import form_of, write_table
from workbench.formats.ratings import columns, faults_text, read_ratings
from workbench.storage import leaderboard as system_store
from workbench.storage import reviews as store
from workbench.storage.leaderboard import DataSetRecord
from workbench.storage.reviews import RatedElsewhere
from workbench.workflow.blindness import require_no_review, require_sighted
from workbench.workflow.export import refuse_own_file
from workbench.workflow.review_pairs import check_closed, rated_pairs
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import of ratings brought."""

    data_set: DataSetRecord
    ratings: int
    systems: tuple[str, ...]
    reviewers: tuple[str, ...]


def export_ratings(study: Study, actor: Actor, data_set: DataSetRecord, path: Path, *, form: str | None = None) -> int:
    """Write every rating of a data set, one row per study, system and reviewer, and return how many rows.

    Also those whose text was replaced since; ``current`` tells them apart.

    Raises:
        ConflictError: a review of the data set is open.
        RightsError: as ``review_results.results``, or the person is no lead or admin.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="export ratings")
    require_sighted(study, actor, "export ratings")
    require_no_review(study, actor, "export ratings")
    written = form_of(path, form)
    refuse_own_file(study, path)
    with study.database.snapshot() as conn:
        check_closed(conn, data_set)
        pairs = rated_pairs(conn, data_set)
    findings = (*study.label_set.ids, OTHER)
    rows = (
        (
            pair.study_id,
            pair.system,
            pair.reviewer,
            pair.judgement.rating,
            *(faults_text(pair.judgement.marks, finding) for finding in findings),
            pair.judgement.comment or None,
            pair.patient_id,
            pair.judgement.seconds,
            pair.judgement.at,
            pair.source,
            int(pair.current),
        )
        for pair in pairs
    )
    return write_table(path, columns(study.label_set), rows, written)


def import_ratings(
    study: Study, actor: Actor, data_set: DataSetRecord, path: Path, *, encoding: str = "utf-8"
) -> Imported:
    """Take in ratings that were made elsewhere, all of a file or none; they are marked as imported.

    A later rating of the same study, system and reviewer takes the place of an earlier one; what was rated here stands
    before what is imported.

    Raises:
        InputError: the file cannot be read as said, or names a system, or a study of it, that is not here.
        RightsError: the person is no lead or admin.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="import ratings")
    read = read_ratings(path, study.label_set, encoding=encoding)
    with study.writing(actor) as conn:
        last = {s.system: s.id for s in system_store.submissions(conn, data_set.hash)}
        texts = {system: system_store.texts(conn, number) for system, number in last.items()}
        for rating in read:
            if rating.system not in last:
                raise InputError(
                    f"{path}: {data_set.name} has no system called {rating.system}; it has {', '.join(last)}."
                )
            if texts[rating.system].get(rating.study_id) is None:
                raise InputError(
                    f"{path}: {rating.system} has no report of study {rating.study_id} in {data_set.name}, so there is "
                    "none that can have been rated."
                )
        store.add_imported(
            conn,
            data_set.hash,
            [RatedElsewhere(last[rating.system], rating) for rating in read],
            file=path.name,
            actor=actor.name,
            at=datetime.now(UTC),
        )
    return Imported(
        data_set, len(read), tuple(sorted({r.system for r in read})), tuple(sorted({r.reviewer for r in read}))
    )
